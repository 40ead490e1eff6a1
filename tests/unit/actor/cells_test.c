/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a system: memory whose addresses a ref cannot hold. */
#include "actor/core/cell.h"
#include "base/alloc.h"
#include "support/test.h"

/* Memory above 48 bits. Only its address is looked at. */
static void *const far_block = (void *)(uintptr_t)(UINT64_C(1) << 52);
static int far_blocks;

static void *
far_allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    (void)context;
    if (align_bytes < LBX__LINE)
        return lbx__alloc(NULL, size_bytes, align_bytes);
    far_blocks++;
    return far_block;
}

static void
far_release(void *context, void *block, size_t size_bytes)
{
    (void)context;
    if (block != far_block)
        lbx__free(NULL, block, size_bytes);
    else
        far_blocks--;
}

/* A ref has 48 bits for the address: the rest of a longer one would be taken
 * for a generation. */
TEST(cells_whose_addresses_a_ref_cannot_hold_are_refused)
{
    const lbx_allocator far_memory = {far_allocate, far_release, NULL};
    lbx__cells *cells;

    CHECK_OK(lbx__cells_create(NULL, &far_memory, NULL, &cells));
    CHECK_PTR(NULL, lbx__cells_get(cells));
    CHECK_INT(0, far_blocks);
    lbx__cells_destroy(cells);
}

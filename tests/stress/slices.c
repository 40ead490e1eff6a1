/* SPDX-License-Identifier: Apache-2.0 */
/* Slices; see slices.h. Tests are processes of their own, so the sign that one
 * was cut short lies in shared memory. */
#include "stress/slices.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <letterbox/base.h>

#include "stress/storm.h"

enum {
    SLICES = 4,
    TEST_SECONDS = 4,
    FULL_TIMES_LONGER = 200,
};

static _Atomic(uint32_t) *cut;

__attribute__((constructor)) static void
slices_prepare(void)
{
    cut = mmap(NULL, sizeof(*cut), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (cut == MAP_FAILED)
        abort();
}

struct slices
slices_begin(uint64_t count, unsigned cases)
{
    // As the counts, longer in the long form.
    int64_t seconds = storm_count(1, 1, 1, 2) > 1
                          ? TEST_SECONDS * FULL_TIMES_LONGER
                          : TEST_SECONDS;
    struct slices slices = {
        .left = count,
        .size = count / SLICES > 0 ? count / SLICES : 1,
        .end_ns = lbx_deadline_after(NULL, seconds * LBX_SECOND / cases),
    };

    return slices;
}

uint64_t
slices_next(struct slices *slices)
{
    uint64_t some = slices->left < slices->size ? slices->left : slices->size;

    if (some > 0 && slices->made > 0 && lbx_clock_now(NULL) >= slices->end_ns) {
        atomic_store(cut, 1);
        return 0;
    }
    slices->left -= some;
    slices->made += some;
    return some;
}

bool
slices_were_cut(void)
{
    return atomic_load(cut) != 0;
}

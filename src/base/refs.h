/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference counts of handles: the count of a new handle is 1, and the drop of
 * the last reference destroys it.
 *
 * REFS-1  No reference is dropped twice: a debug build stops in the drop that
 *         is one too many, and in an add to a handle that is destroyed. Freed
 *         memory has a pattern there (alloc.c) that is no count, until it is
 *         used again. A release build does not check.
 *
 * Threads    any.
 */
#ifndef LBX_BASE_REFS_H
#define LBX_BASE_REFS_H

#include "base/atomic.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define LBX__REFS_MAX ((uint64_t)1 << 31) /* below the pattern */

/* One reference more; the caller has one already, which keeps the handle: so
 * relaxed is enough. */
#define lbx__refs_add(refs) lbx__refs_added(lbx__add((refs), 1, relaxed))

/* One reference less. True: it was the last. Release and acquire: all use of
 * the handle comes before its end. */
#define lbx__refs_drop(refs) lbx__refs_dropped(lbx__sub((refs), 1, acq_rel))

/* With the count as it was before. */
static inline void
lbx__refs_added(uint64_t before)
{
    assert(before > 0 && before < LBX__REFS_MAX); // REFS-1
    (void)before;
}

static inline bool
lbx__refs_dropped(uint64_t before)
{
    assert(before > 0 && before < LBX__REFS_MAX); // REFS-1
    return before == 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An actor's numbers, for anybody.
 *
 * Messages in a cell are numbered as they come, so that the depth is the number
 * of the last minus that of the one that was taken last. Both nodes may be used
 * again while we look: nodes stay memory of the pool, and a look during which
 * an end of the inbox has moved is thrown away.
 */
#include "actor/boxed.h"
#include "actor/system.h"

enum {
    LOOKS = 100
};

/* What waits in the cell. */
static uint64_t
inbox_depth(lbx__cell *cell)
{
    for (int i = 0; i < LOOKS; i++) {
        // Relaxed: see above. Acquire: the number was written before.
        lbx__node *head = lbx__load(&cell->head, acquire);
        lbx__node *tail = lbx__load(&cell->tail, acquire);
        int64_t first = lbx__load(&head->number, relaxed);
        int64_t last = lbx__load(&tail->number, relaxed);

        if (lbx__load(&cell->head, acquire) == head &&
            lbx__load(&cell->tail, acquire) == tail && last >= first)
            return (uint64_t)(last - first);
    }
    return 0; // too much is going on to tell
}

lbx_status
lbx_ref_stats(lbx_ref ref, lbx_actor_stats *ret)
{
    lbx__cell *cell = lbx__cell_of(ref.word);
    lbx_actor_stats stats;
    lbx__boxed *boxed;

    if (!ret)
        return LBX_INVALID;
    if (!lbx_ref_is_alive(ref))
        return LBX_NOT_FOUND;
    // Relaxed, all: numbers for people.
    stats.handled = lbx__load(&cell->handled, relaxed);
    stats.failures = lbx__load(&cell->failures, relaxed);
    stats.depth = inbox_depth(cell);
    boxed = lbx__boxed_hold(cell, ref.word);
    if (boxed) {
        stats.depth += lbx_mailbox_depth(boxed->mailbox);
        lbx__boxed_let_go(boxed);
    }
    lbx__lock_take(&cell->lock);
    stats.children = cell->child_count;
    lbx__lock_give(&cell->lock);
    if (!lbx_ref_is_alive(ref))
        return LBX_NOT_FOUND; // they may be another's
    *ret = stats;
    return LBX_OK;
}

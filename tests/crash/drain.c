/* SPDX-License-Identifier: Apache-2.0 */
/* A worker drains what is left. */
#include "worker_parts.h"

#include <stdlib.h>
#include <string.h>

/* One receive, and what it got deleted: how many. */
size_t
worker_drain_some(struct worker *worker, uint32_t box, int64_t wait_ns)
{
    struct find finds[LBX_MAX_BATCH], *done[LBX_MAX_BATCH];
    const size_t count = find_receive(worker, box, wait_ns, finds);

    for (size_t i = 0; i < count; i++)
        done[i] = &finds[i];
    find_delete_all(worker, box, done, count);
    for (size_t i = 0; i < count; i++)
        lbx_letter_destroy(finds[i].letter);
    return count;
}

/* What can be received of a box; answers what is left in it. */
static uint64_t
drain_box(struct worker *worker, uint32_t box, uint64_t *found)
{
    uint64_t ready, left = worker_count(worker, box, &ready);

    while (ready > 0) {
        const size_t count = worker_drain_some(worker, box, 0);

        *found += count;
        if (count == 0)
            break; // behind others of its group, or dead now
        if (count < ready)
            ready -= count;
        else
            left = worker_count(worker, box, &ready);
    }
    return left;
}

/* Ends moves, so that no letter comes to another box. */
static void
end_moves(struct worker *worker)
{
    lbx_move_progress progress = LBX_MOVE_PROGRESS_INIT;
    lbx_status status = lbx_store_cancel_move(worker->boxes->store, "here");

    while (status == LBX_OK) {
        status =
            lbx_store_describe_move(worker->boxes->store, "here", &progress);
        if (progress.phase != LBX_MOVE_PHASE_RUNNING &&
            progress.phase != LBX_MOVE_PHASE_CANCELLING)
            break;
    }
    if (status != LBX_OK && status != LBX_NOT_FOUND)
        ledger_fail(worker->workers->ledger, status);
}

static bool
note_own_box(void *context, const char *name)
{
    bool *there = context;
    const unsigned long index = strtoul(name + strlen("own-"), NULL, 10);

    if (index < LEDGER_SLOTS)
        there[index] = true;
    return true;
}

/* Boxes that senders had made: answers what is left in them. */
static uint64_t
drain_own_boxes(struct worker *worker, uint64_t *found)
{
    bool there[LEDGER_SLOTS] = {false};
    uint64_t left = 0;
    const lbx_status status = lbx_store_list_boxes(worker->boxes->store, "own-",
                                                   NULL, note_own_box, there);

    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    for (unsigned i = 0; i < LEDGER_SLOTS; i++) {
        if (!there[i] || !own_box_open(worker, i))
            continue;
        left += drain_box(worker, BOX_COUNT + i, found);
        own_box_close(worker);
    }
    return left;
}

void
worker_drain(struct worker *worker, void (*wait)(void *context), void *context)
{
    // Dead letters last: the others die into them.
    static const uint8_t order[BOX_COUNT] = {
        BOX_REPLIES, BOX_PURGED, BOX_HERE, BOX_THERE,
        BOX_FIFO,    BOX_PLAIN,  BOX_DEAD,
    };
    const bool wide = worker->workers->wide;
    uint64_t left;

    if (wide)
        end_moves(worker);
    do {
        uint64_t found = 0;

        left = wide ? drain_own_boxes(worker, &found) : 0;
        for (size_t i = BOX_COUNT - worker_box_count(worker); i < BOX_COUNT;
             i++)
            left += drain_box(worker, order[i], &found);
        if (left > 0 && found == 0) {
            if (wait)
                wait(context);
            for (size_t i = BOX_COUNT - worker_box_count(worker);
                 !wait && i < BOX_COUNT; i++)
                (void)worker_drain_some(worker, order[i],
                                        worker->workers->lease_ns / 4);
        }
        if (atomic_load(&worker->workers->ledger->failures))
            break; // it may never be empty
    } while (left > 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A worker clears and moves, and has a box of its own. */
#include "worker_parts.h"

#include <stdio.h>

void
worker_purge(struct worker *worker)
{
    struct ledger *ledger = worker->workers->ledger;
    const int64_t begun = worker_now(worker);
    lbx_status status = LBX_OK;
    uint64_t count = 0;

    worker_tell_clear(worker, LEDGER_CLEAR, BOX_PURGED, begun, LBX_PENDING);
    worker_enter(worker, CALL_PURGE);
    if (!worker->workers->tells_purged)
        status = lbx_postbox_purge(worker->boxes->boxes[BOX_PURGED], &count);
    worker_leave(worker, status);
    worker_tell_clear(worker, LEDGER_CLEARED, BOX_PURGED, begun, status);
    atomic_fetch_add(&ledger->cleared, (int64_t)count);
    if (status != LBX_OK)
        ledger_fail(ledger, status);
}

void
worker_move(struct worker *worker)
{
    lbx_store *store = worker->boxes->store;
    lbx_status status;

    worker_enter(worker, CALL_MOVE);
    if (worker_draw(worker, 8) == 0) {
        status = lbx_store_cancel_move(store, "here");
        status = status == LBX_NOT_FOUND ? LBX_OK : status;
    } else {
        status = lbx_store_start_move(store, "here", "there", 0);
        status = status == LBX_BUSY ? LBX_OK : status;
    }
    worker_leave(worker, status);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
}

static void
own_name(unsigned index, char name[16])
{
    (void)snprintf(name, 16, "own-%u", index);
}

/* Opens the box of a place, and makes it if need be. */
bool
own_box_open(struct worker *worker, unsigned index)
{
    const lbx_box_options rules = LBX_BOX_OPTIONS_INIT;
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_status status;
    char name[16];

    own_name(index, name);
    options.box = &rules;
    worker_enter(worker, CALL_CREATE_BOX);
    status =
        lbx_postbox_open_in(worker->boxes->store, name, &options, &worker->own);
    worker_leave(worker, status);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    return status == LBX_OK;
}

void
own_box_close(struct worker *worker)
{
    lbx_postbox_unref(worker->own);
    worker->own = NULL;
}

static void
delete_own_box(struct worker *worker, uint64_t count)
{
    struct ledger *ledger = worker->workers->ledger;
    const int64_t begun = worker_now(worker);
    const uint32_t box = BOX_COUNT + worker->index;
    lbx_status status;
    char name[16];

    own_name(worker->index, name);
    worker_tell_clear(worker, LEDGER_CLEAR, box, begun, LBX_PENDING);
    worker_enter(worker, CALL_DELETE_BOX);
    status = lbx_store_delete_box(worker->boxes->store, name);
    worker_leave(worker, status);
    worker_tell_clear(worker, LEDGER_CLEARED, box, begun, status);
    if (status != LBX_OK)
        ledger_fail(ledger, status);
    atomic_fetch_add(&ledger->cleared, (int64_t)count);
    // It is this worker's: no other has made it again.
    if (lbx_store_describe_box(worker->boxes->store, name, NULL, NULL, NULL) !=
        LBX_NOT_FOUND)
        atomic_fetch_add(&ledger->resurrected, 1);
}

void
worker_use_own_box(struct worker *worker)
{
    struct pile pile = {.box = BOX_COUNT + worker->index};
    uint64_t ready, count;

    if (!own_box_open(worker, worker->index))
        return;
    for (uint64_t i = 1 + worker_draw(worker, 5); i > 0; i--) {
        const uint64_t number = ledger_number(worker->workers->ledger);

        if (number)
            pile_add(worker, &pile, number);
    }
    if (pile.count > 0)
        (void)pile_send(worker, &pile);
    if (worker_draw(worker, 2))
        (void)worker_drain_some(worker, pile.box, 0);
    count = worker_count(worker, pile.box, &ready);
    if (worker_draw(worker, 4))
        delete_own_box(worker, count);
    own_box_close(worker);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A worker looks back: at receipts, counts and letters. */
#include "worker_parts.h"

/* Receipts of one box, to be tried in one call. */
struct batch {
    struct ledger_receipt receipts[LBX_MAX_BATCH];
    bool stale[LBX_MAX_BATCH];
    size_t count;
};

static void
try_batch(struct worker *worker, struct batch *batch)
{
    struct ledger *ledger = worker->workers->ledger;
    lbx_settle_item settles[LBX_MAX_BATCH];

    if (batch->count == 0)
        return;
    for (size_t i = 0; i < batch->count; i++)
        settles[i] = (lbx_settle_item){
            .action =
                batch->stale[i] ? LBX_SETTLE_ACKNOWLEDGE : LBX_SETTLE_EXTEND,
            .time_ns = worker->workers->lease_ns,
            .receipt = batch->receipts[i].text,
        };
    (void)!lbx_postbox_settle_batch(
        worker->boxes->boxes[batch->receipts[0].box], settles, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->stale[i])
            worker_tell_stale(worker, &batch->receipts[i], settles[i].status);
        // A lease that was answered and is not there.
        else if (settles[i].status != LBX_OK)
            atomic_fetch_add(&ledger->early, 1);
    }
    batch->count = 0;
}

void
worker_try_receipts(struct worker *worker)
{
    struct ledger *ledger = worker->workers->ledger;

    for (unsigned box = 0; box < worker_box_count(worker); box++) {
        struct batch batch = {.count = 0};

        for (uint64_t i = 0; i < LEDGER_RECEIPTS; i++) {
            struct ledger_receipt *receipt = &batch.receipts[batch.count];
            bool *stale = &batch.stale[batch.count];

            if (!ledger_receipt(ledger, i, receipt) || receipt->box != box)
                continue;
            *stale =
                ledger_is_stale(ledger, receipt->number, receipt->delivery);
            if (!*stale &&
                !ledger_is_good(ledger, receipt->number, receipt->delivery,
                                worker_now(worker)))
                continue;
            if (++batch.count == LBX_MAX_BATCH)
                try_batch(worker, &batch);
        }
        try_batch(worker, &batch);
    }
}

/* How many letters are in a box: that can be received, and in all. */
uint64_t
worker_count(const struct worker *worker, uint32_t box, uint64_t *ret_ready)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_status status;

    worker_enter(worker, CALL_COUNT);
    status = lbx_postbox_count(worker_postbox(worker, box), &counts);
    worker_leave(worker, status);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    *ret_ready = counts.ready;
    return counts.ready + counts.leased + counts.delayed;
}

void
worker_look(struct worker *worker)
{
    const uint32_t box =
        (uint32_t)worker_draw(worker, worker_box_count(worker));
    lbx_letter *letters[LBX_MAX_BATCH];
    size_t count = 0;
    uint64_t ready, live = 0;
    lbx_status status;

    for (uint32_t i = 0; i < worker_box_count(worker); i++)
        live += worker_count(worker, i, &ready);
    ledger_set_live(worker->workers->ledger, live);
    worker_enter(worker, CALL_PEEK);
    status = lbx_postbox_peek(worker->boxes->boxes[box], worker_draw(worker, 9),
                              LBX_MAX_BATCH, letters, &count);
    worker_leave(worker, status);
    if (status != LBX_OK && status != LBX_EMPTY)
        ledger_fail(worker->workers->ledger, status);
    for (size_t i = 0; status == LBX_OK && i < count; i++)
        lbx_letter_destroy(letters[i]);
}

void
worker_sync(struct worker *worker)
{
    lbx_status status;

    worker_enter(worker, CALL_SYNC);
    status = lbx_store_sync(worker->boxes->store);
    if (status == LBX_UNSUPPORTED)
        status = LBX_OK; // in memory
    worker_leave(worker, status);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
}

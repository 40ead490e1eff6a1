/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules: what a send, a receive, a settle means, over ordered rows.
 *
 * One function for each verb of <letterbox/store_driver.h>. Each takes the request of
 * that contract, works at once, and answers a final status, never PENDING; what
 * it answers holds when the group's ticket is durable:
 *
 *     lbx__storage_begin(storage);
 *     status = lbx__send_apply(rules, send);              // any number of these
 *     status = lbx__receive_apply(rules, receive, 0, &sink, &got);
 *     ticket = lbx__rules_commit(rules);
 *     lbx__storage_flush(storage, ticket);
 *     ...                                                 // now answer
 *
 * Requests must have passed the front: texts and numbers are within the box's
 * limits, and `delay_ns`, `lease_ns` are no LBX_DEFAULT. Statuses of entries are
 * written to each; the whole is the first failure among them.
 *
 * Waiting. lbx__receive_apply() answers LBX_EMPTY when it finds nothing; the
 * service keeps the call and tries again when it may go better. It learns that
 * from `ready`, called inside the verbs, and from lbx__receive_next_due():
 *
 *   event                                    who tells
 *   a send, a nack, an undo, a dead letter,  ready(box, due): from `due` on, which
 *   a move, a change of options, an          may be past, a receive of that box may
 *   acknowledgement that opens a group       find what it did not find before
 *   time passes: leases, delays              lbx__receive_next_due(box)
 *   the box is deleted                       ended(box)
 *   another process                          nobody: try again after begin
 *
 * A service that holds receives of a box keeps the least of these moments as the
 * box's timer, tries when it has come, and asks lbx__receive_next_due() again when
 * the answer was LBX_EMPTY. Nothing is polled.
 *
 * Background. What must be done some time, but on which no answer depends (rows
 * of purged boxes, running moves), is done by lbx__background_work() in budgets.
 *
 * U1  A verb that answers a failure for an entry has written nothing for it.
 * U2  A call that fails with LBX_CORRUPT or LBX_IO has found a row that does not
 *     check; that entry has written nothing.
 * U3  `ready` and `ended` are called with the storage in the middle of a group:
 *     they note what they are told, and call nothing here.
 * U4  No answer depends on when, or whether, lbx__background_work() has run; of a
 *     move, only how far it has come.
 *
 * Threads    one at a time, the storage's.
 */
#ifndef LBX_POST_RULES_H
#define LBX_POST_RULES_H

#include "post/rules/storage.h"

#include <letterbox/store_driver.h>

typedef struct lbx__rules lbx__rules;

/* What the rules tell their service, U3. Either may be NULL. */
typedef struct lbx__rules_events {
    void (*ready)(void *context, lbx_box box, int64_t due_ns);
    void (*ended)(void *context, lbx_box box);
    void *context;
} lbx__rules_events;

typedef struct lbx__rules_options {
    const lbx_allocator *allocator;
    lbx__rules_events events;

    /* Wall time, ms since 1970: shown to people, never compared. Required. */
    int64_t (*wall_ms)(void *context);
    void *wall_context;
} lbx__rules_options;

enum {
    LBX__STORE_UID_BYTES = 16,
    LBX__STORE_KEY_BYTES = 32
};

/*
 * Opens the rules on a storage, outside a group: reads who the store is, or, when
 * it is empty, makes that up and waits until it is durable. OK; NO_MEMORY;
 * CORRUPT; NEWER; IO. The storage must outlive the rules, and stays the caller's.
 */
lbx_status lbx__rules_open(lbx__storage *storage,
                           const lbx__rules_options *options, lbx__rules **ret);

/* Frees the rules; the storage is as it was. Takes NULL. */
void lbx__rules_close(lbx__rules *rules);

/* The store's own number and its key for receipts as text: fixed at open. */
const uint8_t *lbx__rules_uid(const lbx__rules *rules);
const uint8_t *lbx__rules_key(const lbx__rules *rules);

/* Receipts from before are EXPIRED from now on: after a restore, a salvage, a
 * crash below level `sync` (D11). Outside a group; durable when it answers OK. */
lbx_status lbx__rules_new_era(lbx__rules *rules);

/* A copy becomes a store of its own: another uid, another key, and a new era. The
 * same. */
lbx_status lbx__rules_renew(lbx__rules *rules);

/* Ends a group that verbs have run in: writes what the rules have kept for its
 * end, and commits. The ticket. */
uint64_t lbx__rules_commit(lbx__rules *rules);

/* ---- Letters ---- */

/* Where letters go that a receive or a peek finds: OK, or NO_MEMORY, and then the
 * letter stays as it was. The service hands lbx_call_deliver() and the call. Pointers
 * in the delivery are good during the call only. A receipt is
 * LBX__RECEIPT_PACKED bytes. */
typedef struct lbx__sink {
    lbx_status (*deliver)(void *context, const lbx_delivery *delivery);
    void *context;
} lbx__sink;

/* OK; first of: FULL, TOO_LARGE, NO_SPACE, NO_MEMORY, CLOSED, CORRUPT, IO. */
lbx_status lbx__send_apply(lbx__rules *rules, lbx_send_request *request);

/*
 * Leases and delivers letters: at most max_letters less `before`, which is how
 * many this call has had from an earlier try. (While before + *ret_count is less
 * than min_letters, a call that may wait goes on waiting; min_letters and wait_ns
 * are the service's.) `*ret_count` is always written.
 *
 * OK: one at least; EMPTY: none; FULL: as many are leased as may be, and none was
 * claimed; CLOSED; NO_MEMORY; NO_SPACE; CORRUPT; IO. A failure after some were
 * delivered is OK with those: the next receive will meet it.
 *
 * Letters whose own rows do not check are stepped over; CORRUPT when there is such a
 * one and no other, or there are too many of them on the way, some of which the next
 * receive will be past. In a fifo box they stop their groups.
 */
lbx_status lbx__receive_apply(lbx__rules *rules,
                              const lbx_receive_request *request,
                              uint32_t before, const lbx__sink *sink,
                              uint32_t *ret_count);

/* When a receive that has just answered EMPTY should be tried again though nobody
 * does anything: LBX_FOREVER when nothing will be due. OK; CLOSED; CORRUPT;
 * IO. */
lbx_status lbx__receive_next_due(lbx__rules *rules, lbx_box box,
                                 int64_t *ret_due_ns);

/* OK, EXPIRED, GONE, INVALID for each; or what sending the attached answers. */
lbx_status lbx__settle_apply(lbx__rules *rules, lbx_settle_request *request);

/* Takes deliveries back; the same statuses. `what`, times and attachments are
 * not looked at. */
lbx_status lbx__settle_undo(lbx__rules *rules, lbx_settle_request *request);

/* Shows letters from a sequence on, receipt_bytes 0, in the order of their
 * sequences, without those that are damaged. OK, also with none; CORRUPT when there
 * are only damaged ones; NO_MEMORY from the sink ends it. */
lbx_status lbx__receive_peek(lbx__rules *rules, const lbx_peek_request *request,
                             const lbx__sink *sink);

/* ---- Boxes ---- */

/* By `box` if it is not 0, else by space and name. Options must have passed
 * lbx_box_options_check(). The statuses are those of lbx_store_ops; a `box` whose
 * life is over is NOT_FOUND. */
lbx_status lbx__box_admin_create(lbx__rules *rules, lbx_box_request *request);
lbx_status lbx__box_admin_configure(lbx__rules *rules,
                                    lbx_box_request *request);
lbx_status lbx__box_admin_delete(lbx__rules *rules, lbx_box_request *request);
lbx_status lbx__catalog_describe(lbx__rules *rules, lbx_box_request *request);
lbx_status lbx__box_admin_purge(lbx__rules *rules, lbx_box_request *request);

/* `each` is called in the middle of a group: it copies (U3). */
lbx_status lbx__catalog_list(lbx__rules *rules,
                             const lbx_list_request *request);

/* ---- Moves, and the rest of the background ---- */

lbx_status lbx__move_apply(lbx__rules *rules, lbx_move_request *request);

/*
 * Does at most `budget` rows or letters of what is left to do. `*ret_due_ns` is
 * when to call again: LBX_FOREVER when there is nothing, a moment that has come
 * when there is more. Ask after open, and after a purge, a delete or a move.
 *
 * OK; NO_MEMORY, NO_SPACE: later; CORRUPT; IO.
 */
lbx_status lbx__background_work(lbx__rules *rules, uint32_t budget,
                                int64_t *ret_due_ns);

#endif

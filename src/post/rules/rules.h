/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules: what a send, a receive, a settle means, over ordered rows. This is
 * the interface to the service.
 *
 * There is one function for each verb of <letterbox/store_driver.h>. Each takes
 * the request of that contract, runs at once, and returns a final status, never
 * PENDING. The result holds when the batch is durable:
 *
 *     lbx__storage_begin(storage);
 *     status = lbx__send_apply(rules, send);          // any number of these
 *     status = lbx__receive_apply(rules, receive, 0, &sink, &got);
 *     batch = lbx__box_record_commit(rules);
 *     lbx__storage_flush(storage, batch);
 *     ...                                             // now finish the calls
 *
 * Requests have passed the front: texts and numbers are within the limits of
 * the box, and `delay_ns`, `lease_ns` are not LBX_DEFAULT. Each entry gets a
 * status; the function returns the first failure among them.
 *
 * Waiting. lbx__receive_apply() returns LBX_EMPTY when it finds nothing; the
 * service keeps the call and tries again when one of these says so:
 *
 *   a send, a nack, an undo, a dead letter,   lbx__box_record_take_changes():
 *   a move, a change of options, a delete,    from due_ns on, a receive of that
 *   an acknowledgement                        box may find what it did not find
 *   before time passes: leases, delays               lbx__receive_next_due(box)
 *   another process has changed a box         nothing: try again after begin
 *
 * Background. What must be done some time, but on which no result depends (rows
 * of purged boxes, running moves), is done by lbx__background_work() in
 * budgets.
 *
 * RULES-1  A rule that fails for an entry has written nothing for it.
 * RULES-2  A rule that returns CORRUPT or IO for an entry has found a damaged
 *          row, and has written nothing for that entry.
 * RULES-3  The rules call nothing above them except the sink, which copies what
 *          it gets. What others want to know is noted, and read by
 *          lbx__box_record_take_changes().
 * RULES-4  No result depends on when, or whether, lbx__background_work() has
 *          run; of a move, only how far it has come.
 * RULES-5  Row ids, uids and numbers of tasks are drawn from one counter, each
 *          once in the life of a store.
 * RULES-6  Damage is never read as "empty" or "not there".
 *
 * Threads    one at a time, as the storage.
 */
#ifndef LBX_POST_RULES_RULES_H
#define LBX_POST_RULES_RULES_H

#include "post/rules/storage.h"

#include <letterbox/store_driver.h>

typedef struct lbx__rules lbx__rules;

typedef struct lbx__rules_options {
    const lbx_allocator *allocator;

    /* Wall time, ms since 1970: shown to users, never compared. NULL: the
     * system's. */
    int64_t (*wall_ms)(void *context);
    void *wall_context;
} lbx__rules_options;

enum {
    LBX__STORE_UID_BYTES = 16,
    LBX__STORE_KEY_BYTES = 32
};

/*
 * Opens the rules on a storage, outside a batch: reads the identity of the
 * store, or creates one in an empty storage and waits until it is durable. OK;
 * NO_MEMORY; CORRUPT; NEWER; IO. The storage stays the caller's and must
 * outlive the rules.
 */
lbx_status lbx__rules_open(lbx__storage *storage,
                           const lbx__rules_options *options, lbx__rules **ret);

/* Releases the rules; the storage stays open. Takes NULL. */
void lbx__rules_close(lbx__rules *rules);

/* The store's uid, and its key for receipts as text: fixed at open. */
const uint8_t *lbx__rules_uid(const lbx__rules *rules);
const uint8_t *lbx__rules_key(const lbx__rules *rules);

/* Makes all earlier receipts EXPIRED: after a restore, a salvage, or a crash
 * that may have lost deliveries. Outside a batch; durable when it returns
 * OK. */
lbx_status lbx__rules_new_era(lbx__rules *rules);

/* Makes a copy a store of its own: another uid, another key, and a new era.
 * Outside a batch; durable when it returns OK. */
lbx_status lbx__rules_renew(lbx__rules *rules);

/* Ends a batch in which rules have run: writes the records of boxes that have
 * changed, and commits. Returns the batch's number. */
uint64_t lbx__box_record_commit(lbx__rules *rules);

/* From due_ns on, which may be past, a receive of the box may succeed; or fail,
 * because the box was deleted. A uid of 0 means any box. */
typedef struct lbx__box_change {
    uint64_t uid;
    int64_t due_ns;
} lbx__box_change;

/* The changes since the last call, and how many: valid until the next rule. */
size_t lbx__box_record_take_changes(lbx__rules *rules,
                                    const lbx__box_change **ret);

/* ---- Letters ---- */

/* Takes the letters that a receive or a peek finds: OK; NO_MEMORY, and then the
 * letter stays as it was. Pointers in the delivery are valid during the call
 * only. A receipt is LBX__RECEIPT_PACKED bytes. */
typedef struct lbx__sink {
    lbx_status (*deliver)(void *context, const lbx_delivery *delivery);
    void *context;
} lbx__sink;

/* OK; first of: FULL, TOO_LARGE, NO_SPACE, NO_MEMORY, CLOSED, CORRUPT, IO. */
lbx_status lbx__send_apply(lbx__rules *rules, lbx_send_request *request);

/*
 * Leases and delivers letters: at most max_letters less `before`, which is how
 * many this call has had from an earlier try. (Whether it goes on waiting, by
 * min_letters and wait_ns, is the service's decision.) `*ret_count` is always
 * written.
 *
 * OK: one at least; EMPTY: none; FULL: as many are leased as may be, and none
 * was claimed; CLOSED; NO_MEMORY; NO_SPACE; CORRUPT; IO. After some were
 * delivered, a failure is OK with those: the next receive will meet it.
 *
 * Damaged letters are skipped (LETREC-2); in a fifo box they stop their groups.
 * CORRUPT when there is one and no intact letter, or more than LBX__SKIPS_MAX
 * on the way to one; the next receive continues after some of them.
 */
lbx_status lbx__receive_apply(lbx__rules *rules,
                              const lbx_receive_request *request,
                              uint32_t before, const lbx__sink *sink,
                              uint32_t *ret_count);

/* When a receive that has just returned EMPTY should be tried again although no
 * rule has run: LBX_FOREVER when nothing will be due. OK; CLOSED; CORRUPT;
 * IO. */
lbx_status lbx__receive_next_due(lbx__rules *rules, lbx_box id,
                                 int64_t *ret_due_ns);

/* OK, EXPIRED, GONE, INVALID for each entry; or a status of sending what is
 * attached. */
lbx_status lbx__settle_apply(lbx__rules *rules, lbx_settle_request *request);

/* Undoes deliveries; the same statuses. `what`, times and attachments are
 * ignored. */
lbx_status lbx__settle_undo(lbx__rules *rules, lbx_settle_request *request);

/* Delivers letters from a sequence on, without leasing them and without
 * receipts, in the order of their sequences; skips damaged ones. OK, also with
 * none; CORRUPT when there are only damaged ones; NO_MEMORY from the sink. */
lbx_status lbx__receive_peek(lbx__rules *rules, const lbx_peek_request *request,
                             const lbx__sink *sink);

/* ---- Boxes ---- */

/* The box is named by `box` if that is not 0, else by space and name. Options
 * must have passed lbx_box_options_check(). The statuses are those of
 * lbx_store_ops; a deleted `box` is NOT_FOUND. */
lbx_status lbx__box_admin_create(lbx__rules *rules, lbx_box_request *request);
lbx_status lbx__box_admin_configure(lbx__rules *rules,
                                    lbx_box_request *request);
lbx_status lbx__box_admin_delete(lbx__rules *rules, lbx_box_request *request);
lbx_status lbx__catalog_describe(lbx__rules *rules, lbx_box_request *request);
lbx_status lbx__box_admin_purge(lbx__rules *rules, lbx_box_request *request);

/* `each` is called inside the batch: it copies (RULES-3). */
lbx_status lbx__catalog_list(lbx__rules *rules,
                             const lbx_list_request *request);

/* ---- Moves, and the rest of the background ---- */

lbx_status lbx__move_apply(lbx__rules *rules, lbx_move_request *request);

/*
 * Works on at most `budget` rows or letters. `*ret_due_ns` is when to call
 * again: LBX_FOREVER when nothing is left, a past moment when there is more.
 * Call it after open, and after a purge, a delete or a move.
 *
 * OK; NO_MEMORY, NO_SPACE: try later; CORRUPT; IO.
 */
lbx_status lbx__background_work(lbx__rules *rules, uint32_t budget,
                                int64_t *ret_due_ns);

#endif

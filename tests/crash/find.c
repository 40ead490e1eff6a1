/* SPDX-License-Identifier: Apache-2.0 */
/* A worker receives, and what becomes of what it received. */
#include "worker_parts.h"

#include <sched.h>
#include <string.h>

static uint64_t
hash_of(const char *id)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *id; id++)
        hash = (hash ^ (uint8_t)*id) * UINT64_C(1099511628211);
    return hash ? hash : 1;
}

/* False when it is no letter of the ledger's. */
static bool
take_up(const struct worker *worker, struct find *find, int64_t begun,
        int64_t lease_ns)
{
    const int64_t ended = worker_now(worker);
    size_t size;
    const void *body = lbx_letter_body(find->letter, &size);

    find->number = ledger_number_of(body, size);
    find->delivery = lbx_letter_delivery_count(find->letter);
    find->until_ns = begun + lease_ns;
    find->over_ns = ended + lease_ns;
    if (lbx_letter_receipt(find->letter, find->receipt,
                           sizeof(find->receipt)) != LBX_OK)
        ledger_fail(worker->workers->ledger, LBX_INVALID);
    if (worker->workers->tells_long_leases)
        find->until_ns += 2 * lease_ns;
    worker_tell(worker,
                &(struct ledger_event){
                    .what = find->number ? LEDGER_RECEIVED : LEDGER_WRONG,
                    .number = find->number,
                    .delivery = find->delivery,
                    .id = hash_of(lbx_letter_id(find->letter)),
                    .begun_ns = begun,
                    .ended_ns = ended,
                    .until_ns = find->until_ns,
                });
    return find->number > 0;
}

static void
tell_hidden(const struct worker *worker, const struct find *find,
            enum ledger_what what, int64_t begun, int64_t until,
            lbx_status status)
{
    worker_tell(worker, &(struct ledger_event){
                            .what = what,
                            .number = find->number,
                            .delivery = find->delivery,
                            .begun_ns = begun,
                            .ended_ns = worker_now(worker),
                            .until_ns = until,
                            .status = status,
                        });
}

static void
tell_delete(const struct worker *worker, const struct find *find,
            enum ledger_what what, int64_t begun, lbx_status status)
{
    worker_tell(worker, &(struct ledger_event){
                            .what = what,
                            .number = find->number,
                            .delivery = find->delivery,
                            .begun_ns = begun,
                            .ended_ns = worker_now(worker),
                            .status = status,
                        });
}

void
worker_tell_stale(const struct worker *worker, const struct ledger_receipt *old,
                  lbx_status status)
{
    if (status != LBX_EXPIRED && status != LBX_GONE && status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    worker_tell(worker, &(struct ledger_event){
                            .what = LEDGER_STALE,
                            .number = old->number,
                            .delivery = old->delivery,
                            .status = status,
                        });
}

/* With a receipt that is not good any more. */
static void
try_stale(const struct worker *worker, const struct ledger_receipt *old)
{
    lbx_settle_item settle = {.action = LBX_SETTLE_ACKNOWLEDGE,
                              .receipt = old->text};

    (void)!lbx_postbox_settle_batch(worker->boxes->boxes[old->box], &settle, 1);
    worker_tell_stale(worker, old, settle.status);
}

static void
receipt_of(const struct find *find, struct ledger_receipt *ret)
{
    ret->delivery = find->delivery;
    ret->box = find->box;
    ret->number = find->number;
    memcpy(ret->text, find->receipt, sizeof(ret->text));
}

static void
try_again(const struct worker *worker, const struct find *find)
{
    struct ledger_receipt old;

    receipt_of(find, &old);
    try_stale(worker, &old);
}

/* Answers that are no failure: a lease may be over before we come to it, and a
 * box cleared, which makes its receipts invalid. */
static void
expect_settled(const struct worker *worker, uint32_t box, lbx_status status)
{
    if (status != LBX_OK && status != LBX_EXPIRED && status != LBX_GONE &&
        !(status == LBX_INVALID && box_is_cleared(box)))
        ledger_fail(worker->workers->ledger, status);
}

static int64_t
sooner_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void
give_back(struct worker *worker, const struct find *find)
{
    const int64_t begun = worker_now(worker);
    const int64_t delay =
        worker_draw(worker, 2)
            ? (int64_t)worker_draw(worker, (uint64_t)worker->workers->lease_ns)
            : 0;
    lbx_status status;

    // It may come too late, and the lease's end be what counts.
    tell_hidden(worker, find, LEDGER_RETURN, begun,
                sooner_of(find->until_ns, begun + delay), LBX_PENDING);
    worker_enter(worker, CALL_NACK);
    status = lbx_letter_nack(find->letter, delay);
    worker_leave(worker, status);
    expect_settled(worker, find->box, status);
    if (status != LBX_OK)
        return;
    tell_hidden(worker, find, LEDGER_RETURN, begun, begun + delay, LBX_OK);
    // Its receipt is not good any more, though it is not delivered again yet;
    // but where the box is not strict it is until then.
    if (find->box != BOX_DEAD && !box_is_cleared(find->box) &&
        worker_draw(worker, 2))
        try_again(worker, find);
}

/* Longer or shorter: true when it is ours still. */
static bool
extend(struct worker *worker, struct find *find)
{
    const int64_t begun = worker_now(worker);
    const int64_t lease =
        (int64_t)(1 +
                  worker_draw(worker, 2 * (uint64_t)worker->workers->lease_ns));
    lbx_status status;

    tell_hidden(worker, find, LEDGER_HIDE, begun,
                sooner_of(find->until_ns, begun + lease), LBX_PENDING);
    worker_enter(worker, CALL_EXTEND);
    status = lbx_letter_extend(find->letter, lease);
    worker_leave(worker, status);
    expect_settled(worker, find->box, status);
    if (status != LBX_OK)
        return false;
    find->until_ns = begun + lease;
    find->over_ns = worker_now(worker) + lease;
    tell_hidden(worker, find, LEDGER_HIDE, begun, find->until_ns, LBX_OK);
    return true;
}

/* Deletes some of one box, in one call. */
void
find_delete_all(const struct worker *worker, uint32_t box, struct find **finds,
                size_t count)
{
    const int64_t begun = worker_now(worker);
    lbx_settle_item settles[LBX_MAX_BATCH];

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        settles[i] = (lbx_settle_item){.action = LBX_SETTLE_ACKNOWLEDGE,
                                       .letter = finds[i]->letter};
        tell_delete(worker, finds[i], LEDGER_DELETE, begun, LBX_PENDING);
        if (worker->workers->tells_deleted_early)
            tell_delete(worker, finds[i], LEDGER_DELETED, begun, LBX_OK);
    }
    worker_enter(worker, CALL_ACKNOWLEDGE);
    worker_leave(worker, lbx_postbox_settle_batch(worker_postbox(worker, box),
                                                  settles, count));
    for (size_t i = 0; i < count; i++) {
        expect_settled(worker, box, settles[i].status);
        tell_delete(worker, finds[i], LEDGER_DELETED, begun, settles[i].status);
        if (worker->workers->tells_good_as_stale)
            tell_delete(worker, finds[i], LEDGER_STALE, begun,
                        settles[i].status);
    }
}

/* Acknowledges one with a letter that is sent along, as a reply or not. */
static void
delete_with_another(struct worker *worker, const struct find *find)
{
    struct pile pile = {.box = BOX_REPLIES, .with = find->number};
    const uint64_t number = ledger_number(worker->workers->ledger);
    const bool replies =
        lbx_letter_routes(find->letter) && worker_draw(worker, 2);
    lbx_sent_letter sent;
    lbx_status status;
    int64_t begun;

    if (number == 0)
        return;
    pile_add(worker, &pile, number);
    begun = worker_now(worker);
    pile_tell(worker, &pile, begun);
    tell_delete(worker, find, LEDGER_DELETE, begun, LBX_PENDING);
    worker_enter(worker, replies ? CALL_REPLY : CALL_FORWARD);
    if (worker->workers->drops_attached)
        status = lbx_letter_acknowledge(find->letter);
    else if (replies)
        status = lbx_letter_reply_and_acknowledge(find->letter, pile.drafts,
                                                  &sent, NULL);
    else
        status = lbx_letter_send_and_acknowledge(
            find->letter, worker->boxes->boxes[BOX_REPLIES], pile.drafts,
            &sent);
    worker_leave(worker, status);
    expect_settled(worker, find->box, status);
    pile_tell_sent(worker, number, status, begun);
    tell_delete(worker, find, LEDGER_DELETED, begun, status);
    pile_end(worker, &pile);
}

static void
keep_receipt(struct worker *worker, const struct find *find)
{
    struct ledger_receipt receipt;

    receipt_of(find, &receipt);
    ledger_keep_receipt(worker->workers->ledger, worker->state >> 40, &receipt);
}

/* What becomes of it; true when it is to be deleted. */
static bool
decide(struct worker *worker, struct find *find)
{
    if (find->number == 0)
        return false;
    if (worker_draw(worker, 8) == 0 && !box_is_cleared(find->box))
        keep_receipt(worker, find);
    if (worker_is_wished(worker, CALL_NACK)) {
        give_back(worker, find);
        return false;
    }
    if (worker_is_wished(worker, CALL_EXTEND))
        return extend(worker, find);
    switch (worker_draw(worker, 32)) {
    case 0:
    case 1:
        give_back(worker, find);
        return false;
    case 2:
        return extend(worker, find);
    case 3:
        (void)extend(worker, find);
        return false; // let it run out
    case 4:
        return false;
    default:
        return true;
    }
}

size_t
find_receive(struct worker *worker, uint32_t box, int64_t wait_ns,
             struct find finds[LBX_MAX_BATCH])
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letters[LBX_MAX_BATCH];
    const int64_t begun = worker_now(worker);
    size_t count;
    lbx_status status;

    // Two letters of a group in one receive are in order, but in flight
    // together; one at a time is what can be judged.
    options.max_letters = box == BOX_FIFO ? 1 : worker_draw_batch(worker);
    options.lease_ns =
        worker->workers->lease_ns / 2 +
        (int64_t)worker_draw(worker, (uint64_t)worker->workers->lease_ns);
    options.wait_ns = wait_ns;
    worker_enter(worker, CALL_RECEIVE);
    status = lbx_postbox_receive_batch(worker_postbox(worker, box), &options,
                                       letters, &count);
    worker_leave(worker, status);
    if (status != LBX_OK && status != LBX_EMPTY)
        ledger_fail(worker->workers->ledger, status);
    for (size_t i = 0; i < count; i++) {
        finds[i].letter = letters[i];
        finds[i].box = box;
        (void)take_up(worker, &finds[i], begun, options.lease_ns);
    }
    return count;
}

/* Most letters are in the plain box. */
static uint32_t
draw_box(struct worker *worker)
{
    static const uint8_t wide[] = {BOX_REPLIES, BOX_REPLIES, BOX_PURGED,
                                   BOX_THERE,   BOX_THERE,   BOX_PLAIN};
    const uint64_t drawn = worker_draw(worker, 16);

    if (worker->workers->wide && worker_draw(worker, 2) == 0)
        return wide[worker_draw(worker, sizeof(wide))];
    return drawn < 12 ? BOX_PLAIN : drawn < 15 ? BOX_FIFO : BOX_DEAD;
}

bool
worker_receive(struct worker *worker)
{
    const uint32_t box = draw_box(worker);
    struct find finds[LBX_MAX_BATCH], *done[LBX_MAX_BATCH];
    struct ledger_receipt old;
    const size_t count = find_receive(
        worker, box,
        worker->workers->wait_ns
            ? (int64_t)worker_draw(worker, (uint64_t)worker->workers->wait_ns)
            : 0,
        finds);
    size_t done_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (!decide(worker, &finds[i]))
            continue;
        if (worker->workers->wide && box == BOX_PLAIN &&
            (worker_is_wished(worker, CALL_REPLY) ||
             worker_is_wished(worker, CALL_FORWARD) ||
             worker_draw(worker, 6) == 0))
            delete_with_another(worker, &finds[i]);
        else
            done[done_count++] = &finds[i];
    }
    find_delete_all(worker, box, done, done_count);
    if (done_count && !box_is_cleared(box) && worker_draw(worker, 8) == 0)
        try_again(worker, done[0]);
    if (ledger_old_receipt(worker->workers->ledger, worker->state >> 40, &old))
        try_stale(worker, &old);
    for (size_t i = 0; i < count; i++)
        lbx_letter_destroy(finds[i].letter);
    return count > 0;
}

void
worker_cancel_receive(struct worker *worker)
{
    const enum workers_box box = worker_draw(worker, 2) ? BOX_PLAIN : BOX_DEAD;
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letters[LBX_MAX_BATCH];
    const int64_t begun = worker_now(worker);
    struct find find = {.box = box};
    lbx_operation operation;
    size_t count = 0;
    lbx_status status;

    options.max_letters = LBX_MAX_BATCH;
    options.lease_ns = worker->workers->lease_ns;
    options.wait_ns = worker->workers->wait_ns;
    status = lbx_postbox_receive_init(&operation, worker->boxes->boxes[box],
                                      &options, letters, &count);
    if (status == LBX_OK)
        status = lbx_operation_poll(&operation, NULL);
    if (status == LBX_PENDING) {
        for (uint64_t i = worker_draw(worker, 64); i > 0; i--)
            sched_yield();
        status = lbx_operation_cancel(&operation);
    }
    if (status != LBX_OK && status != LBX_CANCELLED && status != LBX_EMPTY)
        ledger_fail(worker->workers->ledger, status);
    // What had come before the cancel is ours, and left to its lease.
    for (size_t i = 0; status == LBX_OK && i < count; i++) {
        find.letter = letters[i];
        (void)take_up(worker, &find, begun, options.lease_ns);
        lbx_letter_destroy(letters[i]);
    }
    lbx_operation_fini(&operation);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What one worker does; see workers.h. */
#include "workers.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

void
worker_init(struct worker *worker, const struct workers *workers,
            struct boxes *boxes, unsigned index)
{
    *worker = (struct worker){
        .workers = workers,
        .boxes = boxes,
        .place = &workers->ledger->places[index],
        .index = index,
        .state = (workers->seed + index) * UINT64_C(0x9e3779b97f4a7c15),
    };
}

uint64_t
worker_draw(struct worker *worker, uint64_t below)
{
    worker->state = worker->state * UINT64_C(6364136223846793005) +
                    UINT64_C(1442695040888963407);
    return (worker->state >> 33) % below;
}

/* Mostly as many as there may be. */
static uint32_t
draw_batch(struct worker *worker)
{
    return worker_draw(worker, 4)
               ? LBX_MAX_BATCH
               : 1 + (uint32_t)worker_draw(worker, LBX_MAX_BATCH);
}

static int64_t
now_of(const struct worker *worker)
{
    const struct workers *workers = worker->workers;

    return workers->now_ns ? workers->now_ns(workers->clock)
                           : lbx_clock_now(NULL);
}

static void
tell(const struct worker *worker, const struct ledger_event *event)
{
    if (worker->workers->tell)
        worker->workers->tell(worker->workers->context, event);
    else
        ledger_note(worker->workers->ledger, event);
}

/* ---- Sending ---- */

/* Drafts of letters, with what they point to. */
struct pile {
    enum workers_box box;
    size_t count;
    uint64_t numbers[LBX_MAX_BATCH];
    uint64_t after;
    lbx_draft drafts[LBX_MAX_BATCH];
    uint8_t bodies[LBX_MAX_BATCH][LEDGER_BODY_MAX];
    char tokens[LBX_MAX_BATCH][24];
    char group[16];
};

static void
add_draft(struct worker *worker, struct pile *pile, uint64_t number)
{
    const size_t at = pile->count++;
    lbx_draft *draft = &pile->drafts[at];

    pile->numbers[at] = number;
    *draft = lbx_draft_of_bytes(pile->bodies[at],
                                ledger_body(number, pile->bodies[at]));
    (void)snprintf(pile->tokens[at], sizeof(pile->tokens[at]), "t%" PRIu64,
                   number);
    draft->token = pile->tokens[at];
    if (pile->box == BOX_FIFO) {
        (void)snprintf(pile->group, sizeof(pile->group), "g%u", worker->index);
        draft->group = pile->group;
        draft->deduplication_id = pile->tokens[at];
    } else if (worker_draw(worker, 16) == 0) {
        draft->delay_ns =
            (int64_t)worker_draw(worker, (uint64_t)worker->workers->lease_ns);
    }
}

static void
tell_sent(const struct worker *worker, uint64_t number, lbx_status status,
          int64_t begun)
{
    tell(worker, &(struct ledger_event){
                     .what = LEDGER_SENT,
                     .number = number,
                     .status = status,
                     .begun_ns = begun,
                     .ended_ns = now_of(worker),
                 });
}

static void
tell_sends(const struct worker *worker, const struct pile *pile, int64_t begun)
{
    for (size_t i = 0; i < pile->count; i++) {
        const int64_t delay = pile->drafts[i].delay_ns;

        atomic_store(&worker->place->pending[i], pile->numbers[i]);
        tell(worker, &(struct ledger_event){
                         .what = LEDGER_SEND,
                         .number = pile->numbers[i],
                         .box = pile->box,
                         .after = pile->after,
                         .begun_ns = begun,
                         .until_ns = delay > 0 ? begun + delay : 0,
                     });
        if (worker->workers->tells_sent_early)
            tell_sent(worker, pile->numbers[i], LBX_OK, begun);
    }
}

static bool
send_pile(struct worker *worker, struct pile *pile)
{
    const int64_t begun = now_of(worker);
    lbx_sent_letter sent[LBX_MAX_BATCH];
    lbx_status status;

    tell_sends(worker, pile, begun);
    status = lbx_postbox_send_batch(worker->boxes->boxes[pile->box],
                                    pile->drafts, pile->count, sent);
    for (size_t i = 0; i < pile->count; i++) {
        tell_sent(worker, pile->numbers[i], sent[i].status, begun);
        if (pile->box == BOX_FIFO && sent[i].status == LBX_OK)
            atomic_store(&worker->place->last_of_group, pile->numbers[i]);
        // What is unknown stays: the next worker asks again.
        if (sent[i].status != LBX_UNKNOWN)
            atomic_store(&worker->place->pending[i], 0);
    }
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    return status == LBX_OK;
}

void
worker_send_again(struct worker *worker)
{
    struct ledger *ledger = worker->workers->ledger;

    for (size_t i = 0; i < LBX_MAX_BATCH; i++) {
        const uint64_t number = atomic_load(&worker->place->pending[i]);
        struct pile pile = {.count = 0};

        // Whoever lies about having sent does not make up for it.
        if (number == 0 || worker->workers->tells_sent_early)
            continue;
        // Chosen, but not reported, let alone sent: then it may be new.
        pile.box = (enum workers_box)atomic_load(&ledger->letters[number].box);
        pile.after = atomic_load(&ledger->letters[number].after);
        add_draft(worker, &pile, number);
        (void)send_pile(worker, &pile);
        atomic_store(&worker->place->pending[i], 0);
    }
}

bool
worker_send(struct worker *worker)
{
    const struct workers *workers = worker->workers;
    struct pile pile = {.box = BOX_PLAIN, .count = 0};
    uint64_t count;

    if (ledger_live(workers->ledger) >= workers->live_max)
        return false;
    if (worker_draw(worker, 4) == 0) {
        pile.box = BOX_FIFO;
        pile.after = atomic_load(&worker->place->last_of_group);
        count = 1;
    } else {
        count = draw_batch(worker);
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = ledger_number(workers->ledger);

        if (number)
            add_draft(worker, &pile, number);
    }
    return pile.count > 0 && send_pile(worker, &pile);
}

/* ---- Receiving ---- */

/* One that was received. */
struct find {
    enum workers_box box;
    lbx_letter *letter;
    uint64_t number;
    uint32_t delivery;
    int64_t until_ns; /* leased for certain until then, */
    int64_t over_ns;  /* and for certain not after this */
    char receipt[LBX_RECEIPT_BYTES];
};

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
    const int64_t ended = now_of(worker);
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
    tell(worker, &(struct ledger_event){
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
    tell(worker, &(struct ledger_event){
                     .what = what,
                     .number = find->number,
                     .delivery = find->delivery,
                     .begun_ns = begun,
                     .ended_ns = now_of(worker),
                     .until_ns = until,
                     .status = status,
                 });
}

static void
tell_delete(const struct worker *worker, const struct find *find,
            enum ledger_what what, int64_t begun, lbx_status status)
{
    tell(worker, &(struct ledger_event){
                     .what = what,
                     .number = find->number,
                     .delivery = find->delivery,
                     .begun_ns = begun,
                     .ended_ns = now_of(worker),
                     .status = status,
                 });
}

static void
tell_stale(const struct worker *worker, const struct ledger_receipt *old,
           lbx_status status)
{
    if (status != LBX_EXPIRED && status != LBX_GONE && status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    tell(worker, &(struct ledger_event){
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
    tell_stale(worker, old, settle.status);
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

/* Answers that are no failure: a lease may be over before we come to it. */
static void
expect_settled(const struct worker *worker, lbx_status status)
{
    if (status != LBX_OK && status != LBX_EXPIRED && status != LBX_GONE)
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
    const int64_t begun = now_of(worker);
    const int64_t delay =
        worker_draw(worker, 2)
            ? (int64_t)worker_draw(worker, (uint64_t)worker->workers->lease_ns)
            : 0;
    lbx_status status;

    // It may come too late, and the lease's end be what counts.
    tell_hidden(worker, find, LEDGER_RETURN, begun,
                sooner_of(find->until_ns, begun + delay), LBX_PENDING);
    status = lbx_letter_nack(find->letter, delay);
    expect_settled(worker, status);
    if (status != LBX_OK)
        return;
    tell_hidden(worker, find, LEDGER_RETURN, begun, begun + delay, LBX_OK);
    // Its receipt is not good any more, though it is not delivered again yet;
    // but where the box is not strict it is until then.
    if (find->box != BOX_DEAD && worker_draw(worker, 2))
        try_again(worker, find);
}

/* Longer or shorter: true when it is ours still. */
static bool
extend(struct worker *worker, struct find *find)
{
    const int64_t begun = now_of(worker);
    const int64_t lease =
        (int64_t)(1 +
                  worker_draw(worker, 2 * (uint64_t)worker->workers->lease_ns));
    lbx_status status;

    tell_hidden(worker, find, LEDGER_HIDE, begun,
                sooner_of(find->until_ns, begun + lease), LBX_PENDING);
    status = lbx_letter_extend(find->letter, lease);
    expect_settled(worker, status);
    if (status != LBX_OK)
        return false;
    find->until_ns = begun + lease;
    find->over_ns = now_of(worker) + lease;
    tell_hidden(worker, find, LEDGER_HIDE, begun, find->until_ns, LBX_OK);
    return true;
}

/* Deletes some of one box, in one call. */
static void
delete_all(const struct worker *worker, enum workers_box box,
           struct find **finds, size_t count)
{
    const int64_t begun = now_of(worker);
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
    (void)!lbx_postbox_settle_batch(worker->boxes->boxes[box], settles, count);
    for (size_t i = 0; i < count; i++) {
        expect_settled(worker, settles[i].status);
        tell_delete(worker, finds[i], LEDGER_DELETED, begun, settles[i].status);
        if (worker->workers->tells_good_as_stale)
            tell_delete(worker, finds[i], LEDGER_STALE, begun,
                        settles[i].status);
    }
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
    if (worker_draw(worker, 8) == 0)
        keep_receipt(worker, find);
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

static size_t
receive_some(struct worker *worker, enum workers_box box, int64_t wait_ns,
             struct find finds[LBX_MAX_BATCH])
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letters[LBX_MAX_BATCH];
    const int64_t begun = now_of(worker);
    size_t count;
    lbx_status status;

    // Two letters of a group in one receive are in order, but in flight
    // together; one at a time is what can be judged.
    options.max_letters = box == BOX_FIFO ? 1 : draw_batch(worker);
    options.lease_ns =
        worker->workers->lease_ns / 2 +
        (int64_t)worker_draw(worker, (uint64_t)worker->workers->lease_ns);
    options.wait_ns = wait_ns;
    status = lbx_postbox_receive_batch(worker->boxes->boxes[box], &options,
                                       letters, &count);
    if (status != LBX_OK && status != LBX_EMPTY)
        ledger_fail(worker->workers->ledger, status);
    for (size_t i = 0; i < count; i++) {
        finds[i].letter = letters[i];
        finds[i].box = box;
        (void)take_up(worker, &finds[i], begun, options.lease_ns);
    }
    return count;
}

bool
worker_receive(struct worker *worker)
{
    const uint64_t drawn = worker_draw(worker, 16);
    const enum workers_box box = drawn < 12   ? BOX_PLAIN
                                 : drawn < 15 ? BOX_FIFO
                                              : BOX_DEAD;
    struct find finds[LBX_MAX_BATCH], *done[LBX_MAX_BATCH];
    struct ledger_receipt old;
    const size_t count = receive_some(
        worker, box,
        worker->workers->wait_ns
            ? (int64_t)worker_draw(worker, (uint64_t)worker->workers->wait_ns)
            : 0,
        finds);
    size_t done_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (decide(worker, &finds[i]))
            done[done_count++] = &finds[i];
    }
    delete_all(worker, box, done, done_count);
    if (done_count && worker_draw(worker, 8) == 0)
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
    const int64_t begun = now_of(worker);
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

/* ---- Looking back ---- */

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
            tell_stale(worker, &batch->receipts[i], settles[i].status);
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

    for (unsigned box = 0; box < BOX_COUNT; box++) {
        struct batch batch = {.count = 0};

        for (uint64_t i = 0; i < LEDGER_RECEIPTS; i++) {
            struct ledger_receipt *receipt = &batch.receipts[batch.count];
            bool *stale = &batch.stale[batch.count];

            if (!ledger_receipt(ledger, i, receipt) || receipt->box != box)
                continue;
            *stale =
                ledger_is_stale(ledger, receipt->number, receipt->delivery);
            if (!*stale && !ledger_is_good(ledger, receipt->number,
                                           receipt->delivery, now_of(worker)))
                continue;
            if (++batch.count == LBX_MAX_BATCH)
                try_batch(worker, &batch);
        }
        try_batch(worker, &batch);
    }
}

/* How many letters are in a box: that can be received, and in all. */
static uint64_t
count_of(const struct worker *worker, enum workers_box box, uint64_t *ret_ready)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    const lbx_status status =
        lbx_postbox_count(worker->boxes->boxes[box], &counts);

    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    *ret_ready = counts.ready;
    return counts.ready + counts.leased + counts.delayed;
}

void
worker_look(struct worker *worker)
{
    const enum workers_box box =
        (enum workers_box)worker_draw(worker, BOX_COUNT);
    lbx_letter *letters[LBX_MAX_BATCH];
    size_t count = 0;
    uint64_t ready;
    lbx_status status;

    (void)count_of(worker, box, &ready);
    status = lbx_postbox_peek(worker->boxes->boxes[box], worker_draw(worker, 9),
                              LBX_MAX_BATCH, letters, &count);
    if (status != LBX_OK && status != LBX_EMPTY)
        ledger_fail(worker->workers->ledger, status);
    for (size_t i = 0; status == LBX_OK && i < count; i++)
        lbx_letter_destroy(letters[i]);
}

/* ---- Draining ---- */

/* One receive, and what it got deleted: how many. */
static size_t
drain_some(struct worker *worker, enum workers_box box, int64_t wait_ns)
{
    struct find finds[LBX_MAX_BATCH], *done[LBX_MAX_BATCH];
    const size_t count = receive_some(worker, box, wait_ns, finds);

    for (size_t i = 0; i < count; i++)
        done[i] = &finds[i];
    delete_all(worker, box, done, count);
    for (size_t i = 0; i < count; i++)
        lbx_letter_destroy(finds[i].letter);
    return count;
}

/* What can be received of a box; answers what is left in it. */
static uint64_t
drain_box(struct worker *worker, enum workers_box box, uint64_t *found)
{
    uint64_t ready, left = count_of(worker, box, &ready);

    while (ready > 0) {
        const size_t count = drain_some(worker, box, 0);

        *found += count;
        if (count == 0)
            break; // behind others of its group, or dead now
        if (count < ready)
            ready -= count;
        else
            left = count_of(worker, box, &ready);
    }
    return left;
}

void
worker_drain(struct worker *worker, void (*wait)(void *context), void *context)
{
    // Dead letters last: the others die into them.
    static const enum workers_box order[] = {BOX_FIFO, BOX_PLAIN, BOX_DEAD};
    uint64_t left;

    do {
        uint64_t found = 0;

        left = 0;
        for (size_t i = 0; i < BOX_COUNT; i++)
            left += drain_box(worker, order[i], &found);
        if (left > 0 && found == 0) {
            if (wait)
                wait(context);
            for (size_t i = 0; !wait && i < BOX_COUNT; i++)
                (void)drain_some(worker, order[i],
                                 worker->workers->lease_ns / 4);
        }
        if (atomic_load(&worker->workers->ledger->failures))
            break; // it may never be empty
    } while (left > 0);
}

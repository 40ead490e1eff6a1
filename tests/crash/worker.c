/* SPDX-License-Identifier: Apache-2.0 */
/* What one worker does; see workers.h. */
#include "workers.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGE_ONE_IN = 256 /* wide: letters */
};

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
    if (workers->wide &&
        lbx_routes_single("replies", NULL, &worker->routes) != LBX_OK)
        abort();
}

void
worker_fini(struct worker *worker)
{
    lbx_postbox_unref(worker->own);
    lbx_routes_unref(worker->routes);
}

void
worker_enter(const struct worker *worker, enum ledger_call call)
{
    atomic_store(&worker->place->call, call);
}

static bool
is_wished(const struct worker *worker, enum ledger_call call)
{
    return worker->workers->wished &&
           atomic_load(worker->workers->wished) == (uint32_t)call;
}

/* Ends what it was in the middle of, and counts it. */
static void
leave(const struct worker *worker, lbx_status status)
{
    const uint32_t call = atomic_exchange(&worker->place->call, CALL_NONE);

    if (status == LBX_OK)
        atomic_fetch_add(&worker->workers->ledger->calls[call], 1);
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

static lbx_postbox *
postbox_of(const struct worker *worker, uint32_t box)
{
    return box < BOX_COUNT ? worker->boxes->boxes[box] : worker->own;
}

/* Whether letters of a box can be cleared, so that nothing is certain about
 * their receipts. */
static bool
is_cleared_box(uint32_t box)
{
    return box == BOX_PURGED || box >= BOX_COUNT;
}

static unsigned
box_count(const struct worker *worker)
{
    return worker->workers->wide ? BOX_COUNT : BOX_NARROW;
}

/* ---- Sending ---- */

/* Drafts of letters, with what they point to. */
struct pile {
    uint32_t box;
    size_t count;
    uint64_t with; /* LEDGER-3 */
    uint64_t numbers[LBX_MAX_BATCH];
    uint64_t after;
    lbx_draft drafts[LBX_MAX_BATCH];
    uint8_t bodies[LBX_MAX_BATCH][LEDGER_SMALL_MAX];
    uint8_t *large[LBX_MAX_BATCH]; /* or here */
    char tokens[LBX_MAX_BATCH][24];
    char group[16];
};

static void
add_draft(struct worker *worker, struct pile *pile, uint64_t number)
{
    const size_t at = pile->count++;
    lbx_draft *draft = &pile->drafts[at];

    pile->numbers[at] = number;
    pile->large[at] = NULL;
    if (worker->workers->wide && number % LARGE_ONE_IN == 0) {
        pile->large[at] = malloc(LEDGER_LARGE_MAX);
        if (!pile->large[at])
            abort();
        *draft = lbx_draft_of_bytes(pile->large[at],
                                    ledger_large_body(number, pile->large[at]));
    } else {
        *draft = lbx_draft_of_bytes(pile->bodies[at],
                                    ledger_body(number, pile->bodies[at]));
    }
    (void)snprintf(pile->tokens[at], sizeof(pile->tokens[at]), "t%" PRIu64,
                   number);
    draft->token = pile->tokens[at];
    if (pile->box == BOX_FIFO) {
        (void)snprintf(pile->group, sizeof(pile->group), "g%u", worker->index);
        draft->group = pile->group;
        draft->deduplication_id = pile->tokens[at];
    } else if (pile->box == BOX_PLAIN && worker->routes &&
               worker_draw(worker, 4) == 0) {
        draft->routes = worker->routes;
    } else if (pile->box == BOX_HERE) {
        pile->after = LEDGER_MOVES;
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

        // Sent again, it may be there twice, once in a box that was cleared;
        // and with an acknowledgement it cannot be.
        if (!is_cleared_box(pile->box) && pile->with == 0)
            atomic_store(&worker->place->pending[i], pile->numbers[i]);
        tell(worker, &(struct ledger_event){
                         .what = LEDGER_SEND,
                         .number = pile->numbers[i],
                         .box = pile->box,
                         .after = pile->after,
                         .id = pile->with,
                         .begun_ns = begun,
                         .until_ns = delay > 0 ? begun + delay : 0,
                     });
        if (worker->workers->tells_sent_early)
            tell_sent(worker, pile->numbers[i], LBX_OK, begun);
    }
}

static void
end_pile(const struct worker *worker, struct pile *pile)
{
    for (size_t i = 0; i < pile->count; i++) {
        if (pile->large[i])
            atomic_fetch_add(&worker->workers->ledger->large, 1);
        free(pile->large[i]);
    }
}

static bool
send_pile(struct worker *worker, struct pile *pile)
{
    const int64_t begun = now_of(worker);
    lbx_sent_letter sent[LBX_MAX_BATCH];
    lbx_status status;

    tell_sends(worker, pile, begun);
    worker_enter(worker, CALL_SEND);
    status = lbx_postbox_send_batch(postbox_of(worker, pile->box), pile->drafts,
                                    pile->count, sent);
    leave(worker, status);
    for (size_t i = 0; i < pile->count; i++) {
        tell_sent(worker, pile->numbers[i], sent[i].status, begun);
        if (pile->box == BOX_FIFO && sent[i].status == LBX_OK)
            atomic_store(&worker->place->last_of_group, pile->numbers[i]);
        // What is unknown stays: the next worker asks again.
        if (sent[i].status != LBX_UNKNOWN)
            atomic_store(&worker->place->pending[i], 0);
    }
    end_pile(worker, pile);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    return status == LBX_OK;
}

/* Clears of this place: LEDGER-2. */
static void
tell_clear(const struct worker *worker, enum ledger_what what, uint32_t box,
           int64_t begun, lbx_status status)
{
    tell(worker, &(struct ledger_event){
                     .what = what,
                     .box = box,
                     .delivery = worker->index,
                     .begun_ns = begun,
                     .ended_ns = now_of(worker),
                     .status = status,
                 });
}

void
worker_send_again(struct worker *worker)
{
    struct ledger *ledger = worker->workers->ledger;
    const uint32_t clearing = atomic_load(&worker->place->clearing);

    if (clearing > 0)
        tell_clear(worker, LEDGER_CLEARED, clearing - 1, now_of(worker),
                   LBX_UNKNOWN);
    for (size_t i = 0; i < LBX_MAX_BATCH; i++) {
        const uint64_t number = atomic_load(&worker->place->pending[i]);
        struct pile pile = {.count = 0};

        // Whoever lies about having sent does not make up for it.
        if (number == 0 || worker->workers->tells_sent_early)
            continue;
        // Chosen, but not reported, let alone sent: then it may be new.
        pile.box = atomic_load(&ledger->letters[number].box);
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
        if (workers->wide && worker_draw(worker, 3) == 0)
            pile.box = worker_draw(worker, 2) ? BOX_PURGED : BOX_HERE;
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
    uint32_t box;
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

/* Answers that are no failure: a lease may be over before we come to it, and a
 * box cleared, which makes its receipts invalid. */
static void
expect_settled(const struct worker *worker, uint32_t box, lbx_status status)
{
    if (status != LBX_OK && status != LBX_EXPIRED && status != LBX_GONE &&
        !(status == LBX_INVALID && is_cleared_box(box)))
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
    worker_enter(worker, CALL_NACK);
    status = lbx_letter_nack(find->letter, delay);
    leave(worker, status);
    expect_settled(worker, find->box, status);
    if (status != LBX_OK)
        return;
    tell_hidden(worker, find, LEDGER_RETURN, begun, begun + delay, LBX_OK);
    // Its receipt is not good any more, though it is not delivered again yet;
    // but where the box is not strict it is until then.
    if (find->box != BOX_DEAD && !is_cleared_box(find->box) &&
        worker_draw(worker, 2))
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
    worker_enter(worker, CALL_EXTEND);
    status = lbx_letter_extend(find->letter, lease);
    leave(worker, status);
    expect_settled(worker, find->box, status);
    if (status != LBX_OK)
        return false;
    find->until_ns = begun + lease;
    find->over_ns = now_of(worker) + lease;
    tell_hidden(worker, find, LEDGER_HIDE, begun, find->until_ns, LBX_OK);
    return true;
}

/* Deletes some of one box, in one call. */
static void
delete_all(const struct worker *worker, uint32_t box, struct find **finds,
           size_t count)
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
    worker_enter(worker, CALL_ACKNOWLEDGE);
    leave(worker,
          lbx_postbox_settle_batch(postbox_of(worker, box), settles, count));
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
    add_draft(worker, &pile, number);
    begun = now_of(worker);
    tell_sends(worker, &pile, begun);
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
    leave(worker, status);
    expect_settled(worker, find->box, status);
    tell_sent(worker, number, status, begun);
    tell_delete(worker, find, LEDGER_DELETED, begun, status);
    end_pile(worker, &pile);
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
    if (worker_draw(worker, 8) == 0 && !is_cleared_box(find->box))
        keep_receipt(worker, find);
    if (is_wished(worker, CALL_NACK)) {
        give_back(worker, find);
        return false;
    }
    if (is_wished(worker, CALL_EXTEND))
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

static size_t
receive_some(struct worker *worker, uint32_t box, int64_t wait_ns,
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
    worker_enter(worker, CALL_RECEIVE);
    status = lbx_postbox_receive_batch(postbox_of(worker, box), &options,
                                       letters, &count);
    leave(worker, status);
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
    const size_t count = receive_some(
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
            (is_wished(worker, CALL_REPLY) || is_wished(worker, CALL_FORWARD) ||
             worker_draw(worker, 6) == 0))
            delete_with_another(worker, &finds[i]);
        else
            done[done_count++] = &finds[i];
    }
    delete_all(worker, box, done, done_count);
    if (done_count && !is_cleared_box(box) && worker_draw(worker, 8) == 0)
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

    for (unsigned box = 0; box < box_count(worker); box++) {
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
count_of(const struct worker *worker, uint32_t box, uint64_t *ret_ready)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_status status;

    worker_enter(worker, CALL_COUNT);
    status = lbx_postbox_count(postbox_of(worker, box), &counts);
    leave(worker, status);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    *ret_ready = counts.ready;
    return counts.ready + counts.leased + counts.delayed;
}

void
worker_look(struct worker *worker)
{
    const uint32_t box = (uint32_t)worker_draw(worker, box_count(worker));
    lbx_letter *letters[LBX_MAX_BATCH];
    size_t count = 0;
    uint64_t ready, live = 0;
    lbx_status status;

    for (uint32_t i = 0; i < box_count(worker); i++)
        live += count_of(worker, i, &ready);
    ledger_set_live(worker->workers->ledger, live);
    worker_enter(worker, CALL_PEEK);
    status = lbx_postbox_peek(worker->boxes->boxes[box], worker_draw(worker, 9),
                              LBX_MAX_BATCH, letters, &count);
    leave(worker, status);
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
    leave(worker, status);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
}

/* ---- Clearing and moving ---- */

void
worker_purge(struct worker *worker)
{
    struct ledger *ledger = worker->workers->ledger;
    const int64_t begun = now_of(worker);
    lbx_status status = LBX_OK;
    uint64_t count = 0;

    tell_clear(worker, LEDGER_CLEAR, BOX_PURGED, begun, LBX_PENDING);
    worker_enter(worker, CALL_PURGE);
    if (!worker->workers->tells_purged)
        status = lbx_postbox_purge(worker->boxes->boxes[BOX_PURGED], &count);
    leave(worker, status);
    tell_clear(worker, LEDGER_CLEARED, BOX_PURGED, begun, status);
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
    leave(worker, status);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
}

static void
own_name(unsigned index, char name[16])
{
    (void)snprintf(name, 16, "own-%u", index);
}

/* Opens the box of a place, and makes it if need be. */
static bool
open_own_box(struct worker *worker, unsigned index)
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
    leave(worker, status);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    return status == LBX_OK;
}

static void
close_own_box(struct worker *worker)
{
    lbx_postbox_unref(worker->own);
    worker->own = NULL;
}

static void
delete_own_box(struct worker *worker, uint64_t count)
{
    struct ledger *ledger = worker->workers->ledger;
    const int64_t begun = now_of(worker);
    const uint32_t box = BOX_COUNT + worker->index;
    lbx_status status;
    char name[16];

    own_name(worker->index, name);
    tell_clear(worker, LEDGER_CLEAR, box, begun, LBX_PENDING);
    worker_enter(worker, CALL_DELETE_BOX);
    status = lbx_store_delete_box(worker->boxes->store, name);
    leave(worker, status);
    tell_clear(worker, LEDGER_CLEARED, box, begun, status);
    if (status != LBX_OK)
        ledger_fail(ledger, status);
    atomic_fetch_add(&ledger->cleared, (int64_t)count);
    // It is this worker's: no other has made it again.
    if (lbx_store_describe_box(worker->boxes->store, name, NULL, NULL, NULL) !=
        LBX_NOT_FOUND)
        atomic_fetch_add(&ledger->resurrected, 1);
}

static size_t drain_some(struct worker *worker, uint32_t box, int64_t wait_ns);

void
worker_use_own_box(struct worker *worker)
{
    struct pile pile = {.box = BOX_COUNT + worker->index};
    uint64_t ready, count;

    if (!open_own_box(worker, worker->index))
        return;
    for (uint64_t i = 1 + worker_draw(worker, 5); i > 0; i--) {
        const uint64_t number = ledger_number(worker->workers->ledger);

        if (number)
            add_draft(worker, &pile, number);
    }
    if (pile.count > 0)
        (void)send_pile(worker, &pile);
    if (worker_draw(worker, 2))
        (void)drain_some(worker, pile.box, 0);
    count = count_of(worker, pile.box, &ready);
    if (worker_draw(worker, 4))
        delete_own_box(worker, count);
    close_own_box(worker);
}

/* ---- Draining ---- */

/* One receive, and what it got deleted: how many. */
static size_t
drain_some(struct worker *worker, uint32_t box, int64_t wait_ns)
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
drain_box(struct worker *worker, uint32_t box, uint64_t *found)
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
        if (!there[i] || !open_own_box(worker, i))
            continue;
        left += drain_box(worker, BOX_COUNT + i, found);
        close_own_box(worker);
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
        for (size_t i = BOX_COUNT - box_count(worker); i < BOX_COUNT; i++)
            left += drain_box(worker, order[i], &found);
        if (left > 0 && found == 0) {
            if (wait)
                wait(context);
            for (size_t i = BOX_COUNT - box_count(worker);
                 !wait && i < BOX_COUNT; i++)
                (void)drain_some(worker, order[i],
                                 worker->workers->lease_ns / 4);
        }
        if (atomic_load(&worker->workers->ledger->failures))
            break; // it may never be empty
    } while (left > 0);
}

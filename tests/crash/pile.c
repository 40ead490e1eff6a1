/* SPDX-License-Identifier: Apache-2.0 */
/* A worker sends. */
#include "worker_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LARGE_ONE_IN = 256 /* wide: letters */
};

void
pile_add(struct worker *worker, struct pile *pile, uint64_t number)
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

void
pile_tell_sent(const struct worker *worker, uint64_t number, lbx_status status,
               int64_t begun)
{
    worker_tell(worker, &(struct ledger_event){
                            .what = LEDGER_SENT,
                            .number = number,
                            .status = status,
                            .begun_ns = begun,
                            .ended_ns = worker_now(worker),
                        });
}

void
pile_tell(const struct worker *worker, const struct pile *pile, int64_t begun)
{
    for (size_t i = 0; i < pile->count; i++) {
        const int64_t delay = pile->drafts[i].delay_ns;

        // Sent again, it may be there twice, once in a box that was cleared;
        // and with an acknowledgement it cannot be.
        if (!box_is_cleared(pile->box) && pile->with == 0)
            atomic_store(&worker->place->pending[i], pile->numbers[i]);
        worker_tell(worker, &(struct ledger_event){
                                .what = LEDGER_SEND,
                                .number = pile->numbers[i],
                                .box = pile->box,
                                .after = pile->after,
                                .id = pile->with,
                                .begun_ns = begun,
                                .until_ns = delay > 0 ? begun + delay : 0,
                            });
        if (worker->workers->tells_sent_early)
            pile_tell_sent(worker, pile->numbers[i], LBX_OK, begun);
    }
}

void
pile_end(const struct worker *worker, struct pile *pile)
{
    for (size_t i = 0; i < pile->count; i++) {
        if (pile->large[i])
            atomic_fetch_add(&worker->workers->ledger->large, 1);
        free(pile->large[i]);
    }
}

bool
pile_send(struct worker *worker, struct pile *pile)
{
    const int64_t begun = worker_now(worker);
    lbx_sent_letter sent[LBX_MAX_BATCH];
    lbx_status status;

    pile_tell(worker, pile, begun);
    worker_enter(worker, CALL_SEND);
    status = lbx_postbox_send_batch(worker_postbox(worker, pile->box),
                                    pile->drafts, pile->count, sent);
    worker_leave(worker, status);
    for (size_t i = 0; i < pile->count; i++) {
        pile_tell_sent(worker, pile->numbers[i], sent[i].status, begun);
        if (pile->box == BOX_FIFO && sent[i].status == LBX_OK)
            atomic_store(&worker->place->last_of_group, pile->numbers[i]);
        // What is unknown stays: the next worker asks again.
        if (sent[i].status != LBX_UNKNOWN)
            atomic_store(&worker->place->pending[i], 0);
    }
    pile_end(worker, pile);
    if (status != LBX_OK)
        ledger_fail(worker->workers->ledger, status);
    return status == LBX_OK;
}

void
worker_send_again(struct worker *worker)
{
    struct ledger *ledger = worker->workers->ledger;
    const uint32_t clearing = atomic_load(&worker->place->clearing);

    if (clearing > 0)
        worker_tell_clear(worker, LEDGER_CLEARED, clearing - 1,
                          worker_now(worker), LBX_UNKNOWN);
    for (size_t i = 0; i < LBX_MAX_BATCH; i++) {
        const uint64_t number = atomic_load(&worker->place->pending[i]);
        struct pile pile = {.count = 0};

        // Whoever lies about having sent does not make up for it.
        if (number == 0 || worker->workers->tells_sent_early)
            continue;
        // Chosen, but not reported, let alone sent: then it may be new.
        pile.box = atomic_load(&ledger->letters[number].box);
        pile.after = atomic_load(&ledger->letters[number].after);
        pile_add(worker, &pile, number);
        (void)pile_send(worker, &pile);
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
        count = worker_draw_batch(worker);
        if (workers->wide && worker_draw(worker, 3) == 0)
            pile.box = worker_draw(worker, 2) ? BOX_PURGED : BOX_HERE;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = ledger_number(workers->ledger);

        if (number)
            pile_add(worker, &pile, number);
    }
    return pile.count > 0 && pile_send(worker, &pile);
}

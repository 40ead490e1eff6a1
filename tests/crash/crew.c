/* SPDX-License-Identifier: Apache-2.0 */
/* A process's threads, and their store; hand.c has what one of them does. */
#include "crew.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[CREW_BOXES] = {"plain", "fifo", "dead"};

static lbx_box_options
rules_of(enum crew_box box, const struct crew *crew)
{
    lbx_box_options rules = LBX_BOX_OPTIONS_INIT;

    rules.lease_ns = crew->lease_ns;
    rules.fifo = box == CREW_FIFO;
    rules.strict = box != CREW_DEAD;
    if (box == CREW_PLAIN) {
        rules.dead_letters = names[CREW_DEAD];
        rules.deliveries_most = 4;
    }
    return rules;
}

lbx_status
desk_open(struct desk *desk, const struct crew *crew)
{
    // Dead letters first: the plain box names them.
    static const enum crew_box order[] = {CREW_DEAD, CREW_FIFO, CREW_PLAIN};
    lbx_status status;

    memset(desk, 0, sizeof(*desk));
    status = lbx_store_open(crew->url, crew->options, &desk->store);
    for (size_t i = 0; status == LBX_OK && i < CREW_BOXES; i++) {
        const lbx_box_options rules = rules_of(order[i], crew);
        lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;

        options.box = &rules;
        status = lbx_postbox_open_in(desk->store, names[order[i]], &options,
                                     &desk->boxes[order[i]]);
    }
    if (status != LBX_OK)
        desk_close(desk);
    return status;
}

void
desk_close(struct desk *desk)
{
    for (int i = 0; i < CREW_BOXES; i++)
        lbx_postbox_unref(desk->boxes[i]);
    lbx_store_unref(desk->store);
    memset(desk, 0, sizeof(*desk));
}

struct worker {
    struct hand hand;
    pthread_t thread;
    int64_t until_ns;
};

static bool
is_over(const struct worker *worker)
{
    return atomic_load(&worker->hand.crew->ledger->stop) ||
           (worker->until_ns && lbx_clock_now(NULL) >= worker->until_ns);
}

/* Whether there is company: the store then gives more than was asked for. */
static void
look_around(const struct worker *worker, bool *was_alone)
{
    const struct crew *crew = worker->hand.crew;
    const bool is_alone =
        lbx_store_durability(worker->hand.desk->store) < LBX_SURVIVES_POWER_CUT;

    atomic_fetch_add(is_alone ? &crew->ledger->alone : &crew->ledger->together,
                     1);
    if (is_alone != *was_alone)
        atomic_fetch_add(&crew->ledger->changes, 1);
    *was_alone = is_alone;
}

static void
rest(void)
{
    const struct timespec moment = {0, 1000000};

    (void)nanosleep(&moment, NULL);
}

static void *
send_until(void *argument)
{
    struct worker *worker = argument;
    bool alone =
        lbx_store_durability(worker->hand.desk->store) < LBX_SURVIVES_POWER_CUT;

    hand_send_again(&worker->hand);
    while (!is_over(worker)) {
        atomic_store(&worker->hand.place->beat_ns, lbx_clock_now(NULL));
        if (!hand_send(&worker->hand))
            rest();
        look_around(worker, &alone);
    }
    atomic_store(&worker->hand.place->beat_ns, 0);
    return NULL;
}

static void *
receive_until(void *argument)
{
    struct worker *worker = argument;

    while (!is_over(worker)) {
        atomic_store(&worker->hand.place->beat_ns, lbx_clock_now(NULL));
        if (hand_draw(&worker->hand, 16) == 0)
            hand_change_mind(&worker->hand);
        else
            (void)hand_receive(&worker->hand);
    }
    atomic_store(&worker->hand.place->beat_ns, 0);
    return NULL;
}

static void
note_open(struct ledger *ledger, int64_t took_ns)
{
    const uint32_t at = atomic_fetch_add(&ledger->open_count, 1);

    if (at < LEDGER_OPENS)
        atomic_store(&ledger->open_us[at], (uint32_t)(took_ns / LBX_US));
}

lbx_status
crew_work(const struct crew *crew, int64_t work_ns)
{
    const unsigned count = crew->senders + crew->receivers;
    const int64_t start = lbx_clock_now(NULL);
    struct worker workers[LEDGER_PLACES];
    struct desk desk;
    unsigned started = 0;
    lbx_status status = desk_open(&desk, crew);

    if (status != LBX_OK)
        return status;
    note_open(crew->ledger, lbx_clock_now(NULL) - start);
    for (; started < count; started++) {
        struct worker *worker = &workers[started];

        hand_init(&worker->hand, crew, &desk, crew->place + started);
        worker->until_ns = work_ns ? lbx_clock_now(NULL) + work_ns : 0;
        if (pthread_create(&worker->thread, NULL,
                           started < crew->senders ? send_until : receive_until,
                           worker) != 0)
            abort();
    }
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(workers[i].thread, NULL);
    desk_close(&desk);
    return LBX_OK;
}

lbx_status
crew_drain(const struct crew *crew)
{
    struct desk desk;
    struct hand hand;
    lbx_status status = desk_open(&desk, crew);

    if (status != LBX_OK)
        return status;
    atomic_store(&crew->ledger->draining, 1);
    hand_init(&hand, crew, &desk, crew->place);
    hand_drain(&hand, NULL, NULL);
    desk_close(&desk);
    return LBX_OK;
}

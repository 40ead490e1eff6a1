/* SPDX-License-Identifier: Apache-2.0 */
/* A process's threads, and their store; worker.c and its parts have what one of
 * them does. */
#include "workers.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[BOX_COUNT] = {
    "plain", "fifo", "dead", "replies", "purged", "here", "there",
};

static lbx_box_options
rules_of(enum workers_box box, const struct workers *workers)
{
    lbx_box_options rules = LBX_BOX_OPTIONS_INIT;

    rules.lease_ns = workers->lease_ns;
    rules.fifo = box == BOX_FIFO;
    rules.strict = box != BOX_DEAD;
    if (box == BOX_PLAIN) {
        rules.dead_letters = names[BOX_DEAD];
        rules.max_deliveries = 4;
    }
    return rules;
}

lbx_status
boxes_open(struct boxes *boxes, const struct workers *workers)
{
    // Dead letters first: the plain box names them.
    static const enum workers_box order[BOX_COUNT] = {
        BOX_DEAD,   BOX_FIFO, BOX_PLAIN, BOX_REPLIES,
        BOX_PURGED, BOX_HERE, BOX_THERE,
    };
    const size_t count = workers->wide ? BOX_COUNT : BOX_NARROW;
    lbx_status status;

    memset(boxes, 0, sizeof(*boxes));
    status = lbx_store_open(workers->url, workers->options, &boxes->store);
    for (size_t i = 0; status == LBX_OK && i < count; i++) {
        const lbx_box_options rules = rules_of(order[i], workers);
        lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;

        options.box = &rules;
        status = lbx_postbox_open_in(boxes->store, names[order[i]], &options,
                                     &boxes->boxes[order[i]]);
    }
    if (status != LBX_OK)
        boxes_close(boxes);
    return status;
}

void
boxes_close(struct boxes *boxes)
{
    for (int i = 0; i < BOX_COUNT; i++)
        lbx_postbox_unref(boxes->boxes[i]);
    lbx_store_unref(boxes->store);
    memset(boxes, 0, sizeof(*boxes));
}

struct runner {
    struct worker worker;
    pthread_t thread;
    int64_t until_ns;
};

static bool
is_over(const struct runner *runner)
{
    return atomic_load(&runner->worker.workers->ledger->stop) ||
           (runner->until_ns && lbx_clock_now(NULL) >= runner->until_ns);
}

/* Notes the mode: in shared mode the store gives more than was asked for. */
static void
look_around(const struct runner *runner, bool *was_exclusive)
{
    const struct workers *workers = runner->worker.workers;
    const bool is_exclusive =
        lbx_store_durability(runner->worker.boxes->store) <
        LBX_DURABILITY_POWER_CUT;

    atomic_fetch_add(
        is_exclusive ? &workers->ledger->alone : &workers->ledger->together, 1);
    if (is_exclusive != *was_exclusive)
        atomic_fetch_add(&workers->ledger->changes, 1);
    *was_exclusive = is_exclusive;
}

/* Now and then something other than a send. */
static void
send_or_else(struct worker *worker)
{
    static const uint8_t drawn[] = {
        CALL_PURGE,      CALL_MOVE, CALL_MOVE,
        CALL_DELETE_BOX, CALL_SYNC, CALL_COUNT,
    };
    const struct workers *workers = worker->workers;
    const uint64_t draw = workers->wide ? worker_draw(worker, 64) : 63;
    const uint32_t wished = workers->wished ? atomic_load(workers->wished) : 0;

    switch (wished ? wished : draw < sizeof(drawn) ? drawn[draw] : CALL_SEND) {
    case CALL_PURGE:
        worker_purge(worker);
        break;
    case CALL_MOVE:
        worker_move(worker);
        break;
    case CALL_CREATE_BOX:
    case CALL_DELETE_BOX:
        worker_use_own_box(worker);
        break;
    case CALL_SYNC:
        worker_sync(worker);
        break;
    case CALL_COUNT:
    case CALL_PEEK:
        worker_look(worker);
        break;
    default:
        if (!worker_send(worker))
            worker_look(worker); // there are enough letters
    }
}

static void *
send_until(void *argument)
{
    struct runner *runner = argument;
    bool alone = lbx_store_durability(runner->worker.boxes->store) <
                 LBX_DURABILITY_POWER_CUT;

    worker_send_again(&runner->worker);
    while (!is_over(runner)) {
        atomic_store(&runner->worker.place->progress_ns, lbx_clock_now(NULL));
        send_or_else(&runner->worker);
        look_around(runner, &alone);
    }
    atomic_store(&runner->worker.place->progress_ns, 0);
    return NULL;
}

static void *
receive_until(void *argument)
{
    struct runner *runner = argument;

    while (!is_over(runner)) {
        atomic_store(&runner->worker.place->progress_ns, lbx_clock_now(NULL));
        if (worker_draw(&runner->worker, 16) == 0)
            worker_cancel_receive(&runner->worker);
        else
            (void)worker_receive(&runner->worker);
    }
    atomic_store(&runner->worker.place->progress_ns, 0);
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
workers_run(const struct workers *workers, int64_t work_ns)
{
    const unsigned count = workers->senders + workers->receivers;
    const int64_t start = lbx_clock_now(NULL);
    struct runner runners[LEDGER_SLOTS];
    struct ledger_slot *first = &workers->ledger->places[workers->place];
    struct boxes boxes;
    unsigned started = 0;
    lbx_status status;

    atomic_store(&first->call, CALL_OPEN);
    status = boxes_open(&boxes, workers);
    atomic_store(&first->call, CALL_NONE);
    if (status != LBX_OK)
        return status;
    note_open(workers->ledger, lbx_clock_now(NULL) - start);
    for (; started < count; started++) {
        struct runner *runner = &runners[started];

        worker_init(&runner->worker, workers, &boxes, workers->place + started);
        runner->until_ns = work_ns ? lbx_clock_now(NULL) + work_ns : 0;
        if (pthread_create(&runner->thread, NULL,
                           started < workers->senders ? send_until
                                                      : receive_until,
                           runner) != 0)
            abort();
    }
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(runners[i].thread, NULL);
        worker_fini(&runners[i].worker);
    }
    atomic_store(&first->call, CALL_CLOSE);
    boxes_close(&boxes);
    atomic_store(&first->call, CALL_NONE);
    return LBX_OK;
}

lbx_status
workers_drain(const struct workers *workers)
{
    struct boxes boxes;
    struct worker worker;
    lbx_status status = boxes_open(&boxes, workers);

    if (status != LBX_OK)
        return status;
    ledger_end_clears(workers->ledger);
    atomic_store(&workers->ledger->draining, 1);
    worker_init(&worker, workers, &boxes, workers->place);
    worker_drain(&worker, NULL, NULL);
    worker_fini(&worker);
    boxes_close(&boxes);
    return LBX_OK;
}

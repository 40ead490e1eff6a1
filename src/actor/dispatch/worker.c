/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker does while there is something to do: D3, D4. */
#include "actor/dispatch/worker.h"

enum {
    SLOT_TURNS = 32,
    FAIR_TURNS = 61,
    SPINS = LBX__SPINS(200),
};

void
lbx__worker_enqueue(lbx__worker *mine, lbx__runnable *runnable)
{
    if (lbx__run_queue_push(&mine->queue, runnable))
        lbx__sleepers_notify(mine->dispatcher);
    else
        lbx__dispatcher_give(mine->dispatcher, runnable);
}

static lbx__runnable *
steal(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    for (uint32_t i = 1; i < dispatcher->options.threads; i++) {
        lbx__worker *other =
            &dispatcher
                 ->workers[(mine->index + i) % dispatcher->options.threads];
        uint64_t stolen = 0;
        lbx__runnable *runnable =
            lbx__run_queue_steal(&other->queue, &mine->queue, &stolen);

        if (!runnable)
            continue;
        lbx__worker_count(&mine->steals, stolen);
        if (stolen > 1) // while they were moved, nobody saw them (D2)
            lbx__sleepers_notify(dispatcher);
        return runnable;
    }
    return NULL;
}

static lbx__runnable *
take_slot(lbx__worker *mine)
{
    lbx__runnable *runnable = NULL;

    // Relaxed: only we put something there.
    if (lbx__load(&mine->slot.runnable, relaxed))
        runnable = lbx__run_slot_swap(&mine->slot, NULL);
    if (!runnable || mine->slot_turns++ < SLOT_TURNS)
        return runnable;
    mine->slot_turns = 0;
    lbx__worker_enqueue(mine, runnable); // D4
    return NULL;
}

/* The next runnable to run, or NULL. */
static lbx__runnable *
next_runnable(lbx__worker *mine)
{
    lbx__runnable *runnable = NULL;

    if (++mine->turn % FAIR_TURNS == 0) // D4
        runnable = lbx__dispatcher_take(mine->dispatcher);
    if (!runnable)
        runnable = take_slot(mine);
    if (runnable)
        return runnable;
    mine->slot_turns = 0;
    runnable = lbx__run_queue_take(&mine->queue);
    if (!runnable)
        runnable = lbx__dispatcher_take(mine->dispatcher);
    if (!runnable)
        runnable = steal(mine);
    return runnable;
}

/* D3: something was found. D5: slots that were used meanwhile. */
static void
end_search(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    mine->searching = false;
    if (lbx__sub(&dispatcher->searching, 1, seq_cst) == 1 &&
        (lbx__dispatcher_has_work(dispatcher) ||
         lbx__sleepers_lack_watcher(dispatcher)))
        lbx__sleepers_notify(dispatcher);
}

/* A little patience before sleeping: an answer is often on its way. */
static lbx__runnable *
search(lbx__worker *mine)
{
    for (int i = 0; i < SPINS; i++) {
        lbx__runnable *runnable = NULL;

        if (lbx__dispatcher_has_work(mine->dispatcher))
            runnable = next_runnable(mine);
        if (runnable)
            return runnable;
        lbx__pause();
    }
    return NULL;
}

void *
lbx__worker_main(void *argument)
{
    lbx__worker *mine = argument;
    lbx__dispatcher *dispatcher = mine->dispatcher;

    lbx__local(lbx__worker_self) = mine;
    for (;;) {
        lbx__runnable *runnable = next_runnable(mine);

        if (!runnable)
            runnable = search(mine);
        if (runnable) {
            if (mine->searching)
                end_search(mine);
            lbx__worker_count(&mine->turns, 1);
            lbx__worker_count(&mine->handled, dispatcher->run(runnable));
            continue;
        }
        if (lbx__load(&dispatcher->stopping, seq_cst) != 0)
            return NULL;
        lbx__sleepers_add(mine);
    }
}

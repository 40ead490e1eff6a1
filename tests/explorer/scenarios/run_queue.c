/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's run queue: one pushes, others steal (RUNQ-1, RUNQ-2). A cell is
 * only a number here, and is taken once.
 */
#include "explorer/points.h"

#include "actor/dispatch/run_queue.h"
#include "explorer/scenarios/ledger.h"
#include "explorer/scenarios/scenarios.h"

#include <string.h>

static lbx__run_queue worker;
static lbx__run_queue thieves[2];

// RUNQ-1 left out: a slot may be written that has not been taken.
static bool
push_blindly(lbx__runnable *runnable)
{
    uint32_t tail = lbx__load(&worker.tail, relaxed);

    lbx__store(&worker.slots[tail % LBX__RUN_QUEUE_SIZE], runnable, relaxed);
    lbx__store(&worker.tail, tail + 1, seq_cst);
    return true;
}

static bool
push(void)
{
    uint64_t message = ledger_message();
    lbx__runnable *runnable = (lbx__runnable *)(uintptr_t)message;
    bool pushed = explorer_mutant("push-does-not-look")
                      ? push_blindly(runnable)
                      : lbx__run_queue_push(&worker, runnable);

    if (pushed)
        ledger_sent(message);
    return pushed;
}

static bool
note(const lbx__runnable *runnable)
{
    if (runnable)
        ledger_received((uint64_t)(uintptr_t)runnable);
    return runnable != NULL;
}

// RUNQ-2 the other way round: the head first, then the slot.
static lbx__runnable *
take_late(lbx__run_queue *queue)
{
    uint32_t head = lbx__load(&queue->head, acquire);

    do
        if (head == lbx__load(&queue->tail, seq_cst))
            return NULL;
    while (!lbx__cas(&queue->head, &head, head + 1, acq_rel));
    return lbx__load(&queue->slots[head % LBX__RUN_QUEUE_SIZE], relaxed);
}

static bool
take(lbx__run_queue *queue)
{
    return note(explorer_mutant("take-reads-late")
                    ? take_late(queue)
                    : lbx__run_queue_take(queue));
}

static void
steal(lbx__run_queue *into)
{
    uint64_t count = 0;
    bool stolen = note(lbx__run_queue_steal(&worker, into, &count));

    EXPECT(stolen == (count > 0));
}

/* ---- Setups ---- */

static void
setup_with(unsigned count)
{
    ledger_reset();
    memset(&worker, 0, sizeof(worker));
    memset(thieves, 0, sizeof(thieves));
    for (unsigned i = 0; i < count; i++)
        EXPECT(push());
}

STEP(setup_three, setup_with(3))
STEP(setup_full, setup_with(LBX__RUN_QUEUE_SIZE))

/* ---- Threads ---- */

static void
push_and_take(void)
{
    (void)push();
    (void)take(&worker);
    (void)push();
}

STEP(take_one, (void)take(&worker))
STEP(steal_and_take, steal(&thieves[0]), (void)take(&thieves[0]))

static void
steal_from_a_thief(void)
{
    uint64_t count = 0;

    steal(&thieves[1]);
    if (lbx__run_queue_is_empty(&thieves[1]))
        (void)note(lbx__run_queue_steal(&thieves[0], &thieves[1], &count));
}

/* ---- Ends ---- */

static void
finish(void)
{
    while (take(&worker) || take(&thieves[0]) || take(&thieves[1]))
        continue;
    ledger_check(false);
}

const struct scenario run_queue_scenarios[] = {
    SCENARIO("run-queue/one-thief", setup_full, finish,
             THREADS(push_and_take, steal_and_take)),
    TWIN("run-queue/pushed-without-a-look", "push-does-not-look",
         "a slot is written that has not been taken (RUNQ-1)"),
    SCENARIO("run-queue/taken-by-another", setup_full, finish,
             THREADS(push_and_take, take_one)),
    TWIN("run-queue/read-too-late", "take-reads-late",
         "a slot is read after the head has moved (RUNQ-2)"),
    SCENARIO("run-queue/two-thieves", setup_three, finish,
             THREADS(push_and_take, steal_and_take, steal_from_a_thief),
             BOUND(4, 0)),
    SCENARIO("run-queue/a-change-of-the-worker-is-lost", setup_three, finish,
             THREADS(push_and_take, steal_and_take),
             .bug = "one of the worker's changes is lost, each in turn",
             .lose = 1),
    ALSO("run-queue/a-change-of-the-thief-is-lost",
         .bug = "one of the thief's changes is lost, each in turn", .lose = 2),
    {0},
};

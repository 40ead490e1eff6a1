/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking: an answer, a cancel, a timeout and the end of the one that was asked,
 * all at once (ASK-1, ASK-2). The question has been told in setup(). A promise
 * always hears, whatever its cell was before, also when it is suspended.
 */
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/stage.h"
#include "explorer/scenarios/wakeup.h"

#include "actor/core/system.h"

#include <string.h>

static struct player asked;
static struct player asking;  /* gets the answers */
static struct player earlier; /* its cell is the promise's now */
static lbx_operation ask;
static lbx_envelope answer;
static struct wakeup wakeup;

static void
reply(lbx_context *context)
{
    lbx_context_reply(context, stage_message(&asking));
}

// It wants to know when the one that asked has gone.
static void
watch_and_reply(lbx_context *context)
{
    EXPECT_OK(lbx_context_watch(context, lbx_context_sender(context)));
    reply(context);
}

static void
suspend_and_reply(lbx_context *context)
{
    EXPECT_OK(lbx_ref_suspend(lbx_context_sender(context)));
    reply(context);
}

/* ---- Setups ---- */

static void
reset(void)
{
    memset(&asked, 0, sizeof(asked));
    memset(&asking, 0, sizeof(asking));
    memset(&earlier, 0, sizeof(earlier));
    memset(&ask, 0, sizeof(ask));
    memset(&wakeup, 0, sizeof(wakeup));
    asked.plays = reply;
    stage_create();
    stage_spawn(&asked);
    stage_run();
}

static void
begin(int64_t deadline_ns)
{
    lbx_waker waker = wakeup_waker(&wakeup);
    lbx_envelope question;

    question = lbx_envelope_of(stage_message(&asked), 0);
    EXPECT_OK(
        lbx_ask_init(&ask, stage, asked.ref, &question, &answer, deadline_ns));
    EXPECT(lbx_operation_poll(&ask, &waker) == LBX_PENDING);
}

STEP(setup, reset(), begin(LBX_FOREVER))
STEP(setup_soon, reset(), begin(lbx_deadline_after(&explorer_clock, LBX_MS)))

// One that has just been suspended is answered.
static void
setup_suspended(void)
{
    setup();
    asked.plays = suspend_and_reply;
}

// One whose cell was suspended when its last actor ended is answered, while it
// hears that it is watched.
static void
setup_after_suspended(void)
{
    reset();
    asked.plays = watch_and_reply;
    stage_spawn(&earlier);
    stage_run();
    EXPECT_OK(lbx_ref_suspend(earlier.ref));
    lbx_ref_stop(earlier.ref);
    stage_run();
    begin(LBX_FOREVER);
    EXPECT(lbx__cell_of(earlier.ref.word)->role == LBX__ROLE_PROMISE);
}

static void
setup_watched(void)
{
    setup();
    asked.plays = watch_and_reply;
}

/* ---- Threads ---- */

static void
note(lbx_status status)
{
    if (status == LBX_OK)
        ledger_received((uint64_t)(uintptr_t)answer.message);
    wakeup_retire(&wakeup);
    lbx_operation_fini(&ask);
}

STEP(await, note(wakeup_wait(&wakeup, &ask)))
STEP(await_answer, EXPECT_OK(wakeup_wait(&wakeup, &ask)), note(LBX_OK))

static void
await_soon(void)
{
    lbx_status status = lbx_operation_wait(&ask);

    EXPECT(status == LBX_OK || status == LBX_TIMEOUT);
    note(status);
}

static void
cancel(void)
{
    EXPECT(lbx_operation_cancel(&ask) == LBX_CANCELLED);
    note(LBX_CANCELLED);
}

STEP(stop, lbx_ref_stop(asked.ref))

/* ---- Ends ---- */

static void
finish_answered(void)
{
    lbx_waker waker = wakeup_waker(&wakeup);

    stage_run();
    EXPECT_OK(lbx_operation_poll(&ask, &waker));
    note(LBX_OK);
    stage_finish();
}

static void
finish_watched(void)
{
    stage_run();
    EXPECT(asked.notices == asked.handled);
    stage_finish();
}

const struct scenario asks_scenarios[] = {
    SCENARIO("asks/answered", setup, stage_finish,
             THREADS(await_answer, stage_run)),
    TWIN("asks/no-thread-is-woken", "lost-wake", "a wake-up is lost"),
    SCENARIO("asks/cancelled", setup, stage_finish, THREADS(cancel, stage_run)),
    TWIN("asks/cancelled-and-the-answer-is-forgotten",
         "leaving-forgets-the-answer",
         "an ask that leaves does not take its answer out (ASK-2)"),
    TWIN("asks/cancelled-and-answered-nevertheless", "answers-after-the-ask",
         "an answer is kept for an ask that has left (ASK-2)"),
    TWIN("asks/cancelled-and-freed", "promises-do-not-count",
         "the promise does not count (ASK-1)"),
    SCENARIO("asks/too-late", setup_soon, stage_finish,
             THREADS(await_soon, stage_run), BOUND(2, 4)),
    SCENARIO("asks/asked-ends", setup, stage_finish,
             THREADS(await, stop, stage_run), BOUND(1, 3)),
    SCENARIO("asks/suspended", setup_suspended, finish_answered,
             THREADS(stage_run, stage_run), BOUND(2, 3)),
    TWIN("asks/suspended-and-not-answered", "suspended-promises-wait",
         "a promise that is suspended does not hear its answer", BOUND(2, 3)),
    SCENARIO("asks/suspended-in-an-earlier-life", setup_after_suspended,
             finish_answered, THREADS(stage_run, stage_run), BOUND(2, 3)),
    TWIN("asks/suspended-in-an-earlier-life-and-not-answered",
         "suspended-promises-wait",
         "a promise does not hear because its cell once did not", BOUND(2, 3)),
    SCENARIO("asks/watched", setup_watched, finish_watched,
             THREADS(cancel, stage_run)),
    TWIN("asks/watched-in-vain", "promises-notify-no-watcher",
         "a promise does not notify its watchers (ACTOR-7)"),
    {0},
};

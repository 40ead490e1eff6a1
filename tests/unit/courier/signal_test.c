/* SPDX-License-Identifier: Apache-2.0 */
/* Couriers that run until the process gets a signal. */
#include "fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

struct run {
    struct fixture *fx;
    int64_t grace_ns;
    lbx_status status;
    bool blocked_after;     /* SIGTERM, in the thread that ran */
    atomic_int begun;       /* letters */
    atomic_bool may_return; /* the handler */
};

static bool
is_blocked(int number)
{
    sigset_t mask;

    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, NULL, &mask));
    return sigismember(&mask, number) == 1;
}

static void
set_blocked(int how)
{
    sigset_t both;

    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGINT);
    CHECK_INT(0, pthread_sigmask(how, &both, NULL));
}

static void *
run_until_signal(void *argument)
{
    struct run *run = argument;

    run->status = lbx_courier_run_until_signal(run->fx->courier, run->grace_ns);
    run->blocked_after = is_blocked(SIGTERM);
    return NULL;
}

/* A handler that returns when the courier is being stopped. */
static lbx_status
work_until_stopped(lbx_job *job, void *context)
{
    struct run *run = context;

    atomic_fetch_add(&run->begun, 1);
    EVENTUALLY(lbx_job_is_stopping(job));
    return LBX_OK;
}

/* One that does not care. */
static lbx_status
work_on(lbx_job *job, void *context)
{
    struct run *run = context;

    (void)job;
    atomic_fetch_add(&run->begun, 1);
    EVENTUALLY(atomic_load(&run->may_return));
    return LBX_OK;
}

/* A signal that the default action would answer by ending the process ends the
 * run instead, also where every thread of the program has blocked it. */
TEST(a_signal_ends_the_run_of_a_courier_that_waits_for_letters)
{
    static const struct {
        int number;
        bool blocked; /* in all threads of the program */
    } rows[] = {
        {SIGTERM, false}, {SIGINT, false}, {SIGTERM, true}, {SIGINT, true}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run run = {.grace_ns = -1};
        pthread_t thread;
        FIXTURE(fx);

        run.fx = &fx;
        fixture_open(&fx);
        fx.options.wait_ns = -1;
        fx.options.handlers = 2;
        (void)fixture_courier(&fx);
        set_blocked(rows[i].blocked ? SIG_BLOCK : SIG_UNBLOCK);
        CHECK_INT(0, pthread_create(&thread, NULL, run_until_signal, &run));
        EVENTUALLY(fake_store_waiting(&fx.store) == 2);
        CHECK_INT(0, kill(getpid(), rows[i].number));
        CHECK_INT(0, pthread_join(thread, NULL));
        CHECK_OK(run.status);
        CHECK(run.blocked_after == rows[i].blocked);
        CHECK(!lbx_courier_is_running(fx.courier));
        CHECK_INT(0, fake_store_waiting(&fx.store));
    }
}

/* As a stop does: the letter that was begun is finished, the others can be had
 * at once. */
TEST(a_signal_finishes_what_was_begun_and_returns_the_rest)
{
    struct run run = {.grace_ns = -1};
    pthread_t thread;
    FIXTURE(fx);

    run.fx = &fx;
    fixture_open_with(&fx, work_until_stopped, &run);
    fx.options.max_letters = 3;
    fixture_send_many(&fx, "a book", 3);
    (void)fixture_courier(&fx);
    CHECK_INT(0, pthread_create(&thread, NULL, run_until_signal, &run));
    EVENTUALLY(atomic_load(&run.begun) == 1);
    CHECK_INT(0, kill(getpid(), SIGTERM));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(run.status);
    CHECK_INT(1, atomic_load(&run.begun));
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
    CHECK_INT(2, fixture_stats(&fx)->released_unstarted);
    CHECK_COUNTS(&fx, "requests", 2, 0, 0);
}

/* The grace ends: the caller may exit, and the letter comes back by its
 * lease. */
TEST(a_handler_that_does_not_return_within_the_grace_is_a_timeout)
{
    struct run run = {.grace_ns = 0};
    pthread_t thread;
    FIXTURE(fx);

    run.fx = &fx;
    fixture_open_with(&fx, work_on, &run);
    fixture_send(&fx, "a book");
    (void)fixture_courier(&fx);
    CHECK_INT(0, pthread_create(&thread, NULL, run_until_signal, &run));
    EVENTUALLY(atomic_load(&run.begun) == 1);
    CHECK_INT(0, kill(getpid(), SIGINT));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_STATUS(LBX_TIMEOUT, run.status);
    atomic_store(&run.may_return, true);
}

/* SIGN-2: it was sent while all had it blocked, before the call. */
COURIER_TEST("", a_signal_that_is_pending_already_ends_the_run,
             fixture_open(fx))
{
    fx->options.wait_ns = -1;
    (void)fixture_courier(fx);
    set_blocked(SIG_BLOCK);
    CHECK_INT(0, kill(getpid(), SIGTERM));
    CHECK_OK(lbx_courier_run_until_signal(fx->courier, -1));
    CHECK(!lbx_courier_is_running(fx->courier));
}

static atomic_int handled;

static void
count_signal(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
}

static lbx_status
stop_here(lbx_job *job, void *context)
{
    struct fixture *fx = context;

    (void)job;
    CHECK_STATUS(LBX_PENDING, lbx_courier_stop(fx->courier, LBX_FOREVER));
    return LBX_OK;
}

static lbx_status
look_and_stop(lbx_job *job, void *context)
{
    struct sigaction now;

    CHECK_INT(0, sigaction(SIGINT, NULL, &now));
    CHECK(now.sa_handler == SIG_IGN); // SIGN-3
    CHECK_INT(0, sigaction(SIGTERM, NULL, &now));
    CHECK(now.sa_handler != count_signal && now.sa_handler != SIG_DFL);
    return stop_here(job, context);
}

/* The program's own handlers are back after the call, and what it ignores is
 * not caught. A stop and a closed postbox end the call too. */
TEST(handlers_of_the_program_are_put_back)
{
    struct sigaction mine = {.sa_handler = count_signal}, now;
    FIXTURE(fx);

    fixture_open_with(&fx, look_and_stop, &fx);
    (void)fixture_courier(&fx);
    CHECK_INT(0, sigaction(SIGTERM, &mine, NULL));
    CHECK(signal(SIGINT, SIG_IGN) != SIG_ERR);
    fixture_send(&fx, "a book");
    CHECK_OK(lbx_courier_run_until_signal(fx.courier, -1));
    CHECK_INT(0, sigaction(SIGINT, NULL, &now));
    CHECK(now.sa_handler == SIG_IGN);
    CHECK_INT(0, raise(SIGTERM));
    CHECK_INT(1, atomic_load(&handled));

    lbx_postbox_close(fx.requests);
    CHECK_STATUS(LBX_CLOSED, lbx_courier_run_until_signal(fx.courier, -1));
    CHECK_STATUS(LBX_INVALID, lbx_courier_run_until_signal(NULL, -1));
}

/* One signal ends all; that one of them has stopped before changes nothing for
 * the others (SIGN-1). */
TEST(one_signal_ends_the_runs_of_all_couriers)
{
    struct run runs[3] = {{.grace_ns = -1}, {.grace_ns = -1}, {.grace_ns = -1}};
    struct fixture fx[3];
    pthread_t threads[3];

    for (int i = 0; i < 3; i++) {
        runs[i].fx = &fx[i];
        fixture_open(&fx[i]);
        fx[i].options.wait_ns = -1;
        (void)fixture_courier(&fx[i]);
        CHECK_INT(
            0, pthread_create(&threads[i], NULL, run_until_signal, &runs[i]));
        EVENTUALLY(fake_store_waiting(&fx[i].store) == 1);
    }
    CHECK_OK(lbx_courier_stop(fx[0].courier, LBX_FOREVER));
    CHECK_INT(0, pthread_join(threads[0], NULL));
    CHECK_INT(0, kill(getpid(), SIGTERM));
    for (int i = 1; i < 3; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(runs[i].status);
        fixture_close(&fx[i]);
    }
}

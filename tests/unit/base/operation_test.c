/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: what all of them share, shown on a gate. */
#include "gate.h"
#include "support/clock.h"
#include "support/local.h"
#include "support/test.h"
#include "support/threads.h"

/* A gate, and a pass with all the time in the world and a waker that counts. */
struct passage {
    struct gate gate;
    lbx_operation pass;
    struct counter counter;
};

static void
passage_begin(struct passage *passage)
{
    passage->counter = (struct counter){0};
    gate_init(&passage->gate, NULL);
    gate_pass_init(&passage->pass, &passage->gate, LBX_FOREVER);
}

static lbx_status
passage_poll(struct passage *passage)
{
    lbx_waker waker = counter_waker(&passage->counter);

    return lbx_operation_poll(&passage->pass, &waker);
}

/* A test with a passage whose pass is destroyed after it; the body has its
 * `gate` and its `pass`, too. */
#define PASSAGE_TEST(behaviours, name)                                         \
    static void name##_in(struct passage *passage, struct gate *gate,          \
                          lbx_operation *pass);                                \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        struct passage passage;                                                \
                                                                               \
        passage_begin(&passage);                                               \
        name##_in(&passage, &passage.gate, &passage.pass);                     \
        lbx_operation_fini(&passage.pass);                                     \
    }                                                                          \
    static void name##_in(__attribute__((unused)) struct passage *passage,     \
                          struct gate *gate, lbx_operation *pass)

PASSAGE_TEST("", operation_done_at_once_calls_nobody)
{
    gate_open(gate, 1);
    CHECK_STATUS(LBX_PENDING, lbx_operation_status(pass));
    CHECK_OK(passage_poll(passage));
    CHECK_OK(lbx_operation_status(pass));
    lbx_operation_fini(pass);
    CHECK_INT(0, counter_calls(&passage->counter));
    CHECK_INT(1, gate->released);
}

PASSAGE_TEST("C-23 C-24", operation_waits_and_is_called_once)
{
    CHECK_STATUS(LBX_PENDING, passage_poll(passage));
    CHECK_INT(0, counter_calls(&passage->counter));
    gate_open(gate, 2);
    CHECK_INT(1, counter_calls(&passage->counter));
    CHECK_STATUS(LBX_PENDING, lbx_operation_status(pass));
    CHECK_OK(passage_poll(passage));
    gate_open(gate, 1);
    CHECK_INT(1, counter_calls(&passage->counter));
}

/* WAIT-1: a final status stays. */
PASSAGE_TEST("WAIT-1", operation_final_status_stays)
{
    gate_open(gate, 2);
    CHECK_OK(lbx_operation_poll(pass, NULL));
    CHECK_OK(lbx_operation_poll(pass, NULL));
    CHECK_OK(lbx_operation_wait(pass));
    CHECK_OK(lbx_operation_cancel(pass));
    CHECK_INT(1, gate_permits(gate)); // only one was taken
}

TEST(operation_poll_replaces_the_waker)
{
    struct counter first = {0}, second = {0};
    lbx_waker wakers[] = {counter_waker(&first), counter_waker(&second)};
    struct gate gate;
    LOCAL_OPERATION(pass);

    gate_init(&gate, NULL);
    gate_pass_init(&pass, &gate, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&pass, &wakers[0]));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&pass, &wakers[1]));
    gate_open(&gate, 1);
    CHECK_INT(0, counter_calls(&first));
    CHECK_INT(1, counter_calls(&second));
}

PASSAGE_TEST("", operation_may_be_polled_without_a_waker)
{
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(pass, NULL));
    gate_open(gate, 1);
    CHECK_OK(lbx_operation_poll(pass, NULL));
}

/* C-32, WAIT-7: a destroyed operation leaves no registration behind. */
PASSAGE_TEST("C-32 WAIT-7", operation_fini_leaves_no_registration)
{
    CHECK_STATUS(LBX_PENDING, passage_poll(passage));
    CHECK_INT(1, gate_waiting(gate));
    lbx_operation_fini(pass);
    CHECK_INT(0, gate_waiting(gate));
    gate_open(gate, 1);
    CHECK_INT(0, counter_calls(&passage->counter));
    CHECK_INT(1, gate_permits(gate));
    CHECK_INT(1, gate->released);
    lbx_operation_fini(pass); // again: nothing
    CHECK_INT(1, gate->released);
}

TEST_CITING("WAIT-3 MSG-10", operation_cancel_passes_a_reservation_on)
{
    struct counter first = {0}, second = {0};
    lbx_waker wakers[] = {counter_waker(&first), counter_waker(&second)};
    lbx_operation passes[2];
    struct gate gate;

    gate_init(&gate, NULL);
    for (int i = 0; i < 2; i++) {
        gate_pass_init(&passes[i], &gate, LBX_FOREVER);
        CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&passes[i], &wakers[i]));
    }
    gate_open(&gate, 1);
    CHECK_INT(1, counter_calls(&first));
    CHECK_INT(0, counter_calls(&second));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&passes[0]));
    CHECK_INT(1, counter_calls(&second));
    CHECK_OK(lbx_operation_poll(&passes[1], NULL));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_poll(&passes[0], NULL));
    for (int i = 0; i < 2; i++)
        lbx_operation_fini(&passes[i]);
}

TEST_CITING("WAIT-9", operation_past_its_deadline_tries_once)
{
    TEST_CLOCK(time, clock);
    lbx_operation pass;
    struct gate gate;

    gate_init(&gate, &clock);
    gate_pass_init(&pass, &gate, 5);
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&pass, NULL));
    lbx_operation_fini(&pass);

    gate_open(&gate, 1);
    gate_pass_init(&pass, &gate, 5);
    CHECK_OK(lbx_operation_poll(&pass, NULL)); // the one try
    lbx_operation_fini(&pass);
}

TEST(operation_times_out_when_polled)
{
    TEST_CLOCK(time, clock);
    int64_t deadline_ns = lbx_deadline_after(&clock, 10 * LBX_MS);
    struct gate gate;
    LOCAL_OPERATION(pass);

    gate_init(&gate, &clock);
    gate_pass_init(&pass, &gate, deadline_ns);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&pass, NULL));
    CHECK_INT(deadline_ns, lbx_operation_deadline(&pass));
    test_clock_advance(&time, 10 * LBX_MS - 1);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&pass, NULL));
    test_clock_advance(&time, 1);
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&pass, NULL));
    CHECK_INT(LBX_FOREVER, lbx_operation_deadline(&pass));
    CHECK_INT(0, gate_waiting(&gate));
}

TEST(operation_wait_ends_at_its_deadline)
{
    int64_t deadline_ns = lbx_deadline_after(NULL, 5 * LBX_MS);
    struct gate gate;
    LOCAL_OPERATION(pass);

    gate_init(&gate, NULL);
    gate_pass_init(&pass, &gate, deadline_ns);
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_wait(&pass));
    CHECK(lbx_clock_now(NULL) >= deadline_ns);
}

static void
open_when_someone_waits(void *context)
{
    struct gate *gate = context;

    EVENTUALLY(gate_waiting(gate) == 1);
    gate_open(gate, 1);
}

PASSAGE_TEST("MSG-9", operation_wait_is_woken)
{
    struct thread thread;

    thread_start(&thread, open_when_someone_waits, gate);
    CHECK_OK(lbx_operation_wait(pass));
    lbx_operation_fini(pass);
    thread_join(&thread);
}

/* Thousands of short waits between two threads: a lost wake-up would hang. */
struct pair {
    struct gate there, back;
    int rounds;
};

static void
pass_gate(struct gate *gate)
{
    LOCAL_OPERATION(pass);

    gate_pass_init(&pass, gate, LBX_FOREVER);
    CHECK_OK(lbx_operation_wait(&pass));
}

static void
play(unsigned index, void *context)
{
    struct pair *pair = context;

    for (int i = 0; i < pair->rounds; i++) {
        if (index == 0) {
            gate_open(&pair->there, 1);
            pass_gate(&pair->back);
        } else {
            pass_gate(&pair->there);
            gate_open(&pair->back, 1);
        }
    }
}

TEST_CITING("MSG-9", operation_wait_loses_no_wake_up)
{
    struct pair pair;

    gate_init(&pair.there, NULL);
    gate_init(&pair.back, NULL);
    pair.rounds = test_is_sanitized() ? 2000 : 10000;
    threads_run(2, play, &pair);
    CHECK_INT(0, gate_permits(&pair.there) + gate_permits(&pair.back));
}

/* What a waker does to operations. */
struct deed {
    struct gate *gate;
    lbx_operation *operation;
    lbx_status status;
    int calls;
};

static void
poll_it(void *context)
{
    struct deed *deed = context;

    deed->calls++;
    deed->status = lbx_operation_poll(deed->operation, NULL);
}

static void
fini_it(void *context)
{
    struct deed *deed = context;

    deed->calls++;
    deed->status = lbx_operation_poll(deed->operation, NULL);
    lbx_operation_fini(deed->operation);
    // The memory is ours again, and may be used for anything.
    *deed->operation = (lbx_operation){{~(uint64_t)0}};
}

static void
start_with(lbx_operation *pass, struct gate *gate, struct deed *deed,
           void (*wake)(void *context))
{
    lbx_waker waker = {wake, deed};

    gate_pass_init(pass, gate, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(pass, &waker));
}

TEST_CITING("WAIT-6", operation_waker_may_poll_its_operation)
{
    lbx_operation pass;
    struct gate gate;
    struct deed deed = {&gate, &pass, LBX_PENDING, 0};

    gate_init(&gate, NULL);
    start_with(&pass, &gate, &deed, poll_it);
    gate_open(&gate, 1);
    CHECK_INT(1, deed.calls);
    CHECK_OK(deed.status);
    lbx_operation_fini(&pass);
}

TEST_CITING("WAIT-6", operation_waker_may_end_its_operation)
{
    lbx_operation pass;
    struct gate gate;
    struct deed deed = {&gate, &pass, LBX_PENDING, 0};

    gate_init(&gate, NULL);
    start_with(&pass, &gate, &deed, fini_it);
    gate_open(&gate, 1);
    CHECK_INT(1, deed.calls);
    CHECK_OK(deed.status);
    CHECK_INT(1, gate.released);
}

/* Two are woken in one go; the first one's waker ends the second, whose own
 * waker must then not be called any more. */
TEST_CITING("WAIT-5 WAIT-6", operation_waker_may_end_another_operation)
{
    struct counter counter = {0};
    lbx_waker waker = counter_waker(&counter);
    lbx_operation first, second;
    struct gate gate;
    struct deed deed = {&gate, &second, LBX_PENDING, 0};

    gate_init(&gate, NULL);
    start_with(&first, &gate, &deed, fini_it);
    gate_pass_init(&second, &gate, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&second, &waker));
    gate_open(&gate, 2);
    CHECK_INT(1, deed.calls);
    CHECK_OK(deed.status);
    CHECK_INT(0, counter_calls(&counter));
    CHECK_OK(lbx_operation_poll(&first, NULL));
    lbx_operation_fini(&first);
}

static void
pass_again(void *context)
{
    struct deed *deed = context;
    lbx_waker waker = {pass_again, deed};

    deed->calls++;
    CHECK_OK(lbx_operation_poll(deed->operation, NULL));
    lbx_operation_fini(deed->operation);
    gate_pass_init(deed->operation, deed->gate, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(deed->operation, &waker));
}

/* A loop without a loop: each wake-up starts the same operation anew. */
TEST_CITING("WAIT-6", operation_waker_may_start_its_operation_again)
{
    lbx_operation pass;
    struct gate gate;
    struct deed deed = {&gate, &pass, LBX_PENDING, 0};

    gate_init(&gate, NULL);
    start_with(&pass, &gate, &deed, pass_again);
    for (int i = 0; i < 5; i++)
        gate_open(&gate, 1);
    CHECK_INT(5, deed.calls);
    lbx_operation_fini(&pass);
    CHECK_INT(6, gate.released);
    CHECK_INT(0, gate_waiting(&gate));
}

TEST(operation_may_be_restarted_when_final)
{
    TEST_CLOCK(time, clock);
    int64_t deadline_ns = lbx_deadline_after(&clock, 10);
    struct counter counter = {0};
    lbx_waker waker = counter_waker(&counter);
    lbx_operation pass;
    struct gate gate;

    gate_init(&gate, &clock);
    gate_pass_init(&pass, &gate, LBX_FOREVER);
    CHECK_STATUS(LBX_BUSY, lbx_operation_restart(&pass, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&pass, &waker));
    CHECK_STATUS(LBX_BUSY, lbx_operation_restart(&pass, LBX_FOREVER));
    gate_open(&gate, 1);
    CHECK_OK(lbx_operation_poll(&pass, &waker));

    CHECK_OK(lbx_operation_restart(&pass, deadline_ns));
    CHECK_STATUS(LBX_PENDING, lbx_operation_status(&pass));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&pass, &waker));
    CHECK_INT(deadline_ns, lbx_operation_deadline(&pass));
    test_clock_advance(&time, 10);
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&pass, &waker));

    CHECK_OK(lbx_operation_restart(&pass, LBX_FOREVER));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&pass));
    CHECK_OK(lbx_operation_restart(&pass, LBX_FOREVER));
    gate_open(&gate, 1);
    CHECK_OK(lbx_operation_wait(&pass));
    CHECK_INT(1, counter_calls(&counter));
    lbx_operation_fini(&pass);
    CHECK_INT(1, gate.released);
    CHECK_STATUS(LBX_INVALID, lbx_operation_restart(&pass, LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID, lbx_operation_restart(NULL, LBX_FOREVER));
}

/* WAIT-5: cancel waits for a callback that runs in another thread. */
struct slow {
    struct gate gate;
    _Atomic(int) begun, may_end, ended;
};

static void
call_slowly(void *context)
{
    struct slow *slow = context;

    lbx__store(&slow->begun, 1, seq_cst);
    EVENTUALLY(lbx__load(&slow->may_end, seq_cst));
    for (int i = 0; i < 1000; i++)
        sched_yield(); // gives a cancel that does not wait time to return
    lbx__store(&slow->ended, 1, seq_cst);
}

static void
open_gate(void *context)
{
    struct slow *slow = context;

    gate_open(&slow->gate, 1);
}

TEST_CITING("WAIT-5", operation_cancel_waits_for_a_running_callback)
{
    struct slow slow = {.begun = 0};
    lbx_waker waker = {call_slowly, &slow};
    struct thread thread;
    lbx_operation pass;

    gate_init(&slow.gate, NULL);
    gate_pass_init(&pass, &slow.gate, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&pass, &waker));
    thread_start(&thread, open_gate, &slow);
    EVENTUALLY(lbx__load(&slow.begun, seq_cst));
    lbx__store(&slow.may_end, 1, seq_cst);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&pass));
    CHECK_INT(1, lbx__load(&slow.ended, seq_cst));
    lbx_operation_fini(&pass);
    thread_join(&thread);
    CHECK_INT(1, gate_permits(&slow.gate));
}

/* A storm of cancels against openings: every permit is used once or is left. */
struct storm {
    struct gate gate;
    int rounds;
    _Atomic(int) passed;
};

static void
open_or_pass(unsigned index, void *context)
{
    struct storm *storm = context;

    for (int i = 0; i < storm->rounds; i++) {
        struct counter counter = {0};
        lbx_waker waker = counter_waker(&counter);
        lbx_operation pass;

        if (index == 0) {
            gate_open(&storm->gate, 1);
            continue;
        }
        gate_pass_init(&pass, &storm->gate, LBX_FOREVER);
        if (lbx_operation_poll(&pass, &waker) == LBX_PENDING && i % 3 == 0)
            sched_yield();
        if (lbx_operation_poll(&pass, &waker) == LBX_OK ||
            lbx_operation_cancel(&pass) == LBX_OK)
            lbx__add(&storm->passed, 1, seq_cst);
        lbx_operation_fini(&pass);
    }
}

TEST_CITING("WAIT-3 WAIT-5 MSG-10", operation_cancel_storm_loses_nothing)
{
    struct storm storm = {.rounds = test_is_sanitized() ? 5000 : 50000};

    gate_init(&storm.gate, NULL);
    threads_run(4, open_or_pass, &storm);
    CHECK_INT(storm.rounds,
              lbx__load(&storm.passed, seq_cst) + gate_permits(&storm.gate));
    CHECK_INT(0, gate_waiting(&storm.gate));
}

PASSAGE_TEST("C-33", operation_ends_with_what_it_waits_on)
{
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(pass, NULL));
    gate_refuse(gate, LBX_CLOSED);
    CHECK_STATUS(LBX_CLOSED, lbx_operation_wait(pass));
}

TEST(operation_functions_take_nothing)
{
    lbx_operation zeroed = {{0}};

    lbx_operation_fini(NULL);
    lbx_operation_fini(&zeroed);
    CHECK_STATUS(LBX_INVALID, lbx_operation_poll(NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_poll(&zeroed, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_wait(NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_wait(&zeroed));
    CHECK_STATUS(LBX_INVALID, lbx_operation_cancel(NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_cancel(&zeroed));
    CHECK_STATUS(LBX_INVALID, lbx_operation_status(&zeroed));
    CHECK_INT(LBX_FOREVER, lbx_operation_deadline(NULL));
    CHECK_INT(LBX_FOREVER, lbx_operation_deadline(&zeroed));
}

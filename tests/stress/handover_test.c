/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wake-up for a waiter that is just being cancelled is passed on (MSG-10):
 * of two waiters, one is cancelled as the message, the free space or the
 * notification arrives.
 */
#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "stress/slices.h"
#include "stress/storm.h"
#include "stress/waiter.h"
#include "support/test.h"
#include "support/threads.h"

/*
 * Each round the client makes one thing available: a message, room, or a
 * notification. The fickle thread waits for it with an operation and cancels;
 * the patient one waits without a deadline. Exactly one gets it. The fickle
 * one does not try again before the round is over: if it was handed the thing
 * and kept it for itself, the patient one sleeps for ever.
 */
struct hand_over {
    struct box box;     // what is waited on
    struct box replies; // the answer of its receiver
    lbx_signal *signal; // or what is waited on
    struct storm_watch watch;
    enum waiter_front patient_front;
    bool sends; // they wait to send
    uint64_t rounds;
    uint64_t seed;
    unsigned patience_ms;
    bool is_control;
    // Written by the client; rounds count from 1.
    _Alignas(STORM_LINE) _Atomic(uint64_t) round;
    // Written by the fickle one: round << 2 | what became of its wait.
    _Alignas(STORM_LINE) _Atomic(uint64_t) ready;
    _Alignas(STORM_LINE) _Atomic(uint64_t) report;
    _Atomic(bool) over;
    uint64_t cancelled, got; // by the fickle one
};

enum {
    PREFILL = 3,
    FICKLE = 4,
    PATIENT = 5,
};

static bool
hand_over_stalled(void *context, unsigned worker, uint64_t count)
{
    struct hand_over *hand_over = context;
    char text[400];

    if (!hand_over->is_control) {
        test_note("stall of worker %u after %" PRIu64 " rounds", worker, count);
        if (hand_over->box.ops) {
            box_describe(&hand_over->box, text, sizeof(text));
            test_note("box: %s", text);
        }
        box_describe(&hand_over->replies, text, sizeof(text));
        test_note("replies: %s", text);
        return false;
    }
    atomic_store(&hand_over->over, true);
    hand_over->box.ops->rescue(&hand_over->box);
    hand_over->replies.ops->rescue(&hand_over->replies);
    return true;
}

// Waits until *word is at least `least`; false when it is all over.
static bool
reaches(struct hand_over *hand_over, _Atomic(uint64_t) *word, uint64_t least)
{
    for (unsigned spins = 0; atomic_load(word) < least; spins++) {
        if (atomic_load(&hand_over->over))
            return false;
        if (spins % 128 == 127)
            sched_yield();
        else
            storm_spin(1);
    }
    return true;
}

static lbx_status
client_round(struct hand_over *hand_over, struct waiter *waiter, uint64_t round)
{
    uint64_t number;
    bool prefill = false;
    bool patient = false;
    bool fickle = false;
    lbx_status status;

    if (!hand_over->sends) {
        if (hand_over->signal)
            lbx_signal_notify(hand_over->signal);
        else if (hand_over->box.ops->try_send(
                     &hand_over->box, storm_message(round << 8)) != LBX_OK)
            return LBX_CLOSED;
        status = waiter_receive(waiter, &hand_over->replies, &number);
        if (status == LBX_OK)
            CHECK_INT(round << 8, number);
        return status;
    }

    // Takes one message; the first in line must get in, and in the end
    // the patient one in any case, the fickle one if it says so.
    while (!prefill || !patient) {
        status = waiter_receive(waiter, &hand_over->box, &number);
        if (status != LBX_OK)
            return status;
        CHECK_INT(round, number >> 8);
        prefill |= (number & 255) == PREFILL;
        patient |= (number & 255) == PATIENT;
        fickle |= (number & 255) == FICKLE;
    }
    if (!reaches(hand_over, &hand_over->report, round << 2))
        return LBX_CLOSED;

    bool sent = (atomic_load(&hand_over->report) & 3) != 0;

    if (sent && !fickle) {
        status = waiter_receive(waiter, &hand_over->box, &number);
        if (status != LBX_OK)
            return status;
        fickle = number == (round << 8 | FICKLE);
    }
    if (fickle != sent) {
        if (!hand_over->is_control)
            FAIL("round %" PRIu64 ": the fickle send %s", round,
                 fickle ? "was cancelled and is in" : "was sent and is not in");
        return LBX_INVALID;
    }
    return LBX_OK;
}

static void
run_hand_over_client(struct hand_over *hand_over)
{
    struct waiter waiter;
    lbx_status status = LBX_OK;

    waiter_init(&waiter, FRONT_FLAG);
    for (uint64_t round = 1; round <= hand_over->rounds; round++) {
        // The round before left nothing inside.
        if (hand_over->sends &&
            hand_over->box.ops->try_send(
                &hand_over->box, storm_message(round << 8 | PREFILL)) != LBX_OK)
            status = LBX_INVALID;
        atomic_store(&hand_over->round, round);
        if (status != LBX_OK || !reaches(hand_over, &hand_over->ready, round))
            break;
        status = client_round(hand_over, &waiter, round);
        if (status != LBX_OK ||
            !reaches(hand_over, &hand_over->report, round << 2))
            break;
        storm_beat(&hand_over->watch, 0);
    }
    CHECK(status == LBX_OK || hand_over->is_control);
    if (status == LBX_INVALID)
        atomic_fetch_add(&hand_over->watch.stalls, 1);
    atomic_store(&hand_over->over, true);
    if (hand_over->box.ops)
        hand_over->box.ops->rescue(&hand_over->box);
    storm_beat_end(&hand_over->watch, 0);
    waiter_fini(&waiter);
}

static void
run_fickle(struct hand_over *hand_over)
{
    struct storm_random random = storm_random_of(hand_over->seed, 1);
    struct waiter waiter;
    struct box *box = &hand_over->box;

    waiter_init(&waiter, FRONT_FLAG);
    for (uint64_t round = 1; reaches(hand_over, &hand_over->round, round);
         round++) {
        lbx_waker waker = {waiter_raise_flag, &waiter};
        struct box_wait wait;
        lbx_status status;

        memset(&wait, 0, sizeof(wait));
        storm_spin(storm_random_below(&random, 200));
        if (hand_over->signal)
            CHECK_OK(lbx_signal_wait_init(&wait.operation, hand_over->signal,
                                          LBX_FOREVER));
        else if (hand_over->sends)
            box->ops->send_start(box, &wait, storm_message(round << 8 | FICKLE),
                                 LBX_FOREVER);
        else
            box->ops->receive_start(box, &wait, LBX_FOREVER);
        status = hand_over->signal ? lbx_operation_poll(&wait.operation, &waker)
                                   : box->ops->poll(&wait, &waker);
        atomic_store(&hand_over->ready, round);
        storm_spin(storm_random_below(&random, 200));
        if (storm_once_in(&random, 4))
            sched_yield();
        if (status == LBX_PENDING && storm_once_in(&random, 4))
            status = hand_over->signal
                         ? lbx_operation_poll(&wait.operation, &waker)
                         : box->ops->poll(&wait, &waker);
        if (status == LBX_PENDING)
            status = hand_over->signal ? lbx_operation_cancel(&wait.operation)
                                       : box->ops->cancel(&wait);
        CHECK(status == LBX_OK || status == LBX_CANCELLED ||
              status == LBX_CLOSED);
        hand_over->cancelled += status == LBX_CANCELLED;
        hand_over->got += status == LBX_OK;
        if (status == LBX_OK && !hand_over->sends)
            CHECK(waiter_send(&waiter, &hand_over->replies, round << 8) ==
                      LBX_OK ||
                  hand_over->is_control);
        if (hand_over->signal)
            lbx_operation_fini(&wait.operation);
        else
            box->ops->end(&wait);
        atomic_store(&hand_over->report, round << 2 | (status == LBX_OK));
    }
    waiter.pending = UINT64_MAX; // not counted here
    waiter_fini(&waiter);
}

static void
run_patient(struct hand_over *hand_over)
{
    struct storm_random random = storm_random_of(hand_over->seed, 2);
    struct waiter waiter;
    uint64_t number = 0;
    lbx_status status = LBX_OK;

    waiter_init(&waiter, hand_over->patient_front);
    for (uint64_t round = 1; status == LBX_OK; round++) {
        // Half of the time behind the fickle one.
        if (storm_once_in(&random, 2) &&
            !reaches(hand_over, &hand_over->ready,
                     hand_over->sends ? round : (number >> 8) + 1))
            break;
        if (hand_over->sends) {
            if (!reaches(hand_over, &hand_over->round, round))
                break;
            status =
                waiter_send(&waiter, &hand_over->box, round << 8 | PATIENT);
            continue;
        }
        if (hand_over->signal) {
            // Ends by a last notify, after `over` was set.
            waiter.calls++;
            CHECK_OK(lbx_signal_wait_until(hand_over->signal, LBX_FOREVER));
            number = atomic_load(&hand_over->round) << 8;
            if (atomic_load(&hand_over->over))
                break;
        } else {
            status = waiter_receive(&waiter, &hand_over->box, &number);
        }
        if (status == LBX_OK)
            status = waiter_send(&waiter, &hand_over->replies, number);
    }
    waiter_fini(&waiter);
}

static void
hand_over_work(unsigned index, void *context)
{
    struct hand_over *hand_over = context;

    if (index == 0) {
        run_hand_over_client(hand_over);
        if (hand_over->signal)
            lbx_signal_notify(hand_over->signal);
    } else if (index == 1) {
        run_fickle(hand_over);
    } else {
        run_patient(hand_over);
    }
}

static unsigned
hand_over_run(struct hand_over *hand_over)
{
    storm_watch_start(&hand_over->watch, 1, hand_over->patience_ms,
                      hand_over_stalled, hand_over);
    threads_run(3, hand_over_work, hand_over);

    unsigned stalls = storm_watch_stop(&hand_over->watch);

    if (hand_over->box.ops)
        hand_over->box.ops->fini(&hand_over->box);
    hand_over->replies.ops->fini(&hand_over->replies);
    return stalls;
}

static void
hand_over_storm(const char *name, const struct box_case *how, bool sends,
                enum waiter_front patient, uint64_t rounds)
{
    static const struct box_case plain = {
        .name = "replies",
        .kind = LBX_KIND_UNBOUNDED,
    };
    static struct hand_over hand_over;
    uint64_t seed = storm_begin();
    struct slices slices = slices_begin(rounds, 2 * WAITER_KINDS);
    uint64_t cancelled = 0;
    uint64_t got = 0;

    for (uint64_t some; (some = slices_next(&slices)) > 0;) {
        memset(&hand_over, 0, sizeof(hand_over));
        box_open(&hand_over.replies, &plain);
        if (how)
            box_open(&hand_over.box, how);
        else
            CHECK_OK(lbx_signal_create(NULL, NULL, &hand_over.signal));
        hand_over.sends = sends;
        hand_over.patient_front = patient;
        hand_over.rounds = some;
        hand_over.seed = seed + slices.made;
        hand_over.patience_ms = STORM_STALL_MS;
        CHECK_INT(0, hand_over_run(&hand_over));
        lbx_signal_unref(hand_over.signal);
        cancelled += hand_over.cancelled;
        got += hand_over.got;
    }
    storm_add(STORM_CANCELS, cancelled);
    storm_add(STORM_OPERATIONS, 4 * slices.made);
    test_note("wake: hand-over, %s: rounds=%" PRIu64 " cancelled=%" PRIu64
              " got=%" PRIu64 " stalls=0",
              name, slices.made, cancelled, got);
}

TEST(message_for_one_who_gave_up_goes_to_the_next)
{
    uint64_t rounds = storm_count(20000, 4000, 3000, 250);

    for (unsigned i = 0; i < WAITER_KINDS; i++) {
        if (waiter_kinds[i].one_consumer ||
            waiter_kinds[i].overflow == LBX_OVERFLOW_BLOCK)
            continue;
        hand_over_storm(waiter_kinds[i].name, &waiter_kinds[i], false,
                        FRONT_FLAG, rounds);
        hand_over_storm(waiter_kinds[i].name, &waiter_kinds[i], false,
                        FRONT_PARK, rounds / 4);
    }
    storm_add(STORM_RUNS, 1);
}

TEST(room_for_one_who_gave_up_goes_to_the_next)
{
    uint64_t rounds = storm_count(20000, 4000, 3000, 250);

    for (unsigned i = 0; i < WAITER_KINDS; i++) {
        if (waiter_kinds[i].overflow != LBX_OVERFLOW_BLOCK ||
            waiter_kinds[i].ranks != BOX_PLAIN)
            continue;
        hand_over_storm(waiter_kinds[i].name, &waiter_kinds[i], true,
                        FRONT_FLAG, rounds);
        hand_over_storm(waiter_kinds[i].name, &waiter_kinds[i], true,
                        FRONT_PARK, rounds / 4);
    }
    storm_add(STORM_RUNS, 1);
}

TEST(notification_for_one_who_gave_up_goes_to_the_next)
{
    hand_over_storm("signal", NULL, false, FRONT_PARK,
                    storm_count(20000, 4000, 3000, 250));
    storm_add(STORM_RUNS, 1);
}

/* ---- Controls ---- */

static unsigned
hand_over_control(unsigned bug, bool sends, uint64_t rounds)
{
    static struct hand_over hand_over;

    memset(&hand_over, 0, sizeof(hand_over));
    box_open_mini(&hand_over.replies, MINI_SOUND, 0);
    box_open_mini(&hand_over.box, bug, 1);
    hand_over.sends = sends;
    hand_over.patient_front = FRONT_FLAG;
    hand_over.rounds = rounds;
    hand_over.seed = storm_begin();
    hand_over.patience_ms = STORM_CONTROL_MS;
    hand_over.is_control = true;
    return hand_over_run(&hand_over);
}

TEST(sound_mailbox_hands_over_without_a_stall)
{
    CHECK_INT(0, hand_over_control(MINI_SOUND, false, 2000));
    CHECK_INT(0, hand_over_control(MINI_SOUND, true, 2000));
}

TEST(grant_that_is_not_passed_on_is_found)
{
    CHECK(hand_over_control(MINI_DROP_GRANT, false, 1000000) > 0);
}

TEST(message_that_goes_with_a_cancelled_receive_is_found)
{
    CHECK(hand_over_control(MINI_EAT_MESSAGE, false, 1000000) > 0);
}

TEST(send_that_is_both_cancelled_and_in_is_found)
{
    CHECK(hand_over_control(MINI_SEND_BOTH, true, 1000000) > 0);
}

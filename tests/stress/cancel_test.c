/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives that are cancelled, time out or are dropped at random
 * points lose nothing (canceller.h); a mailbox with a planted bug is found out.
 */
#include <string.h>

#include "stress/canceller.h"
#include "stress/slices.h"
#include "stress/storm.h"
#include "support/test.h"
#include "support/threads.h"

static void
cancelled_send(struct canceller *self, uint64_t round)
{
    struct cancel_storm *storm = self->storm;
    const struct box_ops *ops = storm->box.ops;
    struct canceller_alarm *alarm = canceller_set_alarm(self, round);
    enum canceller_end ending = canceller_ending(self);
    uint64_t number = self->next;
    struct box_wait wait;
    lbx_status status;
    bool waited;

    if (self->next == self->limit)
        return;
    memset(&wait, 0, sizeof(wait));
    if (!storm->planted)
        storm->ledger.ranks[number] = (uint8_t)round; // for TSan: published
    ops->send_start(&storm->box, &wait, storm_message(number),
                    canceller_deadline(self));
    status = canceller_poll(self, alarm, ending, ops->poll, &wait);
    waited = atomic_load(&alarm->allowed) > 0;
    if (status == LBX_PENDING && ending != END_DROP) {
        status = ops->cancel(&wait);
        atomic_store(&alarm->dead, true);
    }
    canceller_count(self, status, waited);
    ops->end(&wait);
    canceller_check_alarm(self, alarm);
    if (status == LBX_OK)
        storm->ledger.fates[number] = STORM_IN;
    else if (status == LBX_PENDING)
        storm->ledger.fates[number] = STORM_UNKNOWN;
    else
        CHECK(status == LBX_CANCELLED || status == LBX_TIMEOUT ||
              status == LBX_FULL);
    // A number that is surely out can be used again.
    self->next += status == LBX_OK || status == LBX_PENDING;
}

static void
cancelled_receive(struct canceller *self, uint64_t round)
{
    struct cancel_storm *storm = self->storm;
    const struct box_ops *ops = storm->box.ops;
    struct canceller_alarm *alarm = canceller_set_alarm(self, round);
    enum canceller_end ending = canceller_ending(self);
    struct box_wait wait;
    lbx_status status;
    bool waited;

    memset(&wait, 0, sizeof(wait));
    ops->receive_start(&storm->box, &wait, canceller_deadline(self));
    status = canceller_poll(self, alarm, ending, ops->poll, &wait);
    waited = atomic_load(&alarm->allowed) > 0;
    if (status == LBX_PENDING && ending != END_DROP) {
        status = ops->cancel(&wait);
        atomic_store(&alarm->dead, true);
    }
    canceller_count(self, status, waited);
    if (status == LBX_OK)
        cancel_storm_end_message(storm, wait.message);
    else
        CHECK(status == LBX_CANCELLED || status == LBX_TIMEOUT ||
              status == LBX_PENDING);
    ops->end(&wait);
    canceller_check_alarm(self, alarm);
}

static void
cancelled_work(unsigned index, void *context)
{
    struct cancel_storm *storm = context;
    static _Thread_local struct canceller self;
    bool one = storm->how && storm->how->one_consumer;
    bool unlimited = storm->how && storm->how->capacity == 0;

    canceller_init(&self, storm, index);
    for (uint64_t round = 0; round < storm->rounds; round++) {
        // Where sends never wait there are fewer of them, so that receives do.
        bool sends = one         ? index > 0
                     : unlimited ? storm_once_in(&self.random, 3)
                                 : storm_once_in(&self.random, 2);

        if (one && sends && !storm_once_in(&self.random, 4))
            storm_spin(storm_random_below(&self.random, 60));
        else if (sends)
            cancelled_send(&self, round);
        else
            cancelled_receive(&self, round);
    }
    canceller_fini(&self);
}

TEST(cancelled_sends_and_receives_lose_nothing)
{
    uint64_t seed = storm_begin();

    for (unsigned i = 0; i < CANCEL_CASES; i++) {
        struct slices slices =
            slices_begin(storm_count(120000, 20000, 12000, 200), CANCEL_CASES);

        for (uint64_t some; (some = slices_next(&slices)) > 0;)
            cancel_storm_run(&cancel_cases[i], cancelled_work,
                             seed + i + slices.made, some, 1);
        storm_add(STORM_RUNS, 1);
    }
}

/* ---- Controls ---- */

// One storm over a mini mailbox; false when it found nothing wrong.
static bool
control_finds(unsigned bug, uint64_t seed)
{
    static struct cancel_storm storm;
    struct ledger_report report;
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    memset(&storm, 0, sizeof(storm));
    storm.seed = seed;
    storm.rounds = 10000;
    storm.planted = bug != MINI_SOUND;
    ledger_init(&storm.ledger, CANCEL_THREADS * storm.rounds);
    box_open_mini(&storm.box, bug, 2);
    threads_run(CANCEL_THREADS, cancelled_work, &storm);
    storm.box.ops->numbers(&storm.box, &stats);
    report = cancel_storm_settle(&storm, &storm.box);
    storm.box.ops->fini(&storm.box);
    ledger_fini(&storm.ledger);
    return report.bad > 0 || atomic_load(&storm.late) > 0 ||
           atomic_load(&storm.too_often) > 0 ||
           stats.waiting_senders + stats.waiting_receivers > 0;
}

// A busy machine may run the threads one after another; hence several tries.
static void
check_control(unsigned bug)
{
    uint64_t seed = storm_begin();

    for (unsigned tries = 1; tries <= 50; tries++) {
        if (!control_finds(bug, seed + tries))
            continue;
        test_note("cancel: control: found in storm %u", tries);
        return;
    }
    FAIL("the planted bug was not found");
}

TEST(cancel_storm_passes_a_sound_mailbox)
{
    CHECK(!control_finds(MINI_SOUND, storm_begin()));
}

TEST(cancel_storm_finds_a_message_that_was_cancelled_away)
{
    check_control(MINI_EAT_MESSAGE);
}

TEST(cancel_storm_finds_a_cancelled_send_that_is_in)
{
    check_control(MINI_SEND_BOTH);
}

TEST(cancel_storm_finds_a_duplicate)
{
    check_control(MINI_DUPLICATE);
}

TEST(cancel_storm_finds_a_forgotten_registration)
{
    check_control(MINI_FORGET_WAIT);
}

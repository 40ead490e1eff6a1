/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks that jump: the wall clock is set back and forward
 * while a store is open, between two opens, and while the machine is off.
 * Leases end when they should, not before and not a second after; tokens are
 * remembered as long as they should be.
 */
#include "disk.h"
#include "processes.h"
#include "stores/file/fixture.h"

#include <stdio.h>
#include <time.h>

#include <letterbox/post.h>

#define LEASE (150 * LBX_MS)
#define DAY   (86400 * LBX_SECOND)

static const struct {
    const char *name;
    int64_t by_ns;
} jumps[] = {
    {"+1 s", LBX_SECOND},
    {"-1 s", -LBX_SECOND},
    {"+20 min", 1200 * LBX_SECOND},
    {"-20 min", -1200 * LBX_SECOND},
    {"+1 day", DAY},
    {"-1 day", -DAY},
    {"to 2038 and beyond", INT64_C(12) * 365 * DAY},
    {"to 2106 and beyond", INT64_C(80) * 365 * DAY},
    {"to 1970", INT64_C(-56) * 365 * DAY},
};

enum {
    JUMPS = sizeof(jumps) / sizeof(jumps[0])
};

static lbx_postbox *
open_box(const char *path, const lbx_clock *clock)
{
    lbx_store_options options = fixture_options();
    lbx_postbox_options mine = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options rules = LBX_BOX_OPTIONS_INIT;
    lbx_postbox *box;
    char url[600];

    options.clock = clock;
    rules.lease_ns = LEASE;
    mine.store = &options;
    mine.box = &rules;
    (void)snprintf(url, sizeof(url), "file:%s/box", path);
    CHECK_OK(lbx_postbox_open(url, &mine, &box));
    return box;
}

/* Leases the letter; answers until when at least. */
static int64_t
lease(lbx_postbox *box)
{
    const int64_t begun = lbx_clock_now(NULL);
    lbx_letter *letter;

    CHECK_OK(lbx_postbox_receive(box, 10 * LBX_SECOND, &letter));
    lbx_letter_destroy(letter);
    return begun + LEASE;
}

/* Waits for the letter to come back. */
static void
await(lbx_postbox *box, int64_t until, const char *name, const char *when,
      int64_t slack_ns)
{
    const int64_t begun = lbx_clock_now(NULL);
    lbx_letter *letter;
    lbx_status status;
    int64_t ended;

    if (lbx_postbox_receive(box, 30 * LBX_SECOND, &letter) != LBX_OK)
        FAIL("%s %s: it does not come back", name, when);
    ended = lbx_clock_now(NULL);
    if (ended < until)
        FAIL("%s %s: %ld ms early", name, when,
             (long)((until - ended) / LBX_MS));
    // Generous: the machine may be busy.
    if (ended - (until > begun ? until : begun) > LBX_SECOND + slack_ns)
        FAIL("%s %s: %ld ms late", name, when,
             (long)((ended - until) / LBX_MS));
    // Back at once; a busy machine may have let it run out already.
    status = lbx_letter_extend(letter, 0);
    CHECK(status == LBX_OK || status == LBX_EXPIRED);
    lbx_letter_destroy(letter);
}

static lbx_sent_letter
send_once(lbx_postbox *box, const char *token)
{
    lbx_draft draft = lbx_draft_of_text("tick");
    lbx_sent_letter sent;

    draft.token = token;
    CHECK_OK(lbx_postbox_send_draft(box, &draft, &sent));
    return sent;
}

TEST(a_jump_of_the_wall_clock_moves_no_lease)
{
    const char *path = test_path();
    lbx_postbox *box;

    box = open_box(path, NULL);
    (void)send_once(box, "tick");
    for (int i = 0; i < JUMPS; i++) {
        const int64_t until = lease(box);

        disk_wall_shift_ns = jumps[i].by_ns;
        CHECK(send_once(box, "tick").duplicate);
        await(box, until, jumps[i].name, "while open", 4 * LBX_SECOND);
    }
    for (int i = 0; i < JUMPS; i++) {
        const int64_t until = lease(box);

        lbx_postbox_unref(box);
        disk_wall_shift_ns = jumps[i].by_ns;
        box = open_box(path, NULL);
        CHECK(send_once(box, "tick").duplicate);
        await(box, until, jumps[i].name, "between two opens", 4 * LBX_SECOND);
    }
    lbx_postbox_unref(box);
    disk_wall_shift_ns = 0;
    test_figure("crash, clock: %d jumps while open, %d between two opens, "
                "early=0 late=0",
                JUMPS, JUMPS);
}

/* While the machine is off only the wall clock knows the time: one that
 * was set back makes leases end later, by no more than their length. */
TEST(a_clock_that_was_set_back_over_a_boot_shortens_no_lease)
{
    int boots = 0;
    const char *path = test_path();
    lbx_postbox *box;

    box = open_box(path, NULL);
    (void)send_once(box, "tick");
    for (int i = 0; i < JUMPS; i++) {
        const int64_t until = lease(box);
        struct timespec now;

        if (jumps[i].by_ns > 0)
            continue;
        lbx_postbox_unref(box);
        disk_wall_shift_ns += jumps[i].by_ns / 8;
        disk_other_boot = !disk_other_boot;
        // Started 3 s ago.
        disk_boot_shift_ns = 0;
        (void)clock_gettime(CLOCK_BOOTTIME, &now);
        disk_boot_shift_ns = (3 - now.tv_sec) * LBX_SECOND;
        box = open_box(path, NULL);
        CHECK(send_once(box, "tick").duplicate);
        await(box, until, jumps[i].name, "over a boot", LEASE + 4 * LBX_SECOND);
        boots++;
    }
    lbx_postbox_unref(box);
    test_figure(
        "crash, clock: %d boots with the clock set back, early=0 late=0",
        boots);
}

/* Time goes on for a lease while the machine sleeps, which CLOCK_MONOTONIC does
 * not see. */
TEST(a_lease_runs_out_while_the_machine_sleeps)
{
    lbx_postbox *box = open_box(test_path(), NULL);
    lbx_letter *letter;

    (void)send_once(box, "tick");
    CHECK_OK(lbx_postbox_receive(box, 0, &letter));
    CHECK_OK(lbx_letter_extend(letter, DAY / 2));
    lbx_letter_destroy(letter);
    CHECK_STATUS(LBX_EMPTY, lbx_postbox_receive(box, 0, &letter));
    disk_boot_shift_ns += DAY;
    CHECK_OK(lbx_postbox_receive(box, 0, &letter));
    lbx_letter_destroy(letter);
    lbx_postbox_unref(box);
    disk_boot_shift_ns = 0;
}

/* The control: a store that goes by the wall clock is found out. */

TEST(a_store_that_goes_by_the_wall_clock_is_early)
{
    const lbx_clock wall = {processes_wall_ns, NULL};
    lbx_postbox *box;
    lbx_letter *letter;
    int64_t until;

    box = open_box(test_path(), &wall);
    (void)send_once(box, "tick");
    CHECK_OK(lbx_postbox_receive(box, 0, &letter));
    CHECK_OK(lbx_letter_extend(letter, DAY / 2));
    until = lbx_clock_now(NULL) + DAY / 2;
    lbx_letter_destroy(letter);
    disk_wall_shift_ns = DAY;
    CHECK_OK(lbx_postbox_receive(box, 0, &letter));
    CHECK(lbx_clock_now(NULL) < until);
    lbx_letter_destroy(letter);
    lbx_postbox_unref(box);
    disk_wall_shift_ns = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Fifo boxes: groups, duplicates, attempts; the cases of SQS. */
#include "fixture.h"
#include "stores/memory/memory.h"

#include <stdio.h>
#include <string.h>

static lbx_box
ordered(struct rig *rig)
{
    const lbx_box_options options =
        lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);

    return rig_create(rig, "box.fifo", &options);
}

/* "g1m1 g2m1": one letter each, to groups g1 and g2, each with its own id. */
static void
put(struct rig *rig, lbx_box box, const char *bodies)
{
    for (; *bodies; bodies += bodies[4] ? 5 : 4) {
        const char group[] = {bodies[0], bodies[1], 0};
        const char body[] = {bodies[0], bodies[1], bodies[2], bodies[3], 0};

        CHECK_OK(rig_send_in(rig, box, body, group, body));
    }
}

RIG_TEST("GROUP-1 GROUP-2", a_receive_takes_a_group_and_then_the_next)
{
    lbx_box box = ordered(rig);

    put(rig, box, "g1m1 g2m1 g1m2 g1m3");
    CHECK_STR("g1m1 g1m2 g1m3 g2m1", rig_received(rig, box, 10, 30 * S));
    put(rig, box, "g1m4");
    CHECK_INT(0, rig_receive(rig, box, 10, 30 * S));
}

/* A box with a group of three letters, of which the first two are leased. */
static lbx_box
two_leased(struct rig *rig, struct rig_got got[2])
{
    lbx_box box = ordered(rig);

    put(rig, box, "g1m1 g1m2 g1m3");
    CHECK_INT(2, rig_receive(rig, box, 2, 30 * S));
    memcpy(got, rig->got, 2 * sizeof(*got));
    return box;
}

RIG_TEST("GROUP-2", a_group_opens_when_all_of_it_is_settled)
{
    struct rig_got got[2];
    lbx_box box = two_leased(rig, got);

    CHECK_OK(rig_ack(rig, box, &got[0]));
    CHECK_INT(0, rig_receive(rig, box, 10, 30 * S));
    rig->changes = 0;
    CHECK_OK(rig_ack(rig, box, &got[1]));
    CHECK(rig->changes > 0);
    CHECK_STR("g1m3", rig_received(rig, box, 10, 30 * S));
}

RIG_TEST("GROUP-2", the_second_settled_first_does_not_open_the_group)
{
    struct rig_got got[2];
    lbx_box box = two_leased(rig, got);

    CHECK_OK(rig_ack(rig, box, &got[1]));
    CHECK_INT(0, rig_receive(rig, box, 10, 30 * S));
    CHECK_OK(rig_nack(rig, box, &got[0], 0));
    CHECK_STR("g1m1 g1m3", rig_received(rig, box, 10, 30 * S));
}

/* SQS: the back of the rotation. */
RIG_TEST("", a_group_that_comes_back_stands_last)
{
    lbx_box box = ordered(rig);

    put(rig, box, "g1m1 g2m1");
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    CHECK_OK(rig_extend(rig, box, &rig->got[0], 0));
    CHECK_STR("g2m1 g1m1", rig_received(rig, box, 10, 30 * S));
}

/* SQS: of three, the kth is extended; those before it come again. */
TEST(what_is_before_an_extended_letter_comes_again)
{
    static const char *const again[] = {"", "g1m1", "g1m1 g1m2"};

    for (int k = 0; k < 3; k++) {
        RIG(rig);
        lbx_box box = ordered(rig);

        put(rig, box, "g1m1 g1m2 g1m3");
        CHECK_INT(3, rig_receive(rig, box, 3, S));
        CHECK_OK(rig_extend(rig, box, &rig->got[k], 4 * S));
        rig_pass(rig, 5 * S / 2);
        CHECK_INT(k, rig_receive(rig, box, 10, 30 * S));
        CHECK_STR(again[k], rig_bodies(rig));
    }
}

/* SQS (floci#2104). */
RIG_TEST("", a_delayed_letter_does_not_hold_up_an_older_one)
{
    const lbx_parcel late = {.body = "late",
                             .body_bytes = 4,
                             .group = "g1",
                             .deduplication_id = "late",
                             .delay_ns = 60 * S};
    lbx_box box = ordered(rig);

    put(rig, box, "g1m1");
    CHECK_OK(rig_send_parcel(rig, box, &late));
    put(rig, box, "g1m3");
    CHECK_INT(1, rig_receive(rig, box, 10, S));
    CHECK_OK(rig_ack(rig, box, &rig->got[0]));
    CHECK_INT(0, rig_receive(rig, box, 10, S)); // GROUP-1: m3 waits for it
    rig_pass(rig, 60 * S);
    CHECK_STR("late g1m3", rig_received(rig, box, 10, S));
}

RIG_TEST("RSEND-1 GROUP-3", a_duplicate_returns_the_first_for_five_minutes)
{
    lbx_sent_letter first;
    lbx_box box = ordered(rig);

    CHECK_OK(rig_send_in(rig, box, "a", "g1", "same"));
    first = rig->sent;
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    CHECK_OK(rig_ack(rig, box, &rig->got[0]));
    rig_reopen(rig);
    rig_pass(rig, 300 * S - 1);
    CHECK_OK(rig_send_in(rig, box, "b", "g2", "same"));
    CHECK(rig->sent.duplicate);
    CHECK_STR(first.id.text, rig->sent.id.text);
    CHECK_INT(first.sequence, rig->sent.sequence);
    rig_pass(rig, 1);
    CHECK_OK(rig_send_in(rig, box, "c", "g1", "same"));
    CHECK(!rig->sent.duplicate);
    CHECK(rig->sent.sequence > first.sequence);
    CHECK_INT(1, rig_counts(rig, box).ready);
}

/* SQS: the scope; and a change of it forgets nothing. */
RIG_TEST("RSEND-1", duplicates_are_looked_for_in_their_scope)
{
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_box box = ordered(rig);

    CHECK_OK(rig_send_in(rig, box, "a", "g1", "x"));
    options.deduplication = LBX_DEDUPLICATION_GROUP;
    CHECK_OK(rig_configure(rig, box, &options));
    CHECK_OK(rig_send_in(rig, box, "b", "g2", "x"));
    CHECK(rig->sent.duplicate);
    CHECK_OK(rig_send_in(rig, box, "c", "g1", "y"));
    CHECK(!rig->sent.duplicate);
    CHECK_OK(rig_send_in(rig, box, "d", "g2", "y"));
    CHECK(!rig->sent.duplicate);
    CHECK_OK(rig_send_in(rig, box, "e", "g1", "y"));
    CHECK(rig->sent.duplicate);
}

/* SQS: purging forgets them too. */
RIG_TEST("", a_purge_forgets_duplicates)
{
    lbx_box box = ordered(rig);

    CHECK_OK(rig_send_in(rig, box, "a", "g1", "x"));
    CHECK_INT(1, rig_purge(rig, box));
    CHECK_OK(rig_send_in(rig, box, "b", "g1", "x"));
    CHECK(!rig->sent.duplicate);
    CHECK_STR("b", rig_received(rig, box, 10, S));
}

/* SQS. */
RIG_TEST("", an_attempt_is_repeated_until_something_is_settled)
{
    struct rig_got got[2];
    lbx_box box = ordered(rig);

    put(rig, box, "g1m1 g2m1 g3m1");
    CHECK_INT(2, rig_attempt(rig, box, 2, 30 * S, "try"));
    memcpy(got, rig->got, sizeof(got));
    rig_pass(rig, 20 * S);
    CHECK_INT(2, rig_attempt(rig, box, 2, 30 * S, "try"));
    for (int i = 0; i < 2; i++) {
        CHECK_STR(got[i].body, rig->got[i].body);
        CHECK(memcmp(got[i].receipt, rig->got[i].receipt,
                     got[i].receipt_bytes) == 0);
        CHECK_INT(1, rig->got[i].deliveries);
    }
    rig_pass(rig, 20 * S); // the leases began anew
    CHECK_INT(2, rig_counts(rig, box).leased);
    CHECK_OK(rig_ack(rig, box, &got[1]));
    CHECK_INT(1, rig_attempt(rig, box, 2, 30 * S, "try"));
    CHECK_STR("g3m1", rig->got[0].body);
}

/* A receive that waits for several goes on after its first letters: the same
 * attempt would give it those again. */
RIG_TEST("", an_attempt_that_waits_for_more_gets_others)
{
    lbx_box box = ordered(rig);

    put(rig, box, "g1m1 g2m1 g3m1");
    CHECK_INT(1, rig_attempt(rig, box, 1, 30 * S, "try"));
    CHECK_STR("g1m1", rig->got[0].body);
    rig->before = 1;
    CHECK_INT(1, rig_attempt(rig, box, 2, 30 * S, "try"));
    CHECK_STR("g2m1", rig->got[0].body);
}

RIG_TEST("RSETTLE-2", a_lease_that_is_over_cannot_be_settled)
{
    lbx_box box = ordered(rig);

    put(rig, box, "g1m1");
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    rig_pass(rig, S);
    CHECK_STATUS(LBX_EXPIRED, rig_ack(rig, box, &rig->got[0]));
    CHECK_INT(1, rig_counts(rig, box).ready);
}

/* SQS: no error, simply no letters; one that is settled makes another
 * possible. */
RIG_TEST("", a_fifo_box_with_all_leased_that_may_be_is_empty)
{
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    int64_t due;
    lbx_box box;

    options.limits.max_leased = 1;
    box = rig_create(rig, "box.fifo", &options);
    put(rig, box, "g1m1 g2m1");
    CHECK_INT(1, rig_receive(rig, box, 10, 9 * S));
    CHECK_INT(0, rig_receive(rig, box, 10, 9 * S));
    CHECK_STATUS(LBX_EMPTY, rig->status);
    CHECK_OK(RIG_CALL(rig, lbx__receive_next_due(rig->rules, box, &due)));
    CHECK_INT(test_clock_now(&rig->time) + 9 * S, due);
}

/* Retention may end a leased letter before its lease ends. */
RIG_TEST("", a_receive_that_waits_for_a_lease_is_due_when_retention_frees_one)
{
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    int64_t due;
    lbx_box box;

    options.limits.max_leased = 1;
    options.retention_ns = 60 * S;
    box = rig_create(rig, "box.fifo", &options);
    put(rig, box, "g1m1");
    rig_pass(rig, 40 * S);
    put(rig, box, "g2m1");
    CHECK_INT(1, rig_receive(rig, box, 10, 100 * S));
    CHECK_INT(0, rig_receive(rig, box, 10, 9 * S));
    CHECK_OK(RIG_CALL(rig, lbx__receive_next_due(rig->rules, box, &due)));
    CHECK_INT(test_clock_now(&rig->time) + 20 * S, due);
    rig_pass(rig, 20 * S);
    CHECK_STR("g2m1", rig_received(rig, box, 10, 9 * S));
}

/* The same for the letter that another of its group waits for. */
RIG_TEST("", a_receive_is_due_when_retention_frees_a_group)
{
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    int64_t due;
    lbx_box box;

    options.retention_ns = 60 * S;
    box = rig_create(rig, "box.fifo", &options);
    put(rig, box, "g1m1");
    rig_pass(rig, 40 * S);
    put(rig, box, "g1m2");
    CHECK_INT(1, rig_receive(rig, box, 1, 100 * S));
    CHECK_OK(RIG_CALL(rig, lbx__receive_next_due(rig->rules, box, &due)));
    CHECK_INT(test_clock_now(&rig->time) + 20 * S, due);
    rig_pass(rig, 20 * S);
    CHECK_STR("g1m2", rig_received(rig, box, 10, 9 * S));
}

/* Groups may be as many as letters: they go with the last of these. */
RIG_TEST("", groups_leave_nothing_behind)
{
    lbx_box box = ordered(rig);

    for (int i = 0; i < 20; i++) {
        char body[16];

        snprintf(body, sizeof(body), "%02dm1", i);
        put(rig, box, body);
    }
    CHECK_INT(20, lbx__memory_rows(rig->storage, LBX__GROUPS));
    while (rig_receive(rig, box, 1, S) == 1)
        CHECK_OK(rig_ack(rig, box, &rig->got[0]));
    for (int table = LBX__BODIES; table <= LBX__GIDS; table++)
        CHECK_INT(0, lbx__memory_rows(rig->storage, (lbx__table)table));
}

/* SQS: id and group stay, the id of a duplicate becomes the letter's
 * own, and what was behind it goes on. */
RIG_TEST("DEADLET-1 DEADLET-4 GROUP-1", a_dead_letter_keeps_its_group)
{
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    struct rig_got first;
    lbx_box dead = rig_create(rig, "dead.fifo", &options);
    lbx_box box;

    options.dead_letters = "dead.fifo";
    options.max_deliveries = 1;
    box = rig_create(rig, "box.fifo", &options);
    put(rig, box, "g1m1 g1m2");
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    first = rig->got[0];
    rig_pass(rig, S);
    CHECK_STR("g1m2", rig_received(rig, box, 10, S));
    CHECK_INT(0, rig_counts(rig, dead).oldest_ns); // DEADLET-3
    CHECK_STR("g1m1", rig_received(rig, dead, 10, S));
    CHECK_STR("g1", rig->got[0].group);
    CHECK_STR(first.id, rig->got[0].id);
    CHECK_STR(first.id, rig->got[0].deduplication_id);
    CHECK_INT(2, rig->got[0].deliveries);
}

/* A box that is its own for dead letters: what a receive has moved behind the
 * others is for the next one. */
TEST_CITING("DEADLET-4", a_circle_of_one_group_moves_a_letter_once_a_receive)
{
    RIG(rig);
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_box box;

    options.dead_letters = "own.fifo";
    options.max_deliveries = 1;
    box = rig_create(rig, "own.fifo", &options);
    put(rig, box, "g1m1");
    CHECK_INT(1, rig_receive(rig, box, 1, 0));
    CHECK_INT(0, rig_receive(rig, box, 10, 0));
    put(rig, box, "g1m2");
    CHECK_STR("g1m1", rig_received(rig, box, 1, 0));
    CHECK_STR("g1m2", rig_received(rig, box, 10, S));
}

static const char *
attempted(struct rig *rig, lbx_box box, uint32_t max, int64_t lease,
          const char *attempt_id)
{
    (void)rig_attempt(rig, box, max, lease, attempt_id);
    return rig_bodies(rig);
}

/* A repeated attempt brings what the first did, or nothing of it. */
TEST(an_attempt_is_repeated_whole_and_unchanged_or_not_at_all)
{
    RIG(rig);
    const lbx_box_options options =
        lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_box box = ordered(rig);
    struct rig_got got;

    put(rig, box, "g1m1 g2m1 g3m1");
    CHECK_INT(2, rig_attempt(rig, box, 2, 30 * S, "fewer"));
    CHECK_INT(1, rig_attempt(rig, box, 1, 30 * S, "fewer"));
    CHECK_STR("g1m1", rig_bodies(rig));

    // The lease and its limit begin again.
    rig_pass(rig, 20 * S);
    CHECK_INT(1, rig_attempt(rig, box, 1, 30 * S, "fewer"));
    got = rig->got[0];
    CHECK_OK(rig_extend(rig, box, &got, options.limits.max_lease_ns));
    // It was extended since: not as it was.
    rig_pass(rig, 10 * S);
    CHECK_STR("g3m1 g2m1", attempted(rig, box, 2, 0, "fewer"));
    // The lease is over: a receive as any other.
    CHECK_STR("g3m1", attempted(rig, box, 1, S, "late"));
    rig_pass(rig, S);
    CHECK_STR("g2m1", attempted(rig, box, 1, S, "late"));
}

TEST(an_attempt_is_remembered_for_five_minutes_from_its_last)
{
    RIG(rig);
    lbx_box box = ordered(rig);

    // More to forget than an attempt forgets.
    put(rig, box, "g1m1 g2m1 g3m1 g4m1 g5m1 g6m1");
    rig_pass(rig, 1);
    CHECK_STR("g1m1", attempted(rig, box, 1, 900 * S, "try"));
    rig_pass(rig, 200 * S);
    CHECK_STR("g1m1", attempted(rig, box, 1, 900 * S, "try"));
    rig_pass(rig, 200 * S); // the first row is over, and swept
    (void)rig_attempt(rig, box, 1, 0, "another");
    (void)rig_attempt(rig, box, 1, 0, "another");
    put(rig, box, "g7m1 g8m1 g9m1 g0m1");
    rig_pass(rig, 100 * S - 1);
    CHECK_STR("g1m1", attempted(rig, box, 1, 900 * S, "try"));
    rig_pass(rig, 300 * S);
    CHECK_STR("g4m1", attempted(rig, box, 1, 900 * S, "try"));
}

/* SWEEP-1: as if it had been swept when it expired. */
TEST_CITING("SWEEP-1", a_group_is_due_when_the_letter_before_it_expired)
{
    RIG(rig);
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    const lbx_parcel later = {.body = "g2m1",
                              .body_bytes = 4,
                              .group = "g2",
                              .deduplication_id = "g2m1",
                              .delay_ns = 12 * S};
    lbx_box box;

    options.retention_ns = 60 * S;
    box = rig_create(rig, "box.fifo", &options);
    put(rig, box, "g1m1");
    rig_pass(rig, 50 * S);
    put(rig, box, "g1m2");
    CHECK_OK(rig_send_parcel(rig, box, &later)); // due after 62 s
    rig_pass(rig, 15 * S);
    CHECK_STR("g1m2 g2m1", rig_received(rig, box, 10, S));
}

TEST(settling_a_later_letter_does_not_move_its_group)
{
    RIG(rig);
    struct rig_got got[2];
    lbx_box box = two_leased(rig, got);

    CHECK_OK(rig_nack(rig, box, &got[0], 0));
    put(rig, box, "g2m1");
    CHECK_OK(rig_ack(rig, box, &got[1]));
    CHECK_STR("g1m1", rig_received(rig, box, 1, S));
}

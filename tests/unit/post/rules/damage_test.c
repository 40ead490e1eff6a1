/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged letters: intact ones are received; when only damaged ones are left, a
 * receive reports LBX_CORRUPT and never that the box is empty (RECV-3, GROUP-5,
 * RULES-6).
 */
#include "fixture.h"

#include "post/rules/row.h"
#include "stores/memory/memory.h"

#include <stdio.h>
#include <string.h>

/* Changes a bit in the n-th row of a table, from 0; or removes it. */
static void
damage(struct rig *rig, lbx__table table, int n, bool remove)
{
    uint8_t key[LBX__ROW_KEY_MAX + 1] = {0}, copy[4096];
    lbx__bytes at = {key, 0}, value;

    CHECK_OK(lbx__storage_begin(rig->storage));
    for (int i = 0; i <= n; i++) {
        CHECK_OK(lbx__storage_seek(rig->storage, table, at, &at, &value));
        memcpy(key, at.data, at.size);
        key[at.size] = 0;
        at = (lbx__bytes){key, at.size + 1}; // the least key behind it
    }
    at.size--;
    CHECK(value.size <= sizeof(copy));
    memcpy(copy, value.data, value.size);
    copy[value.size - 1] ^= 1;
    if (remove)
        lbx__storage_remove(rig->storage, table, at);
    else
        lbx__storage_put(rig->storage, table, at,
                         &(lbx__bytes){copy, value.size}, 1);
    (void)lbx__storage_commit(rig->storage);
}

static void
flip(struct rig *rig, lbx__table table, int n)
{
    damage(rig, table, n, false);
}

/* A box with the letters a, b, c and so on. */
static lbx_box
fill(struct rig *rig, int count, const lbx_box_options *options)
{
    lbx_box box = rig_create(rig, "box", options);

    for (int i = 0; i < count; i++) {
        const char body[] = {(char)('a' + i % 26), '\0'};

        CHECK_OK(rig_send(rig, box, body));
    }
    return box;
}

static void
check_only_damage_left(struct rig *rig, lbx_box box)
{
    CHECK_INT(0, rig_receive(rig, box, 10, S));
    CHECK_STATUS(LBX_CORRUPT, rig->status);
}

TEST_CITING("RULES-2 RULES-6", a_damaged_letter_blocks_no_other)
{
    for (int n = 0; n < 5; n++) {
        RIG(rig);
        static const char *const left[] = {"b c d e", "a c d e", "a b d e",
                                           "a b c e", "a b c d"};
        lbx_box box = fill(rig, 5, NULL);

        flip(rig, LBX__BODIES, n);
        CHECK_INT(5, rig_counts(rig, box).ready);
        CHECK_INT(4, rig_peek(rig, box));
        CHECK_OK(rig->status);
        CHECK_STR(left[n], rig_bodies(rig));
        CHECK_STR(left[n], rig_received(rig, box, 10, 30 * S));
        for (int i = 0; i < 4; i++)
            CHECK_OK(rig_ack(rig, box, &rig->got[i]));
        check_only_damage_left(rig, box);
        check_only_damage_left(rig, box); // again and again
        CHECK_INT(1, rig_counts(rig, box).ready);
        CHECK_INT(0, rig_peek(rig, box));
        CHECK_STATUS(LBX_CORRUPT, rig->status);

        // What is sent later is received as usual, here and after a restart.
        CHECK_OK(rig_send(rig, box, "f"));
        CHECK_INT(1, rig_receive(rig, box, 10, 0));
        rig_reopen(rig);
        CHECK_STR("f", rig_received(rig, box, 10, S));

        // And nothing was deleted.
        CHECK_OK(rig_ack(rig, box, &rig->got[0]));
        flip(rig, LBX__BODIES, 0);
        rig_reopen(rig);
        CHECK_INT(1, rig_receive(rig, box, 10, S));
        CHECK_INT('a' + n, rig->got[0].body[0]);
    }
}

TEST_CITING("RULES-6", one_that_came_back_and_is_damaged_is_stepped_over)
{
    static const lbx__table tables[] = {LBX__BODIES, LBX__STATES, LBX__READY};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        RIG(rig);
        lbx_box box = fill(rig, 3, NULL);

        CHECK_INT(3, rig_receive(rig, box, 10, S));
        rig_pass(rig, S);
        CHECK_INT(3, rig_counts(rig, box).ready);
        CHECK_OK(rig_send(rig, box, "d"));
        flip(rig, tables[i], 0);
        CHECK_INT(4, rig_counts(rig, box).ready);
        CHECK_INT(3, rig_receive(rig, box, 10, 30 * S));
        CHECK(strchr(rig_bodies(rig), 'd') != NULL);
        check_only_damage_left(rig, box);
        flip(rig, tables[i], 0);
        CHECK_INT(1, rig_receive(rig, box, 10, 30 * S));
    }
}

/* Its lease is over, but no row shows it. */
TEST_CITING("RULES-6", one_that_is_leased_and_damaged_is_not_forgotten)
{
    static const lbx__table tables[] = {LBX__STATES, LBX__WAITS};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        RIG(rig);
        lbx_box box = fill(rig, 2, NULL);

        CHECK_INT(2, rig_receive(rig, box, 10, S));
        flip(rig, tables[i], 0);
        rig_pass(rig, S);
        CHECK_OK(rig_send(rig, box, "c"));
        CHECK_INT(2, rig_counts(rig, box).ready);
        CHECK_INT(1, rig_counts(rig, box).leased);
        CHECK_INT(2, rig_receive(rig, box, 10, 30 * S));
        check_only_damage_left(rig, box);
        flip(rig, tables[i], 0);
        CHECK_STR("a", rig_received(rig, box, 10, 30 * S));
    }
}

/* It is leased: there is nothing to report yet. */
RIG_TEST("", damage_of_a_leased_letter_is_reported_after_its_lease)
{
    lbx_box box = fill(rig, 2, NULL);

    CHECK_INT(2, rig_receive(rig, box, 10, S));
    flip(rig, LBX__BODIES, 1);
    CHECK_INT(0, rig_receive(rig, box, 10, S));
    CHECK_STATUS(LBX_EMPTY, rig->status);
    rig_pass(rig, S);
    CHECK_STR("a", rig_received(rig, box, 10, S));
    check_only_damage_left(rig, box);
}

TEST_CITING("RULES-6", a_row_that_is_missing_is_still_damage)
{
    static const lbx__table tables[] = {LBX__BODIES, LBX__READY};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        RIG(rig);
        lbx_box box = fill(rig, 3, NULL);

        CHECK_INT(3, rig_receive(rig, box, 10, 0));
        rig_pass(rig, 1);
        CHECK_INT(3, rig_counts(rig, box).ready);
        damage(rig, tables[i], 0, true);
        CHECK_INT(2, rig_receive(rig, box, 10, 30 * S));
        check_only_damage_left(rig, box);
    }
}

/* A receive steps over so many, and the next one goes on from there. */
RIG_TEST("RULES-6", many_damaged_letters_are_passed_in_bounded_steps)
{
    lbx_box box;
    int tries = 0;

    box = rig_create(rig, "box", NULL);
    for (int i = 0; i < 3; i++) // so that `fresh` is before the first of them
        CHECK_OK(rig_send(rig, box, "done"));
    CHECK_INT(3, rig_receive(rig, box, 10, S));
    for (int i = 0; i < 3; i++)
        CHECK_OK(rig_ack(rig, box, &rig->got[i]));
    for (int i = 0; i < 200; i++)
        CHECK_OK(rig_send(rig, box, "x"));
    CHECK_OK(rig_send(rig, box, "intact"));
    for (int i = 0; i < 200; i++)
        flip(rig, LBX__BODIES, i);
    CHECK_INT(201, rig_counts(rig, box).ready);
    for (; rig_receive(rig, box, 1, 30 * S) == 0; tries++)
        CHECK_STATUS(LBX_CORRUPT, rig->status);
    CHECK_STR("intact", rig_bodies(rig));
    CHECK_INT(3, tries); // 64 each
    check_only_damage_left(rig, box);
    CHECK_OK(rig_send(rig, box, "later"));
    CHECK_STR("later", rig_received(rig, box, 1, 30 * S));
}

static long seeks;
static lbx_status (*real_seek)(lbx__storage *, lbx__table, lbx__bytes,
                               lbx__bytes *, lbx__bytes *);

static lbx_status
count_seeks(lbx__storage *storage, lbx__table table, lbx__bytes key,
            lbx__bytes *ret_key, lbx__bytes *ret)
{
    seeks++;
    return real_seek(storage, table, key, ret_key, ret);
}

/* `fresh` stays at the damaged one, and yet what is behind is not searched
 * for each receive. */
RIG_TEST("", leased_letters_behind_a_damaged_one_cost_nothing)
{
    lbx_box box = fill(rig, 500, NULL);

    flip(rig, LBX__BODIES, 0);
    for (int i = 0; i < 400; i++)
        CHECK_INT(1, rig_receive(rig, box, 1, 3000 * S));
    real_seek = rig->ops.seek;
    rig->ops.seek = count_seeks;
    seeks = 0;
    CHECK_INT(1, rig_receive(rig, box, 1, 3000 * S));
    CHECK(seeks < 10);
}

static lbx_status
fail_seek(lbx__storage *storage, lbx__table table, lbx__bytes key,
          lbx__bytes *ret_key, lbx__bytes *ret)
{
    if (table == LBX__BODIES)
        return LBX_CORRUPT;
    return real_seek(storage, table, key, ret_key, ret);
}

/* There is no letter to step over. */
RIG_TEST("RULES-6", damage_below_the_rows_is_reported)
{
    lbx_box box = fill(rig, 3, NULL);

    real_seek = rig->ops.seek;
    rig->ops.seek = fail_seek;
    check_only_damage_left(rig, box);
    CHECK_INT(0, rig_peek(rig, box));
    CHECK_STATUS(LBX_CORRUPT, rig->status);
    rig->ops.seek = real_seek;
    CHECK_INT(3, rig_receive(rig, box, 10, S));
}

/* Letters are kept for 100 s. */
static lbx_box_options
short_retention(void)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    options.limits.min_retention_ns = 0;
    options.retention_ns = 100 * S;
    return options;
}

/* Others grow too old, and letters are sent, though the first is damaged. */
RIG_TEST("RULES-6", a_damaged_letter_does_not_stop_retention)
{
    const lbx_box_options options = short_retention();
    lbx_box box = fill(rig, 3, &options);

    flip(rig, LBX__BODIES, 0);
    rig_pass(rig, 100 * S);
    CHECK_OK(rig_send(rig, box, "d"));
    CHECK_INT(2, rig_counts(rig, box).ready); // the damaged one, and d
    CHECK_STR("d", rig_received(rig, box, 10, 30 * S));
    check_only_damage_left(rig, box);
    rig_pass(rig, 100 * S);
    CHECK_OK(rig_send(rig, box, "e"));
    CHECK_STR("e", rig_received(rig, box, 10, 30 * S));
    CHECK_INT(1, rig_counts(rig, box).ready);
    CHECK(rig_counts(rig, box).oldest_ns >= 0);
    rig_purge(rig, box);
    CHECK_INT(0, rig_receive(rig, box, 10, S));
    CHECK_STATUS(LBX_EMPTY, rig->status);
}

RIG_TEST("RULES-6", hundreds_of_old_damaged_letters_refuse_nothing)
{
    const lbx_box_options options = short_retention();
    lbx_box box = fill(rig, 100, &options);

    for (int i = 0; i < 100; i++)
        flip(rig, LBX__BODIES, i);
    rig_pass(rig, 200 * S);
    CHECK_OK(rig_send(rig, box, "d"));
    CHECK_INT(101, rig_counts(rig, box).ready);
    check_only_damage_left(rig, box); // so far
    CHECK_STR("d", rig_received(rig, box, 10, 30 * S));
}

TEST_CITING("RULES-6", a_damaged_dead_letter_does_not_stop_retention)
{
    static const lbx__table tables[] = {LBX__BODIES, LBX__AGE};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        RIG(rig);
        const lbx_box_options options = short_retention();
        lbx_box_options dying = LBX_BOX_OPTIONS_INIT;
        lbx_box dead, box;

        dying.dead_letters = "dead";
        dying.max_deliveries = 1;
        dead = rig_create(rig, "dead", &options);
        box = fill(rig, 2, &dying);
        CHECK_INT(2, rig_receive(rig, box, 10, 0));
        CHECK_INT(0, rig_receive(rig, box, 10, 0));
        CHECK_INT(2, rig_counts(rig, dead).ready);
        flip(rig, tables[i], 0);
        rig_pass(rig, 100 * S);
        CHECK_OK(rig_send(rig, dead, "d"));
        CHECK_INT(i == 0 ? 2 : 1, rig_counts(rig, dead).ready);
        CHECK_STR("d", rig_received(rig, dead, 10, 30 * S));
    }
}

/* ---- Groups ---- */

static lbx_box
fill_groups(struct rig *rig)
{
    static const char *const letters[] = {"a1", "b1", "a2", "b2", "a3", "b3"};
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box box;

    options.fifo = true;
    box = rig_create(rig, "line.fifo", &options);
    for (int i = 0; i < 6; i++) {
        const char group[] = {letters[i][0], '\0'};

        CHECK_OK(rig_send_in(rig, box, letters[i], group, letters[i]));
    }
    return box;
}

static void
acknowledge_all(struct rig *rig, lbx_box box)
{
    const int count = (int)rig->count;
    struct rig_got got[10];

    memcpy(got, rig->got, sizeof(got));
    for (int i = 0; i < count; i++)
        CHECK_OK(rig_ack(rig, box, &got[i]));
}

TEST_CITING("GROUP-1 RULES-6", a_damaged_letter_stops_its_own_group_only)
{
    static const char *const had[] = {"b1 b2 b3", "a1 b1 b2 b3",
                                      "a1 a2 b1 b2 b3"};

    for (int n = 0; n < 3; n++) {
        RIG(rig);
        lbx_box box = fill_groups(rig);

        flip(rig, LBX__BODIES, 2 * n);
        CHECK_INT(6, rig_counts(rig, box).ready);
        CHECK_INT(5, rig_peek(rig, box));
        CHECK_INT(n + 3, rig_receive(rig, box, 10, 30 * S));
        CHECK_STR(had[n], rig_bodies(rig));
        acknowledge_all(rig, box);
        check_only_damage_left(rig, box);
        CHECK_OK(rig_send_in(rig, box, "c1", "c", "c1"));
        CHECK_STR("c1", rig_received(rig, box, 10, 30 * S));
        acknowledge_all(rig, box);
        flip(rig, LBX__BODIES, 0);
        CHECK_INT(3 - n, rig_receive(rig, box, 10, 30 * S)); // in their order
        CHECK_INT('1' + n, rig->got[0].body[1]);
    }
}

/* ---- Moves ---- */

RIG_TEST("MOVE-1 RULES-6",
         a_move_takes_what_is_intact_and_reports_that_it_is_not_all)
{
    lbx_move_progress progress = LBX_MOVE_PROGRESS_INIT;
    lbx_move_request request = {.action = LBX_MOVE_ACTION_START,
                                .ret = &progress};

    request.from = fill(rig, 5, NULL);
    request.to = rig_create(rig, "to", NULL);
    flip(rig, LBX__BODIES, 1);
    CHECK_OK(RIG_CALL(rig, lbx__move_apply(rig->rules, &request)));
    rig_work(rig);
    request.action = LBX_MOVE_ACTION_DESCRIBE;
    CHECK_OK(RIG_CALL(rig, lbx__move_apply(rig->rules, &request)));
    CHECK_INT(LBX_MOVE_PHASE_FAILED, progress.phase);
    CHECK_STATUS(LBX_CORRUPT, progress.reason);
    CHECK_INT(4, progress.moved);
    CHECK_INT(1, progress.left);
    CHECK_STR("a c d e", rig_received(rig, request.to, 10, S));
}

/* Behind a group whose only letter dies, so that nothing was claimed. */
TEST_CITING("RULES-6 GROUP-4", a_group_that_is_not_in_the_queue_is_damage)
{
    RIG(rig);
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_box dead = rig_create(rig, "dead.fifo", &options);
    lbx_box box;

    options.dead_letters = "dead.fifo";
    options.max_deliveries = 1;
    box = rig_create(rig, "box.fifo", &options);
    CHECK_OK(rig_send_in(rig, box, "a", "g1", "a"));
    CHECK_OK(rig_send_in(rig, box, "b", "g2", "b"));
    CHECK_STR("a", rig_received(rig, box, 1, 0));
    damage(rig, LBX__GROUP_DUE, 0, true); // that of g2: g1 stands last now
    check_only_damage_left(rig, box);
    CHECK_INT(1, rig_counts(rig, dead).ready);
}

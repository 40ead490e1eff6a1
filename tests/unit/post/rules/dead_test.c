/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters and moves. */
#include "fixture.h"
#include "stores/memory/memory.h"

#include <string.h>

static lbx_box_options
dying_into(const char *name, uint32_t deliveries)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    options.dead_letters = name;
    options.max_deliveries = deliveries;
    return options;
}

/* N deliveries happen; the one that would be more moves it. */
RIG_TEST("R-44 DEADLET-1 DEADLET-2 DEADLET-3",
         a_letter_dies_when_it_would_come_once_too_often)
{
    const lbx_box_options options = dying_into("dead", 2);
    struct rig_got first;
    lbx_box dead = rig_create(rig, "dead", NULL);
    lbx_box box = rig_create(rig, "box", &options);

    CHECK_OK(rig_send(rig, box, "a"));
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    first = rig->got[0];
    rig_pass(rig, S);
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    CHECK_INT(2, rig->got[0].deliveries);
    rig_pass(rig, S);
    // Due again, but not received: it is still here.
    CHECK_INT(1, rig_counts(rig, box).ready);
    CHECK_INT(0, rig_counts(rig, dead).ready);
    rig->changes = 0;
    CHECK_INT(0, rig_receive(rig, box, 10, S));
    CHECK_STATUS(LBX_EMPTY, rig->status);
    CHECK_INT(dead.uid, rig->change.uid);
    CHECK_INT(0, rig_counts(rig, box).ready);
    CHECK_STATUS(LBX_GONE, rig_ack(rig, box, &first));
    CHECK_STR("a", rig_received(rig, dead, 1, S));
    CHECK_STR(first.id, rig->got[0].id);
    CHECK_STR("box", rig->got[0].source);
    CHECK_INT(first.sent_ms, rig->got[0].sent_ms);
    CHECK_INT(first.first_received_ms, rig->got[0].first_received_ms);
    CHECK_INT(3, rig->got[0].deliveries); // SQS: the count goes on
}

/* SQS: the retention clock is not reset. */
RIG_TEST("DEADLET-3", a_dead_letter_is_as_old_as_it_was)
{
    lbx_box_options options = dying_into("dead", 1);
    lbx_box_options kept = LBX_BOX_OPTIONS_INIT;
    lbx_box box, dead;

    kept.retention_ns = 60 * S;
    dead = rig_create(rig, "dead", &kept);
    box = rig_create(rig, "box", &options);
    CHECK_OK(rig_send(rig, dead, "first"));
    rig_pass(rig, 10 * S);
    CHECK_OK(rig_send(rig, box, "old"));
    rig_pass(rig, 30 * S);
    CHECK_OK(rig_send(rig, dead, "young"));
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    rig_pass(rig, S);
    CHECK_INT(0, rig_receive(rig, box, 1, S));
    CHECK_INT(3, rig_peek(rig, dead));
    CHECK_STR("first young old", rig_bodies(rig));
    CHECK_INT(41 * S, rig_counts(rig, dead).oldest_ns);
    rig_pass(rig, 19 * S);
    CHECK_INT(2, rig_peek(rig, dead));
    CHECK_INT(50 * S, rig_counts(rig, dead).oldest_ns);
    rig_pass(rig, 10 * S);
    CHECK_INT(1, rig_peek(rig, dead));
    CHECK_STR("young", rig_bodies(rig));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__AGE));
}

RIG_TEST("DEADLET-4", chains_and_circles_of_dead_letters_move_once_a_receive)
{
    const lbx_box_options to_b = dying_into("b", 1), to_c = dying_into("c", 1);
    const lbx_box_options own = dying_into("own", 1);
    lbx_box c = rig_create(rig, "c", NULL);
    lbx_box b = rig_create(rig, "b", &to_c);
    lbx_box a = rig_create(rig, "a", &to_b);
    lbx_box circle;

    CHECK_OK(rig_send(rig, a, "x"));
    CHECK_INT(1, rig_receive(rig, a, 1, 0));
    CHECK_INT(0, rig_receive(rig, a, 1, 0));
    CHECK_INT(1, rig_counts(rig, b).ready);
    CHECK_INT(1, rig_receive(rig, b, 1, 0)); // counts from its arrival on
    CHECK_STR("a", rig->got[0].source);
    CHECK_INT(0, rig_receive(rig, b, 1, 0));
    CHECK_INT(1, rig_receive(rig, c, 1, 0));
    CHECK_STR("b", rig->got[0].source);
    CHECK_INT(3, rig->got[0].deliveries);

    circle = rig_create(rig, "own", &own);
    CHECK_OK(rig_send(rig, circle, "o"));
    CHECK_INT(1, rig_receive(rig, circle, 10, 0));
    CHECK_INT(0, rig_receive(rig, circle, 10, 0)); // moved to itself, once
    CHECK_INT(1, rig_receive(rig, circle, 10, 0));
    CHECK_STR("own", rig->got[0].source);
}

/* Nothing is lost when the box of dead letters cannot take it. */
RIG_TEST("", without_a_box_for_the_dead_letters_go_on)
{
    lbx_box_options small = LBX_BOX_OPTIONS_INIT;
    const lbx_box_options options = dying_into("dead", 1);
    lbx_box box, dead;

    small.capacity_letters = 1;
    dead = rig_create(rig, "dead", &small);
    box = rig_create(rig, "box", &options);
    CHECK_OK(rig_send(rig, dead, "in the way"));
    CHECK_OK(rig_send(rig, box, "a"));
    CHECK_INT(1, rig_receive(rig, box, 1, 0));
    CHECK_INT(1, rig_receive(rig, box, 1, 0));
    CHECK_OK(rig_delete(rig, dead));
    CHECK_INT(1, rig_receive(rig, box, 1, 0));
    CHECK_INT(3, rig->got[0].deliveries);
}

RIG_TEST("", dead_letters_need_a_box_that_allows_them)
{
    lbx_box_options options = dying_into("dead", 1),
                    dead = LBX_BOX_OPTIONS_INIT;
    static const char *const only[] = {"friend"};
    lbx_box_request request = {.name = "box", .options = &options};
    lbx_box box;

    CHECK_STATUS(LBX_NOT_FOUND,
                 RIG_CALL(rig, lbx__box_admin_create(rig->rules, &request)));
    dead.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED;
    dead.dead_letter_boxes = only;
    dead.dead_letter_box_count = 1;
    box = rig_create(rig, "dead", &dead);
    CHECK_STATUS(LBX_DENIED,
                 RIG_CALL(rig, lbx__box_admin_create(rig->rules, &request)));
    request.name = "friend";
    CHECK_OK(RIG_CALL(rig, lbx__box_admin_create(rig->rules, &request)));
    dead.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_NONE;
    dead.dead_letter_box_count = 0;
    CHECK_OK(rig_configure(rig, box, &dead));
    box = rig_create(rig, "late", NULL);
    CHECK_STATUS(LBX_DENIED, rig_configure(rig, box, &options));
    options.fifo = true;
    options.dead_letters = "dead";
    request.name = "ordered";
    CHECK_STATUS(LBX_INVALID,
                 RIG_CALL(rig, lbx__box_admin_create(rig->rules, &request)));
}

/* ---- Moves ---- */

static const lbx_box home; /* each letter's own box */

static lbx_status
move(struct rig *rig, lbx_move_action what, lbx_box from, lbx_box to,
     int64_t rate, lbx_move_progress *ret)
{
    lbx_move_request request = {.action = what,
                                .from = from,
                                .to = to,
                                .letters_per_second = rate,
                                .ret = ret};

    return RIG_CALL(rig, lbx__move_apply(rig->rules, &request));
}

/* Each to where it died, though that is many boxes (SQS). */
RIG_TEST("DEADLET-4", dead_letters_move_back_to_their_own_boxes)
{
    const lbx_box_options options = dying_into("dead", 1);
    struct rig_got first;
    lbx_move_progress state = LBX_MOVE_PROGRESS_INIT;
    lbx_box dead = rig_create(rig, "dead", NULL);
    lbx_box a = rig_create(rig, "a", &options);
    lbx_box b = rig_create(rig, "b", &options);

    CHECK_OK(rig_send(rig, a, "from a"));
    CHECK_OK(rig_send(rig, b, "from b"));
    CHECK_INT(1, rig_receive(rig, a, 1, 0));
    first = rig->got[0];
    CHECK_INT(0, rig_receive(rig, a, 1, 0));
    CHECK_INT(1, rig_receive(rig, b, 1, 0));
    CHECK_INT(0, rig_receive(rig, b, 1, 0));
    CHECK_OK(move(rig, LBX_MOVE_ACTION_START, dead, home, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_RUNNING, state.phase);
    CHECK_INT(2, state.left);
    CHECK_STATUS(LBX_BUSY,
                 move(rig, LBX_MOVE_ACTION_START, dead, home, 0, NULL));
    rig_work(rig);
    CHECK_OK(move(rig, LBX_MOVE_ACTION_DESCRIBE, dead, home, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_COMPLETED, state.phase);
    CHECK_INT(2, state.moved);
    CHECK_INT(0, state.left);
    CHECK_STR("from a", rig_received(rig, a, 1, 0));
    CHECK_INT(1, rig->got[0].deliveries);
    CHECK(strcmp(first.id, rig->got[0].id) != 0);
    CHECK_STR("", rig->got[0].source);
}

/* The caller learns it at once, without reading the task. */
RIG_TEST("", letters_that_have_nowhere_to_go_back_to_are_not_begun)
{
    const lbx_box_options options = dying_into("dead", 1);
    const lbx_box_options round = dying_into("ring", 1);
    lbx_move_progress state = LBX_MOVE_PROGRESS_INIT;
    lbx_box dead = rig_create(rig, "dead", NULL);
    lbx_box a = rig_create(rig, "a", &options);
    const lbx_box_options ordered =
        lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_box ring;

    CHECK_OK(move(rig, LBX_MOVE_ACTION_START, dead, home, 0,
                  NULL)); // empty
    rig_work(rig);
    CHECK_OK(rig_send(rig, dead, "was sent here"));
    CHECK_STATUS(LBX_NOT_FOUND,
                 move(rig, LBX_MOVE_ACTION_START, dead, home, 0, NULL));
    CHECK_INT(1, rig_receive(rig, dead, 1, S)); // not ready: not examined
    CHECK_OK(move(rig, LBX_MOVE_ACTION_START, dead, home, 0, NULL));
    rig_work(rig);

    CHECK_OK(rig_send(rig, a, "died"));
    CHECK_INT(1, rig_receive(rig, a, 1, 0));
    CHECK_INT(0, rig_receive(rig, a, 1, 0));
    CHECK_OK(rig_delete(rig, a)); // where it died is gone
    CHECK_STATUS(LBX_NOT_FOUND,
                 move(rig, LBX_MOVE_ACTION_START, dead, home, 0, NULL));
    CHECK_OK(move(rig, LBX_MOVE_ACTION_DESCRIBE, dead, home, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_COMPLETED, state.phase); // the one before
    (void)rig_create(rig, "a", &ordered); // of the name, in another order
    CHECK_STATUS(LBX_INVALID,
                 move(rig, LBX_MOVE_ACTION_START, dead, home, 0, NULL));

    ring = rig_create(rig, "ring", &round); // its own dead letters
    CHECK_OK(rig_send(rig, ring, "round"));
    CHECK_INT(1, rig_receive(rig, ring, 1, 0));
    CHECK_INT(0, rig_receive(rig, ring, 1, 0));
    CHECK_STATUS(LBX_INVALID,
                 move(rig, LBX_MOVE_ACTION_START, ring, home, 0, NULL));
}

/* SQS: the caller reads the task's state. */
RIG_TEST("", an_unchecked_move_of_such_letters_fails_and_keeps_them)
{
    lbx_move_progress state = LBX_MOVE_PROGRESS_INIT;
    lbx_box dead = rig_create(rig, "dead", NULL);

    CHECK_OK(rig_send(rig, dead, "was sent here"));
    CHECK_OK(move(rig, LBX_MOVE_ACTION_START_UNCHECKED, dead, home, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_RUNNING, state.phase);
    rig_work(rig);
    CHECK_OK(move(rig, LBX_MOVE_ACTION_DESCRIBE, dead, home, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_FAILED, state.phase);
    CHECK_STATUS(LBX_NOT_FOUND, state.reason);
    CHECK_INT(0, state.moved);
    CHECK_INT(1, rig_counts(rig, dead).ready);
}

RIG_TEST("", a_slow_move_ends_with_its_last_letter)
{
    lbx_move_progress state = LBX_MOVE_PROGRESS_INIT;
    lbx_box from = rig_create(rig, "from", NULL);
    lbx_box to = rig_create(rig, "to", NULL);

    CHECK_OK(rig_send(rig, from, "x"));
    CHECK_OK(rig_send(rig, from, "y"));
    CHECK_OK(move(rig, LBX_MOVE_ACTION_START, from, to, 1, NULL));
    rig_work(rig);
    CHECK_OK(move(rig, LBX_MOVE_ACTION_DESCRIBE, from, to, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_RUNNING, state.phase);
    rig_pass(rig, S);
    rig_work(rig);
    CHECK_OK(move(rig, LBX_MOVE_ACTION_DESCRIBE, from, to, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_COMPLETED, state.phase);
    CHECK_INT(2, state.moved);
}

RIG_TEST("", a_move_keeps_its_pace_and_can_be_cancelled)
{
    lbx_move_progress state = LBX_MOVE_PROGRESS_INIT;
    int64_t due;
    lbx_box from = rig_create(rig, "from", NULL);
    lbx_box to = rig_create(rig, "to", NULL);

    for (int i = 0; i < 20; i++)
        CHECK_OK(rig_send(rig, from, "x"));
    CHECK_OK(move(rig, LBX_MOVE_ACTION_START, from, to, 4, NULL));
    rig_work(rig);
    CHECK_INT(1, rig_counts(rig, to).ready);
    rig_pass(rig, S);
    rig_work(rig);
    CHECK_INT(5, rig_counts(rig, to).ready);
    CHECK_OK(RIG_CALL(rig, lbx__background_work(rig->rules, 9, &due)));
    CHECK_INT(test_clock_now(&rig->time) + S / 4, due);
    CHECK_OK(move(rig, LBX_MOVE_ACTION_CANCEL, from, to, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_CANCELLED, state.phase);
    CHECK_STATUS(LBX_NOT_FOUND,
                 move(rig, LBX_MOVE_ACTION_CANCEL, from, to, 0, NULL));
    rig_pass(rig, S);
    rig_work(rig);
    CHECK_INT(5, rig_counts(rig, to).ready);
    CHECK_INT(15, rig_counts(rig, from).ready);
}

/* SQS: deleting the destination half-way. */
RIG_TEST("", a_move_to_a_box_that_goes_fails_and_loses_nothing)
{
    lbx_move_progress state = LBX_MOVE_PROGRESS_INIT;
    lbx_box from = rig_create(rig, "from", NULL);
    lbx_box to = rig_create(rig, "to", NULL);

    for (int i = 0; i < 3; i++)
        CHECK_OK(rig_send(rig, from, "x"));
    CHECK_OK(move(rig, LBX_MOVE_ACTION_START, from, to, 1, NULL));
    rig_work(rig);
    CHECK_OK(rig_delete(rig, to));
    rig_pass(rig, S);
    rig_work(rig);
    CHECK_OK(move(rig, LBX_MOVE_ACTION_DESCRIBE, from, to, 0, &state));
    CHECK_INT(LBX_MOVE_PHASE_FAILED, state.phase);
    CHECK_STATUS(LBX_NOT_FOUND, state.reason);
    CHECK_INT(1, state.moved);
    CHECK_INT(2, rig_counts(rig, from).ready);
    CHECK_STATUS(LBX_NOT_FOUND,
                 move(rig, LBX_MOVE_ACTION_START, from, to, 0, NULL));
}

RIG_TEST("", the_last_ten_moves_are_kept)
{
    lbx_move_progress progress = LBX_MOVE_PROGRESS_INIT;
    lbx_move_request request = {.action = LBX_MOVE_ACTION_DESCRIBE,
                                .ret = &progress};
    lbx_box to;
    uint64_t last = 0;

    request.from = rig_create(rig, "from", NULL);
    to = rig_create(rig, "to", NULL);
    for (int i = 0; i < 12; i++) {
        CHECK_OK(move(rig, LBX_MOVE_ACTION_START, request.from, to, 0, NULL));
        rig_work(rig);
    }
    CHECK_INT(10, lbx__memory_rows(rig->storage, LBX__TASKS));
    for (request.index = 0; request.index < 10; request.index++) {
        CHECK_OK(RIG_CALL(rig, lbx__move_apply(rig->rules, &request)));
        CHECK(last == 0 || progress.task < last);
        last = progress.task;
    }
    CHECK_STATUS(LBX_NOT_FOUND,
                 RIG_CALL(rig, lbx__move_apply(rig->rules, &request)));
    CHECK_OK(rig_delete(rig, request.from));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__TASKS));
}

/* More boxes than records and changes are kept for: all are written, and every
 * waiting receive is told, by an entry for all boxes. */
TEST(a_move_to_many_boxes_writes_and_announces_them_all)
{
    enum {
        MANY = 40
    };
    RIG(rig);
    const lbx_box_options options = dying_into("dead", 1);
    lbx_box dead = rig_create(rig, "dead", NULL);
    const lbx__box_change *changes;
    lbx_box boxes[MANY];
    bool all = false;
    int64_t due;

    for (int i = 0; i < MANY; i++) {
        const char name[] = {'b', (char)('0' + i / 10), (char)('0' + i % 10),
                             '\0'};

        boxes[i] = rig_create(rig, name, &options);
        CHECK_OK(rig_send(rig, boxes[i], name));
        CHECK_INT(1, rig_receive(rig, boxes[i], 1, 0));
        CHECK_INT(0, rig_receive(rig, boxes[i], 1, 0));
    }
    CHECK_INT(MANY, rig_counts(rig, dead).ready);
    CHECK_OK(move(rig, LBX_MOVE_ACTION_START, dead, home, 0, NULL));
    rig_begin(rig);
    CHECK_OK(lbx__background_work(rig->rules, 2 * MANY, &due));
    for (size_t left = lbx__box_record_take_changes(rig->rules, &changes);
         left > 0; left--)
        all |= changes[left - 1].uid == 0;
    CHECK(all);
    CHECK_OK(rig_end(rig, LBX_OK));
    CHECK_INT(0, rig_counts(rig, dead).ready);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(1, rig_counts(rig, boxes[i]).ready);
}

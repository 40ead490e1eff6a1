/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about groups, duplicates, dead letters and moves: DRIVER-3, DRIVER-7. */
#include "contract.h"

#include <stdio.h>
#include <string.h>

static lbx_box
make_fifo(struct desk *desk)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    options.fifo = true;
    return make_box(desk, "orders.fifo", &options);
}

static lbx_sent_letter
mail_to_group(struct desk *desk, lbx_box box, const char *group,
              const char *body)
{
    lbx_parcel parcel = parcel_of(body);

    parcel.group = group;
    parcel.deduplication_id = body;
    return send_parcel(desk, box, &parcel);
}

void
promise_a_group_comes_one_by_one(struct desk *desk)
{
    const lbx_box box = make_fifo(desk);
    struct taken letter;

    mail_to_group(desk, box, "g", "1");
    mail_to_group(desk, box, "g", "2");
    mail_to_group(desk, box, "g", "3");
    letter = receive(desk, box, "1");
    CHECK_STR("g", letter.group);
    receive_none(desk, box);
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    letter = receive(desk, box, "1"); // never the second before the first
    CHECK_OK(acknowledge(desk, box, &letter));
    receive(desk, box, "2");
    receive_none(desk, box);
    advance(desk, LEASE_S * LBX_SECOND);
    letter = receive(desk, box, "2");
    CHECK_OK(acknowledge(desk, box, &letter));
    letter = receive(desk, box, "3");
    CHECK_OK(acknowledge(desk, box, &letter));
}

void
promise_groups_do_not_hold_each_other_up(struct desk *desk)
{
    const lbx_box box = make_fifo(desk);

    mail_to_group(desk, box, "a", "a1");
    mail_to_group(desk, box, "a", "a2");
    mail_to_group(desk, box, "b", "b1");
    receive(desk, box, "a1");
    receive(desk, box, "b1");
    receive_none(desk, box);
}

void
promise_an_open_group_ends_a_wait(struct desk *desk)
{
    const lbx_box box = make_fifo(desk);
    struct getting mine = {.count = 0};
    struct taken letter;

    mail_to_group(desk, box, "g", "1");
    mail_to_group(desk, box, "g", "2");
    letter = receive(desk, box, "1");
    begin_wait(&mine, desk, box);
    CHECK(!is_over(&mine));
    CHECK_OK(acknowledge(desk, box, &letter));
    got(&mine, "2");
    CHECK_OK(settle(desk, box, &mine.letters[0], LBX_SETTLE_NACK, LBX_SECOND));
    begin_wait(&mine, desk, box);
    got_after(&mine, LBX_SECOND, "2");
    begin_wait(&mine, desk, box);
    advance(desk, LEASE_S * LBX_SECOND);
    got(&mine, "2");
}

void
promise_a_duplicate_is_not_there_twice(struct desk *desk)
{
    const lbx_box box = make_fifo(desk);
    const lbx_sent_letter first = mail_to_group(desk, box, "g", "1");
    struct taken letter = receive(desk, box, "1");
    lbx_sent_letter again;

    CHECK_OK(acknowledge(desk, box, &letter));
    advance(desk, 299 * LBX_SECOND);
    again = mail_to_group(desk, box, "g", "1");
    CHECK(again.duplicate);
    CHECK_STR(first.id.text, again.id.text);
    receive_none(desk, box);
    advance(desk, LBX_SECOND);
    CHECK(!mail_to_group(desk, box, "g", "1").duplicate);
    receive(desk, box, "1");
}

/* A source and its dead letters, after `most` deliveries. */
static lbx_box
make_mortal(struct desk *desk, lbx_box *ret_dead, uint32_t most)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    *ret_dead = make_box(desk, "dead", NULL);
    options.dead_letters = "dead";
    options.max_deliveries = most;
    return make_box(desk, "orders", &options);
}

void
promise_a_letter_dies_of_too_many_deliveries(struct desk *desk)
{
    lbx_box dead;
    const lbx_box box = make_mortal(desk, &dead, 2);
    const lbx_sent_letter sent = mail(desk, box, "a");
    struct taken letter;

    receive(desk, box, "a");
    advance(desk, LEASE_S * LBX_SECOND);
    letter = receive(desk, box, "a");
    CHECK_INT(2, letter.delivery_count);
    receive_none(desk, dead);
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    receive_none(desk, box);
    CHECK_INT(0, count(desk, box).leased + count(desk, box).ready);
    letter = receive(desk, dead, "a");
    CHECK_STR(sent.id.text, letter.id);
    CHECK_STR("orders", letter.source);
    CHECK_OK(acknowledge(desk, dead, &letter));
}

void
promise_a_dead_letter_ends_a_wait(struct desk *desk)
{
    lbx_box dead;
    const lbx_box box = make_mortal(desk, &dead, 1);
    struct getting mine = {.count = 0};
    struct getting other = {.count = 0};
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    begin_wait(&mine, desk, dead);
    begin_wait(&other, desk, box);
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    got(&mine, "a");
    CHECK(!is_over(&other));
    CHECK_STATUS(LBX_CANCELLED, cancel_wait(&other));
}

void
promise_letters_can_be_moved(struct desk *desk)
{
    const lbx_box from = make_box(desk, "from", NULL);
    const lbx_box to = make_box(desk, "to", NULL);
    lbx_move_request move = {
        .action = LBX_MOVE_ACTION_START, .from = from, .to = to};
    struct getting mine = {.count = 0};

    if (!desk->store->ops->move)
        return;
    begin_wait(&mine, desk, to);
    for (char c = 'a'; c <= 'z'; c++)
        mail(desk, from, (char[]){c, '\0'});
    CHECK_OK(run(desk, LBX_CALL_MOVE, &move));
    got(&mine, "a");
    move.action = LBX_MOVE_ACTION_DESCRIBE;
    do {
        advance(desk, LBX_SECOND);
        CHECK_OK(run(desk, LBX_CALL_MOVE, &move));
    } while (move.ret.phase == LBX_MOVE_PHASE_RUNNING);
    CHECK_INT(LBX_MOVE_PHASE_COMPLETED, move.ret.phase);
    CHECK_INT(26, move.ret.moved);
    receive_none(desk, from);
    for (char c = 'b'; c <= 'z'; c++)
        receive(desk, to, (char[]){c, '\0'});
}

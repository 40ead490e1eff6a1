/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about groups, duplicates, dead letters and moves: DRIVER-3,
 * DRIVER-7. */
#include "contract.h"

#include <stdio.h>
#include <string.h>

static lbx_box
make_fifo(struct trial *trial)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    options.fifo = true;
    return make_box(trial, "orders.fifo", &options);
}

static lbx_sent_letter
mail_to_group(struct trial *trial, lbx_box box, const char *group,
              const char *body)
{
    lbx_parcel parcel = parcel_of(body);

    parcel.group = group;
    parcel.deduplication_id = body;
    return send_parcel(trial, box, &parcel);
}

PROMISE(a_group_comes_one_by_one)
{
    const lbx_box fifo = make_fifo(trial);
    struct taken letter;

    mail_to_group(trial, fifo, "g", "1");
    mail_to_group(trial, fifo, "g", "2");
    mail_to_group(trial, fifo, "g", "3");
    letter = receive(trial, fifo, "1");
    CHECK_STR("g", letter.group);
    receive_none(trial, fifo);
    CHECK_OK(nack(trial, fifo, &letter, 0));
    consume(trial, fifo, "1"); // never the second before the first
    receive(trial, fifo, "2");
    receive_none(trial, fifo);
    advance(trial, LEASE_NS);
    consume(trial, fifo, "2");
    consume(trial, fifo, "3");
}

/* In a box that is not fifo, a group is a tenant: 30 leased letters that are
 * more than a tenth of all make it noisy, and the others go first. */
PROMISE(a_noisy_tenant_does_not_hold_up_a_quiet_one)
{
    lbx_parcel parcel = parcel_of("loud");

    parcel.group = "loud";
    for (int i = 0; i < 100; i++)
        send_parcel(trial, box, &parcel);
    for (int i = 0; i < 29; i++)
        CHECK_STR("loud", receive(trial, box, "loud").group);
    mail(trial, box, "first"); // without a group: a tenant of its own
    receive(trial, box, "loud");
    parcel = parcel_of("second");
    parcel.group = "quiet";
    send_parcel(trial, box, &parcel);
    receive(trial, box, "first");
    receive(trial, box, "second");
    receive(trial, box, "loud");
    CHECK_INT(69, count(trial, box).ready);
}

PROMISE(groups_do_not_hold_each_other_up)
{
    const lbx_box fifo = make_fifo(trial);

    mail_to_group(trial, fifo, "a", "a1");
    mail_to_group(trial, fifo, "a", "a2");
    mail_to_group(trial, fifo, "b", "b1");
    receive(trial, fifo, "a1");
    receive(trial, fifo, "b1");
    receive_none(trial, fifo);
}

PROMISE(an_open_group_ends_a_wait)
{
    const lbx_box fifo = make_fifo(trial);
    struct getting mine = {.count = 0};
    struct taken letter;

    mail_to_group(trial, fifo, "g", "1");
    mail_to_group(trial, fifo, "g", "2");
    letter = receive(trial, fifo, "1");
    begin_wait(&mine, trial, fifo);
    CHECK(!is_over(&mine));
    CHECK_OK(acknowledge(trial, fifo, &letter));
    got(&mine, "2");
    CHECK_OK(nack(trial, fifo, &mine.letters[0], LBX_SECOND));
    begin_wait(&mine, trial, fifo);
    got_after(&mine, LBX_SECOND, "2");
    begin_wait(&mine, trial, fifo);
    advance(trial, LEASE_NS);
    got(&mine, "2");
}

/* Nothing was ready for want of a lease, and one becomes free. */
PROMISE(a_settled_letter_lets_a_wait_have_the_next_lease)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct getting mine = {.count = 0};
    struct taken letter;
    lbx_box fifo;

    options.fifo = true;
    options.limits.max_leased = 1;
    fifo = make_box(trial, "narrow.fifo", &options);
    mail_to_group(trial, fifo, "a", "1");
    mail_to_group(trial, fifo, "b", "2");
    letter = receive(trial, fifo, "1");
    begin_wait(&mine, trial, fifo);
    CHECK(!is_over(&mine));
    CHECK_OK(acknowledge(trial, fifo, &letter));
    got(&mine, "2");
}

PROMISE(a_duplicate_is_not_there_twice)
{
    const lbx_box fifo = make_fifo(trial);
    const lbx_sent_letter first = mail_to_group(trial, fifo, "g", "1");
    lbx_sent_letter again;

    consume(trial, fifo, "1");
    advance(trial, 299 * LBX_SECOND);
    again = mail_to_group(trial, fifo, "g", "1");
    CHECK(again.duplicate);
    CHECK_STR(first.id.text, again.id.text);
    receive_none(trial, fifo);
    advance(trial, LBX_SECOND);
    CHECK(!mail_to_group(trial, fifo, "g", "1").duplicate);
    receive(trial, fifo, "1");
}

/* A source and its dead letters, after `max` deliveries. */
static lbx_box
make_mortal(struct trial *trial, lbx_box *ret_dead, uint32_t max)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    *ret_dead = make_box(trial, "dead", NULL);
    options.dead_letters = "dead";
    options.max_deliveries = max;
    return make_box(trial, "mortal", &options);
}

PROMISE(a_letter_dies_of_too_many_deliveries)
{
    lbx_box dead;
    const lbx_box mortal = make_mortal(trial, &dead, 2);
    const lbx_sent_letter sent = mail(trial, mortal, "a");
    struct taken letter;

    receive(trial, mortal, "a");
    advance(trial, LEASE_NS);
    letter = receive(trial, mortal, "a");
    CHECK_INT(2, letter.delivery_count);
    receive_none(trial, dead);
    CHECK_OK(nack(trial, mortal, &letter, 0));
    receive_none(trial, mortal);
    CHECK_INT(0, count(trial, mortal).leased + count(trial, mortal).ready);
    letter = receive(trial, dead, "a");
    CHECK_STR(sent.id.text, letter.id);
    CHECK_STR("mortal", letter.source);
    CHECK_OK(acknowledge(trial, dead, &letter));
}

PROMISE(a_dead_letter_ends_a_wait)
{
    lbx_box dead;
    const lbx_box mortal = make_mortal(trial, &dead, 1);
    struct getting mine = {.count = 0};
    struct getting other = {.count = 0};
    struct taken letter = mail_and_receive(trial, mortal, "a");

    begin_wait(&mine, trial, dead);
    begin_wait(&other, trial, mortal);
    CHECK_OK(nack(trial, mortal, &letter, 0));
    got(&mine, "a");
    CHECK(!is_over(&other));
    CHECK_STATUS(LBX_CANCELLED, cancel_wait(&other));
}

PROMISE(letters_can_be_moved)
{
    const lbx_box to = make_box(trial, "to", NULL);
    lbx_move_progress progress = LBX_MOVE_PROGRESS_INIT;
    lbx_move_request move = {.action = LBX_MOVE_ACTION_START,
                             .from = box,
                             .to = to,
                             .ret = &progress};
    struct getting mine = {.count = 0};

    if (!trial->store->ops->move)
        return;
    begin_wait(&mine, trial, to);
    mail_each(trial, box, "abcdefghijklmnopqrstuvwxyz");
    CHECK_OK(run(trial, LBX_CALL_MOVE, &move));
    got(&mine, "a");
    move.action = LBX_MOVE_ACTION_DESCRIBE;
    do {
        advance(trial, LBX_SECOND);
        CHECK_OK(run(trial, LBX_CALL_MOVE, &move));
    } while (progress.phase == LBX_MOVE_PHASE_RUNNING);
    CHECK_INT(LBX_MOVE_PHASE_COMPLETED, progress.phase);
    CHECK_INT(26, progress.moved);
    receive_none(trial, box);
    receive_each(trial, to, "bcdefghijklmnopqrstuvwxyz");
}

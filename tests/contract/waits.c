/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises about receives that wait: what ends them, in which order, and what
 * giving them up does.
 */
#include "contract.h"

#include <stdio.h>
#include <string.h>

void
promise_a_send_ends_a_wait(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};

    begin_wait(&mine, desk, box);
    CHECK(!is_over(&mine));
    mail(desk, box, "a");
    got(&mine, "a");
    CHECK_INT(1, count(desk, box).leased);
    CHECK_OK(acknowledge(desk, box, &mine.letters[0]));

    mail(desk, box, "b"); // there before: no wait
    begin_wait(&mine, desk, box);
    got(&mine, "b");
}

void
promise_a_nack_ends_a_wait(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    begin_wait(&mine, desk, box);
    CHECK(!is_over(&mine));
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    got(&mine, "a");
    CHECK_INT(2, mine.letters[0].delivery_count);
}

void
promise_an_undo_ends_a_wait(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    begin_wait(&mine, desk, box);
    CHECK_OK(undo(desk, box, &letter));
    got(&mine, "a");
}

void
promise_a_short_lease_ends_a_wait(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    begin_wait(&mine, desk, box);
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_EXTEND, 2 * LBX_SECOND));
    CHECK(!is_over(&mine));
    advance(desk, 2 * LBX_SECOND);
    got(&mine, "a");
    begin_wait(&mine, desk, box);
    got_after(&mine, LEASE_S * LBX_SECOND, "a");
    letter = mine.letters[0];
    begin_wait(&mine, desk, box);
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_EXTEND, 0));
    got(&mine, "a");
}

void
promise_the_end_of_a_delay_ends_a_wait(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting before = {.count = 0};
    struct getting after = {.count = 0};

    begin_wait(&before, desk, box);
    send_later(desk, box, "later", 9 * LBX_SECOND);
    send_later(desk, box, "sooner", 4 * LBX_SECOND);
    begin_wait(&after, desk, box);
    got_after(&before, 4 * LBX_SECOND, "sooner");
    CHECK(!is_over(&after));
    advance(desk, 5 * LBX_SECOND);
    got(&after, "later");
}

void
promise_the_end_of_a_lease_ends_a_wait(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    begin_wait(&mine, desk, box);
    advance(desk, LEASE_S * LBX_SECOND - 1);
    CHECK(!is_over(&mine));
    CHECK_OK(
        settle(desk, box, &letter, LBX_SETTLE_EXTEND, LEASE_S * LBX_SECOND));
    got_after(&mine, LEASE_S * LBX_SECOND, "a");
}

void
promise_what_is_attached_ends_a_wait(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    const lbx_box replies = make_box(desk, "replies", NULL);
    struct getting mine = {.count = 0};
    struct taken letter;
    lbx_sent_letter sent;

    letter = mail_and_receive(desk, box, "question");
    begin_wait(&mine, desk, replies);
    CHECK_OK(settle_and_send(desk, box, &letter, replies, "answer", &sent));
    got(&mine, "answer");
}

void
promise_a_wait_ends_with_the_first_letter(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};

    begin_wait_for(&mine, desk, box, LBX_MAX_BATCH, 1);
    mail(desk, box, "a");
    got(&mine, "a");
    mail(desk, box, "b");
    mail(desk, box, "c");
    begin_wait_for(&mine, desk, box, LBX_MAX_BATCH, 1);
    CHECK_OK(end_wait(&mine));
    CHECK_INT(2, mine.count); // what is there, at once
}

void
promise_a_wait_can_be_for_several(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting several = {.count = 0};
    struct getting next = {.count = 0};

    mail(desk, box, "a");
    begin_wait_for(&several, desk, box, 4, 3);
    begin_wait(&next, desk, box);
    CHECK(!is_over(&several));
    mail(desk, box, "b");
    CHECK(!is_over(&several) && !is_over(&next));
    CHECK_INT(2, count(desk, box).leased);
    mail(desk, box, "c");
    CHECK_OK(end_wait(&several));
    CHECK_INT(3, several.count);
    for (int i = 0; i < 3; i++)
        CHECK_INT('a' + i, several.letters[i].body[0]);
    CHECK(!is_over(&next));
    mail(desk, box, "d");
    got(&next, "d");
}

void
promise_a_wait_that_is_over_keeps_what_came(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};

    mail(desk, box, "a");
    begin_wait_for(&mine, desk, box, 4, 3);
    CHECK_INT(1, count(desk, box).leased); // it has begun
    CHECK_OK(cancel_wait(&mine));
    CHECK_INT(1, mine.count);
    CHECK_OK(acknowledge(desk, box, &mine.letters[0]));
}

enum {
    WAITS = 100
};

void
promise_waiting_receives_are_served_in_order(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    static struct getting waits[WAITS];
    char body[16];

    for (int i = 0; i < WAITS; i++)
        begin_wait(&waits[i], desk, box);
    for (int i = 0; i < WAITS; i++) {
        CHECK(!is_over(&waits[i]));
        snprintf(body, sizeof(body), "%d", i);
        if (i % 2) {
            mail(desk, box, body);
        } else {
            send_later(desk, box, body, LBX_SECOND);
            CHECK(!is_over(&waits[i]));
            advance(desk, LBX_SECOND);
        }
        got(&waits[i], body);
        CHECK_OK(acknowledge(desk, box, &waits[i].letters[0]));
    }
}

void
promise_a_cancelled_wait_takes_nothing(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};
    struct taken letter;

    begin_wait(&mine, desk, box);
    CHECK_STATUS(LBX_CANCELLED, cancel_wait(&mine));
    CHECK_INT(0, mine.count);
    letter = mail_and_receive(desk, box, "a");
    CHECK_INT(1, letter.delivery_count);
    begin_wait(&mine, desk, box);
    advance(desk, LEASE_S * LBX_SECOND);
    got(&mine, "a"); // after the end of one wait another can begin
}

void
promise_a_cancelled_wait_leaves_the_order(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    static struct getting waits[WAITS];
    char body[16];

    for (int i = 0; i < WAITS; i++)
        begin_wait(&waits[i], desk, box);
    for (int i = 0; i < WAITS; i += 3)
        CHECK_STATUS(LBX_CANCELLED, cancel_wait(&waits[i]));
    CHECK_STATUS(LBX_CANCELLED, cancel_wait(&waits[WAITS - 2]));
    for (int i = 0; i < WAITS; i++) {
        if (is_over(&waits[i]))
            continue;
        snprintf(body, sizeof(body), "%d", i);
        mail(desk, box, body);
        got(&waits[i], body);
    }
}

void
promise_boxes_do_not_wake_each_other(struct desk *desk)
{
    static struct getting waits[WAITS];
    lbx_box boxes[WAITS];
    char name[16];

    for (int i = 0; i < WAITS; i++) {
        snprintf(name, sizeof(name), "box-%d", i);
        boxes[i] = make_box(desk, name, NULL);
        begin_wait(&waits[i], desk, boxes[i]);
    }
    for (int i = WAITS - 1; i >= 0; i--)
        send_later(desk, boxes[i], "x", (i + 1) * LBX_SECOND);
    for (int i = 0; i < WAITS; i++) {
        advance(desk, LBX_SECOND);
        got(&waits[i], "x");
        CHECK(i + 1 == WAITS || !is_over(&waits[i + 1]));
    }
}

void
promise_a_deleted_box_ends_its_waits(struct desk *desk)
{
    lbx_box box = make_box(desk, "orders", NULL);
    const lbx_box other = make_box(desk, "other", NULL);
    struct getting first = {.count = 0};
    struct getting second = {.count = 0};
    struct getting elsewhere = {.count = 0};

    begin_wait(&first, desk, box);
    begin_wait(&second, desk, box);
    begin_wait(&elsewhere, desk, other);
    CHECK_OK(delete_box(desk, box));
    CHECK_STATUS(LBX_CLOSED, end_wait(&first));
    CHECK_STATUS(LBX_CLOSED, end_wait(&second));
    CHECK_INT(0, first.count + second.count);
    CHECK(!is_over(&elsewhere));
    begin_wait(&first, desk, box); // of the life that is over
    CHECK_STATUS(LBX_CLOSED, end_wait(&first));
    box = make_box(desk, "orders", NULL);
    begin_wait(&first, desk, box);
    mail(desk, box, "a");
    got(&first, "a");
    CHECK_STATUS(LBX_CANCELLED, cancel_wait(&elsewhere));
}

void
promise_a_wait_survives_a_purge(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine = {.count = 0};

    send_later(desk, box, "purged", LBX_SECOND);
    begin_wait(&mine, desk, box);
    CHECK_INT(1, purge(desk, box));
    advance(desk, 5 * LBX_SECOND);
    CHECK(!is_over(&mine));
    mail(desk, box, "a");
    got(&mine, "a");
}

static void
send_on(struct getting *getting)
{
    lbx_box *to = getting->context;

    if (getting->status == LBX_OK)
        mail(getting->desk, *to, getting->letters[0].body);
}

/* A chain: the end of each receive sends to the box of the next. */
void
promise_an_end_may_call_the_store(struct desk *desk)
{
    enum {
        LINKS = 20
    };
    static struct getting waits[LINKS];
    lbx_box boxes[LINKS + 1];
    char name[16];

    for (int i = 0; i <= LINKS; i++) {
        snprintf(name, sizeof(name), "box-%d", i);
        boxes[i] = make_box(desk, name, NULL);
    }
    for (int i = 0; i < LINKS; i++) {
        waits[i].then = send_on;
        waits[i].context = &boxes[i + 1];
        begin_wait(&waits[i], desk, boxes[i]);
    }
    mail(desk, boxes[0], "x");
    for (int i = 0; i < LINKS; i++)
        got(&waits[i], "x");
    receive(desk, boxes[LINKS], "x");
}

static void
cancel_other(struct getting *getting)
{
    struct getting *other = getting->context;

    if (getting->status == LBX_CLOSED && !is_over(other))
        (void)cancel_wait(other);
}

/* Both end in one step, and the end of the first gives up the second: it must
 * not wait for an end that its own thread would have to tell. */
void
promise_an_end_may_cancel_the_next(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting first = {.count = 0};
    struct getting second = {.count = 0};

    first.then = cancel_other;
    first.context = &second;
    begin_wait(&first, desk, box);
    begin_wait(&second, desk, box);
    CHECK_OK(delete_box(desk, box));
    CHECK_STATUS(LBX_CLOSED, end_wait(&first));
    CHECK_STATUS(LBX_CLOSED, end_wait(&second));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises about receives that wait: what ends them, in which order, and what
 * cancelling them does.
 */
#include "contract.h"

#include <stdio.h>
#include <string.h>

PROMISE(a_send_ends_a_wait)
{
    struct getting mine = {.count = 0};

    begin_wait(&mine, trial, box);
    CHECK(!is_over(&mine));
    mail(trial, box, "a");
    got(&mine, "a");
    CHECK_INT(1, count(trial, box).leased);
    CHECK_OK(acknowledge(trial, box, &mine.letters[0]));

    mail(trial, box, "b"); // there before: no wait
    begin_wait(&mine, trial, box);
    got(&mine, "b");
}

/* Leases the box's only letter, "a", and starts to wait for it. */
static struct taken
wait_for_leased(struct trial *trial, lbx_box box, struct getting *getting)
{
    const struct taken letter = mail_and_receive(trial, box, "a");

    *getting = (struct getting){.count = 0};
    begin_wait(getting, trial, box);
    CHECK(!is_over(getting));
    return letter;
}

PROMISE(a_nack_ends_a_wait)
{
    struct getting mine;
    struct taken letter = wait_for_leased(trial, box, &mine);

    CHECK_OK(nack(trial, box, &letter, 0));
    got(&mine, "a");
    CHECK_INT(2, mine.letters[0].delivery_count);
}

PROMISE(an_undo_ends_a_wait)
{
    struct getting mine;
    struct taken letter = wait_for_leased(trial, box, &mine);

    CHECK_OK(undo(trial, box, &letter));
    got(&mine, "a");
}

PROMISE(a_short_lease_ends_a_wait)
{
    struct getting mine;
    struct taken letter = wait_for_leased(trial, box, &mine);

    CHECK_OK(extend(trial, box, &letter, 2 * LBX_SECOND));
    CHECK(!is_over(&mine));
    advance(trial, 2 * LBX_SECOND);
    got(&mine, "a");
    begin_wait(&mine, trial, box);
    got_after(&mine, LEASE_NS, "a");
    letter = mine.letters[0];
    begin_wait(&mine, trial, box);
    CHECK_OK(extend(trial, box, &letter, 0));
    got(&mine, "a");
}

PROMISE(the_end_of_a_delay_ends_a_wait)
{
    struct getting before = {.count = 0};
    struct getting after = {.count = 0};

    begin_wait(&before, trial, box);
    send_later(trial, box, "later", 9 * LBX_SECOND);
    send_later(trial, box, "sooner", 4 * LBX_SECOND);
    begin_wait(&after, trial, box);
    got_after(&before, 4 * LBX_SECOND, "sooner");
    CHECK(!is_over(&after));
    advance(trial, 5 * LBX_SECOND);
    got(&after, "later");
}

PROMISE(the_end_of_a_lease_ends_a_wait)
{
    struct getting mine;
    struct taken letter = wait_for_leased(trial, box, &mine);

    advance(trial, LEASE_NS - 1);
    CHECK(!is_over(&mine));
    CHECK_OK(extend(trial, box, &letter, LEASE_NS));
    got_after(&mine, LEASE_NS, "a");
}

PROMISE(what_is_attached_ends_a_wait)
{
    const lbx_box replies = make_box(trial, "replies", NULL);
    struct getting mine = {.count = 0};
    lbx_sent_letter sent;
    struct taken letter = mail_and_receive(trial, box, "question");

    begin_wait(&mine, trial, replies);
    CHECK_OK(settle_and_send(trial, box, &letter, replies, "answer", &sent));
    got(&mine, "answer");
}

PROMISE(a_wait_ends_with_the_first_letter)
{
    struct getting mine = {.count = 0};

    begin_wait_for(&mine, trial, box, LBX_MAX_BATCH, 1);
    mail(trial, box, "a");
    got(&mine, "a");
    mail_each(trial, box, "bc");
    begin_wait_for(&mine, trial, box, LBX_MAX_BATCH, 1);
    CHECK_OK(end_wait(&mine));
    CHECK_INT(2, mine.count); // what is there, at once
}

PROMISE(a_wait_can_be_for_several)
{
    struct getting several = {.count = 0};
    struct getting next = {.count = 0};

    mail(trial, box, "a");
    begin_wait_for(&several, trial, box, 4, 3);
    begin_wait(&next, trial, box);
    CHECK(!is_over(&several));
    mail(trial, box, "b");
    CHECK(!is_over(&several) && !is_over(&next));
    CHECK_INT(2, count(trial, box).leased);
    mail(trial, box, "c");
    CHECK_OK(end_wait(&several));
    CHECK_INT(3, several.count);
    for (int i = 0; i < 3; i++)
        CHECK_INT('a' + i, several.letters[i].body[0]);
    CHECK(!is_over(&next));
    mail(trial, box, "d");
    got(&next, "d");
}

PROMISE(a_wait_that_is_over_keeps_what_came)
{
    struct getting mine = {.count = 0};

    mail(trial, box, "a");
    begin_wait_for(&mine, trial, box, 4, 3);
    CHECK_INT(1, count(trial, box).leased); // it has begun
    CHECK_OK(cancel_wait(&mine));
    CHECK_INT(1, mine.count);
    CHECK_OK(acknowledge(trial, box, &mine.letters[0]));
}

enum {
    WAITS = 100
};

PROMISE(waiting_receives_are_served_in_order)
{
    static struct getting waits[WAITS];
    char body[16];

    for (int i = 0; i < WAITS; i++)
        begin_wait(&waits[i], trial, box);
    for (int i = 0; i < WAITS; i++) {
        CHECK(!is_over(&waits[i]));
        snprintf(body, sizeof(body), "%d", i);
        if (i % 2) {
            mail(trial, box, body);
        } else {
            send_later(trial, box, body, LBX_SECOND);
            CHECK(!is_over(&waits[i]));
            advance(trial, LBX_SECOND);
        }
        got(&waits[i], body);
        CHECK_OK(acknowledge(trial, box, &waits[i].letters[0]));
    }
}

PROMISE(a_cancelled_wait_takes_nothing)
{
    struct getting mine = {.count = 0};
    struct taken letter;

    begin_wait(&mine, trial, box);
    CHECK_STATUS(LBX_CANCELLED, cancel_wait(&mine));
    CHECK_INT(0, mine.count);
    letter = mail_and_receive(trial, box, "a");
    CHECK_INT(1, letter.delivery_count);
    begin_wait(&mine, trial, box);
    advance(trial, LEASE_NS);
    got(&mine, "a"); // after the end of one wait another can begin
}

PROMISE(a_cancelled_wait_leaves_the_order)
{
    static struct getting waits[WAITS];
    char body[16];

    for (int i = 0; i < WAITS; i++)
        begin_wait(&waits[i], trial, box);
    for (int i = 0; i < WAITS; i += 3)
        CHECK_STATUS(LBX_CANCELLED, cancel_wait(&waits[i]));
    CHECK_STATUS(LBX_CANCELLED, cancel_wait(&waits[WAITS - 2]));
    for (int i = 0; i < WAITS; i++) {
        if (is_over(&waits[i]))
            continue;
        snprintf(body, sizeof(body), "%d", i);
        mail(trial, box, body);
        got(&waits[i], body);
    }
}

/* Makes boxes "box-0", "box-1" and so on. */
static void
make_boxes(struct trial *trial, lbx_box *ret, int n)
{
    char name[16];

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "box-%d", i);
        ret[i] = make_box(trial, name, NULL);
    }
}

PROMISE(boxes_do_not_wake_each_other)
{
    static struct getting waits[WAITS];
    lbx_box boxes[WAITS];

    make_boxes(trial, boxes, WAITS);
    for (int i = 0; i < WAITS; i++)
        begin_wait(&waits[i], trial, boxes[i]);
    for (int i = WAITS - 1; i >= 0; i--)
        send_later(trial, boxes[i], "x", (i + 1) * LBX_SECOND);
    for (int i = 0; i < WAITS; i++) {
        advance(trial, LBX_SECOND);
        got(&waits[i], "x");
        CHECK(i + 1 == WAITS || !is_over(&waits[i + 1]));
    }
}

PROMISE(a_deleted_box_ends_its_waits)
{
    const lbx_box other = make_box(trial, "other", NULL);
    struct getting first = {.count = 0};
    struct getting second = {.count = 0};
    struct getting elsewhere = {.count = 0};

    begin_wait(&first, trial, box);
    begin_wait(&second, trial, box);
    begin_wait(&elsewhere, trial, other);
    CHECK_OK(delete_box(trial, box));
    CHECK_STATUS(LBX_CLOSED, end_wait(&first));
    CHECK_STATUS(LBX_CLOSED, end_wait(&second));
    CHECK_INT(0, first.count + second.count);
    CHECK(!is_over(&elsewhere));
    begin_wait(&first, trial, box); // of the deleted incarnation
    CHECK_STATUS(LBX_CLOSED, end_wait(&first));
    box = make_box(trial, "orders", NULL);
    begin_wait(&first, trial, box);
    mail(trial, box, "a");
    got(&first, "a");
    CHECK_STATUS(LBX_CANCELLED, cancel_wait(&elsewhere));
}

PROMISE(a_wait_survives_a_purge)
{
    struct getting mine = {.count = 0};

    send_later(trial, box, "purged", LBX_SECOND);
    begin_wait(&mine, trial, box);
    CHECK_INT(1, purge(trial, box));
    advance(trial, 5 * LBX_SECOND);
    CHECK(!is_over(&mine));
    mail(trial, box, "a");
    got(&mine, "a");
}

static void
send_on(struct getting *getting)
{
    lbx_box *to = getting->context;

    if (getting->status == LBX_OK)
        mail(getting->trial, *to, getting->letters[0].body);
}

/* A chain: the end of each receive sends to the box of the next. */
PROMISE(an_end_may_call_the_store)
{
    enum {
        LINKS = 20
    };
    static struct getting waits[LINKS];
    lbx_box boxes[LINKS + 1];

    make_boxes(trial, boxes, LINKS + 1);
    for (int i = 0; i < LINKS; i++) {
        waits[i].then = send_on;
        waits[i].context = &boxes[i + 1];
        begin_wait(&waits[i], trial, boxes[i]);
    }
    mail(trial, boxes[0], "x");
    for (int i = 0; i < LINKS; i++)
        got(&waits[i], "x");
    receive(trial, boxes[LINKS], "x");
}

static void
cancel_other(struct getting *getting)
{
    struct getting *other = getting->context;

    if (getting->status == LBX_CLOSED && !is_over(other))
        (void)cancel_wait(other);
}

/* Both end in one step, and the end of the first cancels the second: it must
 * not wait for an end that its own thread would have to report. */
PROMISE(an_end_may_cancel_the_next)
{
    struct getting first = {.count = 0};
    struct getting second = {.count = 0};

    first.then = cancel_other;
    first.context = &second;
    begin_wait(&first, trial, box);
    begin_wait(&second, trial, box);
    CHECK_OK(delete_box(trial, box));
    CHECK_STATUS(LBX_CLOSED, end_wait(&first));
    CHECK_STATUS(LBX_CLOSED, end_wait(&second));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about when letters come, and in which order: DRIVER-4, DRIVER-7. */
#include "contract.h"

void
promise_nothing_is_received_from_an_empty_box(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);

    receive_none(desk, box);
    advance(desk, 99 * LBX_SECOND);
    receive_none(desk, box);
}

void
promise_a_delayed_letter_waits_until_it_is_due(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);

    send_later(desk, box, "a", 5 * LBX_SECOND);
    receive_none(desk, box);
    receive_after(desk, box, 5 * LBX_SECOND, "a");
}

void
promise_a_lease_ends_when_it_should(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    mail(desk, box, "a");
    receive(desk, box, "a");
    letter = receive_after(desk, box, LEASE_S * LBX_SECOND, "a");
    CHECK_OK(acknowledge(desk, box, &letter));
    advance(desk, 2 * LEASE_S * LBX_SECOND);
    receive_none(desk, box);
}

void
promise_a_nack_gives_back_at_once(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    CHECK_STATUS(LBX_EXPIRED, acknowledge(desk, box, &letter));
    receive(desk, box, "a");
}

void
promise_a_nack_can_wait(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 40 * LBX_SECOND));
    // Its lease is long over by then.
    receive_after(desk, box, 40 * LBX_SECOND, "a");
}

void
promise_a_lease_can_be_extended(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    for (int i = 0; i < 5; i++) {
        advance(desk, (LEASE_S - 1) * LBX_SECOND);
        CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_EXTEND,
                        LEASE_S * LBX_SECOND));
    }
    letter = receive_after(desk, box, LEASE_S * LBX_SECOND, "a");
    CHECK_INT(2, letter.delivery_count);
}

void
promise_a_lease_can_be_cut_short(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_EXTEND, LBX_SECOND));
    advance(desk, LBX_SECOND);
    letter = receive(desk, box, "a");
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_EXTEND, 0));
    receive(desk, box, "a");
}

void
promise_a_lease_of_nothing_is_over_at_once(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine;

    mail(desk, box, "a");
    CHECK_OK(receive_some(desk, box, 1, 0, &mine));
    CHECK_INT(1, mine.count);
    receive(desk, box, "a");
}

void
promise_letters_come_in_the_order_sent(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine;

    for (char c = 'a'; c <= 'z'; c++)
        mail(desk, box, (char[]){c, '\0'});
    for (char c = 'a'; c <= 'z';) {
        CHECK_OK(receive_some(desk, box, 4, LBX_SECOND, &mine));
        for (size_t i = 0; i < mine.count; i++)
            CHECK_INT(c++, mine.letters[i].body[0]);
    }
    receive_none(desk, box);
}

void
promise_what_comes_back_goes_to_the_end(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    mail(desk, box, "a");
    mail(desk, box, "b");
    mail(desk, box, "c");
    letter = receive(desk, box, "a");
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    letter = receive(desk, box, "b");
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_EXTEND, LBX_SECOND));
    advance(desk, LBX_SECOND);
    receive(desk, box, "c");
    receive(desk, box, "a");
    receive(desk, box, "b");
}

void
promise_what_comes_back_can_keep_its_place(struct desk *desk)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct taken letter;
    lbx_box box;

    options.keep_position = true;
    box = make_box(desk, "orders", &options);
    mail(desk, box, "a");
    mail(desk, box, "b");
    letter = receive(desk, box, "a");
    advance(desk, LBX_SECOND);
    mail(desk, box, "c");
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    receive(desk, box, "a");
    receive(desk, box, "b");
    receive(desk, box, "c");
}

void
promise_letters_come_in_the_order_they_are_due(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    const char *bodies[] = {"c", "a", "d", "b"};
    const int seconds[] = {3, 1, 4, 2};

    for (int i = 0; i < 4; i++)
        send_later(desk, box, bodies[i], seconds[i] * LBX_SECOND);
    advance(desk, 3 * LBX_SECOND);
    mail(desk, box, "now");
    receive(desk, box, "a");
    receive(desk, box, "b");
    receive(desk, box, "c");
    receive(desk, box, "now");
    receive_none(desk, box);
    advance(desk, LBX_SECOND);
    receive(desk, box, "d");
}

void
promise_only_so_many_are_leased(struct desk *desk)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct getting mine;
    struct taken letter;
    lbx_box box;

    options.limits.max_leased = 1;
    box = make_box(desk, "orders", &options);
    mail(desk, box, "a");
    mail(desk, box, "b");
    letter = receive(desk, box, "a");
    CHECK_STATUS(LBX_FULL, receive_some(desk, box, 1, LBX_SECOND, &mine));
    CHECK_OK(acknowledge(desk, box, &letter));
    receive(desk, box, "b");
}

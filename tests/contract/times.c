/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about when letters come, and in which order: DRIVER-4, DRIVER-7. */
#include "contract.h"

PROMISE(nothing_is_received_from_an_empty_box)
{
    receive_none(trial, box);
    advance(trial, 99 * LBX_SECOND);
    receive_none(trial, box);
}

PROMISE(a_delayed_letter_waits_until_it_is_due)
{
    send_later(trial, box, "a", 5 * LBX_SECOND);
    receive_none(trial, box);
    receive_after(trial, box, 5 * LBX_SECOND, "a");
}

PROMISE(a_lease_ends_when_it_should)
{
    struct taken letter;

    mail_and_receive(trial, box, "a");
    letter = receive_after(trial, box, LEASE_NS, "a");
    CHECK_OK(acknowledge(trial, box, &letter));
    advance(trial, 2 * LEASE_NS);
    receive_none(trial, box);
}

PROMISE(a_nack_gives_back_at_once)
{
    struct taken letter = mail_and_receive(trial, box, "a");

    CHECK_OK(nack(trial, box, &letter, 0));
    CHECK_STATUS(LBX_EXPIRED, acknowledge(trial, box, &letter));
    receive(trial, box, "a");
}

PROMISE(a_nack_can_wait)
{
    struct taken letter = mail_and_receive(trial, box, "a");

    CHECK_OK(nack(trial, box, &letter, 40 * LBX_SECOND));
    // Its lease is long over by then.
    receive_after(trial, box, 40 * LBX_SECOND, "a");
}

PROMISE(a_lease_can_be_extended)
{
    struct taken letter = mail_and_receive(trial, box, "a");

    for (int i = 0; i < 5; i++) {
        advance(trial, LEASE_NS - LBX_SECOND);
        CHECK_OK(extend(trial, box, &letter, LEASE_NS));
    }
    letter = receive_after(trial, box, LEASE_NS, "a");
    CHECK_INT(2, letter.delivery_count);
}

PROMISE(a_lease_can_be_cut_short)
{
    struct taken letter = mail_and_receive(trial, box, "a");

    CHECK_OK(extend(trial, box, &letter, LBX_SECOND));
    advance(trial, LBX_SECOND);
    letter = receive(trial, box, "a");
    CHECK_OK(extend(trial, box, &letter, 0));
    receive(trial, box, "a");
}

PROMISE(a_lease_of_nothing_is_over_at_once)
{
    struct getting mine;

    mail(trial, box, "a");
    CHECK_OK(receive_some(trial, box, 1, 0, &mine));
    CHECK_INT(1, mine.count);
    receive(trial, box, "a");
}

PROMISE(letters_come_in_the_order_sent)
{
    struct getting mine;

    mail_each(trial, box, "abcdefghijklmnopqrstuvwxyz");
    for (char c = 'a'; c <= 'z';) {
        CHECK_OK(receive_some(trial, box, 4, LBX_SECOND, &mine));
        for (size_t i = 0; i < mine.count; i++)
            CHECK_INT(c++, mine.letters[i].body[0]);
    }
    receive_none(trial, box);
}

PROMISE(what_comes_back_goes_to_the_end)
{
    struct taken letter;

    mail_each(trial, box, "abc");
    letter = receive(trial, box, "a");
    CHECK_OK(nack(trial, box, &letter, 0));
    letter = receive(trial, box, "b");
    CHECK_OK(extend(trial, box, &letter, LBX_SECOND));
    advance(trial, LBX_SECOND);
    receive_each(trial, box, "cab");
}

PROMISE(what_comes_back_can_keep_its_position)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct taken letter;

    options.keep_position = true;
    box = make_box(trial, "other", &options);
    mail_each(trial, box, "ab");
    letter = receive(trial, box, "a");
    advance(trial, LBX_SECOND);
    mail(trial, box, "c");
    CHECK_OK(nack(trial, box, &letter, 0));
    receive_each(trial, box, "abc");
}

PROMISE(letters_come_in_the_order_they_are_due)
{
    const char *bodies[] = {"c", "a", "d", "b"};
    const int seconds[] = {3, 1, 4, 2};

    for (int i = 0; i < 4; i++)
        send_later(trial, box, bodies[i], seconds[i] * LBX_SECOND);
    advance(trial, 3 * LBX_SECOND);
    mail(trial, box, "now");
    receive_each(trial, box, "abc");
    receive(trial, box, "now");
    receive_none(trial, box);
    advance(trial, LBX_SECOND);
    receive(trial, box, "d");
}

PROMISE(only_so_many_are_leased)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct getting mine;
    struct taken letter;

    options.limits.max_leased = 1;
    box = make_box(trial, "other", &options);
    mail_each(trial, box, "ab");
    letter = receive(trial, box, "a");
    CHECK_STATUS(LBX_FULL, receive_some(trial, box, 1, LBX_SECOND, &mine));
    CHECK_OK(acknowledge(trial, box, &letter));
    receive(trial, box, "b");
}

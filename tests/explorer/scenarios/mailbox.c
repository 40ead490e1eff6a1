/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes that wait for messages: every kind, without a lost wake-up (MSG-9),
 * a lost message or one too many (MSG-1), or one out of order (MSG-3).
 */
#include "explorer/scenarios/box.h"
#include "explorer/scenarios/scenarios.h"

#include "base/atomic.h"

static struct box box;

/* ---- The kinds ---- */

static void
setup_unbounded(void)
{
    box_create(&box, LBX_KIND_UNBOUNDED, NULL);
}

static void
setup_one_consumer(void)
{
    box_create(&box, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, NULL);
}

static void
setup_bounded(void)
{
    lbx_mailbox_options options = box_options();

    options.capacity_messages = 2;
    box_create(&box, LBX_KIND_BOUNDED, &options);
}

static void
setup_priority(void)
{
    lbx_mailbox_options options = box_options();

    options.envelopes = true;
    box_create(&box, LBX_KIND_UNBOUNDED_PRIORITY, &options);
}

static void
setup_control(void)
{
    lbx_mailbox_options options = box_options();

    options.envelopes = true;
    box_create(&box, LBX_KIND_UNBOUNDED_CONTROL_AWARE, &options);
}

static void
setup_deque(void)
{
    box_create(&box, LBX_KIND_UNBOUNDED_DEQUE, NULL);
}

static void
setup_drop_oldest(void)
{
    lbx_mailbox_options options = box_options();

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    box_create(&box, LBX_KIND_BOUNDED, &options);
}

static void
setup_grow(void)
{
    lbx_mailbox_options options = box_options();

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_GROW;
    box_create(&box, LBX_KIND_BOUNDED, &options);
}

static void
setup_system(void)
{
    lbx_mailbox_options options = box_options();

    options.envelopes = true;
    options.system_reservation = 1;
    box_create(&box, LBX_KIND_UNBOUNDED, &options);
}

/* ---- Threads ---- */

static void
send(void)
{
    EXPECT_OK(box_try_send(&box));
}

static void
send_2(void)
{
    send();
    send();
}

static void
send_maybe_2(void)
{
    for (int i = 0; i < 2; i++) {
        lbx_status status = box_try_send(&box);

        EXPECT(status == LBX_OK || status == LBX_FULL);
    }
}

static void
send_urgent(void)
{
    EXPECT_OK(box_try_send_envelope(&box, lbx_envelope_of(NULL, 5)));
    EXPECT_OK(box_try_send_envelope(&box, lbx_envelope_of(NULL, 1)));
}

static void
send_control(void)
{
    EXPECT_OK(box_try_send_envelope(&box, lbx_envelope_of(NULL, 5)));
    EXPECT_OK(box_try_send_envelope(&box, lbx_envelope_control(NULL, 5)));
}

static void
send_system(void)
{
    lbx_system_message watch = lbx_system_message_of(LBX_SYSTEM_CODE_WATCH);

    EXPECT_OK(
        box_try_send_envelope(&box, lbx_envelope_from_system(watch, NULL)));
}

static void
send_front(void)
{
    uint64_t message = ledger_message();

    EXPECT_OK(lbx_producer_try_send_front(box.in, (void *)(uintptr_t)message));
    ledger_sent(message);
}

static void
send_batch(void)
{
    void *messages[2];
    size_t sent;
    lbx_status status;

    for (int i = 0; i < 2; i++)
        messages[i] = (void *)(uintptr_t)ledger_message();
    status = lbx_producer_try_send_batch(box.in, messages, 2, &sent);
    EXPECT((status == LBX_OK) == (sent == 2));
    for (size_t i = 0; i < sent; i++)
        ledger_sent((uint64_t)(uintptr_t)messages[i]);
}

static void
receive(void)
{
    EXPECT_OK(box_receive(&box, LBX_FOREVER));
}

static void
receive_2(void)
{
    receive();
    receive();
}

static void
try_receive_2(void)
{
    (void)box_try_receive(&box);
    (void)box_try_receive(&box);
}

static void
receive_if_sent(void)
{
    (void)box_try_receive(&box);
}

static void
suspend_and_resume(void)
{
    lbx_mailbox *mailbox = lbx_producer_mailbox(box.in);

    EXPECT(lbx_mailbox_suspend(mailbox));
    EXPECT(lbx_mailbox_resume(mailbox));
}

static void
send_while_suspended(void)
{
    lbx_mailbox *mailbox = lbx_producer_mailbox(box.in);

    EXPECT(lbx_mailbox_suspend(mailbox));
    send();
    EXPECT(lbx_mailbox_resume(mailbox));
}

/* ---- Ends ---- */

static void
finish(void)
{
    box_finish(&box, true);
}

static void
finish_unordered(void)
{
    box_finish(&box, false);
}

const struct scenario mailbox_scenarios[] = {
    {
        .name = "mailbox/one-message",
        .setup = setup_unbounded,
        .thread = {send, receive},
        .finish = finish,
    },
    {
        .name = "mailbox/one-consumer-one-message",
        .setup = setup_one_consumer,
        .thread = {send, receive},
        .finish = finish,
        .bound = 3,
        .full_bound = 5,
    },
    {
        .name = "mailbox/bounded-one-message",
        .setup = setup_bounded,
        .thread = {send, receive},
        .finish = finish,
    },
    {
        .name = "mailbox/unbounded",
        .setup = setup_unbounded,
        .thread = {send_2, receive_2},
        .finish = finish,
        .bound = 3,
        .full_bound = 4,
    },
    {
        .name = "mailbox/two-receivers",
        .setup = setup_unbounded,
        .thread = {send_2, receive, receive},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "mailbox/two-senders",
        .setup = setup_unbounded,
        .thread = {send, send, receive_2},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "mailbox/one-is-in-a-hurry",
        .setup = setup_unbounded,
        .thread = {send_2, receive, receive_if_sent},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "mailbox/one-consumer",
        .setup = setup_one_consumer,
        .thread = {send_2, receive_2},
        .finish = finish,
        .bound = 3,
        .full_bound = 4,
    },
    {
        .name = "mailbox/one-consumer-two-senders",
        .setup = setup_one_consumer,
        .thread = {send, send, receive_2},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "mailbox/bounded",
        .setup = setup_bounded,
        .thread = {send_2, receive_2},
        .finish = finish,
        .bound = 3,
        .full_bound = 4,
    },
    {
        .name = "mailbox/bounded-refuses",
        .setup = setup_bounded,
        .thread = {send_maybe_2, send_maybe_2, try_receive_2},
        .finish = finish,
    },
    {
        .name = "mailbox/batch",
        .setup = setup_bounded,
        .thread = {send_batch, send_batch, try_receive_2},
        .finish = finish,
    },
    {
        .name = "mailbox/priority",
        .setup = setup_priority,
        .thread = {send_urgent, receive_2},
        .finish = finish_unordered,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "mailbox/control",
        .setup = setup_control,
        .thread = {send_control, receive_2},
        .finish = finish_unordered,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "mailbox/deque",
        .setup = setup_deque,
        .thread = {send, send_front, receive_2},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "mailbox/system",
        .setup = setup_system,
        .thread = {send_system, send, receive_2},
        .finish = finish,
        .bound = 1,
        .full_bound = 2,
    },
    {
        .name = "mailbox/drop-oldest",
        .setup = setup_drop_oldest,
        .thread = {send_2, try_receive_2},
        .finish = finish,
    },
    {
        .name = "mailbox/drop-oldest-two-senders",
        .setup = setup_drop_oldest,
        .thread = {send, send, try_receive_2},
        .finish = finish,
    },
    {
        .name = "mailbox/grow",
        .setup = setup_grow,
        .thread = {send_2, send, try_receive_2},
        .finish = finish,
    },
    {
        .name = "mailbox/suspend",
        .setup = setup_unbounded,
        .thread = {send, suspend_and_resume, receive},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "mailbox/sent-while-suspended",
        .setup = setup_unbounded,
        .thread = {send_while_suspended, receive},
        .finish = finish,
    },
    {
        .name = "mailbox/resume-tells-nobody",
        .bug = "a resume does not look who waits",
        .mutant = "resume-tells-nobody",
        .setup = setup_unbounded,
        .thread = {send_while_suspended, receive},
        .finish = finish,
    },
    {
        .name = "mailbox/sender-stops",
        .setup = setup_unbounded,
        .thread = {send_2, send, try_receive_2},
        .finish = finish,
        .freeze = 1 + 0,
        .bound = 1,
        .full_bound = 2,
    },
    {
        .name = "mailbox/lost-wake",
        .bug = "the system swallows a wake-up",
        .mutant = "lost-wake",
        .setup = setup_unbounded,
        .thread = {send, receive},
        .finish = finish,
    },
    {
        .name = "mailbox/losing-a-sender's-changes",
        .setup = setup_unbounded,
        .thread = {send, receive},
        .finish = finish,
        .lose = 1 + 0,
    },
    {
        .name = "mailbox/losing-a-receiver's-changes",
        .setup = setup_unbounded,
        .thread = {send, receive},
        .finish = finish,
        .lose = 1 + 1,
    },
    {0},
};

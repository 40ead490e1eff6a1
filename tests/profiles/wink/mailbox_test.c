/* SPDX-License-Identifier: Apache-2.0 */
/* Ported: WINK's test_mailbox.py (message) and its in-memory mailbox, closing
 * and parameters (docs/origins.md). */
#include "profiles/wink/wink.h"

#include "support/test.h"
#include "support/threads.h"

#include <string.h>
#include <time.h>

WINK_TEST("W-06", send_returns_an_id)
{
    lbx_id first, second;

    CHECK_OK(lbx_postbox_send(mailbox->postbox, "x", 1, &first));
    CHECK_OK(lbx_postbox_send(mailbox->postbox, "x", 1, &second));
    CHECK(first.text[0] != '\0');
    CHECK(strcmp(first.text, second.text) != 0);
}

WINK_TEST("W-07 W-10 W-33", send_and_receive)
{
    lbx_letter *letter;
    lbx_id id;

    CHECK_PTR(NULL, mailbox_receive(mailbox)); // empty at first
    CHECK_OK(lbx_postbox_send(mailbox->postbox, "hello", 5, &id));
    letter = mailbox_receive(mailbox);
    CHECK_STR("hello", lbx_letter_body(letter, NULL));
    CHECK_STR(id.text, lbx_letter_id(letter));
    CHECK_INT(1, lbx_letter_delivery_count(letter));
    CHECK_PTR(NULL, lbx_letter_routes(letter));
    CHECK_PTR(NULL, mailbox_receive(mailbox)); // invisible to others
}

WINK_TEST("W-10", enqueue_time_is_utc)
{
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;
    struct timespec now;
    lbx_letter *letter = mailbox_deliver(mailbox, "x");

    CHECK_OK(lbx_letter_info_read(letter, &facts));
    clock_gettime(CLOCK_REALTIME, &now);
    CHECK(facts.sent_ms <= (int64_t)now.tv_sec * 1000 + 999);
    CHECK(facts.sent_ms > ((int64_t)now.tv_sec - 60) * 1000);
}

WINK_TEST("W-28", reply_routes_survive_the_trip)
{
    static const lbx_routes_entry table[] = {{"t.A", "a"}};
    lbx_draft draft = lbx_draft_of_text("x");
    lbx_routes *routes;
    lbx_letter *letter;

    CHECK_OK(lbx_routes_create(table, 1, "rest", NULL, &routes));
    draft.routes = routes;
    CHECK_OK(lbx_postbox_send_draft(mailbox->postbox, &draft, NULL));
    letter = mailbox_receive(mailbox);
    CHECK_STR(lbx_routes_json(routes),
              lbx_routes_json(lbx_letter_routes(letter)));
    lbx_routes_unref(routes);
}

WINK_TEST("W-07", batch_limit_keeps_order)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letters[LBX_MAX_BATCH];
    size_t count;

    for (int i = 0; i < 5; i++)
        mailbox_send(mailbox, (const char *[]){"0", "1", "2", "3", "4"}[i]);
    options.max_letters = 3;
    CHECK_OK(
        lbx_postbox_receive_batch(mailbox->postbox, &options, letters, &count));
    CHECK_INT(3, count);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT('0' + (int)i,
                  *(const char *)lbx_letter_body(letters[i], NULL));
        lbx_letter_destroy(letters[i]);
    }
    options.max_letters = 99; // clamped, not refused (W-31)
    CHECK_OK(
        lbx_postbox_receive_batch(mailbox->postbox, &options, letters, &count));
    CHECK_INT(2, count);
    lbx_letter_destroy(letters[0]);
    lbx_letter_destroy(letters[1]);
}

WINK_TEST("W-12", acknowledge_removes)
{
    lbx_letter *letter = mailbox_deliver(mailbox, "x");

    CHECK_INT(1, mailbox_count(mailbox)); // in flight counts (W-32)
    CHECK_OK(lbx_letter_acknowledge(letter));
    CHECK(lbx_letter_is_finalized(letter));
    CHECK_INT(0, mailbox_count(mailbox));
}

WINK_TEST("W-08", the_count_follows_sends_and_acknowledgements)
{
    CHECK_INT(0, mailbox_count(mailbox));
    for (int i = 0; i < 3; i++)
        mailbox_send(mailbox, "x");
    CHECK_INT(3, mailbox_count(mailbox));
    CHECK_OK(lbx_letter_acknowledge(mailbox_receive(mailbox)));
    CHECK_INT(2, mailbox_count(mailbox));
}

WINK_TEST("W-35", settling_after_acknowledge_is_expired)
{
    lbx_letter *letter = mailbox_deliver(mailbox, "x");

    CHECK_OK(lbx_letter_acknowledge(letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_nack(letter, 0));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_extend(letter, LBX_SECOND));
}

WINK_TEST("W-12 W-33", nack_redelivers_at_the_tail)
{
    lbx_letter *first, *second, *again;

    mailbox_send(mailbox, "first");
    mailbox_send(mailbox, "second");
    first = mailbox_receive(mailbox);
    CHECK_OK(lbx_letter_nack(first, 0));
    CHECK(lbx_letter_is_finalized(first));
    second = mailbox_receive(mailbox);
    CHECK_STR("second", lbx_letter_body(second, NULL));
    again = mailbox_receive(mailbox);
    CHECK_STR("first", lbx_letter_body(again, NULL));
    CHECK_INT(2, lbx_letter_delivery_count(again));
    CHECK_STR(lbx_letter_id(first), lbx_letter_id(again));
}

WINK_TEST("W-12 W-15 W-33", nack_with_a_delay_waits)
{
    lbx_letter *letter = mailbox_deliver(mailbox, "x");

    CHECK_OK(lbx_letter_nack(letter, 10 * LBX_SECOND));
    CHECK_PTR(NULL, mailbox_receive(mailbox));
    mailbox_pass(mailbox, 10 * LBX_SECOND);
    letter = mailbox_receive(mailbox);
    CHECK_INT(2, lbx_letter_delivery_count(letter));
}

WINK_TEST("W-15 W-16 W-17 W-33", a_timeout_redelivers_with_a_fresh_receipt)
{
    char old[LBX_RECEIPT_BYTES], fresh[LBX_RECEIPT_BYTES];
    lbx_letter *letter = mailbox_deliver(mailbox, "x"), *again;

    mailbox_pass(mailbox, 30 * LBX_SECOND);
    again = mailbox_receive(mailbox);
    CHECK_INT(2, lbx_letter_delivery_count(again));
    CHECK_OK(lbx_letter_receipt(letter, old, sizeof(old)));
    CHECK_OK(lbx_letter_receipt(again, fresh, sizeof(fresh)));
    CHECK(strcmp(old, fresh) != 0);
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_nack(letter, 0));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_extend(letter, 1));
    CHECK(!lbx_letter_is_finalized(letter)); // W-35
    CHECK_OK(lbx_letter_acknowledge(again));
}

WINK_TEST("W-12 W-34", extend_counts_from_now_and_keeps_it_invisible)
{
    lbx_letter *letter = mailbox_deliver(mailbox, "x");

    mailbox_pass(mailbox, 20 * LBX_SECOND);
    CHECK_OK(lbx_letter_extend(letter, 30 * LBX_SECOND));
    CHECK(!lbx_letter_is_finalized(letter));
    mailbox_pass(mailbox, 29 * LBX_SECOND);
    CHECK_PTR(NULL, mailbox_receive(mailbox));
    CHECK_OK(lbx_letter_acknowledge(letter));
}

WINK_TEST("W-08 W-32", purge_removes_pending_and_in_flight)
{
    lbx_letter *letter;
    uint64_t purged;

    for (int i = 0; i < 5; i++)
        mailbox_send(mailbox, "x");
    letter = mailbox_receive(mailbox);
    CHECK_OK(lbx_postbox_purge(mailbox->postbox, &purged));
    CHECK_INT(5, purged);
    CHECK_INT(0, mailbox_count(mailbox));
    CHECK(lbx_letter_acknowledge(letter) != LBX_OK); // worth nothing
}

WINK_TEST_UNOPENED("W-06 W-32", a_full_mailbox_refuses)
{
    struct mailbox mailbox;
    lbx_letter *letter;

    mailbox_init(&mailbox);
    mailbox.box.capacity_letters = 2;
    mailbox_open(&mailbox);
    CHECK_INT(0, mailbox_count(&mailbox));
    mailbox_send(&mailbox, "1");
    mailbox_send(&mailbox, "2");
    letter = mailbox_receive(&mailbox); // counts all the same
    CHECK_STATUS(LBX_FULL, lbx_postbox_send(mailbox.postbox, "3", 1, NULL));
    CHECK_INT(2, mailbox_count(&mailbox));
    CHECK_OK(lbx_letter_acknowledge(letter));
    mailbox_send(&mailbox, "3");
    mailbox_close(&mailbox);
}

static void
send_later(void *context)
{
    mailbox_send(context, "came");
}

WINK_TEST("W-07 W-44 R-29", a_long_poll_ends_when_one_arrives)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letters[LBX_MAX_BATCH];
    struct thread thread;
    size_t count;

    options.max_letters = 10; // and does not wait for ten
    options.wait_ns = 3600 * LBX_SECOND;
    thread_start(&thread, send_later, mailbox);
    CHECK_OK(
        lbx_postbox_receive_batch(mailbox->postbox, &options, letters, &count));
    CHECK_INT(1, count);
    thread_join(&thread);
    lbx_letter_destroy(letters[0]);
}

WINK_TEST_UNOPENED("W-07", a_long_poll_ends_empty_after_its_wait)
{
    struct mailbox mailbox;
    lbx_letter *letter;
    int64_t start;

    mailbox_init(&mailbox);
    mailbox.store.clock = NULL; // real time, this once
    mailbox_open(&mailbox);
    start = lbx_clock_now(NULL);
    CHECK_STATUS(LBX_EMPTY,
                 lbx_postbox_receive(mailbox.postbox, 20 * LBX_MS, &letter));
    CHECK(lbx_clock_now(NULL) - start >= 20 * LBX_MS);
    mailbox_close(&mailbox);
}

static void
send_25(unsigned index, void *context)
{
    (void)index;
    for (int i = 0; i < 25; i++)
        mailbox_send(context, "x");
}

WINK_TEST("W-06", four_threads_send_and_all_arrive_once)
{
    lbx_letter *letter;
    int received = 0;

    threads_run(4, send_25, mailbox);
    while ((letter = mailbox_take(mailbox))) {
        received++;
        CHECK_OK(lbx_letter_acknowledge(letter));
        lbx_letter_destroy(letter);
    }
    CHECK_INT(100, received);
    CHECK_INT(0, mailbox_count(mailbox));
}

/* Closing (test_mailbox_factory.py). */

static void
wait_for_close(void *context)
{
    struct mailbox *mailbox = context;
    lbx_letter *letter;

    CHECK_STATUS(LBX_CLOSED, lbx_postbox_receive(mailbox->postbox,
                                                 LBX_SECOND * 3600, &letter));
}

WINK_TEST("W-09 W-37", close_wakes_blocked_receivers)
{
    struct thread thread;
    lbx_letter *letter;

    CHECK(!lbx_postbox_is_closed(mailbox->postbox));
    thread_start(&thread, wait_for_close, mailbox);
    lbx_postbox_close(mailbox->postbox); // before it waits, or while it does
    thread_join(&thread);
    CHECK(lbx_postbox_is_closed(mailbox->postbox));
    CHECK_STATUS(LBX_CLOSED, lbx_postbox_receive(mailbox->postbox, 0, &letter));
}

TEST_CITING("W-09", the_doubles_close_too)
{
    lbx_postbox *doubles[3];
    lbx_letter *letter;

    CHECK_OK(lbx_null_postbox_create(NULL, &doubles[0]));
    CHECK_OK(lbx_collecting_postbox_create(NULL, &doubles[1]));
    CHECK_OK(lbx_fake_postbox_create(NULL, &doubles[2]));
    for (int i = 0; i < 3; i++) {
        CHECK(!lbx_postbox_is_closed(doubles[i]));
        lbx_postbox_close(doubles[i]);
        CHECK(lbx_postbox_is_closed(doubles[i]));
        CHECK_STATUS(LBX_CLOSED, lbx_postbox_receive(doubles[i], 0, &letter));
        lbx_postbox_unref(doubles[i]);
    }
}

/* Parameters. */

static lbx_status
receive_with(struct mailbox *mailbox, int64_t lease_ns, int64_t wait_ns)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letter;
    size_t count;
    lbx_status status;

    options.lease_ns = lease_ns;
    options.wait_ns = wait_ns;
    status =
        lbx_postbox_receive_batch(mailbox->postbox, &options, &letter, &count);
    if (status == LBX_OK)
        lbx_letter_destroy(letter);
    return status;
}

WINK_TEST("W-31 R-33", parameters_are_checked_and_the_fake_checks_too)
{
    const int64_t max = 43200 * LBX_SECOND;
    lbx_letter *letter;

    CHECK_STATUS(LBX_INVALID, receive_with(mailbox, -1, 0));
    CHECK_STATUS(LBX_INVALID, receive_with(mailbox, max + 1, 0));
    CHECK_STATUS(LBX_INVALID, receive_with(mailbox, LBX_SECOND, -1));
    CHECK_STATUS(LBX_EMPTY, receive_with(mailbox, 0, 0));
    CHECK_STATUS(LBX_EMPTY, receive_with(mailbox, max, 0));
    mailbox_send(mailbox, "x");
    CHECK_OK(receive_with(mailbox, 0, 0)); // expires at once
    letter = mailbox_receive(mailbox);
    CHECK_INT(2, lbx_letter_delivery_count(letter));
    CHECK_STATUS(LBX_INVALID, lbx_letter_nack(letter, -1));
    CHECK_STATUS(LBX_INVALID, lbx_letter_nack(letter, max + 1));
    CHECK_STATUS(LBX_INVALID, lbx_letter_extend(letter, -1));
    CHECK_STATUS(LBX_INVALID, lbx_letter_extend(letter, max + 1));
    CHECK_OK(lbx_letter_extend(letter, max));
    CHECK_OK(lbx_letter_nack(letter, 0));
}

WINK_TEST("W-31", nack_and_extend_take_their_limits)
{
    const int64_t max = 43200 * LBX_SECOND;
    lbx_letter *letter = mailbox_deliver(mailbox, "x");

    CHECK_OK(lbx_letter_extend(letter, 0)); // its lease is over
    letter = mailbox_receive(mailbox);
    CHECK_INT(2, lbx_letter_delivery_count(letter));
    CHECK_OK(lbx_letter_nack(letter, max));
    mailbox_pass(mailbox, max - 1);
    CHECK_PTR(NULL, mailbox_receive(mailbox));
    mailbox_pass(mailbox, 1);
    letter = mailbox_receive(mailbox);
    CHECK_INT(3, lbx_letter_delivery_count(letter));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ported: the invariants that WINK demands of its durable mailbox, its stress
 * and its integration tests (docs/origins.md). */
#include "profiles/wink/wink.h"

#include "support/test.h"
#include "support/threads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEASE_S = 30 /* WINK's default */
};

static const char *
receipt_of(const lbx_letter *letter, char buffer[LBX_RECEIPT_BYTES])
{
    CHECK_OK(lbx_letter_receipt(letter, buffer, LBX_RECEIPT_BYTES));
    return buffer;
}

static void
acknowledge(lbx_letter *letter)
{
    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
}

/* Handle freshness, monotonic counts, eventual requeue of one. */
WINK_TEST("W-16 W-17 W-33", each_delivery_has_a_new_handle_and_the_next_count)
{
    enum {
        DELIVERIES = 10
    };
    char receipts[DELIVERIES][LBX_RECEIPT_BYTES];
    lbx_letter *letters[DELIVERIES];

    mailbox_send(mailbox, "x");
    for (int i = 0; i < DELIVERIES; i++) {
        letters[i] = mailbox_take(mailbox);
        CHECK_INT(i + 1, lbx_letter_delivery_count(letters[i]));
        (void)receipt_of(letters[i], receipts[i]);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(receipts[i], receipts[j]) != 0);
        if (i % 2 && i < DELIVERIES - 1) // by a nack, or by time
            CHECK_OK(lbx_letter_nack(letters[i], 0));
        else if (i < DELIVERIES - 1)
            mailbox_pass(mailbox, LEASE_S * LBX_SECOND);
    }
    for (int i = 0; i < DELIVERIES - 1; i++) { // the stale ones
        CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(letters[i]));
        CHECK_STATUS(LBX_EXPIRED, lbx_letter_nack(letters[i], 0));
        CHECK_STATUS(LBX_EXPIRED, lbx_letter_extend(letters[i], LBX_SECOND));
        lbx_letter_destroy(letters[i]);
    }
    acknowledge(letters[DELIVERIES - 1]);
    CHECK_INT(0, mailbox_count(mailbox));
}

/* Eventual requeue of many, in order; extend prevents it for one. */
WINK_TEST("W-12 W-15 W-18", all_come_back_but_the_one_that_was_extended)
{
    lbx_letter *letters[5], *again;

    for (int i = 0; i < 5; i++) {
        mailbox_send(mailbox, (const char *[]){"0", "1", "2", "3", "4"}[i]);
        letters[i] = mailbox_take(mailbox);
    }
    CHECK_OK(lbx_letter_extend(letters[2], 2 * LEASE_S * LBX_SECOND));
    mailbox_pass(mailbox, LEASE_S * LBX_SECOND);
    for (int i = 0; i < 5; i++) {
        if (i == 2)
            continue;
        again = mailbox_take(mailbox);
        CHECK_INT('0' + i, *(const char *)lbx_letter_body(again, NULL));
        acknowledge(again);
    }
    CHECK_PTR(NULL, mailbox_take(mailbox));
    CHECK_OK(lbx_letter_acknowledge(letters[2]));
    for (int i = 0; i < 5; i++)
        lbx_letter_destroy(letters[i]);
    CHECK_INT(0, mailbox_count(mailbox));
}

/* No loss: sent = acknowledged + remaining, through close and reopen. */
TEST_CITING("W-09 W-26", letters_survive_close_and_reopen)
{
#ifdef HAS_FILES
    struct mailbox mailbox;
    lbx_letter *letter;

    wink_store = WINK_FILE;
    mailbox_init(&mailbox);
    mailbox_open(&mailbox);
    for (int i = 0; i < 10; i++)
        mailbox_send(&mailbox, "x");
    for (int i = 0; i < 3; i++)
        acknowledge(mailbox_take(&mailbox));
    letter = mailbox_take(&mailbox); // in flight while it is closed
    lbx_letter_destroy(letter);
    mailbox_close(&mailbox);
    mailbox_open(&mailbox);
    CHECK_INT(7, mailbox_count(&mailbox));
    mailbox_pass(&mailbox, LEASE_S * LBX_SECOND);
    for (int i = 0; i < 7; i++)
        acknowledge(mailbox_take(&mailbox));
    CHECK_PTR(NULL, mailbox_take(&mailbox));
    mailbox_close(&mailbox);
#endif
}

WINK_TEST_UNOPENED("W-05", two_queues_are_isolated)
{
    struct mailbox one, other;

    mailbox_init(&one);
    mailbox_open(&one);
    mailbox_init(&other);
    other.store.clock = &one.clock; // one store has one clock
    if (wink_store != WINK_FAKE)
        (void)snprintf(other.url, sizeof(other.url), "%.500s-too", one.url);
    mailbox_open(&other);
    mailbox_send(&one, "x");
    CHECK_PTR(NULL, mailbox_take(&other));
    CHECK_INT(1, mailbox_count(&one));
    CHECK_INT(0, mailbox_count(&other));
    acknowledge(mailbox_take(&one));
    mailbox_close(&other);
    mailbox_close(&one);
}

/* ---- Threads ---- */

enum {
    THREADS = 4,
    EACH = 100
};

struct crowd {
    struct mailbox mailbox;
    atomic_int got[THREADS * EACH]; /* by body: how often */
    atomic_int acknowledged;
};

static void
produce(struct crowd *crowd, unsigned me)
{
    for (int i = 0; i < EACH; i++) {
        char text[16];

        (void)snprintf(text, sizeof(text), "%u", me * EACH + (unsigned)i);
        mailbox_send(&crowd->mailbox, text);
    }
}

static void
consume(struct crowd *crowd)
{
    lbx_letter *letter;

    while (atomic_load(&crowd->acknowledged) < THREADS * EACH) {
        letter = mailbox_take(&crowd->mailbox);
        if (!letter)
            continue;
        atomic_fetch_add(&crowd->got[atoi(lbx_letter_body(letter, NULL))], 1);
        acknowledge(letter);
        atomic_fetch_add(&crowd->acknowledged, 1);
    }
}

static void
work(unsigned me, void *context)
{
    if (me < THREADS)
        produce(context, me);
    else
        consume(context);
}

/* State exclusivity and stress: none is delivered to two, none is lost. */
WINK_TEST_UNOPENED("W-15 W-18", producers_and_consumers_account_for_all)
{
    static struct crowd crowd;

    mailbox_init(&crowd.mailbox);
    mailbox_open(&crowd.mailbox);
    threads_run(2 * THREADS, work, &crowd);
    for (int i = 0; i < THREADS * EACH; i++)
        CHECK_INT(1, atomic_load(&crowd.got[i]));
    CHECK_INT(0, mailbox_count(&crowd.mailbox));
    mailbox_close(&crowd.mailbox);
}

/* Stress: fifty expire at once, all return, and old handles are refused. */
WINK_TEST("W-15 W-16 W-17", fifty_expire_and_return)
{
    lbx_letter *old[50], *again;

    for (int i = 0; i < 50; i++)
        mailbox_send(mailbox, "x");
    for (int i = 0; i < 50; i++)
        old[i] = mailbox_take(mailbox);
    CHECK_PTR(NULL, mailbox_take(mailbox));
    mailbox_pass(mailbox, LEASE_S * LBX_SECOND);
    for (int i = 0; i < 50; i++) {
        again = mailbox_take(mailbox);
        CHECK_INT(2, lbx_letter_delivery_count(again));
        acknowledge(again);
    }
    for (int i = 0; i < 50; i++) {
        CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(old[i]));
        lbx_letter_destroy(old[i]);
    }
    CHECK_INT(0, mailbox_count(mailbox));
}

struct race {
    lbx_letter *letters[2];
    lbx_status ends[2];
};

static void
race(unsigned me, void *context)
{
    struct race *mine = context;

    mine->ends[me] = lbx_letter_acknowledge(mine->letters[me]);
}

/* Stress: two race to acknowledge one letter; the current handle wins. */
WINK_TEST("W-17", only_the_current_handle_wins)
{
    for (int i = 0; i < 100; i++) {
        struct race both;

        mailbox_send(mailbox, "x");
        both.letters[0] = mailbox_take(mailbox);
        mailbox_pass(mailbox, LEASE_S * LBX_SECOND);
        both.letters[1] = mailbox_take(mailbox);
        threads_run(2, race, &both);
        CHECK_STATUS(LBX_EXPIRED, both.ends[0]);
        CHECK_STATUS(LBX_OK, both.ends[1]);
        lbx_letter_destroy(both.letters[0]);
        lbx_letter_destroy(both.letters[1]);
    }
    CHECK_INT(0, mailbox_count(mailbox));
}

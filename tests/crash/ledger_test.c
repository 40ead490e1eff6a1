/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the ledger can count: workers on a store in memory come out with
 * nothing wrong, and each thing that can go wrong is found when it does.
 * Without this the zeros of the other tests would say nothing.
 */
#include "support/test.h"
#include "workers.h"

static struct workers
crew_in_memory(struct ledger *ledger)
{
    return (struct workers){
        .url = "memory:workers",
        .ledger = ledger,
        .senders = 2,
        .receivers = 3,
        .live_max = 300,
        .lease_ns = 20 * LBX_MS,
        .wait_ns = 20 * LBX_MS,
        .seed = (uint64_t)lbx_clock_now(NULL),
    };
}

/* Works, drains, and judges. */
static struct score
run(const struct workers *workers, int64_t work_ns)
{
    lbx_store *store;
    struct score score;

    // Held open in between: it is gone with its last user.
    CHECK_OK(lbx_store_open(workers->url, NULL, &store));
    CHECK_OK(workers_run(workers, work_ns));
    CHECK_OK(workers_drain(workers));
    lbx_store_unref(store);
    score = ledger_judge(workers->ledger);
    if (score.failures)
        FAIL("it answered %s", lbx_status_name(score.failure));
    return score;
}

TEST(a_store_in_memory_keeps_the_ledger_straight)
{
    struct ledger *ledger = ledger_create(100000, lbx_clock_now(NULL));
    const struct workers workers = crew_in_memory(ledger);
    const struct score score = run(&workers, test_rounds(500, 60000) * LBX_MS);

    test_note("%lu attempts, %lu operations, %lu stale receipts",
              (unsigned long)score.attempts, (unsigned long)score.operations,
              (unsigned long)score.stale);
    CHECK_INT(score.attempts, score.acks);
    CHECK(score.acks > 50 && score.stale > 5 && score.received > score.deleted);
    CHECK_INT(0, score.unknown);
    CHECK_INT(0, score.lost);
    CHECK_INT(0, score.phantom);
    CHECK_INT(0, score.duplicate);
    CHECK_INT(0, score.resurrected);
    CHECK_INT(0, score.early);
    CHECK_INT(0, score.late);
    CHECK_INT(0, score.stale_ok);
    CHECK_INT(0, score.reordered);
    ledger_destroy(ledger);
}

TEST(leases_that_were_promised_longer_are_early)
{
    struct ledger *ledger = ledger_create(100000, lbx_clock_now(NULL));
    struct workers workers = crew_in_memory(ledger);

    workers.tells_long_leases = true;
    CHECK(run(&workers, 300 * LBX_MS).early > 0);
    ledger_destroy(ledger);
}

TEST(receipts_that_work_and_should_not_are_counted)
{
    struct ledger *ledger = ledger_create(100000, lbx_clock_now(NULL));
    struct workers workers = crew_in_memory(ledger);

    workers.tells_good_as_stale = true;
    CHECK(run(&workers, 100 * LBX_MS).stale_ok > 0);
    ledger_destroy(ledger);
}

/* Event by event: the right life of a letter, and each wrong one. */

static struct ledger_event
event_of(enum ledger_what what, uint64_t number, uint32_t delivery,
         lbx_status status)
{
    return (struct ledger_event){
        .what = what,
        .number = number,
        .delivery = delivery,
        .status = status,
        .begun_ns = 10 * LBX_MS,
        .ended_ns = 11 * LBX_MS,
        .until_ns = 10 * LBX_MS,
        .id = number,
    };
}

static void
note(struct ledger *ledger, enum ledger_what what, uint64_t number,
     uint32_t delivery, lbx_status status)
{
    const struct ledger_event event = event_of(what, number, delivery, status);
    struct ledger_event read;
    char line[256];

    // By way of the text, as over a console.
    (void)ledger_print(&event, line, sizeof(line));
    CHECK(ledger_parse(line, &read));
    ledger_note(ledger, &read);
    line[3]++;
    CHECK(!ledger_parse(line, &read));
}

static struct ledger *
one_sent(void)
{
    struct ledger *ledger = ledger_create(10, 0);

    CHECK_INT(1, ledger_number(ledger));
    note(ledger, LEDGER_SEND, 1, 0, LBX_PENDING);
    note(ledger, LEDGER_SENT, 1, 0, LBX_OK);
    return ledger;
}

/* A test with a ledger in which letter 1 was sent. */
#define LEDGER_TEST(name)                                                      \
    static void name##_in(struct ledger *ledger);                              \
    TEST(name)                                                                 \
    {                                                                          \
        struct ledger *ledger = one_sent();                                    \
                                                                               \
        name##_in(ledger);                                                     \
        ledger_destroy(ledger);                                                \
    }                                                                          \
    static void name##_in(struct ledger *ledger)

LEDGER_TEST(a_letter_that_never_comes_is_lost)
{
    CHECK_INT(1, ledger_judge(ledger).lost);
    // Having been there once is not enough: it must come until it is deleted.
    note(ledger, LEDGER_RECEIVED, 1, 1, LBX_OK);
    CHECK_INT(1, ledger_judge(ledger).lost);
    note(ledger, LEDGER_DELETE, 1, 1, LBX_PENDING);
    CHECK_INT(0, ledger_judge(ledger).lost);
    note(ledger, LEDGER_DELETED, 1, 1, LBX_EXPIRED);
    CHECK_INT(1, ledger_judge(ledger).lost);
    atomic_store(&ledger->draining, 1);
    note(ledger, LEDGER_RECEIVED, 1, 2, LBX_OK);
    CHECK_INT(0, ledger_judge(ledger).lost);
}

LEDGER_TEST(a_letter_that_was_never_sent_is_a_phantom)
{
    note(ledger, LEDGER_RECEIVED, 2, 1, LBX_OK);
    CHECK_INT(1, ledger_judge(ledger).phantom);
    note(ledger, LEDGER_SEND, 3, 0, LBX_PENDING);
    note(ledger, LEDGER_SENT, 3, 0, LBX_FULL);
    note(ledger, LEDGER_RECEIVED, 3, 1, LBX_OK);
    CHECK_INT(2, ledger_judge(ledger).phantom);
    note(ledger, LEDGER_WRONG, 1, 1, LBX_OK);
    CHECK_INT(3, ledger_judge(ledger).phantom);
}

LEDGER_TEST(unknown_sends_may_come_or_not)
{
    note(ledger, LEDGER_SEND, 2, 0, LBX_PENDING);
    CHECK_INT(1, ledger_judge(ledger).unknown);
    CHECK_INT(0, ledger_judge(ledger).recovered);
    note(ledger, LEDGER_RECEIVED, 2, 1, LBX_OK);
    CHECK_INT(1, ledger_judge(ledger).recovered);
    CHECK_INT(0, ledger_judge(ledger).phantom);
}

LEDGER_TEST(deleted_letters_that_come_are_resurrected)
{
    note(ledger, LEDGER_RECEIVED, 1, 1, LBX_OK);
    note(ledger, LEDGER_DELETE, 1, 1, LBX_PENDING);
    note(ledger, LEDGER_DELETED, 1, 1, LBX_OK);
    CHECK_INT(0, ledger_judge(ledger).resurrected);
    note(ledger, LEDGER_RECEIVED, 1, 2, LBX_OK);
    CHECK_INT(1, ledger_judge(ledger).resurrected);
}

LEDGER_TEST(an_old_delivery_that_deletes_is_stale_ok)
{
    note(ledger, LEDGER_RECEIVED, 1, 1, LBX_OK);
    note(ledger, LEDGER_RECEIVED, 1, 2, LBX_OK);
    note(ledger, LEDGER_DELETE, 1, 1, LBX_PENDING);
    note(ledger, LEDGER_DELETED, 1, 1, LBX_OK);
    CHECK_INT(1, ledger_judge(ledger).stale_ok);
}

LEDGER_TEST(one_delivery_to_two_is_a_duplicate)
{
    struct ledger_event other = event_of(LEDGER_RECEIVED, 1, 2, LBX_OK);

    note(ledger, LEDGER_RECEIVED, 1, 1, LBX_OK);
    note(ledger, LEDGER_RECEIVED, 1, 1, LBX_OK);
    CHECK_INT(1, ledger_judge(ledger).duplicate);
    other.id = 99; // the same send, there twice
    ledger_note(ledger, &other);
    CHECK_INT(2, ledger_judge(ledger).duplicate);
}

LEDGER_TEST(a_letter_before_its_time_is_early_and_long_after_it_late)
{
    struct ledger_event event = event_of(LEDGER_RECEIVED, 1, 1, LBX_OK);

    event.until_ns = 5 * LBX_SECOND;
    ledger_note(ledger, &event);
    event.delivery = 2;
    event.begun_ns = LBX_SECOND;
    event.ended_ns = 5 * LBX_SECOND - LBX_MS;
    ledger_note(ledger, &event);
    CHECK_INT(1, ledger_judge(ledger).early);
    CHECK_INT(0, ledger_judge(ledger).late);
    event.delivery = 3;
    event.begun_ns = 5 * LBX_SECOND;
    event.ended_ns = 20 * LBX_SECOND;
    ledger_note(ledger, &event);
    CHECK_INT(1, ledger_judge(ledger).late);
}

LEDGER_TEST(the_second_of_a_group_before_the_first_is_reordered)
{
    struct ledger_event second = event_of(LEDGER_SEND, 2, 0, LBX_PENDING);

    second.after = 1;
    ledger_note(ledger, &second);
    note(ledger, LEDGER_SENT, 2, 0, LBX_OK);
    note(ledger, LEDGER_RECEIVED, 2, 1, LBX_OK);
    CHECK_INT(1, ledger_judge(ledger).reordered);
}

TEST(a_changed_body_is_of_no_letter)
{
    uint8_t body[LEDGER_BODY_MAX];

    for (uint64_t number = 1; number < 500; number++) {
        const size_t size = ledger_body(number, body);

        CHECK_INT(number, ledger_number_of(body, size));
        CHECK_INT(0, ledger_number_of(body, size - 1));
        body[number % size] ^= 1;
        CHECK_INT(0, ledger_number_of(body, size));
    }
}

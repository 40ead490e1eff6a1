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
        .wide = true,
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

/* One worker, step by step: so many of each kind, whatever the machine. */
static struct score
walk_wide(struct workers *workers, int steps)
{
    lbx_store *store;
    struct boxes boxes;
    struct worker worker;
    struct score score;

    workers->wide = true;
    workers->seed = 7;
    workers->wait_ns = 0;
    CHECK_OK(lbx_store_open(workers->url, NULL, &store));
    CHECK_OK(boxes_open(&boxes, workers));
    worker_init(&worker, workers, &boxes, 0);
    for (int i = 0; i < steps; i++) {
        (void)worker_send(&worker);
        (void)worker_receive(&worker);
        if (i % 16 == 4)
            worker_move(&worker);
        if (i % 16 == 8)
            worker_purge(&worker);
        if (i % 16 == 12)
            worker_use_own_box(&worker);
        if (i % 64 == 0) {
            worker_look(&worker);
            worker_sync(&worker);
        }
    }
    worker_fini(&worker);
    boxes_close(&boxes);
    CHECK_OK(workers_drain(workers));
    lbx_store_unref(store);
    score = ledger_judge(workers->ledger);
    if (score.failures)
        FAIL("it answered %s", lbx_status_name(score.failure));
    return score;
}

TEST(every_kind_of_call_is_in_the_ledger)
{
    struct ledger *ledger = ledger_create(100000, lbx_clock_now(NULL));
    struct workers workers = crew_in_memory(ledger);
    const struct score score = walk_wide(&workers, 1000);

    for (int call = CALL_SEND; call < LEDGER_CALLS; call++) {
        if (ledger->calls[call] == 0)
            FAIL("no call of kind %d", call);
    }
    CHECK(ledger->large > 0);
    CHECK_INT(0, score.lost);
    CHECK_INT(0, score.phantom);
    CHECK_INT(0, score.duplicate);
    CHECK_INT(0, score.resurrected);
    CHECK_INT(0, score.early);
    CHECK_INT(0, score.stale_ok);
    ledger_destroy(ledger);
}

TEST(purges_that_were_reported_and_not_made_are_counted)
{
    struct ledger *ledger = ledger_create(100000, lbx_clock_now(NULL));
    struct workers workers = crew_in_memory(ledger);

    workers.tells_purged = true;
    CHECK(walk_wide(&workers, 200).resurrected > 0);
    ledger_destroy(ledger);
}

TEST(letters_that_an_acknowledgement_should_have_sent_are_lost)
{
    struct ledger *ledger = ledger_create(100000, lbx_clock_now(NULL));
    struct workers workers = crew_in_memory(ledger);

    workers.drops_attached = true;
    CHECK(walk_wide(&workers, 200).lost > 0);
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

/* A clear of box 0, where letter 1 is, from `begun` to `ended`. */
static void
note_clear_of(struct ledger *ledger, enum ledger_what what, lbx_status status,
              int64_t begun, int64_t ended)
{
    struct ledger_event event = event_of(what, 0, 3, status);

    event.begun_ns = begun;
    event.ended_ns = ended;
    ledger_note(ledger, &event);
}

LEDGER_TEST(a_letter_that_comes_after_a_purge_is_resurrected)
{
    struct ledger_event event = event_of(LEDGER_RECEIVED, 1, 1, LBX_OK);

    note_clear_of(ledger, LEDGER_CLEAR, LBX_PENDING, 20 * LBX_MS, 0);
    CHECK_INT(0, ledger_judge(ledger).lost); // it may be gone already
    note_clear_of(ledger, LEDGER_CLEARED, LBX_OK, 20 * LBX_MS, 30 * LBX_MS);
    CHECK_INT(0, ledger_judge(ledger).lost);
    event.begun_ns = 25 * LBX_MS; // beside it
    event.ended_ns = event.until_ns = 35 * LBX_MS;
    ledger_note(ledger, &event);
    CHECK_INT(0, ledger_judge(ledger).resurrected);
    event.delivery = 2;
    event.begun_ns = event.ended_ns = 40 * LBX_MS;
    ledger_note(ledger, &event);
    CHECK_INT(1, ledger_judge(ledger).resurrected);
}

LEDGER_TEST(a_letter_that_is_sent_after_a_purge_can_be_lost)
{
    struct ledger_event send = event_of(LEDGER_SEND, 2, 0, LBX_PENDING);

    note_clear_of(ledger, LEDGER_CLEAR, LBX_PENDING, 20 * LBX_MS, 0);
    note_clear_of(ledger, LEDGER_CLEARED, LBX_UNKNOWN, 20 * LBX_MS,
                  30 * LBX_MS);
    send.begun_ns = 31 * LBX_MS;
    ledger_note(ledger, &send);
    send.what = LEDGER_SENT;
    send.status = LBX_OK;
    send.ended_ns = 32 * LBX_MS;
    ledger_note(ledger, &send);
    CHECK_INT(1, ledger_judge(ledger).lost);
    // One that began later, and was killed.
    note_clear_of(ledger, LEDGER_CLEAR, LBX_PENDING, 40 * LBX_MS, 0);
    CHECK_INT(0, ledger_judge(ledger).lost);
    ledger_end_clears(ledger);
    CHECK_INT(0, ledger_judge(ledger).lost);
}

/* LEDGER-3: the outcome is not known, but it is one for both. */
LEDGER_TEST(an_attached_letter_is_there_or_the_other_one_is)
{
    struct ledger_event send = event_of(LEDGER_SEND, 2, 0, LBX_PENDING);

    send.id = 1;
    note(ledger, LEDGER_RECEIVED, 1, 1, LBX_OK);
    ledger_note(ledger, &send);
    note(ledger, LEDGER_DELETE, 1, 1, LBX_PENDING);
    CHECK_INT(1, ledger_judge(ledger).lost); // neither
    note(ledger, LEDGER_RECEIVED, 2, 1, LBX_OK);
    CHECK_INT(0, ledger_judge(ledger).lost);
    CHECK_INT(0, ledger_judge(ledger).resurrected);
    atomic_store(&ledger->draining, 1);
    note(ledger, LEDGER_RECEIVED, 1, 2, LBX_OK); // both
    CHECK_INT(1, ledger_judge(ledger).resurrected);
}

TEST(a_changed_body_is_of_no_letter)
{
    static uint8_t body[LEDGER_LARGE_MAX];

    for (uint64_t number = 1; number < 520; number++) {
        const size_t size = number < 500 ? ledger_body(number, body)
                                         : ledger_large_body(number, body);

        CHECK(number < 500 || size >= LEDGER_LARGE_MIN);
        CHECK_INT(number, ledger_number_of(body, size));
        CHECK_INT(0, ledger_number_of(body, size - 1));
        body[number * 9 % size] ^= 1;
        CHECK_INT(0, ledger_number_of(body, size));
    }
}

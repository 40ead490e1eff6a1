/* SPDX-License-Identifier: Apache-2.0 */
/* The ring: exact room, order, tickets, turns, the end. */
#include "queue/fixture.h"

static lbx__ring ring;

static void
make(uint64_t capacity, unsigned words, bool many, bool gated)
{
    CHECK_OK(lbx__ring_init(&ring, capacity, words, many, gated, allocator));
}

static void
end(void)
{
    CHECK(lbx__ring_valid(&ring));
    lbx__ring_fini(&ring);
    check_nothing_allocated();
}

static int
push_as(uint64_t number, bool ahead)
{
    struct item item = item_of(number);
    size_t count = 0;
    int flags = lbx__ring_push(&ring, item.words, 1, ring.words, ahead, &count);

    CHECK_INT(flags >= 0, count);
    return flags;
}

static int
push(uint64_t number)
{
    return push_as(number, false);
}

static uint64_t
pop(void)
{
    struct item item;
    unsigned notes;

    if (lbx__ring_pop(&ring, item.words, 1, ring.words, &notes) == 0)
        return NOTHING;
    return item_number(item.words, ring.words);
}

static unsigned
pop_notes(void)
{
    struct item item;
    unsigned notes;

    CHECK_INT(1, lbx__ring_pop(&ring, item.words, 1, ring.words, &notes));
    return notes;
}

/* As many as asked for, not as many as the array has: and after each take
 * exactly one more. */
static void
holds_exactly(uint64_t capacity, bool many, bool gated)
{
    uint64_t next = 0;

    make(capacity, LBX__PAIR, many, gated);
    for (uint64_t i = 0; i < capacity; i++)
        CHECK_INT(0, push(i));
    for (uint64_t i = capacity; i < 4 * capacity + 3; i++) {
        CHECK_INT(LBX_FULL, push(99));
        CHECK_INT(i, lbx__ring_accepted(&ring));
        CHECK_INT(next, lbx__ring_taken(&ring));
        CHECK_INT(next++, pop());
        CHECK_INT(0, push(i));
    }
    CHECK_INT(LBX_FULL, push(99));
    CHECK(lbx__ring_valid(&ring));
    while (next < 4 * capacity + 3)
        CHECK_INT(next++, pop());
    CHECK_INT(NOTHING, pop());
    end();
}

TEST_CITING("RING-1 MSG-3 MSG-5", capacity_is_exact_with_one_consumer)
{
    static const uint64_t capacities[] = {1, 2, 3, 5, 1000};

    for (int i = 0; i < 5; i++) {
        holds_exactly(capacities[i], false, false);
        holds_exactly(capacities[i], false, true);
    }
}

TEST_CITING("RING-1 MSG-3 MSG-5", capacity_is_exact_with_many_consumers)
{
    static const uint64_t capacities[] = {1, 2, 3, 5, 1000};

    for (int i = 0; i < 5; i++) {
        holds_exactly(capacities[i], true, false);
        holds_exactly(capacities[i], true, true);
    }
}

TEST(ring_carries_words_and_envelopes_and_null)
{
    static const unsigned words[] = {LBX__WORD, LBX__PAIR, LBX__ENVELOPE};

    for (int i = 0; i < 3; i++) {
        make(3, words[i], false, false);
        for (uint64_t n = 0; n < 50; n++) {
            CHECK_INT(0, push(n)); // 0 is NULL
            CHECK_INT(n, pop());
        }
        end();
    }
}

static size_t
push_batch(uint64_t first, size_t count)
{
    uint64_t items[64];
    size_t done = 0;

    for (size_t i = 0; i < count; i++)
        items[i] = item_of(first + i).words[0];
    CHECK_INT(0, lbx__ring_push(&ring, items, count, LBX__WORD, false, &done));
    return done;
}

static void
pop_batch(uint64_t first, size_t most, size_t expected)
{
    uint64_t items[64];
    unsigned notes;

    CHECK_INT(expected, lbx__ring_pop(&ring, items, most, LBX__WORD, &notes));
    for (size_t i = 0; i < expected; i++)
        CHECK_INT(first + i, item_message(&items[i]));
}

/* A batch takes what room there is, and says how much that was. */
QUEUE_TEST("RING-1", batch_is_cut_to_the_room, 5, LBX__WORD, false, false)
{
    CHECK_INT(3, push_batch(0, 3));
    CHECK_INT(2, push_batch(3, 60));
    CHECK_INT(LBX_FULL, push(99));
    pop_batch(0, 60, 5);
    CHECK_INT(5, push_batch(5, 60));
    pop_batch(5, 2, 2);
    pop_batch(7, 60, 3);
    pop_batch(0, 60, 0);
}

/* One push may find less room than there is, when it last looked long ago; the
 * next finds the rest. */
static void
push_whole_batch(uint64_t first, size_t count)
{
    size_t done = 0;

    for (int i = 0; i < 2 && done < count; i++)
        done += push_batch(first + done, count - done);
    CHECK_INT(count, done);
}

TEST(batches_go_on_across_the_edge_of_the_array)
{
    for (int many = 0; many <= 1; many++) {
        make(7, LBX__WORD, many, false); // 8 slots
        for (uint64_t next = 0; next < 200; next += 5) {
            push_whole_batch(next, 5);
            pop_batch(next, 5, 5);
        }
        end();
    }
}

/* What a producer remembers of the head may be old, never wrong. */
QUEUE_TEST("RING-2 MSG-5", outdated_view_of_the_head_is_looked_up_again, 3,
           LBX__WORD, false, false)
{
    for (uint64_t i = 0; i < 30; i++) {
        CHECK_INT(0, push(i));
        CHECK_INT(i, pop());
        lbx__store(&ring.head_seen, i >= 20 ? i - 20 : 0, release);
    }
    for (uint64_t i = 0; i < 3; i++)
        CHECK_INT(0, push(i));
    lbx__store(&ring.head_seen, 5, release);
    CHECK_INT(LBX_FULL, push(3));
    CHECK_INT(30, lbx__peek(&ring.head_seen));
}

/* A slot whose message was not taken is never filled again, though the array
 * has more slots than the ring has room. */
QUEUE_TEST("RING-2", slot_is_not_filled_again_before_it_is_taken, 5,
           LBX__ENVELOPE, true, false)
{
    for (uint64_t i = 0; i < 5; i++)
        CHECK_INT(0, push(i));
    for (int i = 0; i < 20; i++)
        CHECK_INT(LBX_FULL, push(99));
    for (uint64_t i = 0; i < 5; i++)
        CHECK_INT(i, pop());
}

/* A producer that has a ticket and was stopped before it filled the slot. */
static void
waits_for_an_unfilled_ticket(bool many)
{
    struct item item = item_of(1);
    _Atomic(uint64_t) *slot;

    make(4, LBX__ENVELOPE, many, false);
    CHECK_INT(0, push(0));
    (void)lbx__add(&ring.tail, LBX__TICKET_ONE, acquire);
    CHECK_INT(0, push(2));
    CHECK_INT(3, lbx__ring_accepted(&ring));
    CHECK_INT(0, pop());
    CHECK_INT(NOTHING, pop());
    CHECK(!lbx__ring_valid(&ring)); // not quiet
    slot = lbx__ring_slot(&ring, 1, LBX__ENVELOPE);
    for (unsigned w = 0; w < LBX__ENVELOPE; w++)
        lbx__store(&slot[1 + w], item.words[w], relaxed);
    lbx__store(&slot[0], 2, release);
    CHECK_INT(1, pop());
    CHECK_INT(2, pop());
    end();
}

TEST_CITING("RING-3 MSG-3", unfilled_ticket_holds_back_later_ones)
{
    waits_for_an_unfilled_ticket(false);
    waits_for_an_unfilled_ticket(true);
}

/* The content of the round before is not taken for this round's. */
TEST_CITING("RING-3 MSG-1", stamp_of_an_earlier_round_is_not_taken)
{
    make(2, LBX__WORD, true, false);
    CHECK_INT(0, push(1));
    CHECK_INT(0, push(2));
    CHECK_INT(1, pop());
    CHECK_INT(2, pop());
    (void)lbx__add(&ring.tail, LBX__TICKET_ONE, acquire); // unfilled
    CHECK_INT(NOTHING, pop());
    CHECK_INT(2, lbx__ring_taken(&ring));
    lbx__ring_fini(&ring);
}

static void
works_from_ticket(uint64_t first, bool many, bool gated)
{
    make(3, LBX__PAIR, many, gated);
    lbx__store(&ring.tail, first << LBX__TICKET_SHIFT, seq_cst);
    lbx__store(&ring.head, first << LBX__TICKET_SHIFT, seq_cst);
    lbx__store(&ring.head_seen, first, seq_cst);
    for (uint64_t i = 0; i < 3; i++)
        CHECK_INT(0, push(i));
    for (uint64_t i = 3; i < 12; i++) {
        CHECK_INT(LBX_FULL, push(99));
        CHECK(lbx__ring_valid(&ring));
        CHECK_INT(i - 3, pop());
        CHECK_INT(0, push(i));
        CHECK_INT(first + i + 1, lbx__ring_accepted(&ring));
        CHECK_INT(first + i - 2, lbx__ring_taken(&ring));
    }
    lbx__ring_close(&ring);
    for (uint64_t i = 9; i < 12; i++)
        CHECK_INT(i, pop());
    CHECK_INT(NOTHING, pop());
    end();
}

/* Where 28, 31 and 32 bits end, and the last tickets of all. */
TEST_CITING("RING-4 MSG-8", tickets_go_on_to_the_end_of_60_bits)
{
    static const uint64_t ends[] = {(uint64_t)1 << 28, (uint64_t)1 << 31,
                                    (uint64_t)1 << 32, (uint64_t)1 << 59,
                                    ((uint64_t)1 << 60) - 12};

    for (int i = 0; i < 5; i++) {
        uint64_t first = i < 4 ? ends[i] - 5 : ends[i] - 1;

        works_from_ticket(first, false, false);
        works_from_ticket(first, false, true);
        works_from_ticket(first, true, true);
    }
}

QUEUE_TEST("RING-5", close_is_the_exact_end_of_a_ring, 3, LBX__WORD, false,
           false)
{
    CHECK_INT(0, push(0));
    CHECK_INT(0, push(1));
    lbx__ring_close(&ring);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(LBX_CLOSED, push(9));
    CHECK_INT(LBX_CLOSED, push_as(9, true));
    CHECK_INT(2, lbx__ring_accepted(&ring));
    CHECK_INT(0, pop());
    CHECK_INT(1, pop());
    CHECK_INT(NOTHING, pop());
}

QUEUE_TEST("RING-5", closed_counts_before_full_and_before_turns, 1, LBX__WORD,
           false, true)
{
    CHECK_INT(0, push(0));
    lbx__ring_raise_senders(&ring);
    CHECK_INT(LBX_FULL, push(1));
    lbx__ring_close(&ring);
    CHECK_INT(LBX_CLOSED, push(1));
    CHECK_INT(LBX_CLOSED, push_as(1, true));
    CHECK_INT(1, lbx__ring_accepted(&ring));
}

QUEUE_TEST("RING-6", pushes_see_the_flags_of_a_ring, 100, LBX__WORD, false,
           false)
{
    CHECK_INT(0, push(0));
    lbx__ring_raise(&ring, LBX__FLAG_WAITING);
    CHECK_INT(1, lbx__ring_accepted(&ring));
    CHECK_INT(LBX__FLAG_WAITING, push(1));
    lbx__ring_raise(&ring, LBX__FLAG_OBSERVED);
    CHECK_INT(2, lbx__ring_accepted(&ring));
    CHECK_INT(LBX__FLAG_WAITING | LBX__FLAG_OBSERVED, push(2));
    lbx__ring_lower(&ring, LBX__FLAG_WAITING);
    CHECK_INT(LBX__FLAG_OBSERVED, push(3));
    lbx__store(&ring.stalled, 1u, seq_cst);
    CHECK_INT(LBX__FLAG_OBSERVED | LBX__FLAG_STALLED, push(4));
    lbx__ring_lower(&ring, LBX__FLAG_OBSERVED);
    lbx__store(&ring.stalled, 0u, seq_cst);
    CHECK_INT(0, push(5));
    CHECK_INT(6, lbx__ring_accepted(&ring));
}

/* Senders that wait are served before those who come later. */
TEST_CITING("RING-6 MSG-5", gate_turns_away_whoever_has_no_turn)
{
    for (int many = 0; many <= 1; many++) {
        make(2, LBX__WORD, many, true);
        CHECK_INT(0, push(0));
        CHECK_INT(0, push(1));
        lbx__ring_raise_senders(&ring);
        CHECK_INT(0, pop());
        CHECK_INT(LBX_FULL, push(9));          // there is room, but not a turn
        CHECK_INT(0, push_as(2, true));        // its turn
        CHECK_INT(LBX_FULL, push_as(9, true)); // a turn is not room
        lbx__ring_lower_senders(&ring);
        CHECK_INT(1, pop());
        CHECK_INT(0, push(3));
        CHECK_INT(2, pop());
        CHECK_INT(3, pop());
        end();
    }
}

TEST_CITING("RING-6", pop_notes_that_senders_wait)
{
    for (int many = 0; many <= 1; many++) {
        make(8, LBX__WORD, many, true);
        for (uint64_t i = 0; i < 4; i++)
            CHECK_INT(0, push(i));
        CHECK_INT(0, pop_notes());
        lbx__ring_raise_senders(&ring);
        CHECK_INT(LBX__NOTE_SENDERS, pop_notes());
        CHECK_INT(LBX__NOTE_SENDERS, pop_notes());
        CHECK_INT(3, lbx__ring_taken(&ring));
        lbx__ring_lower_senders(&ring);
        CHECK_INT(0, pop_notes());
        end();
    }
}

QUEUE_TEST("", ring_notes_a_sample_every_256_takes, 4, LBX__WORD, false, true)
{
    unsigned samples = 0;

    lbx__ring_raise_senders(&ring);
    for (uint64_t i = 0; i < 4 * LBX__SAMPLE_EVERY; i++) {
        CHECK_INT(0, push_as(i, true));
        samples += (pop_notes() & LBX__NOTE_SAMPLE) != 0;
    }
    CHECK_INT(4, samples);
}

QUEUE_TEST("MSG-6", pushes_and_pops_of_a_ring_allocate_nothing, 5,
           LBX__ENVELOPE, true, true)
{
    CHECK_INT(1, memory.allocations);
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK_INT(0, push(i));
        CHECK_INT(i, pop());
    }
    CHECK_INT(1, memory.allocations);
}

TEST(ring_without_memory_is_not_made)
{
    memory_fails(true);
    CHECK_STATUS(LBX_NO_MEMORY,
                 lbx__ring_init(&ring, 10, LBX__WORD, false, false, allocator));
    lbx__ring_fini(&ring);
    memory_fails(false);
    CHECK_STATUS(LBX_NO_MEMORY, lbx__ring_init(&ring, INT64_MAX, LBX__WORD,
                                               false, false, allocator));
    CHECK_INT(1, memory.allocations); // it did not even ask
    lbx__ring_fini(&ring);
    check_nothing_allocated();
}

/* Negative control. */
TEST_CITING("RING-1 RING-3", ring_valid_notices_what_is_wrong)
{
    make(2, LBX__WORD, false, false);
    CHECK_INT(0, push(0));
    CHECK(lbx__ring_valid(&ring));
    lbx__store(lbx__ring_slot(&ring, 0, LBX__WORD), 7, relaxed);
    CHECK(!lbx__ring_valid(&ring)); // a wrong stamp
    lbx__store(lbx__ring_slot(&ring, 0, LBX__WORD), 1, relaxed);
    CHECK(lbx__ring_valid(&ring));
    lbx__store(&ring.tail, 3 * LBX__TICKET_ONE, relaxed);
    CHECK(!lbx__ring_valid(&ring)); // more than fits
    lbx__store(&ring.tail, 0, relaxed);
    lbx__store(&ring.head, LBX__TICKET_ONE, relaxed);
    CHECK(!lbx__ring_valid(&ring)); // more taken than accepted
    lbx__ring_fini(&ring);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets: room that is counted apart. */
#include "queue/budget.h"

#include "queue/fixture.h"

static lbx__budget budget;

static bool
take(bool ahead)
{
    uint64_t used = 0;
    bool taken = lbx__budget_take(&budget, ahead, &used);

    CHECK(!taken || used >= 1);
    return taken;
}

TEST_CITING("U1 M5", budget_grants_exactly_its_capacity)
{
    static const uint64_t capacities[] = {1, 2, 3, 5, 1000};

    for (int c = 0; c < 5; c++) {
        uint64_t used;

        lbx__budget_init(&budget, capacities[c], false);
        for (uint64_t i = 0; i < capacities[c]; i++) {
            CHECK(lbx__budget_take(&budget, false, &used));
            CHECK_INT(i + 1, used);
            CHECK_INT(i + 1, lbx__budget_used(&budget));
        }
        CHECK(!take(false));
        CHECK(!take(true)); // a turn is not room
        CHECK(!lbx__budget_give(&budget, 1));
        CHECK(take(false));
        CHECK(!take(false));
        CHECK_INT(capacities[c], lbx__budget_used(&budget));
    }
}

TEST_CITING("U1", room_of_a_batch_is_given_back_at_once)
{
    lbx__budget_init(&budget, 4, false);
    for (int i = 0; i < 4; i++)
        CHECK(take(false));
    CHECK(!lbx__budget_give(&budget, 3));
    CHECK_INT(1, lbx__budget_used(&budget));
    for (int i = 0; i < 3; i++)
        CHECK(take(false));
    CHECK(!take(false));
    CHECK(!lbx__budget_give(&budget, 4));
    CHECK_INT(0, lbx__budget_used(&budget));
}

/* While senders wait, room goes to them and not to whoever passes by. */
TEST_CITING("U2", whoever_has_no_turn_takes_no_room_while_senders_wait)
{
    lbx__budget_init(&budget, 3, false);
    for (int i = 0; i < 3; i++)
        CHECK(take(false));
    lbx__budget_raise_senders(&budget);
    CHECK_INT(3, lbx__budget_used(&budget));
    CHECK(lbx__budget_give(&budget, 2)); // it is told
    CHECK(!take(false));
    CHECK(take(true));
    CHECK_INT(2, lbx__budget_used(&budget));
    CHECK(lbx__budget_give(&budget, 1));
    lbx__budget_lower_senders(&budget);
    CHECK_INT(1, lbx__budget_used(&budget));
    CHECK(!lbx__budget_give(&budget, 1));
    CHECK(take(false));
}

/* Taking room may go past the capacity; growing makes up for it. */
TEST_CITING("U1", growing_budget_doubles_until_it_fits)
{
    uint64_t used;

    lbx__budget_init(&budget, 3, true);
    for (uint64_t i = 1; i <= 100; i++) {
        uint64_t grown;

        CHECK(lbx__budget_take(&budget, false, &used));
        CHECK_INT(i, used);
        grown = lbx__budget_grow(&budget, used);
        CHECK_INT(i == 4    ? 6
                  : i == 7  ? 12
                  : i == 13 ? 24
                  : i == 25 ? 48
                  : i == 49 ? 96
                  : i == 97 ? 192
                            : 0,
                  grown);
    }
    CHECK_INT(384, lbx__budget_grow(&budget, 200));
    CHECK_INT(6144, lbx__budget_grow(&budget, 4000)); // several steps at once
    CHECK_INT(0, lbx__budget_grow(&budget, 6144));
    CHECK(!lbx__budget_give(&budget, 100));
    CHECK_INT(6144, lbx__peek(&budget.capacity)); // it stays grown
}

/* Near the end of the 60 bits that a count has. */
TEST_CITING("M8", budget_counts_to_the_end_of_60_bits)
{
    uint64_t large = ((uint64_t)1 << 60) - 1;
    uint64_t used;

    lbx__budget_init(&budget, large, false);
    lbx__store(&budget.used, (large - 1) << LBX__TICKET_SHIFT, seq_cst);
    CHECK(lbx__budget_take(&budget, false, &used));
    CHECK_INT(large, used);
    CHECK(!take(false));
    lbx__budget_raise_senders(&budget);
    CHECK_INT(large, lbx__budget_used(&budget));
    CHECK(lbx__budget_give(&budget, 1));
    CHECK_INT(large - 1, lbx__budget_used(&budget));
}

/* ---- Threads ---- */

static _Atomic(uint64_t) in_use;

static void
take_and_give(unsigned index, void *context)
{
    (void)index;
    (void)context;
    for (int i = 0; i < 10000; i++) {
        if (!take(false))
            continue;
        CHECK(lbx__add(&in_use, 1, seq_cst) < 2);
        (void)lbx__sub(&in_use, 1, seq_cst);
        (void)lbx__budget_give(&budget, 1);
    }
}

TEST_CITING("U1 M5", budget_is_never_overdrawn)
{
    lbx__budget_init(&budget, 2, false);
    threads_run(4, take_and_give, NULL);
    CHECK_INT(0, lbx__budget_used(&budget));
    CHECK(take(false));
    CHECK(take(false));
    CHECK(!take(false));
}

static _Atomic(uint64_t) growths;

static void
take_and_grow(unsigned index, void *context)
{
    (void)index;
    (void)context;
    for (int i = 0; i < 5000; i++) {
        uint64_t used;

        CHECK(lbx__budget_take(&budget, false, &used));
        if (lbx__budget_grow(&budget, used) != 0)
            (void)lbx__add(&growths, 1, seq_cst);
    }
}

TEST_CITING("U1", growing_budget_counts_every_taker)
{
    lbx__budget_init(&budget, 1, true);
    threads_run(4, take_and_grow, NULL);
    CHECK_INT(20000, lbx__budget_used(&budget));
    CHECK_INT(32768, lbx__peek(&budget.capacity));
    CHECK(growths >= 1 && growths <= 15);
}

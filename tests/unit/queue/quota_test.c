/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets: room that is counted apart. */
#include "queue/quota.h"

#include "queue/fixture.h"

static lbx__quota quota;

static bool
take(bool ahead)
{
    uint64_t used = 0;
    bool taken = lbx__quota_take(&quota, ahead, &used);

    CHECK(!taken || used >= 1);
    return taken;
}

TEST_CITING("QUOTA-1 MSG-5", budget_grants_exactly_its_capacity)
{
    static const uint64_t capacities[] = {1, 2, 3, 5, 1000};

    for (int c = 0; c < 5; c++) {
        uint64_t used;

        lbx__quota_init(&quota, capacities[c], false);
        for (uint64_t i = 0; i < capacities[c]; i++) {
            CHECK(lbx__quota_take(&quota, false, &used));
            CHECK_INT(i + 1, used);
            CHECK_INT(i + 1, lbx__quota_used(&quota));
        }
        CHECK(!take(false));
        CHECK(!take(true)); // a turn is not room
        CHECK(!lbx__quota_give(&quota, 1));
        CHECK(take(false));
        CHECK(!take(false));
        CHECK_INT(capacities[c], lbx__quota_used(&quota));
    }
}

TEST_CITING("QUOTA-1", room_of_a_batch_is_given_back_at_once)
{
    lbx__quota_init(&quota, 4, false);
    for (int i = 0; i < 4; i++)
        CHECK(take(false));
    CHECK(!lbx__quota_give(&quota, 3));
    CHECK_INT(1, lbx__quota_used(&quota));
    for (int i = 0; i < 3; i++)
        CHECK(take(false));
    CHECK(!take(false));
    CHECK(!lbx__quota_give(&quota, 4));
    CHECK_INT(0, lbx__quota_used(&quota));
}

/* While senders wait, capacity goes to them and not to a later sender. */
TEST_CITING("QUOTA-2", whoever_has_no_turn_takes_no_room_while_senders_wait)
{
    lbx__quota_init(&quota, 3, false);
    for (int i = 0; i < 3; i++)
        CHECK(take(false));
    lbx__quota_raise_senders(&quota);
    CHECK_INT(3, lbx__quota_used(&quota));
    CHECK(lbx__quota_give(&quota, 2)); // it is told
    CHECK(!take(false));
    CHECK(take(true));
    CHECK_INT(2, lbx__quota_used(&quota));
    CHECK(lbx__quota_give(&quota, 1));
    lbx__quota_lower_senders(&quota);
    CHECK_INT(1, lbx__quota_used(&quota));
    CHECK(!lbx__quota_give(&quota, 1));
    CHECK(take(false));
}

/* Taking room may go past the capacity; growing makes up for it. */
TEST_CITING("QUOTA-1", growing_budget_doubles_until_it_fits)
{
    uint64_t used;

    lbx__quota_init(&quota, 3, true);
    for (uint64_t i = 1; i <= 100; i++) {
        uint64_t grown;

        CHECK(lbx__quota_take(&quota, false, &used));
        CHECK_INT(i, used);
        grown = lbx__quota_grow(&quota, used);
        CHECK_INT(i == 4    ? 6
                  : i == 7  ? 12
                  : i == 13 ? 24
                  : i == 25 ? 48
                  : i == 49 ? 96
                  : i == 97 ? 192
                            : 0,
                  grown);
    }
    CHECK_INT(384, lbx__quota_grow(&quota, 200));
    CHECK_INT(6144, lbx__quota_grow(&quota, 4000)); // several steps at once
    CHECK_INT(0, lbx__quota_grow(&quota, 6144));
    CHECK(!lbx__quota_give(&quota, 100));
    CHECK_INT(6144, lbx__peek(&quota.capacity)); // it stays grown
}

/* Near the end of the 60 bits that a count has. */
TEST_CITING("MSG-8", budget_counts_to_the_end_of_60_bits)
{
    uint64_t large = ((uint64_t)1 << 60) - 1;
    uint64_t used;

    lbx__quota_init(&quota, large, false);
    lbx__store(&quota.used, (large - 1) << LBX__TICKET_SHIFT, seq_cst);
    CHECK(lbx__quota_take(&quota, false, &used));
    CHECK_INT(large, used);
    CHECK(!take(false));
    lbx__quota_raise_senders(&quota);
    CHECK_INT(large, lbx__quota_used(&quota));
    CHECK(lbx__quota_give(&quota, 1));
    CHECK_INT(large - 1, lbx__quota_used(&quota));
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
        (void)lbx__quota_give(&quota, 1);
    }
}

TEST_CITING("QUOTA-1 MSG-5", budget_is_never_overdrawn)
{
    lbx__quota_init(&quota, 2, false);
    threads_run(4, take_and_give, NULL);
    CHECK_INT(0, lbx__quota_used(&quota));
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

        CHECK(lbx__quota_take(&quota, false, &used));
        if (lbx__quota_grow(&quota, used) != 0)
            (void)lbx__add(&growths, 1, seq_cst);
    }
}

TEST_CITING("QUOTA-1", growing_budget_counts_every_taker)
{
    lbx__quota_init(&quota, 1, true);
    threads_run(4, take_and_grow, NULL);
    CHECK_INT(20000, lbx__quota_used(&quota));
    CHECK_INT(32768, lbx__peek(&quota.capacity));
    CHECK(growths >= 1 && growths <= 15);
}

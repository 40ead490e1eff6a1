/* SPDX-License-Identifier: Apache-2.0 */
/* The deque: a circle that grows and shrinks. */
#include "queue/deque.h"

#include "queue/fixture.h"

static void *deque;

static void
make(const lbx_allocator *with)
{
    CHECK_OK(lbx__deque_create(with, &deque));
}

static void
end(void)
{
    lbx__deque_destroy(deque);
    check_nothing_allocated();
}

static lbx_status
push(uint64_t number, bool front)
{
    lbx_envelope envelope = lbx_envelope_of((void *)(uintptr_t)number, 3);

    return front ? lbx__deque_push_front(deque, &envelope)
                 : lbx__deque_push(deque, &envelope);
}

static uint64_t
pop(void)
{
    lbx_envelope envelope;

    if (!lbx__deque_pop(deque, &envelope))
        return NOTHING;
    CHECK_INT(3, envelope.priority);
    return (uint64_t)(uintptr_t)envelope.message;
}

static void
push_range(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        CHECK_OK(push(i, false));
}

static void
check_pops(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        CHECK_INT(i, pop());
}

QUEUE_TEST("MSG-3", deque_is_first_in_first_out_while_it_grows, allocator)
{
    CHECK_INT(NOTHING, pop());
    push_range(0, 1000);
    check_pops(0, 1000);
    CHECK_INT(NOTHING, pop());
}

QUEUE_TEST("", what_is_put_in_front_leaves_first, allocator)
{
    CHECK_OK(push(10, true));
    CHECK_OK(push(11, false));
    CHECK_OK(push(9, true));
    CHECK_OK(push(12, false));
    CHECK_OK(push(8, true));
    check_pops(8, 13);
    CHECK_INT(NOTHING, pop());
}

/* Front and back meet at every place of the circle, also while it grows. */
TEST(fronts_are_a_stack_across_the_edge)
{
    for (uint64_t lead = 0; lead < 20; lead++) {
        make(allocator);
        push_range(0, lead);
        check_pops(0, lead);
        for (uint64_t i = 0; i < 40; i++) {
            CHECK_OK(push(40 + i, false));
            CHECK_OK(push(39 - i, true));
        }
        check_pops(0, 80);
        CHECK_INT(NOTHING, pop());
        end();
    }
}

/* Doubles when full, halves when three quarters are unused. */
QUEUE_TEST("", circle_doubles_and_halves, allocator)
{
    size_t bare;

    bare = memory.live_bytes;
    push_range(0, 16);
    CHECK_INT(bare + 16 * sizeof(lbx_envelope), memory.live_bytes);
    push_range(16, 17);
    CHECK_INT(bare + 32 * sizeof(lbx_envelope), memory.live_bytes);
    push_range(17, 65);
    CHECK_INT(bare + 128 * sizeof(lbx_envelope), memory.live_bytes);
    check_pops(0, 32);
    CHECK_INT(bare + 128 * sizeof(lbx_envelope), memory.live_bytes);
    check_pops(32, 33); // 32 of 128 left
    CHECK_INT(bare + 64 * sizeof(lbx_envelope), memory.live_bytes);
    check_pops(33, 65);
    CHECK_INT(bare + 16 * sizeof(lbx_envelope), memory.live_bytes);
}

/* A few more or fewer at a border do not move everything each time. */
TEST_CITING("MSG-6", circle_does_not_flutter_at_a_border)
{
    long before;

    make(allocator);
    push_range(0, 33); // just doubled to 64
    before = memory.allocations;
    for (uint64_t i = 0; i < 100; i++) {
        CHECK_INT(i, pop());
        CHECK_INT(i + 1, pop());
        CHECK_OK(push(i + 1, true));
        CHECK_OK(push(33 + i, false));
    }
    CHECK_INT(before, memory.allocations);
    check_pops(100, 133);
    end();
}

QUEUE_TEST("", deque_that_cannot_shrink_keeps_its_circle, allocator)
{
    push_range(0, 100);
    memory_fails(true);
    check_pops(0, 100);
    CHECK_INT(NOTHING, pop());
    CHECK_OK(push(1, false)); // there is still room
    CHECK_INT(1, pop());
}

QUEUE_TEST("MSG-5", deque_that_cannot_grow_leaves_no_trace, allocator)
{
    push_range(0, 16);
    memory_fails(true);
    CHECK_STATUS(LBX_NO_MEMORY, push(99, false));
    CHECK_STATUS(LBX_NO_MEMORY, push(99, true));
    check_pops(0, 16);
    CHECK_INT(NOTHING, pop());
}

static void
use_under_torture(struct torture *tortured, void *context)
{
    lbx_allocator draws = torture_allocator(tortured);
    uint64_t count = 0;

    (void)context;
    if (lbx__deque_create(&draws, &deque) != LBX_OK)
        return;
    for (int i = 0; i < 70; i++)
        count += push(count, false) == LBX_OK;
    check_pops(0, count);
    CHECK_INT(NOTHING, pop());
    lbx__deque_destroy(deque);
}

TEST_CITING("MSG-1", deque_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(use_under_torture, NULL) >= 5);
}

TEST_CITING("MSG-7", what_is_left_in_a_deque_is_freed_with_it)
{
    make(allocator);
    end();
    make(allocator);
    push_range(0, 50);
    end();
}

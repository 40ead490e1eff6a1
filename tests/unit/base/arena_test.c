/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas that are counted together; their limits are in settings. */
#include "base/arena.h"
#include "support/test.h"
#include "support/torture.h"

/* ARENA-1: no more and no less than what the allocator has given. */
TEST(arenas_are_counted_until_they_are_freed)
{
    TORTURE(memory, allocator);
    _Atomic(uint64_t) held_bytes = 0;
    lbx__arena one, other;

    lbx__arena_init(&one, &allocator, 1 << 20);
    lbx__arena_init(&other, &allocator, 1 << 20);
    lbx__arena_count(&one, &held_bytes);
    lbx__arena_count(&other, &held_bytes);
    CHECK(lbx__arena_take(&one, 10));
    CHECK(lbx__arena_take(&other, 10));
    CHECK(lbx__arena_take(&one, 100000));
    CHECK(!lbx__arena_take(&one, 1 << 20));
    CHECK(held_bytes > 100000);
    CHECK_INT(memory.live_bytes, (int64_t)held_bytes);
    lbx__arena_fini(&one);
    CHECK(held_bytes > 0);
    CHECK_INT(memory.live_bytes, (int64_t)held_bytes);
    lbx__arena_fini(&one); // once more: nothing is left to give back
    lbx__arena_fini(&other);
    CHECK_INT(0, (int64_t)held_bytes);
    CHECK_INT(0, memory.live_bytes);
}

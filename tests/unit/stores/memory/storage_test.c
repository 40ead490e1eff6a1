/* SPDX-License-Identifier: Apache-2.0 */
/* What post/rules/storage.h promises, of storage in memory. */
#include "stores/memory/memory.h"
#include "support/clock.h"
#include "support/test.h"
#include "support/torture.h"

#include <stdlib.h>
#include <string.h>

static lbx__bytes
text(const char *content)
{
    return (lbx__bytes){content, strlen(content)};
}

static void
reserve_one(lbx__storage *storage, const char *key, const char *value)
{
    const lbx__row_size size = {(uint32_t)strlen(key), (uint32_t)strlen(value)};

    CHECK_OK(lbx__storage_reserve(storage, &size, 1, LBX__GROWS));
}

static void
put_one(lbx__storage *storage, lbx__table table, const char *key,
        const char *value)
{
    const lbx__bytes part = text(value);

    lbx__storage_put(storage, table, text(key), &part, 1);
}

static void
check_value(const char *wanted, lbx__storage *storage, lbx__table table,
            const char *key)
{
    lbx__bytes value;

    CHECK_OK(lbx__storage_get(storage, table, text(key), &value));
    CHECK_INT(strlen(wanted), value.size);
    CHECK(memcmp(wanted, value.data, value.size) == 0);
}

/* A group sees what it has written, in order, and tables are apart. */
TEST(storage_shows_its_own_writes_in_order)
{
    static const char *const keys[] = {"b", "a", "ab", "\xff", "aa"};
    static const char *const sorted[] = {"a", "aa", "ab", "b", "\xff"};
    lbx__storage *storage;
    lbx__bytes key, value;
    uint64_t first, second;

    CHECK_OK(lbx__memory_open(NULL, NULL, &storage));
    CHECK_OK(lbx__storage_begin(storage));
    for (size_t i = 0; i < 5; i++) {
        reserve_one(storage, keys[i], keys[i]);
        put_one(storage, LBX__NAMES, keys[i], keys[i]);
    }
    check_value("ab", storage, LBX__NAMES, "ab");
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx__storage_get(storage, LBX__BOXES, text("ab"), &value));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx__storage_get(storage, LBX__NAMES, text("abc"), &value));
    for (size_t i = 0; i < 5; i++) {
        CHECK_OK(lbx__storage_seek(storage, LBX__NAMES, text(sorted[i]), &key,
                                   &value));
        CHECK_INT(strlen(sorted[i]), key.size);
        CHECK(memcmp(sorted[i], key.data, key.size) == 0);
    }
    CHECK_OK(lbx__storage_seek(storage, LBX__NAMES, text(""), &key, &value));
    CHECK(memcmp("a", key.data, 1) == 0);
    CHECK_OK(lbx__storage_seek(storage, LBX__NAMES, text("ac"), &key, &value));
    CHECK(memcmp("b", key.data, 1) == 0);
    CHECK_STATUS(
        LBX_NOT_FOUND,
        lbx__storage_seek(storage, LBX__NAMES, text("\xff\x01"), &key, &value));
    lbx__storage_remove(storage, LBX__NAMES, text("ab"));
    lbx__storage_remove(storage, LBX__NAMES, text("never there"));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx__storage_get(storage, LBX__NAMES, text("ab"), &value));
    first = lbx__storage_commit(storage);
    CHECK_OK(lbx__storage_flush(storage, first));
    CHECK_OK(lbx__storage_begin(storage));
    check_value("aa", storage, LBX__NAMES, "aa");
    CHECK_INT(4, lbx__memory_rows(storage, LBX__NAMES));
    second = lbx__storage_commit(storage);
    CHECK(second > first);
    lbx__storage_close(storage);
}

/* What is not larger takes the old row's place, without a reservation. */
TEST(storage_overwrites_in_place_or_with_what_was_reserved)
{
    const lbx__bytes parts[] = {{"on", 2}, {"", 0}, {"ly", 2}};
    lbx__storage *storage;
    lbx__bytes value;

    CHECK_OK(lbx__memory_open(NULL, NULL, &storage));
    CHECK_OK(lbx__storage_begin(storage));
    reserve_one(storage, "k", "first");
    put_one(storage, LBX__BOX_RECORDS, "k", "first");
    put_one(storage, LBX__BOX_RECORDS, "k", "secon");
    check_value("secon", storage, LBX__BOX_RECORDS, "k");
    lbx__storage_put(storage, LBX__BOX_RECORDS, text("k"), parts, 3);
    check_value("only", storage, LBX__BOX_RECORDS, "k");
    put_one(storage, LBX__BOX_RECORDS, "k", "again");
    check_value("again", storage, LBX__BOX_RECORDS, "k");
    // Two of different sizes: each finds its own, in any order.
    reserve_one(storage, "k", "a larger value");
    reserve_one(storage, "k", "a larger value still");
    put_one(storage, LBX__BOX_RECORDS, "k", "a larger value");
    put_one(storage, LBX__BOX_RECORDS, "k", "a larger value still");
    check_value("a larger value still", storage, LBX__BOX_RECORDS, "k");
    put_one(storage, LBX__BOX_RECORDS, "k", "");
    CHECK_OK(lbx__storage_get(storage, LBX__BOX_RECORDS, text("k"), &value));
    CHECK_INT(0, value.size);
    CHECK_INT(1, lbx__memory_rows(storage, LBX__BOX_RECORDS));
    lbx__storage_commit(storage);
    lbx__storage_close(storage);
}

/* MEM-1: a refused reservation leaves no trace, and what was reserved before it
 * is still there. */
static void
reserve_and_put(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    static const lbx__row_size sizes[] = {{1, 1}, {1, 2}, {1, 3}};
    lbx__storage *storage;
    lbx_status status;

    (void)context;
    status = lbx__memory_open(&allocator, NULL, &storage);
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        return;
    }
    CHECK_OK(lbx__storage_begin(storage));
    for (int i = 0; i < 3; i++) {
        const size_t live = memory->live_bytes;

        status = lbx__storage_reserve(storage, sizes, 3, LBX__GROWS);
        if (status == LBX_OK)
            continue;
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(live, memory->live_bytes);
        lbx__storage_commit(storage);
        lbx__storage_close(storage);
        return;
    }
    memory->allowed = 0; // nothing is allocated any more
    put_one(storage, LBX__READY, "a", "1");
    put_one(storage, LBX__READY, "b", "22");
    put_one(storage, LBX__WAITS, "c", "333");
    lbx__storage_remove(storage, LBX__READY, text("a"));
    check_value("22", storage, LBX__READY, "b");
    lbx__storage_commit(storage);
    CHECK_INT(1, lbx__memory_rows(storage, LBX__READY));
    lbx__storage_close(storage);
}

TEST(storage_puts_whatever_it_has_reserved)
{
    CHECK(torture_every_allocation(reserve_and_put, NULL) > 3);
}

/* What was not used goes back with the commit. */
TEST(storage_gives_unused_reservations_back)
{
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    lbx__storage *storage;
    size_t live;

    CHECK_OK(lbx__memory_open(&allocator, NULL, &storage));
    live = memory.live_bytes;
    CHECK_OK(lbx__storage_begin(storage));
    reserve_one(storage, "key", "a value that is never put");
    CHECK(memory.live_bytes > live);
    lbx__storage_commit(storage);
    CHECK_INT(live, memory.live_bytes);
    CHECK_INT(0, lbx__memory_bytes(storage));
    lbx__storage_close(storage);
    CHECK_INT(0, memory.live_bytes);
}

/* MEM-3: a clock that is set back holds the store's time still. */
TEST(storage_time_never_goes_back)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    lbx__storage *storage;
    int64_t start;

    CHECK_OK(lbx__memory_open(NULL, &clock, &storage));
    start = lbx__storage_now(storage);
    CHECK_INT(test_clock_now(&time), start);
    test_clock_advance(&time, 5 * LBX_SECOND);
    CHECK_INT(start + 5 * LBX_SECOND, lbx__storage_now(storage));
    test_clock_set(&time, 3);
    CHECK_INT(start + 5 * LBX_SECOND, lbx__storage_now(storage));
    test_clock_set(&time, start + 6 * LBX_SECOND);
    CHECK_INT(start + 6 * LBX_SECOND, lbx__storage_now(storage));
    lbx__storage_close(storage);
    lbx__storage_close(NULL);
}

/* MEM-4: a large row that goes leaves its block to the next, whose key and
 * value may be of other sizes; what it holds is bounded, and freed at the
 * end. */
TEST(storage_uses_the_last_large_block_again)
{
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    char *large = calloc(1, 1 << 20);
    lbx__storage *storage;
    long before = 0;

    CHECK(large);
    CHECK_OK(lbx__memory_open(&allocator, NULL, &storage));
    CHECK_OK(lbx__storage_begin(storage));
    for (uint32_t i = 0; i < 100; i++) {
        const lbx__bytes key = {"a key of some length", 1 + i % 20};
        const lbx__bytes part = {large, (1 << 20) - i * 1000};
        const lbx__row_size size = {(uint32_t)key.size, (uint32_t)part.size};
        lbx__bytes value;

        large[i] = (char)i;
        if (i == 1)
            before = memory.allocations;
        CHECK_OK(lbx__storage_reserve(storage, &size, 1, LBX__GROWS));
        lbx__storage_put(storage, LBX__BODIES, key, &part, 1);
        CHECK_OK(lbx__storage_get(storage, LBX__BODIES, key, &value));
        CHECK_INT(part.size, value.size);
        CHECK(memcmp(large, value.data, value.size) == 0);
        lbx__storage_remove(storage, LBX__BODIES, key);
    }
    // A row that happens to have more links may not fit.
    CHECK(memory.allocations - before < 20);
    (void)lbx__storage_commit(storage);
    lbx__storage_close(storage);
    CHECK_INT(0, memory.live_blocks);
    free(large);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The skip list beside a plain array, step by step. */
#include "codec/endian.h"
#include "stores/memory/index.h"
#include "support/test.h"
#include "support/torture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBERS = 400
};

/* Keys of several lengths: one is the beginning of the next. */
static lbx__bytes
key_of(unsigned number, uint8_t bytes[8])
{
    lbx__put_be64(bytes, (uint64_t)(number / 3) << 32 | 0x01010101);
    return (lbx__bytes){bytes, 6 + number % 3};
}

static uint64_t
draw(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

static void
insert(lbx__index *index, unsigned number)
{
    const lbx__bytes value = {&number, sizeof(number)};
    uint8_t bytes[8];
    lbx__bytes key = key_of(number, bytes);
    lbx__index_row *row = lbx__index_row_create(index, key.size, value.size);

    CHECK(row);
    lbx__index_row_write(row, &value, 1);
    lbx__index_insert(index, row, key);
}

static unsigned
number_of(const lbx__index_row *row)
{
    unsigned number;

    CHECK_INT(sizeof(number), lbx__index_row_value(row).size);
    memcpy(&number, lbx__index_row_value(row).data, sizeof(number));
    return number;
}

/* What seek and find give for a key is what the array has from there on. */
static void
compare_one(lbx__index *index, const bool *there, unsigned number)
{
    uint8_t bytes[8];
    const lbx__bytes key = key_of(number, bytes);
    const lbx__index_row *row = lbx__index_seek(index, key);
    unsigned next = number;

    while (next < NUMBERS && !there[next])
        next++;
    CHECK(next == NUMBERS ? !row : row && number_of(row) == next);
    CHECK((lbx__index_find(index, key) != NULL) == there[number]);
}

/* Both ways: a seek begins where the one before it ended. */
static void
compare_all(lbx__index *index, const bool *there)
{
    CHECK(lbx__index_valid(index));
    for (unsigned i = NUMBERS; i-- > 0;)
        compare_one(index, there, i);
    for (unsigned i = 0; i < NUMBERS; i++)
        compare_one(index, there, i);
    CHECK(lbx__index_valid(index));
}

static void
walk(uint64_t seed, long steps)
{
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    bool there[NUMBERS] = {false};
    uint64_t state = seed, count = 0;
    lbx__index index;

    lbx__index_init(&index, &allocator, seed);
    for (long step = 0; step < steps; step++) {
        const unsigned number = (unsigned)(draw(&state) % NUMBERS);
        uint8_t bytes[8];
        const lbx__bytes key = key_of(number, bytes);

        // Full and empty by turns.
        if (!there[number] && draw(&state) % 8 < (step / 500 % 2 ? 7 : 2)) {
            insert(&index, number);
            there[number] = true;
            count++;
        } else {
            lbx__index_row *row = lbx__index_remove(&index, key);

            CHECK((row != NULL) == there[number]);
            count -= there[number];
            there[number] = false;
            lbx__index_row_destroy(&index, row);
        }
        CHECK_INT(count, index.count);
        if (step % 50 == 0)
            compare_all(&index, there);
    }
    lbx__index_fini(&index);
    CHECK_INT(0, memory.live_bytes);
}

/* Another walk each time; LBX_SEED repeats one. */
TEST(index_agrees_with_an_array_step_by_step)
{
    const char *given = getenv("LBX_SEED");
    uint64_t seed =
        given ? strtoull(given, NULL, 0) : (uint64_t)lbx_clock_now(NULL);

    test_note("LBX_SEED=%" PRIu64, seed);
    for (int i = 0; i < 20; i++) {
        walk(seed, test_rounds(4000, 400000));
        draw(&seed);
    }
}

/* What letters do: in at the end, out at the front. */
TEST(index_is_a_queue_that_shrinks_again)
{
    lbx__index index;
    uint8_t bytes[8];

    lbx__index_init(&index, NULL, 7);
    for (unsigned in = 0, out = 0; out < 20000; in++) {
        if (in < 20000)
            insert(&index, in);
        if (in >= 10000) {
            const lbx__index_row *row =
                lbx__index_seek(&index, (lbx__bytes){"", 0});

            CHECK_INT(out, number_of(row));
            lbx__index_row_destroy(
                &index, lbx__index_remove(&index, key_of(out, bytes)));
            out++;
        }
        if (in % 5000 == 0)
            CHECK(lbx__index_valid(&index));
    }
    CHECK(lbx__index_valid(&index));
    CHECK_INT(0, index.count);
    CHECK_INT(0, index.bytes);
    CHECK_INT(1, index.levels);
    lbx__index_fini(&index);
}

/* The number of steps to a row grows with the logarithm: a list that had lost
 * its upper levels would pass every test but this. */
TEST(index_keeps_a_quarter_of_its_rows_on_the_next_level)
{
    lbx__index index;
    uint64_t on[LBX__INDEX_LEVELS] = {0};

    lbx__index_init(&index, NULL, 99);
    for (unsigned i = 0; i < 40000; i++)
        insert(&index, i);
    for (uint32_t level = 0; level < index.levels; level++) {
        for (const lbx__index_row *row = index.first[level]; row;
             row = row->next[level])
            on[level]++;
    }
    CHECK(index.levels >= 6 && index.levels <= 14);
    for (int level = 1; level < 4; level++)
        CHECK(on[level] * 3 < on[level - 1] && on[level] * 5 > on[level - 1]);
    lbx__index_fini(&index);
}

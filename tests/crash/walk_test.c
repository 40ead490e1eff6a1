/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One random walk of rows over both storages, memory and files, compared row by
 * row; the one in files is closed and opened again at random points, and killed
 * (left as it is, copied and opened elsewhere) at others.
 */
#include "codec/endian.h"
#include "stores/file/fixture.h"
#include "stores/file/rounds.h"
#include "stores/memory/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KEYS = 60,
    LARGE = 9000 /* more than two pages */
};

struct walk {
    uint64_t state;
    lbx__storage *memory, *file;
    const char *path;
    lbx_store_options options;
    char value[LARGE];
    long reopened, killed;
};

static uint64_t
draw(struct walk *walk, uint64_t below)
{
    walk->state = walk->state * 6364136223846793005U + 1442695040888963407U;
    return (walk->state >> 33) % below;
}

static lbx__bytes
draw_key(struct walk *walk, uint8_t bytes[LBX__ROW_KEY_MAX])
{
    const uint64_t number = draw(walk, KEYS);

    memset(bytes, (int)number, LBX__ROW_KEY_MAX);
    lbx__put_be64(bytes, number / 3);
    return (lbx__bytes){bytes,
                        number % 17 == 0 ? LBX__ROW_KEY_MAX : 8 + number % 3};
}

static size_t
draw_size(struct walk *walk)
{
    switch (draw(walk, 8)) {
    case 0:
        return 0;
    case 1:
        return draw(walk, LARGE + 1);
    default:
        return draw(walk, 200);
    }
}

static void
put_both(struct walk *walk, lbx__table table, lbx__bytes key)
{
    const size_t size = draw_size(walk), cut = size ? draw(walk, size) : 0;
    const lbx__row_size row = {(uint32_t)key.size, (uint32_t)size};
    const lbx__bytes parts[] = {{walk->value, cut},
                                {walk->value + cut, size - cut}};

    memset(walk->value, (int)draw(walk, 256), size);
    CHECK_OK(lbx__storage_reserve(walk->memory, &row, 1, LBX__GROWS));
    CHECK_OK(lbx__storage_reserve(walk->file, &row, 1, LBX__GROWS));
    lbx__storage_put(walk->memory, table, key, parts, 2);
    lbx__storage_put(walk->file, table, key, parts, 2);
}

static void
check_same(lbx__bytes a, lbx__bytes b)
{
    CHECK_INT(a.size, b.size);
    CHECK(a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Every row of a table, by seeking from each to the next. */
static void
compare_table(const struct walk *walk, lbx__table table)
{
    uint8_t bytes[LBX__ROW_KEY_MAX];
    lbx__bytes from = {bytes, 0};

    for (;;) {
        lbx__bytes ours_key, ours, files_key, files;
        const lbx_status status =
            lbx__storage_seek(walk->memory, table, from, &ours_key, &ours);

        CHECK_STATUS(status, lbx__storage_seek(walk->file, table, from,
                                               &files_key, &files));
        if (status != LBX_OK)
            break;
        check_same(ours_key, files_key);
        check_same(ours, files);
        // The next key: this one and a zero byte, or one byte more.
        CHECK(ours_key.size <= sizeof(bytes));
        memmove(bytes, ours_key.data, ours_key.size);
        from.size = ours_key.size;
        if (from.size < LBX__ROW_KEY_MAX) {
            bytes[from.size++] = 0;
        } else {
            while (from.size > 0 && ++bytes[from.size - 1] == 0)
                from.size--;
        }
    }
}

static void
compare_all(const struct walk *walk)
{
    for (int table = 0; table < LBX__TABLES; table++)
        compare_table(walk, (lbx__table)table);
}

static void
step(struct walk *walk)
{
    const lbx__table table = (lbx__table)draw(walk, LBX__TABLES);
    uint8_t bytes[LBX__ROW_KEY_MAX];
    const lbx__bytes key = draw_key(walk, bytes);
    lbx__bytes ours, files;

    switch (draw(walk, 4)) {
    case 0:
        lbx__storage_remove(walk->memory, table, key);
        lbx__storage_remove(walk->file, table, key);
        break;
    case 1: {
        const lbx_status status =
            lbx__storage_get(walk->memory, table, key, &ours);

        CHECK_STATUS(status, lbx__storage_get(walk->file, table, key, &files));
        if (status == LBX_OK)
            check_same(ours, files);
        break;
    }
    default:
        put_both(walk, table, key);
    }
}

/* As a kill leaves it: the files as they are. */
static void
kill_and_reopen(struct walk *walk)
{
    const char *to = test_path();
    lbx__storage *dead = walk->file;

    fixture_copy_store(walk->path, to);
    walk->file = fixture_open(to, &walk->options, NULL);
    lbx__storage_close(dead);
    walk->path = to;
    walk->killed++;
}

static void
group(struct walk *walk)
{
    const uint64_t steps = draw(walk, 12);
    uint64_t ticket;

    CHECK_OK(lbx__storage_begin(walk->memory));
    CHECK_OK(lbx__storage_begin(walk->file));
    for (uint64_t i = 0; i < steps; i++)
        step(walk);
    if (draw(walk, 16) == 0)
        compare_all(walk);
    lbx__storage_commit(walk->memory);
    ticket = lbx__storage_commit(walk->file);
    // Several groups, one flush.
    if (draw(walk, 3) > 0)
        return;
    CHECK_OK(lbx__storage_flush(walk->file, ticket));
    if (draw(walk, 24) == 0) {
        lbx__storage_close(walk->file);
        walk->file = fixture_open(walk->path, &walk->options, NULL);
        walk->reopened++;
    } else if (draw(walk, 24) == 0) {
        kill_and_reopen(walk);
    }
}

static void
walk_over(lbx_durability level)
{
    const uint64_t seed = rounds_seed();
    struct rounds rounds = rounds_of(test_rounds(1500, 100000), 300, 8);
    struct walk walk = {.state = seed, .options = fixture_options()};

    walk.options.durability = level;
    walk.path = test_path();
    CHECK_OK(lbx__memory_open(NULL, NULL, &walk.memory));
    walk.file = fixture_open(walk.path, &walk.options, NULL);
    while (rounds_next(&rounds))
        group(&walk);
    CHECK_OK(walk.file->ops->sync(walk.file));
    CHECK_OK(lbx__storage_begin(walk.memory));
    CHECK_OK(lbx__storage_begin(walk.file));
    compare_all(&walk);
    lbx__storage_commit(walk.memory);
    lbx__storage_commit(walk.file);
    lbx__storage_close(walk.memory);
    lbx__storage_close(walk.file);
    test_note("%ld batches, reopened %ld, killed %ld", rounds.done,
              walk.reopened, walk.killed);
    CHECK(walk.reopened > 0 && walk.killed > 0);
}

TEST(files_and_memory_agree_row_by_row)
{
    walk_over(LBX_DURABILITY_POWER_CUT);
}

TEST(files_and_memory_agree_at_level_process)
{
    walk_over(LBX_DURABILITY_PROCESS);
}

TEST(files_and_memory_agree_at_level_interval)
{
    walk_over(LBX_DURABILITY_INTERVAL);
}

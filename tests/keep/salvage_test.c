/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Salvages of stores that are damaged in ways that chance does not find: names
 * that meet, rows that somebody has made up with the right sums, trees that lead
 * round in circles. All letters are saved, and nobody is brought down.
 */
#include "estate.h"

#include "post/rows.h"
#include "stores/file/fixture.h"
#include "stores/file/view.h"

#include <letterbox/post/file.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct yard {
    char path[480], saved[480];
    lbx__storage *storage;
    lbx__rules *rules;
};

static int64_t
wall(void *context)
{
    (void)context;
    return 1700000000000;
}

static void
open_yard(struct yard *yard)
{
    const lbx__rules_options options = {.wall_ms = wall};

    if (!yard->path[0])
        test_paths_in_memory();
    (void)snprintf(yard->path, sizeof(yard->path), "%s", test_path());
    (void)snprintf(yard->saved, sizeof(yard->saved), "%s", test_path());
    yard->storage = fixture_open(yard->path, NULL, NULL);
    CHECK_OK(lbx__rules_open(yard->storage, &options, &yard->rules));
}

static void
close_yard(struct yard *yard)
{
    lbx__rules_close(yard->rules);
    lbx__storage_close(yard->storage);
}

static void
commit(struct yard *yard)
{
    CHECK_OK(lbx__storage_flush(yard->storage, lbx__rules_commit(yard->rules)));
}

/* A box with some letters. */
static lbx_box
build(struct yard *yard, const char *space, const char *name, bool fifo,
      int letters)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_request box = {.space = space, .name = name, .options = &options};

    options.fifo = fifo;
    CHECK_OK(lbx__storage_begin(yard->storage));
    CHECK_OK(lbx__rules_create(yard->rules, &box));
    for (int i = 0; i < letters; i++) {
        char id[16];
        const lbx_parcel parcel = {
            .body = "letter",
            .body_bytes = 6,
            .group = fifo ? "group" : NULL,
            .duplicate_id = fifo ? id : NULL,
        };
        lbx_sent sent;
        lbx_send_request send = {box.ret_box, &parcel, 1, &sent};

        (void)snprintf(id, sizeof(id), "%d", i);
        CHECK_OK(lbx__rules_send(yard->rules, &send));
    }
    commit(yard);
    return box.ret_box;
}

/* The row of a box with its options is lost. */
static void
lose(struct yard *yard, lbx_box box)
{
    const lbx__key key = lbx__key_1(box.uid);

    CHECK_OK(lbx__storage_begin(yard->storage));
    lbx__row_drop(yard->storage, LBX__BOXES, &key);
    commit(yard);
}

static void
forge(struct yard *yard, lbx__table table, const lbx__key *key,
      const void *value, size_t size)
{
    const lbx__row_size row = {key->size, (uint32_t)size + LBX__SUM_BYTES};

    CHECK_OK(lbx__storage_begin(yard->storage));
    CHECK_OK(lbx__storage_reserve(yard->storage, &row, 1, LBX__GROWS));
    lbx__row_put(yard->storage, table, key, &(lbx__bytes){value, size}, 1);
    commit(yard);
}

/* The yard is closed; all these are saved, into a sound store. */
static void
check_saved(const struct yard *yard, uint64_t boxes, uint64_t letters)
{
    lbx_file_report report;

    CHECK_STATUS(LBX_CORRUPT, lbx_file_check(yard->path, NULL, NULL, &report));
    CHECK_OK(lbx_file_salvage(yard->path, yard->saved, NULL, NULL, &report));
    CHECK_INT(letters, report.letters);
    CHECK_OK(lbx_file_check(yard->saved, NULL, NULL, &report));
    CHECK_INT(boxes, report.boxes);
    CHECK_INT(letters, report.letters);
}

/* Of names, only the second part is told. */
TEST(boxes_of_one_name_in_two_spaces_are_saved_as_two)
{
    struct yard yard = {.path = ""};
    lbx_box boxes[3];

    open_yard(&yard);
    boxes[0] = build(&yard, "a", "jobs", false, 3);
    boxes[1] = build(&yard, "b", "jobs", false, 5);
    boxes[2] = build(&yard, "c", "jobs", true, 7);
    for (int i = 0; i < 3; i++)
        lose(&yard, boxes[i]);
    close_yard(&yard);
    check_saved(&yard, 3, 15);
}

/* As after an earlier salvage. */
TEST(a_box_whose_row_is_lost_does_not_take_the_name_of_another)
{
    struct yard yard = {.path = ""};
    lbx_box box;

    open_yard(&yard);
    box = build(&yard, "", "jobs", false, 3);
    (void)build(&yard, "", "salvaged-jobs", false, 5);
    (void)build(&yard, "", "salvaged-7", true, 2);
    lose(&yard, box);
    close_yard(&yard);
    check_saved(&yard, 3, 10);
}

/* With nothing in it, such a row can be the last thing in its page. */
TEST_LIMIT(rows_with_keys_that_no_row_has_are_damage, 60)
{
    static const uint8_t value[80];
    const lbx__key key = {.bytes = {0xff}, .size = 1};
    struct yard yard = {.path = ""};

    for (int i = 2 * LBX__NAMES; i < 2 * LBX__TABLES; i++) {
        open_yard(&yard);
        (void)build(&yard, "", "jobs", false, 3);
        forge(&yard, (lbx__table)(i / 2), &key, value,
              i % 2 ? sizeof(value) : 0);
        close_yard(&yard);
        check_saved(&yard, 1, 3);
    }
}

TEST(a_letter_of_no_box_is_saved_and_harms_nobody)
{
    static const uint8_t body[80];
    const lbx__key key = lbx__key_2(0, 1);
    struct yard yard = {.path = ""};

    open_yard(&yard);
    (void)build(&yard, "", "jobs", false, 3);
    forge(&yard, LBX__BODIES, &key, body, sizeof(body));
    close_yard(&yard);
    check_saved(&yard, 2, 4);
}

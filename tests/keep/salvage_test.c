/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Salvages of stores that are damaged in ways that chance does not find: names
 * that meet, rows that were made up with the right sums, trees that lead
 * round in circles. All letters are saved, and nothing crashes.
 */
#include "known_store.h"

#include "post/rules/box_row.h"
#include "post/rules/row.h"
#include "stores/file/fixture.h"
#include "stores/file/journal.h"
#include "stores/file/repair/view.h"

#include <letterbox/post.h>
#include <letterbox/post/file_store.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct yard {
    const char *path, *saved;
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
    yard->path = test_path();
    yard->saved = test_path();
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
    CHECK_OK(
        lbx__storage_flush(yard->storage, lbx__box_record_commit(yard->rules)));
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
    CHECK_OK(lbx__box_admin_create(yard->rules, &box));
    for (int i = 0; i < letters; i++) {
        char id[16];
        const lbx_parcel parcel = {
            .body = "letter",
            .body_bytes = 6,
            .group = fifo ? "group" : NULL,
            .deduplication_id = fifo ? id : NULL,
        };
        lbx_sent_letter sent;
        lbx_send_request send = {box.ret_box, &parcel, 1, &sent};

        (void)snprintf(id, sizeof(id), "%d", i);
        CHECK_OK(lbx__send_apply(yard->rules, &send));
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
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;

    CHECK_STATUS(LBX_CORRUPT,
                 lbx_file_store_check(yard->path, NULL, NULL, &report));
    CHECK_OK(
        lbx_file_store_salvage(yard->path, yard->saved, NULL, NULL, &report));
    CHECK_INT(letters, report.letters);
    CHECK_OK(lbx_file_store_check(yard->saved, NULL, NULL, &report));
    CHECK_INT(boxes, report.boxes);
    CHECK_INT(letters, report.letters);
}

/* Of names, only the second part is reported. */
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
TEST(rows_with_keys_that_no_row_has_are_damage)
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

TEST(a_letter_of_no_box_is_saved_and_harms_no_other)
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

/* SALV-2: its first row id is known to be given up, though its head is lost. */
TEST(purged_letters_stay_so_when_the_head_of_their_box_is_lost)
{
    struct yard yard = {.path = ""};
    lbx_box_request purge = {.name = "jobs"};
    lbx__key key;

    open_yard(&yard);
    (void)build(&yard, "", "jobs", false, 5);
    CHECK_OK(lbx__storage_begin(yard.storage));
    CHECK_OK(lbx__box_admin_purge(yard.rules, &purge));
    commit(&yard);
    key = lbx__key_1(build(&yard, "", "jobs", false, 0).uid);
    CHECK_OK(lbx__storage_begin(yard.storage));
    lbx__row_drop(yard.storage, LBX__BOX_RECORDS, &key);
    commit(&yard);
    close_yard(&yard);
    check_saved(&yard, 1, 0);
}

/* ---- What continues ---- */

/* Sends three letters and acknowledges all but the first `kept`. */
static void
use_box(const char *path, size_t kept)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letters[LBX_MAX_BATCH];
    lbx_postbox *postbox;
    size_t count;
    char url[600];

    (void)snprintf(url, sizeof(url), "file:%s/jobs", path);
    CHECK_OK(lbx_postbox_open(url, NULL, &postbox));
    for (int i = 0; i < 3; i++)
        CHECK_OK(lbx_postbox_send(postbox, "letter", 6, NULL));
    options.max_letters = LBX_MAX_BATCH;
    CHECK_OK(lbx_postbox_receive_batch(postbox, &options, letters, &count));
    CHECK_INT(3, count);
    for (size_t i = 0; i < count; i++) {
        if (i >= kept)
            CHECK_OK(lbx_letter_acknowledge(letters[i]));
        lbx_letter_destroy(letters[i]);
    }
    lbx_postbox_unref(postbox);
}

/* The sequence of one more letter. */
static uint64_t
send_one(const char *path)
{
    lbx_draft draft = lbx_draft_of_text("next");
    lbx_sent_letter sent;
    lbx_postbox *postbox;
    char url[600];

    (void)snprintf(url, sizeof(url), "file:%s/jobs", path);
    CHECK_OK(lbx_postbox_open(url, NULL, &postbox));
    CHECK_OK(lbx_postbox_send_draft(postbox, &draft, &sent));
    lbx_postbox_unref(postbox);
    return sent.sequence;
}

/* Also where the last letters, or all, are acknowledged: it is the same as if
 * there had been no salvage. */
TEST(sequences_of_a_salvaged_box_are_not_used_twice)
{
    test_paths_in_memory();
    for (size_t kept = 0; kept < 3; kept++) {
        const char *path = test_path(), *saved = test_path();
        lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;

        use_box(path, kept);
        CHECK_OK(lbx_file_store_salvage(path, saved, NULL, NULL, &report));
        CHECK_INT(kept, report.letters);
        CHECK_INT(send_one(path), send_one(saved));
        CHECK_OK(lbx_file_store_check(saved, NULL, NULL, &report));
    }
}

/* Or leases and delays would last longer, by as much. */
TEST(a_salvage_does_not_go_back_in_time_with_the_wall_clock)
{
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    const char *path = test_path(), *saved = test_path();
    struct faulty_io ahead;
    lbx__storage *storage;
    int64_t before;

    // Another boot, whose wall clock was a day ahead of today's.
    faulty_init(&ahead);
    ahead.boot_ns = LBX_SECOND;
    ahead.wall_ns =
        lbx__io_system.wall_ns(&lbx__io_system) + INT64_C(86400) * LBX_SECOND;
    storage = fixture_open(path, NULL, &ahead.io);
    CHECK_OK(store_text(storage, "0123456789abcdef", "x"));
    before = storage->ops->now(storage);
    lbx__storage_close(storage);
    CHECK_OK(lbx_file_store_salvage(path, saved, NULL, NULL, &report));
    storage = fixture_open(saved, NULL, NULL);
    CHECK_OK(lbx__storage_begin(storage));
    CHECK(storage->ops->now(storage) >= before);
    (void)lbx__storage_commit(storage);
    lbx__storage_close(storage);
}

/* ---- Boxes of a newer version ---- */

/* The options of a box, as a later version writes them. */
static void
make_newer(struct yard *yard, lbx_box box)
{
    const lbx__key key = lbx__key_1(box.uid);
    uint8_t copy[1000];
    lbx__box_row row;
    lbx__bytes value;

    CHECK_OK(lbx__storage_begin(yard->storage));
    CHECK_OK(lbx__row_get(yard->storage, LBX__BOXES, &key, &value));
    CHECK(value.size <= sizeof(copy));
    memcpy(copy, value.data, value.size);
    CHECK_OK(lbx__box_row_decode((lbx__bytes){copy, value.size}, &row));
    copy[(const uint8_t *)row.options.data - copy] = 2;
    commit(yard);
    forge(yard, LBX__BOXES, &key, copy, value.size);
}

/* It is intact, and would be saved under another name with other options. The
 * second time the record of the box is lost. */
TEST(a_box_of_a_newer_version_is_not_taken_for_a_lost_one)
{
    struct yard yard = {.path = ""};

    for (int i = 0; i < 2; i++) {
        lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
        lbx_box box;
        lbx__key key;

        open_yard(&yard);
        box = build(&yard, "", "jobs", false, 3);
        make_newer(&yard, box);
        if (i == 1) {
            key = lbx__key_1(box.uid);
            CHECK_OK(lbx__storage_begin(yard.storage));
            lbx__row_drop(yard.storage, LBX__BOX_RECORDS, &key);
            commit(&yard);
        }
        close_yard(&yard);
        CHECK_STATUS(i == 0 ? LBX_NEWER : LBX_CORRUPT,
                     lbx_file_store_check(yard.path, NULL, NULL, &report));
        CHECK_STATUS(LBX_NEWER, lbx_file_store_salvage(yard.path, yard.saved,
                                                       NULL, NULL, &report));
        CHECK(access(yard.saved, F_OK) < 0);
    }
}

/* ---- The end of the journal ---- */

/* Makes a store with some letters in a process that ends as by a kill; sends
 * that were answered are in the journal only. */
static void
build_and_die(struct yard *yard, int letters)
{
    int status;
    pid_t child;

    yard->path = test_path();
    yard->saved = test_path();
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const lbx__rules_options options = {.wall_ms = wall};

        yard->storage = fixture_open(yard->path, NULL, NULL);
        CHECK_OK(lbx__rules_open(yard->storage, &options, &yard->rules));
        (void)build(yard, "", "jobs", false, 0);
        for (int i = 0; i < letters; i++)
            (void)build(yard, "", "jobs", false, 1);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
}

/* Where the last record of the journal is. */
static uint64_t
find_last_record(const char *path, uint32_t *ret_size)
{
    uint8_t head[16], first[8];
    uint64_t at = 0, next = LBX__JOURNAL_FRONT;

    fixture_read(path, "journal", first, 8, next + 8);
    for (;;) {
        uint32_t size;

        fixture_read(path, "journal", head, sizeof(head), next);
        if (memcmp(head, "LBX", 3) != 0 || memcmp(head + 8, first, 8) != 0)
            break;
        memcpy(&size, head + 4, sizeof(size));
        *ret_size = size;
        at = next;
        next += size;
    }
    CHECK(at > 0);
    return at;
}

static void
note_journal(void *context, const lbx_file_store_damage *part)
{
    *(uint64_t *)context =
        strcmp(part->what, "journal") == 0 ? part->offset_bytes : 0;
}

/* After a kill the last record is whole, or damaged: what it says was reported
 * as OK. Open and check say so, and a salvage must not be silent. */
TEST(a_damaged_last_record_after_a_kill_is_reported_by_a_salvage)
{
    enum damage {
        NOTHING,
        BODY, /* a bit of the last row */
        HEAD, /* a bit of the size */
        ALL,  /* zeros */
    };

    test_paths_in_memory();
    for (enum damage damage = NOTHING; damage <= ALL; damage++) {
        const bool sound = damage == NOTHING;
        lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
        struct yard yard = {.path = ""};
        uint64_t at, reported = 0;
        uint8_t zeros[4096] = {0}, byte;
        uint32_t size = 0;

        build_and_die(&yard, 5);
        at = find_last_record(yard.path, &size);
        CHECK(size <= sizeof(zeros));
        fixture_read(yard.path, "journal", &byte, 1,
                     damage == HEAD ? at + 5 : at + size - 12);
        byte ^= 0x40;
        if (damage == ALL)
            fixture_write(yard.path, "journal", zeros, size, at);
        else if (!sound)
            fixture_write(yard.path, "journal", &byte, 1,
                          damage == HEAD ? at + 5 : at + size - 12);
        CHECK_STATUS(sound ? LBX_OK : LBX_CORRUPT,
                     lbx_file_store_check(yard.path, NULL, NULL, &report));
        CHECK_OK(lbx_file_store_salvage(yard.path, yard.saved, note_journal,
                                        &reported, &report));
        CHECK_INT(sound ? 0 : 1, report.damaged);
        CHECK_INT(0, report.torn_bytes);
        CHECK_INT(sound ? 0 : at, reported);
        CHECK_INT(sound ? 5 : 4, report.letters);
    }
}

/* ---- Trees ---- */

/* Where the row of a table is in data.mdb, and the first page of its tree. */
static uint64_t
find_root(const char *path, const char *table, uint64_t *ret_page)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t offset = 0;
    const char *why;
    lbx__view view;
    lbx__mdb_tree tree;
    lbx__mdb_tree_row row;

    CHECK_OK(lbx__view_open(&view, &lbx__io_system, folder, &why));
    lbx__mdb_tree_init(&tree, &view.tables.pages, &view.tables.pages.main);
    while (lbx__mdb_tree_next(&tree, &row) == LBX_OK) {
        if (lbx__engine_compare(row.key, text(table)) != 0)
            continue;
        offset = row.offset;
        memcpy(ret_page, (const uint8_t *)row.value.data + 40, 8);
    }
    lbx__mdb_tree_fini(&tree);
    lbx__view_close(&view);
    CHECK(close(folder) == 0);
    CHECK(offset > 0);
    return offset;
}

/* A branch all of whose children are itself, in a tree that says it is deep:
 * there are more ways through it than a walk could ever end. */
TEST(a_tree_that_leads_round_in_circles_is_left)
{
    const uint16_t deep = LBX__MDB_TREE_MAX_DEPTH;
    struct yard yard = {.path = ""};
    uint8_t page[4096];
    uint64_t offset, root;

    open_yard(&yard);
    (void)build(&yard, "", "jobs", false, 2000);
    close_yard(&yard);
    offset = find_root(yard.path, "bodies", &root);
    fixture_write(yard.path, "data.mdb", &deep, sizeof(deep), offset + 6);
    fixture_read(yard.path, "data.mdb", page, sizeof(page), root * 4096);
    CHECK(lbx__mdb_pages_nodes(page) > 10);
    for (size_t i = 0; i < lbx__mdb_pages_nodes(page); i++) {
        uint16_t at;

        memcpy(&at, page + LBX__MDB_PAGE_HEAD + 2 * i, sizeof(at));
        memcpy(page + at, &root, 6);
    }
    fixture_write(yard.path, "data.mdb", page, sizeof(page), root * 4096);
    check_saved(&yard, 1, 2000);
}

/* A leaf that two branches lead to, and has rows for both. */
TEST(a_letter_that_is_met_twice_is_saved_once)
{
    struct yard yard = {.path = ""};
    uint8_t page[4096], leaf[4096], *at;
    lbx__bytes middle;
    uint64_t root, child;

    open_yard(&yard);
    (void)build(&yard, "", "jobs", false, 2000);
    close_yard(&yard);
    (void)find_root(yard.path, "bodies", &root);
    fixture_read(yard.path, "data.mdb", page, sizeof(page), root * 4096);
    CHECK(lbx__mdb_pages_nodes(page) > 10);
    child = lbx__mdb_pages_node(page, LBX__MDB_BRANCH, 0).child;
    fixture_read(yard.path, "data.mdb", leaf, sizeof(leaf), child * 4096);
    middle =
        lbx__mdb_pages_node(leaf, LBX__MDB_LEAF, lbx__mdb_pages_nodes(leaf) / 2)
            .key;
    at = (uint8_t *)(uintptr_t)lbx__mdb_pages_node(page, LBX__MDB_BRANCH, 1)
             .key.data;
    CHECK_INT(middle.size,
              lbx__mdb_pages_node(page, LBX__MDB_BRANCH, 1).key.size);
    memcpy(at, middle.data, middle.size);
    memcpy(at - 8, &child, 6);
    fixture_write(yard.path, "data.mdb", page, sizeof(page), root * 4096);
    check_saved(&yard, 1, 2000);
}

/* A file says how many pages it has; more than it has are not looked for. */
TEST(a_file_that_says_it_is_huge_is_as_large_as_it_is)
{
    const uint64_t map_bytes = UINT64_C(1) << 60, last = UINT64_C(1) << 46;
    struct yard yard = {.path = ""};

    open_yard(&yard);
    (void)build(&yard, "", "jobs", false, 20);
    close_yard(&yard);
    for (size_t i = 0; i < 2; i++) {
        const size_t meta = i * 4096 + LBX__MDB_PAGE_HEAD;

        fixture_write(yard.path, "data.mdb", &map_bytes, 8, meta + 16);
        fixture_write(yard.path, "data.mdb", &last, 8, meta + 120);
    }
    check_saved(&yard, 1, 20);
}

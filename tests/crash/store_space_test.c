/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much disk a store takes : letters that are delayed
 * for a day stay inside while others come and go; what is on the disk is
 * bounded by what is alive, not by what ever was, and does not grow any more.
 *
 * The bound is 5 x the bodies + 32 MiB, not the 3 x + 16 MiB that is aimed at:
 * letters this small have about as much in rows beside the body, and ENG-2 sets
 * room aside for a copy of every page in use.
 */
#include "stores/file/fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include <letterbox/post.h>

enum {
    BODY = 400,
    DELAYED = 2000,
    BATCHES = 40, /* alive at most, beside the delayed ones */
    JOURNAL = 1 << 20
};

/* Bytes on the disk, of data.mdb and the journal. */
static uint64_t
used_bytes(const char *path)
{
    static const char *const names[] = {"data.mdb", "journal"};
    uint64_t bytes = 0;

    for (size_t i = 0; i < 2; i++) {
        char file[600];
        struct stat found;

        (void)snprintf(file, sizeof(file), "%s/%s", path, names[i]);
        CHECK(stat(file, &found) == 0);
        bytes += (uint64_t)found.st_blocks * 512;
    }
    return bytes;
}

static lbx_postbox *
open_box(const char *path)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx_postbox_options mine = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *box;
    char url[600];

    options.durability = LBX_DURABILITY_PROCESS; // quicker, and the same here
    options.journal_bytes = JOURNAL;
    mine.store = &options;
    (void)snprintf(url, sizeof(url), "file:%s/box", path);
    CHECK_OK(lbx_postbox_open(url, &mine, &box));
    return box;
}

static void
send_ten(lbx_postbox *box, int64_t delay_ns)
{
    static char body[BODY];
    lbx_draft drafts[LBX_MAX_BATCH];

    for (int i = 0; i < LBX_MAX_BATCH; i++) {
        drafts[i] = lbx_draft_of_bytes(body, sizeof(body));
        drafts[i].delay_ns = delay_ns;
    }
    CHECK_OK(lbx_postbox_send_batch(box, drafts, LBX_MAX_BATCH, NULL));
}

static void
delete_ten(lbx_postbox *box)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_settle_item settles[LBX_MAX_BATCH];
    lbx_letter *letters[LBX_MAX_BATCH];
    size_t count;

    options.max_letters = LBX_MAX_BATCH;
    CHECK_OK(lbx_postbox_receive_batch(box, &options, letters, &count));
    for (size_t i = 0; i < count; i++)
        settles[i] = (lbx_settle_item){.action = LBX_SETTLE_ACKNOWLEDGE,
                                       .letter = letters[i]};
    CHECK_OK(lbx_postbox_settle_batch(box, settles, count));
    for (size_t i = 0; i < count; i++)
        lbx_letter_destroy(letters[i]);
}

static uint64_t
live_bytes(void)
{
    return (uint64_t)(DELAYED + BATCHES * LBX_MAX_BATCH) * BODY;
}

static uint64_t
bound_bytes(void)
{
    return 5 * live_bytes() + (32 << 20) + JOURNAL;
}

TEST(what_was_deleted_takes_no_room)
{
    const long rounds = test_rounds(8000, 3000000);
    uint64_t early = 0, most = 0;
    const char *path;
    lbx_postbox *box;

    test_paths_in_memory();
    path = test_path();
    box = open_box(path);
    for (int i = 0; i < DELAYED / LBX_MAX_BATCH; i++)
        send_ten(box, 86400 * LBX_SECOND);
    for (long i = 0; i < rounds; i++) {
        send_ten(box, 0);
        if (i >= BATCHES)
            delete_ten(box);
        if (i % 64 == 0 && used_bytes(path) > most)
            most = used_bytes(path);
        if (i == rounds / 4)
            early = most;
    }
    lbx_postbox_unref(box);
    test_figure("crash, room: %ld operations, %.1f MiB of bodies alive, %.1f "
                "MiB on the disk at most, %.1f MiB after a quarter",
                rounds * 3 * LBX_MAX_BATCH, (double)live_bytes() / (1 << 20),
                (double)most / (1 << 20), (double)early / (1 << 20));
    CHECK(most > 0 && most <= bound_bytes());
    CHECK(most <= early + early / 10);
}

/* The control: letters that are not deleted do not fit the bound. */
TEST(what_was_not_deleted_takes_room)
{
    const char *path;
    lbx_postbox *box;

    test_paths_in_memory();
    path = test_path();
    box = open_box(path);
    for (int i = 0; i < 8000; i++)
        send_ten(box, 0);
    CHECK(used_bytes(path) > bound_bytes());
    lbx_postbox_unref(box);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats: a store that another version has written opens,
 * and has every letter; one that a newer version has written is refused, and
 * not a byte of it is touched.
 *
 * golden/1.tar.gz is a store as a kill left it, with what had been reported of
 * it. To make one for a new format, run with LBX_GOLDEN=FOLDER; the test puts
 * it there.
 */
#include "processes.h"
#include "stores/file/fixture.h"
#include "workers.h"

#include "codec/crc32c.h"
#include "codec/endian.h"

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* ---- Older ---- */

static struct workers
golden_crew(struct ledger *ledger, const char *url,
            const lbx_store_options *options)
{
    return (struct workers){
        .url = url,
        .options = options,
        .ledger = ledger,
        .now_ns = processes_wall_ns,
        .live_max = 60,
        .lease_ns = 2 * LBX_SECOND,
        .seed = 5,
    };
}

struct book {
    FILE *file;
    struct ledger *ledger;
};

static void
write_down(void *context, const struct ledger_event *event)
{
    struct book *book = context;
    char line[256];

    (void)ledger_print(event, line, sizeof(line));
    CHECK(fputs(line, book->file) >= 0);
    ledger_note(book->ledger, event);
}

static void
run(const char *command)
{
    if (system(command) != 0) // NOLINT(cert-env33-c)
        FAIL("%s", command);
}

/* Letters in every state; then the files, while it is open. */
static void
make_golden(const char *folder)
{
    struct book book = {.ledger = ledger_create(1000, 0)};
    const lbx_store_options options = fixture_options();
    char url[600], text[600], command[2000];
    const char *path = test_path();
    struct workers workers = golden_crew(book.ledger, url, &options);
    struct boxes boxes;
    struct worker worker;

    (void)snprintf(url, sizeof(url), "file:%s", path);
    (void)snprintf(text, sizeof(text), "%s.events", path);
    book.file = fopen(text, "we");
    CHECK(book.file);
    workers.tell = write_down;
    workers.context = &book;
    CHECK_OK(boxes_open(&boxes, &workers));
    worker_init(&worker, &workers, &boxes, 0);
    for (int i = 0; i < 60; i++) {
        if (worker_draw(&worker, 5) < 2)
            (void)worker_send(&worker);
        else
            (void)worker_receive(&worker);
    }
    CHECK(fclose(book.file) == 0);
    (void)snprintf(command, sizeof(command),
                   "mkdir %s/1 && cp --sparse=always %s/data.mdb %s/journal "
                   "%s/1 && cp %s %s/1/events && tar -C %s -Sczf %s/1.tar.gz 1",
                   folder, path, path, folder, text, folder, folder, folder);
    run(command);
    boxes_close(&boxes);
    ledger_destroy(book.ledger);
}

TEST(a_store_of_format_1_opens_and_has_every_letter)
{
    struct ledger *ledger = ledger_create(1000, 0);
    const lbx_store_options options = fixture_options();
    char url[600], command[1200], line[256];
    const char *path = test_path();
    const struct workers workers = golden_crew(ledger, url, &options);
    struct score score;
    FILE *book;

    if (getenv("LBX_GOLDEN"))
        make_golden(getenv("LBX_GOLDEN"));
    (void)snprintf(command, sizeof(command),
                   "mkdir -m 700 %s && tar -C %s --strip-components=1 "
                   "--no-same-owner -xzf " CRASH_GOLDEN "/1.tar.gz",
                   path, path);
    run(command);
    (void)snprintf(url, sizeof(url), "%s/events", path);
    book = fopen(url, "re");
    CHECK(book);
    while (fgets(line, sizeof(line), book)) {
        struct ledger_event event;

        CHECK(ledger_parse(line, &event));
        ledger_note(ledger, &event);
    }
    CHECK(fclose(book) == 0 && remove(url) == 0);
    (void)snprintf(url, sizeof(url), "file:%s", path);
    CHECK_OK(workers_drain(&workers));
    score = ledger_judge(ledger);
    test_figure("crash, format 1: %lu letters sent, %lu received, lost=%lu "
                "phantom=%lu resurrected=%lu",
                (unsigned long)score.acks, (unsigned long)score.received,
                (unsigned long)score.lost, (unsigned long)score.phantom,
                (unsigned long)score.resurrected);
    CHECK(score.acks > 20 && score.received > score.deleted / 2);
    CHECK_INT(0, score.failures);
    CHECK_INT(0, score.lost);
    CHECK_INT(0, score.phantom);
    CHECK_INT(0, score.resurrected);
    CHECK_INT(0, score.early);
    ledger_destroy(ledger);
}

/* ---- Newer ---- */

/* Sets the number of a row's format, and its sum. */
static void
make_newer(const char *path, const char *table, MDB_val key)
{
    uint8_t bytes[256];
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    MDB_val value;

    CHECK_INT(0, mdb_env_create(&env));
    CHECK_INT(0, mdb_env_set_maxdbs(env, 32));
    CHECK_INT(0, mdb_env_open(env, path, 0, 0600));
    CHECK_INT(0, mdb_txn_begin(env, NULL, 0, &txn));
    CHECK_INT(0, mdb_dbi_open(txn, table, 0, &dbi));
    CHECK_INT(0, mdb_get(txn, dbi, &key, &value));
    CHECK(value.mv_size <= sizeof(bytes));
    memcpy(bytes, value.mv_data, value.mv_size);
    (void)lbx__put_le32(bytes + 4, lbx__get_le32(bytes + 4) + 1);
    (void)lbx__put_le32(bytes, lbx__crc32c(0, bytes + 4, value.mv_size - 4));
    value.mv_data = bytes;
    CHECK_INT(0, mdb_put(txn, dbi, &key, &value, 0));
    CHECK_INT(0, mdb_txn_commit(txn));
    mdb_env_close(env);
}

static uint32_t
sum_of(const char *path, const char *name)
{
    const size_t size = fixture_size(path, name);
    uint8_t *bytes = malloc(size);
    uint32_t sum;

    CHECK(bytes);
    fixture_read(path, name, bytes, size, 0);
    sum = lbx__crc32c(0, bytes, size);
    free(bytes);
    return sum;
}

TEST(a_store_of_a_newer_format_is_refused_and_left_alone)
{
    char key[] = "store", url[600];
    const char *path = test_path();
    lbx_store_options options = fixture_options();
    lbx_fault fault = {LBX_OK, ""};
    lbx_store *store;
    uint32_t data, journal;

    (void)snprintf(url, sizeof(url), "file:%s", path);
    CHECK_OK(lbx_store_open(url, &options, &store));
    lbx_store_unref(store);
    // It opens again as it is: what follows is the format's doing.
    CHECK_OK(lbx_store_open(url, &options, &store));
    lbx_store_unref(store);
    make_newer(path, "own", (MDB_val){sizeof(key), key});
    data = sum_of(path, "data.mdb");
    journal = sum_of(path, "journal");
    options.fault = &fault;
    CHECK_STATUS(LBX_NEWER, lbx_store_open(url, &options, &store));
    CHECK(fault.text[0]);
    CHECK_INT(data, sum_of(path, "data.mdb"));
    CHECK_INT(journal, sum_of(path, "journal"));
}

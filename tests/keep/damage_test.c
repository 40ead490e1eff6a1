/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damage everywhere: bits that flip, pages that are zeros,
 * swapped, or of an earlier time, files that are cut; in data.mdb and in the
 * journal, one at a time.
 *
 * Each damaged store is checked, salvaged, and used as if nothing had happened.
 * What must hold:
 *
 *   - no letter is delivered that was never sent, or that is not as it was;
 *   - a store whose check says OK has every letter;
 *   - without a check, a letter is missing only if some call said so. LMDB may
 *     bring the process down that reads a damaged page: that is counted, and
 *     lbx_store_options.check is what prevents it;
 *   - a salvage does not crash, and has every letter whose own rows were not
 *     in the damaged place.
 */
#include "known_store.h"

#include "post/rules/body.h"
#include "stores/file/fixture.h"
#include "stores/file/journal.h"
#include "stores/file/repair/view.h"
#include "stores/file/rounds.h"

#include <letterbox/post/file_store.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PAGE = 4096
};

enum kind {
    FLIP,  /* one bit */
    ZERO,  /* a page */
    SWAP,  /* with the page behind it */
    STALE, /* the same page of an earlier copy */
    CUT,   /* the file ends here */
    KINDS
};

static const char *const kinds[KINDS] = {
    "bits flipped", "pages zeroed", "pages swapped", "pages of an earlier time",
    "files cut",
};

struct mutation {
    enum kind kind;
    const char *file;
    uint64_t at;
    int bit;
};

/* Where a letter's body is: in pages of data.mdb, or in a record of the
 * journal. */
struct place {
    bool in_journal;
    uint64_t from, end; /* bytes */
    uint64_t leaf;      /* and this page */
    bool died;          /* it is with the dead letters */
};

struct subject {
    struct known known;
    const char *path;
    char earlier[512];
    struct place places[KNOWN_BOXES][KNOWN_LETTERS];
    uint64_t data_bytes, journal_bytes; /* that are in use */
    uint64_t last_record;
};

struct score {
    long tried, found, whole, said, felled, refused;
    long saved, touched, risen;
};

/* ---- Where letters are ---- */

static struct place *
place_of(struct subject *subject, const uint8_t *bytes, size_t size)
{
    char text[64] = "", name[32];
    int number;

    memcpy(text, bytes, size < 63 ? size : 63);
    if (sscanf(text, "letter %d of %31[^:]:", &number, name) != 2)
        return NULL;
    for (int i = 0; i < KNOWN_BOXES; i++) {
        if (strcmp(name, known_boxes[i]) == 0)
            return &subject->places[i][number];
    }
    return NULL;
}

static void
place_in_data(struct subject *subject)
{
    const char *why;
    lbx__view view;
    lbx__mdb_tree_row row;
    lbx__mdb_tree *tree = &view.tables.trees[LBX__BODIES];
    const int folder = open(subject->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CHECK_OK(lbx__view_open(&view, &lbx__io_system, folder, &why));
    CHECK_OK(lbx__view_find_tables(&view));
    subject->data_bytes = view.tables.pages.count * PAGE;
    while (lbx__mdb_tree_next(tree, &row) == LBX_OK) {
        const uint8_t *at =
            memmem(row.value.data, row.value.size, "letter ", 7);
        struct place *place;

        CHECK(at);
        place = place_of(subject, at,
                         row.value.size -
                             (size_t)(at - (const uint8_t *)row.value.data));
        CHECK(place);
        place->died = memmem(row.value.data, row.value.size, "orders", 7);
        place->from = row.offset;
        place->end = row.offset + row.value.size;
        place->leaf = tree->walk.levels[tree->root.depth - 1].page * PAGE;
    }
    lbx__view_close(&view);
    CHECK(close(folder) == 0);
}

static void
place_in_journal(struct subject *subject)
{
    const size_t size = fixture_size(subject->path, "journal");
    uint8_t *bytes = malloc(size);
    uint64_t generation = 0;
    size_t at = LBX__JOURNAL_FRONT, next;

    CHECK(bytes);
    fixture_read(subject->path, "journal", bytes, size, 0);
    memcpy(&generation, bytes + at + 8, 8);
    for (; memcmp(bytes + at, "LBX", 3) == 0 &&
           memcmp(bytes + at + 8, &generation, 8) == 0;
         at = next) {
        uint32_t record;
        const uint8_t *from = bytes + at, *found;

        memcpy(&record, bytes + at + 4, 4);
        next = at + record;
        subject->last_record = at;
        while ((found = memmem(from, (size_t)(bytes + next - from), "letter ",
                               7)) != NULL) {
            struct place *place =
                place_of(subject, found, (size_t)(bytes + next - found));

            if (place)
                *place = (struct place){true, at, next, 0, false};
            from = found + 1;
        }
    }
    subject->journal_bytes = at;
    CHECK(at > LBX__JOURNAL_FRONT);
    free(bytes);
}

static void
make_subject(struct subject *subject)
{
    subject->path = test_path();
    (void)snprintf(subject->earlier, sizeof(subject->earlier), "%s",
                   test_path());
    known_make(&subject->known, subject->path, 240, true, subject->earlier);
    place_in_data(subject);
    place_in_journal(subject);
}

/* ---- Damaging ---- */

static void
damage(const struct subject *subject, const char *copy,
       const struct mutation *mutation)
{
    char full[600];
    uint8_t page[2 * PAGE] = {0}, byte;
    const uint64_t start = mutation->at / PAGE * PAGE;

    switch (mutation->kind) {
    case FLIP:
        fixture_read(copy, mutation->file, &byte, 1, mutation->at);
        byte ^= (uint8_t)(1 << mutation->bit);
        fixture_write(copy, mutation->file, &byte, 1, mutation->at);
        break;
    case ZERO:
        fixture_write(copy, mutation->file, page, PAGE, start);
        break;
    case SWAP:
        fixture_read(copy, mutation->file, page + PAGE, PAGE, start);
        fixture_read(copy, mutation->file, page, PAGE, start + PAGE);
        fixture_write(copy, mutation->file, page, 2 * PAGE, start);
        break;
    case STALE:
        fixture_read(subject->earlier, mutation->file, page, PAGE, start);
        fixture_write(copy, mutation->file, page, PAGE, start);
        break;
    case CUT:
        (void)snprintf(full, sizeof(full), "%s/%s", copy, mutation->file);
        CHECK(truncate(full, (off_t)mutation->at) == 0);
        break;
    case KINDS:
        break;
    }
}

/* Behind the last record there is nothing that would show it: when it does not
 * check, it has been torn. */
static bool
looks_torn(const struct subject *subject, const struct mutation *mutation)
{
    return strcmp(mutation->file, "journal") == 0 &&
           (mutation->kind == FLIP ? mutation->at
                                   : mutation->at / PAGE * PAGE + PAGE - 1) >=
               subject->last_record;
}

/* Whether a mutation has touched the rows of a letter; with both meta pages, it
 * has touched all. */
static bool
touches(const struct mutation *mutation, const struct place *place)
{
    const bool in_journal = strcmp(mutation->file, "journal") == 0;
    const uint64_t start = mutation->at / PAGE * PAGE;
    uint64_t stop = mutation->kind == SWAP  ? start + 2 * PAGE
                    : mutation->kind == CUT ? UINT64_MAX
                                            : start + PAGE;

    if (mutation->kind == SWAP && start == 0)
        return true;
    if (in_journal != place->in_journal)
        return false;
    if (mutation->kind == FLIP && in_journal) {
        stop = mutation->at + 1;
        return mutation->at < place->end && stop > place->from;
    }
    if (start < place->end && stop > place->from / PAGE * PAGE)
        return true;
    return !in_journal && place->leaf >= start && place->leaf < stop;
}

/* ---- Judging ---- */

static void
count_part(void *context, const lbx_file_store_damage *part)
{
    (void)part;
    ++*(long *)context;
}

static void
fail(const struct mutation *mutation, const char *what)
{
    FAIL("%s at %s %" PRIu64 " bit %d: %s", kinds[mutation->kind],
         mutation->file, mutation->at, mutation->bit, what);
}

static void
judge_salvage(const struct subject *subject, const char *copy,
              const struct mutation *mutation, struct score *score)
{
    struct known_found found;
    long reported = 0;
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT,
                          sound = LBX_FILE_STORE_REPORT_INIT;
    char saved[600];
    lbx_status status;

    (void)snprintf(saved, sizeof(saved), "%s.saved", copy);
    status =
        lbx_file_store_salvage(copy, saved, count_part, &reported, &report);
    if (status != LBX_OK) {
        // A version that is another one, or a file that is gone.
        CHECK(status == LBX_NEWER || status == LBX_NOT_FOUND);
        score->refused++;
        return;
    }
    if (lbx_file_store_check(saved, NULL, NULL, &sound) != LBX_OK ||
        sound.letters != report.letters)
        fail(mutation, "a salvage is not a sound store");
    known_read(&subject->known, saved, true, &found);
    if (found.status != LBX_OK)
        fail(mutation, lbx_status_name(found.status));
    if (found.invented || found.twice)
        fail(mutation, "a salvage has invented letters");
    if (found.alive + found.risen != report.letters)
        fail(mutation, "a salvage has miscounted");
    if (found.alive < subject->known.alive && reported == 0 &&
        !looks_torn(subject, mutation))
        fail(mutation, "a salvage has lost letters in silence");
    for (int box = 0; box < KNOWN_BOXES; box++) {
        for (int i = 0; i < KNOWN_LETTERS; i++) {
            if (subject->known.letters[box][i].fate != KNOWN_ALIVE)
                continue;
            if (touches(mutation, &subject->places[box][i]))
                score->touched++;
            else if (!found.times[box][i] && mutation->kind != CUT)
                fail(mutation, "a salvage has not saved what was intact");
        }
    }
    if (found.risen > 0 && strcmp(mutation->file, "journal") != 0 &&
        mutation->kind != STALE)
        fail(mutation, "a salvage brought back what was acknowledged");
    score->saved += found.alive;
    score->risen += found.risen;
    known_remove(saved);
}

/* What ends a process that does not check does not harm one that does. */
static void
refuse_to_open(const char *copy, const struct mutation *mutation)
{
    lbx_store_options options = fixture_options();
    lbx_fault fault = {LBX_OK, ""};
    char url[600];
    lbx_store *store;

    options.check = true;
    options.fault = &fault;
    (void)snprintf(url, sizeof(url), "file:%s", copy);
    if (lbx_store_open(url, &options, &store) != LBX_CORRUPT || !fault.text[0])
        fail(mutation, "opened with a check, and not refused");
}

static void
try_one(const struct subject *subject, const struct mutation *mutation,
        struct score *score)
{
    struct known_found found;
    long reported = 0;
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    const char *copy = test_path();
    lbx_status status;
    bool lived, whole;

    known_copy(subject->path, copy);
    damage(subject, copy, mutation);
    score->tried++;
    status = lbx_file_store_check(copy, count_part, &reported, &report);
    if (status == LBX_CORRUPT && reported == 0)
        fail(mutation, "damage without a part");
    score->found += status != LBX_OK;
    judge_salvage(subject, copy, mutation, score);
    lived = known_read_apart(&subject->known, copy, false, &found);
    whole =
        lived && found.status == LBX_OK && found.alive == subject->known.alive;
    if (found.invented)
        fail(mutation, "a wrong letter was received");
    if (found.twice && found.status == LBX_OK)
        fail(mutation, "a letter was received twice, and it was not reported");
    if (status == LBX_OK && !whole && !looks_torn(subject, mutation))
        fail(mutation, "a check said OK, and not all was there");
    if (lived && found.status == LBX_OK && !whole &&
        !looks_torn(subject, mutation))
        fail(mutation, "letters are missing, and it was not reported");
    if (!lived)
        refuse_to_open(copy, mutation);
    score->whole += whole;
    score->felled += !lived;
    score->said += lived && found.status != LBX_OK;
    known_remove(copy);
}

static void
report(const char *file, enum kind kind, const struct score *score)
{
    test_figure(
        "keep %s, %s: %ld tried, check found %ld; used without a check: "
        "%ld whole, %ld said so, %ld ended the process; salvage saved "
        "%ld letters, %ld were touched",
        file, kinds[kind], score->tried, score->found, score->whole,
        score->said, score->felled, score->saved, score->touched);
}

static void
sweep(enum kind kind, const char *file, long brief, long full)
{
    static struct subject subject;
    uint64_t seed = rounds_seed();
    struct score score = {0};
    long times = test_rounds(brief, full);
    struct rounds rounds;
    uint64_t bytes;

    test_paths_in_memory();
    make_subject(&subject);
    bytes = strcmp(file, "journal") == 0 ? subject.journal_bytes
                                         : subject.data_bytes;
    if (kind != FLIP && kind != CUT && times > (long)(bytes / PAGE))
        times = (long)(bytes / PAGE);
    rounds = rounds_of(times, 12, 12);
    while (rounds_next(&rounds)) {
        // Pages in a scattered order, so that a part of them is one of all.
        const long i = rounds.done * (times % 61 ? 61 : 1) % times;
        struct mutation mutation = {kind, file, rounds_draw(&seed, bytes),
                                    (int)rounds_draw(&seed, 8)};

        // Each page once; of flips, many in the heads of pages.
        if (kind != FLIP && kind != CUT)
            mutation.at = (uint64_t)i * bytes / (uint64_t)times;
        else if (kind == FLIP && i % 3 == 0)
            mutation.at = mutation.at / PAGE * PAGE + rounds_draw(&seed, 160);
        if (kind == SWAP && mutation.at / PAGE + 2 > bytes / PAGE)
            continue;
        try_one(&subject, &mutation, &score);
    }
    report(file, kind, &score);
    CHECK(score.tried > 0 && score.found > 0);
}

/* name, kind, file, how often at most in script/test, and with --full */
#define SWEEP(name, ...)                                                       \
    TEST(name)                                                                 \
    {                                                                          \
        sweep(__VA_ARGS__);                                                    \
    }

SWEEP(bits_flipped_in_data, FLIP, "data.mdb", 150, 20000)
SWEEP(pages_zeroed_in_data, ZERO, "data.mdb", 120, 100000)
SWEEP(pages_swapped_in_data, SWAP, "data.mdb", 60, 100000)
SWEEP(pages_of_an_earlier_time_in_data, STALE, "data.mdb", 80, 100000)
SWEEP(data_cut_anywhere, CUT, "data.mdb", 30, 2000)
SWEEP(bits_flipped_in_the_journal, FLIP, "journal", 100, 10000)
SWEEP(pages_zeroed_in_the_journal, ZERO, "journal", 20, 1000)
SWEEP(journal_cut_anywhere, CUT, "journal", 20, 1000)

/* Reads the row at a place as LMDB has it. */
static void
read_without_sums(const char *path, const struct place *place, long *wrong,
                  long *reported)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lbx__attributes attributes = {NULL, NULL, 0};
    const char *why;
    lbx__mdb_tree_row row;
    lbx__bytes value;
    lbx__view view;
    lbx__body body;

    CHECK_OK(lbx__view_open(&view, &lbx__io_system, folder, &why));
    CHECK_OK(lbx__view_find_tables(&view));
    while (lbx__mdb_tree_next(&view.tables.trees[LBX__BODIES], &row) ==
           LBX_OK) {
        if (row.offset != place->from)
            continue;
        value = (lbx__bytes){(const uint8_t *)row.value.data + LBX__SUM_BYTES,
                             row.value.size - LBX__SUM_BYTES};
        *wrong += lbx__body_decode(value, &attributes, &body) == LBX_OK;
        *reported += lbx__row_check(LBX__BODIES, row.key, row.value, &value) ==
                     LBX_CORRUPT;
    }
    lbx__body_attributes_fini(&attributes);
    lbx__view_close(&view);
    CHECK(close(folder) == 0);
}

/* ---- What is reported ---- */

struct wanted {
    const char *box, *what;
    uint64_t sequence;
    bool reported;
};

static void
look_for(void *context, const lbx_file_store_damage *part)
{
    struct wanted *wanted = context;

    wanted->reported |= part->box && strcmp(part->box, wanted->box) == 0 &&
                        strcmp(part->what, wanted->what) == 0 &&
                        part->first_sequence <= wanted->sequence &&
                        part->last_sequence >= wanted->sequence;
}

static void
find_range(const struct subject *subject, const struct mutation *mutation,
           struct wanted *wanted)
{
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    const char *copy = test_path();

    known_copy(subject->path, copy);
    damage(subject, copy, mutation);
    CHECK_STATUS(LBX_CORRUPT,
                 lbx_file_store_check(copy, look_for, wanted, &report));
    CHECK(report.damaged + report.missing > 0);
    if (!wanted->reported)
        fail(mutation, "the letter is not named");
    known_remove(copy);
}

/* Damage is reported with its range. */
TEST(a_damaged_letter_is_named_and_so_are_those_of_a_lost_page)
{
    static struct subject subject;
    long letters = 0;

    test_paths_in_memory();
    make_subject(&subject);
    for (int box = 0; box < KNOWN_BOXES; box++) {
        for (int i = 0; i < KNOWN_LETTERS; i += 20) {
            const struct place *place = &subject.places[box][i];
            // Dead letters are in another box than they were sent to.
            struct wanted wanted = {known_boxes[box], "body",
                                    subject.known.letters[box][i].sequence,
                                    false};
            struct mutation mutation = {FLIP, "data.mdb", place->end - 9, 3};

            if (subject.known.letters[box][i].fate != KNOWN_ALIVE ||
                place->in_journal || place->died)
                continue;
            find_range(&subject, &mutation, &wanted);
            mutation = (struct mutation){ZERO, "data.mdb", place->leaf, 0};
            wanted.reported = false;
            find_range(&subject, &mutation, &wanted);
            letters++;
        }
    }
    CHECK(letters > 5);
}

/* A copy of the subject in which the body of letter i of the first box has a
 * bit flipped; NULL if that letter is not alive and in data.mdb. */
static const char *
copy_with_flip(const struct subject *subject, int i, struct mutation *ret)
{
    const struct place *place = &subject->places[0][i];
    const char *copy = test_path();

    if (subject->known.letters[0][i].fate != KNOWN_ALIVE || place->in_journal)
        return NULL;
    *ret = (struct mutation){FLIP, "data.mdb", place->end - 5, 1};
    known_copy(subject->path, copy);
    damage(subject, copy, ret);
    return copy;
}

/* Only the damaged letter is not received. */
TEST(one_damaged_letter_costs_no_other)
{
    static struct subject subject;
    long letters = 0;

    test_paths_in_memory();
    make_subject(&subject);
    for (int i = 0; i < KNOWN_LETTERS; i += 20) {
        struct mutation mutation;
        struct known_found found;
        const char *copy = copy_with_flip(&subject, i, &mutation);

        if (!copy)
            continue;
        CHECK(known_read_apart(&subject.known, copy, false, &found));
        if (found.alive != subject.known.alive - 1 || found.times[0][i] != 0)
            fail(&mutation, "others were not received");
        CHECK_STATUS(LBX_CORRUPT, found.status);
        known_remove(copy);
        letters++;
    }
    CHECK(letters > 2);
}

/* The control: a reader that does not check the sums of rows gets bodies that
 * differ from those that were sent. */
TEST(without_sums_wrong_bodies_would_be_received)
{
    static struct subject subject;
    long wrong = 0, reported = 0;

    test_paths_in_memory();
    make_subject(&subject);
    for (int i = 0; i < KNOWN_LETTERS; i += 30) {
        struct mutation mutation;
        struct place found = subject.places[0][i];
        const char *copy = copy_with_flip(&subject, i, &mutation);

        if (!copy)
            continue;
        read_without_sums(copy, &found, &wrong, &reported);
    }
    test_note("%ld wrong bodies, %ld of them with a wrong sum", wrong,
              reported);
    CHECK(wrong > 2 && reported == wrong);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a store, compared with each other.
 *
 * Each table is walked once, in whatever order. What belongs to a letter is
 * looked up when its body is met; rows that no letter has shown themselves by
 * their number, which is counted for each box.
 *
 * Rows under a row id that was purged or deleted, and is not reclaimed yet, are
 * nobody's: their sums are checked, and nothing else.
 */
#include "stores/file/audit.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "post/rules/box_row.h"

#include <stdlib.h>

struct counts {
    uint64_t letters, leased, delayed, bytes, sum;
};

/* A box, by its row id. */
struct audited {
    uint64_t box, uid;
    uint64_t next, fresh;
    int64_t oldest;
    bool is_old;
    bool has_facts;
    bool fifo;
    struct counts said, found;  /* by the head, and by the walk */
    uint64_t rows[LBX__TABLES]; /* that there are, */
    uint64_t want[LBX__TABLES]; /* and that letters have */
};

struct audit {
    lbx__view *view;
    lbx__teller *teller;
    struct audited *boxes; /* sorted by row id */
    size_t count, room;
    uint64_t highest; /* number that was ever drawn (X1) */
    lbx__attributes attributes;
    char name[LBX_BOX_NAME_BYTES];
};

/* ---- Telling ---- */

void
lbx__tell(lbx__teller *teller, const lbx_damage *part)
{
    teller->told++;
    if (teller->damage)
        teller->damage(teller->context, part);
}

lbx_status
lbx__report_end(lbx_file_report *ret, lbx_status status, const lbx_fault *fault,
                const char *dir)
{
    lbx_fault said = *fault;

    if (status == LBX_OK)
        said = (lbx_fault){LBX_OK, ""};
    else if (!said.text[0])
        (void)lbx__fault_set(&said, status, "%s%s%s", dir, *dir ? ": " : "",
                             lbx_status_text(status));
    said.status = status;
    ret->fault = said;
    return status;
}

const char *
lbx__table_word(lbx__table table)
{
    static const char *const words[LBX__TABLES] = {
        "store", "name", "box",  "head", "body",  "state",
        "ready", "wait", "line", "turn", "group", "group",
        "seen",  "seen", "age",  "task", "old",
    };

    return (int)table < LBX__TABLES ? words[table] : "table";
}

/* The name of a box; NULL when it is lost. */
static const char *
name_of(struct audit *audit, uint64_t uid)
{
    const lbx__key key = lbx__key_1(uid);
    lbx__box_row row;
    lbx__bytes value;

    if (lbx__view_get(audit->view, LBX__BOXES, &key, &value) != LBX_OK ||
        lbx__box_row_decode(value, &row) != LBX_OK)
        return NULL;
    memcpy(audit->name, row.name, strlen(row.name) + 1);
    return audit->name;
}

static void
tell_box(struct audit *audit, uint64_t uid, const char *what, uint64_t first,
         uint64_t last)
{
    const lbx_damage part = {
        .box = name_of(audit, uid),
        .what = what,
        .first_sequence = first,
        .last_sequence = last,
    };

    lbx__tell(audit->teller, &part);
}

static int
compare_boxes(const void *a, const void *b)
{
    const struct audited *one = a, *other = b;

    return (one->box > other->box) - (one->box < other->box);
}

static struct audited *
find_box(const struct audit *audit, uint64_t box)
{
    const struct audited wanted = {.box = box};

    return audit->count > 0 ? bsearch(&wanted, audit->boxes, audit->count,
                                      sizeof(audit->boxes[0]), compare_boxes)
                            : NULL;
}

static bool
is_by_uid(lbx__table table)
{
    return table == LBX__BOXES || table == LBX__BOX_RECORDS ||
           table == LBX__TASKS;
}

/* A part of a table that is lost: from one key on, before another. */
static void
tell_range(struct audit *audit, lbx__table table, lbx__bytes first,
           lbx__bytes end)
{
    const bool has_sequence = table == LBX__BODIES || table == LBX__STATES;
    const uint64_t number = table < LBX__TABLES && first.size >= 8 &&
                                    table != LBX__NAMES && table != LBX__META
                                ? lbx__key_number(first, 0)
                                : 0;
    const struct audited *box = find_box(audit, number);
    uint64_t from = 0, last = 0;

    if (has_sequence && first.size == 16) {
        from = lbx__key_number(first, 1);
        last = box ? box->next - 1 : 0;
        if (end.size == 16 && lbx__key_number(end, 0) == number)
            last = lbx__key_number(end, 1) - 1;
        if (last < from)
            last = from;
    }
    tell_box(audit,
             is_by_uid(table) ? number
             : box            ? box->uid
                              : 0,
             lbx__table_word(table), from, last);
}

static void
tell_page(void *context, lbx__table table, const lbx__bad_page *page)
{
    struct audit *audit = context;
    lbx__bytes first = page->first;

    // The first page of a tree has no key to begin with: its first box does.
    if (first.size == 0 && audit->count > 0 &&
        (table == LBX__BODIES || table == LBX__STATES)) {
        const lbx__key key = lbx__key_2(audit->boxes[0].box, 1);

        tell_range(audit, table, lbx__key_bytes(&key), page->end);
        return;
    }
    tell_range(audit, table, first, page->end);
}

/* ---- Walking ---- */

typedef lbx_status each_row(struct audit *audit, const lbx__view_row *row);

/* All rows of a table; `each` gets those whose sum is right. */
static lbx_status
walk(struct audit *audit, lbx__table table, each_row *each)
{
    const uint64_t told = audit->teller->told;
    lbx__view_row row;
    lbx_status status;

    while ((status = lbx__view_next(audit->view, table, &row)) == LBX_OK) {
        if (row.is_good) {
            status = each(audit, &row);
            if (status != LBX_OK)
                return status;
            continue;
        }
        audit->teller->report.damaged++;
        tell_range(audit, table, row.key, row.key);
    }
    if (status != LBX_NOT_FOUND)
        return status;
    if (!audit->view->has_table[table] ||
        (!audit->view->is_whole[table] && told == audit->teller->told)) {
        const lbx_damage part = {.what = lbx__table_word(table)};

        lbx__tell(audit->teller, &part);
    }
    return LBX_OK;
}

static lbx_status
add_box(struct audit *audit, const struct audited *box)
{
    if (audit->count == audit->room) {
        const size_t room = audit->room ? 2 * audit->room : 64;
        struct audited *boxes = lbx__alloc(NULL, room * sizeof(*boxes), 8);

        if (!boxes)
            return LBX_NO_MEMORY;
        if (audit->count > 0)
            memcpy(boxes, audit->boxes, audit->count * sizeof(*boxes));
        lbx__free(NULL, audit->boxes, audit->room * sizeof(*boxes));
        audit->boxes = boxes;
        audit->room = room;
    }
    audit->boxes[audit->count++] = *box;
    return LBX_OK;
}

static void
note_number(struct audit *audit, uint64_t number)
{
    if (number > audit->highest)
        audit->highest = number;
}

/* ---- Boxes ---- */

static lbx_status
each_old(struct audit *audit, const lbx__view_row *row)
{
    const struct audited box = {
        .box = lbx__key_number(row->key, 0),
        .is_old = true,
    };

    note_number(audit, box.box);
    return add_box(audit, &box);
}

static lbx_status
each_head(struct audit *audit, const lbx__view_row *row)
{
    const uint64_t uid = lbx__key_number(row->key, 0);
    const lbx__key key = lbx__key_1(uid);
    struct audited box = {.uid = uid};
    lbx__box_record head;
    lbx__facts facts;
    lbx__bytes value;
    lbx_status status;

    audit->teller->report.boxes++;
    if (lbx__box_record_decode(row->value, &head) != LBX_OK) {
        tell_box(audit, uid, "head", 0, 0);
        return LBX_OK;
    }
    box.box = head.box;
    box.next = head.next;
    box.fresh = head.fresh;
    box.oldest = head.oldest;
    box.said = (struct counts){head.letters, head.leased, head.delayed,
                               head.bytes, head.sum};
    note_number(audit, uid);
    note_number(audit, box.box);
    status = lbx__view_get(audit->view, LBX__BOXES, &key, &value);
    if (status == LBX_OK)
        status = lbx__box_row_decode_facts(value, &facts);
    if (status == LBX_NO_MEMORY)
        return status;
    box.has_facts = status == LBX_OK;
    box.fifo = box.has_facts && facts.options.fifo;
    if (!box.has_facts || facts.configured != head.configured)
        tell_box(audit, uid, "box", 0, 0);
    return add_box(audit, &box);
}

/* A box has a head, and its name leads to it. */
static lbx_status
each_box(struct audit *audit, const lbx__view_row *row)
{
    const uint64_t uid = lbx__key_number(row->key, 0);
    const lbx__key key = lbx__key_1(uid);
    lbx__box_row box;
    lbx__bytes value;
    lbx__key name;

    note_number(audit, uid);
    if (lbx__view_get(audit->view, LBX__BOX_RECORDS, &key, &value) != LBX_OK)
        tell_box(audit, uid, "head", 0, 0);
    if (lbx__box_row_decode(row->value, &box) != LBX_OK)
        return LBX_OK; // its head has told
    name = lbx__key_name(box.space, box.name);
    if (lbx__view_get(audit->view, LBX__NAMES, &name, &value) != LBX_OK ||
        value.size != 8 || lbx__get_le64(value.data) != uid)
        tell_box(audit, uid, "name", 0, 0);
    return LBX_OK;
}

static lbx_status
each_name(struct audit *audit, const lbx__view_row *row)
{
    const uint64_t uid =
        row->value.size == 8 ? lbx__get_le64(row->value.data) : 0;
    const lbx__key key = lbx__key_1(uid);
    lbx__bytes value;

    if (lbx__view_get(audit->view, LBX__BOXES, &key, &value) != LBX_OK)
        tell_box(audit, uid, "box", 0, 0);
    return LBX_OK;
}

static lbx_status
each_task(struct audit *audit, const lbx__view_row *row)
{
    const lbx__key key = lbx__key_1(lbx__key_number(row->key, 0));
    lbx__bytes value;

    note_number(audit, lbx__key_number(row->key, 1));
    if (lbx__view_get(audit->view, LBX__BOX_RECORDS, &key, &value) != LBX_OK)
        tell_box(audit, lbx__key_number(row->key, 0), "task", 0, 0);
    return LBX_OK;
}

static lbx_status
each_meta(struct audit *audit, const lbx__view_row *row)
{
    (void)audit;
    (void)row;
    return LBX_OK;
}

/* Who the store is, and X1. */
static void
check_meta(struct audit *audit)
{
    const lbx__key store = lbx__key_text("store");
    const lbx__key numbers = lbx__key_text("numbers");
    const lbx_damage part = {.what = lbx__table_word(LBX__META)};
    lbx__bytes value;
    const lbx_status status =
        lbx__view_get(audit->view, LBX__META, &store, &value);

    if (status == LBX_NOT_FOUND && audit->highest == 0)
        return; // made, and never used
    if (status != LBX_OK ||
        lbx__view_get(audit->view, LBX__META, &numbers, &value) != LBX_OK ||
        value.size != 8 || lbx__get_le64(value.data) <= audit->highest)
        lbx__tell(audit->teller, &part);
}

/* ---- Letters ---- */

/* Whether there is a row with that value. */
static bool
has_row(struct audit *audit, lbx__table table, const lbx__key *key,
        const uint64_t *number)
{
    lbx__bytes value;

    if (lbx__view_get(audit->view, table, key, &value) != LBX_OK)
        return false;
    return !number || (value.size == 8 && lbx__get_le64(value.data) == *number);
}

/* H4. */
static bool
check_state(struct audit *audit, struct audited *box, uint64_t sequence,
            const lbx__state *state, lbx__bytes value)
{
    const lbx__key key = lbx__key_2(box->box, sequence);
    const lbx__key due =
        lbx__key_3(box->box, (uint64_t)state->due, state->turn);
    const lbx__table table =
        state->kind == LBX__IS_READY ? LBX__READY : LBX__WAITS;

    box->found.sum += lbx__row_hash(LBX__STATES, &key, lbx__row_sum(value));
    box->found.leased += state->kind == LBX__IS_LEASED;
    box->found.delayed += state->kind == LBX__IS_DELAYED;
    box->want[LBX__STATES]++;
    if (table == LBX__READY && box->fifo)
        return true;
    box->want[table]++;
    return has_row(audit, table, &due, &sequence);
}

/* The rows that a letter must have beside its body. */
static lbx_status
check_letter(struct audit *audit, struct audited *box, uint64_t sequence,
             const lbx__body *body)
{
    const lbx__key key = lbx__key_2(box->box, sequence);
    const lbx__key line = lbx__key_3(box->box, body->gid, sequence);
    const lbx__key age =
        lbx__key_3(box->box, (uint64_t)body->sent_ns, sequence);
    lbx__state state;
    lbx__bytes value;
    lbx_status status = lbx__view_get(audit->view, LBX__STATES, &key, &value);

    if (status == LBX_NO_MEMORY)
        return status;
    if (status == LBX_OK && lbx__body_decode_state(value, &state) != LBX_OK)
        status = LBX_CORRUPT;
    if (status == LBX_OK && !check_state(audit, box, sequence, &state, value))
        tell_box(audit, box->uid,
                 lbx__table_word(state.kind == LBX__IS_READY ? LBX__READY
                                                             : LBX__WAITS),
                 sequence, sequence);
    if (sequence >= box->next || body->sent_ns < box->oldest ||
        (status == LBX_NOT_FOUND && box->has_facts && !box->fifo &&
         sequence < box->fresh))
        tell_box(audit, box->uid, "state", sequence, sequence); // H2, H3
    if (body->gid != 0) {
        box->want[LBX__LINES]++;
        if (!has_row(audit, LBX__LINES, &line, NULL))
            tell_box(audit, box->uid, "line", sequence, sequence);
    }
    if (body->aged) {
        box->want[LBX__AGE]++;
        if (!has_row(audit, LBX__AGE, &age, NULL))
            tell_box(audit, box->uid, "age", sequence, sequence);
    }
    return LBX_OK;
}

static lbx_status
each_body(struct audit *audit, const lbx__view_row *row)
{
    struct audited *box = find_box(audit, lbx__key_number(row->key, 0));
    const uint64_t sequence = lbx__key_number(row->key, 1);
    const lbx__key key = lbx__key_2(lbx__key_number(row->key, 0), sequence);
    lbx__body body;
    lbx_status status;

    if (box && box->is_old)
        return LBX_OK;
    status = lbx__body_decode(row->value, &audit->attributes, &body);
    if (status == LBX_NO_MEMORY)
        return status;
    if (!box || status != LBX_OK) {
        audit->teller->report.damaged++;
        tell_box(audit, box ? box->uid : 0, box ? "body" : "head", sequence,
                 sequence);
        return LBX_OK;
    }
    audit->teller->report.letters++;
    box->found.letters++;
    box->found.bytes += body.counted_bytes;
    box->found.sum += lbx__row_hash(LBX__BODIES, &key, row->sum);
    return check_letter(audit, box, sequence, &body);
}

/* Rows of all other tables under a row id: how many there are. */
#define EACH_OTHER(name, table)                                                \
    static lbx_status each_##name(struct audit *audit,                         \
                                  const lbx__view_row *row)                    \
    {                                                                          \
        struct audited *box = find_box(audit, lbx__key_number(row->key, 0));   \
                                                                               \
        if (box)                                                               \
            box->rows[table]++;                                                \
        else                                                                   \
            tell_range(audit, table, row->key, row->key);                      \
        return LBX_OK;                                                         \
    }

EACH_OTHER(state, LBX__STATES)
EACH_OTHER(ready, LBX__READY)
EACH_OTHER(wait, LBX__WAITS)
EACH_OTHER(line, LBX__LINES)
EACH_OTHER(turn, LBX__GROUP_DUE)
EACH_OTHER(group, LBX__GROUPS)
EACH_OTHER(gid, LBX__GIDS)
EACH_OTHER(seen, LBX__SEEN)
EACH_OTHER(seen_due, LBX__SEEN_DUE)
EACH_OTHER(age, LBX__AGE)

/* ---- Counts ---- */

static void
check_counts(struct audit *audit, const struct audited *box)
{
    static const lbx__table of_letters[] = {
        LBX__STATES, LBX__READY, LBX__WAITS, LBX__LINES, LBX__AGE,
    };
    const struct counts *said = &box->said, *found = &box->found;
    const uint64_t groups = box->rows[LBX__GROUPS];

    if (said->letters > found->letters)
        audit->teller->report.missing += said->letters - found->letters;
    if (memcmp(said, found, sizeof(*said)) != 0)
        tell_box(audit, box->uid, "count", 0, 0); // H1
    for (size_t i = 0; i < sizeof(of_letters) / sizeof(of_letters[0]); i++) {
        if (box->rows[of_letters[i]] != box->want[of_letters[i]])
            tell_box(audit, box->uid, lbx__table_word(of_letters[i]), 0, 0);
    }
    if (box->rows[LBX__GIDS] != groups || box->rows[LBX__GROUP_DUE] != groups ||
        (groups == 0) != (box->want[LBX__LINES] == 0) ||
        box->rows[LBX__SEEN] > box->rows[LBX__SEEN_DUE])
        tell_box(audit, box->uid, "group", 0, 0); // Q5
}

/* A page that LMDB may use again while it is in use would be lost then. */
static void
check_unused(struct audit *audit)
{
    const lbx_damage part = {.what = "free pages"};

    if (!audit->view->knows_unused || lbx__view_overlaps(audit->view))
        lbx__tell(audit->teller, &part);
}

static lbx_status
check_all(struct audit *audit)
{
    static const struct {
        lbx__table table;
        each_row *each;
    } walks[] = {
        {LBX__BOXES, each_box},    {LBX__NAMES, each_name},
        {LBX__TASKS, each_task},   {LBX__META, each_meta},
        {LBX__BODIES, each_body},  {LBX__STATES, each_state},
        {LBX__READY, each_ready},  {LBX__WAITS, each_wait},
        {LBX__LINES, each_line},   {LBX__GROUP_DUE, each_turn},
        {LBX__GROUPS, each_group}, {LBX__GIDS, each_gid},
        {LBX__SEEN, each_seen},    {LBX__SEEN_DUE, each_seen_due},
        {LBX__AGE, each_age},
    };
    lbx_status status = walk(audit, LBX__BOX_RECORDS, each_head);

    if (status == LBX_OK)
        status = walk(audit, LBX__GARBAGE, each_old);
    if (audit->count > 0)
        qsort(audit->boxes, audit->count, sizeof(audit->boxes[0]),
              compare_boxes);
    for (size_t i = 0; status == LBX_OK && i < sizeof(walks) / sizeof(walks[0]);
         i++)
        status = walk(audit, walks[i].table, walks[i].each);
    if (status != LBX_OK)
        return status;
    check_meta(audit);
    for (size_t i = 0; i < audit->count; i++) {
        if (!audit->boxes[i].is_old)
            check_counts(audit, &audit->boxes[i]);
    }
    check_unused(audit);
    return LBX_OK;
}

lbx_status
lbx__audit_rows(lbx__view *view, lbx__teller *teller)
{
    struct audit audit = {.view = view, .teller = teller};
    lbx__tree_row row;
    lbx_status status;

    lbx__view_listen(view, tell_page, &audit);
    // The storage's own table has a walk too, for its pages.
    while (view->has_table[LBX__OWN] &&
           lbx__tree_next(&view->tables[LBX__OWN], &row) == LBX_OK)
        ;
    status = check_all(&audit);
    lbx__view_listen(view, NULL, NULL);
    lbx__body_attributes_fini(&audit.attributes);
    lbx__free(NULL, audit.boxes, audit.room * sizeof(*audit.boxes));
    return status;
}

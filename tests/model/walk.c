/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random walk of a store and the model, in step; see model.h.
 *
 * Everything is drawn from the seed, the clock too: a walk that failed is walked
 * again by its seed. Times are whole seconds, so that many things fall on the
 * same moment; now and then the clock goes to the very moment something is due,
 * or one nanosecond before.
 */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECEIPTS = 48,
    PEEKED_MOST = 4096
};

struct ticket {
    int box;
    unsigned life;
    uint64_t sequence;
    uint32_t epoch;
    uint8_t bytes[LBX_RECEIPT_MOST_BYTES];
    size_t size;
};

struct got {
    unsigned number;
    lbx_id id;
    uint64_t sequence;
    uint32_t deliveries;
    char group[16];
    char source[16];
    uint8_t receipt[LBX_RECEIPT_MOST_BYTES];
    size_t receipt_bytes;
};

struct walk {
    const model_subject *subject;
    uint64_t seed, random;
    unsigned step;
    unsigned numbers;
    struct model model;
    lbx_box uids[MODEL_BOXES];
    struct ticket tickets[RECEIPTS];
    unsigned ticket_count;
    struct got *got;
    unsigned got_count;
    char *why;
    size_t why_bytes;
    bool failed;
};

/* ---- Chance, and its end ---- */

static uint64_t
draw(struct walk *walk)
{
    // SplitMix64.
    uint64_t z = walk->random += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static unsigned
below(struct walk *walk, unsigned end)
{
    return (unsigned)(draw(walk) % end);
}

static bool
chance(struct walk *walk, unsigned percent)
{
    return below(walk, 100) < percent;
}

__attribute__((format(printf, 2, 3))) static void
differ(struct walk *walk, const char *format, ...)
{
    char text[200];
    va_list list;

    if (walk->failed)
        return;
    walk->failed = true;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    snprintf(walk->why, walk->why_bytes, "%s, seed 0x%llx, step %u: %s",
             walk->subject->name, (unsigned long long)walk->seed, walk->step,
             text);
}

static void
expect(struct walk *walk, const char *what, lbx_status expected,
       lbx_status actual)
{
    if (expected != actual)
        differ(walk, "%s: expected %s, got %s", what, lbx_status_name(expected),
               lbx_status_name(actual));
}

/* ---- Calls ---- */

static void
collect(void *context, const lbx_delivery *delivery)
{
    struct walk *walk = context;
    struct got *got = &walk->got[walk->got_count];
    const lbx_parcel *parcel = &delivery->parcel;
    char body[32] = "";

    if (walk->got_count == PEEKED_MOST)
        return;
    walk->got_count++;
    if (parcel->body_bytes < sizeof(body))
        memcpy(body, parcel->body, parcel->body_bytes);
    got->number = (unsigned)strtoul(body, NULL, 10);
    got->id = delivery->id;
    got->sequence = delivery->sequence;
    got->deliveries = delivery->delivery_count;
    snprintf(got->group, sizeof(got->group), "%s",
             parcel->group ? parcel->group : "");
    snprintf(got->source, sizeof(got->source), "%s",
             delivery->dead_letter_source ? delivery->dead_letter_source : "");
    got->receipt_bytes = delivery->receipt_bytes;
    if (delivery->receipt_bytes > 0)
        memcpy(got->receipt, delivery->receipt, delivery->receipt_bytes);
}

static lbx_status
call(struct walk *walk, lbx_verb verb, void *request)
{
    walk->got_count = 0;
    return walk->subject->call(walk->subject->context, verb, request, collect,
                               walk);
}

static const char *
name_of(int box)
{
    static const char *names[MODEL_BOXES] = {"b0", "b1", "b2",
                                             "f0", "f1", "f2"};

    return names[box];
}

/* The kinds: three plain ones, three in order. */
static bool
is_fifo(int box)
{
    return box >= MODEL_BOXES / 2;
}

/* What was delivered is this letter; what the model could not know, it learns. */
static void
compare(struct walk *walk, const char *what, const struct got *got,
        model_letter *letter)
{
    const char *source = letter->death ? name_of((int)letter->death - 1) : "";

    if (got->number != letter->number)
        differ(walk, "%s: expected letter %u, got %u", what, letter->number,
               got->number);
    if (got->deliveries != letter->deliveries)
        differ(walk, "%s: letter %u: expected delivery %u, got %u", what,
               letter->number, letter->deliveries, got->deliveries);
    if (letter->sequence == 0)
        letter->sequence = got->sequence;
    if (letter->id.text[0] == '\0')
        letter->id = got->id;
    if (got->sequence != letter->sequence)
        differ(walk, "%s: letter %u has another sequence", what,
               letter->number);
    if (strcmp(got->id.text, letter->id.text) != 0)
        differ(walk, "%s: letter %u has another id", what, letter->number);
    if (strcmp(got->source, source) != 0)
        differ(walk, "%s: letter %u: expected source '%s', got '%s'", what,
               letter->number, source, got->source);
}

/* ---- Boxes ---- */

static int64_t
seconds(struct walk *walk, unsigned most)
{
    return (int64_t)below(walk, most + 1) * LBX_SECOND;
}

static lbx_box_options
draw_options(struct walk *walk, int box, int *ret_dead)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    *ret_dead = -1;
    options.fifo = is_fifo(box);
    options.strict = options.fifo || chance(walk, 50);
    options.keep_place = chance(walk, 30);
    if (chance(walk, 40))
        options.retention_ns = 10 * LBX_SECOND + seconds(walk, 30);
    if (chance(walk, 30))
        options.capacity_letters = 3 + below(walk, 8);
    if (chance(walk, 30))
        options.limits.leased_most = 1 + below(walk, 5);
    if (chance(walk, 30)) {
        options.limits.lease_most_ns = 8 * LBX_SECOND;
        options.lease_ns = LBX_SECOND;
    }
    if (options.fifo && chance(walk, 50))
        options.deduplication = LBX_DEDUPLICATE_GROUP;
    if (chance(walk, 50)) {
        const int dead = (is_fifo(box) ? MODEL_BOXES / 2 : 0) +
                         (int)below(walk, MODEL_BOXES / 2);

        if (walk->model.boxes[dead].there || dead == box) {
            *ret_dead = dead;
            options.dead_letters = name_of(dead);
            options.deliveries_most = 1 + below(walk, 3);
        }
    }
    return options;
}

static void
create_box(struct walk *walk, int box)
{
    int dead;
    lbx_box_options options = draw_options(walk, box, &dead);
    lbx_box_request request = {.name = name_of(box), .options = &options};

    expect(walk, "create", LBX_OK, call(walk, LBX_VERB_CREATE, &request));
    if (request.ret_box.uid == walk->uids[box].uid)
        differ(walk, "create: the uid of an earlier life");
    walk->uids[box] = request.ret_box;
    model_create(&walk->model, box, &options, dead);
}

static void
change_box(struct walk *walk, int box)
{
    lbx_box_request request = {.box = walk->uids[box]};
    model_box *there = &walk->model.boxes[box];
    int dead;
    lbx_box_options options = draw_options(walk, box, &dead);

    if (!there->there) {
        create_box(walk, box);
        return;
    }
    model_expire(&walk->model, box);
    switch (below(walk, 6)) {
    case 0:
        expect(walk, "delete", LBX_OK, call(walk, LBX_VERB_DELETE, &request));
        model_empty(&walk->model, box);
        there->there = false;
        break;
    case 1:
        if (walk->subject->undoes) {
            lbx_box_counts counts;

            model_counts(&walk->model, box, &counts);
            expect(walk, "purge", LBX_OK, call(walk, LBX_VERB_PURGE, &request));
            if (request.ret_purged !=
                counts.ready + counts.leased + counts.delayed)
                differ(walk, "purge: another number of letters");
            model_empty(&walk->model, box);
        }
        break;
    default:
        request.options = &options;
        expect(walk, "configure", LBX_OK,
               call(walk, LBX_VERB_CONFIGURE, &request));
        model_create(&walk->model, box, &options, dead);
    }
}

static void
check_counts(struct walk *walk, int box)
{
    lbx_box_counts expected, actual = {.ready = 0};
    lbx_box_request request = {.box = walk->uids[box], .ret_counts = &actual};
    const bool there = walk->model.boxes[box].there;

    expect(walk, "describe", there ? LBX_OK : LBX_NOT_FOUND,
           call(walk, LBX_VERB_DESCRIBE, &request));
    if (!there)
        return;
    model_counts(&walk->model, box, &expected);
    if (expected.ready != actual.ready || expected.leased != actual.leased ||
        expected.delayed != actual.delayed || expected.bytes != actual.bytes ||
        expected.oldest_ns != actual.oldest_ns)
        differ(walk,
               "%s: expected %d ready, %d leased, %d delayed, %d bytes, age "
               "%lld; got %d, %d, %d, %d, %lld",
               name_of(box), (int)expected.ready, (int)expected.leased,
               (int)expected.delayed, (int)expected.bytes,
               (long long)expected.oldest_ns, (int)actual.ready,
               (int)actual.leased, (int)actual.delayed, (int)actual.bytes,
               (long long)actual.oldest_ns);
}

/* ---- Letters ---- */

/* A parcel with its texts. */
struct package {
    lbx_parcel parcel;
    char body[32], duplicate_id[16], token[16];
    int group;
    unsigned number;
};

static void
draw_package(struct walk *walk, int box, struct package *ret)
{
    static const char *groups[MODEL_GROUPS] = {"red", "green", "blue"};

    memset(ret, 0, sizeof(*ret));
    ret->number = ++walk->numbers;
    snprintf(ret->body, sizeof(ret->body), "%u", ret->number);
    ret->parcel.body = ret->body;
    ret->parcel.body_bytes = strlen(ret->body);
    ret->group = (int)below(walk, MODEL_GROUPS);
    if (is_fifo(box)) {
        // A tenth of all ids come again.
        snprintf(ret->duplicate_id, sizeof(ret->duplicate_id), "d%u",
                 chance(walk, 10) ? below(walk, 20) : ret->number);
        ret->parcel.duplicate_id = ret->duplicate_id;
        ret->parcel.group = groups[ret->group];
    }
    if (chance(walk, 10)) {
        snprintf(ret->token, sizeof(ret->token), "t%u", below(walk, 5));
        ret->parcel.token = ret->token;
    }
    if (chance(walk, 30))
        ret->parcel.delay_ns = seconds(walk, 6);
}

/* What a send said, against what it should have; `expected` is OK or a refusal. */
static void
check_sent(struct walk *walk, int box, const struct package *package,
           const lbx_sent *sent)
{
    model_box *there = &walk->model.boxes[box];
    const model_seen *seen;

    (void)model_may_send(&walk->model, box, &package->parcel, package->group,
                         &seen);
    if (sent->duplicate != (seen != NULL)) {
        differ(walk, "send: letter %u %s a duplicate", package->number,
               seen ? "should be" : "should not be");
    } else if (seen) {
        if (strcmp(seen->id.text, sent->id.text) != 0 ||
            seen->sequence != sent->sequence)
            differ(walk, "send: a duplicate answered other than the first");
    } else {
        if (sent->sequence <= there->last_sequence)
            differ(walk, "send: sequence %llu after %llu",
                   (unsigned long long)sent->sequence,
                   (unsigned long long)there->last_sequence);
        model_add(&walk->model, box, &package->parcel, package->group,
                  package->number, sent);
    }
}

static void
send_letters(struct walk *walk, int box)
{
    struct package packages[LBX_BATCH_MOST];
    lbx_parcel parcels[LBX_BATCH_MOST];
    lbx_sent sent[LBX_BATCH_MOST];
    lbx_send_request request = {.box = walk->uids[box],
                                .parcels = parcels,
                                .count = 1 + below(walk, 3),
                                .sent = sent};

    for (size_t i = 0; i < request.count; i++) {
        draw_package(walk, box, &packages[i]);
        parcels[i] = packages[i].parcel;
    }
    (void)call(walk, LBX_VERB_SEND, &request);
    for (size_t i = 0; i < request.count && !walk->failed; i++) {
        const model_seen *seen;
        lbx_status status = LBX_CLOSED;

        if (walk->model.boxes[box].there)
            status = model_may_send(&walk->model, box, &packages[i].parcel,
                                    packages[i].group, &seen);
        expect(walk, "send", status, sent[i].status);
        if (status == LBX_OK && !walk->failed)
            check_sent(walk, box, &packages[i], &sent[i]);
    }
}

static void
keep_ticket(struct walk *walk, int box, const model_letter *letter,
            const struct got *got)
{
    struct ticket *ticket = &walk->tickets[walk->ticket_count++ % RECEIPTS];

    ticket->box = box;
    ticket->life = walk->model.boxes[box].life;
    ticket->sequence = letter->sequence;
    ticket->epoch = letter->epoch;
    ticket->size = got->receipt_bytes;
    memcpy(ticket->bytes, got->receipt, got->receipt_bytes);
}

static void
receive_letters(struct walk *walk, int box)
{
    static const char *const attempts[] = {NULL, NULL, "first", "second"};
    lbx_receive_request request = {
        .box = walk->uids[box],
        .letters_most = 1 + below(walk, chance(walk, 50) ? 2 : LBX_BATCH_MOST),
        .letters_least = 1,
        .lease_ns = seconds(walk, 6),
        .attempt_id = is_fifo(box) ? attempts[below(walk, 4)] : NULL,
    };
    lbx_status status = call(walk, LBX_VERB_RECEIVE, &request);
    model_letter *letters[LBX_BATCH_MOST];
    int count = 0;

    if (!walk->model.boxes[box].there) {
        expect(walk, "receive", LBX_CLOSED, status);
        return;
    }
    count = model_receive(&walk->model, box, &request, letters);
    expect(walk, "receive",
           count < 0    ? LBX_FULL
           : count == 0 ? LBX_EMPTY
                        : LBX_OK,
           status);
    if (count < 0)
        count = 0;
    if ((unsigned)count != walk->got_count)
        differ(walk, "receive from %s: expected %d letters, got %u",
               name_of(box), count, walk->got_count);
    for (int i = 0; i < count && !walk->failed; i++) {
        compare(walk, "receive", &walk->got[i], letters[i]);
        keep_ticket(walk, box, letters[i], &walk->got[i]);
    }
}

static void
peek_letters(struct walk *walk, int box)
{
    lbx_peek_request request = {.box = walk->uids[box],
                                .letters_most = PEEKED_MOST};
    lbx_status status = call(walk, LBX_VERB_PEEK, &request);
    model_letter *letter = walk->model.boxes[box].letters;
    unsigned at = 0;

    if (!walk->model.boxes[box].there) {
        expect(walk, "peek", LBX_CLOSED, status);
        return;
    }
    expect(walk, "peek", LBX_OK, status);
    model_expire(&walk->model, box);
    for (letter = walk->model.boxes[box].letters; letter && !walk->failed;
         letter = letter->next) {
        if (at == walk->got_count)
            differ(walk, "peek: letter %u is missing", letter->number);
        else
            compare(walk, "peek", &walk->got[at++], letter);
    }
    if (at != walk->got_count)
        differ(walk, "peek: there is a letter too many");
}

/* ---- Settling ---- */

struct settling {
    const struct ticket *ticket;
    struct package packages[LBX_ATTACHMENTS_MOST];
    int boxes[LBX_ATTACHMENTS_MOST];
    lbx_attachment attachments[LBX_ATTACHMENTS_MOST];
    lbx_sent sent[LBX_ATTACHMENTS_MOST];
};

static void
draw_settling(struct walk *walk, int box, struct settling *settling,
              lbx_settle_entry *ret)
{
    const unsigned known =
        walk->ticket_count < RECEIPTS ? walk->ticket_count : RECEIPTS;
    const struct ticket *ticket = &walk->tickets[below(walk, known)];

    // Mostly of this box, and mostly one of the latest.
    for (unsigned i = 0; i < 8 && (ticket->box != box || i < 2); i++)
        ticket = &walk->tickets[(walk->ticket_count - 1 - below(walk, known)) %
                                RECEIPTS];
    settling->ticket = ticket;
    *ret = (lbx_settle_entry){
        .what = (lbx_settlement)below(walk, 3),
        .time_ns = seconds(walk, 10),
        .receipt = ticket->bytes,
        .receipt_bytes = ticket->size,
        .attachments = settling->attachments,
        .attachment_count =
            chance(walk, 30) ? 1 + below(walk, LBX_ATTACHMENTS_MOST) : 0,
    };
    for (size_t i = 0; i < ret->attachment_count; i++) {
        const int to = (int)below(walk, MODEL_BOXES);

        settling->boxes[i] = to;
        draw_package(walk, to, &settling->packages[i]);
        settling->attachments[i] =
            (lbx_attachment){.box = walk->uids[to],
                             .parcel = &settling->packages[i].parcel,
                             .sent = &settling->sent[i]};
    }
}

/* Whether all that is attached can be sent. */
static lbx_status
may_attach(struct walk *walk, const struct settling *settling, size_t count)
{
    bool counted[LBX_ATTACHMENTS_MOST] = {false};

    for (size_t i = 0; i < count; i++) {
        const int box = settling->boxes[i];
        const model_box *there = &walk->model.boxes[box];
        const model_seen *seen;
        lbx_box_counts counts;
        lbx_status status;

        if (!there->there)
            return LBX_CLOSED;
        status =
            model_may_send(&walk->model, box, &settling->packages[i].parcel,
                           settling->packages[i].group, &seen);
        if (status != LBX_OK)
            return status;
        counted[i] = !seen;
        model_counts(&walk->model, box, &counts);
        if (i == 1 && counted[0] && counted[1] && settling->boxes[0] == box &&
            counts.ready + counts.leased + counts.delayed + 1 >=
                (uint64_t)there->options.capacity_letters)
            return LBX_FULL;
    }
    return LBX_OK;
}

static void
check_settled(struct walk *walk, int box, const struct settling *settling,
              const lbx_settle_entry *entry, bool undo)
{
    const struct ticket *ticket = settling->ticket;
    model_letter *letter = NULL;
    lbx_status expected =
        model_judge(&walk->model, box, ticket->box == box ? ticket->life : 0,
                    ticket->sequence, ticket->epoch, &letter);

    if (expected == LBX_OK && !undo)
        expected = model_settle(&walk->model, box, letter, entry->what,
                                entry->time_ns, true);
    if (expected == LBX_OK && !undo)
        expected = may_attach(walk, settling, entry->attachment_count);
    expect(walk,
           undo                             ? "undo"
           : entry->what == LBX_ACKNOWLEDGE ? "acknowledge"
           : entry->what == LBX_NACK        ? "nack"
                                            : "extend",
           expected, entry->status);
    if (expected != LBX_OK || walk->failed)
        return;
    if (undo) {
        model_undo(&walk->model, box, letter);
        return;
    }
    (void)model_settle(&walk->model, box, letter, entry->what, entry->time_ns,
                       false);
    for (size_t i = 0; i < entry->attachment_count && !walk->failed; i++) {
        expect(walk, "attached", LBX_OK, settling->sent[i].status);
        check_sent(walk, settling->boxes[i], &settling->packages[i],
                   &settling->sent[i]);
    }
}

static void
settle_letters(struct walk *walk, int box)
{
    struct settling settlings[LBX_BATCH_MOST];
    lbx_settle_entry entries[LBX_BATCH_MOST];
    lbx_settle_request request = {.box = walk->uids[box],
                                  .entries = entries,
                                  .count = 1 + below(walk, 3)};
    const bool undo = walk->subject->undoes && chance(walk, 15);

    if (walk->ticket_count == 0)
        return;
    for (size_t i = 0; i < request.count; i++) {
        draw_settling(walk, box, &settlings[i], &entries[i]);
        if (undo)
            entries[i].attachment_count = 0;
    }
    (void)call(walk, undo ? LBX_VERB_UNDO : LBX_VERB_SETTLE, &request);
    for (size_t i = 0; i < request.count && !walk->failed; i++)
        check_settled(walk, box, &settlings[i], &entries[i], undo);
}

/* ---- Moving ---- */

static void
move_letters(struct walk *walk, int from)
{
    const int to = (is_fifo(from) ? MODEL_BOXES / 2 : 0) +
                   (int)below(walk, MODEL_BOXES / 2);
    const bool back = chance(walk, 40);
    lbx_move_request request = {.what = LBX_MOVE_START,
                                .from = walk->uids[from]};
    lbx_status status;
    uint64_t moved = 0;

    if (!back) {
        if (to == from || !walk->model.boxes[to].there)
            return;
        request.to = walk->uids[to];
    }
    status = call(walk, LBX_VERB_MOVE, &request);
    if (!walk->model.boxes[from].there) {
        expect(walk, "move", LBX_NOT_FOUND, status);
        return;
    }
    expect(walk, "move", LBX_OK, status);
    request.what = LBX_MOVE_READ;
    for (int i = 0; i < PEEKED_MOST && !walk->failed; i++) {
        expect(walk, "move", LBX_OK, call(walk, LBX_VERB_MOVE, &request));
        if (request.ret.phase != LBX_MOVE_RUNNING)
            break;
    }
    while ((status = model_move(&walk->model, from, back ? -1 : to)) == LBX_OK)
        moved++;
    if (status == LBX_EMPTY) {
        if (request.ret.phase != LBX_MOVE_COMPLETED)
            differ(walk, "move: not completed but %d", request.ret.phase);
    } else if (request.ret.phase != LBX_MOVE_FAILED)
        differ(walk, "move: not failed but %d", request.ret.phase);
    else
        expect(walk, "move", status, request.ret.reason);
    if (request.ret.moved != moved)
        differ(walk, "move: expected %d letters, got %d", (int)moved,
               (int)request.ret.moved);
}

/* ---- Time ---- */

static void
pass_time(struct walk *walk)
{
    int64_t by = seconds(walk, 5);

    if (chance(walk, 30)) {
        // To what is due next, or just before.
        int64_t due = LBX_FOREVER;

        for (int i = 0; i < MODEL_BOXES; i++) {
            for (const model_letter *at = walk->model.boxes[i].letters; at;
                 at = at->next) {
                if (at->due > walk->model.now && at->due < due)
                    due = at->due;
            }
        }
        if (due != LBX_FOREVER)
            by = due - walk->model.now - (chance(walk, 50) ? 1 : 0);
    } else if (chance(walk, 3))
        by = 300 * LBX_SECOND - (chance(walk, 50) ? 1 : 0);
    walk->model.now += by;
    walk->subject->advance(walk->subject->context, by);
}

static void
take_step(struct walk *walk)
{
    const int box = (int)below(walk, MODEL_BOXES);
    const unsigned what = below(walk, 100);

    if (what < 28)
        send_letters(walk, box);
    else if (what < 55)
        receive_letters(walk, box);
    else if (what < 80)
        settle_letters(walk, box);
    else if (what < 95)
        pass_time(walk);
    else if (what < 97)
        change_box(walk, box);
    else if (!walk->subject->undoes)
        pass_time(walk);
    else if (what < 98)
        move_letters(walk, box);
    else
        peek_letters(walk, box);
    if (!walk->failed)
        check_counts(walk, box);
}

bool
model_walk(const model_subject *subject, uint64_t seed, unsigned steps,
           char *ret, size_t ret_bytes)
{
    struct walk *walk = calloc(1, sizeof(*walk));
    const char *wrong;
    bool passed;

    *ret = '\0';
    walk->subject = subject;
    walk->seed = walk->random = seed;
    walk->why = ret;
    walk->why_bytes = ret_bytes;
    walk->got = calloc(PEEKED_MOST, sizeof(*walk->got));
    walk->model.now = 1000 * LBX_SECOND;
    for (int i = 0; i < MODEL_BOXES; i++)
        create_box(walk, i);
    for (walk->step = 1; walk->step <= steps && !walk->failed; walk->step++) {
        take_step(walk);
        if (!walk->failed && subject->audit &&
            (wrong = subject->audit(subject->context)))
            differ(walk, "inside: %s", wrong);
    }
    passed = !walk->failed;
    model_fini(&walk->model);
    free(walk->got);
    free(walk);
    return passed;
}

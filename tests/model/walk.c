/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: chance, differences, calls, time; see walk.h. */
#include "walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

unsigned
walk_below(struct walk *walk, unsigned end)
{
    return (unsigned)(draw(walk) % end);
}

bool
walk_chance(struct walk *walk, unsigned percent)
{
    return walk_below(walk, 100) < percent;
}

int64_t
walk_seconds(struct walk *walk, unsigned most)
{
    return (int64_t)walk_below(walk, most + 1) * LBX_SECOND;
}

void
walk_differ(struct walk *walk, const char *format, ...)
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

void
walk_expect(struct walk *walk, const char *what, lbx_status expected,
            lbx_status actual)
{
    if (expected != actual)
        walk_differ(walk, "%s: expected %s, got %s", what,
                    lbx_status_name(expected), lbx_status_name(actual));
}

/* ---- Calls ---- */

static void
collect(void *context, const lbx_delivery *delivery)
{
    struct walk *walk = context;
    struct walk_got *got = &walk->got[walk->got_count];
    const lbx_parcel *parcel = &delivery->parcel;
    char body[32] = "";

    if (walk->got_count == WALK_GOT_MOST ||
        delivery->receipt_bytes > sizeof(got->receipt)) {
        walk_differ(walk, "a delivery that is too much");
        return;
    }
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

/* The status of an entry of a batch; NULL: there is none. */
static lbx_status *
entry_of(lbx_call_kind verb, void *request, size_t index)
{
    lbx_send_request *send = request;
    lbx_settle_request *settle = request;

    if (verb == LBX_CALL_SEND && index < send->count)
        return &send->sent[index].status;
    if ((verb == LBX_CALL_SETTLE || verb == LBX_CALL_UNDO) &&
        index < settle->count)
        return &settle->entries[index].status;
    return NULL;
}

/* A call says OK, or the first failure of its entries; those that have no
 * status of their own get that of the call. */
lbx_status
walk_call(struct walk *walk, lbx_call_kind verb, void *request)
{
    lbx_status status, first = LBX_OK, *entry;

    walk->got_count = 0;
    for (size_t i = 0; (entry = entry_of(verb, request, i)); i++)
        *entry = LBX_PENDING;
    status = walk->subject->call(walk->subject->context, verb, request, collect,
                                 walk);
    for (size_t i = 0; (entry = entry_of(verb, request, i)); i++) {
        if (*entry == LBX_PENDING)
            *entry = status;
        if (first == LBX_OK)
            first = *entry;
    }
    if (entry_of(verb, request, 0))
        walk_expect(walk, "a batch", first, status);
    return status;
}

const char *
walk_box_name(int box)
{
    static const char *names[MODEL_BOXES] = {"b0", "b1", "b2",
                                             "f0", "f1", "f2"};

    return names[box];
}

const char *
walk_group_name(unsigned group)
{
    static const char *names[MODEL_GROUPS] = {"red", "green", "blue"};

    return group < MODEL_GROUPS ? names[group] : "";
}

bool
walk_is_fifo(int box)
{
    return box >= MODEL_BOXES / 2;
}

int
walk_box_like(struct walk *walk, int box)
{
    return (walk_is_fifo(box) ? MODEL_BOXES / 2 : 0) +
           (int)walk_below(walk, MODEL_BOXES / 2);
}

void
walk_compare(struct walk *walk, const char *what, const struct walk_got *got,
             model_letter *letter)
{
    const char *source = letter->death < 0 ? "" : walk_box_name(letter->death);
    const char *group = walk_group_name(letter->tenant);

    if (got->number != letter->number)
        walk_differ(walk, "%s: expected letter %u, got %u", what,
                    letter->number, got->number);
    if (got->deliveries != letter->deliveries)
        walk_differ(walk, "%s: letter %u: expected delivery %u, got %u", what,
                    letter->number, letter->deliveries, got->deliveries);
    if (letter->sequence == 0)
        letter->sequence = got->sequence;
    if (letter->id.text[0] == '\0')
        letter->id = got->id;
    if (got->sequence != letter->sequence)
        walk_differ(walk, "%s: letter %u has another sequence", what,
                    letter->number);
    if (strcmp(got->id.text, letter->id.text) != 0)
        walk_differ(walk, "%s: letter %u has another id", what, letter->number);
    if (strcmp(got->source, source) != 0)
        walk_differ(walk, "%s: letter %u: expected source '%s', got '%s'", what,
                    letter->number, source, got->source);
    if (strcmp(got->group, group) != 0)
        walk_differ(walk, "%s: letter %u: expected group '%s', got '%s'", what,
                    letter->number, group, got->group);
}

/* ---- Time ---- */

static void
pass_time(struct walk *walk)
{
    int64_t by = walk_seconds(walk, walk->busy ? 1 : 5);

    if (walk_chance(walk, 30)) {
        // To what is due next, or just before.
        int64_t due = LBX_FOREVER;

        for (int i = 0; i < MODEL_BOXES; i++) {
            model_letter *at = NULL;

            while ((at = model_next(&walk->model, i, at)))
                if (at->place.due > walk->model.now && at->place.due < due)
                    due = at->place.due;
        }
        if (due != LBX_FOREVER && (!walk->busy || walk_chance(walk, 10)))
            by = due - walk->model.now - (walk_chance(walk, 50) ? 1 : 0);
    } else if (walk_chance(walk, walk->busy ? 8 : 3))
        by = 300 * LBX_SECOND - (walk_chance(walk, 50) ? 1 : 0);
    walk->model.now += by;
    walk->subject->advance(walk->subject->context, by);
}

static void
take_step(struct walk *walk)
{
    const int box = (int)walk_below(walk, walk->busy ? 2 : MODEL_BOXES);
    const unsigned what = walk_below(walk, 100);

    if (what < 28)
        walk_send_letters(walk, box);
    else if (what < 55)
        walk_receive_letters(walk, box);
    else if (what < 80)
        walk_settle_letters(walk, box);
    else if (what < 95)
        pass_time(walk);
    else if (what < 97)
        walk_change_box(walk, box);
    else if (!walk->subject->undoes)
        pass_time(walk);
    else if (what < 98)
        walk_move_letters(walk, box);
    else
        walk_peek_letters(walk, box);
    if (!walk->failed)
        walk_check_counts(walk, box);
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
    walk->busy = seed % 3 == 0;
    walk->why = ret;
    walk->why_bytes = ret_bytes;
    walk->model.now = 1000 * LBX_SECOND;
    for (int i = 0; i < MODEL_BOXES; i++)
        walk_create_box(walk, i);
    for (walk->step = 1; walk->step <= steps && !walk->failed; walk->step++) {
        if (subject->reopen && walk_chance(walk, 2))
            subject->reopen(subject->context);
        take_step(walk);
        if (!walk->failed && subject->audit &&
            (wrong = subject->audit(subject->context)))
            walk_differ(walk, "inside: %s", wrong);
    }
    passed = !walk->failed;
    free(walk);
    return passed;
}

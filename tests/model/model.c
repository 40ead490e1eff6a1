/* SPDX-License-Identifier: Apache-2.0 */
/* The reference model; see model.h. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED (300 * LBX_SECOND)

static int64_t
later(int64_t time, int64_t duration)
{
    return duration > LBX_FOREVER - time ? LBX_FOREVER : time + duration;
}

/* ---- Letters in a box ---- */

static void
append(model_box *box, model_letter *letter)
{
    model_letter **at = &box->letters;

    while (*at)
        at = &(*at)->next;
    letter->next = NULL;
    *at = letter;
}

static void
take_out(model_box *box, const model_letter *letter)
{
    model_letter **at = &box->letters;

    while (*at != letter)
        at = &(*at)->next;
    *at = letter->next;
}

static model_letter *
first_of_group(const model_box *box, int group)
{
    for (model_letter *letter = box->letters; letter; letter = letter->next) {
        if (letter->group == group)
            return letter;
    }
    return NULL;
}

static bool
waits(const struct model *model, const model_letter *letter)
{
    return (letter->leased || letter->delayed) && letter->due > model->now;
}

/* A letter whose time is over is ready; in a box that keeps places, where it had
 * been. */
static void
wake(struct model *model, int index)
{
    model_box *box = &model->boxes[index];

    for (model_letter *letter = box->letters; letter; letter = letter->next) {
        if ((letter->leased || letter->delayed) && letter->due <= model->now) {
            letter->leased = letter->delayed = false;
            if (box->options.keep_place && !box->options.fifo) {
                letter->due = letter->place_due;
                letter->turn = letter->place_turn;
            }
        }
    }
}

/* Something happened at `moment` to the first letter of a group: the group stands
 * last, with `turn`, unless the letter that is now first has to wait. */
static void
place_group(struct model *model, model_box *box, int group, int64_t moment,
            uint64_t turn)
{
    const model_letter *first = first_of_group(box, group);

    if (!first)
        return;
    if (first->due > moment) {
        box->group_due[group] = first->due;
        box->group_turn[group] = first->turn;
    } else {
        box->group_due[group] = moment;
        box->group_turn[group] = turn > 0 ? turn : ++model->turns;
    }
}

/* Takes a letter out of a box, and sees to its group. */
static void
leave(struct model *model, int index, model_letter *letter)
{
    model_box *box = &model->boxes[index];
    const bool first =
        box->options.fifo && first_of_group(box, letter->group) == letter;

    take_out(box, letter);
    if (first)
        place_group(model, box, letter->group, model->now, 0);
}

static void
join(struct model *model, int index, model_letter *letter)
{
    model_box *box = &model->boxes[index];
    const bool first = box->options.fifo && !first_of_group(box, letter->group);

    append(box, letter);
    if (first) {
        box->group_due[letter->group] = letter->due;
        box->group_turn[letter->group] = letter->turn;
    }
    (void)model;
}

void
model_expire(struct model *model, int index)
{
    model_box *box = &model->boxes[index];
    const int64_t retention = box->options.retention_ns;

    for (;;) {
        model_letter *oldest = NULL;
        bool first;

        for (model_letter *at = box->letters; at; at = at->next) {
            if (!oldest || at->sent < oldest->sent)
                oldest = at;
        }
        if (!oldest || later(oldest->sent, retention) > model->now)
            break;
        first =
            box->options.fifo && first_of_group(box, oldest->group) == oldest;
        take_out(box, oldest);
        if (first) {
            const model_letter *next = first_of_group(box, oldest->group);

            place_group(model, box, oldest->group,
                        later(oldest->sent, retention),
                        next ? next->arrival : 1);
        }
        free(oldest);
    }
    wake(model, index);
}

/* ---- Boxes ---- */

void
model_create(struct model *model, int index, const lbx_box_options *options,
             int dead)
{
    static unsigned lives;
    model_box *box = &model->boxes[index];

    if (!box->there)
        *box = (model_box){.there = true, .life = ++lives};
    box->options = *options;
    box->dead = dead;
}

void
model_empty(struct model *model, int index)
{
    model_box *box = &model->boxes[index];

    while (box->letters) {
        model_letter *letter = box->letters;

        box->letters = letter->next;
        free(letter);
    }
    while (box->seen) {
        model_seen *seen = box->seen;

        box->seen = seen->next;
        free(seen);
    }
    box->life += 1u << 16;
}

void
model_fini(struct model *model)
{
    for (int i = 0; i < MODEL_BOXES; i++)
        model_empty(model, i);
}

void
model_counts(struct model *model, int index, lbx_box_counts *ret)
{
    model_expire(model, index);
    *ret = (lbx_box_counts){.oldest_ns = -1};
    for (const model_letter *letter = model->boxes[index].letters; letter;
         letter = letter->next) {
        const int64_t age = model->now - letter->sent;

        ret->ready += !letter->leased && !letter->delayed;
        ret->leased += letter->leased;
        ret->delayed += letter->delayed;
        ret->bytes += letter->bytes;
        if (age > ret->oldest_ns)
            ret->oldest_ns = age;
    }
}

/* ---- Sending ---- */

static model_seen *
find_seen(const struct model *model, const model_box *box, const char *text)
{
    for (model_seen *seen = box->seen; seen; seen = seen->next) {
        if (seen->until > model->now && strcmp(seen->text, text) == 0)
            return seen;
    }
    return NULL;
}

static model_seen *
remember(const struct model *model, model_box *box, const char *text)
{
    model_seen *seen = calloc(1, sizeof(*seen));

    snprintf(seen->text, sizeof(seen->text), "%.39s", text);
    seen->until = later(model->now, REMEMBERED);
    seen->next = box->seen; // the latest is found first
    box->seen = seen;
    return seen;
}

/* By what a parcel is known again: its token, its id in the box, in its group. */
static void
known_by(const lbx_parcel *parcel, int group, char texts[3][40])
{
    snprintf(texts[0], 40, "token %.30s", parcel->token ? parcel->token : "");
    snprintf(texts[1], 40, "id %.30s",
             parcel->duplicate_id ? parcel->duplicate_id : "");
    snprintf(texts[2], 40, "id %d %.20s", group,
             parcel->duplicate_id ? parcel->duplicate_id : "");
}

lbx_status
model_may_send(struct model *model, int index, const lbx_parcel *parcel,
               int group, const model_seen **ret_seen)
{
    model_box *box = &model->boxes[index];
    lbx_box_counts counts;
    char texts[3][40];

    *ret_seen = NULL;
    known_by(parcel, group, texts);
    if (parcel->token)
        *ret_seen = find_seen(model, box, texts[0]);
    for (int i = 1; i < 3 && !*ret_seen && box->options.fifo; i++)
        *ret_seen = find_seen(model, box, texts[i]);
    if (*ret_seen)
        return LBX_OK;
    model_counts(model, index, &counts);
    return counts.ready + counts.leased + counts.delayed >=
                   (uint64_t)box->options.capacity_letters
               ? LBX_FULL
               : LBX_OK;
}

model_letter *
model_add(struct model *model, int index, const lbx_parcel *parcel, int group,
          unsigned number, const lbx_sent *sent)
{
    model_box *box = &model->boxes[index];
    const bool by_group = box->options.deduplication == LBX_DEDUPLICATE_GROUP;
    model_letter *letter = calloc(1, sizeof(*letter));
    char texts[3][40];

    *letter = (model_letter){
        .number = number,
        .id = sent->id,
        .sequence = sent->sequence,
        .sent = model->now,
        .bytes = parcel->body_bytes,
        .group = box->options.fifo ? group : -1,
        .delayed = parcel->delay_ns > 0,
        .due = later(model->now, parcel->delay_ns),
        .turn = ++model->turns,
    };
    letter->arrival = letter->turn;
    letter->place_due = letter->due;
    letter->place_turn = letter->turn;
    join(model, index, letter);
    box->last_sequence = sent->sequence;
    known_by(parcel, group, texts);
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? parcel->token != NULL : box->options.fifo) {
            model_seen *seen =
                remember(model, box, texts[i == 0 ? 0 : 1 + by_group]);

            seen->id = sent->id;
            seen->sequence = sent->sequence;
        }
    }
    return letter;
}

/* ---- Receiving ---- */

/* The ready letter, or group, that is due first; of those drawn before `end`. */
static model_letter *
next_letter(struct model *model, model_box *box, uint64_t end)
{
    model_letter *best = NULL;

    for (model_letter *at = box->letters; at; at = at->next) {
        if (!waits(model, at) && !at->leased && at->turn <= end &&
            (!best || at->due < best->due ||
             (at->due == best->due && at->turn < best->turn)))
            best = at;
    }
    return best;
}

static int
next_group(struct model *model, const model_box *box, uint64_t end)
{
    int best = -1;

    for (int i = 0; i < MODEL_GROUPS; i++) {
        if (first_of_group(box, i) && box->group_due[i] <= model->now &&
            box->group_turn[i] <= end &&
            (best < 0 || box->group_due[i] < box->group_due[best] ||
             (box->group_due[i] == box->group_due[best] &&
              box->group_turn[i] < box->group_turn[best])))
            best = i;
    }
    return best;
}

static uint64_t
leased_in(const model_box *box)
{
    uint64_t count = 0;

    for (const model_letter *at = box->letters; at; at = at->next)
        count += at->leased;
    return count;
}

/* Dies, if it was delivered too often and a box takes it. */
static bool
dies(struct model *model, int index, model_letter *letter)
{
    model_box *box = &model->boxes[index], *to;
    lbx_box_counts counts;

    if (box->dead < 0 ||
        letter->deliveries - letter->carried < box->options.deliveries_most)
        return false;
    to = &model->boxes[box->dead];
    if (!to->there || to->options.fifo != box->options.fifo)
        return false;
    if (to != box) {
        model_counts(model, box->dead, &counts);
        if (counts.ready + counts.leased + counts.delayed >=
            (uint64_t)to->options.capacity_letters)
            return false;
    }
    take_out(box, letter);
    letter->death = (unsigned)index + 1;
    letter->carried = letter->deliveries;
    letter->epoch = 0;
    letter->sequence = 0; // the store will say
    letter->due = letter->place_due = model->now;
    letter->turn = letter->place_turn = letter->arrival = ++model->turns;
    if (to->options.fifo)
        letter->sent = model->now;
    join(model, box->dead, letter);
    return true;
}

static void
lease(struct model *model, model_letter *letter, int64_t lease_ns)
{
    letter->leased = true;
    letter->due = later(model->now, lease_ns);
    letter->turn = ++model->turns;
    letter->received = model->now;
}

static void
claim(struct model *model, model_letter *letter, int64_t lease_ns,
      int64_t place_due, uint64_t place_turn)
{
    letter->place_due = place_due;
    letter->place_turn = place_turn;
    letter->epoch++;
    letter->deliveries++;
    lease(model, letter, lease_ns);
}

static int
receive_plain(struct model *model, int index,
              const lbx_receive_request *request, model_letter **ret)
{
    model_box *box = &model->boxes[index];
    const uint64_t end = model->turns;
    uint32_t count = 0;
    model_letter *letter;

    if (leased_in(box) >= (uint64_t)box->options.limits.leased_most)
        return -1;
    while (count < request->letters_most &&
           (letter = next_letter(model, box, end))) {
        if (dies(model, index, letter))
            continue;
        if (leased_in(box) >= (uint64_t)box->options.limits.leased_most)
            break;
        claim(model, letter, request->lease_ns, letter->due, letter->turn);
        ret[count++] = letter;
    }
    return (int)count;
}

/* Letters of one group, from the first on, until one waits. False: no more may be
 * leased. */
static bool
serve(struct model *model, int index, int group, uint64_t end,
      const lbx_receive_request *request, model_letter **ret, uint32_t *count)
{
    model_box *box = &model->boxes[index];
    const int64_t due = box->group_due[group];
    const uint64_t turn = box->group_turn[group];
    bool room = true, taken = false;
    model_letter *next = box->letters;

    while (next && *count < request->letters_most) {
        model_letter *letter = next;

        next = letter->next;
        if (letter->group != group)
            continue;
        if (letter->leased || letter->delayed || letter->arrival > end)
            break;
        if (dies(model, index, letter)) {
            taken = true;
            continue;
        }
        room = leased_in(box) < (uint64_t)box->options.limits.leased_most;
        if (!room)
            break;
        claim(model, letter, request->lease_ns, due, turn);
        taken = true;
        ret[(*count)++] = letter;
    }
    if (taken)
        place_group(model, box, group, model->now, 0);
    return room;
}

/* The letters of an attempt, if they are as it left them. */
static uint32_t
repeat(struct model *model, model_box *box, const model_seen *seen,
       const lbx_receive_request *request, model_letter **ret)
{
    for (unsigned i = 0; i < seen->count; i++) {
        ret[i] = box->letters;
        while (ret[i] && ret[i]->number != seen->numbers[i])
            ret[i] = ret[i]->next;
        if (!ret[i] || !ret[i]->leased || ret[i]->turn != seen->turns[i] ||
            ret[i]->epoch != seen->epochs[i])
            return 0;
    }
    for (unsigned i = 0; i < seen->count && i < request->letters_most; i++) {
        lease(model, ret[i], request->lease_ns);
        if (first_of_group(box, ret[i]->group) == ret[i])
            place_group(model, box, ret[i]->group, model->now, 0);
    }
    return seen->count < request->letters_most ? seen->count
                                               : request->letters_most;
}

int
model_receive(struct model *model, int index,
              const lbx_receive_request *request,
              model_letter *ret[LBX_BATCH_MOST])
{
    model_box *box = &model->boxes[index];
    const uint64_t end = model->turns;
    const model_seen *before = NULL;
    uint32_t count = 0;
    char text[40];
    int group;

    model_expire(model, index);
    if (!box->options.fifo)
        return receive_plain(model, index, request, ret);
    snprintf(text, sizeof(text), "attempt %.20s",
             request->attempt_id ? request->attempt_id : "");
    if (request->attempt_id)
        before = find_seen(model, box, text);
    if (before)
        count = repeat(model, box, before, request, ret);
    if (count == 0) {
        while (count < request->letters_most &&
               (group = next_group(model, box, end)) >= 0) {
            // Once in a receive: what is left of it stands behind `end` or waits.
            if (!serve(model, index, group, end, request, ret, &count))
                break;
        }
    }
    if (request->attempt_id && count > 0) {
        model_seen *seen = remember(model, box, text);

        seen->count = count;
        for (uint32_t i = 0; i < count; i++) {
            seen->numbers[i] = ret[i]->number;
            seen->turns[i] = ret[i]->turn;
            seen->epochs[i] = ret[i]->epoch;
        }
    }
    return (int)count;
}

/* ---- Settling ---- */

lbx_status
model_judge(struct model *model, int index, unsigned life, uint64_t sequence,
            uint32_t epoch, model_letter **ret)
{
    model_box *box = &model->boxes[index];
    model_letter *letter;

    model_expire(model, index);
    if (life != box->life)
        return LBX_INVALID;
    letter = box->letters;
    while (letter && letter->sequence != sequence)
        letter = letter->next;
    if (!letter)
        return LBX_GONE;
    *ret = letter;
    if (letter->epoch != epoch || (box->options.strict && !letter->leased))
        return LBX_EXPIRED;
    return LBX_OK;
}

lbx_status
model_settle(struct model *model, int index, model_letter *letter,
             lbx_settlement what, int64_t time_ns, bool dry)
{
    model_box *box = &model->boxes[index];
    const int64_t most = box->options.limits.lease_most_ns;
    const bool first =
        box->options.fifo && first_of_group(box, letter->group) == letter;

    if (what == LBX_NACK && time_ns > most)
        return LBX_INVALID;
    if (what == LBX_EXTEND && most != LBX_UNLIMITED &&
        later(model->now, time_ns) > later(letter->received, most))
        return LBX_INVALID;
    if (dry)
        return LBX_OK;
    if (what == LBX_ACKNOWLEDGE) {
        leave(model, index, letter);
        free(letter);
        return LBX_OK;
    }
    letter->leased = what == LBX_EXTEND;
    letter->delayed = what == LBX_NACK;
    letter->due = later(model->now, time_ns);
    letter->turn = ++model->turns;
    wake(model, index);
    if (first)
        place_group(model, box, letter->group, model->now, 0);
    return LBX_OK;
}

void
model_undo(struct model *model, int index, model_letter *letter)
{
    model_box *box = &model->boxes[index];

    letter->leased = letter->delayed = false;
    letter->due = letter->place_due;
    letter->turn = letter->place_turn;
    letter->epoch++;
    letter->deliveries--;
    if (box->options.fifo && first_of_group(box, letter->group) == letter) {
        box->group_due[letter->group] = letter->place_due;
        box->group_turn[letter->group] = letter->place_turn;
    }
    (void)model;
}

/* ---- Moving ---- */

lbx_status
model_move(struct model *model, int from, int to)
{
    model_box *box = &model->boxes[from], *target;
    lbx_box_counts counts;
    model_letter *letter;
    int group;

    model_expire(model, from);
    if (!box->options.fifo)
        letter = next_letter(model, box, UINT64_MAX);
    else {
        group = next_group(model, box, UINT64_MAX);
        letter = group < 0 ? NULL : first_of_group(box, group);
    }
    if (!letter)
        return LBX_EMPTY;
    if (to < 0)
        to = (int)letter->death - 1;
    if (to < 0 || !model->boxes[to].there)
        return LBX_NOT_FOUND;
    if (to == from)
        return LBX_INVALID;
    target = &model->boxes[to];
    model_counts(model, to, &counts);
    if (counts.ready + counts.leased + counts.delayed >=
        (uint64_t)target->options.capacity_letters)
        return LBX_FULL;
    leave(model, from, letter);
    letter->sequence = 0; // the store will say, and a new id
    letter->id.text[0] = '\0';
    letter->deliveries = letter->carried = letter->epoch = 0;
    letter->death = 0;
    letter->sent = letter->due = letter->place_due = model->now;
    letter->turn = letter->place_turn = letter->arrival = ++model->turns;
    join(model, to, letter);
    return LBX_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The reference model; see model.h. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#define REMEMBERED (300 * LBX_SECOND)
#define NOISE      (300 * LBX_SECOND)

enum {
    ALL = MODEL_GROUPS /* groups: known again in the whole box */
};

static int64_t
later(int64_t time, int64_t duration)
{
    return duration > LBX_FOREVER - time ? LBX_FOREVER : time + duration;
}

/* ---- Letters in boxes ---- */

model_letter *
model_next(struct model *model, int box, model_letter *after)
{
    for (model_letter *at = after ? after + 1 : model->letters;
         at < &model->letters[model->letter_count]; at++)
        if (at->life == model->boxes[box].life)
            return at;
    return NULL;
}

static model_letter *
next_of_group(struct model *model, int box, model_letter *after, unsigned group)
{
    model_letter *at = model_next(model, box, after);

    while (at && at->group != group)
        at = model_next(model, box, at);
    return at;
}

/* The tenant of a letter; NULL: it has none. */
static model_tenant *
tenant_of(struct model *model, int box, unsigned tenant)
{
    return tenant < MODEL_GROUPS && !model->boxes[box].options.fifo
               ? &model->boxes[box].tenants[tenant]
               : NULL;
}

/* How many letters of a tenant are leased, if `leased`, or ready; of all, if
 * the tenant is MODEL_GROUPS. */
static unsigned
count_letters(struct model *model, int box, unsigned tenant, bool leased)
{
    model_letter *at = NULL;
    unsigned count = 0;

    while ((at = model_next(model, box, at)))
        count += (at->tenant == tenant || tenant == MODEL_GROUPS) &&
                 at->leased == leased && (leased || !at->delayed);
    return count;
}

/* A letter comes into a box, and stands last among those that are due then. */
static void
arrive(struct model *model, int box, const model_letter *as)
{
    model_letter *letter = &model->letters[model->letter_count++];
    model_tenant *tenant = tenant_of(model, box, as->tenant);

    if (model->letter_count > MODEL_MOST)
        abort();
    *letter = *as;
    letter->life = model->boxes[box].life;
    letter->arrival = letter->place.turn = ++model->turns;
    letter->claimed = letter->place;
    if (tenant && tenant->born == 0)
        *tenant = (model_tenant){.born = letter->arrival};
    if (tenant)
        tenant->until = later(model->now, NOISE);
}

/* A tenant without letters is one no longer. */
static void
forget_tenant(struct model *model, int box, unsigned number)
{
    model_tenant *tenant = tenant_of(model, box, number);
    model_letter *at = NULL;

    while (tenant && (at = model_next(model, box, at)))
        if (at->tenant == number)
            return;
    if (tenant)
        *tenant = (model_tenant){.born = 0};
}

/* A letter leaves its box. If it was the first of its group, the next one
 * stands last at that moment, unless it has to wait; 0 is the turn it came
 * with. */
static void
leave(struct model *model, int box, model_letter *letter, model_place moment)
{
    model_letter *next;

    letter->life = 0;
    forget_tenant(model, box, letter->tenant);
    next = next_of_group(model, box, NULL, letter->group);
    if (next && next > letter && next->place.due <= moment.due) {
        next->place = moment;
        if (moment.turn == 0)
            next->place.turn = next->arrival;
    }
}

void
model_expire(struct model *model, int box)
{
    const lbx_box_options *options = &model->boxes[box].options;
    model_letter *at = NULL;

    while ((at = model_next(model, box, at))) {
        const int64_t end = later(at->sent, options->retention_ns);

        if (end <= model->now) // since then, whenever that is noticed
            leave(model, box, at, (model_place){end, 0});
        else if ((at->leased || at->delayed) && at->place.due <= model->now) {
            at->leased = at->delayed = false;
            if (options->keep_position && !options->fifo)
                at->place = at->claimed;
        }
    }
}

/* ---- Boxes ---- */

void
model_create(struct model *model, int box, const lbx_box_options *options,
             int dead)
{
    model_box *mine = &model->boxes[box];

    if (!mine->there)
        *mine = (model_box){.there = true, .life = ++model->lives};
    mine->options = *options;
    mine->dead = dead;
}

void
model_empty(struct model *model, int box)
{
    model->boxes[box].life = ++model->lives;
    memset(model->boxes[box].tenants, 0, sizeof(model->boxes[box].tenants));
}

lbx_box_counts
model_counts(struct model *model, int box)
{
    lbx_box_counts counts = {.oldest_ns = -1};
    model_letter *at = NULL;

    model_expire(model, box);
    while ((at = model_next(model, box, at))) {
        counts.ready += !at->leased && !at->delayed;
        counts.leased += at->leased;
        counts.delayed += at->delayed;
        counts.bytes += at->bytes;
        if (model->now - at->sent > counts.oldest_ns)
            counts.oldest_ns = model->now - at->sent;
    }
    return counts;
}

static bool
has_room(struct model *model, int box, unsigned letters)
{
    const lbx_box_counts counts = model_counts(model, box);

    return counts.ready + counts.leased + counts.delayed + letters <=
           (uint64_t)model->boxes[box].options.capacity_letters;
}

/* Those whose lease was of nothing are leased until the receive is over. */
static bool
may_lease(struct model *model, int box)
{
    uint64_t leased = 0;
    model_letter *at = NULL;

    while ((at = model_next(model, box, at)))
        leased += at->leased;
    return leased < (uint64_t)model->boxes[box].options.limits.max_leased;
}

/* ---- Sending ---- */

/* The latest; NULL. */
static const model_seen *
find_seen(const struct model *model, int box, model_kind kind, unsigned group,
          const char *text)
{
    for (unsigned i = model->seen_count; text && i > 0; i--) {
        const model_seen *seen = &model->seen[i - 1];

        if (seen->life == model->boxes[box].life && seen->kind == kind &&
            seen->group == group && seen->until > model->now &&
            strcmp(seen->text, text) == 0)
            return seen;
    }
    return NULL;
}

static model_seen *
remember(struct model *model, int box, model_kind kind, unsigned group,
         const char *text)
{
    model_seen *seen = &model->seen[model->seen_count++];

    if (model->seen_count > MODEL_MOST)
        abort();
    seen->life = model->boxes[box].life;
    seen->kind = kind;
    seen->group = group;
    strncpy(seen->text, text, sizeof(seen->text) - 1);
    seen->until = later(model->now, REMEMBERED);
    return seen;
}

lbx_status
model_may_send(struct model *model, int box, const lbx_parcel *parcel,
               unsigned group, unsigned more, const model_seen **ret_seen)
{
    const char *id = parcel->deduplication_id;

    *ret_seen = find_seen(model, box, MODEL_TOKEN, ALL, parcel->token);
    if (!*ret_seen)
        *ret_seen = find_seen(model, box, MODEL_ID, ALL, id);
    if (!*ret_seen)
        *ret_seen = find_seen(model, box, MODEL_ID, group, id);
    return *ret_seen || has_room(model, box, 1 + more) ? LBX_OK : LBX_FULL;
}

void
model_add(struct model *model, int box, const lbx_parcel *parcel,
          unsigned group, unsigned number, const lbx_sent_letter *sent)
{
    model_box *mine = &model->boxes[box];
    const bool by_group =
        mine->options.deduplication == LBX_DEDUPLICATION_GROUP;

    arrive(model, box,
           &(model_letter){
               .number = number,
               .id = sent->id,
               .sequence = sent->sequence,
               .sent = model->now,
               .bytes = parcel->body_bytes,
               .group = mine->options.fifo ? group : MODEL_GROUPS + number,
               .tenant = parcel->group ? group : MODEL_GROUPS,
               .death = -1,
               .delayed = parcel->delay_ns > 0,
               .place.due = later(model->now, parcel->delay_ns),
           });
    mine->last_sequence = sent->sequence;
    if (parcel->token)
        remember(model, box, MODEL_TOKEN, ALL, parcel->token)->sent = *sent;
    if (parcel->deduplication_id)
        remember(model, box, MODEL_ID, by_group ? group : ALL,
                 parcel->deduplication_id)
            ->sent = *sent;
}

/* ---- Receiving ---- */

static bool
is_before(model_place a, model_place b)
{
    return a.due < b.due || (a.due == b.due && a.turn < b.turn);
}

/* The letter that is served next, of those without a tenant: ready, the first
 * of its group, and due before the others. */
static model_letter *
next_single(struct model *model, int box)
{
    model_letter *best = NULL, *at = NULL;

    while ((at = model_next(model, box, at)))
        if (!tenant_of(model, box, at->tenant) && !at->leased && !at->delayed &&
            next_of_group(model, box, NULL, at->group) == at &&
            (!best || is_before(at->place, best->place)))
            best = at;
    return best;
}

/* The first ready letter of a tenant, by turn; NULL. */
static model_letter *
first_ready(struct model *model, int box, unsigned tenant)
{
    model_letter *best = NULL, *at = NULL;

    while ((at = model_next(model, box, at)))
        if (at->tenant == tenant && !at->leased && !at->delayed &&
            (!best || at->place.turn < best->place.turn))
            best = at;
    return best;
}

/* The tenant at the front: of the quiet ones, by their first ready letters, and
 * of those whose noise has lasted long enough, by when it had. -1: none. */
static int
front_tenant(struct model *model, int box, model_place *ret)
{
    int best = -1;

    for (int i = 0; i < MODEL_GROUPS; i++) {
        const model_tenant *tenant = &model->boxes[box].tenants[i];
        const model_letter *first = first_ready(model, box, (unsigned)i);
        model_place place;

        if (!first || (tenant->noisy && tenant->until > model->now))
            continue;
        place = first->place;
        if (tenant->noisy)
            place = (model_place){tenant->until, tenant->born};
        if (best < 0 || is_before(place, *ret)) {
            best = i;
            *ret = place;
        }
    }
    return best;
}

/* The quiet tenant at the front. A tenant is noisy, when it gets there with 30
 * or more letters leased that are more than a tenth of all, until no letter of
 * it is ready, or it has sent nothing for five minutes. -1: none. */
static int
front_quiet(struct model *model, int box, model_place *ret)
{
    int front;

    while ((front = front_tenant(model, box, ret)) >= 0) {
        model_tenant *tenant = &model->boxes[box].tenants[front];
        const unsigned leased =
            count_letters(model, box, (unsigned)front, true);

        if (!tenant->noisy &&
            (leased < 30 ||
             10 * leased <= count_letters(model, box, MODEL_GROUPS, true)))
            break;
        tenant->noisy = !tenant->noisy;
        tenant->until = later(model->now, NOISE);
    }
    return front;
}

/* The noisy tenant with the fewest letters leased, of equals the first born;
 * -1: none has ready letters. */
static int
calmest(struct model *model, int box)
{
    int best = -1;
    unsigned fewest = 0;

    for (int i = 0; i < MODEL_GROUPS; i++) {
        const model_tenant *tenant = &model->boxes[box].tenants[i];
        const unsigned leased = count_letters(model, box, (unsigned)i, true);

        if (!first_ready(model, box, (unsigned)i))
            continue;
        if (best < 0 || leased < fewest ||
            (leased == fewest &&
             tenant->born < model->boxes[box].tenants[best].born)) {
            best = i;
            fewest = leased;
        }
    }
    return best;
}

/* The letter that is served next. */
static model_letter *
next_letter(struct model *model, int box)
{
    model_letter *single = next_single(model, box);
    model_place place;
    int tenant;

    if (model->boxes[box].options.fifo)
        return single;
    tenant = front_quiet(model, box, &place);
    if (single && (tenant < 0 || is_before(single->place, place)))
        return single;
    if (tenant < 0)
        tenant = calmest(model, box);
    return tenant < 0 ? NULL : first_ready(model, box, (unsigned)tenant);
}

/* A letter was taken from a box: noise ends with the last that is ready. */
static void
taken(struct model *model, int box, unsigned number)
{
    model_tenant *tenant = tenant_of(model, box, number);

    if (tenant && !first_ready(model, box, number))
        tenant->noisy = false;
}

/* Dies, if it was delivered too often and a box takes it. */
static bool
dies(struct model *model, int box, model_letter *letter)
{
    const model_box *mine = &model->boxes[box];
    const int to = mine->dead;
    model_letter dead = *letter;

    if (to < 0 || !model->boxes[to].there ||
        letter->deliveries - letter->carried < mine->options.max_deliveries ||
        mine->options.fifo != model->boxes[to].options.fifo ||
        (to != box && !has_room(model, to, 1)))
        return false;
    leave(model, box, letter, (model_place){model->now, ++model->turns});
    dead.death = box;
    dead.carried = dead.deliveries;
    dead.epoch = 0;
    dead.sequence = 0;
    dead.place.due = model->now;
    if (mine->options.fifo)
        dead.sent = model->now;
    arrive(model, to, &dead);
    return true;
}

static void
lease(struct model *model, model_letter *letter, int64_t lease_ns)
{
    letter->leased = true;
    letter->place = (model_place){later(model->now, lease_ns), ++model->turns};
    letter->received = model->now;
}

/* The next letter, and those of its group that follow, until one waits. False:
 * there is none, or no more may be leased. */
static bool
serve(struct model *model, int box, uint64_t last,
      const lbx_receive_request *request, model_letter **ret, uint32_t *count)
{
    model_letter *at = next_letter(model, box);
    const model_place from = at ? at->place : (model_place){0, 0};

    if (!at || from.turn > last)
        return false;
    for (; at && *count < request->max_letters;
         at = next_of_group(model, box, at, at->group)) {
        if (at->leased || at->delayed || at->arrival > last)
            break;
        if (dies(model, box, at)) {
            taken(model, box, at->tenant);
            continue;
        }
        if (!may_lease(model, box))
            return false;
        at->claimed = from;
        at->epoch++;
        at->deliveries++;
        lease(model, at, request->lease_ns);
        taken(model, box, at->tenant);
        ret[(*count)++] = at;
    }
    return true;
}

/* The letters of an attempt again, if they are all as it left them. */
static uint32_t
repeat(struct model *model, const model_seen *seen,
       const lbx_receive_request *request, model_letter **ret)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < seen->count; i++)
        if (seen->letters[i]->life != seen->life || !seen->letters[i]->leased ||
            seen->letters[i]->place.turn != seen->turns[i])
            return 0;
    for (; count < seen->count && count < request->max_letters; count++) {
        ret[count] = seen->letters[count];
        lease(model, ret[count], request->lease_ns);
    }
    return count;
}

lbx_status
model_receive(struct model *model, int box, const lbx_receive_request *request,
              model_letter *ret[LBX_MAX_BATCH], uint32_t *ret_count)
{
    const uint64_t last = model->turns;
    const model_seen *before =
        find_seen(model, box, MODEL_ATTEMPT, ALL, request->attempt_id);
    model_seen *seen;

    *ret_count = 0;
    model_expire(model, box);
    if (!model->boxes[box].options.fifo && !may_lease(model, box))
        return LBX_FULL;
    if (before)
        *ret_count = repeat(model, before, request, ret);
    if (*ret_count == 0)
        while (*ret_count < request->max_letters &&
               serve(model, box, last, request, ret, ret_count)) {
        }
    if (*ret_count == 0)
        return LBX_EMPTY;
    if (request->attempt_id) {
        seen = remember(model, box, MODEL_ATTEMPT, ALL, request->attempt_id);
        seen->count = *ret_count;
        for (uint32_t i = 0; i < seen->count; i++) {
            seen->letters[i] = ret[i];
            seen->turns[i] = ret[i]->place.turn;
        }
    }
    return LBX_OK;
}

/* ---- Settling ---- */

lbx_status
model_judge(struct model *model, int box, const model_receipt *receipt,
            lbx_settle_action what, int64_t time_ns, model_letter **ret)
{
    const lbx_box_options *options = &model->boxes[box].options;
    const int64_t most = options->limits.max_lease_ns;
    model_letter *at = NULL;

    model_expire(model, box);
    if (!model->boxes[box].there)
        return LBX_GONE;
    if (receipt->life != model->boxes[box].life)
        return LBX_INVALID;
    while ((at = model_next(model, box, at)) &&
           at->sequence != receipt->sequence) {
    }
    *ret = at;
    if (!at)
        return LBX_GONE;
    if (at->epoch != receipt->epoch || (options->strict && !at->leased))
        return LBX_EXPIRED;
    if ((what == LBX_SETTLE_NACK && time_ns > most) ||
        (what == LBX_SETTLE_EXTEND && most != LBX_UNLIMITED &&
         later(model->now, time_ns) > later(at->received, most)))
        return LBX_INVALID;
    return LBX_OK;
}

void
model_settle(struct model *model, int box, model_letter *letter,
             lbx_settle_action what, int64_t time_ns)
{
    const uint64_t turn = ++model->turns;

    if (what == LBX_SETTLE_ACKNOWLEDGE) {
        leave(model, box, letter, (model_place){model->now, turn});
        return;
    }
    letter->leased = what == LBX_SETTLE_EXTEND;
    letter->delayed = what == LBX_SETTLE_NACK;
    letter->place = (model_place){later(model->now, time_ns), turn};
    model_expire(model, box);
}

void
model_undo(model_letter *letter)
{
    letter->leased = letter->delayed = false;
    letter->place = letter->claimed;
    letter->epoch++;
    letter->deliveries--;
}

/* ---- Moving ---- */

/* The next letter of a move, and where it goes. */
static lbx_status
find_move(struct model *model, int from, int *to, model_letter **ret)
{
    model_expire(model, from);
    *ret = next_letter(model, from);
    if (!*ret)
        return LBX_EMPTY;
    if (*to < 0)
        *to = (*ret)->death;
    if (*to < 0 || !model->boxes[*to].there)
        return LBX_NOT_FOUND;
    return *to == from ? LBX_INVALID : LBX_OK;
}

lbx_status
model_start_move(struct model *model, int from)
{
    model_letter *letter;
    int to = -1;
    const lbx_status status = find_move(model, from, &to, &letter);

    return status == LBX_EMPTY ? LBX_OK : status;
}

lbx_status
model_move(struct model *model, int from, int to)
{
    model_letter *letter;
    const lbx_status status = find_move(model, from, &to, &letter);

    if (status != LBX_OK)
        return status;
    if (!has_room(model, to, 1))
        return LBX_FULL;
    leave(model, from, letter, (model_place){model->now, ++model->turns});
    taken(model, from, letter->tenant);
    arrive(model, to,
           &(model_letter){
               .number = letter->number, // the store will say the rest
               .sent = model->now,
               .bytes = letter->bytes,
               .group = letter->group,
               .tenant = letter->tenant,
               .death = -1,
               .place.due = model->now,
           });
    return LBX_OK;
}

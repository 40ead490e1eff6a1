/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The aspects EMPTY, FULL and CAPACITY: sweeps over time that carry what is
 * surely, or possibly, inside (HIST-2).
 */
#include "history/checker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct span {
    uint64_t from, to; // doubled instants, both included
};

struct sweep {
    struct span *strict; // when EMPTY is plainly right
    size_t strict_count;
    struct span *granted; // when MSG-11 allows it, those included
    size_t granted_count;
};

static void
add_span(struct span *spans, size_t *count, uint64_t from, uint64_t to)
{
    if (from > to)
        return;
    if (*count > 0 && spans[*count - 1].to + 1 >= from)
        spans[*count - 1].to = to;
    else
        spans[(*count)++] = (struct span){from, to};
}

// Whether some instant of the call lies in a span.
static bool
meets(const struct span *spans, size_t count, const struct history_call *call)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (spans[middle].to < 2 * call->start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && spans[low].from <= 2 * call->end;
}

static bool
counts_for(const struct history_item *item, int rank)
{
    return rank < 0 || item->rank == rank;
}

// The time at which the next item's stamp lies.
static uint64_t
sooner(uint64_t next, const struct history_key *keys, size_t position,
       size_t count)
{
    return position < count && keys[position].key < next ? keys[position].key
                                                         : next;
}

// The sweep's state: what is surely inside, and which sends are under way.
struct inside {
    bool *gone;
    size_t count;
    size_t oldest; // in by_in_end: all before it are gone or do not count
    size_t end;    // in by_in_end: all before it are over
    uint64_t
        under_way[HISTORY_MAX_LOGS]; // starts of sends; HISTORY_NEVER: none
};

static void
judge(const struct history_checker *checker, int rank, struct inside *inside,
      uint64_t from, uint64_t to, struct sweep *sweep)
{
    bool allowed = inside->count == 0;

    if (allowed)
        add_span(sweep->strict, &sweep->strict_count, from, to);
    while (inside->oldest < inside->end) {
        size_t index = checker->by_in_end[inside->oldest].index;

        if (!inside->gone[index] && counts_for(&checker->items[index], rank))
            break;
        inside->oldest++;
    }
    for (unsigned i = 0; !allowed && i < checker->history->log_count; i++)
        allowed = inside->under_way[i] < checker->by_in_end[inside->oldest].key;
    if (allowed)
        add_span(sweep->granted, &sweep->granted_count, from, to);
}

// When could a dequeue of `rank` (any, if negative) answer EMPTY? HIST-2: first
// the time since the last stamp, then the instant of this one.
static void
sweep_empty(const struct history_checker *checker, int rank,
            struct sweep *sweep)
{
    const struct history_item *items = checker->items;
    size_t count = checker->item_count;
    struct inside inside = {.gone = history_allocate(count, sizeof(bool))};
    const uint64_t last = HISTORY_NEVER / 4;
    size_t start = 0;
    size_t out = 0;
    uint64_t from = 0;

    memset(inside.under_way, 0xff, sizeof(inside.under_way));
    for (;;) {
        uint64_t now = last;

        now = sooner(now, checker->by_in_start, start, count);
        now = sooner(now, checker->by_in_end, inside.end, count);
        now = sooner(now, checker->by_out_start, out, checker->out_count);
        if (2 * now > from)
            judge(checker, rank, &inside, from, 2 * now - 1, sweep);
        if (now == last)
            break;

        for (; start < count && checker->by_in_start[start].key == now;
             start++) {
            const struct history_item *item =
                &items[checker->by_in_start[start].index];

            if (counts_for(item, rank))
                inside.under_way[item->log] = now;
        }
        for (;
             out < checker->out_count && checker->by_out_start[out].key == now;
             out++) {
            size_t index = checker->by_out_start[out].index;

            inside.gone[index] = true;
            if (counts_for(&items[index], rank) && items[index].in_end < now)
                inside.count--;
        }
        judge(checker, rank, &inside, 2 * now, 2 * now, sweep);

        for (; inside.end < count && checker->by_in_end[inside.end].key == now;
             inside.end++) {
            size_t index = checker->by_in_end[inside.end].index;
            const struct history_item *item = &items[index];

            if (!counts_for(item, rank))
                continue;
            if (inside.under_way[item->log] == item->in_start)
                inside.under_way[item->log] = HISTORY_NEVER;
            inside.count += !inside.gone[index];
        }
        from = 2 * now + 1;
    }
    free(inside.gone);
}

void
history_check_empty(struct history_checker *checker, int rank)
{
    size_t most = 8 * checker->item_count + 8;
    struct sweep sweep = {
        .strict = history_allocate(most, sizeof(struct span)),
        .granted = history_allocate(most, sizeof(struct span)),
    };

    sweep_empty(checker, rank, &sweep);
    for (size_t i = 0; i < checker->answer_count; i++) {
        const struct history_call *call = &checker->answers[i];

        if (call->kind != HISTORY_ANSWER_EMPTY ||
            meets(sweep.strict, sweep.strict_count, call))
            continue;
        if (checker->rules->claims &&
            meets(sweep.granted, sweep.granted_count, call)) {
            checker->report.excused++;
            continue;
        }
        history_violation(checker, HISTORY_EMPTY, call->start, call->end,
                          "answered in [%" PRIu64 ", %" PRIu64 "], rank %d",
                          call->start, call->end, rank);
    }
    free(sweep.strict);
    free(sweep.granted);
}

// Surely inside at one instant: never more than the capacity.
void
history_check_capacity(struct history_checker *checker)
{
    int64_t inside = 0;
    size_t out = 0;

    for (size_t i = 0; i < checker->item_count; i++) {
        const struct history_item *item =
            &checker->items[checker->by_in_end[i].index];

        if (item->out_start <= item->in_end)
            continue; // taken before its sender was back
        while (out < checker->out_count &&
               checker->by_out_start[out].key <= item->in_end) {
            const struct history_item *gone =
                &checker->items[checker->by_out_start[out++].index];

            inside -= gone->out_start > gone->in_end;
        }
        if (++inside > checker->rules->capacity)
            history_violation(checker, HISTORY_CAPACITY, item->in_start,
                              item->in_end, "%" PRId64 " inside after %" PRIu64,
                              inside, item->in_end);
    }
}

// When could an enqueue answer FULL? Possibly inside: in_start <= t <= out_end.
void
history_check_full(struct history_checker *checker)
{
    struct span *full =
        history_allocate(2 * checker->item_count + 2, sizeof(struct span));
    size_t full_count = 0;
    size_t out = 0;
    int64_t inside = 0;
    uint64_t since = HISTORY_NEVER;

    for (size_t i = 0; i <= checker->item_count; i++) {
        uint64_t now = i < checker->item_count ? checker->by_in_start[i].key
                                               : HISTORY_NEVER / 4;

        while (out < checker->out_count && checker->by_out_end[out].key < now) {
            if (inside-- == checker->rules->capacity)
                add_span(full, &full_count, since,
                         2 * checker->by_out_end[out].key);
            out++;
        }
        if (i < checker->item_count && ++inside == checker->rules->capacity)
            since = 2 * now;
    }
    if (inside >= checker->rules->capacity)
        add_span(full, &full_count, since, HISTORY_NEVER / 2);

    for (size_t i = 0; i < checker->answer_count; i++) {
        const struct history_call *call = &checker->answers[i];

        if (call->kind == HISTORY_ANSWER_FULL && !meets(full, full_count, call))
            history_violation(checker, HISTORY_FULL, call->start, call->end,
                              "answered in [%" PRIu64 ", %" PRIu64 "]",
                              call->start, call->end);
    }
    free(full);
}

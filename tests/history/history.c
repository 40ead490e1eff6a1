/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history checker: see history.h for what it decides.
 *
 * Every enqueued value becomes an item with four stamps: its enqueue's start
 * and end, its dequeue's start and end (never: NEVER). Each aspect is then one
 * sweep over the items in the order of one stamp, carrying a running maximum,
 * a count, or a set that only grows at one end.
 *
 * I1  Sorting is stable and by radix, so that a check is linear in practice.
 * I2  Instants are doubled: 2t is the instant t, 2t + 1 the open time after
 *     it. At 2t a value that is enqueued until t or dequeued from t is not
 *     surely inside, and a call that starts or ends at t is under way; so equal
 *     stamps never make a violation.
 */
#include "history/history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define NEVER UINT64_MAX

struct item {
    uint64_t value;
    uint64_t in_start, in_end;
    uint64_t out_start, out_end; // NEVER: it stayed inside
    uint8_t rank;
    bool front;
    uint16_t log;
};

struct key {
    uint64_t key;
    size_t index;
};

struct span {
    uint64_t from, to; // doubled instants, both included
};

struct checker {
    const struct history *history;
    const struct history_rules *rules;
    struct history_report report;
    struct item *items;
    size_t item_count;
    struct history_call *answers; // EMPTY and FULL
    size_t answer_count;
    struct key *scratch;
    struct key *by_in_start;
    struct key *by_in_end;
    struct key *by_out_start; // dequeued ones only
    struct key *by_out_end;   // the same
    size_t out_count;
};

static const char *const aspect_names[] = {
#define ASPECT_NAME(name) #name,
    HISTORY_ASPECT_MAP(ASPECT_NAME)
#undef ASPECT_NAME
};

const char *
history_aspect_name(enum history_aspect aspect)
{
    return aspect_names[aspect];
}

static void *
allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    CHECK(memory != NULL);
    return memory;
}

void
history_init(struct history *history, unsigned log_count, size_t calls_per_log)
{
    CHECK(log_count <= HISTORY_LOGS_MOST);
    *history = (struct history){.log_count = log_count};
    for (unsigned i = 0; i < log_count; i++) {
        history->logs[i].calls =
            allocate(calls_per_log, sizeof(struct history_call));
        history->logs[i].capacity = calls_per_log;
    }
}

void
history_fini(struct history *history)
{
    for (unsigned i = 0; i < history->log_count; i++)
        free(history->logs[i].calls);
    history->log_count = 0;
}

void
history_print(const struct history *history, uint64_t start, uint64_t end,
              unsigned most)
{
    static const char *const kinds[] = {"enqueue", "enqueue front", "dequeue",
                                        "EMPTY", "FULL"};

    for (unsigned i = 0; i < history->log_count; i++) {
        const struct history_log *log = &history->logs[i];

        for (size_t j = 0; j < log->count && most > 0; j++) {
            const struct history_call *call = &log->calls[j];

            if (call->end < start || call->start > end)
                continue;
            most--;
            test_note("  thread %u [%" PRId64 ", %" PRId64 "] %s %" PRIu64
                      " (rank %u)",
                      i, (int64_t)(call->start - start),
                      (int64_t)(call->end - start), kinds[call->kind],
                      call->value, call->rank);
        }
    }
}

__attribute__((format(printf, 5, 6))) static void
violation(struct checker *checker, enum history_aspect aspect, uint64_t start,
          uint64_t end, const char *format, ...)
{
    struct history_report *report = &checker->report;
    va_list arguments;

    report->by_aspect[aspect]++;
    if (report->violations++ > 0)
        return;
    report->first_start = start;
    report->first_end = end;

    int used = snprintf(report->first, sizeof(report->first),
                        "%s: ", aspect_names[aspect]);

    va_start(arguments, format);
    vsnprintf(report->first + used, sizeof(report->first) - (size_t)used,
              format, arguments);
    va_end(arguments);
}

// I1: least significant digit first; digits that are all equal are skipped.
static void
sort_keys(struct key *keys, struct key *scratch, size_t count)
{
    enum {
        BITS = 11,
        DIGITS = 1 << BITS
    };
    struct key *from = keys;
    struct key *to = scratch;

    for (unsigned shift = 0; shift < 64; shift += BITS) {
        size_t starts[DIGITS] = {0};
        size_t sum = 0;

        for (size_t i = 0; i < count; i++)
            starts[(from[i].key >> shift) & (DIGITS - 1)]++;
        if (count == 0 ||
            starts[(from[0].key >> shift) & (DIGITS - 1)] == count)
            continue;
        for (unsigned digit = 0; digit < DIGITS; digit++) {
            size_t here = starts[digit];

            starts[digit] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            to[starts[(from[i].key >> shift) & (DIGITS - 1)]++] = from[i];

        struct key *swap = from;

        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof(*keys));
}

/* ---- Items ---- */

static void
collect(struct checker *checker)
{
    const struct history *history = checker->history;
    size_t counts[HISTORY_ANSWER_FULL + 1] = {0};
    size_t dequeue_count = 0;

    for (unsigned i = 0; i < history->log_count; i++) {
        const struct history_log *log = &history->logs[i];

        if (log->count > log->capacity) {
            violation(checker, HISTORY_MALFORMED, 0, 0, "log %u ran over", i);
            return;
        }
        for (size_t j = 0; j < log->count; j++) {
            if (log->calls[j].kind > HISTORY_ANSWER_FULL ||
                log->calls[j].rank >= HISTORY_RANKS_MOST ||
                log->calls[j].end < log->calls[j].start) {
                violation(checker, HISTORY_MALFORMED, 0, 0, "log %u, call %zu",
                          i, j);
                return;
            }
            counts[log->calls[j].kind]++;
        }
    }

    size_t enqueues = counts[HISTORY_ENQUEUE] + counts[HISTORY_ENQUEUE_FRONT];
    size_t dequeues = counts[HISTORY_DEQUEUE];
    size_t most = enqueues > dequeues ? enqueues : dequeues;
    struct item *unsorted = allocate(enqueues, sizeof(struct item));
    struct history_call *taken = allocate(dequeues, sizeof(*taken));
    struct key *sorted = allocate(enqueues, sizeof(struct key));
    struct key *takes = allocate(dequeues, sizeof(struct key));

    checker->report.enqueued = enqueues;
    checker->report.dequeued = dequeues;
    checker->report.empties = counts[HISTORY_ANSWER_EMPTY];
    checker->report.fulls = counts[HISTORY_ANSWER_FULL];
    checker->items = allocate(enqueues, sizeof(struct item));
    checker->answers =
        allocate(counts[HISTORY_ANSWER_EMPTY] + counts[HISTORY_ANSWER_FULL],
                 sizeof(struct history_call));
    checker->scratch = allocate(most, sizeof(struct key));

    size_t count = 0;

    for (unsigned i = 0; i < history->log_count; i++) {
        const struct history_log *log = &history->logs[i];

        for (size_t j = 0; j < log->count; j++) {
            const struct history_call *call = &log->calls[j];

            if (call->kind == HISTORY_DEQUEUE) {
                takes[dequeue_count] = (struct key){call->value, dequeue_count};
                taken[dequeue_count++] = *call;
                continue;
            }
            if (call->kind > HISTORY_DEQUEUE) {
                checker->answers[checker->answer_count++] = *call;
                continue;
            }
            sorted[count] = (struct key){call->value, count};
            unsorted[count++] = (struct item){
                .value = call->value,
                .in_start = call->start,
                .in_end = call->end,
                .out_start = NEVER,
                .out_end = NEVER,
                .rank = call->rank,
                .front = call->kind == HISTORY_ENQUEUE_FRONT,
                .log = (uint16_t)i,
            };
        }
    }

    sort_keys(sorted, checker->scratch, enqueues);
    for (size_t i = 0; i < enqueues; i++) {
        checker->items[i] = unsorted[sorted[i].index];
        if (i > 0 && sorted[i].key == sorted[i - 1].key)
            violation(checker, HISTORY_MALFORMED, 0, 0,
                      "%" PRIu64 " enqueued twice", sorted[i].key);
    }
    checker->item_count = enqueues;

    sort_keys(takes, checker->scratch, dequeues);
    for (size_t i = 0, item = 0; i < dequeues; i++) {
        const struct history_call *take = &taken[takes[i].index];

        while (item < enqueues && checker->items[item].value < take->value)
            item++;
        if (item == enqueues || checker->items[item].value != take->value) {
            violation(checker, HISTORY_UNSENT, take->start, take->end,
                      "%" PRIu64 " dequeued in [%" PRIu64 ", %" PRIu64 "]",
                      take->value, take->start, take->end);
            continue;
        }

        struct item *found = &checker->items[item];

        if (found->out_start != NEVER) {
            violation(checker, HISTORY_TWICE, take->start, take->end,
                      "%" PRIu64 " dequeued in [%" PRIu64 ", %" PRIu64
                      "] and in [%" PRIu64 ", %" PRIu64 "]",
                      take->value, found->out_start, found->out_end,
                      take->start, take->end);
            continue;
        }
        found->out_start = take->start;
        found->out_end = take->end;
        if (take->end < found->in_start)
            violation(checker, HISTORY_EARLY, take->start, take->end,
                      "%" PRIu64 " dequeued until %" PRIu64
                      ", enqueued from %" PRIu64,
                      take->value, take->end, found->in_start);
    }

    free(unsorted);
    free(taken);
    free(sorted);
    free(takes);
}

static void
sort_items(struct checker *checker)
{
    size_t count = checker->item_count;

    checker->by_in_start = allocate(count, sizeof(struct key));
    checker->by_in_end = allocate(count, sizeof(struct key));
    checker->by_out_start = allocate(count, sizeof(struct key));
    checker->by_out_end = allocate(count, sizeof(struct key));
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &checker->items[i];

        checker->by_in_start[i] = (struct key){item->in_start, i};
        checker->by_in_end[i] = (struct key){item->in_end, i};
        if (item->out_start == NEVER) {
            if (checker->rules->drained)
                violation(checker, HISTORY_LOST, item->in_start, item->in_end,
                          "%" PRIu64 " enqueued in [%" PRIu64 ", %" PRIu64 "]",
                          item->value, item->in_start, item->in_end);
            continue;
        }
        checker->by_out_start[checker->out_count] =
            (struct key){item->out_start, i};
        checker->by_out_end[checker->out_count++] =
            (struct key){item->out_end, i};
    }
    sort_keys(checker->by_in_start, checker->scratch, count);
    sort_keys(checker->by_in_end, checker->scratch, count);
    sort_keys(checker->by_out_start, checker->scratch, checker->out_count);
    sort_keys(checker->by_out_end, checker->scratch, checker->out_count);
}

/* ---- ORDER and URGENCY: running maxima ---- */

// Whether a send of `rank` (any, if negative) was under way at some instant of
// [from, to] and had begun before `before`. Calls of one log do not overlap,
// except those of one batch, which are equal.
static bool
claim_may_hide(const struct checker *checker, int rank, uint64_t from,
               uint64_t to, uint64_t before)
{
    const struct history *history = checker->history;

    for (unsigned i = 0; i < history->log_count; i++) {
        const struct history_log *log = &history->logs[i];
        size_t low = 0;
        size_t high = log->count;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (log->calls[middle].end < from)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < log->count; low++) {
            const struct history_call *call = &log->calls[low];

            if (call->start > to || call->start >= before)
                break;
            if (call->kind <= HISTORY_ENQUEUE_FRONT &&
                (rank < 0 || call->rank == rank))
                return true;
        }
    }
    return false;
}

// For each b, in the order in which enqueues began: the latest dequeue among
// those whose enqueue was over by then.
static void
check_order(struct checker *checker)
{
    const struct item *latest[HISTORY_RANKS_MOST] = {NULL};
    size_t over = 0;

    for (size_t i = 0; i < checker->item_count; i++) {
        const struct item *b = &checker->items[checker->by_in_start[i].index];

        while (over < checker->item_count &&
               checker->by_in_end[over].key < b->in_start) {
            const struct item *a =
                &checker->items[checker->by_in_end[over++].index];

            if (!a->front &&
                (!latest[a->rank] || a->out_start > latest[a->rank]->out_start))
                latest[a->rank] = a;
        }

        const struct item *a = latest[b->rank];

        if (b->front || !a || a->out_start <= b->out_end)
            continue;
        violation(checker, HISTORY_ORDER, a->in_start, b->out_end,
                  "%" PRIu64 " enqueued until %" PRIu64 ", %" PRIu64
                  " from %" PRIu64 "; dequeued from %" PRIu64
                  " and until %" PRIu64,
                  a->value, a->in_end, b->value, b->in_start, a->out_start,
                  b->out_end);
    }
}

static void
check_urgency(struct checker *checker)
{
    const struct item *latest[HISTORY_RANKS_MOST] = {NULL};
    size_t over = 0;

    for (size_t i = 0; i < checker->out_count; i++) {
        const struct item *low =
            &checker->items[checker->by_out_start[i].index];

        while (over < checker->item_count &&
               checker->by_in_end[over].key < low->out_start) {
            const struct item *high =
                &checker->items[checker->by_in_end[over++].index];
            const struct item **known = &latest[high->rank];

            if (!*known || high->out_start > (*known)->out_start)
                *known = high;
        }
        for (unsigned rank = 0; rank < low->rank; rank++) {
            const struct item *high = latest[rank];

            if (!high || high->out_start <= low->out_end)
                continue;
            if (checker->rules->claims &&
                claim_may_hide(checker, checker->rules->lanes ? (int)rank : -1,
                               low->out_start, low->out_end, high->in_end)) {
                checker->report.excused++;
                continue;
            }
            violation(checker, HISTORY_URGENCY, high->in_start, low->out_end,
                      "%" PRIu64 " (rank %u) sent until %" PRIu64 "; %" PRIu64
                      " (rank %u) dequeued in [%" PRIu64 ", %" PRIu64
                      "], before it",
                      high->value, rank, high->in_end, low->value, low->rank,
                      low->out_start, low->out_end);
        }
    }
}

/* ---- FRONT: what was taken while f waited in front ---- */

static void
check_front(struct checker *checker)
{
    size_t count = checker->out_count;
    uint64_t *oldest = allocate(count + 1, sizeof(*oldest)); // a Fenwick tree
    size_t *places = allocate(checker->item_count, sizeof(*places));
    size_t added = count;

    memset(oldest, 0xff, (count + 1) * sizeof(*oldest));
    for (size_t i = 0; i < count; i++)
        places[checker->by_out_end[i].index] = i + 1;

    // From the last enqueue to the first; the tree holds all that began to be
    // dequeued after it, by the end of the dequeue.
    for (size_t i = checker->item_count; i-- > 0;) {
        const struct item *f = &checker->items[checker->by_in_end[i].index];

        while (added > 0 && checker->by_out_start[added - 1].key > f->in_end) {
            size_t index = checker->by_out_start[--added].index;
            uint64_t in_end = checker->items[index].in_end;

            for (size_t j = places[index]; j <= count; j += j & (0 - j)) {
                if (in_end < oldest[j])
                    oldest[j] = in_end;
            }
        }
        if (!f->front)
            continue;

        size_t before = 0; // how many dequeues ended before f's began
        size_t high = count;

        while (before < high) {
            size_t middle = before + (high - before) / 2;

            if (checker->by_out_end[middle].key < f->out_start)
                before = middle + 1;
            else
                high = middle;
        }

        uint64_t least = NEVER;

        for (size_t j = before; j > 0; j -= j & (0 - j)) {
            if (oldest[j] < least)
                least = oldest[j];
        }
        if (least < f->in_start)
            violation(checker, HISTORY_FRONT, f->in_start, f->out_start,
                      "%" PRIu64 " in front from %" PRIu64 " to %" PRIu64
                      ", yet one enqueued until %" PRIu64 " was dequeued",
                      f->value, f->in_end, f->out_start, least);
    }
    free(oldest);
    free(places);
}

/* ---- EMPTY, FULL, CAPACITY: sweeps over time ---- */

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
counts_for(const struct item *item, int rank)
{
    return rank < 0 || item->rank == rank;
}

// The time at which the next item's stamp lies.
static uint64_t
sooner(uint64_t next, const struct key *keys, size_t position, size_t count)
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
    uint64_t under_way[HISTORY_LOGS_MOST]; // starts of sends; NEVER: none
};

static void
judge(const struct checker *checker, int rank, struct inside *inside,
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

// When could a dequeue of `rank` (any, if negative) answer EMPTY? I2: first the
// time since the last stamp, then the instant of this one.
static void
sweep_empty(const struct checker *checker, int rank, struct sweep *sweep)
{
    const struct item *items = checker->items;
    size_t count = checker->item_count;
    struct inside inside = {.gone = allocate(count, sizeof(bool))};
    const uint64_t last = NEVER / 4;
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
            const struct item *item = &items[checker->by_in_start[start].index];

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
            const struct item *item = &items[index];

            if (!counts_for(item, rank))
                continue;
            if (inside.under_way[item->log] == item->in_start)
                inside.under_way[item->log] = NEVER;
            inside.count += !inside.gone[index];
        }
        from = 2 * now + 1;
    }
    free(inside.gone);
}

static void
check_empty(struct checker *checker, int rank)
{
    size_t most = 8 * checker->item_count + 8;
    struct sweep sweep = {
        .strict = allocate(most, sizeof(struct span)),
        .granted = allocate(most, sizeof(struct span)),
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
        violation(checker, HISTORY_EMPTY, call->start, call->end,
                  "answered in [%" PRIu64 ", %" PRIu64 "], rank %d",
                  call->start, call->end, rank);
    }
    free(sweep.strict);
    free(sweep.granted);
}

// Surely inside at one instant: never more than the capacity.
static void
check_capacity(struct checker *checker)
{
    int64_t inside = 0;
    size_t out = 0;

    for (size_t i = 0; i < checker->item_count; i++) {
        const struct item *item = &checker->items[checker->by_in_end[i].index];

        if (item->out_start <= item->in_end)
            continue; // taken before its sender was back
        while (out < checker->out_count &&
               checker->by_out_start[out].key <= item->in_end) {
            const struct item *gone =
                &checker->items[checker->by_out_start[out++].index];

            inside -= gone->out_start > gone->in_end;
        }
        if (++inside > checker->rules->capacity)
            violation(checker, HISTORY_CAPACITY, item->in_start, item->in_end,
                      "%" PRId64 " inside after %" PRIu64, inside,
                      item->in_end);
    }
}

// When could an enqueue answer FULL? Possibly inside: in_start <= t <= out_end.
static void
check_full(struct checker *checker)
{
    struct span *full =
        allocate(2 * checker->item_count + 2, sizeof(struct span));
    size_t full_count = 0;
    size_t out = 0;
    int64_t inside = 0;
    uint64_t since = NEVER;

    for (size_t i = 0; i <= checker->item_count; i++) {
        uint64_t now =
            i < checker->item_count ? checker->by_in_start[i].key : NEVER / 4;

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
        add_span(full, &full_count, since, NEVER / 2);

    for (size_t i = 0; i < checker->answer_count; i++) {
        const struct history_call *call = &checker->answers[i];

        if (call->kind == HISTORY_ANSWER_FULL && !meets(full, full_count, call))
            violation(checker, HISTORY_FULL, call->start, call->end,
                      "answered in [%" PRIu64 ", %" PRIu64 "]", call->start,
                      call->end);
    }
    free(full);
}

struct history_report
history_check(const struct history *history, const struct history_rules *rules)
{
    struct checker checker = {.history = history, .rules = rules};

    CHECK(rules->ranks <= HISTORY_RANKS_MOST);
    collect(&checker);
    if (checker.report.by_aspect[HISTORY_MALFORMED] == 0) {
        sort_items(&checker);
        check_order(&checker);
        if (rules->ranks > 1)
            check_urgency(&checker);
        check_front(&checker);
        if (rules->lanes) {
            for (unsigned rank = 0; rank < rules->ranks; rank++)
                check_empty(&checker, (int)rank);
        } else {
            check_empty(&checker, -1);
        }
        if (rules->capacity > 0)
            check_capacity(&checker);
        if (rules->capacity > 0 && rules->exact_full)
            check_full(&checker);
    }

    free(checker.items);
    free(checker.answers);
    free(checker.scratch);
    free(checker.by_in_start);
    free(checker.by_in_end);
    free(checker.by_out_start);
    free(checker.by_out_end);
    return checker.report;
}

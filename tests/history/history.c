/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history checker: see history.h for what it decides.
 *
 * Every enqueued value becomes an item with four stamps: its enqueue's start
 * and end, its dequeue's start and end (never: HISTORY_NEVER). Each aspect is
 * then one sweep over the items in the order of one stamp, carrying a running
 * maximum, a count, or a set that only grows at one end.
 *
 * HIST-1  Sorting is stable and by radix, so that a check is linear in
 *         practice.
 * HIST-2  Instants are doubled: 2t is the instant t, 2t + 1 the open time after
 *         it. At 2t a value that is enqueued until t or dequeued from t is not
 *         surely inside, and a call that starts or ends at t is under way; so
 *         equal stamps never make a violation.
 *
 * This file collects the items and checks the order in which they came out;
 * history_sweep.c checks EMPTY, FULL and CAPACITY.
 */
#include "history/checker.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

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

void *
history_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    CHECK(memory != NULL);
    return memory;
}

void
history_init(struct history *history, unsigned log_count, size_t calls_per_log)
{
    CHECK(log_count <= HISTORY_MAX_LOGS);
    *history = (struct history){.log_count = log_count};
    for (unsigned i = 0; i < log_count; i++) {
        history->logs[i].calls =
            history_allocate(calls_per_log, sizeof(struct history_call));
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

void
history_violation(struct history_checker *checker, enum history_aspect aspect,
                  uint64_t start, uint64_t end, const char *format, ...)
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

// HIST-1: least significant digit first; digits that are all equal are skipped.
static void
sort_keys(struct history_key *keys, struct history_key *scratch, size_t count)
{
    enum {
        BITS = 11,
        DIGITS = 1 << BITS
    };
    struct history_key *from = keys;
    struct history_key *to = scratch;

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

        struct history_key *swap = from;

        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof(*keys));
}

/* ---- Items ---- */

static void
collect(struct history_checker *checker)
{
    const struct history *history = checker->history;
    size_t counts[HISTORY_ANSWER_FULL + 1] = {0};
    size_t dequeue_count = 0;

    for (unsigned i = 0; i < history->log_count; i++) {
        const struct history_log *log = &history->logs[i];

        if (log->count > log->capacity) {
            history_violation(checker, HISTORY_MALFORMED, 0, 0,
                              "log %u ran over", i);
            return;
        }
        for (size_t j = 0; j < log->count; j++) {
            if (log->calls[j].kind > HISTORY_ANSWER_FULL ||
                log->calls[j].rank >= HISTORY_MAX_RANKS ||
                log->calls[j].end < log->calls[j].start) {
                history_violation(checker, HISTORY_MALFORMED, 0, 0,
                                  "log %u, call %zu", i, j);
                return;
            }
            counts[log->calls[j].kind]++;
        }
    }

    size_t enqueues = counts[HISTORY_ENQUEUE] + counts[HISTORY_ENQUEUE_FRONT];
    size_t dequeues = counts[HISTORY_DEQUEUE];
    size_t most = enqueues > dequeues ? enqueues : dequeues;
    struct history_item *unsorted =
        history_allocate(enqueues, sizeof(struct history_item));
    struct history_call *taken = history_allocate(dequeues, sizeof(*taken));
    struct history_key *sorted =
        history_allocate(enqueues, sizeof(struct history_key));
    struct history_key *takes =
        history_allocate(dequeues, sizeof(struct history_key));

    checker->report.enqueued = enqueues;
    checker->report.dequeued = dequeues;
    checker->report.empties = counts[HISTORY_ANSWER_EMPTY];
    checker->report.fulls = counts[HISTORY_ANSWER_FULL];
    checker->items = history_allocate(enqueues, sizeof(struct history_item));
    checker->answers = history_allocate(counts[HISTORY_ANSWER_EMPTY] +
                                            counts[HISTORY_ANSWER_FULL],
                                        sizeof(struct history_call));
    checker->scratch = history_allocate(most, sizeof(struct history_key));

    size_t count = 0;

    for (unsigned i = 0; i < history->log_count; i++) {
        const struct history_log *log = &history->logs[i];

        for (size_t j = 0; j < log->count; j++) {
            const struct history_call *call = &log->calls[j];

            if (call->kind == HISTORY_DEQUEUE) {
                takes[dequeue_count] =
                    (struct history_key){call->value, dequeue_count};
                taken[dequeue_count++] = *call;
                continue;
            }
            if (call->kind > HISTORY_DEQUEUE) {
                checker->answers[checker->answer_count++] = *call;
                continue;
            }
            sorted[count] = (struct history_key){call->value, count};
            unsorted[count++] = (struct history_item){
                .value = call->value,
                .in_start = call->start,
                .in_end = call->end,
                .out_start = HISTORY_NEVER,
                .out_end = HISTORY_NEVER,
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
            history_violation(checker, HISTORY_MALFORMED, 0, 0,
                              "%" PRIu64 " enqueued twice", sorted[i].key);
    }
    checker->item_count = enqueues;

    sort_keys(takes, checker->scratch, dequeues);
    for (size_t i = 0, item = 0; i < dequeues; i++) {
        const struct history_call *take = &taken[takes[i].index];

        while (item < enqueues && checker->items[item].value < take->value)
            item++;
        if (item == enqueues || checker->items[item].value != take->value) {
            history_violation(checker, HISTORY_UNSENT, take->start, take->end,
                              "%" PRIu64 " dequeued in [%" PRIu64 ", %" PRIu64
                              "]",
                              take->value, take->start, take->end);
            continue;
        }

        struct history_item *found = &checker->items[item];

        if (found->out_start != HISTORY_NEVER) {
            history_violation(checker, HISTORY_TWICE, take->start, take->end,
                              "%" PRIu64 " dequeued in [%" PRIu64 ", %" PRIu64
                              "] and in [%" PRIu64 ", %" PRIu64 "]",
                              take->value, found->out_start, found->out_end,
                              take->start, take->end);
            continue;
        }
        found->out_start = take->start;
        found->out_end = take->end;
        if (take->end < found->in_start)
            history_violation(checker, HISTORY_EARLY, take->start, take->end,
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
sort_items(struct history_checker *checker)
{
    size_t count = checker->item_count;

    checker->by_in_start = history_allocate(count, sizeof(struct history_key));
    checker->by_in_end = history_allocate(count, sizeof(struct history_key));
    checker->by_out_start = history_allocate(count, sizeof(struct history_key));
    checker->by_out_end = history_allocate(count, sizeof(struct history_key));
    for (size_t i = 0; i < count; i++) {
        const struct history_item *item = &checker->items[i];

        checker->by_in_start[i] = (struct history_key){item->in_start, i};
        checker->by_in_end[i] = (struct history_key){item->in_end, i};
        if (item->out_start == HISTORY_NEVER) {
            if (checker->rules->drained)
                history_violation(
                    checker, HISTORY_LOST, item->in_start, item->in_end,
                    "%" PRIu64 " enqueued in [%" PRIu64 ", %" PRIu64 "]",
                    item->value, item->in_start, item->in_end);
            continue;
        }
        checker->by_out_start[checker->out_count] =
            (struct history_key){item->out_start, i};
        checker->by_out_end[checker->out_count++] =
            (struct history_key){item->out_end, i};
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
claim_may_hide(const struct history_checker *checker, int rank, uint64_t from,
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
check_order(struct history_checker *checker)
{
    const struct history_item *latest[HISTORY_MAX_RANKS] = {NULL};
    size_t over = 0;

    for (size_t i = 0; i < checker->item_count; i++) {
        const struct history_item *b =
            &checker->items[checker->by_in_start[i].index];

        while (over < checker->item_count &&
               checker->by_in_end[over].key < b->in_start) {
            const struct history_item *a =
                &checker->items[checker->by_in_end[over++].index];

            if (!a->front &&
                (!latest[a->rank] || a->out_start > latest[a->rank]->out_start))
                latest[a->rank] = a;
        }

        const struct history_item *a = latest[b->rank];

        if (b->front || !a || a->out_start <= b->out_end)
            continue;
        history_violation(checker, HISTORY_ORDER, a->in_start, b->out_end,
                          "%" PRIu64 " enqueued until %" PRIu64 ", %" PRIu64
                          " from %" PRIu64 "; dequeued from %" PRIu64
                          " and until %" PRIu64,
                          a->value, a->in_end, b->value, b->in_start,
                          a->out_start, b->out_end);
    }
}

static void
check_urgency(struct history_checker *checker)
{
    const struct history_item *latest[HISTORY_MAX_RANKS] = {NULL};
    size_t over = 0;

    for (size_t i = 0; i < checker->out_count; i++) {
        const struct history_item *low =
            &checker->items[checker->by_out_start[i].index];

        while (over < checker->item_count &&
               checker->by_in_end[over].key < low->out_start) {
            const struct history_item *high =
                &checker->items[checker->by_in_end[over++].index];
            const struct history_item **known = &latest[high->rank];

            if (!*known || high->out_start > (*known)->out_start)
                *known = high;
        }
        for (unsigned rank = 0; rank < low->rank; rank++) {
            const struct history_item *high = latest[rank];

            if (!high || high->out_start <= low->out_end)
                continue;
            if (checker->rules->claims &&
                claim_may_hide(checker, checker->rules->lanes ? (int)rank : -1,
                               low->out_start, low->out_end, high->in_end)) {
                checker->report.excused++;
                continue;
            }
            history_violation(
                checker, HISTORY_URGENCY, high->in_start, low->out_end,
                "%" PRIu64 " (rank %u) sent until %" PRIu64 "; %" PRIu64
                " (rank %u) dequeued in [%" PRIu64 ", %" PRIu64 "], before it",
                high->value, rank, high->in_end, low->value, low->rank,
                low->out_start, low->out_end);
        }
    }
}

/* ---- FRONT: what was taken while f waited in front ---- */

static void
check_front(struct history_checker *checker)
{
    size_t count = checker->out_count;
    uint64_t *oldest =
        history_allocate(count + 1, sizeof(*oldest)); // a Fenwick tree
    size_t *places = history_allocate(checker->item_count, sizeof(*places));
    size_t added = count;

    memset(oldest, 0xff, (count + 1) * sizeof(*oldest));
    for (size_t i = 0; i < count; i++)
        places[checker->by_out_end[i].index] = i + 1;

    // From the last enqueue to the first; the tree holds all that began to be
    // dequeued after it, by the end of the dequeue.
    for (size_t i = checker->item_count; i-- > 0;) {
        const struct history_item *f =
            &checker->items[checker->by_in_end[i].index];

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

        uint64_t least = HISTORY_NEVER;

        for (size_t j = before; j > 0; j -= j & (0 - j)) {
            if (oldest[j] < least)
                least = oldest[j];
        }
        if (least < f->in_start)
            history_violation(checker, HISTORY_FRONT, f->in_start, f->out_start,
                              "%" PRIu64 " in front from %" PRIu64
                              " to %" PRIu64 ", yet one enqueued until %" PRIu64
                              " was dequeued",
                              f->value, f->in_end, f->out_start, least);
    }
    free(oldest);
    free(places);
}

struct history_report
history_check(const struct history *history, const struct history_rules *rules)
{
    struct history_checker checker = {.history = history, .rules = rules};

    CHECK(rules->ranks <= HISTORY_MAX_RANKS);
    collect(&checker);
    if (checker.report.by_aspect[HISTORY_MALFORMED] == 0) {
        sort_items(&checker);
        check_order(&checker);
        if (rules->ranks > 1)
            check_urgency(&checker);
        check_front(&checker);
        if (rules->lanes) {
            for (unsigned rank = 0; rank < rules->ranks; rank++)
                history_check_empty(&checker, (int)rank);
        } else {
            history_check_empty(&checker, -1);
        }
        if (rules->capacity > 0)
            history_check_capacity(&checker);
        if (rules->capacity > 0 && rules->exact_full)
            history_check_full(&checker);
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

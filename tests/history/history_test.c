/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker checked: histories written by hand, good ones and one with each
 * violation planted, and random ones compared with a search that tries every
 * order. A checker that has never said no is not yet a checker.
 */
#include "history/history.h"

#include <inttypes.h>
#include <string.h>

#include "stress/storm.h"
#include "support/test.h"

enum {
    E = HISTORY_ENQUEUE,
    F = HISTORY_ENQUEUE_FRONT,
    D = HISTORY_DEQUEUE,
    EMPTY = HISTORY_ANSWER_EMPTY,
    FULL = HISTORY_ANSWER_FULL,
};

struct step {
    unsigned log;
    int kind;
    uint64_t value;
    unsigned rank;
    uint64_t start, end;
};

static struct history_report
check_steps(const struct step *steps, size_t count,
            const struct history_rules *rules)
{
    struct history history;
    struct history_report report;

    history_init(&history, 4, count);
    for (size_t i = 0; i < count; i++)
        history_note(&history.logs[steps[i].log],
                     (enum history_kind)steps[i].kind, steps[i].value,
                     steps[i].rank, steps[i].start, steps[i].end);
    report = history_check(&history, rules);
    history_fini(&history);
    return report;
}

#define REPORT(rules, ...)                                                     \
    check_steps((struct step[]){__VA_ARGS__},                                  \
                sizeof((struct step[]){__VA_ARGS__}) / sizeof(struct step),    \
                &(struct history_rules)rules)
#define RULES(...)                                                             \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static void
check_only(struct history_report report, enum history_aspect aspect)
{
    if (report.violations == 0)
        FAIL("%s was not found", history_aspect_name(aspect));
    if (report.by_aspect[aspect] != report.violations)
        FAIL("expected %s only, got %s", history_aspect_name(aspect),
             report.first);
}

static void
check_none(struct history_report report)
{
    if (report.violations != 0)
        FAIL("unexpected %s", report.first);
}

// Overlapping calls may take effect in either order.
TEST(overlapping_calls_may_go_either_way)
{
    check_none(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {1, E, 2, 0, 15, 25}, {2, D, 2, 0, 30, 40},
                      {3, D, 1, 0, 41, 50}));
    check_none(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {1, E, 2, 0, 30, 40}, {2, D, 2, 0, 50, 70},
                      {3, D, 1, 0, 60, 65}));
    check_none(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {1, D, 1, 0, 5, 11}));
}

TEST(equal_stamps_are_not_before)
{
    check_none(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {1, E, 2, 0, 20, 40}, {2, D, 2, 0, 50, 60},
                      {3, D, 1, 0, 70, 80}));
    check_none(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {1, E, 2, 0, 30, 40}, {2, D, 2, 0, 50, 60},
                      {3, D, 1, 0, 60, 80}));
    check_none(
        REPORT(RULES(0), {0, E, 1, 0, 10, 20}, {1, EMPTY, 0, 0, 20, 40}));
}

TEST(invented_value_is_found)
{
    check_only(REPORT(RULES(0), {0, E, 1, 0, 10, 20}, {1, D, 7, 0, 30, 40}),
               HISTORY_UNSENT);
}

TEST(value_dequeued_before_it_was_sent_is_found)
{
    check_only(REPORT(RULES(0), {0, E, 1, 0, 10, 20}, {1, D, 1, 0, 5, 9}),
               HISTORY_EARLY);
}

TEST(value_dequeued_twice_is_found)
{
    check_only(REPORT(RULES(0), {0, E, 1, 0, 10, 20}, {1, D, 1, 0, 30, 40},
                      {2, D, 1, 0, 30, 40}),
               HISTORY_TWICE);
}

TEST(lost_value_is_found)
{
    check_only(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20}),
               HISTORY_LOST);
    check_none(REPORT(RULES(0), {0, E, 1, 0, 10, 20}));
}

TEST(overtaking_is_found)
{
    check_only(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {1, E, 2, 0, 21, 40}, {2, D, 2, 0, 50, 60},
                      {3, D, 1, 0, 61, 80}),
               HISTORY_ORDER);
    // One that stays inside for ever is overtaken as well.
    check_only(REPORT(RULES(0), {0, E, 1, 0, 10, 20}, {0, E, 2, 0, 21, 40},
                      {2, D, 2, 0, 50, 60}),
               HISTORY_ORDER);
}

TEST(overtaking_counts_within_a_rank_only)
{
    check_none(REPORT(RULES(.ranks = 2), {0, E, 1, 1, 10, 20},
                      {0, E, 2, 0, 21, 40}, {2, D, 2, 0, 50, 60},
                      {2, D, 1, 0, 61, 80}));
}

TEST(wrong_empty_is_found)
{
    check_only(REPORT(RULES(.claims = true), {0, E, 1, 0, 10, 20},
                      {1, EMPTY, 0, 0, 30, 40}, {1, D, 1, 0, 50, 60}),
               HISTORY_EMPTY);
}

// No single value is inside all the time, but at every moment one is.
TEST(wrong_empty_is_found_across_several_values)
{
    check_only(REPORT(RULES(.claims = true), {0, E, 1, 0, 10, 20},
                      {0, E, 2, 0, 21, 28}, {1, EMPTY, 0, 0, 30, 60},
                      {2, D, 1, 0, 40, 45}, {2, D, 2, 0, 70, 80}),
               HISTORY_EMPTY);
    check_none(REPORT(RULES(.claims = true), {0, E, 1, 0, 10, 20},
                      {1, EMPTY, 0, 0, 30, 60}, {2, D, 1, 0, 40, 45},
                      {0, E, 2, 0, 46, 50}, {2, D, 2, 0, 70, 80}));
}

TEST(empty_of_a_lane_counts_by_itself)
{
    const struct step steps[] = {
        {0, E, 1, 0, 10, 20}, {0, E, 2, 1, 21, 35}, {1, EMPTY, 0, 0, 30, 60},
        {2, D, 1, 0, 40, 45}, {2, D, 2, 0, 70, 80},
    };

    // One queue: 1 is inside until 40, 2 from 35. Two lanes: each is empty
    // at some time.
    check_only(check_steps(steps, 5, &(struct history_rules){.ranks = 2}),
               HISTORY_EMPTY);
    check_none(check_steps(steps, 5,
                           &(struct history_rules){.ranks = 2, .lanes = true}));
}

// MSG-11: behind an older send that is under way EMPTY is allowed, and counted.
TEST(empty_behind_an_older_send_is_excused)
{
    const struct step steps[] = {
        {0, E, 1, 0, 5, 50},  {2, E, 2, 0, 10, 20}, {1, EMPTY, 0, 0, 30, 40},
        {1, D, 1, 0, 60, 70}, {1, D, 2, 0, 80, 90},
    };
    struct history_report report =
        check_steps(steps, 5, &(struct history_rules){.claims = true});

    check_none(report);
    CHECK_INT(1, report.excused);
    check_only(check_steps(steps, 5, &(struct history_rules){0}),
               HISTORY_EMPTY);
}

// ... but not behind one that began after 2 was sent, or is over by then, or
// belongs to another lane.
TEST(empty_behind_a_younger_or_finished_send_is_found)
{
    check_only(REPORT(RULES(.claims = true), {0, E, 1, 0, 21, 50},
                      {2, E, 2, 0, 10, 20}, {1, EMPTY, 0, 0, 30, 40},
                      {1, D, 2, 0, 60, 70}, {1, D, 1, 0, 80, 90}),
               HISTORY_EMPTY);
    check_only(REPORT(RULES(.claims = true), {0, E, 1, 0, 5, 29},
                      {2, E, 2, 0, 10, 20}, {1, EMPTY, 0, 0, 30, 40},
                      {1, D, 2, 0, 60, 70}, {1, D, 1, 0, 80, 90}),
               HISTORY_EMPTY);
    check_only(REPORT(RULES(.claims = true, .ranks = 2, .lanes = true),
                      {0, E, 1, 1, 5, 50}, {2, E, 2, 0, 10, 20},
                      {1, EMPTY, 0, 0, 30, 40}, {1, D, 2, 0, 60, 70},
                      {1, D, 1, 0, 80, 90}),
               HISTORY_EMPTY);
}

TEST(urgent_message_left_behind_is_found)
{
    check_only(REPORT(RULES(.ranks = 2, .claims = true), {0, E, 1, 1, 10, 20},
                      {0, E, 2, 0, 21, 40}, {2, D, 1, 0, 50, 60},
                      {2, D, 2, 0, 61, 80}),
               HISTORY_URGENCY);
    // Fine if the receive began before the urgent one was completely sent.
    check_none(REPORT(RULES(.ranks = 2, .claims = true), {0, E, 1, 1, 10, 20},
                      {0, E, 2, 0, 21, 40}, {2, D, 1, 0, 39, 60},
                      {2, D, 2, 0, 61, 80}));
}

TEST(urgent_message_behind_an_older_send_is_excused)
{
    struct history_report report =
        REPORT(RULES(.ranks = 2, .claims = true), {0, E, 1, 1, 10, 20},
               {0, E, 2, 0, 21, 40}, {1, E, 3, 0, 30, 55}, {2, D, 1, 0, 50, 60},
               {2, D, 2, 0, 61, 80}, {2, D, 3, 0, 81, 90});

    check_none(report);
    CHECK_INT(1, report.excused);
}

TEST(front_message_left_behind_is_found)
{
    check_only(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {0, F, 2, 0, 21, 40}, {2, D, 1, 0, 50, 60},
                      {2, D, 2, 0, 61, 80}),
               HISTORY_FRONT);
    check_none(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {0, F, 2, 0, 21, 40}, {0, F, 3, 0, 41, 45},
                      {2, D, 3, 0, 46, 48}, {2, D, 2, 0, 50, 60},
                      {2, D, 1, 0, 61, 80}));
    // The one behind was taken before the front one was there.
    check_none(REPORT(RULES(.drained = true), {0, E, 1, 0, 10, 20},
                      {0, F, 2, 0, 21, 40}, {1, D, 1, 0, 39, 60},
                      {2, D, 2, 0, 61, 80}));
}

TEST(too_many_inside_are_found)
{
    check_only(REPORT(RULES(.capacity = 1), {0, E, 1, 0, 10, 20},
                      {0, E, 2, 0, 21, 30}, {1, D, 1, 0, 40, 50},
                      {1, D, 2, 0, 51, 60}),
               HISTORY_CAPACITY);
    check_none(REPORT(RULES(.capacity = 1), {0, E, 1, 0, 10, 20},
                      {0, E, 2, 0, 21, 30}, {1, D, 1, 0, 29, 50},
                      {1, D, 2, 0, 51, 60}));
}

TEST(wrong_full_is_found)
{
    const struct history_rules rules = {.capacity = 1, .exact_full = true};

    check_only(check_steps((struct step[]){{0, FULL, 0, 0, 1, 5},
                                           {0, E, 1, 0, 10, 20},
                                           {1, D, 1, 0, 30, 40}},
                           3, &rules),
               HISTORY_FULL);
    check_only(check_steps((struct step[]){{0, E, 1, 0, 10, 20},
                                           {1, D, 1, 0, 30, 40},
                                           {0, FULL, 0, 0, 41, 50}},
                           3, &rules),
               HISTORY_FULL);
    check_none(check_steps((struct step[]){{0, E, 1, 0, 10, 20},
                                           {1, D, 1, 0, 30, 40},
                                           {2, FULL, 0, 0, 5, 10},
                                           {3, FULL, 0, 0, 39, 50}},
                           4, &rules));
}

TEST(log_that_ran_over_is_malformed)
{
    struct history history;
    struct history_report report;

    history_init(&history, 1, 1);
    history_note(&history.logs[0], HISTORY_ENQUEUE, 1, 0, 10, 20);
    history_note(&history.logs[0], HISTORY_ENQUEUE, 2, 0, 30, 40);
    report = history_check(&history, &(struct history_rules){0});
    check_only(report, HISTORY_MALFORMED);
    history_fini(&history);
}

/* ---- Against a search that tries every order ---- */

enum {
    SMALL = 8, // calls of a random history
    VALUES = SMALL / 2,
};

struct search {
    const struct step *steps;
    size_t count;
    unsigned done; // a bit per step
    uint64_t queue[SMALL];
    size_t length;
};

// Wing and Gong: some call that no unfinished call is wholly before goes next.
static bool
explains(struct search search)
{
    if (search.done == (1u << search.count) - 1)
        return true;
    for (size_t i = 0; i < search.count; i++) {
        const struct step *step = &search.steps[i];
        struct search next = search;
        bool may_be_next = (search.done >> i & 1) == 0;

        for (size_t j = 0; j < search.count && may_be_next; j++) {
            if ((search.done >> j & 1) == 0 &&
                search.steps[j].end < step->start)
                may_be_next = false;
        }
        if (!may_be_next)
            continue;
        if (step->kind == EMPTY && search.length > 0)
            continue;
        if (step->kind == D) {
            if (search.length == 0 || search.queue[0] != step->value)
                continue;
            memmove(next.queue, next.queue + 1,
                    sizeof(next.queue) - sizeof(next.queue[0]));
            next.length--;
        }
        if (step->kind == E)
            next.queue[next.length++] = step->value;
        next.done |= 1u << i;
        if (explains(next))
            return true;
    }
    return false;
}

// The aspects are claimed to be the same as linearizability: so both ways must
// agree, on histories that are good and on those that are not.
TEST(checker_agrees_with_exhaustive_search)
{
    uint64_t seed = storm_begin();
    struct storm_random random = storm_random_of(seed, 0);
    uint64_t rounds = storm_count(60000, 10000, 10000, 50);
    uint64_t good = 0;

    for (uint64_t round = 0; round < rounds; round++) {
        struct step steps[SMALL];
        size_t count = 0;
        uint64_t clock[4] = {0};
        uint64_t next_value = 1;
        uint64_t next_taken = 1;

        while (count < SMALL) {
            unsigned log = storm_random_below(&random, 4);
            struct step *step = &steps[count++];

            *step = (struct step){.log = log, .kind = E};
            step->start = clock[log] + 1 + storm_random_below(&random, 12);
            step->end = step->start + 1 + storm_random_below(&random, 12);
            clock[log] = step->end;
            // Distinct stamps: what equal ones mean is tested above.
            step->start = step->start * SMALL * 2 + 2 * count;
            step->end = step->end * SMALL * 2 + 2 * count + 1;
            switch (storm_random_below(&random, 5)) {
            case 0:
                step->kind = EMPTY;
                break;
            case 1:
            case 2:
                if (next_taken < next_value) {
                    step->kind = D;
                    step->value = next_taken++;
                    break;
                }
                // fall through
            default:
                step->value = next_value++;
            }
        }

        struct search search = {.steps = steps, .count = count};
        bool expected = explains(search);
        struct history_report report =
            check_steps(steps, count, &(struct history_rules){0});

        good += expected;
        if ((report.violations == 0) != expected)
            FAIL("round %" PRIu64 ", seed %" PRIu64 ": the search says %s, "
                 "the checker says %s",
                 round, seed, expected ? "good" : "bad",
                 report.violations ? report.first : "good");
    }
    test_note("history: %" PRIu64 " random histories, %" PRIu64
              " linearizable, disagreements=0",
              rounds, good);
    CHECK(good > rounds / 20 && good < rounds - rounds / 20);
}

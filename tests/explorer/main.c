/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer: runs scenarios and their twins, and prints TAP.
 *
 *   explorer                      the short form: all, in 2.5 minutes
 *   explorer --full               larger bounds, then random schedules
 *   explorer --only NAME          scenarios whose name contains NAME
 *   explorer --list               their names
 *   explorer --only NAME --replay SCHEDULE
 *                                 one execution, step by step
 *   explorer --only NAME --mutant BUG
 *                                 plants a bug by hand
 *   explorer --bound K            other preemptions than planned; 0: no limit
 *   explorer --seed N             for the random schedules of --full
 */
#include "explore.h"
#include "explorer/scenarios/scenarios.h"
#include "selfcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANDOM_EXECUTIONS = 2000000,
    RANDOM_CHANGES = 3,
    LOSING_EXECUTIONS = 5000, /* for each lost change */
};

static struct {
    bool full;
    const char *only;
    const char *replay;
    const char *mutant;
    int bound;
    uint64_t seed;
} arguments = {.bound = -1, .seed = 1};

static struct {
    unsigned tests;
    unsigned failed;
    unsigned twins;
    uint64_t interleavings;
    uint64_t states;
    double seconds;
} totals;

static bool
is_wanted(const struct scenario *scenario)
{
    if (scenario->full_only && !arguments.full && !arguments.only)
        return false;
    return !arguments.only || strstr(scenario->name, arguments.only);
}

static bool
is_run_at_random(const struct scenario *scenario)
{
    return arguments.full && !scenario->bug && !scenario->freeze &&
           !scenario->lose;
}

static bool
is_selfcheck_wanted(void)
{
    return !arguments.replay &&
           (!arguments.only || strstr("selfcheck", arguments.only));
}

static const char *
how(enum search_mode mode, unsigned bound)
{
    static char text[80];

    if (mode == SEARCH_ALL)
        return "exhaustive";
    snprintf(text, sizeof(text),
             mode == SEARCH_BOUNDED ? "all schedules with <= %u preemptions"
                                    : "random schedules, depth %u",
             bound);
    return text;
}

static void
print_failure(const struct scenario *scenario, const struct exploration *result)
{
    printf("#   %s\n", result->failure);
    printf("#   replay: explorer --only '%s' --replay %s\n", scenario->name,
           result->schedule);
}

static void
run_one(const struct scenario *scenario, enum search_mode mode, unsigned bound,
        uint64_t most)
{
    struct exploration result;
    bool as_expected;

    machine_set_mutant(arguments.mutant ? arguments.mutant : scenario->mutant);
    explore(scenario, mode, bound, arguments.seed, most, &result);
    as_expected = result.failed == (scenario->bug != NULL);
    totals.tests++;
    totals.failed += !as_expected;
    totals.twins += scenario->bug && as_expected;
    totals.interleavings += result.interleavings;
    totals.states += result.states;
    totals.seconds += result.seconds;

    printf("%s %u - explorer: %s%s%s\n", as_expected ? "ok" : "not ok",
           totals.tests, scenario->name, scenario->bug ? ": twin fails" : "",
           mode == SEARCH_RANDOM ? ": random schedules" : "");
    printf("# %s: %llu interleavings, %llu states, %s, %.2f s\n",
           scenario->name, (unsigned long long)result.interleavings,
           (unsigned long long)result.states, how(mode, bound), result.seconds);
    if (scenario->bug)
        printf("#   twin: %s; %s\n", scenario->bug,
               result.failed ? "failed as it must" : "was NOT found");
    if (result.failed)
        print_failure(scenario, &result);
    fflush(stdout);
}

// The scenario once for each change that one thread makes, losing that one.
static void
run_losing(const struct scenario *scenario)
{
    struct exploration result;
    unsigned found = 0;
    unsigned which = 0;
    bool as_expected;
    char missed[256] = "";

    machine_set_mutant(NULL);
    for (;;) {
        machine_lose_change(scenario->lose - 1, ++which);
        explore(scenario, scenario->bound ? SEARCH_BOUNDED : SEARCH_ALL,
                scenario->bound, arguments.seed, LOSING_EXECUTIONS, &result);
        if (!machine.lost_change)
            break;
        totals.interleavings += result.interleavings;
        totals.states += result.states;
        totals.seconds += result.seconds;
        found += result.failed;
        if (!result.failed && strlen(missed) < sizeof(missed) - 8)
            sprintf(missed + strlen(missed), " %u", which);
    }
    as_expected = found * 2 > which - 1;
    totals.tests++;
    totals.failed += !as_expected;
    totals.twins += found;
    printf("%s %u - explorer: %s: twins fail\n", as_expected ? "ok" : "not ok",
           totals.tests, scenario->name);
    printf("# %s: %u twins, in each of which one change by thread %d is lost; "
           "%u failed as they must%s%s\n",
           scenario->name, which - 1, scenario->lose - 1, found,
           *missed ? ", not found:" : "", missed);
    fflush(stdout);
}

static void
run_scenario(const struct scenario *scenario)
{
    unsigned bound = scenario->bound;

    if (arguments.replay) {
        machine_set_mutant(arguments.mutant ? arguments.mutant
                                            : scenario->mutant);
        explore_replay(scenario, arguments.replay);
        return;
    }
    if (scenario->lose && !arguments.mutant) {
        run_losing(scenario);
        return;
    }
    if (arguments.full && scenario->bound)
        bound = scenario->full_bound;
    if (arguments.bound >= 0)
        bound = (unsigned)arguments.bound;
    run_one(scenario, bound ? SEARCH_BOUNDED : SEARCH_ALL, bound, 0);
    if (is_run_at_random(scenario))
        run_one(scenario, SEARCH_RANDOM, RANDOM_CHANGES, RANDOM_EXECUTIONS);
}

static void
run_selfcheck(void)
{
    struct selfcheck result;
    bool agrees =
        selfcheck(arguments.seed, arguments.full ? 20000 : 400, &result);

    totals.tests++;
    totals.failed += !agrees;
    printf("%s %u - explorer: selfcheck: reduction loses no end\n",
           agrees ? "ok" : "not ok", totals.tests);
    printf("# selfcheck: %llu random programs, %llu schedules by brute force, "
           "%llu after reduction, the same %llu ends\n",
           (unsigned long long)result.programs,
           (unsigned long long)result.brute,
           (unsigned long long)result.interleavings,
           (unsigned long long)result.ends);
}

static void
for_each(void (*visit)(const struct scenario *))
{
    for (unsigned i = 0; all_scenarios[i]; i++) {
        for (const struct scenario *s = all_scenarios[i]; s->name; s++) {
            if (is_wanted(s))
                visit(s);
        }
    }
}

static unsigned planned;

static void
count_plan(const struct scenario *scenario)
{
    planned += is_run_at_random(scenario) ? 2 : 1;
}

static void
print_name(const struct scenario *scenario)
{
    puts(scenario->name);
}

static void
read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--full") == 0) {
            arguments.full = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            arguments.full = true;
            for_each(print_name);
            exit(0);
        } else if (strcmp(argv[i], "--only") == 0 && value) {
            arguments.only = argv[++i];
        } else if (strcmp(argv[i], "--replay") == 0 && value) {
            arguments.replay = argv[++i];
        } else if (strcmp(argv[i], "--mutant") == 0 && value) {
            arguments.mutant = argv[++i];
        } else if (strcmp(argv[i], "--bound") == 0 && value) {
            arguments.bound = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--seed") == 0 && value) {
            arguments.seed = strtoull(argv[++i], NULL, 0);
        } else {
            fputs("usage: explorer [--full] [--list] [--only NAME] "
                  "[--replay SCHEDULE] [--mutant BUG] [--bound K] "
                  "[--seed N]\n",
                  stderr);
            exit(2);
        }
    }
}

int
main(int argc, char **argv)
{
    read_arguments(argc, argv);
    machine_create();
    if (!arguments.replay) {
        for_each(count_plan);
        printf("1..%u\n", planned + is_selfcheck_wanted());
    }
    if (is_selfcheck_wanted())
        run_selfcheck();
    for_each(run_scenario);
    if (!arguments.replay)
        printf("#= explorer: %llu interleavings, %llu states, %u twins failed "
               "as they must, %.0f s of one processor\n",
               (unsigned long long)totals.interleavings,
               (unsigned long long)totals.states, totals.twins, totals.seconds);
    return totals.failed > 0;
}

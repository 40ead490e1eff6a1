/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer: runs scenarios and their twins, and prints TAP.
 *
 *   explorer                      the short form, on all processors
 *   explorer --full               larger bounds, then random schedules
 *   explorer --only NAME          scenarios whose name contains NAME
 *   explorer --list               their names
 *   explorer --only NAME --replay SCHEDULE
 *                                 one execution, step by step
 *   explorer --only NAME --mutant BUG
 *                                 plants a bug by hand
 *   explorer --bound K            other preemptions than planned; 0: no limit
 *   explorer --seed N             for the random schedules of --full
 *   explorer --jobs N             worker processes; as many as processors
 *
 * Scenarios are independent of each other. Worker processes take them one by
 * one from a shared counter and send what each printed through a pipe; the main
 * process prints it in the order of the list. If a worker dies, the scenario
 * that it was running fails; the other workers run the rest.
 */
#include "explore.h"
#include "explorer/scenarios/scenarios.h"
#include "selfcheck.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RANDOM_EXECUTIONS = 2000000,
    RANDOM_CHANGES = 3,
    LOSING_EXECUTIONS = 5000, /* for each lost change */
    MAX_ROWS = 1024,
    MAX_JOBS = 64,
};

static struct {
    bool full;
    const char *only;
    const char *replay;
    const char *mutant;
    int bound;
    uint64_t seed;
    int jobs;
} arguments = {.bound = -1, .seed = 1};

static struct totals {
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
        uint64_t max_executions)
{
    struct exploration result;
    bool as_expected;

    machine_set_mutant(arguments.mutant ? arguments.mutant : scenario->mutant);
    explore(scenario, mode, bound, arguments.seed, max_executions, &result);
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

/* ---- The rows of all tables ---- */

static struct scenario rows[MAX_ROWS];
static unsigned row_count;

// A row without a setup has that of the row above it, its threads and finish.
static void
load_row(const struct scenario *row, const struct scenario *above)
{
    struct scenario *loaded = &rows[row_count++];

    if (row_count == MAX_ROWS || (!row->setup && !above)) {
        fprintf(stderr, "explorer: %s: too many rows, or none above it\n",
                row->name);
        exit(2);
    }
    *loaded = *row;
    if (row->setup)
        return;
    loaded->setup = above->setup;
    memcpy(loaded->thread, above->thread, sizeof(loaded->thread));
    loaded->finish = above->finish;
}

static void
load_rows(void)
{
    for (unsigned i = 0; all_scenarios[i]; i++) {
        const struct scenario *table = all_scenarios[i];

        for (unsigned j = 0; table[j].name; j++)
            load_row(&table[j], j > 0 ? &rows[row_count - 1] : NULL);
    }
}

static void
for_each(void (*visit)(const struct scenario *))
{
    for (unsigned i = 0; i < row_count; i++) {
        if (is_wanted(&rows[i]))
            visit(&rows[i]);
    }
}

/* ---- Tasks, and the processes that run them ---- */

static struct task {
    const struct scenario *scenario; /* NULL: the selfcheck */
    unsigned first;                  /* tests before it */
    unsigned tests;
    bool done;
    char *text; /* what it printed */
} tasks[MAX_ROWS + 1];

static unsigned task_count;
static unsigned planned;

static void
add_task(const struct scenario *scenario)
{
    struct task *task = &tasks[task_count++];

    task->scenario = scenario;
    task->first = planned;
    task->tests = scenario && is_run_at_random(scenario) ? 2 : 1;
    planned += task->tests;
}

static void
run_task(const struct task *task)
{
    if (task->scenario)
        run_scenario(task->scenario);
    else
        run_selfcheck();
}

/* What a worker sends before the text of a task. */
struct report {
    unsigned task;
    size_t length;
    struct totals totals;
};

static bool
write_all(int out, const void *bytes, size_t size)
{
    const char *rest = bytes;

    while (size > 0) {
        ssize_t count = write(out, rest, size);

        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0) {
            rest += count;
            size -= (size_t)count;
        }
    }
    return true;
}

static bool
read_all(int in, void *bytes, size_t size)
{
    char *rest = bytes;

    while (size > 0) {
        ssize_t count = read(in, rest, size);

        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        if (count > 0) {
            rest += count;
            size -= (size_t)count;
        }
    }
    return true;
}

// Runs tasks until there are none left.
static _Noreturn void
work(atomic_uint *next, int out)
{
    machine_create();
    for (;;) {
        struct report report = {.task = atomic_fetch_add(next, 1)};
        char *text = NULL;

        if (report.task >= task_count)
            _exit(0);
        stdout = open_memstream(&text, &report.length);
        if (!stdout)
            _exit(1);
        memset(&totals, 0, sizeof(totals));
        totals.tests = tasks[report.task].first;
        run_task(&tasks[report.task]);
        fclose(stdout);
        report.totals = totals;
        if (!write_all(out, &report, sizeof(report)) ||
            !write_all(out, text, report.length))
            _exit(1);
        free(text);
    }
}

// Takes one report; false when the worker has ended.
static bool
take_report(int in)
{
    struct report report;
    struct task *task;

    if (!read_all(in, &report, sizeof(report)) || report.task >= task_count)
        return false;
    task = &tasks[report.task];
    task->text = calloc(1, report.length + 1);
    if (!task->text || !read_all(in, task->text, report.length))
        return false;
    task->done = true;
    totals.failed += report.totals.failed;
    totals.twins += report.totals.twins;
    totals.interleavings += report.totals.interleavings;
    totals.states += report.totals.states;
    totals.seconds += report.totals.seconds;
    return true;
}

// Prints what is finished, in order; `all`: and what never will be.
static void
print_tasks(unsigned *printed, bool all)
{
    for (; *printed < task_count; (*printed)++) {
        struct task *task = &tasks[*printed];

        if (!task->done && !all)
            return;
        if (task->done)
            fputs(task->text, stdout);
        for (unsigned i = 1; !task->done && i <= task->tests; i++) {
            printf("not ok %u - explorer: %s\n#   its process died\n",
                   task->first + i,
                   task->scenario ? task->scenario->name : "selfcheck");
            totals.failed++;
        }
        free(task->text);
        fflush(stdout);
    }
}

static void
run_in_processes(unsigned jobs)
{
    atomic_uint *next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct pollfd workers[MAX_JOBS];
    unsigned printed = 0;
    unsigned alive = jobs;

    if (next == MAP_FAILED) {
        perror("explorer: mmap");
        exit(2);
    }
    fflush(stdout);
    for (unsigned i = 0; i < jobs; i++) {
        int ends[2];
        pid_t child;

        if (pipe(ends) != 0 || (child = fork()) < 0) {
            perror("explorer: fork");
            exit(2);
        }
        if (child == 0) {
            close(ends[0]);
            work(next, ends[1]);
        }
        close(ends[1]);
        workers[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    }
    while (alive > 0) {
        if (poll(workers, jobs, -1) < 0)
            continue;
        for (unsigned i = 0; i < jobs; i++) {
            if (workers[i].fd < 0 || workers[i].revents == 0)
                continue;
            if (!take_report(workers[i].fd)) {
                close(workers[i].fd);
                workers[i].fd = -1;
                alive--;
            }
        }
        print_tasks(&printed, false);
    }
    while (wait(NULL) > 0)
        ;
    print_tasks(&printed, true);
}

static unsigned
job_count(void)
{
    long jobs =
        arguments.jobs > 0 ? arguments.jobs : sysconf(_SC_NPROCESSORS_ONLN);

    if (jobs < 1)
        jobs = 1;
    return jobs < MAX_JOBS ? (unsigned)jobs : MAX_JOBS;
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
        } else if (strcmp(argv[i], "--jobs") == 0 && value) {
            arguments.jobs = atoi(argv[++i]);
        } else {
            fputs("usage: explorer [--full] [--list] [--only NAME] "
                  "[--replay SCHEDULE] [--mutant BUG] [--bound K] "
                  "[--seed N] [--jobs N]\n",
                  stderr);
            exit(2);
        }
    }
}

int
main(int argc, char **argv)
{
    load_rows();
    read_arguments(argc, argv);
    if (is_selfcheck_wanted())
        add_task(NULL);
    for_each(add_task);
    if (arguments.replay) {
        machine_create();
        for_each(run_scenario);
        return 0;
    }
    printf("1..%u\n", planned);
    if (job_count() > 1) {
        run_in_processes(job_count());
    } else {
        machine_create();
        for (unsigned i = 0; i < task_count; i++)
            run_task(&tasks[i]);
    }
    printf("#= explorer: %llu interleavings, %llu states, %u twins failed as "
           "they must, %.0f s of processor time\n",
           (unsigned long long)totals.interleavings,
           (unsigned long long)totals.states, totals.twins, totals.seconds);
    return totals.failed > 0;
}

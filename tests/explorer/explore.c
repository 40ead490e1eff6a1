/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop over executions, and schedules as text.
 *
 * A schedule names the thread of each step, with counts: "0x3.1.0x2" is
 * 0 0 0 1 0 0. "f7." before it says that the thread which may freeze does so
 * after seven steps. What is not said is filled up with the search's own first
 * choice.
 */
#include "explore.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// Of our own time: what a scenario costs does not depend on what else runs.
static double
seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- Schedules ---- */

static void
write_schedule(const struct scenario *scenario, char *text, size_t size)
{
    size_t length = 0;

    if (scenario->freeze)
        length = (size_t)snprintf(text, size, "f%u.", machine.freeze_after);
    for (unsigned i = 0; i < search.depth && length < size;) {
        unsigned run = i;

        while (run < search.depth &&
               search.steps[run].thread == search.steps[i].thread)
            run++;
        length += (size_t)snprintf(text + length, size - length, "%s%u",
                                   i > 0 ? "." : "", search.steps[i].thread);
        if (run - i > 1 && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "x%u", run - i);
        i = run;
    }
}

// Returns the number of steps.
static unsigned
read_schedule(const char *text, uint8_t *threads)
{
    unsigned count = 0;

    machine.freeze_after = ~0u;
    if (*text == 'f') {
        machine.freeze_after = (unsigned)strtoul(text + 1, NULL, 10);
        text = strchr(text, '.') ? strchr(text, '.') + 1 : "";
    }
    while (*text) {
        char *end;
        unsigned long thread = strtoul(text, &end, 10);
        unsigned long run = *end == 'x' ? strtoul(end + 1, &end, 10) : 1;

        if (end == text || thread >= EXPLORER_THREADS ||
            (*end && *end != '.')) {
            fprintf(stderr, "explorer: no schedule from here: %s\n", text);
            exit(2);
        }
        while (run-- > 0 && count < SEARCH_STEPS)
            threads[count++] = (uint8_t)thread;
        text = *end ? end + 1 : end;
    }
    return count;
}

/* ---- The loop ---- */

// A loop without shared operations never comes back to the machine. Each time
// the timer has counted a second of our own time, some execution must have
// ended since the last time.
static volatile uint64_t executions;
static uint64_t executions_before;

static void
timer_rang(int signal)
{
    (void)signal;
    if (executions == executions_before)
        explorer_fail(__FILE__, __LINE__, "a loop without shared operations");
    executions_before = executions;
}

static void
set_timer(time_t seconds)
{
    struct itimerval every = {{seconds, 0}, {seconds, 0}};
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = timer_rang;
    action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
}

// One search to its end; tells whether the frozen thread ever was.
static bool
run_search(const struct scenario *scenario, uint64_t most,
           struct exploration *ret)
{
    bool froze = false;

    do {
        enum outcome outcome = machine_run(scenario);

        executions++;
        if (outcome == OUTCOME_FAILED) {
            ret->failed = true;
            memcpy(ret->failure, machine.failure, sizeof(ret->failure));
            write_schedule(scenario, ret->schedule, sizeof(ret->schedule));
        }
        froze |= outcome == OUTCOME_FROZEN;
        if (outcome == OUTCOME_CUT)
            ret->cut++;
        else
            ret->interleavings++;
    } while (!ret->failed && search_next() &&
             (most == 0 || ret->interleavings + ret->cut < most));
    ret->states += search.states;
    if (ret->deepest < search.deepest)
        ret->deepest = search.deepest;
    return froze;
}

void
explore(const struct scenario *scenario, enum search_mode mode, unsigned bound,
        uint64_t seed, uint64_t most, struct exploration *ret)
{
    double started = seconds_now();
    bool froze;

    memset(ret, 0, sizeof(*ret));
    set_timer(1);
    machine.frozen = scenario->freeze - 1;
    machine.freeze_after = 0;
    do {
        search_begin(mode, bound, seed);
        froze = run_search(scenario, most, ret);
        machine.freeze_after++;
    } while (froze && !ret->failed);
    machine.freeze_after--;
    set_timer(0);
    ret->seconds = seconds_now() - started;
}

/* ---- Replay ---- */

static const char *
where(const void *caller)
{
    extern char __executable_start;
    static char text[256];
    char command[128];
    FILE *pipe;

    snprintf(command, sizeof(command),
             "addr2line -s -f -p -e /proc/%d/exe %#lx", (int)getpid(),
             (unsigned long)((const char *)caller - &__executable_start) - 1);
    pipe = popen(command, "r");
    if (!pipe || !fgets(text, sizeof(text), pipe))
        snprintf(text, sizeof(text), "?");
    if (pipe)
        pclose(pipe);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

void
explore_replay(const struct scenario *scenario, const char *schedule)
{
    static const char *const kinds[] = {"read", "write",   "wait",  "wait for",
                                        "wake", "timeout", "woken", "go on"};
    static uint8_t threads[SEARCH_STEPS];
    enum outcome outcome;

    machine.frozen = scenario->freeze - 1;
    search_begin(SEARCH_REPLAY, 0, 0);
    search_plan(threads, read_schedule(schedule, threads));
    outcome = machine_run(scenario);
    for (unsigned i = 0; i < search.depth; i++) {
        const struct step *step = &search.steps[i];

        printf("# %4u  %*s%u %*s%-8s %#-14lx %s %s\n", i, step->thread * 2, "",
               step->thread, 6 - step->thread * 2, "", kinds[step->kind],
               (unsigned long)(uintptr_t)step->address,
               step->changed ? "changed" : "       ", where(search.callers[i]));
    }
    printf("# %s: %s\n", scenario->name,
           outcome == OUTCOME_FAILED ? machine.failure : "holds");
}

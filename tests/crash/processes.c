/* SPDX-License-Identifier: Apache-2.0 */
#include "processes.h"

#include "stores/file/rounds.h"
#include "support/folder.h"
#include "support/test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pid_t
processes_start(const struct workers *workers,
                lbx_status (*work)(const struct workers *workers))
{
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        const lbx_status status = work(workers);

        if (status != LBX_OK)
            ledger_fail(workers->ledger, status);
        _exit(status == LBX_OK ? 0 : 1);
    }
    return child;
}

int64_t
processes_wall_ns(void *context)
{
    struct timespec now;

    (void)context;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * LBX_SECOND + now.tv_nsec;
}

/* Waits for the end of a child, but not for ever: then it is stuck. */
int
processes_await(pid_t child)
{
    const int64_t end = lbx_clock_now(NULL) + PROCESS_PATIENCE_MS * LBX_MS;
    int status = 0;

    EVENTUALLY(waitpid(child, &status, WNOHANG) != 0 ||
               lbx_clock_now(NULL) > end);
    if (lbx_clock_now(NULL) > end) {
        (void)kill(child, SIGKILL);
        FAIL("a process is stuck");
    }
    return status;
}

void
processes_drain(const struct workers *workers)
{
    const int status = processes_await(processes_start(workers, workers_drain));

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        FAIL("the drain ended with %d: %s", status,
             lbx_status_name((lbx_status)workers->ledger->failure));
}

static int
compare(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return left < right ? -1 : left > right;
}

/* Of the times that opening took. */
double
processes_open_ms(struct ledger *ledger, double part)
{
    const uint32_t count =
        ledger->open_count < LEDGER_OPENS ? ledger->open_count : LEDGER_OPENS;
    uint32_t *sorted = malloc((count + 1) * sizeof(*sorted));
    double ms;

    CHECK(sorted && count > 0);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = ledger->open_us[i];
    qsort(sorted, count, sizeof(*sorted), compare);
    ms = sorted[(uint32_t)((count - 1) * part)] / 1e3;
    free(sorted);
    return ms;
}

struct workers
processes_workers(struct ledger *ledger, const char *url,
                  const lbx_store_options *options)
{
    const struct workers workers = {
        .url = url,
        .options = options,
        .ledger = ledger,
        .senders = 4,
        .receivers = 4,
        .live_max = 5000,
        .lease_ns = 150 * LBX_MS,
        .wait_ns = 5 * LBX_MS,
        .seed = rounds_seed(),
        .wide = true,
    };

    return workers;
}

const char *
processes_url(void)
{
    static char url[600];

    (void)snprintf(url, sizeof(url), "file:%s", test_path());
    return url;
}

void
score_report(const char *what, long kills, const struct score *score)
{
    test_figure("crash, %s: %ld kills, %" PRIu64
                " acknowledged operations, lost=%" PRIu64 " phantom=%" PRIu64
                " resurrected=%" PRIu64 " stale-ok=%" PRIu64 " early=%" PRIu64
                " duplicate=%" PRIu64 " reordered=%" PRIu64 " late=%" PRIu64,
                what, kills, score->operations, score->lost, score->phantom,
                score->resurrected, score->stale_ok, score->early,
                score->duplicate, score->reordered, score->late);
    test_note("%" PRIu64 " attempts, %" PRIu64 " unknown, %" PRIu64
              " of them recovered; %" PRIu64 " stale receipts tried",
              score->attempts, score->unknown, score->recovered, score->stale);
}

void
processes_report_calls(const char *what, struct ledger *ledger)
{
    test_figure(
        "crash, %s: among them %lu purges, %lu boxes deleted, %lu moves, %lu "
        "replies and %lu letters sent with an acknowledgement; %lu bodies of "
        "64 KiB to 1 MiB",
        what, (unsigned long)ledger->calls[CALL_PURGE],
        (unsigned long)ledger->calls[CALL_DELETE_BOX],
        (unsigned long)ledger->calls[CALL_MOVE],
        (unsigned long)ledger->calls[CALL_REPLY],
        (unsigned long)ledger->calls[CALL_FORWARD],
        (unsigned long)ledger->large);
}

void
score_add(struct score *score, const struct score *more)
{
    score->lost += more->lost;
    score->phantom += more->phantom;
    score->resurrected += more->resurrected;
    score->stale_ok += more->stale_ok;
    score->early += more->early;
    score->duplicate += more->duplicate;
    score->reordered += more->reordered;
    score->late += more->late;
    score->failures += more->failures;
    if (more->failures)
        score->failure = more->failure;
}

void
score_check_faultless(const struct score *score)
{
    if (score->failures)
        FAIL("%" PRIu64 " operations returned what they must not, as %s",
             score->failures, lbx_status_name(score->failure));
    CHECK_INT(0, score->lost);
    CHECK_INT(0, score->phantom);
    CHECK_INT(0, score->resurrected);
    CHECK_INT(0, score->stale_ok);
    CHECK_INT(0, score->early);
    CHECK_INT(0, score->duplicate);
    CHECK_INT(0, score->reordered);
    CHECK_INT(0, score->late);
}

void
score_check(const struct score *score)
{
    score_check_faultless(score);
    CHECK(score->acks > 0 && score->stale > 0 && score->deleted > 0);
}

void
processes_kill(const struct workers *workers, pid_t child)
{
    int status;

    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFSIGNALED(status))
        FAIL("a process ended by itself: %s",
             lbx_status_name((lbx_status)workers->ledger->failure));
}

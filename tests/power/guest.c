/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs inside the machine that loses its power: workers on a store, which
 * says on the console what it does.
 *
 *     power_guest run DIR LEVEL SEED FIRST     until the power goes
 *     power_guest drain DIR LEVEL SEED FIRST   and then says DRAINED
 *
 * FIRST is the first number of new letters. What has been said has left the
 * machine before the store is asked: see say().
 */
#include "crash/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
    LETTERS = 1000000
};

static pthread_mutex_t console = PTHREAD_MUTEX_INITIALIZER;

/* A terminal may keep what it is given; after tcdrain() it is in the pipe of
 * our host, which outlives us. */
static void
say(const char *line, size_t size)
{
    (void)pthread_mutex_lock(&console);
    if (write(STDOUT_FILENO, line, size) != (ssize_t)size)
        abort();
    (void)tcdrain(STDOUT_FILENO);
    (void)pthread_mutex_unlock(&console);
}

static void
say_event(void *context, const struct ledger_event *event)
{
    char line[256];

    say(line, (size_t)ledger_print(event, line, sizeof(line)));
    ledger_note(context, event);
}

/* The same clock before and after a cut. */
static int64_t
wall_ns(void *context)
{
    struct timespec now;

    (void)context;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * LBX_SECOND + now.tv_nsec;
}

int
main(int count, char **words)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    char url[256], line[400];
    lbx_fault fault = {LBX_OK, ""};
    struct ledger *ledger;
    struct workers workers;
    lbx_status status;

    if (count != 6)
        return 2;
    (void)snprintf(url, sizeof(url), "file:%s", words[2]);
    options.durability = (lbx_durability)atoi(words[3]);
    options.journal_bytes = 1 << 20;
    options.map_bytes = 64 << 20;
    options.fault = &fault;
    ledger = ledger_create(LETTERS, 0);
    atomic_store(&ledger->next, strtoull(words[5], NULL, 10) - 1);
    workers = (struct workers){
        .url = url,
        .options = &options,
        .ledger = ledger,
        .tell = say_event,
        .context = ledger,
        .now_ns = wall_ns,
        .senders = 2,
        .receivers = 2,
        .live_max = 2000,
        .lease_ns = 3 * LBX_SECOND,
        .wait_ns = 5 * LBX_MS,
        .seed = strtoull(words[4], NULL, 10),
        .wide = true,
    };
    status = strcmp(words[1], "run") == 0 ? workers_run(&workers, 0)
                                          : workers_drain(&workers);
    if (status == LBX_OK && ledger->failures)
        status = (lbx_status)ledger->failure;
    say(line, (size_t)snprintf(line, sizeof(line), "DRAINED %s %s\n",
                               lbx_status_name(status), fault.text));
    return 0;
}

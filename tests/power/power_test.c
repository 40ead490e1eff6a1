/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real power cuts: workers use a store on the ext4 of a
 * machine (machine.h) and says on its console what it does; the machine loses
 * its power; it is started again and goes on, and so on; at last it drains the
 * store. What was acknowledged on the console is there.
 *
 * The control is level PROCESS, which does not promise this: it must lose, and
 * the store must open all the same.
 */
#include "crash/processes.h"
#include "machine.h"
#include "stores/file/rounds.h"
#include "support/folder.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LETTERS = 1000000,
    BOOT_MS = 60000
};

struct cuts {
    struct machine machine;
    struct ledger *ledger;
    lbx_durability level;
    uint64_t state;
};

static uint64_t
last_number(struct ledger *ledger)
{
    uint64_t number = atomic_load(&ledger->next);

    while (number > 0 && atomic_load(&ledger->letters[number].sends) == 0)
        number--;
    return number;
}

static void
boot(struct cuts *cuts, const char *what)
{
    char command[1024], line[400];

    ledger_end_clears(cuts->ledger);
    // Numbers that were not seen in use are used once more, by the same body;
    // so leave those out that may have been on their way.
    (void)snprintf(command, sizeof(command),
                   POWER_GUEST " %s /mnt/disk/store %d %" PRIu64 " %" PRIu64,
                   what, (int)cuts->level, rounds_draw(&cuts->state, 1 << 30),
                   last_number(cuts->ledger) + 1001);
    machine_start(&cuts->machine, command);
    do {
        if (!machine_line(&cuts->machine, line, sizeof(line), BOOT_MS))
            FAIL("the machine does not start, or has no disk");
    } while (strcmp(line, "MOUNTED") != 0);
}

/* One line of the console; true when it was an event. */
static bool
note_line(struct cuts *cuts, const char *line)
{
    struct ledger_event event;

    if (!ledger_parse(line, &event))
        return false;
    if (event.what == LEDGER_SEND &&
        event.number > atomic_load(&cuts->ledger->next))
        atomic_store(&cuts->ledger->next, event.number);
    ledger_note(cuts->ledger, &event);
    return true;
}

/* Works until so much has been answered, and a moment more. */
static void
run_and_cut(struct cuts *cuts)
{
    struct ledger *ledger = cuts->ledger;
    const uint64_t wanted = atomic_load(&ledger->operations) + 500 +
                            rounds_draw(&cuts->state, 3000);
    char line[400];

    boot(cuts, "run");
    while (atomic_load(&ledger->operations) < wanted) {
        if (!machine_line(&cuts->machine, line, sizeof(line), BOOT_MS))
            FAIL("the machine says nothing any more");
        if (strncmp(line, "DRAINED", 7) == 0)
            FAIL("the workers ended: %s", line);
        (void)note_line(cuts, line);
    }
    machine_cut(&cuts->machine);
    while (machine_line(&cuts->machine, line, sizeof(line), 1000))
        (void)note_line(cuts, line);
    machine_end(&cuts->machine);
}

static void
boot_and_drain(struct cuts *cuts)
{
    char line[400];

    boot(cuts, "drain");
    atomic_store(&cuts->ledger->draining, 1);
    for (;;) {
        if (!machine_line(&cuts->machine, line, sizeof(line), BOOT_MS))
            FAIL("the drain is stuck");
        if (strncmp(line, "DRAINED", 7) == 0)
            break;
        (void)note_line(cuts, line);
    }
    machine_cut(&cuts->machine);
    machine_end(&cuts->machine);
    if (strncmp(line, "DRAINED LBX_OK", 14) != 0)
        FAIL("%s", line);
}

/* False: no machine runs on this processor. */
static bool
cut_often(lbx_durability level, long count, struct score *ret)
{
    const char *given = getenv("LBX_SEED");
    struct cuts cuts = {
        .ledger = ledger_create(LETTERS, 0),
        .level = level,
        .state =
            given ? strtoull(given, NULL, 0) : (uint64_t)lbx_clock_now(NULL),
    };
    bool runs;

    test_note("LBX_SEED=%" PRIu64, cuts.state);
    machine_make(&cuts.machine, test_path());
    runs = machine_runs(&cuts.machine);
    for (long i = 0; runs && i < count; i++)
        run_and_cut(&cuts);
    if (runs) {
        boot_and_drain(&cuts);
        *ret = ledger_judge(cuts.ledger);
    }
    ledger_destroy(cuts.ledger);
    return runs;
}

#define NO_MACHINE                                                             \
    "user-mode Linux runs no programs on this processor, which has AMX"

static void
report(const char *what, long count, const struct score *score)
{
    test_figure("power, %s: %ld cuts, %" PRIu64
                " acknowledged operations, lost=%" PRIu64 " phantom=%" PRIu64
                " resurrected=%" PRIu64 " stale-ok=%" PRIu64 " early=%" PRIu64,
                what, count, score->operations, score->lost, score->phantom,
                score->resurrected, score->stale_ok, score->early);
}

TEST(no_power_cut_loses_a_letter)
{
    const long count = test_rounds(3, 500);
    struct score score;

    if (!cut_often(LBX_DURABILITY_POWER_CUT, count, &score))
        SKIP(NO_MACHINE);
    report("level sync", count, &score);
    score_check(&score);
}

TEST(power_cuts_at_level_process_lose_and_do_no_damage)
{
    const long count = test_rounds(1, 20);
    struct score score;

    if (!cut_often(LBX_DURABILITY_PROCESS, count, &score))
        SKIP(NO_MACHINE);
    report("control, level process", count, &score);
    CHECK(score.lost > 0);
    CHECK_INT(0, score.phantom);
}

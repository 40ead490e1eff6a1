/* SPDX-License-Identifier: Apache-2.0 */
/* The words in `wake` after each instruction of the process that writes them: a
 * kill may come behind any. */
#include "fixture.h"
#include "stores/file/membership.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static lbx__membership membership;
static struct faulty_io faulty;
static int folder;

static void
set_up(void)
{
    const char *path = test_path();

    CHECK(mkdir(path, 0700) == 0);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(folder >= 0);
    faulty_init(&faulty);
    faulty.boot_ns = 1; // so that `boot` counts
    CHECK_OK(lbx__membership_open(&membership, &faulty.io, folder, false, 0));
}

static void
tear_down(void)
{
    lbx__membership_close(&membership);
    CHECK(close(folder) == 0);
}

/* Runs `body` in a child and calls `look` after each instruction of it. */
static void
look_at_each_step(void (*body)(void), void (*look)(void))
{
    const pid_t child = fork();
    long steps = 0;
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            (void)raise(SIGSTOP); // else it is not allowed here: no steps
        body();
        _exit(0);
    }
    for (;; steps++) {
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFSTOPPED(status))
            break;
        look();
        CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
    }
    CHECK(WIFEXITED(status));
    CHECK_INT(0, WEXITSTATUS(status));
    test_note("%ld steps", steps);
}

static void
note_record_of_the_next_generation(void)
{
    lbx__boot_words_note_record(&membership, 8, 2);
}

/* Too low a number is taken for what it is; with too high a one the opener
 * would miss records that never were. */
static void
look_for_too_high_a_record(void)
{
    CHECK(lbx__boot_words_last_record(&membership, 8) <= 2);
    CHECK(lbx__boot_words_last_record(&membership, 7) <= 5);
}

TEST(a_kill_between_the_words_of_a_record_leaves_too_low_a_number)
{
    set_up();
    CHECK_OK(lbx__membership_enter(&membership, false));
    lbx__boot_words_note_record(&membership, 7, 5);
    CHECK_INT(5, lbx__boot_words_last_record(&membership, 7));
    look_at_each_step(note_record_of_the_next_generation,
                      look_for_too_high_a_record);
    CHECK_INT(2, lbx__boot_words_last_record(&membership, 8));
    CHECK_INT(0, lbx__boot_words_last_record(&membership, 7));
    tear_down();
}

static void
enter(void)
{
    if (lbx__membership_enter(&membership, false) != LBX_OK)
        _exit(1);
}

/* What an opener that comes after a kill would believe. */
static void
look_for_words_of_the_last_boot(void)
{
    lbx__membership_state state;

    CHECK_OK(lbx__boot_words_inspect(&faulty.io, folder, &state));
    CHECK_INT(0, state.last_commit);
    CHECK_INT(0, state.generation);
    CHECK_INT(0, state.last_record);
}

TEST(a_kill_in_a_new_boot_leaves_no_word_of_the_last_one)
{
    set_up();
    CHECK_OK(lbx__membership_enter(&membership, false));
    lbx__boot_words_note_commit(&membership, 9);
    lbx__boot_words_note_record(&membership, 7, 5);
    lbx__boot_words_poison(&membership);
    lbx__membership_leave(&membership);
    faulty.boot[0] = 1;
    CHECK_INT(9, lbx__boot_words_last_commit(&membership));
    look_at_each_step(enter, look_for_words_of_the_last_boot);
    CHECK_INT(0, lbx__boot_words_last_commit(&membership));
    CHECK_INT(0, lbx__boot_words_last_record(&membership, 7));
    CHECK(!lbx__boot_words_are_poisoned(&membership));
    tear_down();
}

/* Of two processes the slower may come with the older one. */
TEST(the_last_commit_that_is_noted_is_the_highest)
{
    set_up();
    CHECK_OK(lbx__membership_enter(&membership, false));
    lbx__boot_words_note_commit(&membership, 9);
    lbx__boot_words_note_commit(&membership, 5);
    CHECK_INT(9, lbx__boot_words_last_commit(&membership));
    tear_down();
}

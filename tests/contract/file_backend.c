/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store in files, to be tried: alone, on the journal; and in company, with
 * another process that has the store open and does nothing.
 */
#include "backend.h"

#include "support/clock.h"
#include "support/folder.h"
#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct test_clock now = TEST_CLOCK_INIT;
static lbx_clock clock_of_files;

static lbx_store *
open_folder(const char *path, lbx_durability level)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    char url[512];
    lbx_store *store;

    clock_of_files = test_clock_interface(&now);
    options.clock = &clock_of_files;
    options.durability = level;
    options.journal_bytes = 1 << 20;
    options.map_bytes = 256 << 20;
    (void)snprintf(url, sizeof(url), "file:%s", path);
    CHECK_OK(lbx_store_open(url, &options, &store));
    return store;
}

static char place[480]; /* the latest */

static lbx_store *
open_new(lbx_durability level)
{
    (void)snprintf(place, sizeof(place), "%s", test_path());
    return open_folder(place, level);
}

static lbx_store *
open_alone(void **ret_context)
{
    *ret_context = NULL;
    return open_new(LBX_DURABILITY_POWER_CUT);
}

static lbx_store *
open_quick(void **ret_context)
{
    *ret_context = NULL;
    return open_new(LBX_DURABILITY_PROCESS);
}

static lbx_store *
reopen(lbx_store *store, void *context)
{
    const lbx_durability level = lbx_store_durability(store);

    (void)context;
    lbx_store_unref(store);
    return open_folder(place, level);
}

static void
advance_files(lbx_store *store, void *context, int64_t duration_ns)
{
    (void)context;
    test_clock_advance(&now, duration_ns);
    store->ops->tick(store);
}

static void
close_alone(lbx_store *store, void *context)
{
    (void)context;
    lbx_store_unref(store);
}

const struct backend file_backend = {
    .name = "file",
    .open = open_alone,
    .advance = advance_files,
    .close = close_alone,
    .reopen = reopen,
};

const struct backend quick_backend = {
    .name = "file, at level process",
    .open = open_quick,
    .advance = advance_files,
    .close = close_alone,
    .reopen = reopen,
};

/* ---- In company ---- */

static pid_t company;

/* Has the store open until it is killed. */
static _Noreturn void
keep_company(const char *path, int to)
{
    (void)open_folder(path, LBX_DURABILITY_PROCESS);
    if (write(to, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* Leaves company and comes back to it. */
static lbx_store *
reopen_shared(lbx_store *store, void *context)
{
    (void)context;
    lbx_store_unref(store);
    return open_folder(place, LBX_DURABILITY_PROCESS);
}

static lbx_store *
open_shared(void **ret_context)
{
    lbx_store *store;
    int ends[2];
    char byte;

    (void)snprintf(place, sizeof(place), "%s", test_path());
    CHECK(pipe(ends) == 0);
    company = fork();
    CHECK(company >= 0);
    if (company == 0)
        keep_company(place, ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
    // A level below what company has.
    store = open_folder(place, LBX_DURABILITY_PROCESS);
    CHECK_INT(LBX_DURABILITY_POWER_CUT, (int)lbx_store_durability(store));
    *ret_context = NULL;
    return store;
}

static void
close_shared(lbx_store *store, void *context)
{
    (void)context;
    lbx_store_unref(store);
    CHECK(kill(company, SIGKILL) == 0);
    CHECK(waitpid(company, NULL, 0) == company);
}

const struct backend shared_backend = {
    .name = "shared",
    .open = open_shared,
    .advance = advance_files,
    .close = close_shared,
    .reopen = reopen_shared,
};

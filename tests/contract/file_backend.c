/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store in files, to be tried: in exclusive mode, on the journal; and in
 * shared mode, with another process that has the store open and does nothing.
 */
#include "backend.h"

#include "support/folder.h"
#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static lbx_store *
open_folder(const char *path, lbx_durability level)
{
    lbx_store_options options = backend_options();
    char url[512];
    lbx_store *store;

    options.durability = level;
    options.journal_bytes = 1 << 20;
    options.map_bytes = 256 << 20;
    (void)snprintf(url, sizeof(url), "file:%s", path);
    CHECK_OK(lbx_store_open(url, &options, &store));
    return store;
}

static char folder[480]; /* of the latest store */

static lbx_store *
open_new(lbx_durability level)
{
    (void)snprintf(folder, sizeof(folder), "%s", test_path());
    return open_folder(folder, level);
}

static lbx_store *
open_exclusive(void **ret_context)
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
    return open_folder(folder, level);
}

const struct backend file_backend = {
    .name = "file",
    .open = open_exclusive,
    .advance = backend_advance,
    .close = backend_close,
    .reopen = reopen,
};

const struct backend quick_backend = {
    .name = "file, at level process",
    .open = open_quick,
    .advance = backend_advance,
    .close = backend_close,
    .reopen = reopen,
};

/* ---- In shared mode ---- */

static pid_t other;

/* Has the store open until it is killed. */
static _Noreturn void
hold_open(const char *path, int to)
{
    (void)open_folder(path, LBX_DURABILITY_PROCESS);
    if (write(to, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static lbx_store *
reopen_shared(lbx_store *store, void *context)
{
    (void)context;
    lbx_store_unref(store);
    return open_folder(folder, LBX_DURABILITY_PROCESS);
}

static lbx_store *
open_shared(void **ret_context)
{
    lbx_store *store;
    int ends[2];
    char byte;

    (void)snprintf(folder, sizeof(folder), "%s", test_path());
    CHECK(pipe(ends) == 0);
    other = fork();
    CHECK(other >= 0);
    if (other == 0)
        hold_open(folder, ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
    // A level below what the other process has.
    store = open_folder(folder, LBX_DURABILITY_PROCESS);
    CHECK_INT(LBX_DURABILITY_POWER_CUT, (int)lbx_store_durability(store));
    *ret_context = NULL;
    return store;
}

static void
close_shared(lbx_store *store, void *context)
{
    (void)context;
    lbx_store_unref(store);
    CHECK(kill(other, SIGKILL) == 0);
    CHECK(waitpid(other, NULL, 0) == other);
}

const struct backend shared_backend = {
    .name = "shared",
    .open = open_shared,
    .advance = backend_advance,
    .close = close_shared,
    .reopen = reopen_shared,
};

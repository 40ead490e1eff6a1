/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system: creating, running, terminating and destroying it; finding actors.
 *
 * It is created from the bottom up (nodes, cells, names, actor mailboxes,
 * timers, selection with the default dispatcher, "/user") and destroyed in the
 * opposite order, after the threads have ended.
 *
 * Threads: any, except for destroying it.
 */
#include "actor/core/system.h"

#include "actor/core/actor_mailbox.h"
#include "actor/core/dispatchers.h"
#include "actor/core/run.h"
#include "actor/select/selection.h"
#include "base/alloc.h"
#include "base/fault.h"
#include "base/park.h"
#include "base/sized.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_THREADS = 1024
};

/* "/user" only has children. */
static lbx_status
guardian_receive(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    return LBX_OK;
}

static const lbx_behaviour guardian = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "guardian",
    .receive = guardian_receive,
};

static lbx_status
system_refuse(const lbx_system_options *options, const char *text)
{
    return lbx__fault_set(options->fault, LBX_INVALID, "%s", text);
}

/* Checks the options. Defaults are filled in from the settings later. */
static lbx_status
system_check_options(const lbx_system_options *options)
{
    if (!lbx__allocator_usable(options->allocator))
        return system_refuse(options, "the allocator lacks a function");
    if (options->clock && !options->clock->now_ns)
        return system_refuse(options, "the clock lacks its function");
    if (options->threads != LBX_DEFAULT &&
        (options->threads < 0 || options->threads > MAX_THREADS))
        return system_refuse(options,
                             "threads must be 0 to 1024, or LBX_DEFAULT");
    if (options->seed != 0 && options->threads != 0)
        return system_refuse(options, "a seed needs a system without threads: "
                                      "threads = 0");
    if (options->throughput != LBX_DEFAULT && options->throughput < 1)
        return system_refuse(options,
                             "throughput must be 1 or more, or LBX_DEFAULT");
    if (options->mailbox_type_count > 0 && !options->mailbox_types)
        return system_refuse(options, "mailbox_types is NULL");
    return LBX_OK;
}

/* "/user", alive from the start. */
static lbx_status
system_create_guardian(lbx_system *system)
{
    const lbx_system_options *options = &system->options;
    lbx__cell *cell = lbx__cells_get(system->cells);
    lbx_status status = LBX_OK;

    if (!cell)
        return LBX_NO_MEMORY;
    if (options->supervisor && !lbx__facilities_of(cell))
        status = LBX_NO_MEMORY;
    else if (options->supervisor)
        status = lbx__supervision_read(options->supervisor, options->fault,
                                       &cell->facilities->supervisor);
    if (status != LBX_OK) {
        lbx__facilities_free(cell);
        return status;
    }
    lbx__store(&cell->runnable.dispatcher, system->dispatcher, relaxed);
    cell->behaviour = &guardian;
    cell->role = LBX__ROLE_GUARDIAN;
    cell->phase = LBX__PHASE_ALIVE;
    cell->life = lbx__load(&cell->generation, relaxed);
    system->user = cell;
    system->user_ref = lbx__cell_ref(cell);
    lbx__cell_release(cell, false, false);
    return LBX_OK;
}

/* Selection, and with it the default dispatcher. */
static lbx_status
system_start_dispatcher(lbx_system *system)
{
    lbx_status status =
        lbx__selection_create(&system->options, &system->selection);

    if (status == LBX_OK)
        status = lbx__dispatchers_create(system, &system->dispatchers);
    if (status != LBX_OK)
        return status;
    return lbx__dispatchers_enter(
        system->dispatchers,
        lbx__dispatcher_plans_default(system->selection->dispatcher_plans),
        system->options.fault, &system->dispatcher);
}

static void
system_free(lbx_system *system)
{
    lbx__timers_stop(system->timers);
    lbx__dispatchers_stop(system->dispatchers);
    lbx__timers_destroy(system->timers);
    lbx__dispatchers_destroy(system->dispatchers);
    lbx__selection_destroy(system->selection);
    lbx__names_destroy(system->names);
    lbx__actor_mailboxes_destroy(system->actor_mailboxes);
    lbx__cells_destroy(system->cells);
    lbx__node_pool_destroy(system->pool);
    system->magic = 0;
    lbx__free(system->options.allocator, system, sizeof(*system));
}

LBX__SIZED(system_options_sized, lbx_system_options, warn_context,
           LBX_SYSTEM_OPTIONS_INIT);

static lbx_status
system_build(const lbx_system_options *given, lbx_system **ret)
{
    lbx_system_options options;
    lbx_system *system;
    lbx_status status;

    status = lbx__sized_read(&options, given, &system_options_sized,
                             given ? given->fault : NULL);
    if (status == LBX_OK)
        status = system_check_options(&options);
    if (status != LBX_OK)
        return status;
    system = lbx__zalloc(options.allocator, sizeof(*system));
    if (!system)
        return LBX_NO_MEMORY;
    system->magic = LBX__SYSTEM_MAGIC;
    system->options = options;
    lbx__replay_init(&system->replay, options.seed);
    system->dispatching = (lbx__dispatcher_setup){
        .allocator = options.allocator,
        .run = lbx__run_cell,
        .replay = options.seed != 0 ? &system->replay : NULL,
    };
    status = lbx__node_pool_create(options.allocator, &system->pool);
    if (status == LBX_OK)
        status = lbx__cells_create(system, options.allocator, system->pool,
                                   &system->cells);
    if (status == LBX_OK)
        status = lbx__names_create(options.allocator, &system->names);
    if (status == LBX_OK)
        status = lbx__actor_mailboxes_create(system, &system->actor_mailboxes);
    if (status == LBX_OK)
        status = lbx__timers_create(system, &system->timers);
    if (status == LBX_OK)
        status = system_start_dispatcher(system);
    if (status == LBX_OK)
        status = system_create_guardian(system);
    if (status != LBX_OK) {
        system_free(system);
        return status;
    }
    system->options.fault = NULL; // it was for the creation
    system->options.supervisor = NULL;
    *ret = system;
    return LBX_OK;
}

lbx_status
lbx_system_create(const lbx_system_options *options, lbx_system **ret)
{
    lbx_fault *fault = options ? options->fault : NULL;

    if (!ret)
        return lbx__fault_set(fault, LBX_INVALID,
                              "there is no pointer for the system: ret is "
                              "NULL");
    lbx__fault_clear(fault);
    return lbx__fault_complete(fault, system_build(options, ret), "the system",
                               NULL);
}

lbx_status
lbx_system_spawn(lbx_system *system, const lbx_props *props, const char *name,
                 lbx_ref *ret)
{
    if (!system)
        return LBX_INVALID;
    assert(system->magic == LBX__SYSTEM_MAGIC);
    if (lbx__system_is_stopping(system))
        return lbx__fault_set(props ? props->fault : NULL, LBX_CLOSED,
                              "the system is being terminated");
    return lbx__router_spawn(system, system->user, props, name, ret);
}

/* The child of `parent` that has the next name of a path; 0: none. */
static uint64_t
system_find_child(lbx_system *system, uint64_t parent, const char *name,
                  size_t length)
{
    lbx__cell *cell = lbx__cell_of(parent);
    uint64_t serial;
    char *end;

    if (*name != '$')
        return lbx__names_find(system->names, cell, name, length);
    // As print.c writes it: hexadecimal digits, no sign, no blanks.
    if (length < 2 || strspn(name + 1, "0123456789abcdef") != length - 1)
        return 0;
    serial = strtoull(name + 1, &end, 16);
    if (serial > UINT32_MAX || end != name + length)
        return 0;
    return lbx__life_find_child(cell, (uint32_t)serial);
}

lbx_status
lbx_system_find(lbx_system *system, const char *path, lbx_ref *ret)
{
    lbx_ref found;
    const char *rest;

    if (!system || !path || !ret)
        return LBX_INVALID;
    if (strncmp(path, "/user", 5) != 0 || (path[5] != '/' && path[5] != 0))
        return LBX_NOT_FOUND;
    found.word = system->user_ref;
    rest = path + 5;
    while (*rest == '/') {
        size_t length = strcspn(++rest, "/");
        lbx_ref parent = found;

        found.word = system_find_child(system, parent.word, rest, length);
        // The parent's cell may have a new life by now.
        if (!lbx_ref_is_alive(found) || !lbx_ref_is_alive(parent))
            return LBX_NOT_FOUND;
        rest += length;
    }
    *ret = found;
    return LBX_OK;
}

/* Runs a system without threads; returns how many runs. */
static uint64_t
system_run(lbx_system *system, uint64_t max_runs)
{
    uint64_t runs = 0;

    do {
        uint64_t more;

        (void)lbx__timers_fire(system->timers);
        more = lbx__dispatchers_run(system->dispatchers, max_runs - runs);
        runs += more;
        if (more == 0)
            break;
    } while (runs < max_runs);
    return runs;
}

lbx_status
lbx_system_run(lbx_system *system, uint64_t max_runs, uint64_t *ret_turns)
{
    uint64_t runs;

    if (!system || system->options.threads > 0 || lbx__context_current())
        return LBX_INVALID;
    runs = system_run(system, max_runs);
    if (ret_turns)
        *ret_turns = runs;
    return LBX_OK;
}

static bool
system_has_terminated(lbx_system *system)
{
    // Acquire: everything that the actors did.
    return lbx__load(&system->terminated, acquire) != 0;
}

bool
lbx__system_is_stopping(lbx_system *system)
{
    return lbx__load(&system->stopping, relaxed) != 0;
}

static lbx_status
system_terminate(lbx_system *system, int64_t deadline_ns)
{
    const lbx_clock *clock = system->options.clock;

    // Relaxed: for the log of dead letters, where a moment does not matter.
    lbx__store(&system->stopping, 1u, relaxed);
    lbx__cell_stop(system->user, lbx__generation_of(system->user_ref));
    if (system->options.threads == 0)
        (void)system_run(system, UINT64_MAX);
    while (!system_has_terminated(system)) {
        int64_t wait_ns = -1;

        if (deadline_ns >= 0 && deadline_ns != LBX_FOREVER) {
            wait_ns = deadline_ns - lbx_clock_now(clock);
            if (wait_ns <= 0)
                return LBX_TIMEOUT;
        }
        if (system->options.threads == 0)
            return LBX_TIMEOUT; // nothing is left to run
        lbx__futex_wait(&system->terminated, 0, wait_ns);
    }
    return LBX_OK;
}

lbx_status
lbx_system_terminate(lbx_system *system, int64_t deadline_ns)
{
    if (!system || lbx__context_current())
        return LBX_INVALID;
    return system_terminate(system, deadline_ns);
}

void
lbx_system_destroy(lbx_system *system)
{
    if (!system)
        return;
    assert(system->magic == LBX__SYSTEM_MAGIC);
    (void)system_terminate(system, LBX_FOREVER);
    // Workers first handle what came for ended actors.
    lbx__timers_stop(system->timers);
    lbx__dispatchers_stop(system->dispatchers);
    system_free(system);
}

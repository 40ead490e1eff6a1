/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store in memory, to be tried; and the other form of its service: a thread
 * that owns the letters, as the file store's does.
 */
#include "backend.h"

#include "post/service/service.h"
#include "stores/memory/memory.h"
#include "support/clock.h"
#include "support/test.h"

static struct test_clock now = TEST_CLOCK_INIT;
static lbx_clock clock_of_memory;

static lbx_store *
open_memory(void **ret_context)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx_store *store;

    clock_of_memory = test_clock_interface(&now);
    options.clock = &clock_of_memory;
    CHECK_OK(lbx_store_open("memory:", &options, &store));
    *ret_context = NULL;
    return store;
}

static lbx_status
open_storage(void *context, lbx__storage **ret)
{
    (void)context;
    return lbx__memory_open(NULL, &clock_of_memory, ret);
}

static lbx_store *
open_threaded(void **ret_context)
{
    const lbx__service_options options = {
        .open = open_storage,
        .one_thread = true,
        .manual_clock = true,
    };
    lbx_store *store;

    clock_of_memory = test_clock_interface(&now);
    CHECK_OK(lbx__service_open(&options, &store));
    *ret_context = NULL;
    return store;
}

static void
advance_memory(lbx_store *store, void *context, int64_t duration_ns)
{
    (void)context;
    test_clock_advance(&now, duration_ns);
    store->ops->tick(store);
}

static void
close_memory(lbx_store *store, void *context)
{
    (void)context;
    lbx_store_unref(store);
}

const struct backend memory_backend = {
    .name = "memory",
    .open = open_memory,
    .advance = advance_memory,
    .close = close_memory,
};

const struct backend threaded_backend = {
    .name = "threaded",
    .open = open_threaded,
    .advance = advance_memory,
    .close = close_memory,
};

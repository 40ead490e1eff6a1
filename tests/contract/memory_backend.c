/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store in memory, to be tried; and the other form of its service: a thread
 * that owns the letters, as the file store's does.
 */
#include "backend.h"

#include "post/service/service.h"
#include "stores/memory/memory.h"
#include "support/test.h"

static lbx_store *
open_memory(void **ret_context)
{
    const lbx_store_options options = backend_options();
    lbx_store *store;

    CHECK_OK(lbx_store_open("memory:", &options, &store));
    *ret_context = NULL;
    return store;
}

static lbx_status
open_storage(void *context, lbx__storage **ret)
{
    (void)context;
    return lbx__memory_open(NULL, backend_options().clock, ret);
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

    CHECK_OK(lbx__service_open(&options, &store));
    *ret_context = NULL;
    return store;
}

const struct backend memory_backend = {
    .name = "memory",
    .open = open_memory,
    .advance = backend_advance,
    .close = backend_close,
};

const struct backend threaded_backend = {
    .name = "threaded",
    .open = open_threaded,
    .advance = backend_advance,
    .close = backend_close,
};

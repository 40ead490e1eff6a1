/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract over the other form of the service: letters in memory, but a
 * thread that owns them, as the file store's does.
 */
#include "contract.h"

#include "post/service.h"
#include "stores/memory/memory.h"
#include "support/clock.h"

static struct test_clock now = TEST_CLOCK_INIT;
static lbx_clock clock_of_store;

static lbx_status
open_storage(void *context, lbx__storage **ret)
{
    (void)context;
    return lbx__memory_open(NULL, &clock_of_store, ret);
}

static lbx_store *
open_threaded(void **ret_context)
{
    const lbx__service_options options = {
        .open = open_storage,
        .one_thread = true,
        .by_hand = true,
    };
    lbx_store *store;

    clock_of_store = test_clock_interface(&now);
    CHECK_OK(lbx__service_open(&options, &store));
    *ret_context = NULL;
    return store;
}

static void
advance_threaded(lbx_store *store, void *context, int64_t duration_ns)
{
    (void)context;
    test_clock_advance(&now, duration_ns);
    store->ops->tick(store);
}

static void
close_threaded(lbx_store *store, void *context)
{
    (void)context;
    lbx_store_unref(store);
}

static const struct backend threaded = {"threaded", open_threaded,
                                        advance_threaded, close_threaded};

#define STAMP(name, numbers) CONTRACT_TEST(threaded, name, numbers)
CONTRACT(STAMP)

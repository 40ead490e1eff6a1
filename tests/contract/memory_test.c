/* SPDX-License-Identifier: Apache-2.0 */
/* The contract over the store in memory. */
#include "contract.h"

#include "support/clock.h"

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

static const struct backend memory = {"memory", open_memory, advance_memory,
                                      close_memory};

#define STAMP(name, numbers) CONTRACT_TEST(memory, name, numbers)
CONTRACT(STAMP)

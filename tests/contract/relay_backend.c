/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store of one's own, to be tried: all that the contract and the model need
 * to know of it. The clock of <letterbox/testing.h> is enough.
 */
#include "backend.h"
#include "relay.h"

#include "support/test.h"

#include <letterbox/testing.h>

static lbx_test_clock now = LBX_TEST_CLOCK_INIT;
static lbx_clock clock_of_relay;

static lbx_store *
open_relay(void **ret_context)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx_store *behind, *store;

    clock_of_relay = lbx_test_clock_as_clock(&now);
    options.clock = &clock_of_relay;
    CHECK_OK(lbx_store_open("memory:", &options, &behind));
    store = relay_create(behind);
    CHECK(store != NULL);
    *ret_context = NULL;
    return store;
}

static void
advance_relay(lbx_store *store, void *context, int64_t duration_ns)
{
    (void)context;
    lbx_test_clock_advance(&now, duration_ns, store);
}

const struct backend relay_backend = {
    .name = "relay",
    .open = open_relay,
    .advance = advance_relay,
    .close = backend_close,
};

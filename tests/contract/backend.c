/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a store's table, by kind of call; what backends share. */
#include "backend.h"

#include "support/clock.h"
#include "support/test.h"

static struct test_clock now = TEST_CLOCK_INIT;

lbx_store_options
backend_options(void)
{
    static lbx_clock clock;
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;

    clock = test_clock_interface(&now);
    options.clock = &clock;
    return options;
}

void
backend_advance(lbx_store *store, void *context, int64_t duration_ns)
{
    (void)context;
    test_clock_advance(&now, duration_ns);
    store->ops->tick(store);
}

void
backend_close(lbx_store *store, void *context)
{
    (void)context;
    lbx_store_unref(store);
}

lbx_status
backend_start(lbx_store *store, lbx_call *call)
{
    const lbx_store_ops *ops = store->ops;

    switch (call->kind) {
    case LBX_CALL_CREATE:
        return ops->create(store, call, call->request);
    case LBX_CALL_CONFIGURE:
        return ops->configure(store, call, call->request);
    case LBX_CALL_DELETE:
        return ops->remove(store, call, call->request);
    case LBX_CALL_DESCRIBE:
        return ops->describe(store, call, call->request);
    case LBX_CALL_LIST:
        return ops->list(store, call, call->request);
    case LBX_CALL_SEND:
        return ops->send(store, call, call->request);
    case LBX_CALL_RECEIVE:
        return ops->receive(store, call, call->request);
    case LBX_CALL_SETTLE:
        return ops->settle(store, call, call->request);
    case LBX_CALL_UNDO:
        return ops->undo ? ops->undo(store, call, call->request)
                         : ops->settle(store, call, call->request);
    case LBX_CALL_PEEK:
        return ops->peek ? ops->peek(store, call, call->request)
                         : LBX_UNSUPPORTED;
    case LBX_CALL_PURGE:
        return ops->purge ? ops->purge(store, call, call->request)
                          : LBX_UNSUPPORTED;
    case LBX_CALL_MOVE:
        return ops->move ? ops->move(store, call, call->request)
                         : LBX_UNSUPPORTED;
    case LBX_CALL_SYNC:
        return ops->sync ? ops->sync(store, call) : LBX_UNSUPPORTED;
    }
    FAIL("no such kind of call: %d", (int)call->kind);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a store's table, by verb. */
#include "backend.h"

#include "support/test.h"

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
    FAIL("no such verb: %d", (int)call->kind);
}

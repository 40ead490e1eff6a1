/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a store's table, by verb. */
#include "backend.h"

#include "support/test.h"

lbx_status
backend_start(lbx_store *store, lbx_call *call)
{
    const lbx_store_ops *ops = store->ops;

    switch (call->verb) {
    case LBX_VERB_CREATE:
        return ops->create(store, call, call->request);
    case LBX_VERB_CONFIGURE:
        return ops->configure(store, call, call->request);
    case LBX_VERB_DELETE:
        return ops->remove(store, call, call->request);
    case LBX_VERB_DESCRIBE:
        return ops->describe(store, call, call->request);
    case LBX_VERB_LIST:
        return ops->list(store, call, call->request);
    case LBX_VERB_SEND:
        return ops->send(store, call, call->request);
    case LBX_VERB_RECEIVE:
        return ops->receive(store, call, call->request);
    case LBX_VERB_SETTLE:
        return ops->settle(store, call, call->request);
    case LBX_VERB_UNDO:
        return ops->undo ? ops->undo(store, call, call->request)
                         : ops->settle(store, call, call->request);
    case LBX_VERB_PEEK:
        return ops->peek ? ops->peek(store, call, call->request)
                         : LBX_UNSUPPORTED;
    case LBX_VERB_PURGE:
        return ops->purge ? ops->purge(store, call, call->request)
                          : LBX_UNSUPPORTED;
    case LBX_VERB_MOVE:
        return ops->move ? ops->move(store, call, call->request)
                         : LBX_UNSUPPORTED;
    case LBX_VERB_SYNC:
        return ops->sync ? ops->sync(store, call) : LBX_UNSUPPORTED;
    }
    FAIL("no such verb: %d", (int)call->verb);
}

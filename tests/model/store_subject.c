/* SPDX-License-Identifier: Apache-2.0 */
/* A store as a subject; see store_subject.h. */
#include "store_subject.h"

#include "support/test.h"
#include "walks.h"

#include <stdatomic.h>

/* A call, and who is told of its letters. */
struct calling {
    lbx_call call; /* first */
    void (*deliver)(void *context, const lbx_delivery *delivery);
    void *context;
    lbx_status status;
    _Atomic int over;
};

static void
finish(lbx_call *call, lbx_status status)
{
    struct calling *mine = (struct calling *)call;

    mine->status = status;
    CHECK_INT(0, atomic_fetch_add(&mine->over, 1));
}

static lbx_status
deliver(lbx_call *call, const lbx_delivery *delivery)
{
    const struct calling *mine = (const struct calling *)call;

    mine->deliver(mine->context, delivery);
    return LBX_OK;
}

static lbx_status
call(void *context, lbx_call_kind verb, void *request,
     void (*each)(void *context, const lbx_delivery *delivery),
     void *each_context)
{
    static const lbx_call_sink caller = {finish, deliver};
    const store_subject *subject = context;
    struct calling mine = {.deliver = each, .context = each_context};
    lbx_status status;

    lbx_call_init(&mine.call, &caller, verb, request);
    status = backend_start(subject->store, &mine.call);
    if (status != LBX_PENDING) {
        CHECK_INT(0, atomic_load(&mine.over));
        return status;
    }
    EVENTUALLY(atomic_load(&mine.over) > 0);
    return mine.status;
}

static void
advance(void *context, int64_t ns)
{
    const store_subject *subject = context;

    subject->backend->advance(subject->store, subject->store_context, ns);
}

static void
reopen(void *context)
{
    store_subject *subject = context;

    subject->store =
        subject->backend->reopen(subject->store, subject->store_context);
}

void
store_subject_init(store_subject *subject, const struct backend *backend)
{
    const lbx_store_ops *ops;

    *subject = (store_subject){.backend = backend};
    subject->store = backend->open(&subject->store_context);
    ops = subject->store->ops;
    subject->base = (model_subject){
        .name = backend->name,
        .call = call,
        .advance = advance,
        .reopen = backend->reopen ? reopen : NULL,
        .undoes = ops->undo && ops->peek && ops->purge && ops->move,
        .context = subject,
    };
}

void
store_subject_fini(store_subject *subject)
{
    subject->backend->close(subject->store, subject->store_context);
}

static bool
walk(void *context, uint64_t seed, unsigned steps, char *why, size_t why_bytes)
{
    store_subject subject;
    bool passed;

    store_subject_init(&subject, context);
    passed = model_walk(&subject.base, seed, steps, why, why_bytes);
    store_subject_fini(&subject);
    return passed;
}

void
store_walks(const struct backend *backend, long seeds, unsigned steps)
{
    model_walks(backend->name, seeds, steps, walk, (void *)(uintptr_t)backend);
}

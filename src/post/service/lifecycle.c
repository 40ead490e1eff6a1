/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing a service, in the thread that uses its storage; and what
 * the rules tell it in between.
 */
#include "post/service/internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/park.h"

static int64_t
wall_ms(void *context)
{
    (void)context;
    return lbx__clock_wall_ms();
}

/* The rules speak: U3. They run under the lock, or in the thread that owns the
 * storage, without it. */
static void
note_ready(void *context, lbx_box box, int64_t due_ns)
{
    lbx__service *service = context;

    lbx__service_take_back(service);
    if (lbx__waiters_find(&service->waiters, box.uid)) {
        if (due_ns <= service->storage->ops->now(service->storage))
            lbx__waiters_stir(&service->waiters, box.uid);
        else
            lbx__waiters_expect(&service->waiters, box.uid, due_ns);
    }
    lbx__service_let_go(service);
}

static void
note_ended(void *context, lbx_box box)
{
    lbx__service *service = context;

    lbx__service_take_back(service);
    lbx__waiters_stir(&service->waiters, box.uid);
    lbx__service_let_go(service);
}

lbx_status
lbx__service_begin(lbx__service *service)
{
    const lbx__rules_options options = {
        .allocator = service->options.allocator,
        .events = {note_ready, note_ended, service},
        .wall_ms = wall_ms,
    };
    lbx_status status;

    status = service->options.open(service->options.context, &service->storage);
    if (status != LBX_OK)
        return status;
    lbx__init(&service->durability,
              (uint32_t)service->storage->ops->durability(service->storage));
    status = lbx__rules_open(service->storage, &options, &service->rules);
    if (status == LBX_OK)
        status = lbx__mac_create(service->options.allocator,
                                 lbx__rules_key(service->rules),
                                 LBX__STORE_KEY_BYTES, &service->mac);
    if (status != LBX_OK) {
        lbx__service_end(service);
        return status;
    }
    service->ops.scheme = service->storage->ops->scheme;
    return LBX_OK;
}

void
lbx__service_end(lbx__service *service)
{
    lbx__mac_destroy(service->mac);
    lbx__rules_close(service->rules);
    lbx__storage_close(service->storage);
}

void
lbx__service_free(lbx__service *service)
{
    lbx__waiters_fini(&service->waiters);
    lbx__free(service->options.allocator, service, sizeof(*service));
}

/* In this thread, or in the one that will own the storage. */
static lbx_status
begin_somewhere(lbx__service *service)
{
    if (!service->options.one_thread)
        return lbx__service_begin(service);
    if (!lbx__thread_start(service))
        return LBX_NO_MEMORY;
    // Acquire: pairs with report().
    while (lbx__load(&service->opened, acquire) == 0)
        lbx__futex_wait(&service->opened, 0, -1);
    if (service->open_status != LBX_OK)
        (void)pthread_join(service->thread, NULL);
    return service->open_status;
}

lbx_status
lbx__service_open(const lbx__service_options *options, lbx_store **ret)
{
    lbx__service *service = lbx__zalloc(options->allocator, sizeof(*service));
    lbx_status status;

    if (!service)
        return LBX_NO_MEMORY;
    service->options = *options;
    service->ops = lbx__service_ops;
    service->alarm_ns = LBX_FOREVER;
    lbx__waiters_init(&service->waiters, options->allocator);
    status = begin_somewhere(service);
    if (status == LBX_OK) {
        status = lbx_store_init(&service->base, &service->ops);
        assert(status == LBX_OK); // the table is whole
        *ret = &service->base;
        return LBX_OK;
    }
    lbx__service_free(service);
    return status;
}

lbx__storage *
lbx__service_storage(lbx_store *store)
{
    return lbx__service_of(store)->storage;
}

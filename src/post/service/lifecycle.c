/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing a service. Storage and rules are opened and closed in the
 * thread that uses them.
 */
#include "post/service/internal.h"

#include "base/alloc.h"
#include "base/park.h"

lbx_status
lbx__lifecycle_open(lbx__service *service)
{
    const lbx__rules_options options = {
        .allocator = service->options.allocator,
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
        lbx__lifecycle_close(service);
        return status;
    }
    service->ops.scheme = service->storage->ops->scheme;
    return LBX_OK;
}

void
lbx__lifecycle_close(lbx__service *service)
{
    lbx__mac_destroy(service->mac);
    lbx__rules_close(service->rules);
    lbx__storage_close(service->storage);
}

void
lbx__lifecycle_free(lbx__service *service)
{
    lbx__waiters_fini(&service->waiters);
    lbx__free(service->options.allocator, service, sizeof(*service));
}

/* Opens in this thread, or in the service thread. */
static lbx_status
lifecycle_open_in_thread(lbx__service *service)
{
    if (!service->options.one_thread)
        return lbx__lifecycle_open(service);
    if (!lbx__thread_start(service))
        return LBX_NO_MEMORY;
    // Acquire: pairs with the release in thread_report_open().
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
    service->wake_ns = LBX_FOREVER;
    lbx__waiters_init(&service->waiters, options->allocator);
    status = lifecycle_open_in_thread(service);
    if (status == LBX_OK) {
        status = lbx_store_init(&service->base, &service->ops);
        assert(status == LBX_OK); // the table is complete
        *ret = &service->base;
        return LBX_OK;
    }
    lbx__lifecycle_free(service);
    return status;
}

lbx__storage *
lbx__service_storage(lbx_store *store)
{
    return lbx__service_of(store)->storage;
}

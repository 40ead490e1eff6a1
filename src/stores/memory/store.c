/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory; see store.h. */
#include "stores/memory/store.h"

#include "post/service.h"
#include "stores/memory/memory.h"

static lbx_status
open_storage(void *context, lbx__storage **ret)
{
    const lbx_store_options *options = context;

    return lbx__memory_open(options->allocator, options->clock, ret);
}

lbx_status
lbx__memory_store_open(const lbx_store_options *options, lbx_store **ret)
{
    lbx_store_options mine = LBX_STORE_OPTIONS_INIT;
    lbx__service_options service;

    if (options)
        mine = *options;
    service = (lbx__service_options){
        .allocator = mine.allocator,
        .open = open_storage,
        .context = &mine,
        .by_hand = mine.clock != NULL,
    };
    return lbx__service_open(&service, ret);
}

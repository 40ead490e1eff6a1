/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory; see store.h. */
#include "stores/memory/memory_store.h"

#include "base/fault.h"
#include "post/service/service.h"
#include "post/stores.h"
#include "stores/memory/memory.h"

#include <string.h>

static lbx_status
memory_store_open_storage(void *context, lbx__storage **ret)
{
    const lbx_store_options *options = context;

    return lbx__memory_open(options->allocator, options->clock, ret);
}

lbx_status
lbx__memory_store_open(const lbx_store_options *options, lbx_store **ret)
{
    lbx_store_options mine = LBX_STORE_OPTIONS_INIT;
    lbx__service_options service;
    lbx_status status;

    if (options)
        mine = *options;
    service = (lbx__service_options){
        .allocator = mine.allocator,
        .open = memory_store_open_storage,
        .context = &mine,
        .closing = lbx__stores_close_later,
        .closed = lbx__stores_closed,
        .manual_clock = mine.clock != NULL,
    };
    status = lbx__service_open(&service, ret);
    if (status == LBX_OK)
        lbx__store_set_clock(*ret, mine.clock);
    return status;
}

/* ---- By URL ---- */

static lbx_status
memory_store_place(const char *rest, char *ret_place, lbx_fault *fault)
{
    const size_t size = strlen(rest) + 1;

    if (size > LBX__ADDRESS_BYTES || strchr(rest, '/'))
        return lbx__fault_set(
            fault, LBX_INVALID,
            "a store in memory is memory: or memory:NAME, and a "
            "postbox in it memory:BOX or memory:NAME/BOX");
    memcpy(ret_place, rest, size);
    return LBX_OK;
}

static lbx_status
memory_store_open_place(const char *name, const lbx_store_options *options,
                        lbx_store **ret)
{
    if (options->must_exist)
        return lbx__fault_set(options->fault, LBX_NOT_FOUND,
                              "this process has no store memory:%.100s open",
                              name);
    return lbx__memory_store_open(options, ret);
}

static const char *
memory_store_differs(lbx_store *store, const lbx_store_options *options)
{
    return options->clock &&
                   options->clock != lbx__store_private_of(store)->clock
               ? "clock"
               : NULL;
}

const lbx__scheme lbx__memory_scheme = {"memory", memory_store_place,
                                        memory_store_open_place,
                                        memory_store_differs, NULL};

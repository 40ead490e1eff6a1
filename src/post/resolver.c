/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolvers: calling one with a fault, and the resolver that opens addresses as
 * URLs, for sending only.
 */
#include <letterbox/post/resolver.h>

#include "base/fault.h"
#include <letterbox/post/postbox.h>

lbx_status
lbx_resolver_resolve(lbx_resolver resolver, const char *address,
                     lbx_postbox **ret, lbx_fault *fault)
{
    lbx_fault unwanted = {.status = LBX_OK};
    lbx_status status;

    fault = fault ? fault : &unwanted;
    if (!address || !ret)
        return lbx__fault_set(fault, LBX_INVALID, "%s is NULL",
                              address ? "ret" : "the address");
    lbx__fault_clear(fault);
    status = resolver.resolve
                 ? resolver.resolve(resolver.context, address, ret, fault)
                 : LBX_NOT_FOUND;
    return lbx__fault_complete(fault, status, "the address", address);
}

static lbx_status
resolver_open_url(void *context, const char *address, lbx_postbox **ret,
                  lbx_fault *fault)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_status status;

    options.store = context;
    if (options.store)
        options.allocator = options.store->allocator;
    options.fault = fault;
    options.send_only = true;
    status = lbx_postbox_open(address, &options, ret);
    return status == LBX_INVALID ? LBX_NOT_FOUND : status;
}

lbx_resolver
lbx_url_resolver(const lbx_store_options *options)
{
    return (lbx_resolver){resolver_open_url, (void *)(uintptr_t)options};
}

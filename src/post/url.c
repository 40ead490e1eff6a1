/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postboxes by URL: the last part is the box, what is before it the store.
 *
 *     memory:orders            memory:        orders
 *     memory:name/orders       memory:name    orders
 *     file:/var/shop/orders    file:/var/shop orders
 */
#include "post/fault.h"
#include "post/scheme.h"
#include <letterbox/post/postbox.h>

#include <string.h>

/* Cuts a copy of a URL in two; the box is behind the NUL. NULL: it has none. */
static const char *
cut(const char *url, char store[LBX__PLACE_BYTES])
{
    const size_t size = strnlen(url, LBX__PLACE_BYTES);
    const char *colon = strchr(url, ':');
    const char *slash = strrchr(url, '/');
    const char *box;

    if (!colon || size >= LBX__PLACE_BYTES)
        return NULL;
    box = slash && slash > colon ? slash + 1 : colon + 1;
    memcpy(store, url, size + 1);
    store[box - url] = '\0';
    // "file:/orders" is in the root, whose slash is its name.
    if (slash && slash > colon + 1)
        store[slash - url] = '\0';
    return box;
}

lbx_status
lbx_postbox_open(const char *url, const lbx_postbox_options *options,
                 lbx_postbox **ret)
{
    static const lbx_postbox_options defaults = LBX_POSTBOX_OPTIONS_INIT;
    lbx_store_options store_options = LBX_STORE_OPTIONS_INIT;
    char store_url[LBX__PLACE_BYTES];
    lbx_store *store;
    const char *box;
    lbx_status status;

    if (!options)
        options = &defaults;
    if (!url || !ret || options->version != LBX_POSTBOX_OPTIONS_VERSION)
        return LBX_INVALID;
    box = cut(url, store_url);
    if (!box)
        return lbx__fault(options->fault, LBX_INVALID,
                          "%.160s is no URL of a postbox", url);
    store_options.allocator = options->allocator;
    if (options->store)
        store_options = *options->store;
    if (!store_options.fault)
        store_options.fault = options->fault;
    status = lbx_store_open(store_url, &store_options, &store);
    if (status != LBX_OK)
        return status;
    status = lbx_postbox_open_in(store, box, options, ret);
    lbx_store_unref(store);
    return status;
}

/* W-42, R-23: for sending only. */
static lbx_status
resolve(void *context, const char *place, lbx_postbox **ret, lbx_fault *fault)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_status status;

    options.store = context;
    if (options.store)
        options.allocator = options.store->allocator;
    options.fault = fault;
    options.send_only = true;
    status = lbx_postbox_open(place, &options, ret);
    return status == LBX_INVALID ? LBX_NOT_FOUND : status;
}

lbx_resolver
lbx_url_resolver(const lbx_store_options *options)
{
    return (lbx_resolver){resolve, (void *)(uintptr_t)options};
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postboxes by URL: the last part is the box, what is before it the store.
 *
 *     memory:orders            memory:        orders
 *     memory:name/orders       memory:name    orders
 *     file:/var/shop/orders    file:/var/shop orders
 */
#include "base/fault.h"
#include "post/box.h"
#include "post/postbox.h"
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

    if (!colon || colon == url || size >= LBX__PLACE_BYTES)
        return NULL;
    box = slash && slash > colon ? slash + 1 : colon + 1;
    memcpy(store, url, size + 1);
    store[box - url] = '\0';
    // "file:/orders" is in the root, whose slash is its name.
    if (slash && slash > colon + 1)
        store[slash - url] = '\0';
    return box;
}

/* Cuts a URL; INVALID, and why, when it can be none of a postbox. */
static lbx_status
take_apart(const char *url, char store[LBX__PLACE_BYTES], const char **ret_box,
           lbx_fault *fault)
{
    char shown[LBX__FAULT_QUOTED_BYTES];
    const char *rest;

    if (!url)
        return lbx__fault_set(fault, LBX_INVALID, "the URL is NULL: it is %s",
                              lbx__scheme_forms);
    if (strlen(url) >= LBX__PLACE_BYTES)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "the URL is too long: %zu bytes, and at most %d are "
            "allowed: %s",
            strlen(url), LBX__PLACE_BYTES - 1, lbx__fault_quote(url, shown));
    *ret_box = cut(url, store);
    if (!*ret_box)
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s is no URL of a postbox: it is %s",
                              lbx__fault_quote(url, shown), lbx__scheme_forms);
    if (!(*ret_box)[0])
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s names no box: a postbox is %s",
                              lbx__fault_quote(url, shown), lbx__scheme_forms);
    // "file:" is no store, as "memory:" is one.
    if (strcmp(store, "file:") == 0 && lbx__scheme_of(store, &rest))
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s names no folder: a postbox in files is "
                              "file:DIR/BOX",
                              lbx__fault_quote(url, shown));
    return LBX_OK;
}

/* Opens the store of a postbox. Its options may have a fault of their own: both
 * are told. */
static lbx_status
open_store(const char *url, const lbx_postbox_options *options, lbx_store **ret)
{
    lbx_store_options mine = LBX_STORE_OPTIONS_INIT;
    lbx_fault *theirs;
    lbx_fault fault;
    lbx_status status;

    mine.allocator = options->allocator;
    if (options->store)
        mine = *options->store;
    theirs = mine.fault;
    mine.fault = &fault;
    status = lbx_store_open(url, &mine, ret);
    if (status != LBX_OK && theirs)
        *theirs = fault;
    if (status != LBX_OK && options->fault)
        *options->fault = fault;
    return status;
}

lbx_status
lbx_postbox_open(const char *url, const lbx_postbox_options *options,
                 lbx_postbox **ret)
{
    static const lbx_postbox_options defaults = LBX_POSTBOX_OPTIONS_INIT;
    char store_url[LBX__PLACE_BYTES];
    const char *box = NULL;
    lbx_store *store;
    lbx_status status;

    if (!options)
        options = &defaults;
    status = lbx__postbox_options_check(options, ret);
    if (status == LBX_OK)
        status = take_apart(url, store_url, &box, options->fault);
    if (status == LBX_OK) // before a store is made for it
        status = lbx__box_name_check(box, NULL, options->fault);
    if (status == LBX_OK)
        status = open_store(store_url, options, &store);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a postbox: in a store that is open, or by URL, whose last part is the
 * box and what is before it the store.
 *
 *     memory:orders            memory:        orders
 *     memory:name/orders       memory:name    orders
 *     file:/var/shop/orders    file:/var/shop orders
 */
#include "post/postbox.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "post/box.h"
#include "post/box_fault.h"
#include "post/scheme.h"

#include <string.h>

static lbx_status
describe(lbx_postbox *postbox)
{
    lbx_box_request request = {
        .name = postbox->name,
        .buffer = postbox->texts,
        .ret_options = &postbox->rules,
    };
    lbx_status status =
        lbx__call_now(postbox->store, LBX_VERB_DESCRIBE, &request);

    postbox->box = request.ret_box;
    return status;
}

static lbx_status
create(lbx_postbox *postbox, const lbx_box_options *options, lbx_fault *fault)
{
    static const lbx_box_options defaults = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {
        .name = postbox->name,
        .options = options ? options : &defaults,
        .buffer = postbox->texts,
        .ret_options = &postbox->rules,
    };
    lbx_status status = lbx__box_check(postbox->name, request.options, fault);

    if (status != LBX_OK)
        return status;
    status = lbx__call_now(postbox->store, LBX_VERB_CREATE, &request);
    postbox->box = request.ret_box;
    return status == LBX_EXISTS // someone else has made it, and that will do
               ? status
               : lbx__box_explain(postbox->store, LBX_VERB_CREATE, &request,
                                  status, fault);
}

/* B1: finds the box, or makes it. One that someone else makes meanwhile is as
 * good as found. */
static lbx_status
find_box(lbx_postbox *postbox, const lbx_postbox_options *options)
{
    lbx_status status = describe(postbox);

    if (status == LBX_NOT_FOUND && !options->must_exist) {
        status = create(postbox, options->box, options->fault);
        if (status == LBX_EXISTS)
            status = describe(postbox);
    }
    if (status == LBX_OK && postbox->box.uid == 0)
        return LBX_CORRUPT; // a store that says OK and means nothing
    return status;
}

static lbx_status
make(lbx_store *store, const char *name, const lbx_postbox_options *options,
     lbx_postbox **ret)
{
    lbx_postbox *postbox = lbx__zalloc(options->allocator, sizeof(*postbox));
    lbx_status status;

    if (!postbox)
        return LBX_NO_MEMORY;
    postbox->allocator = options->allocator;
    postbox->store = lbx_store_ref(store);
    postbox->options = *options;
    postbox->options.fault = NULL; // borrowed for opening
    postbox->options.box = NULL;
    postbox->options.store = NULL;
    lbx__init(&postbox->users, 1);
    lbx__desk_init(&postbox->desk);
    memcpy(postbox->name, name, strlen(name) + 1);
    status = find_box(postbox, options);
    if (status != LBX_OK) {
        lbx_postbox_unref(postbox);
        return status;
    }
    *ret = postbox;
    return LBX_OK;
}

lbx_status
lbx__postbox_options_check(const lbx_postbox_options *options,
                           lbx_postbox **ret)
{
    if (options->version != LBX_POSTBOX_OPTIONS_VERSION)
        return lbx__fault_version(options->fault, "LBX_POSTBOX_OPTIONS_INIT",
                                  options->version,
                                  LBX_POSTBOX_OPTIONS_VERSION);
    if (!ret)
        return lbx__fault_set(
            options->fault, LBX_INVALID,
            "there is no pointer for the postbox: ret is NULL");
    if (!lbx__allocator_usable(options->allocator))
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "the allocator lacks a function");
    return LBX_OK;
}

lbx_status
lbx_postbox_open_in(lbx_store *store, const char *name,
                    const lbx_postbox_options *options, lbx_postbox **ret)
{
    static const lbx_postbox_options defaults = LBX_POSTBOX_OPTIONS_INIT;
    lbx_fault *fault;
    lbx_status status;

    if (!options)
        options = &defaults;
    fault = options->fault;
    status = lbx__postbox_options_check(options, ret);
    if (status != LBX_OK)
        return status;
    if (!store)
        return lbx__fault_set(fault, LBX_INVALID, "the store is NULL");
    status = lbx__box_name_check(name, NULL, fault);
    if (status != LBX_OK)
        return status;
    lbx__fault_clear(fault);
    return lbx__fault_complete(fault, make(store, name, options, ret), "box",
                               name);
}

/* ---- By URL ---- */

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

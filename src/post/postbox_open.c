/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a postbox: in a store that is open, or by URL. The last part of a URL
 * is the box, the rest is the store:
 *
 *     memory:orders            memory:        orders
 *     memory:name/orders       memory:name    orders
 *     file:/var/shop/orders    file:/var/shop orders
 *
 * Both are decoded after that (url.h).
 *
 * The box is described, and created if it does not exist. A box that another
 * process creates in between is used as it is (PBOX-1).
 */
#include "post/postbox.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include "post/box.h"
#include "post/scheme.h"
#include "post/url.h"

#include <assert.h>
#include <string.h>

static lbx_status
postbox_describe(lbx_postbox *postbox)
{
    lbx_box_request request = {
        .name = postbox->name,
        .buffer = postbox->texts,
        .ret_options = &postbox->rules,
    };
    lbx_status status =
        lbx__call_run(postbox->store, LBX_CALL_DESCRIBE, &request);

    postbox->box = request.ret_box;
    return status;
}

static lbx_status
postbox_create_box(lbx_postbox *postbox, const lbx_box_options *options,
                   lbx_fault *fault)
{
    lbx_box_options own;
    lbx_box_request request = {
        .name = postbox->name,
        .options = lbx__box_view_options(options, &own, fault),
        .buffer = postbox->texts,
        .ret_options = &postbox->rules,
    };
    lbx_status status = LBX_INVALID;

    if (request.options)
        status = lbx__box_check(postbox->name, request.options, fault);
    if (status != LBX_OK)
        return status;
    status = lbx__call_run(postbox->store, LBX_CALL_CREATE, &request);
    postbox->box = request.ret_box;
    return status == LBX_EXISTS // created by another process: used as it is
               ? status
               : lbx__box_fault_explain(postbox->store, LBX_CALL_CREATE,
                                        &request, status, fault);
}

/* PBOX-1: finds the box, or creates it. */
static lbx_status
postbox_find_box(lbx_postbox *postbox, const lbx_postbox_options *options)
{
    lbx_status status = postbox_describe(postbox);

    if (status == LBX_NOT_FOUND && !options->must_exist) {
        status = postbox_create_box(postbox, options->box, options->fault);
        if (status == LBX_EXISTS)
            status = postbox_describe(postbox);
    }
    if (status == LBX_OK && postbox->box.uid == 0)
        return LBX_CORRUPT; // the store returned OK and no box
    return status;
}

static lbx_status
postbox_make(lbx_store *store, const char *name,
             const lbx_postbox_options *options, lbx_postbox **ret)
{
    lbx_postbox *postbox = lbx__zalloc(options->allocator, sizeof(*postbox));
    lbx_status status;

    if (!postbox)
        return LBX_NO_MEMORY;
    postbox->allocator = options->allocator;
    postbox->store = lbx_store_ref(store);
    postbox->options = *options;
    postbox->options.fault = NULL; // valid during the open only
    postbox->options.box = NULL;
    postbox->options.store = NULL;
    lbx__init(&postbox->users, 1);
    lbx__init(&postbox->holds, 1);
    lbx__call_queue_init(&postbox->calls);
    assert(name); // checked by the callers
    memcpy(postbox->name, name, strlen(name) + 1);
    status = postbox_find_box(postbox, options);
    if (status != LBX_OK) {
        lbx_postbox_unref(postbox);
        return status;
    }
    *ret = postbox;
    return LBX_OK;
}

LBX__SIZED(postbox_options_sized, lbx_postbox_options, refuse_endless_wait,
           LBX_POSTBOX_OPTIONS_INIT);

lbx_status
lbx__postbox_open_check(const lbx_postbox_options **options,
                        lbx_postbox_options *own, lbx_postbox **ret)
{
    const lbx_postbox_options *given = *options;

    given = lbx__sized_view(given, own, &postbox_options_sized,
                            given ? given->fault : NULL);
    if (!given)
        return LBX_INVALID;
    *options = given;
    if (!ret)
        return lbx__fault_set(
            given->fault, LBX_INVALID,
            "there is no pointer for the postbox: ret is NULL");
    if (!lbx__allocator_usable(given->allocator))
        return lbx__fault_set(given->fault, LBX_INVALID,
                              "the allocator lacks a function");
    return LBX_OK;
}

lbx_status
lbx_postbox_open_in(lbx_store *store, const char *name,
                    const lbx_postbox_options *options, lbx_postbox **ret)
{
    lbx_postbox_options own;
    lbx_fault *fault;
    lbx_status status = lbx__postbox_open_check(&options, &own, ret);

    if (status != LBX_OK)
        return status;
    fault = options->fault;
    if (!store)
        return lbx__fault_set(fault, LBX_INVALID, "the store is NULL");
    status = lbx__box_name_check(name, NULL, fault);
    if (status != LBX_OK)
        return status;
    lbx__fault_clear(fault);
    return lbx__fault_complete(fault, postbox_make(store, name, options, ret),
                               "box", name);
}

/* ---- By URL ---- */

/* Copies the URL of the store; returns the name of the box. NULL: it has
 * none. */
static const char *
postbox_cut_url(const char *url, char store[LBX__ADDRESS_BYTES])
{
    const size_t size = strnlen(url, LBX__ADDRESS_BYTES);
    const char *colon = strchr(url, ':');
    const char *slash = strrchr(url, '/');
    const char *box;

    if (!colon || colon == url || size >= LBX__ADDRESS_BYTES)
        return NULL;
    box = slash && slash > colon ? slash + 1 : colon + 1;
    memcpy(store, url, size + 1);
    store[box - url] = '\0';
    // "file:/orders" is in the root folder, whose path is the slash.
    if (slash && slash > colon + 1)
        store[slash - url] = '\0';
    return box;
}

/* Splits a URL; INVALID, with a fault, when it is not one of a postbox. */
static lbx_status
postbox_split_url(const char *url, char store[LBX__ADDRESS_BYTES],
                  const char **ret_box, lbx_fault *fault)
{
    char shown[LBX__FAULT_QUOTED_BYTES];
    const char *rest;

    if (!url)
        return lbx__fault_set(fault, LBX_INVALID, "the URL is NULL: it is %s",
                              lbx__scheme_forms);
    if (strlen(url) >= LBX__ADDRESS_BYTES)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "the URL is too long: %zu bytes, and at most %d are "
            "allowed: %s",
            strlen(url), LBX__ADDRESS_BYTES - 1, lbx__fault_quote(url, shown));
    *ret_box = postbox_cut_url(url, store);
    if (!*ret_box)
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s is no URL of a postbox: it is %s",
                              lbx__fault_quote(url, shown), lbx__scheme_forms);
    if (!(*ret_box)[0])
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s names no box: a postbox is %s",
                              lbx__fault_quote(url, shown), lbx__scheme_forms);
    // "memory:" is a store; "file:" without a folder is not.
    if (strcmp(store, "file:") == 0 && lbx__scheme_of(store, &rest))
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s names no folder: a postbox in files is "
                              "file:DIR/BOX",
                              lbx__fault_quote(url, shown));
    return LBX_OK;
}

LBX__SIZED(postbox_store_sized, lbx_store_options, log_context,
           LBX_STORE_OPTIONS_INIT);

/* Opens the store of a postbox. The options of the store may have a fault too:
 * both are written. */
static lbx_status
postbox_open_store(const char *url, const lbx_postbox_options *options,
                   lbx_store **ret)
{
    lbx_store_options mine = LBX_STORE_OPTIONS_INIT;
    lbx_fault *theirs;
    lbx_fault fault;
    lbx_status status;

    mine.allocator = options->allocator;
    theirs = options->store ? options->store->fault : NULL;
    status = options->store ? lbx__sized_read(&mine, options->store,
                                              &postbox_store_sized, &fault)
                            : LBX_OK;
    mine.fault = &fault;
    mine.must_exist |= options->must_exist; // a box in no store is not there
    if (status == LBX_OK)
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
    lbx_postbox_options own;
    char store_url[LBX__ADDRESS_BYTES];
    char box[LBX__ADDRESS_BYTES];
    const char *name = NULL;
    lbx_store *store;
    lbx_status status;

    status = lbx__postbox_open_check(&options, &own, ret);
    if (status == LBX_OK)
        status = postbox_split_url(url, store_url, &name, options->fault);
    if (status == LBX_OK)
        status = lbx__url_decode(url, name, box, sizeof(box), options->fault);
    if (status == LBX_OK) // before a store is created for it
        status = lbx__box_name_check(box, NULL, options->fault);
    if (status == LBX_OK)
        status = postbox_open_store(store_url, options, &store);
    if (status != LBX_OK)
        return status;
    status = lbx_postbox_open_in(store, box, options, ret);
    lbx_store_unref(store);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a store by URL: checks of the options, the scheme and its address,
 * and the durability that the caller demands.
 */
#include "post/stores.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include "post/url.h"

static const char *
store_level_name(lbx_durability level)
{
    static const char *const names[] = {
        [LBX_DURABILITY_DEFAULT] = "LBX_DURABILITY_DEFAULT",
        [LBX_DURABILITY_NONE] = "LBX_DURABILITY_NONE",
        [LBX_DURABILITY_PROCESS] = "LBX_DURABILITY_PROCESS",
        [LBX_DURABILITY_INTERVAL] = "LBX_DURABILITY_INTERVAL",
        [LBX_DURABILITY_POWER_CUT] = "LBX_DURABILITY_POWER_CUT",
        [LBX_DURABILITY_MACHINE] = "LBX_DURABILITY_MACHINE",
    };

    return (size_t)level < sizeof(names) / sizeof(names[0]) ? names[level]
                                                            : NULL;
}

/* OK when the store is at least as durable as the options demand. */
static lbx_status
store_check_level(const char *url, const lbx_store *store,
                  const lbx_store_options *options)
{
    const lbx_durability has = lbx_store_durability(store);
    char shown[LBX__FAULT_QUOTED_BYTES];

    if (options->durability == LBX_DURABILITY_DEFAULT ||
        options->durability <= has)
        return LBX_OK;
    return lbx__fault_set(
        options->fault, LBX_UNSUPPORTED,
        "%s: durability is %s, and this store has no more than "
        "%s",
        lbx__fault_quote(url, shown), store_level_name(options->durability),
        store_level_name(has));
}

/* OK when the arguments are valid. */
static lbx_status
store_check_options(const char *url, const lbx_store_options *options,
                    lbx_store **ret)
{
    if (!url)
        return lbx__fault_set(options->fault, LBX_INVALID, "the URL is NULL");
    if (!ret)
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "there is no pointer for the store: ret is NULL");
    if (!lbx__allocator_usable(options->allocator))
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "the allocator lacks a function");
    if (!store_level_name(options->durability))
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "durability is %d, which is no lbx_durability",
                              (int)options->durability);
    return LBX_OK;
}

static lbx_status
store_refuse_scheme(const char *url, lbx_fault *fault)
{
    char names[64], shown[LBX__FAULT_QUOTED_BYTES];

    lbx__scheme_names(names, sizeof(names));
    return lbx__fault_set(fault, LBX_NOT_FOUND,
                          "%s: there is no store of that kind; allowed are %s",
                          lbx__fault_quote(url, shown), names);
}

LBX__SIZED(store_options_sized, lbx_store_options, log_context,
           LBX_STORE_OPTIONS_INIT);

lbx_status
lbx_store_open(const char *url, const lbx_store_options *options,
               lbx_store **ret)
{
    lbx_store_options mine;
    char decoded[LBX__ADDRESS_BYTES], address[LBX__ADDRESS_BYTES];
    const lbx__scheme *scheme;
    lbx_fault unwanted;
    lbx_store *store = NULL;
    const char *rest;
    lbx_status status;

    status = lbx__sized_read(&mine, options, &store_options_sized,
                             options ? options->fault : NULL);
    if (status != LBX_OK)
        return status;
    if (!mine.fault)
        mine.fault = &unwanted;
    lbx__fault_clear(mine.fault);
    status = store_check_options(url, &mine, ret);
    if (status != LBX_OK)
        return status;
    scheme = lbx__scheme_of(url, &rest);
    if (!scheme)
        return store_refuse_scheme(url, mine.fault);
    status = lbx__url_decode(url, rest, decoded, sizeof(decoded), mine.fault);
    if (status == LBX_OK)
        status = scheme->address(decoded, address, mine.fault);
    if (status == LBX_OK && scheme->check)
        status = scheme->check(&mine);
    if (status == LBX_OK)
        status = lbx__stores_open(scheme, address, &mine, &store);
    if (status == LBX_OK) {
        status = store_check_level(url, store, &mine);
        if (status == LBX_OK)
            *ret = store;
        else
            lbx_store_unref(store);
    }
    return lbx__fault_complete(mine.fault, status, "the store", url);
}

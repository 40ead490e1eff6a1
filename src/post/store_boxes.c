/* SPDX-License-Identifier: Apache-2.0 */
/* The boxes of a store, managed by name. */
#include "post/call.h"

#include "base/fault.h"
#include "post/box.h"
#include "post/box_fault.h"

static lbx_status
set_box(lbx_store *store, lbx_verb verb, const char *name,
        const lbx_box_options *options, lbx_fault *fault)
{
    static const lbx_box_options defaults = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {
        .name = name,
        .options = options ? options : &defaults,
    };
    lbx_status status;

    if (!store)
        return lbx__fault_set(fault, LBX_INVALID, "the store is NULL");
    status = lbx__box_check(name, request.options, fault);
    if (status != LBX_OK)
        return status;
    status = lbx__call_now(store, verb, &request);
    return lbx__box_explain(store, verb, &request, status, fault);
}

lbx_status
lbx_store_create_box(lbx_store *store, const char *name,
                     const lbx_box_options *options, lbx_fault *ret_fault)
{
    return set_box(store, LBX_VERB_CREATE, name, options, ret_fault);
}

lbx_status
lbx_store_change_box(lbx_store *store, const char *name,
                     const lbx_box_options *options, lbx_fault *ret_fault)
{
    if (!options)
        return lbx__fault_set(ret_fault, LBX_INVALID,
                              "there are no options to change to: NULL");
    return set_box(store, LBX_VERB_CONFIGURE, name, options, ret_fault);
}

lbx_status
lbx_store_delete_box(lbx_store *store, const char *name)
{
    lbx_box_request request = {.name = name};

    if (!store || !name || !lbx__box_name_valid(name))
        return LBX_INVALID;
    return lbx__call_now(store, LBX_VERB_DELETE, &request);
}

lbx_status
lbx_store_read_box(lbx_store *store, const char *name, char *buffer,
                   lbx_box_options *ret_options, lbx_box_counts *ret_counts)
{
    lbx_box_request request = {
        .name = name,
        .buffer = buffer,
        .ret_options = ret_options,
        .ret_counts = ret_counts,
    };

    if (!store || !name || !lbx__box_name_valid(name) ||
        (ret_options && !buffer))
        return LBX_INVALID;
    return lbx__call_now(store, LBX_VERB_DESCRIBE, &request);
}

lbx_status
lbx_store_list_boxes(lbx_store *store, const char *prefix, const char *after,
                     bool (*each)(void *context, const char *name),
                     void *context)
{
    lbx_list_request request = {
        .prefix = prefix,
        .after = after,
        .each = each,
        .context = context,
    };

    if (!store || !each)
        return LBX_INVALID;
    return lbx__call_now(store, LBX_VERB_LIST, &request);
}

lbx_status
lbx_store_sync(lbx_store *store)
{
    return store ? lbx__call_now(store, LBX_VERB_SYNC, NULL) : LBX_INVALID;
}

/* Moving. */

static lbx_status
find_box(lbx_store *store, const char *name, lbx_box *ret)
{
    lbx_box_request request = {.name = name};
    lbx_status status;

    if (!store || !name || !lbx__box_name_valid(name))
        return LBX_INVALID;
    status = lbx__call_now(store, LBX_VERB_DESCRIBE, &request);
    *ret = request.ret_box;
    return status;
}

static lbx_status
move(lbx_store *store, const char *from, lbx_move_request *request)
{
    lbx_status status = find_box(store, from, &request->from);

    return status == LBX_OK ? lbx__call_now(store, LBX_VERB_MOVE, request)
                            : status;
}

lbx_status
lbx_store_move(lbx_store *store, const char *from, const char *to,
               int64_t letters_per_second)
{
    lbx_move_request request = {
        .what = LBX_MOVE_START,
        .letters_per_second = letters_per_second,
    };
    lbx_status status;

    if (letters_per_second < 0)
        return LBX_INVALID;
    if (to) {
        status = find_box(store, to, &request.to);
        if (status != LBX_OK)
            return status;
    }
    return move(store, from, &request);
}

lbx_status
lbx_store_move_state(lbx_store *store, const char *from, lbx_move_state *ret)
{
    lbx_move_request request = {.what = LBX_MOVE_READ};
    lbx_status status;

    if (!ret)
        return LBX_INVALID;
    status = move(store, from, &request);
    if (status == LBX_OK)
        *ret = request.ret;
    return status;
}

lbx_status
lbx_store_cancel_move(lbx_store *store, const char *from)
{
    lbx_move_request request = {.what = LBX_MOVE_CANCEL};

    return move(store, from, &request);
}

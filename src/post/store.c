/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbx_store: references, and its boxes by name. STORE-1 and STORE-2 are in
 * store.h.
 *
 * A function for boxes makes one or two calls of the store in the caller's
 * thread.
 */
#include "post/store.h"

#include "base/fault.h"
#include "base/refs.h"
#include "base/sized.h"
#include "post/box.h"
#include "post/call.h"
#include "post/stores.h"

#include <pthread.h>
#include <string.h>

_Atomic(uint32_t) lbx__store_life = 1;
static pthread_once_t store_watch_once = PTHREAD_ONCE_INIT;

static void
store_begin_life(void)
{
    // Relaxed: a child has one thread.
    (void)lbx__add(&lbx__store_life, 1, relaxed);
}

static void
store_watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, store_begin_life);
}

uint32_t
lbx__store_life_now(void)
{
    (void)pthread_once(&store_watch_once, store_watch_forks);
    // Relaxed: as in lbx__store_is_ours().
    return lbx__load(&lbx__store_life, relaxed);
}

LBX__SIZED(store_ops_sized, lbx_store_ops, close, LBX_STORE_OPS_INIT);

static bool
store_ops_usable(const lbx_store_ops *ops)
{
    return ops && lbx__sized_check(ops, &store_ops_sized, NULL) == LBX_OK &&
           ops->scheme && ops->durability && ops->create && ops->configure &&
           ops->remove && ops->describe && ops->list && ops->send &&
           ops->receive && ops->settle && ops->cancel && ops->close &&
           !ops->receipt_text == !ops->receipt_parse;
}

lbx_status
lbx_store_init(lbx_store *store, const lbx_store_ops *ops)
{
    lbx__store_private *own;

    if (!store || !store_ops_usable(ops))
        return LBX_INVALID;
    own = lbx__store_private_of(store);
    memset(store, 0, sizeof(*store));
    store->ops = ops;
    lbx__init(&own->users, 1);
    lbx__init(&own->awake, 0);
    own->vain = 0;
    own->life = lbx__store_life_now();
    lbx__call_queue_init(&own->calls);
    return LBX_OK;
}

void
lbx__store_set_clock(lbx_store *store, const lbx_clock *clock)
{
    lbx__store_private_of(store)->clock = clock;
}

lbx_store *
lbx_store_ref(lbx_store *store)
{
    if (store)
        lbx__refs_add(&lbx__store_private_of(store)->users);
    return store;
}

void
lbx_store_unref(lbx_store *store)
{
    lbx__store_private *own;
    void *listed;

    if (!store)
        return;
    own = lbx__store_private_of(store);
    listed = own->listed;
    if (listed) {
        if (!lbx__stores_unref(store))
            return;
    } else if (!lbx__refs_drop(&own->users)) {
        return;
    }
    if (lbx__store_is_ours(store))
        store->ops->close(store);
    lbx__stores_closed(listed);
}

const char *
lbx_store_scheme(const lbx_store *store)
{
    return store ? store->ops->scheme : NULL;
}

lbx_durability
lbx_store_durability(const lbx_store *store)
{
    if (!store || !lbx__store_is_ours(store))
        return LBX_DURABILITY_NONE;
    return store->ops->durability((lbx_store *)(uintptr_t)store);
}

/* ---- Boxes by name ---- */

static lbx_status
store_set_box(lbx_store *store, lbx_call_kind verb, const char *name,
              const lbx_box_options *options, lbx_fault *fault)
{
    lbx_box_options own;
    lbx_box_request request = {
        .name = name,
        .options = lbx__box_view_options(options, &own, fault),
    };
    lbx_status status;

    if (!request.options)
        return LBX_INVALID;
    if (!store)
        return lbx__fault_set(fault, LBX_INVALID, "the store is NULL");
    status = lbx__box_check(name, request.options, fault);
    if (status != LBX_OK)
        return status;
    status = lbx__call_run(store, verb, &request);
    return lbx__box_fault_explain(store, verb, &request, status, fault);
}

lbx_status
lbx_store_create_box(lbx_store *store, const char *name,
                     const lbx_box_options *options, lbx_fault *fault)
{
    return store_set_box(store, LBX_CALL_CREATE, name, options, fault);
}

lbx_status
lbx_store_configure_box(lbx_store *store, const char *name,
                        const lbx_box_options *options, lbx_fault *fault)
{
    if (!options)
        return lbx__fault_set(fault, LBX_INVALID,
                              "there are no options to change to: NULL");
    return store_set_box(store, LBX_CALL_CONFIGURE, name, options, fault);
}

lbx_status
lbx_store_delete_box(lbx_store *store, const char *name)
{
    lbx_box_request request = {.name = name};

    if (!store || !name || !lbx__box_name_valid(name))
        return LBX_INVALID;
    return lbx__call_run(store, LBX_CALL_DELETE, &request);
}

lbx_status
lbx_store_describe_box(lbx_store *store, const char *name, char *buffer,
                       lbx_box_options *ret_options, lbx_box_counts *ret_counts)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_box_request request = {
        .name = name,
        .buffer = buffer,
        .ret_options = ret_options ? &options : NULL,
        .ret_counts = ret_counts ? &counts : NULL,
    };
    lbx_status status;

    if (!store || !name || !lbx__box_name_valid(name) ||
        (ret_options && !buffer))
        return LBX_INVALID;
    status = lbx__call_run(store, LBX_CALL_DESCRIBE, &request);
    if (status == LBX_OK && ret_options)
        status = LBX__SIZED_WRITE(ret_options, &options, lbx_box_options,
                                  dead_letter_box_count);
    if (status == LBX_OK && ret_counts)
        status =
            LBX__SIZED_WRITE(ret_counts, &counts, lbx_box_counts, oldest_ns);
    return status;
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
    return lbx__call_run(store, LBX_CALL_LIST, &request);
}

lbx_status
lbx_store_sync(lbx_store *store)
{
    return store ? lbx__call_run(store, LBX_CALL_SYNC, NULL) : LBX_INVALID;
}

/* ---- Moving ---- */

static lbx_status
store_find_box(lbx_store *store, const char *name, lbx_box *ret)
{
    lbx_box_request request = {.name = name};
    lbx_status status;

    if (!store || !name || !lbx__box_name_valid(name))
        return LBX_INVALID;
    status = lbx__call_run(store, LBX_CALL_DESCRIBE, &request);
    *ret = request.ret_box;
    return status;
}

static lbx_status
store_move_call(lbx_store *store, const char *from, lbx_move_request *request)
{
    lbx_status status = store_find_box(store, from, &request->from);

    return status == LBX_OK ? lbx__call_run(store, LBX_CALL_MOVE, request)
                            : status;
}

lbx_status
lbx_store_start_move(lbx_store *store, const char *from, const char *to,
                     int64_t letters_per_second)
{
    lbx_move_progress started = LBX_MOVE_PROGRESS_INIT;
    lbx_move_request request = {
        .action = LBX_MOVE_ACTION_START,
        .letters_per_second = letters_per_second,
        .ret = &started,
    };
    lbx_status status;

    if (letters_per_second < 0)
        return LBX_INVALID;
    if (to) {
        status = store_find_box(store, to, &request.to);
        if (status != LBX_OK)
            return status;
    }
    return store_move_call(store, from, &request);
}

lbx_status
lbx_store_describe_move(lbx_store *store, const char *from,
                        lbx_move_progress *ret)
{
    lbx_move_progress progress = LBX_MOVE_PROGRESS_INIT;
    lbx_move_request request = {.action = LBX_MOVE_ACTION_DESCRIBE,
                                .ret = &progress};
    lbx_status status;

    if (!ret)
        return LBX_INVALID;
    status = store_move_call(store, from, &request);
    if (status == LBX_OK)
        status =
            LBX__SIZED_WRITE(ret, &progress, lbx_move_progress, started_ms);
    return status;
}

lbx_status
lbx_store_cancel_move(lbx_store *store, const char *from)
{
    lbx_move_request request = {.action = LBX_MOVE_ACTION_CANCEL};

    return store_move_call(store, from, &request);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Storage and calls; the rules are in double_rules.c. */
#include "double.h"

#include "base/park.h"

struct world world = {.time = TEST_CLOCK_INIT};

void
gate_pass(struct gate *gate)
{
    atomic_fetch_add(&gate->there, 1);
    EVENTUALLY(atomic_load(&gate->closed) == 0);
    atomic_fetch_sub(&gate->there, 1);
}

/* ---- Storage ---- */

static void
check_thread(void)
{
    const uintptr_t owner = atomic_load(&world.thread);

    CHECK(owner == 0 || owner == lbx__thread_self());
}

static lbx_status
begin(lbx__storage *storage)
{
    (void)storage;
    check_thread();
    atomic_fetch_add(&world.begun, 1);
    return (lbx_status)atomic_load(&world.begin);
}

static lbx_status
get(lbx__storage *storage, lbx__table table, lbx__bytes key,
    lbx__bytes *ret_value)
{
    (void)storage;
    (void)table;
    (void)key;
    (void)ret_value;
    return LBX_NOT_FOUND;
}

static uint64_t
commit(lbx__storage *storage)
{
    (void)storage;
    check_thread();
    return (uint64_t)atomic_load(&world.begun);
}

static lbx_status
flush(lbx__storage *storage, uint64_t ticket)
{
    const lbx_status status = (lbx_status)atomic_load(&world.flush);

    (void)storage;
    check_thread();
    CHECK_INT(atomic_load(&world.begun), ticket);
    gate_pass(&world.at_flush);
    atomic_fetch_add(&world.flushed, 1);
    if (status != LBX_OK)
        atomic_store(&world.begin, LBX_IO); // STORAGE-2: poisoned
    return status;
}

static lbx_status
sync_all(lbx__storage *storage)
{
    (void)storage;
    check_thread();
    atomic_fetch_add(&world.synced, 1);
    return (lbx_status)atomic_load(&world.sync);
}

static int64_t
now(lbx__storage *storage)
{
    (void)storage;
    check_thread();
    return lbx_clock_now(world.real ? NULL : &world.clock);
}

static lbx_durability
durability(lbx__storage *storage)
{
    const int level = atomic_load(&world.durability);

    (void)storage;
    return level ? (lbx_durability)level : LBX_DURABILITY_PROCESS;
}

static void
close_storage(lbx__storage *storage)
{
    (void)storage;
    check_thread();
    atomic_fetch_add(&world.closed, 1);
}

static const lbx__storage_ops storage_ops = {
    .scheme = "double",
    .begin = begin,
    .get = get,
    .commit = commit,
    .flush = flush,
    .sync = sync_all,
    .now = now,
    .durability = durability,
    .close = close_storage,
};

static uint32_t
notifications(lbx__storage *storage)
{
    (void)storage;
    return atomic_load(&world.notices);
}

static void
sleep_for_notice(lbx__storage *storage, uint32_t seen, int64_t wait_ns)
{
    (void)storage;
    atomic_store(&world.wait_ns, wait_ns);
    atomic_store(&world.sleeps, true);
    lbx__futex_wait(&world.notices, seen, wait_ns);
    atomic_store(&world.sleeps, false);
}

static void
notify(lbx__storage *storage)
{
    (void)storage;
    atomic_fetch_add(&world.notices, 1);
    lbx__futex_wake(&world.notices, 1);
}

static bool
has_join_request(const lbx__storage *storage)
{
    (void)storage;
    return false;
}

static lbx_status
open_storage(void *context, lbx__storage **ret)
{
    static lbx__storage storage;
    static lbx__storage_ops shared_ops;
    const bool *one_thread = context;

    if (world.open != LBX_OK)
        return world.open;
    atomic_store(&world.thread, *one_thread ? lbx__thread_self() : 0);
    shared_ops = storage_ops;
    shared_ops.notifications = notifications;
    shared_ops.sleep = sleep_for_notice;
    shared_ops.notify = notify;
    shared_ops.has_join_request = has_join_request;
    storage = (lbx__storage){.ops = world.shared ? &shared_ops : &storage_ops};
    *ret = &storage;
    return LBX_OK;
}

lbx__service_options
double_options(bool one_thread)
{
    static bool is_one;

    is_one = one_thread;
    world.clock = test_clock_interface(&world.time);
    return (lbx__service_options){
        .open = open_storage,
        .context = &is_one,
        .one_thread = one_thread,
        .manual_clock = !world.real,
    };
}

lbx_store *
open_with(const lbx__service_options *options)
{
    lbx_store *store;

    CHECK_OK(lbx__service_open(options, &store));
    // The thread looks for background work first; tests begin after that.
    if (options->one_thread && !atomic_load(&world.at_flush.closed) &&
        atomic_load(&world.begin) == LBX_OK)
        EVENTUALLY(atomic_load(&world.flushed) > 0);
    return store;
}

lbx_store *
open_double(bool one_thread)
{
    const lbx__service_options options = double_options(one_thread);

    return open_with(&options);
}

void
close_double(lbx_store *store)
{
    store->ops->close(store);
    EVENTUALLY(atomic_load(&world.closed) == 1);
}

void
end_double(lbx_store **store)
{
    close_double(*store);
}

void
pass(lbx_store *store, int64_t duration_ns)
{
    test_clock_advance(&world.time, duration_ns);
    store->ops->tick(store);
}

/* ---- The library's side of stores and calls ---- */

lbx_status
lbx_store_init(lbx_store *store, const lbx_store_ops *ops)
{
    *store = (lbx_store){.ops = ops};
    return LBX_OK;
}

void
lbx_call_finish(lbx_call *call, lbx_status status)
{
    struct ask *ask = (struct ask *)call;

    CHECK(status != LBX_PENDING);
    ask->status = status;
    if (ask->then)
        ask->then(ask);
    CHECK_INT(0, atomic_fetch_add(&ask->over, 1)); // once
}

lbx_status
lbx_call_deliver(lbx_call *call, const lbx_delivery *delivery)
{
    struct ask *ask = (struct ask *)call;

    CHECK_INT(LBX_CALL_RECEIVE, call->kind);
    CHECK(ask->count < LBX_MAX_BATCH);
    ask->sequences[ask->count++] = delivery->sequence;
    return LBX_OK;
}

static void
prepare(struct ask *ask, lbx_store *store)
{
    *ask = (struct ask){
        .store = store,
        .status = LBX_PENDING,
        .then = ask->then,
        .context = ask->context,
    };
}

static void
answer(struct ask *ask, lbx_status status)
{
    if (status != LBX_PENDING)
        lbx_call_finish(&ask->call, status);
}

void
ask_send(struct ask *ask, lbx_store *store, uint64_t box, int64_t delay_ns)
{
    prepare(ask, store);
    ask->parcel = (lbx_parcel){.body = "x", .body_bytes = 1};
    ask->parcel.delay_ns = delay_ns;
    ask->sent.status = LBX_PENDING;
    ask->request.send = (lbx_send_request){{box}, &ask->parcel, 1, &ask->sent};
    answer(ask, store->ops->send(store, &ask->call, &ask->request.send));
}

void
ask_receive_some(struct ask *ask, lbx_store *store, uint64_t box, uint32_t most,
                 uint32_t least)
{
    prepare(ask, store);
    ask->request.receive = (lbx_receive_request){
        .box = {box},
        .max_letters = most,
        .min_letters = least,
        .lease_ns = LBX_SECOND,
        .wait_ns = -1,
    };
    answer(ask, store->ops->receive(store, &ask->call, &ask->request.receive));
}

void
ask_receive(struct ask *ask, lbx_store *store, uint64_t box, int64_t wait_ns)
{
    prepare(ask, store);
    ask->request.receive = (lbx_receive_request){
        .box = {box},
        .max_letters = 1,
        .min_letters = 1,
        .lease_ns = LBX_SECOND,
        .wait_ns = wait_ns,
    };
    answer(ask, store->ops->receive(store, &ask->call, &ask->request.receive));
}

void
ask_attempt(struct ask *ask, lbx_store *store, uint64_t box)
{
    prepare(ask, store);
    ask->request.receive = (lbx_receive_request){
        .box = {box},
        .max_letters = 1,
        .min_letters = 1,
        .lease_ns = LBX_SECOND,
        .wait_ns = -1,
        .attempt_id = "again",
    };
    answer(ask, store->ops->receive(store, &ask->call, &ask->request.receive));
}

void
ask_delete(struct ask *ask, lbx_store *store, uint64_t box)
{
    prepare(ask, store);
    ask->request.box = (lbx_box_request){.box = {box}};
    answer(ask, store->ops->remove(store, &ask->call, &ask->request.box));
}

void
ask_purge(struct ask *ask, lbx_store *store, uint64_t box)
{
    prepare(ask, store);
    ask->request.box = (lbx_box_request){.box = {box}};
    answer(ask, store->ops->purge(store, &ask->call, &ask->request.box));
}

void
ask_list(struct ask *ask, lbx_store *store,
         bool (*each)(void *context, const char *name), void *context)
{
    prepare(ask, store);
    ask->request.list = (lbx_list_request){.each = each, .context = context};
    answer(ask, store->ops->list(store, &ask->call, &ask->request.list));
}

void
ask_sync(struct ask *ask, lbx_store *store)
{
    prepare(ask, store);
    answer(ask, store->ops->sync(store, &ask->call));
}

bool
is_over(struct ask *ask)
{
    return atomic_load(&ask->over) > 0;
}

lbx_status
end_of(struct ask *ask)
{
    EVENTUALLY(is_over(ask));
    CHECK_INT(1, atomic_load(&ask->over));
    return ask->status;
}

lbx_status
cancel(struct ask *ask)
{
    ask->store->ops->cancel(ask->store, &ask->call);
    return end_of(ask);
}

lbx_status
send_now(lbx_store *store, uint64_t box)
{
    struct ask ask = {.count = 0};

    ask_send(&ask, store, box, 0);
    return end_of(&ask);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A service under test; see testbed.h. */
#include "explorer/points.h"

#include "base/alloc.h"
#include "base/park.h"
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/testbed.h"
#include "post/rules/receipt.h"
#include "post/service/internal.h"

#include <string.h>

struct testbed_call {
    lbx_call base; /* first */
    union {
        lbx_send_request send;
        lbx_receive_request receive;
    } request;
    lbx_parcel parcel;
    lbx_sent_letter sent;
    unsigned letters; /* delivered */
    lbx_status status;
    _Atomic(uint32_t) over;
};

struct lbx__rules {
    lbx__box_change changes[1];
    size_t change_count;
    unsigned letters; /* ready */
};

static struct {
    lbx__service *service;
    _Atomic(uint32_t) clients;
    lbx__storage storage;
    _Atomic(uint32_t) notifications;
    _Atomic(uint32_t) outside; /* letters that another process has put there */
    lbx__rules rules;
    uint64_t ticket;
    unsigned sent[EXPLORER_THREADS + 1]; /* by thread, for testbed_check() */
    unsigned received[EXPLORER_THREADS + 1];
} testbed;

/* ---- Storage ---- */

static lbx_status
begin(lbx__storage *storage)
{
    (void)storage;
    return LBX_OK;
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
    return ++testbed.ticket;
}

static lbx_status
flush(lbx__storage *storage, uint64_t ticket)
{
    (void)storage;
    (void)ticket;
    return LBX_OK;
}

static int64_t
now(lbx__storage *storage)
{
    (void)storage;
    return LBX_SECOND; // it stands
}

static lbx_durability
durability(lbx__storage *storage)
{
    (void)storage;
    return LBX_DURABILITY_NONE;
}

static uint32_t
notifications(lbx__storage *storage)
{
    (void)storage;
    return lbx__load(&testbed.notifications, seq_cst);
}

static void
notify(lbx__storage *storage)
{
    (void)storage;
    (void)lbx__add(&testbed.notifications, 1, seq_cst);
    lbx__futex_wake(&testbed.notifications, 1);
}

static void
sleep_until_notified(lbx__storage *storage, uint32_t seen, int64_t wait_ns)
{
    (void)storage;
    lbx__futex_wait(&testbed.notifications, seen, wait_ns);
}

static bool
has_join_request(const lbx__storage *storage)
{
    (void)storage;
    return false;
}

static void
close_storage(lbx__storage *storage)
{
    (void)storage;
}

#define PLAIN_OPS                                                              \
    .scheme = "testbed", .begin = begin, .get = get, .commit = commit,         \
    .flush = flush, .now = now, .durability = durability,                      \
    .close = close_storage

static const lbx__storage_ops plain_ops = {PLAIN_OPS};

static const lbx__storage_ops shared_ops = {
    PLAIN_OPS,
    .notifications = notifications,
    .notify = notify,
    .sleep = sleep_until_notified,
    .has_join_request = has_join_request,
};

static lbx_status
open_storage(void *context, lbx__storage **ret)
{
    (void)context;
    *ret = &testbed.storage;
    return LBX_OK;
}

/* ---- Rules ---- */

lbx_status
lbx__rules_open(lbx__storage *storage, const lbx__rules_options *options,
                lbx__rules **ret)
{
    (void)storage;
    (void)options;
    *ret = &testbed.rules;
    return LBX_OK;
}

void
lbx__rules_close(lbx__rules *rules)
{
    (void)rules;
}

uint64_t
lbx__box_record_commit(lbx__rules *rules)
{
    (void)rules;
    return lbx__storage_commit(&testbed.storage);
}

size_t
lbx__box_record_take_changes(lbx__rules *rules, const lbx__box_change **ret)
{
    const size_t count = rules->change_count;

    *ret = rules->changes;
    rules->change_count = 0;
    return count;
}

const uint8_t *
lbx__rules_key(const lbx__rules *rules)
{
    static const uint8_t key[LBX__STORE_KEY_BYTES] = {1};

    (void)rules;
    return key;
}

lbx_status
lbx__send_apply(lbx__rules *rules, lbx_send_request *request)
{
    rules->letters++;
    request->sent->status = LBX_OK;
    rules->changes[0] = (lbx__box_change){request->box.uid, 0};
    rules->change_count = 1;
    return LBX_OK;
}

lbx_status
lbx__receive_apply(lbx__rules *rules, const lbx_receive_request *request,
                   uint32_t before, const lbx__sink *sink, uint32_t *ret_count)
{
    (void)request;
    (void)before;
    *ret_count = 0;
    if (testbed.storage.ops == &shared_ops)
        rules->letters += lbx__exchange(&testbed.outside, 0u, seq_cst);
    if (rules->letters == 0)
        return LBX_EMPTY;
    rules->letters--;
    EXPECT_OK(sink->deliver(sink->context, &(lbx_delivery){.sequence = 1}));
    *ret_count = 1;
    return LBX_OK;
}

lbx_status
lbx__receive_next_due(lbx__rules *rules, lbx_box box, int64_t *ret_due_ns)
{
    (void)rules;
    (void)box;
    *ret_due_ns = LBX_FOREVER;
    return LBX_OK;
}

lbx_status
lbx__background_work(lbx__rules *rules, uint32_t budget, int64_t *ret_due_ns)
{
    (void)rules;
    (void)budget;
    *ret_due_ns = LBX_FOREVER;
    return LBX_OK;
}

/* Not asked for here. */
#define UNUSED(name, type)                                                     \
    lbx_status name(lbx__rules *rules, type *request)                          \
    {                                                                          \
        (void)rules;                                                           \
        (void)request;                                                         \
        return LBX_UNSUPPORTED;                                                \
    }

UNUSED(lbx__box_admin_create, lbx_box_request)
UNUSED(lbx__box_admin_configure, lbx_box_request)
UNUSED(lbx__box_admin_delete, lbx_box_request)
UNUSED(lbx__catalog_describe, lbx_box_request)
UNUSED(lbx__box_admin_purge, lbx_box_request)
UNUSED(lbx__settle_apply, lbx_settle_request)
UNUSED(lbx__settle_undo, lbx_settle_request)
UNUSED(lbx__move_apply, lbx_move_request)
UNUSED(lbx__catalog_list, const lbx_list_request)

lbx_status
lbx__receive_peek(lbx__rules *rules, const lbx_peek_request *request,
                  const lbx__sink *sink)
{
    (void)rules;
    (void)request;
    (void)sink;
    return LBX_UNSUPPORTED;
}

lbx_status
lbx__mac_create(const lbx_allocator *allocator, const void *key,
                size_t key_size, lbx__mac **ret)
{
    (void)allocator;
    (void)key;
    (void)key_size;
    *ret = NULL;
    return LBX_OK;
}

void
lbx__mac_destroy(lbx__mac *mac)
{
    (void)mac;
}

lbx_status
lbx__receipt_text(lbx__mac *mac, const lbx__receipt *receipt,
                  char text[LBX__RECEIPT_TEXT])
{
    (void)mac;
    (void)receipt;
    (void)text;
    return LBX_UNSUPPORTED;
}

lbx_status
lbx__receipt_parse(lbx__mac *mac, const char *text, lbx__receipt *ret)
{
    (void)mac;
    (void)text;
    (void)ret;
    return LBX_UNSUPPORTED;
}

/* ---- Calls ---- */

lbx_status
lbx_store_init(lbx_store *store, const lbx_store_ops *ops)
{
    *store = (lbx_store){.ops = ops};
    return LBX_OK;
}

static void
end(struct testbed_call *call, lbx_status status)
{
    call->status = status;
    EXPECT(lbx__add(&call->over, 1, seq_cst) == 0); // once
    lbx__futex_wake(&call->over, 1);
}

static void
finish(lbx_call *call, lbx_status status)
{
    end((struct testbed_call *)call, status);
}

static lbx_status
deliver(lbx_call *call, const lbx_delivery *delivery)
{
    (void)delivery;
    ((struct testbed_call *)call)->letters++;
    return LBX_OK;
}

static const lbx_call_sink client_sink = {finish, deliver};

static struct testbed_call *
make(void)
{
    return lbx__zalloc(&explorer_memory, sizeof(struct testbed_call));
}

static struct testbed_call *
begun(struct testbed_call *call, lbx_status status)
{
    if (status != LBX_PENDING)
        end(call, status);
    return call;
}

struct testbed_call *
testbed_send(void)
{
    lbx_store *store = &testbed.service->base;
    struct testbed_call *call = make();

    call->request.send = (lbx_send_request){{1}, &call->parcel, 1, &call->sent};
    lbx_call_init(&call->base, &client_sink, LBX_CALL_SEND,
                  &call->request.send);
    return begun(call,
                 store->ops->send(store, &call->base, &call->request.send));
}

struct testbed_call *
testbed_receive(void)
{
    lbx_store *store = &testbed.service->base;
    struct testbed_call *call = make();

    call->request.receive = (lbx_receive_request){
        .box = {1}, .max_letters = 1, .min_letters = 1, .wait_ns = -1};
    lbx_call_init(&call->base, &client_sink, LBX_CALL_RECEIVE,
                  &call->request.receive);
    return begun(
        call, store->ops->receive(store, &call->base, &call->request.receive));
}

void
testbed_cancel(struct testbed_call *call)
{
    lbx_store *store = &testbed.service->base;

    store->ops->cancel(store, &call->base);
}

lbx_status
testbed_await(struct testbed_call *call)
{
    const int self = explorer_thread() + 1;
    lbx_status status;

    while (lbx__load(&call->over, seq_cst) == 0)
        lbx__futex_wait(&call->over, 0, -1);
    status = call->status;
    EXPECT(status == LBX_OK || status == LBX_CANCELLED);
    EXPECT(call->letters ==
           (status == LBX_OK && call->base.kind == LBX_CALL_RECEIVE));
    testbed.received[self] += call->letters;
    testbed.sent[self] += status == LBX_OK && call->base.kind == LBX_CALL_SEND;
    lbx__free(&explorer_memory, call, sizeof(*call));
    return status;
}

void
testbed_tick(void)
{
    testbed.service->base.ops->tick(&testbed.service->base);
}

void
testbed_send_from_outside(void)
{
    testbed.sent[explorer_thread() + 1]++;
    (void)lbx__add(&testbed.outside, 1, seq_cst);
    notify(&testbed.storage);
}

/* ---- The service ---- */

/* lbx__service_open() would wait for the thread, which runs when the scenario
 * does: nothing that is asked before it has opened is lost, either. */
static void
open_service(bool one_thread, unsigned clients, const lbx__storage_ops *ops)
{
    lbx__service *service = lbx__zalloc(&explorer_memory, sizeof(lbx__service));

    memset(&testbed, 0, sizeof(testbed));
    testbed.service = service;
    testbed.storage.ops = ops;
    lbx__init(&testbed.clients, clients);
    service->options = (lbx__service_options){
        .allocator = &explorer_memory,
        .open = open_storage,
        .one_thread = one_thread,
        .manual_clock = true,
    };
    service->ops = lbx__service_ops;
    service->wake_ns = LBX_FOREVER;
    lbx__waiters_init(&service->waiters, &explorer_memory);
    if (one_thread)
        EXPECT(lbx__thread_start(service));
    else
        EXPECT_OK(lbx__lifecycle_open(service));
    EXPECT_OK(lbx_store_init(&service->base, &service->ops));
}

void
testbed_open(bool one_thread, unsigned clients)
{
    open_service(one_thread, clients, &plain_ops);
}

void
testbed_open_shared(unsigned clients)
{
    open_service(true, clients, &shared_ops);
}

void
testbed_work(void)
{
    explorer_be_thread(0);
}

void
testbed_leave(void)
{
    lbx_store *store = &testbed.service->base;

    if (lbx__sub(&testbed.clients, 1, seq_cst) == 1)
        store->ops->close(store);
}

void
testbed_check(void)
{
    unsigned sent = 0, received = 0;

    for (int i = 0; i <= EXPLORER_THREADS; i++) {
        sent += testbed.sent[i];
        received += testbed.received[i];
    }
    EXPECT(sent == received + testbed.rules.letters +
                       lbx__load(&testbed.outside, seq_cst));
}

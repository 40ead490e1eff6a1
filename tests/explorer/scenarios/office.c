/* SPDX-License-Identifier: Apache-2.0 */
/* A post office; see office.h. */
#include "explorer/points.h"

#include "base/alloc.h"
#include "base/park.h"
#include "explorer/scenarios/office.h"
#include "explorer/scenarios/scenarios.h"
#include "post/rules/receipt.h"
#include "post/service/internal.h"

#include <string.h>

struct errand {
    lbx_call call; /* first */
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
    _Atomic(uint32_t) bell;
    _Atomic(uint32_t) outside; /* letters that another process has put there */
    lbx__rules rules;
    uint64_t ticket;
    unsigned sent[EXPLORER_THREADS + 1]; /* by thread, for office_check() */
    unsigned received[EXPLORER_THREADS + 1];
} office;

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
    return ++office.ticket;
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
bell(lbx__storage *storage)
{
    (void)storage;
    return lbx__load(&office.bell, seq_cst);
}

static void
ring(lbx__storage *storage)
{
    (void)storage;
    (void)lbx__add(&office.bell, 1, seq_cst);
    lbx__futex_wake(&office.bell, 1);
}

static void
sleep_on_bell(lbx__storage *storage, uint32_t seen, int64_t wait_ns)
{
    (void)storage;
    lbx__futex_wait(&office.bell, seen, wait_ns);
}

static bool
is_called(const lbx__storage *storage)
{
    (void)storage;
    return false;
}

static void
close_storage(lbx__storage *storage)
{
    (void)storage;
}

static const lbx__storage_ops plain_ops = {
    .scheme = "office",
    .begin = begin,
    .get = get,
    .commit = commit,
    .flush = flush,
    .now = now,
    .durability = durability,
    .close = close_storage,
};

static const lbx__storage_ops shared_ops = {
    .scheme = "office",
    .begin = begin,
    .get = get,
    .commit = commit,
    .flush = flush,
    .now = now,
    .durability = durability,
    .notifications = bell,
    .notify = ring,
    .sleep = sleep_on_bell,
    .has_join_request = is_called,
    .close = close_storage,
};

static lbx_status
open_storage(void *context, lbx__storage **ret)
{
    (void)context;
    *ret = &office.storage;
    return LBX_OK;
}

/* ---- Rules ---- */

lbx_status
lbx__rules_open(lbx__storage *storage, const lbx__rules_options *options,
                lbx__rules **ret)
{
    (void)storage;
    (void)options;
    *ret = &office.rules;
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
    return lbx__storage_commit(&office.storage);
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
    if (office.storage.ops == &shared_ops)
        rules->letters += lbx__exchange(&office.outside, 0u, seq_cst);
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

/* ---- Errands ---- */

lbx_status
lbx_store_init(lbx_store *store, const lbx_store_ops *ops)
{
    *store = (lbx_store){.ops = ops};
    return LBX_OK;
}

static void
end(struct errand *errand, lbx_status status)
{
    errand->status = status;
    EXPECT(lbx__add(&errand->over, 1, seq_cst) == 0); // once
    lbx__futex_wake(&errand->over, 1);
}

void
lbx_call_finish(lbx_call *call, lbx_status status)
{
    end((struct errand *)call, status);
}

lbx_status
lbx_call_deliver(lbx_call *call, const lbx_delivery *delivery)
{
    (void)delivery;
    ((struct errand *)call)->letters++;
    return LBX_OK;
}

static struct errand *
make(void)
{
    return lbx__zalloc(&explorer_memory, sizeof(struct errand));
}

static struct errand *
begun(struct errand *errand, lbx_status status)
{
    if (status != LBX_PENDING)
        end(errand, status);
    return errand;
}

struct errand *
office_send(void)
{
    lbx_store *store = &office.service->base;
    struct errand *errand = make();

    errand->request.send =
        (lbx_send_request){{1}, &errand->parcel, 1, &errand->sent};
    return begun(errand,
                 store->ops->send(store, &errand->call, &errand->request.send));
}

struct errand *
office_receive(void)
{
    lbx_store *store = &office.service->base;
    struct errand *errand = make();

    errand->request.receive = (lbx_receive_request){
        .box = {1}, .max_letters = 1, .min_letters = 1, .wait_ns = -1};
    return begun(errand, store->ops->receive(store, &errand->call,
                                             &errand->request.receive));
}

void
office_cancel(struct errand *errand)
{
    lbx_store *store = &office.service->base;

    store->ops->cancel(store, &errand->call);
}

lbx_status
office_await(struct errand *errand)
{
    const int self = explorer_thread() + 1;
    lbx_status status;

    while (lbx__load(&errand->over, seq_cst) == 0)
        lbx__futex_wait(&errand->over, 0, -1);
    status = errand->status;
    EXPECT(status == LBX_OK || status == LBX_CANCELLED);
    EXPECT(errand->letters ==
           (status == LBX_OK && errand->call.kind == LBX_CALL_RECEIVE));
    office.received[self] += errand->letters;
    office.sent[self] += status == LBX_OK && errand->call.kind == LBX_CALL_SEND;
    lbx__free(&explorer_memory, errand, sizeof(*errand));
    return status;
}

void
office_tick(void)
{
    office.service->base.ops->tick(&office.service->base);
}

void
office_send_from_outside(void)
{
    office.sent[explorer_thread() + 1]++;
    (void)lbx__add(&office.outside, 1, seq_cst);
    ring(&office.storage);
}

/* ---- The office ---- */

/* lbx__service_open() would wait for the thread, which runs when the scenario
 * does: nothing that is asked before it has opened is lost, either. */
static void
open_service(bool one_thread, unsigned clients, const lbx__storage_ops *ops)
{
    lbx__service *service = lbx__zalloc(&explorer_memory, sizeof(lbx__service));

    memset(&office, 0, sizeof(office));
    office.service = service;
    office.storage.ops = ops;
    lbx__init(&office.clients, clients);
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
office_open(bool one_thread, unsigned clients)
{
    open_service(one_thread, clients, &plain_ops);
}

void
office_open_shared(unsigned clients)
{
    open_service(true, clients, &shared_ops);
}

void
office_work(void)
{
    explorer_be_thread(0);
}

void
office_leave(void)
{
    lbx_store *store = &office.service->base;

    if (lbx__sub(&office.clients, 1, seq_cst) == 1)
        store->ops->close(store);
}

void
office_check(void)
{
    unsigned sent = 0, received = 0;

    for (int i = 0; i <= EXPLORER_THREADS; i++) {
        sent += office.sent[i];
        received += office.received[i];
    }
    EXPECT(sent == received + office.rules.letters +
                       lbx__load(&office.outside, seq_cst));
}

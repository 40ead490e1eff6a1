/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store before another; see relay.h.
 *
 * For each call there is a leg: a call of our own, at the store behind. It ends
 * when that has finished it; another thread may be cancelling it at that
 * moment, and so its users are counted.
 */
#include "relay.h"

#include <pthread.h>
#include <stdlib.h>

struct relay {
    lbx_store base; /* first */
    lbx_store *to;
    pthread_mutex_t lock; /* for words[0] of calls, and `users` of legs */
};

struct leg {
    lbx_call call; /* first */
    struct relay *relay;
    lbx_call *from; /* its words[0] is the leg, until it is finished */
    int users;      /* the store behind, and threads that cancel it */
};

static struct relay *
relay_of(lbx_store *store)
{
    return (struct relay *)store;
}

static void
drop(struct leg *leg)
{
    struct relay *relay = leg->relay;
    int users;

    pthread_mutex_lock(&relay->lock);
    users = --leg->users;
    pthread_mutex_unlock(&relay->lock);
    if (users == 0)
        free(leg);
}

static void
finish(lbx_call *call, lbx_status status)
{
    struct leg *leg = (struct leg *)call;
    lbx_call *from = leg->from;

    pthread_mutex_lock(&leg->relay->lock);
    from->words[0] = NULL;
    pthread_mutex_unlock(&leg->relay->lock);
    drop(leg);
    lbx_call_finish(from, status);
}

static lbx_status
deliver(lbx_call *call, const lbx_delivery *delivery)
{
    return lbx_call_deliver(((struct leg *)call)->from, delivery);
}

static struct leg *
begin(lbx_store *store, lbx_call *from, lbx_call_kind verb, void *request)
{
    static const lbx_call_sink caller = {finish, deliver};
    struct leg *leg = calloc(1, sizeof(*leg));

    if (!leg)
        return NULL;
    leg->relay = relay_of(store);
    leg->from = from;
    leg->users = 1;
    from->words[0] = leg;
    lbx_call_init(&leg->call, &caller, verb, request);
    return leg;
}

/* A call that an entry finishes at once is not finished by `finish`. */
static lbx_status
result(struct leg *leg, lbx_status status)
{
    if (status != LBX_PENDING)
        free(leg);
    return status;
}

#define ENTRY(name, verb, type)                                                \
    static lbx_status name(lbx_store *store, lbx_call *call, type *request)    \
    {                                                                          \
        lbx_store *to = relay_of(store)->to;                                   \
        struct leg *leg = begin(store, call, verb, request);                   \
                                                                               \
        return leg ? result(leg, to->ops->name(to, &leg->call, request))       \
                   : LBX_NO_MEMORY;                                            \
    }

ENTRY(create, LBX_CALL_CREATE, lbx_box_request)
ENTRY(configure, LBX_CALL_CONFIGURE, lbx_box_request)
ENTRY(remove, LBX_CALL_DELETE, lbx_box_request)
ENTRY(describe, LBX_CALL_DESCRIBE, lbx_box_request)
ENTRY(list, LBX_CALL_LIST, lbx_list_request)
ENTRY(send, LBX_CALL_SEND, lbx_send_request)
ENTRY(receive, LBX_CALL_RECEIVE, lbx_receive_request)
ENTRY(settle, LBX_CALL_SETTLE, lbx_settle_request)
ENTRY(undo, LBX_CALL_UNDO, lbx_settle_request)
ENTRY(peek, LBX_CALL_PEEK, lbx_peek_request)
ENTRY(purge, LBX_CALL_PURGE, lbx_box_request)
ENTRY(move, LBX_CALL_MOVE, lbx_move_request)

static lbx_status
sync_all(lbx_store *store, lbx_call *call)
{
    lbx_store *to = relay_of(store)->to;
    struct leg *leg = begin(store, call, LBX_CALL_SYNC, NULL);

    return leg ? result(leg, to->ops->sync(to, &leg->call)) : LBX_NO_MEMORY;
}

static void
cancel(lbx_store *store, lbx_call *call)
{
    struct relay *relay = relay_of(store);
    struct leg *leg;

    pthread_mutex_lock(&relay->lock);
    leg = call->words[0];
    if (leg)
        leg->users++;
    pthread_mutex_unlock(&relay->lock);
    if (leg) {
        relay->to->ops->cancel(relay->to, &leg->call);
        drop(leg);
    }
}

static lbx_durability
durability(lbx_store *store)
{
    return lbx_store_durability(relay_of(store)->to);
}

static lbx_status
receipt_text(lbx_store *store, const void *receipt, size_t receipt_bytes,
             char *buffer)
{
    lbx_store *to = relay_of(store)->to;

    return to->ops->receipt_text(to, receipt, receipt_bytes, buffer);
}

static lbx_status
receipt_parse(lbx_store *store, lbx_box box, const char *text,
              void *ret_receipt, size_t *ret_bytes)
{
    lbx_store *to = relay_of(store)->to;

    return to->ops->receipt_parse(to, box, text, ret_receipt, ret_bytes);
}

static void
tick(lbx_store *store)
{
    lbx_store *to = relay_of(store)->to;

    to->ops->tick(to);
}

static void
close_relay(lbx_store *store)
{
    struct relay *relay = relay_of(store);

    lbx_store_unref(relay->to);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}

static const lbx_store_ops relay_ops = {
    .size_bytes = sizeof(lbx_store_ops),
    .scheme = "relay",
    .durability = durability,
    .create = create,
    .configure = configure,
    .remove = remove,
    .describe = describe,
    .list = list,
    .send = send,
    .receive = receive,
    .settle = settle,
    .undo = undo,
    .peek = peek,
    .purge = purge,
    .move = move,
    .sync = sync_all,
    .cancel = cancel,
    .receipt_text = receipt_text,
    .receipt_parse = receipt_parse,
    .tick = tick,
    .close = close_relay,
};

lbx_store *
relay_create(lbx_store *to)
{
    struct relay *relay = calloc(1, sizeof(*relay));

    if (!relay)
        return NULL;
    if (lbx_store_init(&relay->base, &relay_ops) != LBX_OK) {
        free(relay);
        return NULL;
    }
    relay->to = to;
    pthread_mutex_init(&relay->lock, NULL);
    return &relay->base;
}

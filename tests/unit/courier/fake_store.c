/* SPDX-License-Identifier: Apache-2.0 */
/* A fake store; see fake_store.h. */
#include "fake_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct receipt {
    uint64_t box;
    uint64_t sequence;
    uint32_t epoch;
    uint32_t zero;
};

static struct fake_store *
fake_store_of(lbx_store *store)
{
    return (struct fake_store *)(void *)store;
}

static char *
copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void
free_letter(struct fake_store_letter *letter)
{
    free(letter->body);
    free(letter->type_name);
    free(letter->routes);
    free(letter->group);
    free(letter->trace);
    free(letter->in_reply_to);
    free(letter->token);
}

/* What the test wants to happen first. */
static lbx_status
begin(struct fake_store *fake, lbx_call_kind verb, const void *request)
{
    atomic_fetch_add(&fake->calls[verb], 1);
    return fake->before ? fake->before(fake->context, verb, request) : LBX_OK;
}

static struct fake_store_box *
box_of(struct fake_store *fake, lbx_box box)
{
    CHECK(box.uid >= 1 && box.uid <= FAKE_STORE_BOXES);
    return fake->boxes[box.uid - 1];
}

static lbx_box
find_box(struct fake_store *fake, const char *name, bool create)
{
    for (size_t i = 0; i < FAKE_STORE_BOXES; i++) {
        if (!fake->boxes[i]) {
            if (!create)
                break;
            fake->boxes[i] = calloc(1, sizeof(*fake->boxes[i]));
            snprintf(fake->boxes[i]->name, LBX_BOX_NAME_BYTES, "%s", name);
        }
        if (strcmp(fake->boxes[i]->name, name) == 0)
            return (lbx_box){i + 1};
    }
    CHECK(!create);
    return (lbx_box){0};
}

static lbx_durability
durability(lbx_store *store)
{
    (void)store;
    return LBX_DURABILITY_NONE;
}

/* CREATE and DESCRIBE. */
static lbx_status
look_up(lbx_store *store, lbx_box_request *request, bool create)
{
    struct fake_store *fake = fake_store_of(store);
    static const lbx_box_options rules = LBX_BOX_OPTIONS_INIT;

    pthread_mutex_lock(&fake->lock);
    request->ret_box =
        request->box.uid ? request->box : find_box(fake, request->name, create);
    pthread_mutex_unlock(&fake->lock);
    if (request->ret_options)
        *request->ret_options = rules;
    return request->ret_box.uid ? LBX_OK : LBX_NOT_FOUND;
}

static lbx_status
create(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    (void)call;
    return look_up(store, request, true);
}

static lbx_status
describe(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    (void)call;
    return look_up(store, request, false);
}

static lbx_status
box_unsupported(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    (void)store;
    (void)call;
    (void)request;
    return LBX_UNSUPPORTED;
}

static lbx_status
list(lbx_store *store, lbx_call *call, lbx_list_request *request)
{
    (void)store;
    (void)call;
    (void)request;
    return LBX_UNSUPPORTED;
}

/* ---- Sending ---- */

static struct fake_store_letter *
find_token(struct fake_store_box *box, const char *token)
{
    for (size_t i = 0; token && i < box->count; i++)
        if (box->letters[i].token && strcmp(box->letters[i].token, token) == 0)
            return &box->letters[i];
    return NULL;
}

/* "requests-1" and so on. */
static lbx_id
id_of(const struct fake_store_box *box)
{
    lbx_id id;

    snprintf(id.text, sizeof(id.text), "%.20s-%d", box->name, (int)box->next);
    return id;
}

static void
put(struct fake_store *fake, lbx_box uid, const lbx_parcel *parcel,
    lbx_sent_letter *sent)
{
    struct fake_store_box *box = box_of(fake, uid);
    struct fake_store_letter *letter = find_token(box, parcel->token);

    if (!letter) {
        CHECK(box->count < FAKE_STORE_LETTERS);
        letter = &box->letters[box->count++];
        *letter = (struct fake_store_letter){.sequence = ++box->next};
        letter->id = id_of(box);
        letter->body = malloc(parcel->body_bytes + 1);
        memcpy(letter->body, parcel->body, parcel->body_bytes);
        letter->body[parcel->body_bytes] = '\0';
        letter->body_bytes = parcel->body_bytes;
        letter->type_name = copy_text(parcel->type_name);
        letter->routes = copy_text(parcel->routes);
        letter->group = copy_text(parcel->group);
        letter->trace = copy_text(parcel->trace);
        letter->in_reply_to = copy_text(parcel->in_reply_to);
        letter->token = copy_text(parcel->token);
        letter->due_ns = test_clock_now(fake->time) + parcel->delay_ns;
    }
    *sent = (lbx_sent_letter){
        .status = LBX_OK, .id = letter->id, .sequence = letter->sequence};
}

/* ---- Receiving ---- */

static lbx_status
deliver(struct fake_store *fake, lbx_call *call, lbx_box uid,
        struct fake_store_letter *letter, int64_t lease_ns)
{
    struct receipt receipt = {uid.uid, letter->sequence, ++letter->epoch, 0};
    const int64_t now = test_clock_now(fake->time);
    lbx_delivery delivery = {
        .parcel = {.body = letter->body,
                   .body_bytes = letter->body_bytes,
                   .type_name = letter->type_name,
                   .routes = letter->routes,
                   .group = letter->group,
                   .trace = letter->trace,
                   .in_reply_to = letter->in_reply_to},
        .id = letter->id,
        .receipt = &receipt,
        .receipt_bytes = sizeof(receipt),
        .sequence = letter->sequence,
        .sent_ms = 1,
    };
    lbx_status status;

    if (letter->first_received_ms == 0)
        letter->first_received_ms = now / LBX_MS;
    delivery.first_received_ms = letter->first_received_ms;
    delivery.delivery_count = letter->count + 1;
    status = lbx_call_deliver(call, &delivery);
    if (status != LBX_OK)
        return status;
    letter->count++;
    letter->leased = true;
    letter->due_ns = now + lease_ns;
    return LBX_OK;
}

/* Leases what is due; EMPTY when nothing is. */
static lbx_status
claim(struct fake_store *fake, lbx_call *call,
      const lbx_receive_request *request)
{
    struct fake_store_box *box = box_of(fake, request->box);
    const int64_t now = test_clock_now(fake->time);
    uint32_t found = 0;
    lbx_status status = LBX_OK;

    for (size_t i = 0; i < box->count && found < request->max_letters; i++) {
        if (box->letters[i].due_ns > now)
            continue;
        status = deliver(fake, call, request->box, &box->letters[i],
                         request->lease_ns);
        if (status != LBX_OK)
            break;
        found++;
    }
    return found > 0 ? LBX_OK : status == LBX_OK ? LBX_EMPTY : status;
}

static void
forget_waiting(struct fake_store *fake, size_t index)
{
    fake->waiting_count--;
    memmove(&fake->waiting[index], &fake->waiting[index + 1],
            (fake->waiting_count - index) * sizeof(fake->waiting[0]));
}

/* Serves waiting receives, in order; finished without the lock. */
static void
serve(struct fake_store *fake)
{
    for (;;) {
        lbx_call *served = NULL;
        lbx_status status = LBX_EMPTY;

        pthread_mutex_lock(&fake->lock);
        for (size_t i = 0; i < fake->waiting_count && !served; i++) {
            status = claim(fake, fake->waiting[i], fake->waiting[i]->request);
            if (status != LBX_EMPTY) {
                served = fake->waiting[i];
                forget_waiting(fake, i);
            }
        }
        pthread_mutex_unlock(&fake->lock);
        if (!served)
            return;
        lbx_call_finish(served, status);
    }
}

static lbx_status
receive(lbx_store *store, lbx_call *call, lbx_receive_request *request)
{
    struct fake_store *fake = fake_store_of(store);
    lbx_status status = begin(fake, LBX_CALL_RECEIVE, request);

    if (status != LBX_OK)
        return status;
    pthread_mutex_lock(&fake->lock);
    status = claim(fake, call, request);
    if (status == LBX_EMPTY && request->wait_ns != 0) {
        CHECK(fake->waiting_count < FAKE_STORE_WAITING);
        fake->waiting[fake->waiting_count++] = call;
        status = LBX_PENDING;
    }
    pthread_mutex_unlock(&fake->lock);
    return status;
}

static void
cancel(lbx_store *store, lbx_call *call)
{
    struct fake_store *fake = fake_store_of(store);
    bool found = false;

    pthread_mutex_lock(&fake->lock);
    for (size_t i = 0; i < fake->waiting_count && !found; i++) {
        found = fake->waiting[i] == call;
        if (found)
            forget_waiting(fake, i);
    }
    pthread_mutex_unlock(&fake->lock);
    if (found)
        lbx_call_finish(call, LBX_CANCELLED);
}

static lbx_status
send(lbx_store *store, lbx_call *call, lbx_send_request *request)
{
    struct fake_store *fake = fake_store_of(store);
    lbx_status status = begin(fake, LBX_CALL_SEND, request);

    (void)call;
    if (status != LBX_OK)
        return status;
    pthread_mutex_lock(&fake->lock);
    for (size_t i = 0; i < request->count; i++)
        put(fake, request->box, &request->parcels[i], &request->sent[i]);
    pthread_mutex_unlock(&fake->lock);
    serve(fake);
    return LBX_OK;
}

/* ---- Settling ---- */

static void
remove_letter(struct fake_store_box *box, size_t index)
{
    free_letter(&box->letters[index]);
    box->count--;
    memmove(&box->letters[index], &box->letters[index + 1],
            (box->count - index) * sizeof(box->letters[0]));
}

static void
settle_one(struct fake_store *fake, lbx_box uid,
           lbx_settle_request_entry *entry)
{
    struct fake_store_box *box = box_of(fake, uid);
    const int64_t now = test_clock_now(fake->time);
    struct receipt receipt;
    size_t index = 0;

    memcpy(&receipt, entry->receipt, sizeof(receipt));
    while (index < box->count &&
           box->letters[index].sequence != receipt.sequence)
        index++;
    if (index == box->count) {
        entry->status = LBX_GONE;
        return;
    }
    if (box->letters[index].epoch != receipt.epoch ||
        !box->letters[index].leased || box->letters[index].due_ns <= now) {
        entry->status = LBX_EXPIRED;
        return;
    }
    for (size_t i = 0; i < entry->attachment_count; i++)
        put(fake, entry->attachments[i].box, entry->attachments[i].parcel,
            entry->attachments[i].sent);
    entry->status = LBX_OK;
    if (entry->action == LBX_SETTLE_ACKNOWLEDGE) {
        remove_letter(box, index);
        return;
    }
    box->letters[index].due_ns = now + entry->time_ns;
    if (entry->action == LBX_SETTLE_NACK)
        box->letters[index].leased = false;
}

static lbx_status
settle(lbx_store *store, lbx_call *call, lbx_settle_request *request)
{
    struct fake_store *fake = fake_store_of(store);
    lbx_status status = begin(fake, LBX_CALL_SETTLE, request);

    (void)call;
    if (status != LBX_OK)
        return status;
    pthread_mutex_lock(&fake->lock);
    for (size_t i = 0; i < request->count; i++) {
        settle_one(fake, request->box, &request->entries[i]);
        if (status == LBX_OK)
            status = request->entries[i].status;
    }
    pthread_mutex_unlock(&fake->lock);
    serve(fake);
    return status;
}

static void
close_shelf(lbx_store *store)
{
    struct fake_store *fake = fake_store_of(store);

    CHECK_INT(0, fake->waiting_count);
    for (size_t i = 0; i < FAKE_STORE_BOXES; i++) {
        while (fake->boxes[i] && fake->boxes[i]->count > 0)
            remove_letter(fake->boxes[i], 0);
        free(fake->boxes[i]);
    }
    pthread_mutex_destroy(&fake->lock);
}

static const lbx_store_ops fake_store_ops = {
    .size_bytes = sizeof(lbx_store_ops),
    .scheme = "fake",
    .durability = durability,
    .create = create,
    .configure = box_unsupported,
    .remove = box_unsupported,
    .describe = describe,
    .list = list,
    .send = send,
    .receive = receive,
    .settle = settle,
    .cancel = cancel,
    .close = close_shelf,
};

void
fake_store_open(struct fake_store *fake, struct test_clock *time)
{
    *fake = (struct fake_store){.time = time};
    pthread_mutex_init(&fake->lock, NULL);
    CHECK_OK(lbx_store_init(&fake->base, &fake_store_ops));
}

void
fake_store_advance(struct fake_store *fake, int64_t duration_ns)
{
    test_clock_advance(fake->time, duration_ns);
    serve(fake);
}

void
fake_store_count(struct fake_store *fake, const char *name, size_t *ready,
                 size_t *leased, size_t *delayed)
{
    const int64_t now = test_clock_now(fake->time);
    struct fake_store_box *box;

    *ready = *leased = *delayed = 0;
    pthread_mutex_lock(&fake->lock);
    box = box_of(fake, find_box(fake, name, false));
    for (size_t i = 0; i < box->count; i++) {
        if (box->letters[i].due_ns <= now)
            ++*ready;
        else if (box->letters[i].leased)
            ++*leased;
        else
            ++*delayed;
    }
    pthread_mutex_unlock(&fake->lock);
}

size_t
fake_store_waiting(struct fake_store *fake)
{
    size_t count;

    pthread_mutex_lock(&fake->lock);
    count = fake->waiting_count;
    pthread_mutex_unlock(&fake->lock);
    return count;
}

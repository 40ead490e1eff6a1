/* SPDX-License-Identifier: Apache-2.0 */
#include "post/script.h"

#include "support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
note(struct script *script, const char *format, ...)
{
    va_list arguments;
    size_t size;

    pthread_mutex_lock(&script->lock);
    size = strlen(script->log);
    va_start(arguments, format);
    (void)vsnprintf(script->log + size, sizeof(script->log) - size, format,
                    arguments);
    va_end(arguments);
    pthread_mutex_unlock(&script->lock);
}

static struct script *
script_of(lbx_store *store)
{
    return (struct script *)store;
}

static lbx_durability
durability(lbx_store *store)
{
    (void)store;
    return LBX_DURABILITY_PROCESS;
}

/* The index of a box; SCRIPT_BOXES. */
static size_t
find(const struct script *script, const lbx_box_request *request)
{
    for (size_t i = 0; i < script->box_count; i++) {
        if (request->box.uid ? request->box.uid == i + 1 && script->boxes[i][0]
                             : strcmp(script->boxes[i], request->name) == 0)
            return i;
    }
    return SCRIPT_BOXES;
}

static lbx_status
describe(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    struct script *script = script_of(store);
    lbx_status status = LBX_NOT_FOUND;
    size_t index;

    (void)call;
    pthread_mutex_lock(&script->lock);
    index = find(script, request);
    if (index < SCRIPT_BOXES) {
        status = script->box_answer;
        request->ret_box.uid = index + 1;
        if (request->ret_options)
            *request->ret_options = script->rules[index];
        if (request->ret_counts)
            *request->ret_counts = (lbx_box_counts){.ready = script->sequence};
    }
    pthread_mutex_unlock(&script->lock);
    return status;
}

static lbx_status
create(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    struct script *script = script_of(store);

    pthread_mutex_lock(&script->lock);
    script->creates++;
    if (find(script, request) == SCRIPT_BOXES) {
        CHECK(script->box_count < SCRIPT_BOXES);
        script->rules[script->box_count] = *request->options;
        (void)snprintf(script->boxes[script->box_count++], LBX_BOX_NAME_BYTES,
                       "%s", request->name);
    }
    pthread_mutex_unlock(&script->lock);
    return describe(store, call, request);
}

static lbx_status
configure(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    struct script *script = script_of(store);
    const size_t index = find(script, request);

    (void)call;
    if (index == SCRIPT_BOXES)
        return LBX_NOT_FOUND;
    script->rules[index] = *request->options;
    return LBX_OK;
}

static lbx_status
delete_box(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    struct script *script = script_of(store);
    const size_t index = find(script, request);

    (void)call;
    if (index == SCRIPT_BOXES)
        return LBX_NOT_FOUND;
    script->boxes[index][0] = '\0';
    return LBX_OK;
}

static lbx_status
list(lbx_store *store, lbx_call *call, lbx_list_request *request)
{
    struct script *script = script_of(store);

    (void)call;
    for (size_t i = 0; i < script->box_count; i++) {
        if (script->boxes[i][0] &&
            !request->each(request->context, script->boxes[i]))
            break;
    }
    return LBX_OK;
}

/* Does what a call asks for. */

static lbx_sent_letter
sent_of(struct script *script, lbx_status status)
{
    const unsigned number = ++script->sequence;
    lbx_sent_letter sent = {.status = status, .sequence = number};

    (void)snprintf(sent.id.text, sizeof(sent.id.text), "id-%u", number);
    return sent;
}

static void
do_send(struct script *script, const lbx_send_request *request)
{
    for (size_t i = 0; i < request->count; i++) {
        note(script, "send %d %.*s; ", (int)request->box.uid,
             (int)request->parcels[i].body_bytes,
             (const char *)request->parcels[i].body);
        if (!(script->forget & 1u << i))
            request->sent[i] = sent_of(script, LBX_OK);
    }
}

static lbx_status
do_receive(struct script *script, lbx_call *call)
{
    static const lbx_parcel hello = {.body = "hello", .body_bytes = 5};
    lbx_status status = LBX_OK;

    note(script, "receive; ");
    for (unsigned i = 0; i < script->letters && status == LBX_OK; i++) {
        lbx_delivery delivery = {
            .parcel = script->content ? *script->content : hello,
            .receipt = "receipt",
            .receipt_bytes = 7,
            .sequence = ++script->sequence,
            .delivery_count = 1,
        };

        (void)snprintf(delivery.id.text, sizeof(delivery.id.text), "id-%u",
                       script->sequence);
        status = lbx_call_deliver(call, &delivery);
    }
    return status;
}

static void
do_settle(struct script *script, const lbx_settle_request *request)
{
    static const char *const words[] = {"ack", "nack", "extend"};

    for (size_t i = 0; i < request->count; i++) {
        const lbx_settle_request_entry *entry = &request->entries[i];

        for (size_t j = 0; j < entry->attachment_count; j++) {
            const lbx_attachment *attached = &entry->attachments[j];

            const char *to = attached->parcel->in_reply_to;

            note(script, "with %d %.*s%s%s; ", (int)attached->box.uid,
                 (int)attached->parcel->body_bytes,
                 (const char *)attached->parcel->body, to ? " re " : "",
                 to ? to : "");
            *attached->sent = sent_of(script, LBX_OK);
        }
        note(script, "%s %.*s; ", words[entry->action],
             (int)entry->receipt_bytes, (const char *)entry->receipt);
        if (!(script->forget & 1u << i))
            request->entries[i].status = LBX_OK;
    }
}

static lbx_status
work(struct script *script, lbx_call *call)
{
    switch (call->kind) {
    case LBX_CALL_SEND:
        do_send(script, call->request);
        return LBX_OK;
    case LBX_CALL_RECEIVE:
        return do_receive(script, call);
    case LBX_CALL_SETTLE:
        do_settle(script, call->request);
        return LBX_OK;
    case LBX_CALL_UNDO:
        note(script, "undo %zu; ",
             ((const lbx_settle_request *)call->request)->count);
        return LBX_OK;
    default:
        FAIL("a script has no verb %d", (int)call->kind);
    }
}

static lbx_status
answer(lbx_store *store, lbx_call *call)
{
    struct script *script = script_of(store);
    lbx_status status = script->answer;

    CHECK_PTR(NULL, call->words[0]); // fresh, each time
    if (script->hold) {
        pthread_mutex_lock(&script->lock);
        CHECK(script->held_count < SCRIPT_HELD);
        call->words[0] = script;
        script->held[script->held_count++] = call;
        pthread_mutex_unlock(&script->lock);
        return LBX_PENDING;
    }
    return status == LBX_OK ? work(script, call) : status;
}

static lbx_status
send(lbx_store *store, lbx_call *call, lbx_send_request *request)
{
    (void)request;
    return answer(store, call);
}

static lbx_status
receive(lbx_store *store, lbx_call *call, lbx_receive_request *request)
{
    struct script *script = script_of(store);

    pthread_mutex_lock(&script->lock);
    script->received = *request;
    pthread_mutex_unlock(&script->lock);
    return answer(store, call);
}

static lbx_status
settle(lbx_store *store, lbx_call *call, lbx_settle_request *request)
{
    (void)request;
    return answer(store, call);
}

static lbx_status
undo(lbx_store *store, lbx_call *call, lbx_settle_request *request)
{
    (void)request;
    return work(script_of(store), call);
}

static bool
take(struct script *script, const lbx_call *call, size_t index)
{
    bool there = false;

    pthread_mutex_lock(&script->lock);
    for (size_t i = 0; i < script->held_count; i++) {
        if (call ? script->held[i] != call : i != index)
            continue;
        there = true;
        script->held_count--;
        memmove(&script->held[i], &script->held[i + 1],
                (script->held_count - i) * sizeof(lbx_call *));
        break;
    }
    pthread_mutex_unlock(&script->lock);
    return there;
}

static void
cancel(lbx_store *store, lbx_call *call)
{
    struct script *script = script_of(store);

    script->cancels++;
    if (script->cancel == SCRIPT_LATER || !take(script, call, 0))
        return;
    if (script->cancel == SCRIPT_CANCELS)
        lbx_call_finish(call, LBX_CANCELLED);
    else
        lbx_call_finish(call, work(script, call));
}

void
script_finish(struct script *script, size_t index, lbx_status status)
{
    lbx_call *call;

    pthread_mutex_lock(&script->lock);
    call = index < script->held_count ? script->held[index] : NULL;
    pthread_mutex_unlock(&script->lock);
    if (call && take(script, call, 0))
        lbx_call_finish(call, status == LBX_OK ? work(script, call) : status);
}

size_t
script_held(struct script *script)
{
    size_t count;

    pthread_mutex_lock(&script->lock);
    count = script->held_count;
    pthread_mutex_unlock(&script->lock);
    return count;
}

static void
close_script(lbx_store *store)
{
    script_of(store)->closed = true;
}

const lbx_store_ops script_ops = {
    .size_bytes = sizeof(lbx_store_ops),
    .scheme = "script",
    .durability = durability,
    .create = create,
    .configure = configure,
    .remove = delete_box,
    .describe = describe,
    .list = list,
    .send = send,
    .receive = receive,
    .settle = settle,
    .undo = undo,
    .cancel = cancel,
    .close = close_script,
};

void
script_init(struct script *script)
{
    *script = (struct script){.letters = 1};
    CHECK(pthread_mutex_init(&script->lock, NULL) == 0);
    CHECK_OK(lbx_store_init(&script->base, &script_ops));
}

void
script_fini(struct script *script)
{
    lbx_store_unref(&script->base);
    CHECK(script->closed); // no reference is left
    pthread_mutex_destroy(&script->lock);
}

void
script_clear(struct script *script)
{
    pthread_mutex_lock(&script->lock);
    script->log[0] = '\0';
    pthread_mutex_unlock(&script->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letters: a delivery, copied into one block, and its decoded message. LETTER-1
 * and LETTER-2 are in letter.h.
 */
#include "post/letter.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include "post/postbox.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>

/* ---- Copying ---- */

/* The texts of a parcel, in the order they are copied. */
#define LETTER_PARCEL_TEXTS(XX)                                                \
    XX(type_name)                                                              \
    XX(routes)                                                                 \
    XX(group)                                                                  \
    XX(deduplication_id)                                                       \
    XX(token)                                                                  \
    XX(trace)                                                                  \
    XX(in_reply_to)

static size_t
letter_text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

size_t
lbx__letter_parcel_bytes(const lbx_parcel *parcel)
{
    size_t size = parcel->body_bytes + 1 +
                  parcel->attribute_count * sizeof(lbx_attribute);

    for (size_t i = 0; i < parcel->attribute_count; i++) {
        const lbx_attribute *attribute = &parcel->attributes[i];

        size += letter_text_bytes(attribute->name) +
                letter_text_bytes(attribute->label) + attribute->value_bytes +
                1;
    }
#define ADD_TEXT(field) size += letter_text_bytes(parcel->field);
    LETTER_PARCEL_TEXTS(ADD_TEXT)
#undef ADD_TEXT
    return size;
}

/* Copies bytes to *to, and advances it. */
static void *
letter_copy_bytes(char **to, const void *bytes, size_t size)
{
    char *copy = *to;

    if (size > 0)
        memcpy(copy, bytes, size);
    *to += size;
    return copy;
}

static const char *
letter_copy_text(char **to, const char *text)
{
    return text ? letter_copy_bytes(to, text, strlen(text) + 1) : NULL;
}

/* Bytes with a NUL after them. */
static const void *
letter_copy_body(char **to, const void *bytes, size_t size)
{
    const void *copy = letter_copy_bytes(to, bytes, size);

    *(*to)++ = '\0';
    return copy;
}

char *
lbx__letter_copy_parcel(void *memory, const lbx_parcel *from, lbx_parcel *ret)
{
    const lbx_parcel parcel = *from;
    lbx_attribute *attributes = memory;
    char *to = (char *)(attributes + parcel.attribute_count);

    *ret = parcel;
    ret->attributes = attributes;
    for (size_t i = 0; i < parcel.attribute_count; i++) {
        const lbx_attribute *attribute = &parcel.attributes[i];

        attributes[i] = *attribute;
        attributes[i].name = letter_copy_text(&to, attribute->name);
        attributes[i].label = letter_copy_text(&to, attribute->label);
        attributes[i].value =
            letter_copy_body(&to, attribute->value, attribute->value_bytes);
    }
#define COPY_TEXT(field) ret->field = letter_copy_text(&to, parcel.field);
    LETTER_PARCEL_TEXTS(COPY_TEXT)
#undef COPY_TEXT
    ret->body = letter_copy_body(&to, parcel.body, parcel.body_bytes);
    return to;
}

static size_t
letter_bytes(const lbx_delivery *delivery)
{
    return sizeof(lbx_letter) + lbx__letter_parcel_bytes(&delivery->parcel) +
           letter_text_bytes(delivery->dead_letter_source) +
           delivery->receipt_bytes;
}

/* Copies a delivery into the block of a letter; what only sends use is left
 * out. */
static void
letter_copy(lbx_letter *letter, const lbx_delivery *from)
{
    lbx_delivery *delivery = &letter->delivery;
    char *to;

    *delivery = *from;
    delivery->parcel.token = NULL;
    delivery->parcel.delay_ns = 0;
    to = lbx__letter_copy_parcel(letter + 1, &delivery->parcel,
                                 &delivery->parcel);
    delivery->dead_letter_source =
        letter_copy_text(&to, from->dead_letter_source);
    delivery->receipt =
        letter_copy_bytes(&to, from->receipt, from->receipt_bytes);
    assert(to <= (char *)letter + letter->block_size);
}

/* Reads the routes. Invalid JSON leaves the letter without routes; it is
 * delivered all the same. */
static lbx_status
letter_read_routes(lbx_letter *letter)
{
    const char *json = letter->delivery.parcel.routes;
    lbx_status status;

    if (!json)
        return LBX_OK;
    status = lbx_routes_from_json(
        json, strlen(json), letter->postbox->allocator, &letter->routes, NULL);
    return status == LBX_NO_MEMORY ? LBX_NO_MEMORY : LBX_OK;
}

/* The type of a name, if the postbox knows it; NULL. */
static const lbx_type *
letter_find_type(const lbx_postbox *postbox, const char *name)
{
    const lbx_type *expected = postbox->options.body_type;
    const lbx_type *type;

    if (!name)
        return NULL;
    type = lbx_type_registry_find(postbox->options.types, name);
    if (!type && expected && strcmp(lbx_type_name(expected), name) == 0)
        type = expected;
    return type;
}

lbx_status
lbx__letter_create(lbx_postbox *postbox, const lbx__call_op *call_op,
                   const lbx_delivery *delivery, lbx_letter **ret)
{
    const bool peeked = call_op->call.kind == LBX_CALL_PEEK;
    lbx_letter *letter;
    size_t size;

    if (delivery->receipt_bytes > LBX_MAX_RECEIPT_BYTES ||
        (delivery->receipt_bytes == 0) != peeked)
        return LBX_INVALID;
    size = letter_bytes(delivery);
    letter = lbx__alloc(postbox->allocator, size, alignof(lbx_letter));
    if (!letter)
        return LBX_NO_MEMORY;
    memset(letter, 0, sizeof(*letter));
    letter->postbox = lbx__postbox_hold(postbox);
    letter->block_size = size;
    letter->peeked = peeked;
    letter->lease_ns = peeked ? 0 : call_op->u.receive.request.lease_ns;
    letter_copy(letter, delivery);
    letter->type = letter_find_type(postbox, letter->delivery.parcel.type_name);
    if (letter_read_routes(letter) != LBX_OK) {
        lbx_letter_destroy(letter);
        return LBX_NO_MEMORY;
    }
    *ret = letter;
    return LBX_OK;
}

void
lbx_letter_destroy(lbx_letter *letter)
{
    lbx_postbox *postbox;

    if (!letter)
        return;
    postbox = letter->postbox;
    if (letter->message)
        lbx_type_destroy_message(letter->type, letter->message);
    lbx_routes_unref(letter->routes);
    lbx__free(postbox->allocator, letter, letter->block_size);
    lbx__postbox_release(postbox);
}

void
lbx__letter_destroy_all(lbx_letter *first)
{
    while (first) {
        lbx_letter *next = first->next;

        lbx_letter_destroy(first);
        first = next;
    }
}

const char *
lbx_letter_id(const lbx_letter *letter)
{
    return letter ? letter->delivery.id.text : NULL;
}

const void *
lbx_letter_body(const lbx_letter *letter, size_t *ret_size_bytes)
{
    if (!letter)
        return NULL;
    if (ret_size_bytes)
        *ret_size_bytes = letter->delivery.parcel.body_bytes;
    return letter->delivery.parcel.body;
}

const char *
lbx_letter_type_name(const lbx_letter *letter)
{
    return letter ? letter->delivery.parcel.type_name : NULL;
}

const lbx_type *
lbx_letter_type(const lbx_letter *letter)
{
    return letter ? letter->type : NULL;
}

const lbx_routes *
lbx_letter_routes(const lbx_letter *letter)
{
    return letter ? letter->routes : NULL;
}

/* LETTER-2. A failure for lack of memory is not kept: the next call tries
 * again. */
static lbx_status
letter_decode(lbx_letter *letter)
{
    const lbx_parcel *parcel = &letter->delivery.parcel;
    lbx_status status;

    if (letter->decoded)
        return letter->decoding;
    status = letter->type
                 ? lbx_type_decode(letter->type, parcel->body,
                                   parcel->body_bytes, &letter->message)
                 : LBX_UNSUPPORTED;
    letter->decoded = status != LBX_NO_MEMORY;
    letter->decoding = status;
    return status;
}

lbx_status
lbx_letter_message(lbx_letter *letter, void **ret)
{
    lbx_status status;

    if (!letter || !ret)
        return LBX_INVALID;
    status = letter_decode(letter);
    if (status == LBX_OK)
        *ret = letter->message;
    return status;
}

lbx_status
lbx_letter_take_message(lbx_letter *letter, void **ret)
{
    lbx_status status = lbx_letter_message(letter, ret);

    if (status == LBX_OK) {
        letter->message = NULL;
        letter->decoded = false; // the next call decodes another
    }
    return status;
}

bool
lbx_letter_is_decodable(lbx_letter *letter)
{
    const lbx_type *expected;

    if (!letter)
        return false;
    expected = letter->postbox->options.body_type;
    if (letter->type && expected && !lbx_type_is_a(letter->type, expected))
        return false;
    return letter_decode(letter) != LBX_ENCODING;
}

bool
lbx_letter_attribute(const lbx_letter *letter, const char *name,
                     lbx_attribute *ret)
{
    if (!letter || !name || !ret)
        return false;
    for (size_t i = 0; i < letter->delivery.parcel.attribute_count; i++) {
        const lbx_attribute *each = &letter->delivery.parcel.attributes[i];

        if (strcmp(each->name, name) == 0) {
            *ret = *each;
            return true;
        }
    }
    return false;
}

bool
lbx_letter_attribute_at(const lbx_letter *letter, size_t index,
                        lbx_attribute *ret)
{
    if (!letter || !ret || index >= letter->delivery.parcel.attribute_count)
        return false;
    *ret = letter->delivery.parcel.attributes[index];
    return true;
}

lbx_status
lbx_letter_info_read(const lbx_letter *letter, lbx_letter_info *ret)
{
    const lbx_delivery *delivery;
    lbx_letter_info info;

    if (!letter || !ret)
        return LBX_INVALID;
    delivery = &letter->delivery;
    info = (lbx_letter_info){
        .delivery_count = delivery->delivery_count,
        .sequence = delivery->sequence,
        .sent_ms = delivery->sent_ms,
        .first_received_ms = delivery->first_received_ms,
        .lease_ns = letter->lease_ns,
        .group = delivery->parcel.group,
        .deduplication_id = delivery->parcel.deduplication_id,
        .trace = delivery->parcel.trace,
        .in_reply_to = delivery->parcel.in_reply_to,
        .dead_letter_source = delivery->dead_letter_source,
    };
    return LBX__SIZED_WRITE(ret, &info, lbx_letter_info, dead_letter_source);
}

uint32_t
lbx_letter_delivery_count(const lbx_letter *letter)
{
    return letter ? letter->delivery.delivery_count : 0;
}

lbx_status
lbx_letter_receipt(const lbx_letter *letter, char *buffer, size_t size_bytes)
{
    if (!letter || !buffer || size_bytes < LBX_RECEIPT_BYTES || letter->peeked)
        return LBX_INVALID;
    return lbx__store_call_receipt_text(letter->postbox->store,
                                        letter->delivery.receipt,
                                        letter->delivery.receipt_bytes, buffer);
}

bool
lbx_letter_is_finalized(const lbx_letter *letter)
{
    return letter && letter->finalized;
}

/* ---- Settling ---- */

lbx_status
lbx__letter_unsettled(const lbx_letter *letter)
{
    return letter->finalized || letter->peeked ? LBX_FINALIZED : LBX_OK;
}

lbx_status
lbx__letter_settled(lbx_letter *letter, lbx_settle_action what,
                    lbx_status status)
{
    if (status == LBX_OK && what != LBX_SETTLE_EXTEND)
        letter->finalized = true; // LETTER-1
    if (letter->postbox->options.late_is_expired &&
        (status == LBX_FINALIZED || status == LBX_GONE))
        return LBX_EXPIRED; // one word for all that is too late
    return status;
}

lbx_status
lbx__letter_check_time(const lbx_postbox *postbox, lbx_settle_action what,
                       int64_t time_ns)
{
    switch (what) {
    case LBX_SETTLE_ACKNOWLEDGE:
        return LBX_OK;
    case LBX_SETTLE_NACK:
    case LBX_SETTLE_EXTEND:
        return time_ns >= 0 && time_ns <= postbox->rules.limits.max_lease_ns
                   ? LBX_OK
                   : LBX_INVALID;
    }
    return LBX_INVALID;
}

static lbx_status
letter_settle(lbx_letter *letter, lbx_settle_action what, int64_t time_ns)
{
    lbx_settle_item settle = {
        .action = what, .time_ns = time_ns, .letter = letter};

    return letter ? lbx_postbox_settle_batch(letter->postbox, &settle, 1)
                  : LBX_INVALID;
}

lbx_status
lbx_letter_acknowledge(lbx_letter *letter)
{
    return letter_settle(letter, LBX_SETTLE_ACKNOWLEDGE, 0);
}

lbx_status
lbx_letter_nack(lbx_letter *letter, int64_t delay_ns)
{
    return letter_settle(letter, LBX_SETTLE_NACK, delay_ns);
}

lbx_status
lbx_letter_extend(lbx_letter *letter, int64_t lease_ns)
{
    return letter_settle(letter, LBX_SETTLE_EXTEND, lease_ns);
}

lbx_status
lbx_letter_reply_and_acknowledge(lbx_letter *letter, const lbx_draft *reply,
                                 lbx_sent_letter *ret_sent, lbx_fault *fault)
{
    return lbx__postbox_settle_with(letter, NULL, reply, ret_sent, fault);
}

lbx_status
lbx_letter_send_and_acknowledge(lbx_letter *letter, lbx_postbox *to,
                                const lbx_draft *draft,
                                lbx_sent_letter *ret_sent)
{
    return to ? lbx__postbox_settle_with(letter, to, draft, ret_sent, NULL)
              : LBX_INVALID;
}

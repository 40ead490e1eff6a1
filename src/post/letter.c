/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letters: a delivery, copied, and what its body means here. F5 and L1 are in
 * letter.h.
 */
#include "post/letter.h"

#include "base/alloc.h"
#include "post/postbox.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>

/* The texts of a delivery, in the order they are copied. */
#define TEXTS(XX)                                                              \
    XX(parcel.type_name)                                                       \
    XX(parcel.routes)                                                          \
    XX(parcel.group)                                                           \
    XX(parcel.duplicate_id)                                                    \
    XX(parcel.trace)                                                           \
    XX(parcel.in_reply_to)                                                     \
    XX(dead_letter_source)

static size_t
text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t
size_of(const lbx_delivery *delivery)
{
    const lbx_parcel *parcel = &delivery->parcel;
    size_t size = sizeof(lbx_letter);

    size += parcel->attribute_count * sizeof(lbx_attribute);
    for (size_t i = 0; i < parcel->attribute_count; i++) {
        const lbx_attribute *attribute = &parcel->attributes[i];

        size += text_size(attribute->name) + text_size(attribute->label) +
                attribute->size_bytes + 1;
    }
#define ADD(field) size += text_size(delivery->field);
    TEXTS(ADD)
#undef ADD
    return size + delivery->receipt_bytes + parcel->body_bytes + 1;
}

/* Copies bytes to *to, and moves that on. */
static void *
keep(char **to, const void *bytes, size_t size)
{
    char *copy = *to;

    if (size > 0)
        memcpy(copy, bytes, size);
    *to += size;
    return copy;
}

static const char *
keep_text(char **to, const char *text)
{
    return text ? keep(to, text, strlen(text) + 1) : NULL;
}

/* The same, and a NUL behind them. */
static const void *
keep_bytes(char **to, const void *bytes, size_t size)
{
    const void *copy = keep(to, bytes, size);

    *(*to)++ = '\0';
    return copy;
}

static void
copy_delivery(lbx_letter *letter, const lbx_delivery *from)
{
    lbx_delivery *delivery = &letter->delivery;
    lbx_parcel *parcel = &delivery->parcel;
    lbx_attribute *attributes = (lbx_attribute *)(void *)(letter + 1);
    char *to = (char *)(attributes + from->parcel.attribute_count);

    *delivery = *from;
    parcel->attributes = attributes;
    for (size_t i = 0; i < parcel->attribute_count; i++) {
        attributes[i] = from->parcel.attributes[i];
        attributes[i].name = keep_text(&to, attributes[i].name);
        attributes[i].label = keep_text(&to, attributes[i].label);
        attributes[i].value =
            keep_bytes(&to, attributes[i].value, attributes[i].size_bytes);
    }
#define COPY(field) delivery->field = keep_text(&to, from->field);
    TEXTS(COPY)
#undef COPY
    delivery->receipt = keep(&to, from->receipt, from->receipt_bytes);
    parcel->body = keep_bytes(&to, from->parcel.body, parcel->body_bytes);
    parcel->token = NULL;
    parcel->delay_ns = 0;
    assert(to == (char *)letter + letter->block_size);
}

/* The routes of its JSON. One that is none leaves the letter without routes:
 * it is delivered all the same. */
static lbx_status
read_routes(lbx_letter *letter)
{
    const char *json = letter->delivery.parcel.routes;
    lbx_status status;

    if (!json)
        return LBX_OK;
    status = lbx_routes_from_json(
        json, strlen(json), letter->postbox->allocator, NULL, &letter->routes);
    return status == LBX_NO_MEMORY ? LBX_NO_MEMORY : LBX_OK;
}

/* What a name means to a postbox. */
static const lbx_type *
find_type(const lbx_postbox *postbox, const char *name)
{
    const lbx_type *type = lbx_types_find(postbox->options.types, name);
    const lbx_type *expected = postbox->options.body_type;

    if (!type && name && expected && strcmp(lbx_type_name(expected), name) == 0)
        type = expected;
    return type;
}

lbx_status
lbx__letter_create(lbx_postbox *postbox, const lbx__called *called,
                   const lbx_delivery *delivery, lbx_letter **ret)
{
    const bool peeked = called->call.verb == LBX_VERB_PEEK;
    lbx_letter *letter;
    size_t size;

    if (delivery->receipt_bytes > LBX_RECEIPT_MOST_BYTES ||
        (delivery->receipt_bytes == 0) != peeked)
        return LBX_INVALID;
    size = size_of(delivery);
    letter = lbx__alloc(postbox->allocator, size, alignof(lbx_letter));
    if (!letter)
        return LBX_NO_MEMORY;
    memset(letter, 0, sizeof(*letter));
    letter->postbox = lbx_postbox_ref(postbox);
    letter->block_size = size;
    letter->peeked = peeked;
    letter->lease_ns = peeked ? 0 : called->u.receive.request.lease_ns;
    copy_delivery(letter, delivery);
    letter->type = find_type(postbox, letter->delivery.parcel.type_name);
    if (read_routes(letter) != LBX_OK) {
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
        lbx_type_end_message(letter->type, letter->message);
    lbx_routes_unref(letter->routes);
    lbx__free(postbox->allocator, letter, letter->block_size);
    lbx_postbox_unref(postbox);
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

/* L1. Without memory it is as if nobody had tried. */
static lbx_status
decode(lbx_letter *letter)
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
    status = decode(letter);
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
        letter->decoded = false; // who asks again gets another
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
    return decode(letter) != LBX_ENCODING;
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
lbx_letter_facts_read(const lbx_letter *letter, lbx_letter_facts *ret)
{
    const lbx_delivery *delivery;

    if (!letter || !ret)
        return LBX_INVALID;
    delivery = &letter->delivery;
    *ret = (lbx_letter_facts){
        .delivery_count = delivery->delivery_count,
        .sequence = delivery->sequence,
        .sent_ms = delivery->sent_ms,
        .first_received_ms = delivery->first_received_ms,
        .lease_ns = letter->lease_ns,
        .group = delivery->parcel.group,
        .duplicate_id = delivery->parcel.duplicate_id,
        .trace = delivery->parcel.trace,
        .in_reply_to = delivery->parcel.in_reply_to,
        .dead_letter_source = delivery->dead_letter_source,
    };
    return LBX_OK;
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
    return lbx__store_receipt_text(letter->postbox->store,
                                   letter->delivery.receipt,
                                   letter->delivery.receipt_bytes, buffer);
}

bool
lbx_letter_is_finalized(const lbx_letter *letter)
{
    return letter && letter->finalized;
}

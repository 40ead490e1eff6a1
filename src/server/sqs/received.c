/* SPDX-License-Identifier: Apache-2.0 */
/* Letters as messages in a reply; see received.h. */
#include "server/sqs/received.h"

#include "codec/base64.h"
#include "codec/xml.h"
#include "post/store.h"
#include "server/sqs/attribute_filter.h"
#include "server/sqs/letter_fields.h"
#include "server/sqs/message_md5.h"
#include "server/sqs/outgoing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- System attributes ---- */

/* The value of a system attribute, in `buffer` or elsewhere; NULL: none. */
static const char *
received_system_value(const lbx__request *request, const lbx_delivery *delivery,
                      lbx__system_attribute which, char buffer[LBX__ARN_BYTES])
{
    const bool is_fifo = request->queue->options.fifo;

    switch (which) {
    case LBX__SYSTEM_SenderId: // a store does not keep who sent a letter
        return request->queue->world.account;
    case LBX__SYSTEM_SentTimestamp:
        snprintf(buffer, LBX__ARN_BYTES, "%" PRId64, delivery->sent_ms);
        return buffer;
    case LBX__SYSTEM_ApproximateReceiveCount:
        snprintf(buffer, LBX__ARN_BYTES, "%" PRIu32, delivery->delivery_count);
        return buffer;
    case LBX__SYSTEM_ApproximateFirstReceiveTimestamp:
        snprintf(buffer, LBX__ARN_BYTES, "%" PRId64,
                 delivery->first_received_ms);
        return buffer;
    case LBX__SYSTEM_SequenceNumber:
        lbx__outgoing_sequence(delivery->sequence, buffer);
        return is_fifo ? buffer : NULL;
    case LBX__SYSTEM_MessageDeduplicationId:
        return is_fifo ? delivery->parcel.deduplication_id : NULL;
    case LBX__SYSTEM_MessageGroupId:
        return delivery->parcel.group;
    case LBX__SYSTEM_AWSTraceHeader:
        return delivery->parcel.trace;
    case LBX__SYSTEM_DeadLetterQueueSourceArn:
        return delivery->dead_letter_source
                   ? lbx__queue_arn(&request->queue->world,
                                    delivery->dead_letter_source, buffer)
                   : NULL;
    case LBX__SYSTEM_ATTRIBUTE_COUNT:
        break;
    }
    return NULL;
}

static void
received_write_state(lbx__sqs_reply *reply, const char *name, bool value)
{
    lbx__reply_map_text(reply, lbx__slice_of(name),
                        lbx__slice_of(value ? "true" : "false"));
}

static void
received_write_system(lbx__request *request, const lbx_delivery *delivery,
                      const lbx__received_view *view)
{
    static const char *const names[] = {
#define XX(name) #name,
        LBX__SYSTEM_ATTRIBUTES(XX)
#undef XX
    };
    const uint32_t wanted = view->system;
    lbx__sqs_reply *reply = &request->reply;
    char buffer[LBX__ARN_BYTES];
    bool is_open = false;

    for (uint32_t i = 0; wanted >> i != 0; i++) {
        const char *value =
            wanted >> i & 1
                ? received_system_value(request, delivery,
                                        (lbx__system_attribute)i, buffer)
                : NULL;

        if (!value)
            continue;
        if (!is_open) // REPLY-X1
            lbx__reply_map(reply, "Attributes", "Attribute", "Name", "Value");
        is_open = true;
        lbx__reply_map_text(reply, lbx__slice_of(names[i]),
                            lbx__slice_of(value));
    }
    if (is_open && view->shows_leased)
        received_write_state(reply, "IsVisible",
                             delivery->state != LBX_LETTER_STATE_LEASED);
    if (is_open && view->shows_delayed)
        received_write_state(reply, "IsDelayed",
                             delivery->state == LBX_LETTER_STATE_DELAYED);
    if (is_open)
        lbx__reply_map_end(reply);
    else
        lbx__reply_null(reply, "Attributes");
}

/* ---- Message attributes ---- */

/* "Number.float" of a kind and a label; NULL bytes without memory. */
static lbx__slice
received_data_type(lbx__arena *arena, const lbx_attribute *attribute)
{
    static const char *const names[] = {
        [LBX_ATTRIBUTE_STRING] = "String",
        [LBX_ATTRIBUTE_NUMBER] = "Number",
        [LBX_ATTRIBUTE_BINARY] = "Binary",
    };
    const lbx__slice name = lbx__slice_of(names[attribute->kind]);
    size_t label;
    char *type;

    if (!attribute->label)
        return name;
    label = strlen(attribute->label);
    type = lbx__arena_take(arena, name.size + label + 2);
    if (!type)
        return (lbx__slice){NULL, 0};
    memcpy(type, name.bytes, name.size);
    type[name.size] = '.';
    memcpy(type + name.size + 1, attribute->label, label);
    return (lbx__slice){type, name.size + label + 1};
}

/* An attribute of a letter as one of SQS. A value is never NULL bytes: which
 * of the two there is decides what it is. */
static lbx__sqs_attribute
received_attribute(lbx__arena *arena, const lbx_attribute *attribute)
{
    const lbx__slice value = {
        attribute->value_bytes > 0 ? attribute->value : "",
        attribute->value_bytes,
    };
    lbx__sqs_attribute ret = {
        .name = lbx__slice_of(attribute->name),
        .data_type = received_data_type(arena, attribute),
    };

    if (attribute->kind == LBX_ATTRIBUTE_BINARY)
        ret.binary_value = value;
    else
        ret.string_value = value;
    return ret;
}

/* The attributes that the filter wants, in the order of their names. False:
 * no memory. */
static bool
received_select(lbx__arena *arena, const lbx_parcel *parcel, bool is_base64,
                const lbx__sqs_texts *names, lbx__sqs_attributes *ret)
{
    lbx__sqs_attribute fields[LBX__LETTER_FIELDS];
    size_t count, i;

    *ret = (lbx__sqs_attributes){NULL, 0};
    if (names->count == 0)
        return true;
    count = lbx__letter_fields_show(parcel, is_base64, fields);
    if (parcel->attribute_count + count == 0)
        return true;
    ret->items = lbx__arena_take(arena, (parcel->attribute_count + count) *
                                            sizeof(*ret->items));
    if (!ret->items)
        return false;
    for (i = 0; i < parcel->attribute_count; i++) {
        const lbx__sqs_attribute one =
            received_attribute(arena, &parcel->attributes[i]);

        if (!one.data_type.bytes)
            return false;
        if (lbx__attribute_filter_matches(names, one.name))
            ret->items[ret->count++] = one;
    }
    for (i = 0; i < count; i++) {
        if (lbx__attribute_filter_matches(names, fields[i].name))
            ret->items[ret->count++] = fields[i];
    }
    lbx__message_md5_sort(ret->items, ret->count);
    return true;
}

static void
received_write_attributes(lbx__sqs_reply *reply,
                          const lbx__sqs_attributes *chosen)
{
    char md5[LBX__MD5_TEXT_BYTES];

    if (chosen->count == 0) {
        lbx__reply_null(reply, "MD5OfMessageAttributes");
        lbx__reply_null(reply, "MessageAttributes");
        return;
    }
    if (lbx__message_md5_attributes(chosen->items, chosen->count, md5))
        lbx__reply_text(reply, "MD5OfMessageAttributes", lbx__slice_of(md5));
    lbx__reply_map(reply, "MessageAttributes", "MessageAttribute", "Name",
                   "Value");
    for (size_t i = 0; i < chosen->count; i++) {
        const lbx__sqs_attribute *one = &chosen->items[i];

        lbx__reply_map_object(reply, one->name);
        if (one->binary_value.bytes)
            lbx__reply_base64(reply, "BinaryValue", one->binary_value);
        else
            lbx__reply_text(reply, "StringValue", one->string_value);
        lbx__reply_text(reply, "DataType", one->data_type);
        lbx__reply_map_object_end(reply);
    }
    lbx__reply_map_end(reply);
}

/* ---- Messages ---- */

/* The body; in base64 when a program sent what SQS does not allow. */
static bool
received_body(lbx__arena *arena, const lbx_parcel *parcel, lbx__slice *ret,
              bool *is_base64)
{
    char *text;

    *ret = (lbx__slice){parcel->body, parcel->body_bytes};
    *is_base64 = ret->size == 0 || !lbx__xml_is_text(*ret);
    if (!*is_base64)
        return true;
    ret->size = lbx__base64_text_size(LBX__BASE64, parcel->body_bytes);
    text = lbx__arena_take(arena, ret->size + 1);
    if (!text)
        return false;
    lbx__base64_encode(LBX__BASE64, parcel->body, parcel->body_bytes, text);
    ret->bytes = text;
    return true;
}

static bool
received_write_one(lbx__request *request, const lbx_delivery *delivery,
                   const lbx__received_view *view)
{
    lbx__sqs_reply *reply = &request->reply;
    char md5[LBX__MD5_TEXT_BYTES], receipt[LBX_RECEIPT_BYTES];
    lbx__sqs_attributes chosen;
    lbx__slice body;
    bool is_base64;

    if (!view->receipt && lbx__store_call_receipt_text(
                              request->sqs->store, delivery->receipt,
                              delivery->receipt_bytes, receipt) != LBX_OK)
        return false;
    if (!received_body(&request->arena, &delivery->parcel, &body, &is_base64) ||
        !received_select(&request->arena, &delivery->parcel, is_base64,
                         view->names, &chosen) ||
        !lbx__message_md5_body(body, md5))
        return false;
    lbx__reply_text(reply, "MessageId", lbx__slice_of(delivery->id.text));
    lbx__reply_text(reply, "ReceiptHandle",
                    lbx__slice_of(view->receipt ? view->receipt : receipt));
    lbx__reply_text(reply, "MD5OfBody", lbx__slice_of(md5));
    lbx__reply_text(reply, "Body", body);
    received_write_system(request, delivery, view);
    received_write_attributes(reply, &chosen);
    return true;
}

bool
lbx__received_write(lbx__request *request, const lbx__received_view *view)
{
    bool is_good = true;

    if (!request->received)
        return true;
    lbx__reply_list(&request->reply, "Messages", "Message");
    for (const lbx__received *one = request->received; one && is_good;
         one = one->next) {
        lbx__reply_item(&request->reply);
        is_good = received_write_one(request, &one->delivery, view);
        lbx__reply_item_end(&request->reply);
    }
    lbx__reply_list_end(&request->reply);
    return is_good;
}

/* No byte of a letter takes more than six in JSON (\\u001f), or five in XML
 * (&#xD;). */
lbx__received *
lbx__received_cut(lbx__request *request)
{
    const size_t most = LBX__RECEIVED_REPLY_BYTES / 8;
    lbx__received *one = request->received, *rest;
    size_t size = 0, count = 0;

    for (; one; one = one->next) {
        size += one->size_bytes;
        count++;
        if (one->next && size + one->next->size_bytes > most)
            break;
    }
    if (!one)
        return NULL;
    rest = one->next;
    one->next = NULL;
    request->last_received = one;
    request->received_count = count;
    return rest;
}

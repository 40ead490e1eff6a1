/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on their way into the store; see outgoing.h. */
#include "server/sqs/outgoing.h"

#include "base/time.h"
#include "codec/digest.h"
#include "codec/hex.h"
#include "codec/xml.h"
#include "server/sqs/attribute_check.h"
#include "server/sqs/letter_fields.h"
#include "server/sqs/message_md5.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    MAX_TRACE_BYTES = 4096
};

/* ---- Packing ---- */

static lbx_status
outgoing_pack_attributes(lbx__request *request, const lbx__sqs_entry *entry,
                         lbx_parcel *parcel)
{
    const lbx__sqs_attributes *from = &entry->attributes;
    lbx_attribute *to;

    if (from->count == 0)
        return LBX_OK;
    to = lbx__arena_take(&request->arena, from->count * sizeof(*to));
    if (!to)
        return LBX_NO_MEMORY;
    for (size_t i = 0; i < from->count; i++) {
        const lbx__sqs_attribute *attribute = &from->items[i];
        lbx_attribute *packed = &to[parcel->attribute_count];
        lbx__slice label = {NULL, 0}, value;

        if (lbx__letter_fields_take(parcel, attribute))
            continue;
        (void)lbx__attribute_check_type(attribute->data_type, &packed->kind,
                                        &label);
        value = packed->kind == LBX_ATTRIBUTE_BINARY ? attribute->binary_value
                                                     : attribute->string_value;
        packed->name = attribute->name.bytes;
        packed->label = label.bytes;
        packed->value = value.bytes;
        packed->value_bytes = value.size;
        parcel->attribute_count++;
    }
    parcel->attributes = to;
    return LBX_OK;
}

/* The trace: the system attribute, else the header of HTTP if it is text. */
static lbx_status
outgoing_pack_trace(lbx__request *request, const lbx__sqs_entry *entry,
                    lbx_parcel *parcel)
{
    lbx__slice header;

    if (entry->system_attributes.count > 0) {
        parcel->trace = entry->system_attributes.items[0].string_value.bytes;
        return LBX_OK;
    }
    header = lbx__http_field_of(&request->exchange->request, "x-amzn-trace-id");
    if (header.size == 0 || header.size > MAX_TRACE_BYTES ||
        !lbx__xml_is_text(header))
        return LBX_OK;
    parcel->trace = lbx__arena_copy(&request->arena, header.bytes, header.size);
    return parcel->trace ? LBX_OK : LBX_NO_MEMORY;
}

/* The id of duplicates that have the same body. */
static lbx_status
outgoing_hash_body(lbx__request *request, lbx_parcel *parcel)
{
    char *text = lbx__arena_take(&request->arena, 2 * LBX__SHA256_BYTES + 1);
    uint8_t hash[LBX__SHA256_BYTES];
    lbx__digest *digest;
    lbx_status status;

    if (!text)
        return LBX_NO_MEMORY;
    status = lbx__digest_create(request->sqs->allocator, &digest);
    if (status != LBX_OK)
        return status;
    status = lbx__digest_all(digest, parcel->body, parcel->body_bytes, hash);
    lbx__digest_destroy(digest);
    if (status != LBX_OK)
        return status;
    lbx__hex_encode(hash, sizeof(hash), text);
    parcel->deduplication_id = text;
    return LBX_OK;
}

lbx_status
lbx__outgoing_pack(lbx__request *request, const lbx__sqs_entry *entry,
                   lbx_parcel *ret)
{
    const lbx_box_options *options = &request->queue->options;
    lbx_status status;

    *ret = (lbx_parcel){
        .body = entry->body.bytes,
        .body_bytes = entry->body.size,
        .group = entry->group_id.bytes,
        .deduplication_id = entry->deduplication_id.bytes,
        // A FIFO queue's own delay counts, whatever the message says.
        .delay_ns = entry->delay.given && !options->fifo
                        ? lbx__time_scale(entry->delay.value, LBX_SECOND)
                        : options->delay_ns,
    };
    status = outgoing_pack_attributes(request, entry, ret);
    if (status == LBX_OK)
        status = outgoing_pack_trace(request, entry, ret);
    if (status == LBX_OK && options->fifo && !ret->deduplication_id)
        status = outgoing_hash_body(request, ret);
    return status;
}

/* ---- The reply ---- */

void
lbx__outgoing_sequence(uint64_t sequence, char text[LBX__SEQUENCE_TEXT_BYTES])
{
    // Texts of one length order as their numbers do; a store's sequences stay
    // far below the 8 * 10^18 that are left.
    snprintf(text, LBX__SEQUENCE_TEXT_BYTES, "%020" PRIu64,
             sequence + UINT64_C(10000000000000000000));
}

static void
outgoing_reply_attributes(lbx__sqs_reply *reply, const char *name,
                          const lbx__sqs_attributes *attributes)
{
    char md5[LBX__MD5_TEXT_BYTES];

    if (attributes->count > 0 &&
        lbx__message_md5_attributes(attributes->items, attributes->count, md5))
        lbx__reply_text(reply, name, lbx__slice_of(md5));
    else
        lbx__reply_null(reply, name);
}

void
lbx__outgoing_reply(lbx__request *request, const lbx__sqs_entry *entry,
                    const lbx_sent_letter *sent)
{
    lbx__sqs_reply *reply = &request->reply;
    char md5[LBX__MD5_TEXT_BYTES], sequence[LBX__SEQUENCE_TEXT_BYTES];

    lbx__reply_text(reply, "MessageId", lbx__slice_of(sent->id.text));
    if (lbx__message_md5_body(entry->body, md5))
        lbx__reply_text(reply, "MD5OfMessageBody", lbx__slice_of(md5));
    outgoing_reply_attributes(reply, "MD5OfMessageAttributes",
                              &entry->attributes);
    outgoing_reply_attributes(reply, "MD5OfMessageSystemAttributes",
                              &entry->system_attributes);
    if (request->queue->options.fifo) {
        lbx__outgoing_sequence(sent->sequence, sequence);
        lbx__reply_text(reply, "SequenceNumber", lbx__slice_of(sequence));
    } else
        lbx__reply_null(reply, "SequenceNumber");
}

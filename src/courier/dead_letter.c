/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: what they carry, and how they are sent back.
 *
 * A letter dies in one of two ways. A courier puts it aside: the dead letter is
 * a record with the body inside, and carries the routes, attributes, trace and
 * group of the letter as its own, so that these need no form in JSON. Or a box
 * moves it: the dead letter is the letter itself. Both have all that is needed
 * to send the letter again.
 *
 * DEAD-1  A dead letter is acknowledged with the letter that is sent back, or
 *         after it; never before.
 * DEAD-2  A letter that is sent back is a new letter: it is no duplicate of the
 *         one that died, nor of one that was sent back earlier. Only the same
 *         dead letter, sent back again, is recognised by its token.
 */
#include "courier/dead_letter.h"

#include "base/alloc.h"
#include "base/sized.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- The record and its type ---- */

static const lbx_field dead_letter_fields[] = {
    LBX_FIELD_NAMED("message_id", lbx_dead_letter_record, message_id.text,
                    CHARS),
    LBX__FIELD_BYTES("body", BODY, false, lbx_dead_letter_record, body,
                     body_bytes),
    LBX_OPTIONAL(lbx_dead_letter_record, body_type, TEXT),
    LBX_OPTIONAL(lbx_dead_letter_record, source_mailbox, TEXT),
    LBX_OPTIONAL(lbx_dead_letter_record, delivery_count, UINT32),
    LBX_OPTIONAL(lbx_dead_letter_record, last_error, TEXT),
    LBX_OPTIONAL(lbx_dead_letter_record, last_error_type, TEXT),
    LBX_OPTIONAL_NAMED("dead_lettered_at", lbx_dead_letter_record,
                       dead_lettered_ms, TIME),
    LBX_OPTIONAL_NAMED("first_received_at", lbx_dead_letter_record,
                       first_received_ms, TIME),
    LBX_OPTIONAL_NAMED("request_id", lbx_dead_letter_record, request_id.text,
                       CHARS),
    LBX_OPTIONAL(lbx_dead_letter_record, reply_mailbox, TEXT),
    LBX_OPTIONAL(lbx_dead_letter_record, trace_id, TEXT),
};

const lbx_record lbx__dead_letter_table = {sizeof(lbx_record),
                                           "letterbox.DeadLetter",
                                           sizeof(lbx_dead_letter_record),
                                           dead_letter_fields,
                                           sizeof(dead_letter_fields) /
                                               sizeof(lbx_field),
                                           sizeof(lbx_field)};

LBX__SIZED(dead_letter_sized, lbx_dead_letter_record, trace_id,
           LBX_DEAD_LETTER_RECORD_INIT);

/* A struct of another version of the library is read as one of this. */
static lbx_status
dead_letter_encode(const void *message, lbx_buffer *out, void *context)
{
    lbx_dead_letter_record own;
    const void *record =
        message ? lbx__sized_view(message, &own, &dead_letter_sized, NULL)
                : NULL;

    return record ? lbx__record_encode(context, record, out, NULL)
                  : LBX_ENCODING;
}

static lbx_status
dead_letter_decode(const void *bytes, size_t size_bytes, void **ret,
                   void *context)
{
    const lbx_status status =
        lbx__record_decode(context, bytes, size_bytes, NULL, ret, NULL);

    if (status == LBX_OK)
        ((lbx_dead_letter_record *)*ret)->size_bytes =
            sizeof(lbx_dead_letter_record);
    return status;
}

/* In static memory: nothing to fail, nothing to free. */
static lbx__type_storage dead_letter_type_storage;
static const lbx_type *dead_letter_type;
static pthread_once_t dead_letter_type_once = PTHREAD_ONCE_INIT;

static void
dead_letter_make_type(void)
{
    lbx_type_options options =
        lbx__record_type_options(&lbx__dead_letter_table);

    options.encode = dead_letter_encode;
    options.decode = dead_letter_decode;
    options.clone = NULL; // it would need a size of today's
    dead_letter_type =
        lbx__type_init_static(&dead_letter_type_storage, options);
}

const lbx_type *
lbx_dead_letter_record_type(void)
{
    (void)pthread_once(&dead_letter_type_once, dead_letter_make_type);
    return dead_letter_type;
}

bool
lbx__dead_letter_is_record(const lbx_letter *letter)
{
    const char *name = lbx_letter_type_name(letter);

    return name && strcmp(name, lbx__dead_letter_table.name) == 0;
}

/* ---- What a letter carries beside its body ---- */

lbx_status
lbx__dead_letter_cover_init(lbx__dead_letter_cover *cover,
                            const lbx_letter *letter,
                            const lbx_allocator *allocator, lbx_draft *draft)
{
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;
    lbx_attribute attribute;

    *cover = (lbx__dead_letter_cover){.allocator = allocator};
    while (lbx_letter_attribute_at(letter, cover->count, &attribute))
        cover->count++;
    if (cover->count > 0) {
        cover->attributes =
            lbx__alloc(allocator, cover->count * sizeof(*cover->attributes),
                       _Alignof(lbx_attribute));
        if (!cover->attributes)
            return LBX_NO_MEMORY;
        for (size_t i = 0; i < cover->count; i++)
            (void)lbx_letter_attribute_at(letter, i, &cover->attributes[i]);
    }
    if (lbx_letter_info_read(letter, &facts) == LBX_OK) {
        draft->group = facts.group;
        draft->trace = facts.trace;
        draft->in_reply_to = facts.in_reply_to;
    }
    draft->routes = lbx_letter_routes(letter);
    draft->attributes = cover->attributes;
    draft->attribute_count = cover->count;
    return LBX_OK;
}

void
lbx__dead_letter_cover_fini(lbx__dead_letter_cover *cover)
{
    if (cover->attributes)
        lbx__free(cover->allocator, cover->attributes,
                  cover->count * sizeof(*cover->attributes));
    cover->attributes = NULL;
}

/* ---- Sending back ---- */

/* Sends a body under the cover of the dead letter, and acknowledges that. */
static lbx_status
dead_letter_send_covered(lbx_letter *dead, lbx_postbox *to,
                         const lbx_draft *body, const char *reply_mailbox,
                         lbx_sent_letter *ret_sent)
{
    lbx_draft draft = *body;
    char token[LBX__DEAD_LETTER_TOKEN_BYTES];
    lbx_routes *routes = NULL;
    lbx__dead_letter_cover cover;
    lbx_status status = lbx__dead_letter_cover_init(&cover, dead, NULL, &draft);

    if (status != LBX_OK)
        return status;
    // A record that another program wrote has no routes.
    if (!draft.routes && reply_mailbox && reply_mailbox[0]) {
        status = lbx_routes_single(reply_mailbox, NULL, &routes);
        draft.routes = routes;
    }
    // DEAD-2.
    (void)snprintf(token, sizeof(token), "back:%s", lbx_letter_id(dead));
    draft.token = token;
    draft.deduplication_id = token;
    if (!draft.group)
        draft.group = lbx_letter_id(dead); // for a fifo box
    if (status == LBX_OK)
        status = lbx_letter_send_and_acknowledge(dead, to, &draft, ret_sent);
    lbx_routes_unref(routes);
    lbx__dead_letter_cover_fini(&cover);
    return status;
}

static lbx_status
dead_letter_send_record(lbx_letter *dead, lbx_postbox *to,
                        lbx_sent_letter *ret_sent)
{
    const lbx_dead_letter_record *record;
    lbx_draft draft;
    size_t size;
    const char *json = lbx_letter_body(dead, &size);
    void *decoded;
    lbx_status status = lbx__record_decode(&lbx__dead_letter_table, json, size,
                                           NULL, &decoded, NULL);

    if (status != LBX_OK)
        return status;
    record = decoded;
    draft = lbx_draft_of_bytes(record->body, record->body_bytes);
    draft.type_name = record->body_type;
    status = dead_letter_send_covered(dead, to, &draft, record->reply_mailbox,
                                      ret_sent);
    lbx_record_destroy(decoded);
    return status;
}

static lbx_status
dead_letter_send_itself(lbx_letter *dead, lbx_postbox *to,
                        lbx_sent_letter *ret_sent)
{
    lbx_draft draft = LBX_DRAFT_INIT;

    draft.body = lbx_letter_body(dead, &draft.body_bytes);
    draft.type_name = lbx_letter_type_name(dead);
    return dead_letter_send_covered(dead, to, &draft, NULL, ret_sent);
}

lbx_status
lbx_dead_letter_send_back(lbx_letter *dead, lbx_postbox *to,
                          lbx_sent_letter *ret_sent)
{
    lbx_sent_letter sent = {.status = LBX_PENDING};
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;
    lbx_status status = LBX_INVALID;

    if (dead && to && lbx__dead_letter_is_record(dead))
        status = dead_letter_send_record(dead, to, &sent);
    else if (dead && to && lbx_letter_info_read(dead, &facts) == LBX_OK &&
             facts.dead_letter_source)
        status = dead_letter_send_itself(dead, to, &sent);
    if (sent.status == LBX_PENDING)
        sent.status = status; // nothing was sent
    if (ret_sent)
        *ret_sent = sent;
    return status;
}

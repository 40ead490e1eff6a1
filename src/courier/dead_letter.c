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

static const lbx__record_field dead_letter_fields[] = {
    LBX__RECORD_FIELD(lbx_dead_letter_record, "message_id", ID, true,
                      message_id),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "body", BODY, true, body),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "body_type", TEXT, false,
                      body_type),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "source_mailbox", TEXT, false,
                      source_mailbox),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "delivery_count", COUNT, false,
                      delivery_count),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "last_error", TEXT, false,
                      last_error),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "last_error_type", TEXT, false,
                      last_error_type),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "dead_lettered_at", TIME, false,
                      dead_lettered_ms),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "first_received_at", TIME, false,
                      first_received_ms),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "request_id", ID, false,
                      request_id),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "reply_mailbox", TEXT, false,
                      reply_mailbox),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "trace_id", TEXT, false,
                      trace_id),
};

_Static_assert(offsetof(lbx_dead_letter_record, body_bytes) ==
                   offsetof(lbx_dead_letter_record, body) + sizeof(void *),
               "a body is a pointer and a size behind it");
_Static_assert(LBX__RECORD_FIELD_COUNT(dead_letter_fields) <=
                   LBX__RECORD_MAX_FIELDS,
               "a record has a limit");

LBX__SIZED(dead_letter_sized, lbx_dead_letter_record, trace_id,
           LBX_DEAD_LETTER_RECORD_INIT);

const lbx__record_kind lbx__dead_letter_kind = {
    "letterbox.DeadLetter", sizeof(lbx_dead_letter_record), dead_letter_fields,
    LBX__RECORD_FIELD_COUNT(dead_letter_fields), &dead_letter_sized};

/* In static memory: nothing to fail, nothing to free. */
static lbx__type_storage dead_letter_type_storage;
static const lbx_type *dead_letter_type;
static pthread_once_t dead_letter_type_once = PTHREAD_ONCE_INIT;

static void
dead_letter_make_type(void)
{
    dead_letter_type = lbx__record_make_type(&dead_letter_type_storage,
                                             &lbx__dead_letter_kind);
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

    return name && strcmp(name, lbx__dead_letter_kind.name) == 0;
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
    lbx_status status =
        lbx__record_decode(&lbx__dead_letter_kind, json, size, NULL, &decoded);

    if (status != LBX_OK)
        return status;
    record = decoded;
    draft = lbx_draft_of_bytes(record->body, record->body_bytes);
    draft.type_name = record->body_type;
    status = dead_letter_send_covered(dead, to, &draft, record->reply_mailbox,
                                      ret_sent);
    lbx__record_destroy(decoded);
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

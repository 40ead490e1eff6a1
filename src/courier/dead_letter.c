/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters on their way back.
 *
 * A letter dies in one of two ways. A courier puts it aside: then the dead letter
 * is a record, with the body inside it, and it carries what stood beside the body
 * (routes, attributes, trace, group) as its own, so that no form in JSON is needed
 * for that. Or a box moves it: then the dead letter is the letter. Either way there
 * is all it takes to send it again.
 *
 * B1  A dead letter is acknowledged only with what is sent back, or after that.
 * B2  What is sent back is a letter of its own: it never passes for a duplicate of
 *     the one that died, nor of an earlier way back. Only the same dead letter,
 *     when it is sent back again, is known by its token.
 */
#include "courier/dead_letter.h"

#include "base/alloc.h"
#include "courier/dead_letter_record.h"

#include <stdio.h>
#include <string.h>

enum {
    TOKEN_BYTES = 64
};

bool
lbx__dead_letter_is_record(const lbx_letter *letter)
{
    const char *name = lbx_letter_type_name(letter);

    return name && strcmp(name, lbx__dead_letter_kind.name) == 0;
}

/* ---- What stands beside a body ---- */

lbx_status
lbx__dead_letter_cover_init(lbx__dead_letter_cover *cover,
                            const lbx_letter *letter,
                            const lbx_allocator *allocator, lbx_draft *draft)
{
    lbx_letter_facts facts = {0};
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
    if (lbx_letter_facts_read(letter, &facts) == LBX_OK) {
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
send_covered(lbx_letter *dead, lbx_postbox *to, const lbx_draft *body,
             const char *reply_mailbox, lbx_sent *ret_sent)
{
    lbx_draft draft = *body;
    char token[TOKEN_BYTES];
    lbx_routes *routes = NULL;
    lbx__dead_letter_cover cover;
    lbx_status status = lbx__dead_letter_cover_init(&cover, dead, NULL, &draft);

    if (status != LBX_OK)
        return status;
    // A record of another hand, which has no routes.
    if (!draft.routes && reply_mailbox && reply_mailbox[0]) {
        status = lbx_routes_single(reply_mailbox, NULL, &routes);
        draft.routes = routes;
    }
    // B2.
    (void)snprintf(token, sizeof(token), "back:%s", lbx_letter_id(dead));
    draft.token = token;
    draft.duplicate_id = token;
    if (!draft.group)
        draft.group = lbx_letter_id(dead); // for a fifo box
    if (status == LBX_OK)
        status = lbx_letter_send_and_acknowledge(dead, to, &draft, ret_sent);
    lbx_routes_unref(routes);
    lbx__dead_letter_cover_fini(&cover);
    return status;
}

static lbx_status
send_record(lbx_letter *dead, lbx_postbox *to, lbx_sent *ret_sent)
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
    status = send_covered(dead, to, &draft, record->reply_mailbox, ret_sent);
    lbx__record_destroy(decoded);
    return status;
}

static lbx_status
send_itself(lbx_letter *dead, lbx_postbox *to, lbx_sent *ret_sent)
{
    lbx_draft draft = LBX_DRAFT_INIT;

    draft.bytes = lbx_letter_body(dead, &draft.size_bytes);
    draft.type_name = lbx_letter_type_name(dead);
    return send_covered(dead, to, &draft, NULL, ret_sent);
}

lbx_status
lbx_dead_letter_send_back(lbx_letter *dead, lbx_postbox *to, lbx_sent *ret_sent)
{
    lbx_sent sent = {.status = LBX_PENDING};
    lbx_letter_facts facts;
    lbx_status status = LBX_INVALID;

    if (dead && to && lbx__dead_letter_is_record(dead))
        status = send_record(dead, to, &sent);
    else if (dead && to && lbx_letter_facts_read(dead, &facts) == LBX_OK &&
             facts.dead_letter_source)
        status = send_itself(dead, to, &sent);
    if (sent.status == LBX_PENDING)
        sent.status = status; // it has not come to sending
    if (ret_sent)
        *ret_sent = sent;
    return status;
}

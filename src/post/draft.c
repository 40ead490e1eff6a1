/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drafts: the common kinds, and packing one as a parcel. DRAFT-1 is in draft.h.
 *
 * The checks come twice: the first, on every send, is quick; the second, after
 * a failure, finds the sentence for the fault.
 */
#include "post/draft.h"

#include "base/fault.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "codec/digest.h"
#include "codec/hex.h"
#include "post/rules/body.h"
#include "post/rules/row.h"

#include <inttypes.h>
#include <string.h>

LBX__SIZED(draft_sized, lbx_draft, in_reply_to, LBX_DRAFT_INIT);

static lbx_status
draft_write(const lbx_draft *draft, lbx_draft *ret)
{
    return ret ? LBX__SIZED_WRITE(ret, draft, lbx_draft, in_reply_to)
               : LBX_INVALID;
}

lbx_status
lbx_draft_read_bytes(const void *body, size_t body_bytes, lbx_draft *ret)
{
    lbx_draft draft = LBX_DRAFT_INIT;

    draft.body = body;
    draft.body_bytes = body_bytes;
    return draft_write(&draft, ret);
}

lbx_status
lbx_draft_read_text(const char *text, lbx_draft *ret)
{
    return lbx_draft_read_bytes(text, text ? strlen(text) : 0, ret);
}

lbx_status
lbx_draft_read_message(const lbx_type *type, const void *message,
                       lbx_draft *ret)
{
    lbx_draft draft = LBX_DRAFT_INIT;

    draft.type = type;
    draft.message = message;
    return draft_write(&draft, ret);
}

lbx_status
lbx__draft_check(const lbx_draft *draft, lbx_fault *fault)
{
    return lbx__sized_check(draft, &draft_sized, fault);
}

const lbx_draft *
lbx__draft_view(const lbx_draft *draft, lbx_draft *own, lbx_fault *fault)
{
    return lbx__sized_view(draft, own, &draft_sized, fault);
}

enum {
    DRAFT_MAX_NAME = 256, /* bytes of a type's or an attribute's name */
    DRAFT_MAX_ID = 128,   /* of a group, a duplicate id, a token */
    DRAFT_MAX_TEXT = 4096 /* of a trace header, of in_reply_to */
};

/* NULL, or UTF-8 of 1 to `max` bytes. */
static bool
draft_text_fits(const char *text, size_t max)
{
    return !text ||
           (text[0] && strnlen(text, max + 1) <= max && lbx__utf8_valid(text));
}

/* NULL, or 1 to 128 printable characters of ASCII. */
static bool
draft_name_fits(const char *text)
{
    size_t size = 0;

    if (!text)
        return true;
    for (; text[size]; size++) {
        if (text[size] <= ' ' || text[size] > '~' || size == DRAFT_MAX_ID)
            return false;
    }
    return size > 0;
}

static bool
draft_attribute_fits(const lbx_attribute *attribute)
{
    if (!attribute->name || !draft_text_fits(attribute->name, DRAFT_MAX_NAME) ||
        !draft_text_fits(attribute->label, DRAFT_MAX_NAME) ||
        (!attribute->value && attribute->value_bytes > 0))
        return false;
    switch (attribute->kind) {
    case LBX_ATTRIBUTE_STRING:
    case LBX_ATTRIBUTE_NUMBER:
        return lbx__utf8_valid_bytes(attribute->value, attribute->value_bytes);
    case LBX_ATTRIBUTE_BINARY:
        return true;
    }
    return false;
}

static bool
draft_attributes_fit(const lbx_draft *draft, const lbx_box_options *rules)
{
    if (draft->attribute_count > rules->limits.max_attributes ||
        draft->attribute_count > UINT16_MAX ||
        (draft->attribute_count > 0 && !draft->attributes))
        return false;
    for (size_t i = 0; i < draft->attribute_count; i++) {
        if (!draft_attribute_fits(&draft->attributes[i]))
            return false;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(draft->attributes[i].name, draft->attributes[j].name) ==
                0)
                return false;
        }
    }
    return true;
}

/* Not empty, and only characters that XML 1.0 allows. */
static bool
draft_is_plain_text(const char *text, size_t left)
{
    uint32_t code;

    if (left == 0)
        return false;
    while (left > 0) {
        const size_t length = lbx__utf8_decode(text, left, &code);

        if (length == 0 || code == 0xfffe || code == 0xffff ||
            (code < ' ' && code != '\t' && code != '\n' && code != '\r'))
            return false;
        text += length;
        left -= length;
    }
    return true;
}

/* Sets the delay of the parcel; INVALID when the box does not allow it. */
static lbx_status
draft_set_delay(lbx_parcel *parcel, const lbx_draft *draft,
                const lbx_box_options *rules)
{
    parcel->delay_ns = rules->delay_ns;
    if (draft->delay_ns == LBX_DEFAULT)
        return LBX_OK;
    if (draft->delay_ns < 0 || draft->delay_ns > rules->limits.max_delay_ns ||
        (rules->fifo && draft->delay_ns != 0))
        return LBX_INVALID;
    if (!rules->fifo)
        parcel->delay_ns = draft->delay_ns;
    return LBX_OK;
}

static lbx_status
draft_set_body(lbx__draft_packed *packed, const lbx_draft *draft,
               const lbx_allocator *allocator)
{
    lbx_parcel *parcel = &packed->parcel;
    lbx_status status;

    if (!draft->type) {
        if (!draft->body && draft->body_bytes > 0)
            return LBX_INVALID;
        parcel->body = draft->body ? draft->body : "";
        parcel->body_bytes = draft->body_bytes;
        parcel->type_name = draft->type_name;
        return LBX_OK;
    }
    if (!draft->message)
        return LBX_INVALID;
    lbx__buffer_init(&packed->body, allocator, LBX__DRAFT_MAX_BYTES);
    status = lbx_type_encode(draft->type, draft->message, &packed->body);
    if (status != LBX_OK)
        return status == LBX_UNSUPPORTED ? LBX_ENCODING : status;
    parcel->body = lbx__buffer_text(&packed->body);
    parcel->body_bytes = packed->body.size;
    parcel->type_name = lbx_type_name(draft->type);
    return LBX_OK;
}

static lbx_status
draft_check_size(const lbx_parcel *parcel, const lbx_box_limits *limits)
{
    const int64_t size = lbx__body_parcel_bytes(parcel);

    if (size > limits->max_letter_bytes || size > LBX__DRAFT_MAX_BYTES)
        return LBX_TOO_LARGE;
    // All else that is kept of a letter is less than its attributes count for,
    // three times, and some texts: a small letter fits.
    if (size > LBX__DRAFT_MAX_BYTES / 4 &&
        lbx__body_row_bytes(parcel) > LBX__ROW_VALUE_MAX - LBX__SUM_BYTES)
        return LBX_TOO_LARGE;
    return LBX_OK;
}

/* Computes the duplicate id from the body. */
static lbx_status
draft_hash_body(lbx__draft_packed *packed, const lbx_allocator *allocator)
{
    uint8_t hash[LBX__SHA256_BYTES];
    lbx__digest *digest;
    lbx_status status = lbx__digest_create(allocator, &digest);

    if (status != LBX_OK)
        return status;
    status = lbx__digest_all(digest, packed->parcel.body,
                             packed->parcel.body_bytes, hash);
    lbx__digest_destroy(digest);
    if (status != LBX_OK)
        return status;
    lbx__hex_encode(hash, sizeof(hash), packed->deduplication_id);
    packed->parcel.deduplication_id = packed->deduplication_id;
    return LBX_OK;
}

static lbx_status
draft_check_fifo(lbx__draft_packed *packed, const lbx_box_options *rules,
                 const lbx_allocator *allocator)
{
    const lbx_parcel *parcel = &packed->parcel;

    if (!rules->fifo)
        return LBX_OK;
    if (!parcel->group)
        return LBX_INVALID;
    if (parcel->deduplication_id)
        return LBX_OK;
    return rules->deduplicate_by_content ? draft_hash_body(packed, allocator)
                                         : LBX_INVALID;
}

static bool
draft_texts_fit(const lbx_draft *draft)
{
    return draft_text_fits(draft->type_name, DRAFT_MAX_NAME) &&
           draft_name_fits(draft->group) &&
           draft_name_fits(draft->deduplication_id) &&
           draft_text_fits(draft->token, DRAFT_MAX_ID) &&
           draft_text_fits(draft->trace, DRAFT_MAX_TEXT) &&
           draft_text_fits(draft->in_reply_to, DRAFT_MAX_TEXT);
}

lbx_status
lbx__draft_pack(lbx__draft_packed *packed, const lbx_draft *given,
                const lbx_box_options *rules, const lbx_allocator *allocator)
{
    lbx_draft own;
    const lbx_draft *draft = lbx__draft_view(given, &own, NULL);
    lbx_parcel *parcel = &packed->parcel;
    lbx_status status;

    memset(&packed->body, 0, sizeof(packed->body));
    if (!draft || !draft_texts_fit(draft) ||
        !draft_attributes_fit(draft, rules))
        return LBX_INVALID;
    *parcel = (lbx_parcel){
        .routes = draft->routes ? lbx_routes_json(draft->routes) : NULL,
        .attributes = draft->attributes,
        .attribute_count = draft->attribute_count,
        .group = draft->group,
        .deduplication_id = draft->deduplication_id,
        .token = draft->token,
        .trace = draft->trace,
        .in_reply_to = draft->in_reply_to,
    };
    status = draft_set_delay(parcel, draft, rules);
    if (status == LBX_OK)
        status = draft_set_body(packed, draft, allocator);
    if (status == LBX_OK)
        status = draft_check_size(parcel, &rules->limits);
    if (status == LBX_OK && rules->limits.text_only &&
        !draft_is_plain_text(parcel->body, parcel->body_bytes))
        status = LBX_INVALID;
    if (status == LBX_OK)
        status = draft_check_fifo(packed, rules, allocator);
    return status;
}

void
lbx__draft_packed_fini(lbx__draft_packed *packed)
{
    lbx__buffer_fini(&packed->body);
}

/* ---- Faults ---- */

static lbx_status
draft_explain_texts(const lbx_draft *draft, lbx_fault *fault)
{
    const struct {
        const char *name, *text;
        size_t max;
    } texts[] = {
        {"type_name", draft->type_name, DRAFT_MAX_NAME},
        {"token", draft->token, DRAFT_MAX_ID},
        {"trace", draft->trace, DRAFT_MAX_TEXT},
        {"in_reply_to", draft->in_reply_to, DRAFT_MAX_TEXT},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!draft_text_fits(texts[i].text, texts[i].max))
            return lbx__fault_set(
                fault, LBX_INVALID,
                "%s: allowed are 1 to %zu bytes of UTF-8, and "
                "NULL",
                texts[i].name, texts[i].max);
    }
    if (!draft_name_fits(draft->group) ||
        !draft_name_fits(draft->deduplication_id))
        return lbx__fault_set(
            fault, LBX_INVALID,
            "%s: allowed are 1 to %d printable ASCII characters "
            "without spaces, and NULL",
            draft_name_fits(draft->group) ? "deduplication_id" : "group",
            DRAFT_MAX_ID);
    return LBX_OK;
}

static lbx_status
draft_explain_attributes(const lbx_draft *draft, const lbx_box_options *rules,
                         lbx_fault *fault)
{
    if (draft->attribute_count > rules->limits.max_attributes)
        return lbx__fault_set(fault, LBX_INVALID,
                              "attribute_count is %zu; the box allows %" PRIu32,
                              draft->attribute_count,
                              rules->limits.max_attributes);
    if (draft->attribute_count > 0 && !draft->attributes)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "attributes is NULL, and attribute_count is not 0");
    for (size_t i = 0; i < draft->attribute_count; i++) {
        if (!draft_attribute_fits(&draft->attributes[i]))
            return lbx__fault_set(
                fault, LBX_INVALID,
                "attributes[%zu]: name and label are 1 to %d "
                "bytes of UTF-8, strings and numbers UTF-8, and "
                "kind an lbx_attribute_kind",
                i, DRAFT_MAX_NAME);
    }
    if (!draft_attributes_fit(draft, rules))
        return lbx__fault_set(
            fault, LBX_INVALID,
            "attributes: a name is there twice, or they are too "
            "many");
    return LBX_OK;
}

static lbx_status
draft_explain_delay(const lbx_draft *draft, const lbx_box_options *rules,
                    lbx_fault *fault)
{
    char most[LBX__FAULT_NUMBER_BYTES];
    lbx_parcel unused;

    if (draft_set_delay(&unused, draft, rules) == LBX_OK)
        return LBX_OK;
    if (rules->fifo)
        return lbx__fault_set(fault, LBX_INVALID,
                              "delay_ns is %" PRId64
                              "; a fifo box allows LBX_DEFAULT and 0",
                              draft->delay_ns);
    return lbx__fault_set(
        fault, LBX_INVALID,
        "delay_ns is %" PRId64 "; the box allows LBX_DEFAULT and 0 to %s",
        draft->delay_ns, lbx__fault_number(rules->limits.max_delay_ns, most));
}

/* The reasons that are left when texts, attributes and the delay are valid. */
static lbx_status
draft_explain_body(const lbx_draft *draft, const lbx_box_options *rules,
                   lbx_fault *fault)
{
    if (draft->type ? !draft->message : !draft->body && draft->body_bytes > 0)
        return lbx__fault_set(fault, LBX_INVALID, "the body is NULL");
    if (rules->fifo && !draft->group)
        return lbx__fault_set(fault, LBX_INVALID, "a fifo box needs a group");
    if (rules->fifo && !draft->deduplication_id &&
        !rules->deduplicate_by_content)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "a fifo box needs a deduplication_id, unless it has "
            "deduplicate_by_content");
    if (rules->limits.text_only)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "the box takes text only: UTF-8 that is not empty, "
            "with characters that XML 1.0 allows");
    return LBX_INVALID;
}

/* Of a letter that is sent alone. */
static int64_t
draft_max_bytes(const lbx_box_limits *limits)
{
    return limits->max_batch_bytes < limits->max_letter_bytes
               ? limits->max_batch_bytes
               : limits->max_letter_bytes;
}

lbx_status
lbx__draft_explain(const lbx_draft *given, const lbx_box_options *rules,
                   lbx_status status, lbx_fault *fault)
{
    const lbx_draft *draft;
    lbx_draft own;
    char most[LBX__FAULT_NUMBER_BYTES];

    if (!fault || (status != LBX_INVALID && status != LBX_TOO_LARGE))
        return status;
    if (status == LBX_TOO_LARGE)
        return lbx__fault_set(
            fault, status,
            "the letter is too large: the box allows %s bytes, "
            "and none is more than 64 MiB with all that is kept of it",
            lbx__fault_number(draft_max_bytes(&rules->limits), most));
    draft = lbx__draft_view(given, &own, fault);
    if (!draft)
        return status;
    if (draft_explain_texts(draft, fault) == LBX_OK &&
        draft_explain_attributes(draft, rules, fault) == LBX_OK &&
        draft_explain_delay(draft, rules, fault) == LBX_OK)
        (void)draft_explain_body(draft, rules, fault);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drafts: letters before they are sent.
 *
 * A draft is what to send and how. Start from one of the functions below or
 * LBX_DRAFT_INIT; most letters need no more than a body:
 *
 *     lbx_draft draft = lbx_draft_of_message(order_type, &order);
 *
 *     draft.routes = routes;           // where replies go
 *     draft.delay_ns = 5 * LBX_SECOND;
 *
 * The body is either bytes, as they are, or a message and its type, which
 * encodes it. Everything a draft points to is borrowed until the send is
 * finished, and copied by it.
 */
#ifndef LETTERBOX_POST_DRAFT_H
#define LETTERBOX_POST_DRAFT_H

#include <letterbox/base.h>
#include <letterbox/post/routes.h>
#include <letterbox/type.h>

LBX_BEGIN

/* A letter's id: a UUID as text in the stores of this library, at most 39
 * bytes in any. It stays the same when the letter is moved to dead letters. */
typedef struct lbx_id {
    char text[40];
} lbx_id;

/* What an attribute's value is. */
typedef enum lbx_attribute_kind {
    LBX_ATTRIBUTE_STRING = 0, /* UTF-8 */
    LBX_ATTRIBUTE_NUMBER,     /* its text */
    LBX_ATTRIBUTE_BINARY,
} lbx_attribute_kind;

/* A named value beside the body: a message attribute of SQS. Names that begin
 * with "lbx." are the library's. */
typedef struct lbx_attribute {
    const char *name;
    lbx_attribute_kind kind;
    const char *label; /* the custom part of the type, "float" in Number.float;
                          NULL: none */
    const void *value;
    size_t value_bytes;
} lbx_attribute;

typedef struct lbx_draft {
    size_t size_bytes; /* of the draft itself; LBX_DRAFT_INIT sets it */

    /* The body: bytes and, if it is known, their type's name; or a message and
     * its type, when `type` is not NULL. */
    const void *body;
    size_t body_bytes;
    const char *type_name;
    const lbx_type *type;
    const void *message;

    const lbx_routes *routes; /* NULL: no replies */
    int64_t delay_ns;         /* LBX_DEFAULT: the box's; at least 0. In fifo
                                 boxes always LBX_DEFAULT or 0, and the box's
                                 counts. */
    const lbx_attribute *attributes;
    size_t attribute_count;

    /* Fifo boxes: the group is required; the id of a duplicate too, unless the
     * box takes the body's hash. In other boxes the group names a tenant
     * (box.h). 1 to 128 printable ASCII characters. */
    const char *group;
    const char *deduplication_id;

    /* Sending again after LBX_UNKNOWN: a send with a token that the box has
     * seen in the last five minutes sends nothing and returns what the first
     * did. In any box; NULL: none. At most 128 bytes. */
    const char *token;

    const char *trace; /* a trace header, carried along; NULL: none */
    /* the id of the letter this replies to; replies get it automatically */
    const char *in_reply_to;
} lbx_draft;

#define LBX_DRAFT_INIT                                                         \
    {                                                                          \
        .size_bytes = sizeof(lbx_draft), .delay_ns = LBX_DEFAULT               \
    }

/*
 * lbx_draft_read_bytes() writes LBX_DRAFT_INIT with a body of bytes into
 * `ret`, whose `size_bytes` is set.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  the bytes are borrowed.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_draft_read_bytes(const void *body, size_t body_bytes,
                                        lbx_draft *ret);

/* lbx_draft_of_bytes() returns it, made in the program itself. */
LBX_INLINE lbx_draft
lbx_draft_of_bytes(const void *body, size_t body_bytes)
{
    lbx_draft draft;

    draft.size_bytes = sizeof(draft);
    (void)lbx_draft_read_bytes(body, body_bytes, &draft);
    return draft;
}

/*
 * lbx_draft_read_text() writes LBX_DRAFT_INIT with a text up to its NUL into
 * `ret`, whose `size_bytes` is set.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  the text is borrowed.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_draft_read_text(const char *text, lbx_draft *ret);

/* lbx_draft_of_text() returns it, made in the program itself. */
LBX_INLINE lbx_draft
lbx_draft_of_text(const char *text)
{
    lbx_draft draft;

    draft.size_bytes = sizeof(draft);
    (void)lbx_draft_read_text(text, &draft);
    return draft;
}

/*
 * lbx_draft_read_message() writes LBX_DRAFT_INIT with a message and its type
 * into `ret`, whose `size_bytes` is set.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  both are borrowed.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_draft_read_message(const lbx_type *type,
                                          const void *message, lbx_draft *ret);

/* lbx_draft_of_message() returns it, made in the program itself. */
LBX_INLINE lbx_draft
lbx_draft_of_message(const lbx_type *type, const void *message)
{
    lbx_draft draft;

    draft.size_bytes = sizeof(draft);
    (void)lbx_draft_read_message(type, message, &draft);
    return draft;
}

/* What became of a draft. Always written, also on failure. */
typedef struct lbx_sent_letter {
    lbx_status status; /* of this one */
    lbx_id id;         /* LBX_OK: its id; that of the first for a duplicate */
    uint64_t sequence; /* LBX_OK: its number in the box; growing */
    bool duplicate;    /* it was sent before, and is not there twice */
    uint64_t reserved[2]; /* 0: for later versions */
} lbx_sent_letter;

LBX_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_DRAFT_H
#define LETTERBOX_POST_DRAFT_H
#include <letterbox/base.h>
#include <letterbox/post/routes.h>
#include <letterbox/type.h>
LBX_BEGIN
typedef struct lbx_id {
    char text[40];
} lbx_id;
typedef enum lbx_attribute_kind {
    LBX_ATTRIBUTE_STRING = 0,
    LBX_ATTRIBUTE_NUMBER,
    LBX_ATTRIBUTE_BINARY,
} lbx_attribute_kind;
typedef struct lbx_attribute {
    const char *name;
    lbx_attribute_kind kind;
    const char *label;
    const void *value;
    size_t value_bytes;
} lbx_attribute;
typedef struct lbx_draft {
    size_t size_bytes;
    const void *body;
    size_t body_bytes;
    const char *type_name;
    const lbx_type *type;
    const void *message;
    const lbx_routes *routes;
    int64_t delay_ns;
    const lbx_attribute *attributes;
    size_t attribute_count;
    const char *group;
    const char *deduplication_id;
    const char *token;
    const char *trace;
    const char *in_reply_to;
} lbx_draft;
#define LBX_DRAFT_INIT                                                         \
    {                                                                          \
        .size_bytes = sizeof(lbx_draft), .delay_ns = LBX_DEFAULT               \
    }
LBX_API lbx_status lbx_draft_read_bytes(const void *body, size_t body_bytes,
                                        lbx_draft *ret);
LBX_INLINE lbx_draft
lbx_draft_of_bytes(const void *body, size_t body_bytes)
{
    lbx_draft draft;
    draft.size_bytes = sizeof(draft);
    (void)lbx_draft_read_bytes(body, body_bytes, &draft);
    return draft;
}
LBX_API lbx_status lbx_draft_read_text(const char *text, lbx_draft *ret);
LBX_INLINE lbx_draft
lbx_draft_of_text(const char *text)
{
    lbx_draft draft;
    draft.size_bytes = sizeof(draft);
    (void)lbx_draft_read_text(text, &draft);
    return draft;
}
LBX_API lbx_status lbx_draft_read_message(const lbx_type *type,
                                          const void *message, lbx_draft *ret);
LBX_INLINE lbx_draft
lbx_draft_of_message(const lbx_type *type, const void *message)
{
    lbx_draft draft;
    draft.size_bytes = sizeof(draft);
    (void)lbx_draft_read_message(type, message, &draft);
    return draft;
}
typedef struct lbx_sent_letter {
    lbx_status status;
    lbx_id id;
    uint64_t sequence;
    bool duplicate;
    uint64_t reserved[2];
} lbx_sent_letter;
LBX_END
#endif

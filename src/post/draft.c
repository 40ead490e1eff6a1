/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts of the common kinds. */
#include <letterbox/post/draft.h>

#include <string.h>

lbx_draft
lbx_draft_of_bytes(const void *bytes, size_t size_bytes)
{
    lbx_draft draft = LBX_DRAFT_INIT;

    draft.bytes = bytes;
    draft.size_bytes = size_bytes;
    return draft;
}

lbx_draft
lbx_draft_of_text(const char *text)
{
    return lbx_draft_of_bytes(text, text ? strlen(text) : 0);
}

lbx_draft
lbx_draft_of_message(const lbx_type *type, const void *message)
{
    lbx_draft draft = LBX_DRAFT_INIT;

    draft.type = type;
    draft.message = message;
    return draft;
}

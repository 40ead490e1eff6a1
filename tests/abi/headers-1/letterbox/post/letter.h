/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_LETTER_H
#define LETTERBOX_POST_LETTER_H
#include <letterbox/base.h>
#include <letterbox/operation.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/resolver.h>
LBX_BEGIN
typedef struct lbx_letter lbx_letter;
#define LBX_RECEIPT_BYTES 1028
LBX_API void lbx_letter_destroy(lbx_letter *letter);
LBX_API const char *lbx_letter_id(const lbx_letter *letter);
LBX_API const void *lbx_letter_body(const lbx_letter *letter,
                                    size_t *ret_size_bytes);
LBX_API LBX_MUST_USE lbx_status lbx_letter_message(lbx_letter *letter,
                                                   void **ret);
LBX_API LBX_MUST_USE lbx_status lbx_letter_take_message(lbx_letter *letter,
                                                        void **ret);
LBX_API bool lbx_letter_is_decodable(lbx_letter *letter);
LBX_API const lbx_type *lbx_letter_type(const lbx_letter *letter);
LBX_API const char *lbx_letter_type_name(const lbx_letter *letter);
LBX_API const lbx_routes *lbx_letter_routes(const lbx_letter *letter);
LBX_API bool lbx_letter_attribute(const lbx_letter *letter, const char *name,
                                  lbx_attribute *ret);
LBX_API bool lbx_letter_attribute_at(const lbx_letter *letter, size_t index,
                                     lbx_attribute *ret);
typedef struct lbx_letter_info {
    size_t size_bytes;
    uint32_t delivery_count;
    uint64_t sequence;
    int64_t sent_ms;
    int64_t first_received_ms;
    int64_t lease_ns;
    const char *group;
    const char *deduplication_id;
    const char *trace;
    const char *in_reply_to;
    const char *dead_letter_source;
} lbx_letter_info;
#define LBX_LETTER_INFO_INIT                                                   \
    {                                                                          \
        .size_bytes = sizeof(lbx_letter_info)                                  \
    }
LBX_API LBX_MUST_USE lbx_status lbx_letter_info_read(const lbx_letter *letter,
                                                     lbx_letter_info *ret);
LBX_API uint32_t lbx_letter_delivery_count(const lbx_letter *letter);
LBX_API LBX_MUST_USE lbx_status lbx_letter_receipt(const lbx_letter *letter,
                                                   char *buffer,
                                                   size_t size_bytes);
LBX_API bool lbx_letter_is_finalized(const lbx_letter *letter);
LBX_API LBX_MUST_USE lbx_status lbx_letter_acknowledge(lbx_letter *letter);
LBX_API LBX_MUST_USE lbx_status lbx_letter_nack(lbx_letter *letter,
                                                int64_t delay_ns);
LBX_API LBX_MUST_USE lbx_status lbx_letter_extend(lbx_letter *letter,
                                                  int64_t lease_ns);
LBX_API LBX_MUST_USE lbx_status lbx_letter_reply(lbx_letter *letter,
                                                 const lbx_draft *reply,
                                                 lbx_sent_letter *ret_sent,
                                                 lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_letter_reply_init(lbx_operation *operation,
                                                      lbx_letter *letter,
                                                      const lbx_draft *reply,
                                                      lbx_sent_letter *ret_sent,
                                                      lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_letter_reply_and_acknowledge(lbx_letter *letter, const lbx_draft *reply,
                                 lbx_sent_letter *ret_sent, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_letter_send_and_acknowledge(
    lbx_letter *letter, lbx_postbox *to, const lbx_draft *draft,
    lbx_sent_letter *ret_sent);
LBX_END
#endif

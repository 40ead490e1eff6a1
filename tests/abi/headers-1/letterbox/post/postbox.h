/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_POSTBOX_H
#define LETTERBOX_POST_POSTBOX_H
#include <letterbox/base.h>
#include <letterbox/operation.h>
#include <letterbox/post/box.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/letter.h>
#include <letterbox/post/resolver.h>
#include <letterbox/post/type_registry.h>
#include <letterbox/store.h>
LBX_BEGIN
typedef struct lbx_postbox_options {
    size_t size_bytes;
    const lbx_allocator *allocator;
    lbx_fault *fault;
    const lbx_box_options *box;
    bool must_exist;
    bool send_only;
    const lbx_store_options *store;
    const lbx_type_registry *types;
    const lbx_type *body_type;
    const lbx_type *reply_type;
    bool no_replies;
    lbx_resolver resolver;
    bool late_is_expired;
    bool refuse_undecodable;
    bool refuse_endless_wait;
} lbx_postbox_options;
#define LBX_POSTBOX_OPTIONS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_postbox_options)                              \
    }
LBX_API LBX_MUST_USE lbx_status lbx_postbox_open(
    const char *url, const lbx_postbox_options *options, lbx_postbox **ret);
LBX_API LBX_MUST_USE lbx_status
lbx_postbox_open_in(lbx_store *store, const char *name,
                    const lbx_postbox_options *options, lbx_postbox **ret);
LBX_API lbx_postbox *lbx_postbox_ref(lbx_postbox *postbox);
LBX_API void lbx_postbox_unref(lbx_postbox *postbox);
LBX_API const char *lbx_postbox_name(const lbx_postbox *postbox);
LBX_API lbx_store *lbx_postbox_store(const lbx_postbox *postbox);
LBX_API void lbx_postbox_close(lbx_postbox *postbox);
LBX_API bool lbx_postbox_is_closed(const lbx_postbox *postbox);
LBX_API bool lbx_postbox_is_send_only(const lbx_postbox *postbox);
LBX_API bool lbx_postbox_is_same_box(const lbx_postbox *one,
                                     const lbx_postbox *other);
LBX_API const lbx_box_options *
lbx_postbox_box_options(const lbx_postbox *postbox);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_send(lbx_postbox *postbox,
                                                 const void *bytes,
                                                 size_t size_bytes,
                                                 lbx_id *ret_id);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_send_draft(lbx_postbox *postbox,
                                                       const lbx_draft *draft,
                                                       lbx_sent_letter *ret);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_check_draft(lbx_postbox *postbox,
                                                        const lbx_draft *draft,
                                                        lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_send_batch(lbx_postbox *postbox,
                                                       const lbx_draft *drafts,
                                                       size_t count,
                                                       lbx_sent_letter *ret);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_send_init(
    lbx_operation *operation, lbx_postbox *postbox, const lbx_draft *drafts,
    size_t count, lbx_sent_letter *ret, int64_t deadline_ns);
typedef struct lbx_receive_options {
    size_t size_bytes;
    uint32_t max_letters;
    uint32_t min_letters;
    int64_t lease_ns;
    int64_t wait_ns;
    const char *attempt_id;
} lbx_receive_options;
#define LBX_RECEIVE_OPTIONS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_receive_options), .max_letters = 1,           \
        .min_letters = 1, .lease_ns = LBX_DEFAULT, .wait_ns = LBX_DEFAULT      \
    }
LBX_API LBX_MUST_USE lbx_status lbx_postbox_receive(lbx_postbox *postbox,
                                                    int64_t wait_ns,
                                                    lbx_letter **ret);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_receive_batch(
    lbx_postbox *postbox, const lbx_receive_options *options,
    lbx_letter **ret_letters, size_t *ret_count);
LBX_API LBX_MUST_USE lbx_status
lbx_postbox_receive_init(lbx_operation *operation, lbx_postbox *postbox,
                         const lbx_receive_options *options,
                         lbx_letter **ret_letters, size_t *ret_count);
typedef enum lbx_settle_action {
    LBX_SETTLE_ACKNOWLEDGE = 0,
    LBX_SETTLE_NACK,
    LBX_SETTLE_EXTEND,
} lbx_settle_action;
typedef struct lbx_settle_item {
    lbx_settle_action action;
    int64_t time_ns;
    lbx_letter *letter;
    const char *receipt;
    lbx_status status;
} lbx_settle_item;
LBX_API LBX_MUST_USE lbx_status lbx_postbox_settle_batch(
    lbx_postbox *postbox, lbx_settle_item *settles, size_t count);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_settle_init(
    lbx_operation *operation, lbx_postbox *postbox, lbx_settle_item *settles,
    size_t count, const lbx_draft *const *replies, lbx_sent_letter *ret_sent);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_purge(lbx_postbox *postbox,
                                                  uint64_t *ret_count);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_purge_init(lbx_operation *operation,
                                                       lbx_postbox *postbox,
                                                       uint64_t *ret_count);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_count(lbx_postbox *postbox,
                                                  lbx_box_counts *ret);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_count_init(lbx_operation *operation,
                                                       lbx_postbox *postbox,
                                                       lbx_box_counts *ret);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_peek(lbx_postbox *postbox,
                                                 uint64_t from,
                                                 size_t max_letters,
                                                 lbx_letter **ret_letters,
                                                 size_t *ret_count);
LBX_END
#endif

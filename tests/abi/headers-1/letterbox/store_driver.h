/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_STORE_DRIVER_H
#define LETTERBOX_STORE_DRIVER_H
#include <letterbox/base.h>
#include <letterbox/post/box.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/postbox.h>
#include <letterbox/store.h>
LBX_BEGIN
typedef struct lbx_box {
    uint64_t uid;
} lbx_box;
typedef enum lbx_call_kind {
    LBX_CALL_CREATE,
    LBX_CALL_CONFIGURE,
    LBX_CALL_DELETE,
    LBX_CALL_DESCRIBE,
    LBX_CALL_LIST,
    LBX_CALL_SEND,
    LBX_CALL_RECEIVE,
    LBX_CALL_SETTLE,
    LBX_CALL_UNDO,
    LBX_CALL_PEEK,
    LBX_CALL_PURGE,
    LBX_CALL_MOVE,
    LBX_CALL_SYNC,
} lbx_call_kind;
typedef struct lbx_call {
    lbx_call_kind kind;
    void *request;
    void *words[4];
    uint64_t reserved[6];
} lbx_call;
typedef struct lbx_parcel {
    const void *body;
    size_t body_bytes;
    const char *type_name;
    const char *routes;
    const lbx_attribute *attributes;
    size_t attribute_count;
    const char *group;
    const char *deduplication_id;
    const char *token;
    const char *trace;
    const char *in_reply_to;
    int64_t delay_ns;
    uint64_t reserved[2];
} lbx_parcel;
typedef struct lbx_send_request {
    lbx_box box;
    const lbx_parcel *parcels;
    size_t count;
    lbx_sent_letter *sent;
} lbx_send_request;
typedef struct lbx_receive_request {
    lbx_box box;
    uint32_t max_letters;
    uint32_t min_letters;
    int64_t lease_ns;
    int64_t wait_ns;
    const char *attempt_id;
} lbx_receive_request;
#define LBX_MAX_RECEIPT_BYTES 1024
typedef struct lbx_delivery {
    lbx_parcel parcel;
    lbx_id id;
    const void *receipt;
    size_t receipt_bytes;
    uint64_t sequence;
    uint32_t delivery_count;
    int64_t sent_ms;
    int64_t first_received_ms;
    const char *dead_letter_source;
    uint64_t reserved[2];
} lbx_delivery;
typedef struct lbx_attachment {
    lbx_box box;
    const lbx_parcel *parcel;
    lbx_sent_letter *sent;
} lbx_attachment;
#define LBX_MAX_ATTACHMENTS 2
typedef struct lbx_settle_request_entry {
    lbx_settle_action action;
    int64_t time_ns;
    const void *receipt;
    size_t receipt_bytes;
    const lbx_attachment *attachments;
    size_t attachment_count;
    lbx_status status;
    uint64_t reserved[2];
} lbx_settle_request_entry;
typedef struct lbx_settle_request {
    lbx_box box;
    lbx_settle_request_entry *entries;
    size_t count;
} lbx_settle_request;
typedef struct lbx_peek_request {
    lbx_box box;
    uint64_t from;
    uint32_t max_letters;
} lbx_peek_request;
typedef struct lbx_box_text {
    const char *name;
    const char *value;
} lbx_box_text;
#define LBX_BOX_SPACE_BYTES 32
typedef struct lbx_box_request {
    const char *space;
    const char *name;
    lbx_box box;
    const lbx_box_options *options;
    const lbx_box_text *texts;
    size_t text_count;
    lbx_box ret_box;
    char *buffer;
    lbx_box_options *ret_options;
    lbx_box_counts *ret_counts;
    void (*each_text)(void *context, const lbx_box_text *text);
    void *context;
    uint64_t ret_purged;
} lbx_box_request;
typedef struct lbx_list_request {
    const char *space;
    lbx_box dead_letters;
    const char *prefix;
    const char *after;
    bool (*each)(void *context, const char *name);
    void *context;
} lbx_list_request;
typedef enum lbx_move_action {
    LBX_MOVE_ACTION_START,
    LBX_MOVE_ACTION_DESCRIBE,
    LBX_MOVE_ACTION_CANCEL,
} lbx_move_action;
typedef struct lbx_move_request {
    lbx_move_action action;
    lbx_box from;
    lbx_box to;
    int64_t letters_per_second;
    uint32_t index;
    lbx_move_progress *ret;
} lbx_move_request;
typedef struct lbx_store_ops {
    size_t size_bytes;
    const char *scheme;
    lbx_durability (*durability)(lbx_store *store);
    lbx_status (*create)(lbx_store *store, lbx_call *call,
                         lbx_box_request *request);
    lbx_status (*configure)(lbx_store *store, lbx_call *call,
                            lbx_box_request *request);
    lbx_status (*remove)(lbx_store *store, lbx_call *call,
                         lbx_box_request *request);
    lbx_status (*describe)(lbx_store *store, lbx_call *call,
                           lbx_box_request *request);
    lbx_status (*list)(lbx_store *store, lbx_call *call,
                       lbx_list_request *request);
    lbx_status (*send)(lbx_store *store, lbx_call *call,
                       lbx_send_request *request);
    lbx_status (*receive)(lbx_store *store, lbx_call *call,
                          lbx_receive_request *request);
    lbx_status (*settle)(lbx_store *store, lbx_call *call,
                         lbx_settle_request *request);
    lbx_status (*undo)(lbx_store *store, lbx_call *call,
                       lbx_settle_request *request);
    lbx_status (*peek)(lbx_store *store, lbx_call *call,
                       lbx_peek_request *request);
    lbx_status (*purge)(lbx_store *store, lbx_call *call,
                        lbx_box_request *request);
    lbx_status (*move)(lbx_store *store, lbx_call *call,
                       lbx_move_request *request);
    lbx_status (*sync)(lbx_store *store, lbx_call *call);
    void (*cancel)(lbx_store *store, lbx_call *call);
    lbx_status (*receipt_text)(lbx_store *store, const void *receipt,
                               size_t receipt_bytes, char *buffer);
    lbx_status (*receipt_parse)(lbx_store *store, lbx_box box, const char *text,
                                void *ret_receipt, size_t *ret_bytes);
    void (*tick)(lbx_store *store);
    void (*close)(lbx_store *store);
} lbx_store_ops;
#define LBX_STORE_OPS_INIT                                                     \
    {                                                                          \
        .size_bytes = sizeof(lbx_store_ops)                                    \
    }
struct lbx_store {
    const lbx_store_ops *ops;
    uint64_t reserved[15];
};
LBX_API LBX_MUST_USE lbx_status lbx_store_init(lbx_store *store,
                                               const lbx_store_ops *ops);
LBX_API void lbx_call_finish(lbx_call *call, lbx_status status);
LBX_API LBX_MUST_USE lbx_status lbx_call_deliver(lbx_call *call,
                                                 const lbx_delivery *delivery);
typedef struct lbx_call_sink {
    void (*finish)(lbx_call *call, lbx_status status);
    lbx_status (*deliver)(lbx_call *call, const lbx_delivery *delivery);
} lbx_call_sink;
LBX_API void lbx_call_init(lbx_call *call, const lbx_call_sink *caller,
                           lbx_call_kind kind, void *request);
LBX_END
#endif

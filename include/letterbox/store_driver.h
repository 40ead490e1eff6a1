/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store contract: for people who write a store.
 *
 * A store keeps boxes of letters. Postboxes, letters, routes, types, couriers
 * and the server are built on the one table below; a store that keeps the
 * contract gets them all. Its promises are checked by the same suite and the
 * same model for every store (tests/contract, tests/model).
 *
 *     struct my_store {
 *         lbx_store base; // first: an lbx_store * is a my_store *
 *         ...
 *     };
 *
 *     lbx_store_init(&mine->base, &my_ops);
 *     lbx_postbox_open_in(&mine->base, "orders", NULL, &orders);
 *
 * Calls. Every entry gets an lbx_call and a request, both the caller's and
 * there until the call is finished. It returns a final status at once, or
 * LBX_PENDING, and then finishes the call, once, from any thread, with
 * lbx_call_finish(); that may come before the entry has returned. Requests are
 * batches: the status of the call is LBX_OK, or the first failure among the
 * entries; each entry has its own. A failure of the whole (LBX_UNREACHABLE,
 * LBX_UNKNOWN, LBX_IO) need not be written to the entries: those that have no
 * status of their own get that of the call.
 *
 * Statuses. LBX_OK means that the effect has the reported durability, and is
 * visible to every caller. A definite failure means that nothing happened.
 * Everything else is LBX_UNKNOWN: never guess.
 *
 * What the library does for a store, above the table: it checks arguments
 * against the box's limits, encodes and decodes, resolves replies, keeps the
 * letters. A store is never called with a lock of the library's held, and calls
 * lbx_call_finish() with none of its own: wakers run in it. lbx_call_deliver()
 * runs nothing but an allocator, and may be called under one.
 *
 * Rules that every store keeps:
 *
 * DRIVER-1  A letter is in exactly one state: delayed, ready, leased, gone.
 * DRIVER-2  Each delivery has a receipt of its own. Only the latest receipt of
 *           a letter changes anything; others return LBX_EXPIRED, or LBX_GONE
 *           when the letter was deleted, by itself or with its box. A receipt
 *           of another box, of a former life of this one, of before a purge, or
 *           one that the store did not make, is LBX_INVALID.
 * DRIVER-3  Claiming letters and leasing them is one step; so is each entry of
 *           a settle, with what is attached to it; so is moving to dead
 *           letters.
 * DRIVER-4  No letter is delivered before it is due. One that is due is
 *           delivered within a second while a receive waits, and at once after
 *           a send, a nack, the end of a delay or a lease, or a move.
 * DRIVER-5  The delivery count grows by one with each delivery, and only `undo`
 *           takes one back.
 * DRIVER-6  Waiting receives belong to the life of a box: when it is deleted
 *           they return LBX_CLOSED, and never see a later box of that name.
 * DRIVER-7  Order and groups are as <letterbox/post/box.h> defines.
 *
 * Threads    entries are called by any thread, at the same time.
 */
#ifndef LETTERBOX_STORE_DRIVER_H
#define LETTERBOX_STORE_DRIVER_H

#include <letterbox/base.h>
#include <letterbox/post/box.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/postbox.h>
#include <letterbox/store.h>

LBX_BEGIN

/* One incarnation of a box: what a name meant when it was looked up. A box that
 * is deleted and made again has another. Purging does not change it. 0 is
 * none. */
typedef struct lbx_box {
    uint64_t uid;
} lbx_box;

/* The entry that a call is for. */
typedef enum lbx_call_kind {
    LBX_CALL_CREATE,    /* lbx_box_request */
    LBX_CALL_CONFIGURE, /* lbx_box_request */
    LBX_CALL_DELETE,    /* lbx_box_request */
    LBX_CALL_DESCRIBE,  /* lbx_box_request */
    LBX_CALL_LIST,      /* lbx_list_request */
    LBX_CALL_SEND,      /* lbx_send_request */
    LBX_CALL_RECEIVE,   /* lbx_receive_request */
    LBX_CALL_SETTLE,    /* lbx_settle_request */
    LBX_CALL_UNDO,      /* lbx_settle_request */
    LBX_CALL_PEEK,      /* lbx_peek_request */
    LBX_CALL_PURGE,     /* lbx_box_request */
    LBX_CALL_MOVE,      /* lbx_move_request */
    LBX_CALL_SYNC,      /* NULL */
} lbx_call_kind;

/* A call under way. */
typedef struct lbx_call {
    lbx_call_kind kind;
    void *request;
    void *words[4];       /* the store's, until it finishes the call */
    uint64_t reserved[6]; /* the library's */
} lbx_call;

/* A letter's content, as a store keeps it. Texts end with a NUL, and are NULL
 * when there is none. */
typedef struct lbx_parcel {
    const void *body;
    size_t body_bytes;
    const char *type_name;
    const char *routes; /* JSON */
    const lbx_attribute *attributes;
    size_t attribute_count;
    const char *group;
    const char
        *deduplication_id; /* fifo: always there; made of the body if need
                                 be */
    const char *token;
    const char *trace;
    const char *in_reply_to;
    int64_t delay_ns;     /* never LBX_DEFAULT */
    uint64_t reserved[2]; /* 0: for later versions, as below */
} lbx_parcel;

typedef struct lbx_send_request {
    lbx_box box;
    const lbx_parcel *parcels;
    size_t count;          /* 1 to LBX_MAX_BATCH */
    lbx_sent_letter *sent; /* out: as many */
} lbx_send_request;

typedef struct lbx_receive_request {
    lbx_box box;
    uint32_t max_letters;
    uint32_t min_letters;
    int64_t lease_ns;       /* never LBX_DEFAULT */
    int64_t wait_ns;        /* never LBX_DEFAULT; negative: forever */
    const char *attempt_id; /* fifo; NULL: none */
} lbx_receive_request;

/* The receipt of a delivery, in the store's own form. */
#define LBX_MAX_RECEIPT_BYTES 1024

/* DRIVER-1; a letter that is gone is not shown. */
typedef enum lbx_letter_state {
    LBX_LETTER_STATE_UNKNOWN = 0, /* the store does not tell */
    LBX_LETTER_STATE_DELAYED,
    LBX_LETTER_STATE_READY,
    LBX_LETTER_STATE_LEASED,
} lbx_letter_state;

/* A delivery, as a store hands it to lbx_call_deliver(): everything is
 * copied. */
typedef struct lbx_delivery {
    lbx_parcel parcel; /* without token and delay */
    lbx_id id;
    const void *receipt;
    size_t receipt_bytes;
    uint64_t sequence;
    uint32_t delivery_count;
    lbx_letter_state state; /* of a peek */
    int64_t sent_ms;        /* wall time */
    int64_t first_received_ms;
    const char *dead_letter_source;
    uint64_t reserved[2];
} lbx_delivery;

/* A letter that is sent in the same step as another is settled. */
typedef struct lbx_attachment {
    lbx_box box; /* of the same store */
    const lbx_parcel *parcel;
    lbx_sent_letter *sent; /* out */
} lbx_attachment;

/* A reply, and a dead letter. */
#define LBX_MAX_ATTACHMENTS 2

/* In a box that is not strict, a receipt of an earlier delivery of the letter
 * is as good as that of its latest: the exception to DRIVER-2, for SQS. A store
 * may ignore it. */
#define LBX_SETTLE_ANY_DELIVERY 1U

typedef struct lbx_settle_request_entry {
    lbx_settle_action action;
    int64_t time_ns;
    const void *receipt;
    size_t receipt_bytes;

    /* Nothing is sent when the receipt is not current, and nothing is settled
     * when one of these cannot be sent. */
    const lbx_attachment *attachments;
    size_t attachment_count; /* at most LBX_MAX_ATTACHMENTS */

    lbx_status status; /* out */
    uint32_t flags;    /* LBX_SETTLE_ANY_DELIVERY, or 0 */
    uint64_t reserved[2];
} lbx_settle_request_entry;

typedef struct lbx_settle_request {
    lbx_box box;
    lbx_settle_request_entry *entries;
    size_t count; /* 1 to LBX_MAX_BATCH */
} lbx_settle_request;

typedef struct lbx_peek_request {
    lbx_box box;
    uint64_t from; /* sequence */
    uint32_t max_letters;
    uint32_t max_bytes; /* those shown have so many: no more; 0: no limit */
} lbx_peek_request;

/* A named text of a box: tags, and attributes that the library does not
 * read. */
typedef struct lbx_box_text {
    const char *name;
    const char *value; /* NULL in a change: take it away */
} lbx_box_text;

/* Boxes have a name in a space: an account and a region, for the server. Boxes
 * of one space do not see those of another. NULL is the space of programs. */
#define LBX_BOX_SPACE_BYTES 32

typedef struct lbx_box_request {
    const char *space; /* by name, */
    const char *name;
    lbx_box box; /* or, if not 0, this very life of it */

    /* CREATE and CONFIGURE. */
    const lbx_box_options *options;
    const lbx_box_text *texts; /* "tag:team", "sqs:Policy" */
    size_t text_count;

    /* Out. CREATE and DESCRIBE: `ret_box`, and into `ret_options`, `ret_counts`
     * and `each_text`, unless NULL, the rest; options' texts are in `buffer`,
     * of LBX_BOX_OPTIONS_BUFFER_BYTES. PURGE: `ret_purged`. */
    lbx_box ret_box;
    char *buffer;
    lbx_box_options *ret_options;
    lbx_box_counts *ret_counts;
    void (*each_text)(void *context, const lbx_box_text *text);
    void *context;
    uint64_t ret_purged;
} lbx_box_request;

/* Instead of a box in `dead_letters`: lists not boxes, but the spaces that have
 * some, except that of programs; `space` does not count. */
#define LBX_LIST_SPACES UINT64_MAX

typedef struct lbx_list_request {
    const char *space;
    lbx_box dead_letters; /* only those that put their dead letters there; 0:
                             all; or LBX_LIST_SPACES */
    const char *prefix;   /* NULL: all */
    const char *after;    /* NULL: from the first; else behind this name */
    bool (*each)(void *context, const char *name);
    void *context;
} lbx_list_request;

/* What to do about moving. */
typedef enum lbx_move_action {
    LBX_MOVE_ACTION_START, /* out: the state it starts with */
    /* out: the state of the `index`th latest, from 0 */
    LBX_MOVE_ACTION_DESCRIBE,
    LBX_MOVE_ACTION_CANCEL, /* the one that runs */
    /* As START; but a first letter that has no box to go back to starts a task,
     * which fails. */
    LBX_MOVE_ACTION_START_UNCHECKED,
} lbx_move_action;

typedef struct lbx_move_request {
    lbx_move_action action;
    lbx_box from;
    lbx_box to;                 /* 0: each letter's own source */
    int64_t letters_per_second; /* 0: as fast as it goes */
    uint32_t index;             /* the last ten are kept */
    lbx_move_progress *ret;     /* out, unless NULL */
} lbx_move_request;

/*
 * What a store can do. One const table for each kind of store. Entries marked
 * optional may be NULL, and then the library does what the entry describes.
 */
typedef struct lbx_store_ops {
    size_t size_bytes;  /* sizeof(lbx_store_ops) */
    const char *scheme; /* "memory", "file" */

    /* What an OK survives now. Required. Never waits. */
    lbx_durability (*durability)(lbx_store *store);

    /* Boxes. CREATE of one that exists with the given options is LBX_OK, with
     * others LBX_EXISTS; LBX_NOT_FOUND when dead_letters is not there, which
     * CONFIGURE asks only if it is another than before. CONFIGURE, DELETE and
     * DESCRIBE: LBX_NOT_FOUND. Required. */
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

    /* Keeps each parcel, all of it or none, and fills in `sent`. A token or an
     * id of a duplicate that was seen gets the result of the first time.
     * Required. Statuses: OK, FULL, TOO_LARGE, NO_SPACE, CLOSED (the box's life
     * is over), NO_MEMORY, UNREACHABLE, UNKNOWN, IO, CORRUPT. */
    lbx_status (*send)(lbx_store *store, lbx_call *call,
                       lbx_send_request *request);

    /* Leases letters and hands each to lbx_call_deliver(), before it finishes;
     * they count only if the call finishes with OK. PENDING while there is
     * none; but with a wait_ns of 0 it returns EMPTY at once, and is not
     * cancelled for that. The store need not watch a wait_ns: when it is over,
     * the library cancels; a store that has a server wait for it returns EMPTY.
     * A letter that cannot be handed over (NO_MEMORY) is put back as by undo.
     * Required. Statuses: OK, EMPTY, FULL (as many leased as may be), CLOSED,
     * and as above. */
    lbx_status (*receive)(lbx_store *store, lbx_call *call,
                          lbx_receive_request *request);

    /* Deletes, returns or extends by receipt, with what is attached. Required.
     * Statuses: OK, EXPIRED, GONE, INVALID, those of send for what is attached,
     * UNREACHABLE, UNKNOWN, IO, CORRUPT. */
    lbx_status (*settle)(lbx_store *store, lbx_call *call,
                         lbx_settle_request *request);

    /* Takes back deliveries that no receiver has seen: the letter is ready
     * again in its old position, and its count is what it was. The receipt
     * stays used. Optional: NULL means settle with LBX_SETTLE_NACK, time 0. */
    lbx_status (*undo)(lbx_store *store, lbx_call *call,
                       lbx_settle_request *request);

    /* Shows letters, by lbx_call_deliver() with receipt_bytes 0. Optional: NULL
     * means LBX_UNSUPPORTED. */
    lbx_status (*peek)(lbx_store *store, lbx_call *call,
                       lbx_peek_request *request);

    /* Deletes every letter of a box, and what it remembers of duplicates, in
     * one step. Optional: NULL means receive and acknowledge each. */
    lbx_status (*purge)(lbx_store *store, lbx_call *call,
                        lbx_box_request *request);

    /* Moves letters between boxes, each in one step. Optional: NULL means
     * LBX_UNSUPPORTED. */
    lbx_status (*move)(lbx_store *store, lbx_call *call,
                       lbx_move_request *request);

    /* Makes everything that returned before survive a power cut. Optional: NULL
     * means LBX_UNSUPPORTED. */
    lbx_status (*sync)(lbx_store *store, lbx_call *call);

    /* The caller cancels a PENDING call. What has not begun finishes with
     * LBX_CANCELLED, now or soon; what has, with what happened: a receive that
     * has letters already, with OK. It may be finished at this very moment by
     * another thread: `words` are as the store left them, and it is not
     * finished again. Finishing must not depend on another caller: the caller
     * waits for it. Required. */
    void (*cancel)(lbx_store *store, lbx_call *call);

    /* A receipt as text, of LBX_RECEIPT_BYTES at most, and back. INVALID for a
     * text that was not made by this store. Optional: NULL means that receipts
     * are text already. Never waits. */
    lbx_status (*receipt_text)(lbx_store *store, const void *receipt,
                               size_t receipt_bytes, char *buffer);
    lbx_status (*receipt_parse)(lbx_store *store, lbx_box box, const char *text,
                                void *ret_receipt, size_t *ret_bytes);

    /* An injected clock has moved. Optional: NULL means nothing to do. */
    void (*tick)(lbx_store *store);

    /* Frees everything. Required. Called once, last, with no call under way;
     * cannot fail. */
    void (*close)(lbx_store *store);
} lbx_store_ops;

#define LBX_STORE_OPS_INIT                                                     \
    {                                                                          \
        .size_bytes = sizeof(lbx_store_ops)                                    \
    }

/* What the struct of a store begins with. */
struct lbx_store {
    const lbx_store_ops *ops;
    uint64_t reserved[15]; /* the library's */
};

/*
 * lbx_store_init() makes a store of a table: one reference, the caller's. It is
 * closed, by `close`, when the last is released.
 *
 * Returns    LBX_OK; LBX_INVALID for a table of a size that is none or one with
 *            a required entry missing.
 * Ownership  the table must outlive the store; the memory stays the caller's,
 *            to be freed in `close`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_store_init(lbx_store *store,
                                               const lbx_store_ops *ops);

/*
 * lbx_call_finish() finishes a pending call. The call and its request must not
 * be touched afterwards.
 *
 * Threads    any; once per call that returned LBX_PENDING.
 * Since      0.1
 */
LBX_API void lbx_call_finish(lbx_call *call, lbx_status status);

/*
 * lbx_call_deliver() hands a letter to a receive or a peek that is not
 * finished.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY: it was not handed over.
 * Ownership  everything is copied.
 * Threads    the one that works on the call.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_call_deliver(lbx_call *call,
                                                 const lbx_delivery *delivery);

/* The functions that get the result of a call; for code that calls a store
 * itself: a test of one, or a store in front of others. */
typedef struct lbx_call_sink {
    void (*finish)(lbx_call *call, lbx_status status);
    lbx_status (*deliver)(lbx_call *call, const lbx_delivery *delivery);
} lbx_call_sink;

/*
 * lbx_call_init() makes a call of one's own, to be given to an entry of a
 * store's table with the same request. A status that the entry returns at once
 * is not passed to the sink.
 *
 * Ownership  the caller and the request must be there until the call is
 *            finished; so must the call.
 * Since      0.1
 */
LBX_API void lbx_call_init(lbx_call *call, const lbx_call_sink *caller,
                           lbx_call_kind kind, void *request);

LBX_END

#endif

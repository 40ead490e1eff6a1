/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postboxes: sending letters and receiving them.
 *
 *     lbx_postbox_open("file:/var/lib/shop/orders", NULL, &orders);
 *     lbx_postbox_send(orders, "a book", 6, NULL);
 *
 *     while (lbx_postbox_receive(orders, LBX_SECOND, &letter) == LBX_OK) {
 *         ...
 *         lbx_letter_acknowledge(letter);
 *         lbx_letter_destroy(letter);
 *     }
 *
 * What a plain call does, its operation does without a thread that waits: see
 * <letterbox/operation.h>, and lbx_event there for epoll, libuv and the like.
 * An operation touches the store at its first poll, which also asks resolvers.
 * Cancelling a receive takes nothing: letters that had come are put back, as if
 * they had not been delivered. Cancelling anything else that the store has
 * begun waits for the store, and reports what really happened.
 *
 * A call that returns LBX_OK has reached the store's durability. LBX_UNKNOWN is
 * neither success nor failure: see docs/errors.md.
 *
 * Threads    any, at the same time, unless an entry states otherwise. Receivers
 *            that wait in one process are served in the order they came; none
 *            is promised between processes.
 *
 * Caveats
 * - A lease that is shorter than the work makes the work happen twice. Take
 *   the longest run and a margin, or extend.
 * - A postbox goes by the rules its box had when it was opened. After a change
 *   of them, open it again.
 * - What a cancelled receive puts back, it puts back in the background. A
 *   process that ends right after the cancel may leave it leased; a plain call
 *   in between, as lbx_postbox_count(), is served after it.
 * - Wakers run in the store's own thread. One that waits for the store (a plain
 *   call, a cancel of another operation) may wait forever: set a flag, write an
 *   eventfd, or poll.
 */
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
    size_t size_bytes;              /* LBX_POSTBOX_OPTIONS_INIT sets it */
    const lbx_allocator *allocator; /* borrowed, as all pointers here */
    lbx_fault *fault;               /* filled in when opening fails */

    /* The box. */
    const lbx_box_options *box; /* how to create it, if it does not exist; one
                                   that does is used as it is. NULL: with
                                   LBX_BOX_OPTIONS_INIT */
    bool must_exist; /* LBX_NOT_FOUND instead of creating it, or its store */
    bool send_only;  /* receiving is LBX_UNSUPPORTED; cheaper to open */
    const lbx_store_options *store; /* by URL: for the store. NULL: defaults */

    /* What letters are. */
    const lbx_type_registry *types; /* decodes received bodies; may be NULL */
    const lbx_type *body_type;  /* what is sent: bodies of this type or derived
                                   from it; others are LBX_INVALID. NULL: any */
    const lbx_type *reply_type; /* the same for replies to letters from here */
    bool no_replies;            /* replies are LBX_INVALID */
    /* where replies go; none: addresses are boxes in the same store */
    lbx_resolver resolver;

    /* Stricter checks, all off by default. */
    bool late_is_expired;     /* settling a letter that was settled or deleted
                                 returns LBX_EXPIRED, not LBX_FINALIZED or
                                 LBX_GONE */
    bool refuse_undecodable;  /* a receive that cannot decode a letter returns
                                 LBX_ENCODING and leaves the letter leased */
    bool refuse_endless_wait; /* a receive without a limit of time is
                                 LBX_INVALID */
} lbx_postbox_options;

#define LBX_POSTBOX_OPTIONS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_postbox_options)                              \
    }

/*
 * lbx_postbox_open() opens a box by URL, "file:/var/lib/shop/orders" or
 * "memory:orders": the last part is the box. It and its store are created if
 * they do not exist. NULL options are LBX_POSTBOX_OPTIONS_INIT. %20 and the
 * like are decoded; a ?, a # and a ~ at the beginning are refused.
 *
 * Returns    LBX_OK; what lbx_store_open() and lbx_store_create_box() return;
 *            LBX_INVALID.
 * Ownership  the postbox is the caller's: lbx_postbox_unref().
 * Blocks     as opening a store does.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_open(
    const char *url, const lbx_postbox_options *options, lbx_postbox **ret);

/*
 * lbx_postbox_open_in() opens a box of a store by its name.
 *
 * Returns    as lbx_postbox_open().
 * Ownership  the postbox is the caller's; it keeps the store open.
 * Blocks     until a new box is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_postbox_open_in(lbx_store *store, const char *name,
                    const lbx_postbox_options *options, lbx_postbox **ret);

/*
 * lbx_postbox_ref() takes one more reference.
 *
 * Since      0.1
 */
LBX_API lbx_postbox *lbx_postbox_ref(lbx_postbox *postbox);

/*
 * lbx_postbox_unref() releases one reference; the last closes. Takes NULL. The
 * box and its letters stay.
 *
 * Since      0.1
 */
LBX_API void lbx_postbox_unref(lbx_postbox *postbox);

/*
 * lbx_postbox_name() is the box's name.
 *
 * Since      0.1
 */
LBX_API const char *lbx_postbox_name(const lbx_postbox *postbox);

/*
 * lbx_postbox_store() is the store the box is in; a double has one of its own.
 *
 * Since      0.1
 */
LBX_API lbx_store *lbx_postbox_store(const lbx_postbox *postbox);

/*
 * lbx_postbox_close() closes the handle, for all its users: sends and receives
 * return LBX_CLOSED, those that wait at once. Letters that were received before
 * can still be settled and replied to. Closing again does nothing.
 *
 * Since      0.1
 */
LBX_API void lbx_postbox_close(lbx_postbox *postbox);

/*
 * lbx_postbox_is_closed() returns whether it is closed, by lbx_postbox_close()
 * or because its box was deleted.
 *
 * Since      0.1
 */
LBX_API bool lbx_postbox_is_closed(const lbx_postbox *postbox);

/*
 * lbx_postbox_is_send_only() reports whether it was opened as `send_only`:
 * receiving from it is LBX_UNSUPPORTED. NULL is not.
 *
 * Since      0.1
 */
LBX_API bool lbx_postbox_is_send_only(const lbx_postbox *postbox);

/*
 * lbx_postbox_is_same_box() reports whether two postboxes are handles of one
 * box: the same store, and the same incarnation of the box in it.
 *
 * Since      0.1
 */
LBX_API bool lbx_postbox_is_same_box(const lbx_postbox *one,
                                     const lbx_postbox *other);

/*
 * lbx_postbox_box_options() are the rules by which the postbox works: those its
 * box had when it was opened. NULL for NULL.
 *
 * Ownership  borrowed: the postbox's.
 * Since      0.1
 */
LBX_API const lbx_box_options *
lbx_postbox_box_options(const lbx_postbox *postbox);

/*
 * lbx_postbox_send() sends bytes. `ret_id` may be NULL.
 *
 * Returns    LBX_OK; LBX_FULL; LBX_TOO_LARGE; LBX_CLOSED; LBX_INVALID;
 *            LBX_NO_SPACE; LBX_UNREACHABLE; LBX_UNKNOWN; and any I/O failure.
 * Ownership  the bytes are copied; the id is a copy.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_send(lbx_postbox *postbox,
                                                 const void *bytes,
                                                 size_t size_bytes,
                                                 lbx_id *ret_id);

/*
 * lbx_postbox_send_draft() sends one draft; `ret` may be NULL.
 *
 * Returns    as lbx_postbox_send(); LBX_ENCODING when the type cannot encode
 *            the message. lbx_postbox_check_draft() explains LBX_INVALID.
 * Ownership  all is copied; the message is still the caller's.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_send_draft(lbx_postbox *postbox,
                                                       const lbx_draft *draft,
                                                       lbx_sent_letter *ret);

/*
 * lbx_postbox_check_draft() returns whether a send of this draft would be
 * refused for what is in it, and `fault`, which may be NULL, names the field
 * and what is allowed. It sends nothing; a message is encoded to see how large
 * it is.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_TOO_LARGE; LBX_ENCODING; LBX_CLOSED;
 *            LBX_NO_MEMORY.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_check_draft(lbx_postbox *postbox,
                                                        const lbx_draft *draft,
                                                        lbx_fault *fault);

/*
 * lbx_postbox_send_batch() sends up to LBX_MAX_BATCH drafts. Each is wholly
 * sent or not at all, and `ret[i]` has its status; in a fifo box one that fails
 * does not block the others. `ret` may be NULL.
 *
 * Returns    LBX_OK when all were sent; otherwise the first failure.
 * Ownership  as lbx_postbox_send_draft().
 * Blocks     until they are durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_send_batch(lbx_postbox *postbox,
                                                       const lbx_draft *drafts,
                                                       size_t count,
                                                       lbx_sent_letter *ret);

/*
 * lbx_postbox_send_init() starts the same as an operation. Its final statuses
 * are those of lbx_postbox_send_batch(); LBX_CANCELLED and LBX_TIMEOUT: nothing
 * was sent.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  drafts, what they point to, and `ret` must live as long as the
 *            operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_send_init(
    lbx_operation *operation, lbx_postbox *postbox, const lbx_draft *drafts,
    size_t count, lbx_sent_letter *ret, int64_t deadline_ns);

typedef struct lbx_receive_options {
    size_t size_bytes;    /* LBX_RECEIVE_OPTIONS_INIT sets it */
    uint32_t max_letters; /* 1 to LBX_MAX_BATCH, else the nearer of the two */
    /* a wait is over when so many are there, or at its deadline; 1. Those
     * that came are leased meanwhile. */
    uint32_t min_letters;
    int64_t lease_ns; /* LBX_DEFAULT: the box's; 0: ready again at once */
    /* for the first letter. LBX_DEFAULT: the box's; 0: not at all; negative:
     * forever */
    int64_t wait_ns;
    const char *attempt_id; /* fifo: a receive that is repeated with the same id
                               within five minutes gets the same letters, as
                               long as none of them was settled. NULL: none */
} lbx_receive_options;

#define LBX_RECEIVE_OPTIONS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_receive_options), .max_letters = 1,           \
        .min_letters = 1, .lease_ns = LBX_DEFAULT, .wait_ns = LBX_DEFAULT      \
    }

/*
 * lbx_postbox_receive() leases the next letter, waiting up to `wait_ns` for
 * one: 0 not at all, negative forever.
 *
 * A letter that is damaged in its store is never handed out. Letters behind it
 * are; in a fifo box, those of other groups. When only damaged letters are
 * there, this returns LBX_CORRUPT at once, not LBX_EMPTY; it may also do so
 * when there are very many of them, and a few more receives get past them.
 * lbx_file_store_check() (<letterbox/post/file_store.h>) lists them.
 *
 * Returns    LBX_OK; LBX_EMPTY when none came; LBX_CLOSED; LBX_FULL when the
 *            box has as many leased as it may; LBX_UNREACHABLE; LBX_UNKNOWN;
 *            LBX_CORRUPT; and any I/O failure.
 * Ownership  the letter is the caller's: lbx_letter_destroy().
 * Blocks     until there is one.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_receive(lbx_postbox *postbox,
                                                    int64_t wait_ns,
                                                    lbx_letter **ret);

/*
 * lbx_postbox_receive_batch() leases several letters. It returns as soon as
 * there is one, with what is there. NULL options are LBX_RECEIVE_OPTIONS_INIT.
 *
 * Returns    LBX_OK with 1 letter or more; as lbx_postbox_receive(), with none.
 * Ownership  the letters are the caller's. `ret_letters` holds max_letters;
 *            `*ret_count` is always written.
 * Blocks     until there is one.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_receive_batch(
    lbx_postbox *postbox, const lbx_receive_options *options,
    lbx_letter **ret_letters, size_t *ret_count);

/*
 * lbx_postbox_receive_init() starts the same as an operation. It finishes as
 * lbx_postbox_receive_batch() does, at `wait_ns` with LBX_EMPTY. It can be
 * restarted.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_UNSUPPORTED for a send-only postbox.
 * Ownership  the options are copied; the attempt id and both outputs must live
 *            as long as the operation. Letters are the caller's on LBX_OK.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_postbox_receive_init(lbx_operation *operation, lbx_postbox *postbox,
                         const lbx_receive_options *options,
                         lbx_letter **ret_letters, size_t *ret_count);

/* What to do with a letter. */
typedef enum lbx_settle_action {
    LBX_SETTLE_ACKNOWLEDGE = 0,
    LBX_SETTLE_NACK,   /* time_ns: after how long it is ready again */
    LBX_SETTLE_EXTEND, /* time_ns: how long from now it stays leased */
} lbx_settle_action;

typedef struct lbx_settle_item {
    lbx_settle_action action;
    int64_t time_ns;
    lbx_letter *letter;  /* either a letter, */
    const char *receipt; /* or a receipt as text, from lbx_letter_receipt() */
    lbx_status status;   /* out; always written */
} lbx_settle_item;

/*
 * lbx_postbox_settle_batch() settles up to LBX_MAX_BATCH letters of this
 * postbox, each by itself.
 *
 * Returns    LBX_OK when all were settled; otherwise the first failure, as for
 *            lbx_letter_acknowledge() and the like. LBX_INVALID for a receipt
 *            that is not of this box or was not made by its store, also for a
 *            letter of another postbox.
 * Ownership  letters are still the caller's.
 * Threads    any; one at a time per letter.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_settle_batch(
    lbx_postbox *postbox, lbx_settle_item *settles, size_t count);

/*
 * lbx_postbox_settle_init() starts the same as an operation, with replies that
 * are sent along: `replies[i]`, unless it is NULL, replies to
 * `settles[i].letter`, which is acknowledged, as
 * lbx_letter_reply_and_acknowledge() does.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  everything given must live as long as the operation; `replies` and
 *            `ret_sent` may be NULL.
 * Threads    one at a time per operation and letter.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_settle_init(
    lbx_operation *operation, lbx_postbox *postbox, lbx_settle_item *settles,
    size_t count, const lbx_draft *const *replies, lbx_sent_letter *ret_sent);

/*
 * lbx_postbox_purge() deletes every letter: ready, delayed and leased. Their
 * receipts are invalid afterwards. `ret_count`, how many there were, may be
 * NULL.
 *
 * Returns    LBX_OK; LBX_CLOSED; LBX_UNREACHABLE; LBX_UNKNOWN; and any I/O
 *            failure.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_purge(lbx_postbox *postbox,
                                                  uint64_t *ret_count);

/*
 * lbx_postbox_purge_init() starts the same as an operation.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  `ret_count`, which may be NULL, must live as long as the
 *            operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_purge_init(lbx_operation *operation,
                                                       lbx_postbox *postbox,
                                                       uint64_t *ret_count);

/*
 * lbx_postbox_count() counts the letters, exactly in memory and in files.
 *
 * Returns    LBX_OK; LBX_CLOSED; LBX_UNREACHABLE; LBX_INVALID; and any I/O
 *            failure.
 * Ownership  a copy.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_count(lbx_postbox *postbox,
                                                  lbx_box_counts *ret);

/*
 * lbx_postbox_count_init() starts the same as an operation.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  `ret` must live as long as the operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_count_init(lbx_operation *operation,
                                                       lbx_postbox *postbox,
                                                       lbx_box_counts *ret);

/*
 * lbx_postbox_peek() shows letters without leasing them, `max_letters` at the
 * most, from sequence `from` on, whatever their state. They cannot be settled
 * or replied to (LBX_FINALIZED). Damaged ones are left out, as in
 * lbx_postbox_receive().
 *
 * Returns    LBX_OK; LBX_EMPTY; LBX_UNSUPPORTED; LBX_CLOSED; and any failure of
 *            the store.
 * Ownership  as lbx_postbox_receive_batch().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_peek(lbx_postbox *postbox,
                                                 uint64_t from,
                                                 size_t max_letters,
                                                 lbx_letter **ret_letters,
                                                 size_t *ret_count);

LBX_END

#endif

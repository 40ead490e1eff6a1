/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letters: what a postbox gives out, on a lease.
 *
 * A received letter is leased: for a while no other receiver gets it. Settle it
 * before the lease runs out, or it is delivered again, here or elsewhere:
 *
 *     lbx_letter_acknowledge(letter)    done: delete it
 *     lbx_letter_nack(letter, delay)    not now: give it back
 *     lbx_letter_extend(letter, lease)  still at it: this much longer from now
 *
 * So work may be done twice, after a crash or a lease that was too short:
 * handlers must cope with that. The lease is no lock. The delivery count shows
 * it.
 *
 * A receipt belongs to one delivery. After the letter has been delivered again
 * the old receipt returns LBX_EXPIRED and changes nothing.
 *
 * Replies. lbx_letter_reply() sends to where the letter's routes lead, any
 * number of times, until the letter is acknowledged or given back; then it is
 * LBX_FINALIZED. Reply first, acknowledge after: a crash in between makes the
 * reply twice, never not at all. lbx_letter_reply_and_acknowledge() is one step
 * when both postboxes are in one store. Replies carry the letter's id in
 * `in_reply_to`, the same each time.
 *
 * Passing on. lbx_letter_send_and_acknowledge() sends what has become of a
 * letter to a postbox of your choice, and acknowledges it, in the same way: the
 * next stage, another box, a box for those that failed.
 *
 * Threads    a letter is used by one thread at a time. It may go from thread to
 *            thread, and outlive its postbox.
 * Blocks     what changes the store waits until it has reached the store's
 *            durability. The operations of <letterbox/post/postbox.h> do not.
 */
#ifndef LETTERBOX_POST_LETTER_H
#define LETTERBOX_POST_LETTER_H

#include <letterbox/base.h>
#include <letterbox/operation.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/resolver.h>

LBX_BEGIN

typedef struct lbx_letter lbx_letter;

/* A receipt as text, with its NUL, for settling in another process. */
#define LBX_RECEIPT_BYTES 1028

/*
 * lbx_letter_destroy() frees a letter. One that is not settled stays leased
 * until its lease runs out, and is then delivered again. Takes NULL.
 *
 * Since      0.1
 */
LBX_API void lbx_letter_destroy(lbx_letter *letter);

/*
 * lbx_letter_id() is the letter's id, the one that its sender was given.
 *
 * Since      0.1
 */
LBX_API const char *lbx_letter_id(const lbx_letter *letter);

/*
 * lbx_letter_body() is the body's bytes, as they were sent, and a NUL behind
 * them; `ret_size_bytes`, without the NUL, may be NULL.
 *
 * Since      0.1
 */
LBX_API const void *lbx_letter_body(const lbx_letter *letter,
                                    size_t *ret_size_bytes);

/*
 * lbx_letter_message() is the body decoded by its type. It is decoded once;
 * then the same message is given again.
 *
 * Returns    LBX_OK; LBX_ENCODING when the body cannot be decoded;
 *            LBX_UNSUPPORTED when the type is not known here or cannot decode;
 *            LBX_NO_MEMORY; LBX_INVALID.
 * Ownership  the message is the letter's, which destroys it; see
 *            lbx_letter_take_message().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_message(lbx_letter *letter,
                                                   void **ret);

/*
 * lbx_letter_take_message() is the same, but the message goes to the caller.
 *
 * Returns    as lbx_letter_message().
 * Ownership  the message is the caller's; lbx_type_destroy_message() destroys
 *            it.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_take_message(lbx_letter *letter,
                                                        void **ret);

/*
 * lbx_letter_is_decodable() returns whether the body can be decoded by its
 * type, and the postbox accepts that type. A letter that is not is delivered
 * all the same, with its bytes, so that it can be put aside. True when the type
 * is not known here.
 *
 * Since      0.1
 */
LBX_API bool lbx_letter_is_decodable(lbx_letter *letter);

/*
 * lbx_letter_type() is the type of the body, as far as it is known here; NULL
 * if it is not.
 *
 * Since      0.1
 */
LBX_API const lbx_type *lbx_letter_type(const lbx_letter *letter);

/*
 * lbx_letter_type_name() is the name of the body's type, known here or not;
 * NULL when it was sent without.
 *
 * Since      0.1
 */
LBX_API const char *lbx_letter_type_name(const lbx_letter *letter);

/*
 * lbx_letter_routes() is where its replies go; NULL when it has no routes.
 *
 * Since      0.1
 */
LBX_API const lbx_routes *lbx_letter_routes(const lbx_letter *letter);

/*
 * lbx_letter_attribute() finds an attribute by name; false when there is none.
 *
 * Ownership  what `ret` points to is the letter's.
 * Since      0.1
 */
LBX_API bool lbx_letter_attribute(const lbx_letter *letter, const char *name,
                                  lbx_attribute *ret);

/*
 * lbx_letter_attribute_at() is an attribute by its index, in the order sent;
 * false past the end.
 *
 * Ownership  what `ret` points to is the letter's.
 * Since      0.1
 */
LBX_API bool lbx_letter_attribute_at(const lbx_letter *letter, size_t index,
                                     lbx_attribute *ret);

/* A letter and this delivery of it. Texts are the letter's. */
typedef struct lbx_letter_info {
    size_t size_bytes;         /* LBX_LETTER_INFO_INIT sets it */
    uint32_t delivery_count;   /* this one included: 1 is the first */
    uint64_t sequence;         /* its number in the box */
    int64_t sent_ms;           /* wall time, ms since 1970, UTC; for people */
    int64_t first_received_ms; /* the same */
    int64_t lease_ns;          /* how long it was leased, from the receive on */
    const char *group;         /* NULL: none; so below */
    const char *deduplication_id;
    const char *trace;
    const char *in_reply_to;
    const char *dead_letter_source; /* the box it came from */
} lbx_letter_info;

#define LBX_LETTER_INFO_INIT                                                   \
    {                                                                          \
        .size_bytes = sizeof(lbx_letter_info)                                  \
    }

/*
 * lbx_letter_info_read() copies the information about a letter.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  a copy; its texts are the letter's.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_info_read(const lbx_letter *letter,
                                                     lbx_letter_info *ret);

/*
 * lbx_letter_delivery_count() is how often the letter has been delivered, this
 * time included.
 *
 * Since      0.1
 */
LBX_API uint32_t lbx_letter_delivery_count(const lbx_letter *letter);

/*
 * lbx_letter_receipt() writes the receipt of this delivery as text, into a
 * buffer of LBX_RECEIPT_BYTES. It cannot be forged without the store's key.
 *
 * Returns    LBX_OK; LBX_INVALID for a buffer that is too small.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_receipt(const lbx_letter *letter,
                                                   char *buffer,
                                                   size_t size_bytes);

/*
 * lbx_letter_is_finalized() returns whether it was acknowledged or returned
 * (nack) through this handle.
 *
 * Since      0.1
 */
LBX_API bool lbx_letter_is_finalized(const lbx_letter *letter);

/*
 * lbx_letter_acknowledge() deletes the letter. On LBX_OK it is final.
 *
 * Returns    LBX_OK; LBX_FINALIZED; LBX_EXPIRED; LBX_GONE; LBX_UNKNOWN, and any
 *            I/O failure: then it is not final, and replies remain possible.
 * Threads    one at a time.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_acknowledge(lbx_letter *letter);

/*
 * lbx_letter_nack() returns the letter, to be delivered again after `delay_ns`;
 * 0: at once. On LBX_OK it is final.
 *
 * Returns    as lbx_letter_acknowledge(); LBX_INVALID for a delay that is
 *            negative or above the box's limit for leases.
 * Threads    one at a time.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_nack(lbx_letter *letter,
                                                int64_t delay_ns);

/*
 * lbx_letter_extend() makes the lease end `lease_ns` from now, also when that
 * is sooner. 0 returns the letter at once without being final.
 *
 * Returns    as lbx_letter_nack().
 * Threads    one at a time.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_extend(lbx_letter *letter,
                                                  int64_t lease_ns);

/*
 * lbx_letter_reply() sends `reply` where the letter's routes lead a body of its
 * type. Its `in_reply_to` is set, and in fifo boxes its group, unless given.
 * The reply is durable before this returns.
 *
 * Returns    LBX_OK; LBX_FINALIZED; LBX_NO_ROUTE, and then `fault` names the
 *            type and the routes there are; LBX_NO_REPLY without routes, or
 *            when the address they name cannot be resolved, which the fault
 *            names; LBX_INVALID for a body that the postbox does not take for a
 *            reply; and what the send returns. Nothing is settled.
 * Ownership  both outputs are the caller's, and may be NULL.
 * Threads    one at a time.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_reply(lbx_letter *letter,
                                                 const lbx_draft *reply,
                                                 lbx_sent_letter *ret_sent,
                                                 lbx_fault *fault);

/*
 * lbx_letter_reply_init() starts the same as an operation.
 *
 * Returns    LBX_OK; LBX_INVALID. The final status is that of
 *            lbx_letter_reply().
 * Ownership  the letter, the reply and what it points to, and both outputs must
 *            live as long as the operation.
 * Threads    one at a time per operation and letter.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_reply_init(lbx_operation *operation,
                                                      lbx_letter *letter,
                                                      const lbx_draft *reply,
                                                      lbx_sent_letter *ret_sent,
                                                      lbx_fault *fault);

/*
 * lbx_letter_reply_and_acknowledge() sends a reply and deletes the letter: in
 * one step where both live in the same store, otherwise one after the other.
 * A receipt that is not current any more sends nothing, in one step; and after
 * the reply has been sent is LBX_EXPIRED, one after the other.
 *
 * Returns    as lbx_letter_reply() and lbx_letter_acknowledge(). On anything
 *            but LBX_OK the letter is not settled.
 * Ownership  as lbx_letter_reply().
 * Threads    one at a time.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_letter_reply_and_acknowledge(lbx_letter *letter, const lbx_draft *reply,
                                 lbx_sent_letter *ret_sent, lbx_fault *fault);

/*
 * lbx_letter_reply_message() is lbx_letter_reply() with a message, which is
 * encoded by its type: a typed reply in one call.
 *
 * Returns    as lbx_letter_reply(); LBX_ENCODING.
 * Ownership  all is copied; the fault is the caller's, and may be NULL.
 * Threads    one at a time.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_INLINE LBX_MUST_USE lbx_status
lbx_letter_reply_message(lbx_letter *letter, const lbx_type *type,
                         const void *message, lbx_fault *fault)
{
    const lbx_draft reply = lbx_draft_of_message(type, message);

    return lbx_letter_reply(letter, &reply, NULL, fault);
}

/*
 * lbx_letter_reply_message_and_acknowledge() is
 * lbx_letter_reply_and_acknowledge() in the same way.
 *
 * Returns    as lbx_letter_reply_and_acknowledge(); LBX_ENCODING.
 * Ownership  as lbx_letter_reply_message().
 * Threads    one at a time.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_INLINE LBX_MUST_USE lbx_status
lbx_letter_reply_message_and_acknowledge(lbx_letter *letter,
                                         const lbx_type *type,
                                         const void *message, lbx_fault *fault)
{
    const lbx_draft reply = lbx_draft_of_message(type, message);

    return lbx_letter_reply_and_acknowledge(letter, &reply, NULL, fault);
}

/*
 * lbx_letter_send_and_acknowledge() sends a draft to `to` and deletes the
 * letter: in one step where both live in the same store, otherwise one after
 * the other. In one step both happen or nothing does, and a receipt that is not
 * current any more sends nothing. One after the other, the draft may have been
 * sent when this does not return LBX_OK: give it a token, made of the letter's
 * id, and it is there once however often it is tried again.
 *
 * Returns    as lbx_postbox_send_draft() to `to` and lbx_letter_acknowledge().
 *            On anything but LBX_OK the letter is not settled.
 * Ownership  all is copied; `ret_sent` is the caller's, and may be NULL.
 * Threads    one at a time.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_letter_send_and_acknowledge(
    lbx_letter *letter, lbx_postbox *to, const lbx_draft *draft,
    lbx_sent_letter *ret_sent);

LBX_END

#endif

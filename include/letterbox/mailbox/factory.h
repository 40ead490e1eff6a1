/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The factory: mailboxes by the name of their kind, and kinds of your own.
 *
 *     lbx_producer *in;
 *     lbx_consumer *out;
 *
 *     status = lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out);
 *
 * gives the two linked handles of one new mailbox. Handles are counted: copy
 * one with ref, release it with unref. When the last producer is released, the
 * mailbox closes and the consumers get what is left, then LBX_CLOSED. When the
 * last consumer is released, senders get LBX_CLOSED and what is left is lost.
 * When both are gone and no operation is left, the memory is freed. So a loop
 * that stops at LBX_CLOSED stops only when *every* producer has been released
 * or lbx_mailbox_close() has been called.
 *
 * Kinds (capacity and policy come from the options; a limited unbounded kind
 * or an unlimited bounded one is refused):
 *
 *   name                         order      consumers  notes
 *   "unbounded"                  FIFO       several    the default
 *   "unbounded-single-consumer"  FIFO       one        the fastest
 *   "bounded"                    FIFO       several
 *   "unbounded-priority"         priority   several    FIFO among equals
 *   "bounded-priority"           priority   several
 *   "unbounded-control-aware"    two lanes  several    control messages first
 *   "bounded-control-aware"      two lanes  several
 *   "unbounded-deque"            FIFO       several    can send to the front
 *   "bounded-deque"              FIFO       several
 *
 * "priority", "control-aware" and "deque" are short for the unbounded ones.
 * Priority kinds keep equals in order of arrival, so that "stable-priority"
 * names ("unbounded-stable-priority" ...) are the same kinds. When memory runs
 * out, messages that are not sorted yet leave in order of arrival.
 */
#ifndef LETTERBOX_MAILBOX_FACTORY_H
#define LETTERBOX_MAILBOX_FACTORY_H

#include <letterbox/base.h>
#include <letterbox/mailbox/options.h>

LBX_BEGIN

#define LBX_KIND_UNBOUNDED                 "unbounded"
#define LBX_KIND_UNBOUNDED_SINGLE_CONSUMER "unbounded-single-consumer"
#define LBX_KIND_BOUNDED                   "bounded"
#define LBX_KIND_UNBOUNDED_PRIORITY        "unbounded-priority"
#define LBX_KIND_BOUNDED_PRIORITY          "bounded-priority"
#define LBX_KIND_UNBOUNDED_CONTROL_AWARE   "unbounded-control-aware"
#define LBX_KIND_BOUNDED_CONTROL_AWARE     "bounded-control-aware"
#define LBX_KIND_UNBOUNDED_DEQUE           "unbounded-deque"
#define LBX_KIND_BOUNDED_DEQUE             "bounded-deque"

/* What a mailbox can do. LBX_CAPABILITY_BOUND and LBX_CAPABILITY_BLOCK depend
 * on its options as well as its kind. */
typedef enum lbx_capability {
    LBX_CAPABILITY_MULTI_PRODUCE = 1 << 0,
    LBX_CAPABILITY_MULTI_CONSUME = 1 << 1,
    LBX_CAPABILITY_SEND_FRONT = 1 << 2, /* a deque */
    LBX_CAPABILITY_CONTROL = 1 << 3,
    LBX_CAPABILITY_PRIORITIZE = 1 << 4,
    LBX_CAPABILITY_BOUND = 1 << 5,
    LBX_CAPABILITY_BLOCK = 1 << 6, /* sends may wait until there is space */
} lbx_capability;

/*
 * lbx_mailbox_create() makes a mailbox of the kind called `kind`; NULL is
 * "bounded" if the options give it a capacity, else "unbounded". `options` may
 * be NULL for all defaults.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND for an unknown kind; LBX_INVALID for options
 *            that the kind cannot keep (options->fault names it and what is
 *            allowed); LBX_NO_MEMORY.
 * Ownership  both handles are the caller's: one reference each, released with
 *            lbx_producer_unref() and lbx_consumer_unref().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_mailbox_create(const char *kind, const lbx_mailbox_options *options,
                   lbx_producer **ret_producer, lbx_consumer **ret_consumer);

/*
 * A kind of your own is a way to *keep* messages. Policies, capacity, lanes,
 * waiting, close and metrics stay the mailbox's, and work with it unchanged.
 * Such a mailbox is unlimited unless its options give it a capacity.
 *
 * All entries of one storage are called one at a time, under the mailbox's
 * storage lock: they must be quick, must not use the mailbox, and need no
 * locking of their own. Envelopes are copied in and out.
 */
typedef struct lbx_kind_ops {
    size_t size_bytes; /* sizeof(lbx_kind_ops) */
    /* LBX_CAPABILITY_SEND_FRONT and LBX_CAPABILITY_PRIORITIZE, if you have
     * them */
    uint32_t capabilities;

    /* Makes an empty storage for a new mailbox. `kind_context` is the kind's.
     * Required. Statuses: OK, NO_MEMORY, INVALID, REFUSED. */
    lbx_status (*create)(void *kind_context, const lbx_mailbox_options *options,
                         void **ret_storage);

    /* Frees a storage, which the mailbox has emptied with pop. Required. Cannot
     * fail. */
    void (*destroy)(void *storage);

    /* Keeps a copy of `envelope`. Required. NO_MEMORY, REFUSED and FULL leave
     * no trace and go to the sender as they are, whatever the policy; the
     * sender keeps the message, and the mailbox stays open. */
    lbx_status (*push)(void *storage, const lbx_envelope *envelope);

    /* Takes the next message out; false when there is none. Required. */
    bool (*pop)(void *storage, lbx_envelope *ret);

    /* Like push, but to be taken next. Needed for LBX_CAPABILITY_SEND_FRONT,
     * else NULL. */
    lbx_status (*push_front)(void *storage, const lbx_envelope *envelope);

    /* Takes out the message that matters least, for LBX_OVERFLOW_DROP_OLDEST;
     * false when there is none. NULL: the next one, as pop. */
    bool (*evict)(void *storage, lbx_envelope *ret);
} lbx_kind_ops;

#define LBX_KIND_OPS_INIT                                                      \
    {                                                                          \
        .size_bytes = sizeof(lbx_kind_ops)                                     \
    }

/*
 * lbx_kind_registry_create() makes a registry that knows the built-in kinds.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the registry is the caller's and must outlive the mailboxes made
 *            from it.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_kind_registry_create(
    const lbx_allocator *allocator, lbx_kind_registry **ret);

/*
 * lbx_kind_registry_destroy() destroys a registry. Takes NULL.
 *
 * Since      0.1
 */
LBX_API void lbx_kind_registry_destroy(lbx_kind_registry *kinds);

/*
 * lbx_kind_registry_add() registers a kind of your own under `name`, which is
 * copied.
 *
 * Returns    LBX_OK; LBX_EXISTS when the name is taken; LBX_INVALID for an
 *            empty name, a table of a size that is none, or one with a required
 *            entry missing; LBX_NO_MEMORY.
 * Ownership  `ops` and `kind_context` stay yours and must outlive the registry.
 * Threads    one at a time, and not while mailboxes are created from it.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_kind_registry_add(lbx_kind_registry *kinds,
                                                      const char *name,
                                                      const lbx_kind_ops *ops,
                                                      void *kind_context);

/*
 * lbx_kind_registry_capabilities() returns what mailboxes of the kind `name`
 * can do; 0 when there is no such kind. `kinds` may be NULL for the built-in.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API uint32_t lbx_kind_registry_capabilities(const lbx_kind_registry *kinds,
                                                const char *name);

/* Whether mailboxes of a kind have a capacity. */
typedef enum lbx_kind_capacity {
    LBX_KIND_CAPACITY_NONE,     /* they must not */
    LBX_KIND_CAPACITY_OPTIONAL, /* they may: kinds of your own */
    LBX_KIND_CAPACITY_REQUIRED, /* they must */
} lbx_kind_capacity;

/*
 * lbx_kinds_find() is the proper name of the kind called `name`, which may be
 * another name for it ("deque" is "unbounded-deque"); NULL when there is no
 * such kind. `kinds` may be NULL for the built-in; `ret_capacity` may be NULL.
 *
 * Ownership  the name is the registry's; those of built-in kinds are static.
 * Threads    any, but not during lbx_kind_registry_add().
 * Since      0.1
 */
LBX_API const char *lbx_kinds_find(const lbx_kind_registry *kinds,
                                   const char *name,
                                   lbx_kind_capacity *ret_capacity);

LBX_END

#endif

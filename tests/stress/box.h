/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box: what storms send to and receive from. Either a mailbox of the library
 * or a mini mailbox with a bug planted in it, so that the same storm that finds
 * nothing in the one must find the bug in the other.
 */
#ifndef LBX_TEST_STRESS_BOX_H
#define LBX_TEST_STRESS_BOX_H

#include <letterbox/mailbox.h>
#include <letterbox/mailbox/messages.h>

#include "stress/mini.h"

struct box;

/* An operation under way on a box. `message` is a receive's result. */
struct box_wait {
    struct box *box;
    void *message;
    lbx_operation operation;
    struct mini_wait mini;
};

/* The meanings are those of the library's functions of the same names. */
struct box_ops {
    lbx_status (*try_send)(struct box *box, void *message);
    lbx_status (*try_receive)(struct box *box, void **ret);
    lbx_status (*send_until)(struct box *box, void *message,
                             int64_t deadline_ns);
    lbx_status (*receive_until)(struct box *box, void **ret,
                                int64_t deadline_ns);
    void (*send_start)(struct box *box, struct box_wait *wait, void *message,
                       int64_t deadline_ns);
    void (*receive_start)(struct box *box, struct box_wait *wait,
                          int64_t deadline_ns);
    lbx_status (*poll)(struct box_wait *wait, const lbx_waker *waker);
    lbx_status (*cancel)(struct box_wait *wait);
    void (*end)(struct box_wait *wait);
    void (*numbers)(struct box *box, lbx_mailbox_stats *ret);
    void (*rescue)(struct box *box); // closes: everyone who waits comes back
    void (*fini)(struct box *box);
};

/* Which lane or priority a message gets, made from its number. */
enum box_ranks {
    BOX_PLAIN,
    BOX_PRIORITIES, // number % 4
    BOX_LANES,      // number % 4: control, else user; number % 16: system
};

struct box {
    const struct box_ops *ops;
    const char *name;
    enum box_ranks ranks;
    lbx_producer *producer;
    lbx_consumer *consumer;
    struct mini mini;
};

/* A kind and policy of the library to be stormed. */
struct box_case {
    const char *name;
    const char *kind;
    int64_t capacity; // 0: unlimited
    lbx_overflow overflow;
    enum box_ranks ranks;
    bool one_consumer;
    lbx_loss_sink sink; // may be left out
};

/* Rows of tables of cases: BOX_BLOCKING("bounded", BOUNDED, 4, BOX_PLAIN). */
#define BOX_UNLIMITED(text, kind_, ranks_)                                     \
    {                                                                          \
        .name = text, .kind = LBX_KIND_##kind_, .ranks = ranks_                \
    }
#define BOX_SINGLE_CONSUMER                                                    \
    {                                                                          \
        .name = "single-consumer", .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, \
        .one_consumer = true                                                   \
    }
#define BOX_REJECTING(text, kind_, limit)                                      \
    {                                                                          \
        .name = text " " #limit, .kind = LBX_KIND_##kind_, .capacity = limit   \
    }
#define BOX_BLOCKING(text, kind_, limit, ranks_)                               \
    {                                                                          \
        .name = text " " #limit " BLOCK", .kind = LBX_KIND_##kind_,            \
        .capacity = limit, .overflow = LBX_OVERFLOW_BLOCK, .ranks = ranks_     \
    }

void box_open(struct box *box, const struct box_case *how);
/* A box over handles that stay the caller's: no fini. */
void box_borrow(struct box *box, const struct box_case *how,
                lbx_producer *producer, lbx_consumer *consumer);
void box_open_mini(struct box *box, unsigned bug, size_t capacity);
/* The envelope that a message of this number gets. */
lbx_envelope box_envelope(const struct box *box, void *message);
unsigned box_rank(enum box_ranks ranks, uint64_t number);
/* The box's numbers as one line for people. */
void box_describe(struct box *box, char *text, size_t size);

#endif

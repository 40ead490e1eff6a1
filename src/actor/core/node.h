/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes: a message on its way to an actor, and the pool they come from.
 *
 * A node is one cache line. Threads take and give nodes through a cache of
 * their own, by thread number, and exchange whole magazines of them through a
 * depot: one lock for 64 nodes. A node may be given by another thread than took
 * it. Memory goes back to the system with the pool.
 *
 * P1  A cache belongs to the thread that has its number; threads without a
 *     number share the last one, under its lock.
 * P2  A magazine is full: MAGAZINE nodes linked by `next`. In the depot
 *     magazines are linked by their first node's `message`.
 */
#ifndef LBX_ACTOR_NODE_H
#define LBX_ACTOR_NODE_H

#include "base/atomic.h"
#include "base/lock.h"
#include <letterbox/mailbox/messages.h>
#include <stdalign.h>

/* Who waits to hear how a message was handled (lbx_handled_init()): its sender.
 * The duty to say so travels with the message, through mailboxes in the first
 * reserved byte of its envelope, and is in one place at a time: whoever passes it
 * on, or has said so, takes it from its own. */
typedef enum lbx__report_duty {
    LBX__REPORT_NONE = 0,
    LBX__REPORT_DUE,
    LBX__REPORT_STATUS, /* is the report: priority has the status */
} lbx__report_duty;

typedef struct lbx__node {
    _Atomic(struct lbx__node *) next;
    void *message;
    const lbx_type *type;
    uint64_t sender; /* refs */
    uint64_t recipient;
    int64_t deadline_ns;
    _Atomic(int64_t) number; /* system messages: a status, a duration; others:
                                how many came before */
    int32_t priority;
    uint8_t channel;
    uint8_t code; /* system messages: what it is; others: lbx__report_duty */
    bool notice;  /* of an end: handled only by who waits for it */
    bool plain;   /* a message that needs no look but at its recipient */
} lbx__node;

_Static_assert(sizeof(lbx__node) == LBX__LINE, "a node is a cache line");

/* A thread's nodes (P1). */
typedef struct lbx__node_cache {
    alignas(2 * LBX__LINE) lbx__node *list;
    uint32_t count;   /* below MAGAZINE, or MAGAZINE while it is filled */
    lbx__node *spare; /* a magazine, or NULL */
} lbx__node_cache;

enum {
    LBX__MAGAZINE = 64
};

typedef struct lbx__node_pool lbx__node_pool;

lbx_status lbx__node_pool_create(const lbx_allocator *allocator,
                                 lbx__node_pool **ret);
void lbx__node_pool_destroy(lbx__node_pool *pool);

/* A node, its fields as they were; NULL when there is no memory. */
lbx__node *lbx__node_pool_get(lbx__node_pool *pool);
void lbx__node_pool_put(lbx__node_pool *pool, lbx__node *node);

/* The calling thread's own cache, or NULL (P1); and the short ways through it:
 * no node, or false, when the pool must be asked. */
lbx__node_cache *lbx__node_pool_cache(lbx__node_pool *pool);

static inline lbx__node *
lbx__node_cache_get(lbx__node_cache *cache)
{
    lbx__node *node = cache ? cache->list : NULL;

    if (node) {
        cache->list = lbx__peek(&node->next);
        cache->count--;
    }
    return node;
}

static inline bool
lbx__node_cache_put(lbx__node_cache *cache, lbx__node *node)
{
    if (!cache || cache->count + 1 >= LBX__MAGAZINE)
        return false;
    lbx__init(&node->next, cache->list);
    cache->list = node;
    cache->count++;
    return true;
}

/* Fills a node from an envelope, and back. */
void lbx__node_fill(lbx__node *node, const lbx_envelope *envelope,
                    uint64_t recipient);
lbx_envelope lbx__node_envelope(const lbx__node *node);

#endif

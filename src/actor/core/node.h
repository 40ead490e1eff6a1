/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes: a message on its way to an actor, and the pool of nodes.
 *
 * A node is one cache line. Each thread takes and returns nodes through a cache
 * of its own, found by the thread's index, and exchanges whole magazines of
 * nodes with a depot: one lock for 64 nodes. A node may be returned by another
 * thread than took it. The memory is freed with the pool.
 *
 * NODE-1  A cache belongs to the thread that has its index; threads without an
 *         index share the last cache, under its lock.
 * NODE-2  A magazine is MAGAZINE nodes linked by `next`. In the depot magazines
 *         are linked by the `message` of their first node.
 */
#ifndef LBX_ACTOR_CORE_NODE_H
#define LBX_ACTOR_CORE_NODE_H

#include "base/atomic.h"
#include "base/lock.h"
#include <letterbox/mailbox/messages.h>
#include <stdalign.h>

/* Whether the sender waits for the status of a message
 * (lbx_tell_handled_init()). The duty to report travels with the message,
 * through mailboxes in the first reserved byte of its envelope. One copy of the
 * message has it at a time: code that passes the message on, or has reported,
 * clears it in its own copy. */
typedef enum lbx__report_duty {
    LBX__REPORT_NONE = 0,
    LBX__REPORT_DUE,
    LBX__REPORT_STATUS, /* this is the report: priority is the status */
} lbx__report_duty;

typedef struct lbx__node {
    _Atomic(struct lbx__node *) next;
    void *message;
    const lbx_type *type;
    uint64_t sender; /* refs */
    uint64_t recipient;
    int64_t deadline_ns;
    _Atomic(int64_t) number; /* system messages: a status, a duration;
                                others: how many came before */
    int32_t priority;
    uint8_t channel;
    uint8_t code; /* system messages: what it is; others: lbx__report_duty */
    bool notice;  /* of an end, or a result: handled only if it is awaited */
    bool plain;   /* only its recipient must be checked */
} lbx__node;

_Static_assert(sizeof(lbx__node) == LBX__LINE, "a node is a cache line");

/* The nodes of one thread (NODE-1). */
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

/* A node with undefined fields; NULL when there is no memory. */
lbx__node *lbx__node_pool_get(lbx__node_pool *pool);
void lbx__node_pool_put(lbx__node_pool *pool, lbx__node *node);

/* The calling thread's own cache, or NULL (NODE-1); and the fast paths through
 * it: NULL, or false, when the pool must be used. */
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

/* A list of nodes that one thread owns. */
typedef struct lbx__node_list {
    lbx__node *first;
    lbx__node *last;
    uint64_t count;
} lbx__node_list;

void lbx__node_list_append(lbx__node_list *list, lbx__node *node);
lbx__node *lbx__node_list_take(lbx__node_list *list);

/* Fills a node from an envelope, and back. */
void lbx__node_fill(lbx__node *node, const lbx_envelope *envelope,
                    uint64_t recipient);
lbx_envelope lbx__node_envelope(const lbx__node *node);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes: the pool, its caches and its depot; filling nodes; lists of them
 * (NODE-1 and NODE-2 in node.h).
 *
 * Locks: the pool's guards the depot and the chunks, `shared_lock` the cache of
 * threads without an index. Neither is held while the other is taken, except
 * the first inside the second.
 */
#include "actor/core/node.h"

#include "base/alloc.h"
#include "base/park.h"
#include <letterbox/actor.h>
#include <string.h>

enum {
    MAGAZINE = LBX__MAGAZINE,
    CHUNK_MAGAZINES = 16,
};

/* Memory for nodes; the first line links the chunks. */
typedef struct node_chunk {
    alignas(LBX__LINE) struct node_chunk *next;
    lbx__node nodes[MAGAZINE * CHUNK_MAGAZINES];
} node_chunk;

struct lbx__node_pool {
    uint64_t id; /* unique in the process: key of the thread memo */
    const lbx_allocator *allocator;
    lbx__lock lock; /* guards the depot and the chunks */
    lbx__node *depot;
    node_chunk *chunks;
    lbx__lock shared_lock; /* NODE-1 */
    lbx__node_cache caches[LBX__THREADS + 1];
};

static _Atomic(uint64_t) pools;

lbx_status
lbx__node_pool_create(const lbx_allocator *allocator, lbx__node_pool **ret)
{
    lbx__node_pool *pool =
        lbx__alloc(allocator, sizeof(*pool), alignof(lbx__node_pool));

    if (!pool)
        return LBX_NO_MEMORY;
    memset(pool, 0, sizeof(*pool));
    // Relaxed: only uniqueness matters.
    pool->id = lbx__add(&pools, 1, relaxed) + 1;
    pool->allocator = allocator;
    *ret = pool;
    return LBX_OK;
}

void
lbx__node_pool_destroy(lbx__node_pool *pool)
{
    if (!pool)
        return;
    while (pool->chunks) {
        node_chunk *next = pool->chunks->next;

        lbx__free(pool->allocator, pool->chunks, sizeof(*pool->chunks));
        pool->chunks = next;
    }
    lbx__free(pool->allocator, pool, sizeof(*pool));
}

/* Relaxed: a link between nodes that one thread, or one lock, owns. */
static lbx__node *
node_next(lbx__node *node)
{
    return lbx__peek(&node->next);
}

static void
node_set_next(lbx__node *node, lbx__node *next)
{
    lbx__init(&node->next, next);
}

/* Under the lock. */
static void
node_pool_deposit(lbx__node_pool *pool, lbx__node *magazine)
{
    magazine->message = pool->depot;
    pool->depot = magazine;
}

/* Divides new memory into magazines. Under the lock. */
static bool
node_pool_add_chunk(lbx__node_pool *pool)
{
    node_chunk *fresh =
        lbx__alloc(pool->allocator, sizeof(*fresh), alignof(node_chunk));

    if (!fresh)
        return false;
    fresh->next = pool->chunks;
    pool->chunks = fresh;
    for (size_t m = 0; m < CHUNK_MAGAZINES; m++) {
        lbx__node *nodes = &fresh->nodes[m * MAGAZINE];

        for (size_t i = 0; i < MAGAZINE; i++)
            node_set_next(&nodes[i], i + 1 < MAGAZINE ? &nodes[i + 1] : NULL);
        node_pool_deposit(pool, nodes);
    }
    return true;
}

static lbx__node *
node_pool_withdraw(lbx__node_pool *pool)
{
    lbx__node *magazine = NULL;

    lbx__lock_take(&pool->lock);
    if (pool->depot || node_pool_add_chunk(pool)) {
        magazine = pool->depot;
        pool->depot = magazine->message;
    }
    lbx__lock_give(&pool->lock);
    return magazine;
}

static lbx__node *
node_cache_take(lbx__node_pool *pool, lbx__node_cache *from)
{
    lbx__node *node = from->list;

    if (!node) {
        node = from->spare ? from->spare : node_pool_withdraw(pool);
        if (!node)
            return NULL;
        from->spare = NULL;
        from->count = MAGAZINE;
    }
    from->list = node_next(node);
    from->count--;
    return node;
}

static void
node_cache_give(lbx__node_pool *pool, lbx__node_cache *to, lbx__node *node)
{
    node_set_next(node, to->list);
    to->list = node;
    if (++to->count < MAGAZINE)
        return;
    if (to->spare) { // NODE-2
        lbx__lock_take(&pool->lock);
        node_pool_deposit(pool, to->spare);
        lbx__lock_give(&pool->lock);
    }
    to->spare = to->list;
    to->list = NULL;
    to->count = 0;
}

/* The thread's memo is the cache that it used last, by the id of its pool; it
 * is reset with the thread's index (NODE-1). */
lbx__node_cache *
lbx__node_pool_cache(lbx__node_pool *pool)
{
    lbx__memo *memo = &lbx__local(lbx__thread_memo);
    unsigned index;

    if (memo->key == pool->id)
        return memo->value;
    index = lbx__thread_index();
    if (index >= LBX__THREADS)
        return NULL;
    *memo = (lbx__memo){pool->id, &pool->caches[index]};
    return &pool->caches[index];
}

lbx__node *
lbx__node_pool_get(lbx__node_pool *pool)
{
    lbx__node_cache *own = lbx__node_pool_cache(pool);
    lbx__node *node;

    if (own)
        return node_cache_take(pool, own);
    lbx__lock_take(&pool->shared_lock);
    node = node_cache_take(pool, &pool->caches[LBX__THREADS]);
    lbx__lock_give(&pool->shared_lock);
    return node;
}

void
lbx__node_pool_put(lbx__node_pool *pool, lbx__node *node)
{
    lbx__node_cache *own = lbx__node_pool_cache(pool);

    if (own) {
        node_cache_give(pool, own, node);
        return;
    }
    lbx__lock_take(&pool->shared_lock);
    node_cache_give(pool, &pool->caches[LBX__THREADS], node);
    lbx__lock_give(&pool->shared_lock);
}

void
lbx__node_fill(lbx__node *node, const lbx_envelope *envelope,
               uint64_t recipient)
{
    node->message = envelope->message;
    node->type = envelope->type;
    node->sender = (uint64_t)(uintptr_t)envelope->sender;
    node->recipient = recipient;
    node->deadline_ns = envelope->deadline_ns;
    node->priority = envelope->priority;
    node->channel = envelope->channel;
    node->code = envelope->reserved[0];
    node->notice = false;
    node->plain = envelope->deadline_ns == 0 &&
                  node->code == LBX__REPORT_NONE &&
                  envelope->message != lbx_poison_pill();
}

lbx_envelope
lbx__node_envelope(const lbx__node *node)
{
    lbx_envelope envelope = lbx_envelope_of(node->message, node->priority);

    envelope.type = node->type;
    envelope.sender = (void *)(uintptr_t)node->sender;
    envelope.recipient = (void *)(uintptr_t)node->recipient;
    envelope.deadline_ns = node->deadline_ns;
    envelope.channel = node->channel;
    envelope.reserved[0] = node->code;
    return envelope;
}

void
lbx__node_list_append(lbx__node_list *list, lbx__node *node)
{
    // No other thread sees these links.
    lbx__init(&node->next, NULL);
    if (list->last)
        lbx__init(&list->last->next, node);
    else
        list->first = node;
    list->last = node;
    list->count++;
}

lbx__node *
lbx__node_list_take(lbx__node_list *list)
{
    lbx__node *node = list->first;

    if (!node)
        return NULL;
    list->first = lbx__peek(&node->next);
    if (!list->first)
        list->last = NULL;
    list->count--;
    return node;
}

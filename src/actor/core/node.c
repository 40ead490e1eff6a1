/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes. P1 and P2 are in node.h. */
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
typedef struct chunk {
    alignas(LBX__LINE) struct chunk *next;
    lbx__node nodes[MAGAZINE * CHUNK_MAGAZINES];
} chunk;

struct lbx__node_pool {
    uint64_t id; /* of all pools ever, so that a thread knows its cache */
    const lbx_allocator *allocator;
    lbx__lock lock; /* guards the depot and the chunks */
    lbx__node *depot;
    chunk *chunks;
    lbx__lock shared_lock; /* P1 */
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
    // Relaxed: only different numbers matter.
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
        chunk *next = pool->chunks->next;

        lbx__free(pool->allocator, pool->chunks, sizeof(*pool->chunks));
        pool->chunks = next;
    }
    lbx__free(pool->allocator, pool, sizeof(*pool));
}

/* Relaxed: a link between nodes that one thread, or one lock, owns. */
static lbx__node *
next_of(lbx__node *node)
{
    return lbx__peek(&node->next);
}

static void
set_next(lbx__node *node, lbx__node *next)
{
    lbx__init(&node->next, next);
}

/* Under the lock. */
static void
deposit(lbx__node_pool *pool, lbx__node *magazine)
{
    magazine->message = pool->depot;
    pool->depot = magazine;
}

/* Cuts fresh memory into magazines. Under the lock. */
static bool
add_chunk(lbx__node_pool *pool)
{
    chunk *fresh = lbx__alloc(pool->allocator, sizeof(*fresh), alignof(chunk));

    if (!fresh)
        return false;
    fresh->next = pool->chunks;
    pool->chunks = fresh;
    for (size_t m = 0; m < CHUNK_MAGAZINES; m++) {
        lbx__node *nodes = &fresh->nodes[m * MAGAZINE];

        for (size_t i = 0; i < MAGAZINE; i++)
            set_next(&nodes[i], i + 1 < MAGAZINE ? &nodes[i + 1] : NULL);
        deposit(pool, nodes);
    }
    return true;
}

static lbx__node *
withdraw(lbx__node_pool *pool)
{
    lbx__node *magazine = NULL;

    lbx__lock_take(&pool->lock);
    if (pool->depot || add_chunk(pool)) {
        magazine = pool->depot;
        pool->depot = magazine->message;
    }
    lbx__lock_give(&pool->lock);
    return magazine;
}

static lbx__node *
get(lbx__node_pool *pool, lbx__node_cache *from)
{
    lbx__node *node = from->list;

    if (!node) {
        node = from->spare ? from->spare : withdraw(pool);
        if (!node)
            return NULL;
        from->spare = NULL;
        from->count = MAGAZINE;
    }
    from->list = next_of(node);
    from->count--;
    return node;
}

static void
put(lbx__node_pool *pool, lbx__node_cache *to, lbx__node *node)
{
    set_next(node, to->list);
    to->list = node;
    if (++to->count < MAGAZINE)
        return;
    if (to->spare) { // P2
        lbx__lock_take(&pool->lock);
        deposit(pool, to->spare);
        lbx__lock_give(&pool->lock);
    }
    to->spare = to->list;
    to->list = NULL;
    to->count = 0;
}

/* The thread's memo is the cache that it used last, by its pool's id: it goes
 * with the thread's number (P1). */
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
        return get(pool, own);
    lbx__lock_take(&pool->shared_lock);
    node = get(pool, &pool->caches[LBX__THREADS]);
    lbx__lock_give(&pool->shared_lock);
    return node;
}

void
lbx__node_pool_put(lbx__node_pool *pool, lbx__node *node)
{
    lbx__node_cache *own = lbx__node_pool_cache(pool);

    if (own) {
        put(pool, own, node);
        return;
    }
    lbx__lock_take(&pool->shared_lock);
    put(pool, &pool->caches[LBX__THREADS], node);
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
    lbx_envelope envelope = lbx_envelope_new(node->message, node->priority);

    envelope.type = node->type;
    envelope.sender = (void *)(uintptr_t)node->sender;
    envelope.recipient = (void *)(uintptr_t)node->recipient;
    envelope.deadline_ns = node->deadline_ns;
    envelope.channel = node->channel;
    envelope.reserved[0] = node->code;
    return envelope;
}

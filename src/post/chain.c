/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains: a resolver, a factory, and a cache of the postboxes the factory made.
 *
 * CHAIN-1  At most max_kept postboxes are cached, each address once, each with
 *          a reference. The least recently used is dropped first. A postbox
 *          that is closed is not returned.
 *
 * Threads: any. The lock is held for a search of the cache; resolvers and the
 * last unref of a postbox run without it. Two threads that miss the same
 * address may both open a postbox; the second one drops its own and returns the
 * first.
 */
#include "base/alloc.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/sized.h"
#include <letterbox/post/postbox.h>

#include <string.h>

struct chain_entry {
    lbx__link link;
    size_t size;
    lbx_postbox *postbox;
    char address[];
};

struct lbx_resolver_chain {
    lbx_resolver_chain_options options;
    lbx__lock lock;
    lbx__link kept; /* the most recently used first */
    size_t count;
};

LBX__SIZED(chain_options_sized, lbx_resolver_chain_options, max_kept,
           LBX_RESOLVER_CHAIN_OPTIONS_INIT);

lbx_status
lbx_resolver_chain_create(const lbx_resolver_chain_options *given,
                          lbx_resolver_chain **ret)
{
    const lbx_resolver_chain_options *options;
    lbx_resolver_chain_options own;
    lbx_resolver_chain *chain;

    if (!given || !ret)
        return LBX_INVALID;
    options = lbx__sized_view(given, &own, &chain_options_sized, NULL);
    if (!options || !lbx__allocator_usable(options->allocator))
        return LBX_INVALID;
    chain = lbx__zalloc(options->allocator, sizeof(*chain));
    if (!chain)
        return LBX_NO_MEMORY;
    chain->options = *options;
    lbx__list_init(&chain->kept);
    *ret = chain;
    return LBX_OK;
}

/* Destroys an entry that is not in the cache. Without the lock; takes NULL. */
static void
chain_entry_destroy(const lbx_resolver_chain *chain, struct chain_entry *kept)
{
    if (!kept)
        return;
    lbx_postbox_unref(kept->postbox);
    lbx__free(chain->options.allocator, kept, kept->size);
}

static struct chain_entry *
chain_entry_remove(lbx_resolver_chain *chain, struct chain_entry *kept)
{
    lbx__list_remove(&kept->link);
    chain->count--;
    return kept;
}

void
lbx_resolver_chain_destroy(lbx_resolver_chain *chain)
{
    if (!chain)
        return;
    while (!lbx__list_empty(&chain->kept))
        chain_entry_destroy(
            chain,
            chain_entry_remove(chain, lbx__member(chain->kept.next,
                                                  struct chain_entry, link)));
    lbx__free(chain->options.allocator, chain, sizeof(*chain));
}

/* Under the lock. */
static struct chain_entry *
chain_find(const lbx_resolver_chain *chain, const char *address)
{
    for (lbx__link *link = chain->kept.next; link != &chain->kept;
         link = link->next) {
        struct chain_entry *kept = lbx__member(link, struct chain_entry, link);

        if (strcmp(kept->address, address) == 0)
            return kept;
    }
    return NULL;
}

/* A reference to the cached postbox of an address; NULL. */
static lbx_postbox *
chain_recall(lbx_resolver_chain *chain, const char *address)
{
    struct chain_entry *kept, *closed = NULL;
    lbx_postbox *postbox = NULL;

    lbx__lock_take(&chain->lock);
    kept = chain_find(chain, address);
    if (kept && lbx_postbox_is_closed(kept->postbox)) {
        closed = chain_entry_remove(chain, kept);
    } else if (kept) {
        lbx__list_remove(&kept->link);
        lbx__list_prepend(&chain->kept, &kept->link);
        postbox = lbx_postbox_ref(kept->postbox);
    }
    lbx__lock_give(&chain->lock);
    chain_entry_destroy(chain, closed);
    return postbox;
}

/* Caches a new postbox; or, if another thread was faster, replaces it by that
 * thread's. */
static void
chain_keep(lbx_resolver_chain *chain, struct chain_entry *kept,
           lbx_postbox **postbox)
{
    struct chain_entry *other, *oldest = NULL;

    lbx__lock_take(&chain->lock);
    other = chain_find(chain, kept->address);
    if (other) {
        kept->postbox = *postbox; // dropped below
        *postbox = lbx_postbox_ref(other->postbox);
        oldest = kept;
    } else {
        kept->postbox = lbx_postbox_ref(*postbox);
        lbx__list_prepend(&chain->kept, &kept->link);
        chain->count++;
        if (chain->count > chain->options.max_kept)
            oldest = chain_entry_remove(
                chain, lbx__member(chain->kept.prev, struct chain_entry, link));
    }
    lbx__lock_give(&chain->lock);
    chain_entry_destroy(chain, oldest);
}

static lbx_status
chain_make(lbx_resolver_chain *chain, const char *address, lbx_postbox **ret,
           lbx_fault *fault)
{
    const size_t size = sizeof(struct chain_entry) + strlen(address) + 1;
    struct chain_entry *kept = NULL;
    lbx_status status;

    if (!chain->options.factory.resolve)
        return LBX_NOT_FOUND;
    if (chain->options.max_kept > 0) {
        kept = lbx__zalloc(chain->options.allocator, size);
        if (!kept)
            return LBX_NO_MEMORY;
        kept->size = size;
        memcpy(kept->address, address, strlen(address) + 1);
    }
    status = chain->options.factory.resolve(chain->options.factory.context,
                                            address, ret, fault);
    if (status != LBX_OK)
        chain_entry_destroy(chain, kept);
    else if (kept)
        chain_keep(chain, kept, ret);
    return status;
}

static lbx_status
chain_resolve(void *context, const char *address, lbx_postbox **ret,
              lbx_fault *fault)
{
    lbx_resolver_chain *chain = context;
    const lbx_resolver *first = &chain->options.first;
    lbx_postbox *postbox;
    lbx_status status = LBX_NOT_FOUND;

    if (first->resolve)
        status = first->resolve(first->context, address, ret, fault);
    if (status != LBX_NOT_FOUND)
        return status;
    postbox = chain_recall(chain, address);
    if (!postbox)
        return chain_make(chain, address, ret, fault);
    *ret = postbox;
    return LBX_OK;
}

lbx_resolver
lbx_resolver_chain_as_resolver(lbx_resolver_chain *chain)
{
    if (!chain)
        return (lbx_resolver){NULL, NULL};
    return (lbx_resolver){chain_resolve, chain};
}

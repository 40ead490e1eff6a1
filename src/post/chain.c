/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two resolvers and a cache: what the first does not know, the factory makes,
 * and what it made is kept.
 *
 * V5  At most kept_most made postboxes are kept, each once by its place and as one
 *     user; the one that was asked for longest ago goes first. One that is closed
 *     is not given out.
 *
 * Two threads that miss the same place may both make it; the second to come back
 * gives its own up and takes the first's. The lock is held for a search among at
 * most kept_most; resolvers, and the end of a postbox, run without it.
 */
#include "base/alloc.h"
#include "base/list.h"
#include "base/lock.h"
#include <letterbox/post/postbox.h>

#include <string.h>

struct kept {
    lbx__link link;
    size_t size;
    lbx_postbox *postbox;
    char place[];
};

struct lbx_chain {
    lbx_chain_options options;
    lbx__lock lock;
    lbx__link kept; /* the latest first */
    size_t count;
};

lbx_status
lbx_chain_create(const lbx_chain_options *options, lbx_chain **ret)
{
    lbx_chain *chain;

    if (!options || !ret || options->version != LBX_CHAIN_OPTIONS_VERSION ||
        !lbx__allocator_usable(options->allocator))
        return LBX_INVALID;
    chain = lbx__zalloc(options->allocator, sizeof(*chain));
    if (!chain)
        return LBX_NO_MEMORY;
    chain->options = *options;
    lbx__list_init(&chain->kept);
    *ret = chain;
    return LBX_OK;
}

/* Ends what is no longer kept. Without the lock; takes NULL. */
static void
end_kept(const lbx_chain *chain, struct kept *kept)
{
    if (!kept)
        return;
    lbx_postbox_unref(kept->postbox);
    lbx__free(chain->options.allocator, kept, kept->size);
}

static struct kept *
take_out(lbx_chain *chain, struct kept *kept)
{
    lbx__list_remove(&kept->link);
    chain->count--;
    return kept;
}

void
lbx_chain_destroy(lbx_chain *chain)
{
    if (!chain)
        return;
    while (!lbx__list_empty(&chain->kept))
        end_kept(chain, take_out(chain, lbx__member(chain->kept.next,
                                                    struct kept, link)));
    lbx__free(chain->options.allocator, chain, sizeof(*chain));
}

/* Under the lock. */
static struct kept *
find(const lbx_chain *chain, const char *place)
{
    for (lbx__link *link = chain->kept.next; link != &chain->kept;
         link = link->next) {
        struct kept *kept = lbx__member(link, struct kept, link);

        if (strcmp(kept->place, place) == 0)
            return kept;
    }
    return NULL;
}

/* A reference to what is kept for a place; NULL. */
static lbx_postbox *
recall(lbx_chain *chain, const char *place)
{
    struct kept *kept, *closed = NULL;
    lbx_postbox *postbox = NULL;

    lbx__lock_take(&chain->lock);
    kept = find(chain, place);
    if (kept && lbx_postbox_is_closed(kept->postbox)) {
        closed = take_out(chain, kept);
    } else if (kept) {
        lbx__list_remove(&kept->link);
        lbx__list_prepend(&chain->kept, &kept->link);
        postbox = lbx_postbox_ref(kept->postbox);
    }
    lbx__lock_give(&chain->lock);
    end_kept(chain, closed);
    return postbox;
}

/* Keeps what was made, unless someone else was faster, and then takes theirs. */
static void
keep(lbx_chain *chain, struct kept *kept, lbx_postbox **postbox)
{
    struct kept *other, *oldest = NULL;

    lbx__lock_take(&chain->lock);
    other = find(chain, kept->place);
    if (other) {
        kept->postbox = *postbox; // to be given up below
        *postbox = lbx_postbox_ref(other->postbox);
        oldest = kept;
    } else {
        kept->postbox = lbx_postbox_ref(*postbox);
        lbx__list_prepend(&chain->kept, &kept->link);
        chain->count++;
        if (chain->count > chain->options.kept_most)
            oldest = take_out(chain,
                              lbx__member(chain->kept.prev, struct kept, link));
    }
    lbx__lock_give(&chain->lock);
    end_kept(chain, oldest);
}

static lbx_status
make(lbx_chain *chain, const char *place, lbx_postbox **ret, lbx_fault *fault)
{
    const size_t size = sizeof(struct kept) + strlen(place) + 1;
    struct kept *kept = NULL;
    lbx_status status;

    if (!chain->options.factory.resolve)
        return LBX_NOT_FOUND;
    if (chain->options.kept_most > 0) {
        kept = lbx__zalloc(chain->options.allocator, size);
        if (!kept)
            return LBX_NO_MEMORY;
        kept->size = size;
        memcpy(kept->place, place, strlen(place) + 1);
    }
    status = chain->options.factory.resolve(chain->options.factory.context,
                                            place, ret, fault);
    if (status != LBX_OK)
        end_kept(chain, kept);
    else if (kept)
        keep(chain, kept, ret);
    return status;
}

static lbx_status
resolve(void *context, const char *place, lbx_postbox **ret, lbx_fault *fault)
{
    lbx_chain *chain = context;
    const lbx_resolver *first = &chain->options.first;
    lbx_postbox *postbox;
    lbx_status status = LBX_NOT_FOUND;

    if (first->resolve)
        status = first->resolve(first->context, place, ret, fault);
    if (status != LBX_NOT_FOUND)
        return status;
    postbox = recall(chain, place);
    if (!postbox)
        return make(chain, place, ret, fault);
    *ret = postbox;
    return LBX_OK;
}

lbx_resolver
lbx_chain_resolver(lbx_chain *chain)
{
    if (!chain)
        return (lbx_resolver){NULL, NULL};
    return (lbx_resolver){resolve, chain};
}

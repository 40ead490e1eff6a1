/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolvers: from the address in a route to a postbox.
 *
 * A resolver is a function. Three are here: a registry, which knows the
 * postboxes you gave it; URLs, which opens the address as a URL; and a chain,
 * which asks a registry first and then a factory, and remembers what that made.
 *
 *     lbx_postbox_registry_create(NULL, &registry);
 *     lbx_postbox_registry_add(registry, "client-123:success", success);
 *     lbx_postbox_registry_add(registry, "client-123:errors", errors);
 *     options.resolver = lbx_postbox_registry_as_resolver(registry);
 *
 * A postbox without a resolver uses an address as the name of a box in its own
 * store: then replies need no registry at all, and reply-and-acknowledge is one
 * step. Its sends create the boxes that their routes name; replies do not, so
 * that a letter from an unknown sender cannot make a worker create any.
 *
 * The sender of a letter decides where a worker's replies go. Give
 * lbx_url_resolver() only to workers whose clients may make them open any URL
 * it allows.
 *
 * Threads    any, for everything here.
 */
#ifndef LETTERBOX_POST_RESOLVER_H
#define LETTERBOX_POST_RESOLVER_H

#include <letterbox/base.h>

LBX_BEGIN

typedef struct lbx_postbox lbx_postbox;
typedef struct lbx_store_options lbx_store_options;

/* All zero is none. Copied where it is given; its context must outlive the
 * postbox. */
typedef struct lbx_resolver {
    /* Finds the postbox of an address: a reference that the caller releases
     * with lbx_postbox_unref(). LBX_NOT_FOUND: there is no such address; any
     * other failure is the resolver's own. `fault`, never NULL, may be filled
     * in. Called by any thread, with no lock held. */
    lbx_status (*resolve)(void *context, const char *address, lbx_postbox **ret,
                          lbx_fault *fault);
    void *context;
} lbx_resolver;

/*
 * lbx_resolver_resolve() calls a resolver.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND, and then `fault`, which may be NULL, has
 *            the address; LBX_INVALID; what the resolver returns.
 * Ownership  the postbox is the caller's: lbx_postbox_unref().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_resolver_resolve(lbx_resolver resolver,
                                                     const char *address,
                                                     lbx_postbox **ret,
                                                     lbx_fault *fault);

typedef struct lbx_postbox_registry lbx_postbox_registry;

/*
 * lbx_postbox_registry_create() makes an empty registry.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the registry is the caller's; destroy it with
 *            lbx_postbox_registry_destroy() after the postboxes that resolve
 *            with it.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_registry_create(
    const lbx_allocator *allocator, lbx_postbox_registry **ret);

/*
 * lbx_postbox_registry_destroy() destroys a registry and releases its
 * postboxes. Takes NULL.
 *
 * Since      0.1
 */
LBX_API void lbx_postbox_registry_destroy(lbx_postbox_registry *registry);

/*
 * lbx_postbox_registry_add() registers a postbox under an address, which is
 * copied.
 *
 * Returns    LBX_OK; LBX_EXISTS; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the registry takes a reference of its own.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_postbox_registry_add(
    lbx_postbox_registry *registry, const char *address, lbx_postbox *postbox);

/*
 * lbx_postbox_registry_remove() removes an address; false when it was not
 * there.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_postbox_registry_remove(lbx_postbox_registry *registry,
                                         const char *address);

/*
 * lbx_postbox_registry_as_resolver() is the registry as a resolver.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_resolver
lbx_postbox_registry_as_resolver(lbx_postbox_registry *registry);

/*
 * lbx_url_resolver() is a resolver that opens an address as a URL
 * (lbx_postbox_open()), for sending only. `options` are those of the stores it
 * opens, and may be NULL. A scheme that is not known, or not built in, is
 * LBX_NOT_FOUND.
 *
 * Ownership  the options are borrowed as long as the resolver is used.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_resolver lbx_url_resolver(const lbx_store_options *options);

typedef struct lbx_resolver_chain_options {
    size_t size_bytes; /* LBX_RESOLVER_CHAIN_OPTIONS_INIT sets it */
    const lbx_allocator *allocator;
    lbx_resolver first;   /* asked first; a registry, as a rule */
    lbx_resolver factory; /* makes what `first` does not know */
    size_t max_kept;      /* how many made by the factory are kept open; the one
                             that was not used for longest goes. 64; 0: none */
} lbx_resolver_chain_options;

#define LBX_RESOLVER_CHAIN_OPTIONS_INIT                                        \
    {                                                                          \
        .size_bytes = sizeof(lbx_resolver_chain_options), .max_kept = 64       \
    }

typedef struct lbx_resolver_chain lbx_resolver_chain;

/*
 * lbx_resolver_chain_create() makes a resolver of two, with a cache. What
 * `first` does not know (LBX_NOT_FOUND) the factory makes; any other failure is
 * passed on.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the chain is the caller's; destroy it with
 *            lbx_resolver_chain_destroy() after the postboxes that resolve with
 *            it.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_resolver_chain_create(
    const lbx_resolver_chain_options *options, lbx_resolver_chain **ret);

/*
 * lbx_resolver_chain_destroy() destroys the chain and releases the postboxes it
 * kept. Takes NULL.
 *
 * Since      0.1
 */
LBX_API void lbx_resolver_chain_destroy(lbx_resolver_chain *chain);

/*
 * lbx_resolver_chain_as_resolver() is the chain as a resolver.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_resolver lbx_resolver_chain_as_resolver(lbx_resolver_chain *chain);

LBX_END

#endif

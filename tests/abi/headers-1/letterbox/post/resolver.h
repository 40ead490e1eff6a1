/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_RESOLVER_H
#define LETTERBOX_POST_RESOLVER_H
#include <letterbox/base.h>
LBX_BEGIN
typedef struct lbx_postbox lbx_postbox;
typedef struct lbx_store_options lbx_store_options;
typedef struct lbx_resolver {
    lbx_status (*resolve)(void *context, const char *place, lbx_postbox **ret,
                          lbx_fault *fault);
    void *context;
} lbx_resolver;
LBX_API LBX_MUST_USE lbx_status lbx_resolver_resolve(lbx_resolver resolver,
                                                     const char *place,
                                                     lbx_postbox **ret,
                                                     lbx_fault *fault);
typedef struct lbx_postbox_registry lbx_postbox_registry;
LBX_API LBX_MUST_USE lbx_status lbx_postbox_registry_create(
    const lbx_allocator *allocator, lbx_postbox_registry **ret);
LBX_API void lbx_postbox_registry_destroy(lbx_postbox_registry *registry);
LBX_API LBX_MUST_USE lbx_status lbx_postbox_registry_add(
    lbx_postbox_registry *registry, const char *place, lbx_postbox *postbox);
LBX_API bool lbx_postbox_registry_remove(lbx_postbox_registry *registry,
                                         const char *place);
LBX_API lbx_resolver
lbx_postbox_registry_as_resolver(lbx_postbox_registry *registry);
LBX_API lbx_resolver lbx_url_resolver(const lbx_store_options *options);
typedef struct lbx_resolver_chain_options {
    size_t size_bytes;
    const lbx_allocator *allocator;
    lbx_resolver first;
    lbx_resolver factory;
    size_t max_kept;
} lbx_resolver_chain_options;
#define LBX_RESOLVER_CHAIN_OPTIONS_INIT                                        \
    {                                                                          \
        .size_bytes = sizeof(lbx_resolver_chain_options), .max_kept = 64       \
    }
typedef struct lbx_resolver_chain lbx_resolver_chain;
LBX_API LBX_MUST_USE lbx_status lbx_resolver_chain_create(
    const lbx_resolver_chain_options *options, lbx_resolver_chain **ret);
LBX_API void lbx_resolver_chain_destroy(lbx_resolver_chain *chain);
LBX_API lbx_resolver lbx_resolver_chain_as_resolver(lbx_resolver_chain *chain);
LBX_END
#endif

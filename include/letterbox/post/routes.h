/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes: where the replies to a letter go.
 *
 * A letter may carry routes: a default address, and addresses for replies of
 * certain types. An address is a plain text; the resolver of the postbox that
 * the letter was received from finds the postbox.
 *
 *     static const lbx_routes_entry table[] = {
 *         {"shop.Receipt", "client-123:success"},
 *         {"shop.Error", "client-123:errors"},
 *     };
 *
 *     lbx_routes_create(table, 2, "client-123:other", NULL, &routes);
 *
 * Which one a reply takes: the route of its own type; that of its nearest
 * ancestor, in the order of lbx_type_ancestor(); the default; none, which is
 * LBX_NO_ROUTE. A reply without a type takes the default.
 *
 * Types are named by their fully qualified name, here and in storage. A name
 * that this program has not registered is kept, and matters only when a reply
 * of that very name is sent.
 *
 * Routes are stored as JSON:
 *
 *     {"default": "client-123:other",
 *      "routes": {"shop.Receipt": "client-123:success"}}
 *
 * Threads    routes do not change after their creation: any thread may use
 *            them.
 */
#ifndef LETTERBOX_POST_ROUTES_H
#define LETTERBOX_POST_ROUTES_H

#include <letterbox/base.h>
#include <letterbox/type.h>

LBX_BEGIN

typedef struct lbx_routes lbx_routes;

/* Replies of this type, and of types derived from it, go there. */
typedef struct lbx_routes_entry {
    const char *type_name; /* "shop.Receipt" */
    const char *address;   /* "client-123:success" */
} lbx_routes_entry;

/* What a set of routes may be at most. */
#define LBX_MAX_ROUTES       64
#define LBX_MAX_ROUTES_BYTES 65536 /* as JSON */

/*
 * lbx_routes_create() makes routes from a table, in which no type appears
 * twice, and a default, which may be NULL.
 *
 * Returns    LBX_OK; LBX_INVALID for an empty text, a type that is there twice,
 *            or bytes that are not UTF-8; LBX_TOO_LARGE; LBX_NO_MEMORY.
 * Ownership  the routes are the caller's; release them with lbx_routes_unref().
 *            Everything is copied.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_routes_create(
    const lbx_routes_entry *table, size_t count, const char *default_address,
    const lbx_allocator *allocator, lbx_routes **ret);

/*
 * lbx_routes_single() makes routes that lead everything to one address.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_TOO_LARGE; LBX_NO_MEMORY.
 * Ownership  as lbx_routes_create().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_routes_single(
    const char *address, const lbx_allocator *allocator, lbx_routes **ret);

/*
 * lbx_routes_from_json() makes routes from their JSON. It is strict: unknown
 * members are ignored, but a name twice, an address that is no string, or bytes
 * that are not UTF-8 are refused.
 *
 * Returns    LBX_OK; LBX_ENCODING, and then `fault`, which may be NULL, has
 *            what and where; LBX_TOO_LARGE; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  as lbx_routes_create(). The fault is the caller's.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_routes_from_json(
    const char *json, size_t size_bytes, const lbx_allocator *allocator,
    lbx_routes **ret, lbx_fault *fault);

/*
 * lbx_routes_json() is their JSON, with a NUL behind it. The default comes
 * first, then the routes in the order given.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_routes_json(const lbx_routes *routes);

/*
 * lbx_routes_ref() takes one more reference. NULL stays NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_routes *lbx_routes_ref(lbx_routes *routes);

/*
 * lbx_routes_unref() releases one reference; the last frees. Takes NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_routes_unref(lbx_routes *routes);

/*
 * lbx_routes_address() is where a reply of `type` goes; NULL when there is no
 * route for it. A NULL type is the root: the default.
 *
 * Threads    any. Never allocates.
 * Since      0.1
 */
LBX_API const char *lbx_routes_address(const lbx_routes *routes,
                                       const lbx_type *type);

/*
 * lbx_routes_address_by_name() is where a reply goes of which only the name of
 * the type is known: the route of that name, or the default.
 *
 * Threads    any. Never allocates.
 * Since      0.1
 */
LBX_API const char *lbx_routes_address_by_name(const lbx_routes *routes,
                                               const char *type_name);

/*
 * lbx_routes_default() is the default address; NULL when there is none.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_routes_default(const lbx_routes *routes);

/*
 * lbx_routes_at() is a route by its index, in the order given; both members
 * are NULL past the end.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_routes_entry lbx_routes_at(const lbx_routes *routes, size_t index);

LBX_END

#endif

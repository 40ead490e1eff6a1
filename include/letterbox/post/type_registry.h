/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registries of types: from a name in a letter to a type in this program.
 *
 * A letter carries the name of its body's type. A postbox that was given a
 * registry looks the name up, so that lbx_letter_message() can decode, and
 * replies sent by name find the routes of their ancestors.
 *
 *     lbx_type_registry_create(NULL, &types);
 *     lbx_type_registry_add(types, order_type);
 *     options.types = types;
 *
 * How messages become bytes is part of the type: `encode` and `decode` in
 * lbx_type_options.
 *
 * Threads    adding: one at a time, before the registry is used. Looking up:
 *            any.
 */
#ifndef LETTERBOX_POST_TYPES_H
#define LETTERBOX_POST_TYPES_H

#include <letterbox/base.h>
#include <letterbox/type.h>

LBX_BEGIN

typedef struct lbx_type_registry lbx_type_registry;

/*
 * lbx_type_registry_create() makes an empty registry.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the registry is the caller's; destroy it with
 *            lbx_type_registry_destroy() after the postboxes that use it.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_type_registry_create(
    const lbx_allocator *allocator, lbx_type_registry **ret);

/*
 * lbx_type_registry_destroy() destroys a registry, not the types in it. Takes
 * NULL.
 *
 * Since      0.1
 */
LBX_API void lbx_type_registry_destroy(lbx_type_registry *types);

/*
 * lbx_type_registry_add() registers a type under its name.
 *
 * Returns    LBX_OK, also when this very type is there already; LBX_EXISTS
 *            when another one has its name; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the type stays the caller's and must outlive the registry.
 * Threads    one at a time.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_type_registry_add(lbx_type_registry *types,
                                                      const lbx_type *type);

/*
 * lbx_type_registry_find() is the type of that name; NULL when there is none.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_type *lbx_type_registry_find(const lbx_type_registry *types,
                                               const char *name);

LBX_END

#endif

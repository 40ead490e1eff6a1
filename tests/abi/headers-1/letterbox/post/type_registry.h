/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_TYPES_H
#define LETTERBOX_POST_TYPES_H
#include <letterbox/base.h>
#include <letterbox/type.h>
LBX_BEGIN
typedef struct lbx_type_registry lbx_type_registry;
LBX_API LBX_MUST_USE lbx_status lbx_type_registry_create(
    const lbx_allocator *allocator, lbx_type_registry **ret);
LBX_API void lbx_type_registry_destroy(lbx_type_registry *types);
LBX_API LBX_MUST_USE lbx_status lbx_type_registry_add(lbx_type_registry *types,
                                                      const lbx_type *type);
LBX_API const lbx_type *lbx_type_registry_find(const lbx_type_registry *types,
                                               const char *name);
LBX_END
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_ROUTES_H
#define LETTERBOX_POST_ROUTES_H
#include <letterbox/base.h>
#include <letterbox/type.h>
LBX_BEGIN
typedef struct lbx_routes lbx_routes;
typedef struct lbx_routes_entry {
    const char *type_name;
    const char *address;
} lbx_routes_entry;
#define LBX_MAX_ROUTES       64
#define LBX_MAX_ROUTES_BYTES 65536
LBX_API LBX_MUST_USE lbx_status lbx_routes_create(
    const lbx_routes_entry *table, size_t count, const char *default_place,
    const lbx_allocator *allocator, lbx_routes **ret);
LBX_API LBX_MUST_USE lbx_status lbx_routes_single(
    const char *place, const lbx_allocator *allocator, lbx_routes **ret);
LBX_API LBX_MUST_USE lbx_status lbx_routes_from_json(
    const char *json, size_t size_bytes, const lbx_allocator *allocator,
    lbx_routes **ret, lbx_fault *fault);
LBX_API const char *lbx_routes_json(const lbx_routes *routes);
LBX_API lbx_routes *lbx_routes_ref(lbx_routes *routes);
LBX_API void lbx_routes_unref(lbx_routes *routes);
LBX_API const char *lbx_routes_address(const lbx_routes *routes,
                                       const lbx_type *type);
LBX_API const char *lbx_routes_address_by_name(const lbx_routes *routes,
                                               const char *type_name);
LBX_API const char *lbx_routes_default(const lbx_routes *routes);
LBX_API lbx_routes_entry lbx_routes_at(const lbx_routes *routes, size_t index);
LBX_END
#endif

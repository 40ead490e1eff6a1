/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_TYPE_H
#define LETTERBOX_TYPE_H
#include <letterbox/base.h>
LBX_BEGIN
typedef struct lbx_type lbx_type;
typedef struct lbx_buffer lbx_buffer;
#define LBX_PRIORITY_DEFAULT 10
typedef struct lbx_type_options {
    size_t size_bytes;
    const char *name;
    const lbx_type *const *bases;
    size_t base_count;
    int32_t default_priority;
    const lbx_allocator *allocator;
    void *context;
    void (*destroy)(void *message, void *context);
    void *(*clone)(const void *message, void *context);
    lbx_status (*encode)(const void *message, lbx_buffer *out, void *context);
    lbx_status (*decode)(const void *bytes, size_t size_bytes, void **ret,
                         void *context);
} lbx_type_options;
#define LBX_TYPE_OPTIONS_INIT                                                  \
    {                                                                          \
        .size_bytes = sizeof(lbx_type_options),                                \
        .default_priority = LBX_PRIORITY_DEFAULT                               \
    }
LBX_API LBX_MUST_USE lbx_status lbx_type_create(const lbx_type_options *options,
                                                lbx_type **ret);
LBX_API void lbx_type_destroy(lbx_type *type);
LBX_API const char *lbx_type_name(const lbx_type *type);
LBX_API int32_t lbx_type_default_priority(const lbx_type *type);
LBX_API bool lbx_type_is_a(const lbx_type *type, const lbx_type *base);
LBX_API const lbx_type *lbx_type_ancestor(const lbx_type *type, size_t index);
LBX_API LBX_MUST_USE lbx_status lbx_type_clone(const lbx_type *type,
                                               const void *message, void **ret);
LBX_API void lbx_type_destroy_message(const lbx_type *type, void *message);
LBX_API LBX_MUST_USE lbx_status lbx_type_encode(const lbx_type *type,
                                                const void *message,
                                                lbx_buffer *out);
LBX_API LBX_MUST_USE lbx_status lbx_type_decode(const lbx_type *type,
                                                const void *bytes,
                                                size_t size_bytes, void **ret);
LBX_API lbx_status lbx_buffer_append(lbx_buffer *buffer, const void *bytes,
                                     size_t size_bytes);
LBX_API lbx_status lbx_buffer_append_text(lbx_buffer *buffer, const char *text);
LBX_END
#endif

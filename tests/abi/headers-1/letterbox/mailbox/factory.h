/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_MAILBOX_FACTORY_H
#define LETTERBOX_MAILBOX_FACTORY_H
#include <letterbox/base.h>
#include <letterbox/mailbox/options.h>
LBX_BEGIN
#define LBX_KIND_UNBOUNDED                 "unbounded"
#define LBX_KIND_UNBOUNDED_SINGLE_CONSUMER "unbounded-single-consumer"
#define LBX_KIND_BOUNDED                   "bounded"
#define LBX_KIND_UNBOUNDED_PRIORITY        "unbounded-priority"
#define LBX_KIND_BOUNDED_PRIORITY          "bounded-priority"
#define LBX_KIND_UNBOUNDED_CONTROL_AWARE   "unbounded-control-aware"
#define LBX_KIND_BOUNDED_CONTROL_AWARE     "bounded-control-aware"
#define LBX_KIND_UNBOUNDED_DEQUE           "unbounded-deque"
#define LBX_KIND_BOUNDED_DEQUE             "bounded-deque"
typedef enum lbx_capability {
    LBX_CAPABILITY_MULTI_PRODUCE = 1 << 0,
    LBX_CAPABILITY_MULTI_CONSUME = 1 << 1,
    LBX_CAPABILITY_SEND_FRONT = 1 << 2,
    LBX_CAPABILITY_CONTROL = 1 << 3,
    LBX_CAPABILITY_PRIORITIZE = 1 << 4,
    LBX_CAPABILITY_BOUND = 1 << 5,
    LBX_CAPABILITY_BLOCK = 1 << 6,
} lbx_capability;
LBX_API LBX_MUST_USE lbx_status
lbx_mailbox_create(const char *kind, const lbx_mailbox_options *options,
                   lbx_producer **ret_producer, lbx_consumer **ret_consumer);
typedef struct lbx_kind_ops {
    size_t size_bytes;
    uint32_t capabilities;
    lbx_status (*create)(void *kind_context, const lbx_mailbox_options *options,
                         void **ret_storage);
    void (*destroy)(void *storage);
    lbx_status (*push)(void *storage, const lbx_envelope *envelope);
    bool (*pop)(void *storage, lbx_envelope *ret);
    lbx_status (*push_front)(void *storage, const lbx_envelope *envelope);
    bool (*evict)(void *storage, lbx_envelope *ret);
} lbx_kind_ops;
#define LBX_KIND_OPS_INIT                                                      \
    {                                                                          \
        .size_bytes = sizeof(lbx_kind_ops)                                     \
    }
LBX_API LBX_MUST_USE lbx_status lbx_kind_registry_create(
    const lbx_allocator *allocator, lbx_kind_registry **ret);
LBX_API void lbx_kind_registry_destroy(lbx_kind_registry *kinds);
LBX_API LBX_MUST_USE lbx_status lbx_kind_registry_add(lbx_kind_registry *kinds,
                                                      const char *name,
                                                      const lbx_kind_ops *ops,
                                                      void *kind_context);
LBX_API uint32_t lbx_kind_registry_capabilities(const lbx_kind_registry *kinds,
                                                const char *name);
typedef enum lbx_kind_capacity {
    LBX_KIND_CAPACITY_NONE,
    LBX_KIND_CAPACITY_OPTIONAL,
    LBX_KIND_CAPACITY_REQUIRED,
} lbx_kind_capacity;
LBX_API const char *lbx_kinds_find(const lbx_kind_registry *kinds,
                                   const char *name,
                                   lbx_kind_capacity *ret_capacity);
LBX_END
#endif

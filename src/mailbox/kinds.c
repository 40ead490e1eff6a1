/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of mailbox kinds: a constant table of the built-in ones, and a
 * list of kinds that users add. A lookup happens once per mailbox; both are
 * searched from the front.
 *
 * Threads    a registry belongs to one thread until mailboxes are created from
 *            it; then it is only read.
 */
#include "mailbox/kinds.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "queue/deque.h"
#include <string.h>

enum {
    PRODUCERS = LBX_CAPABILITY_MULTI_PRODUCE,
    BOTH = LBX_CAPABILITY_MULTI_PRODUCE | LBX_CAPABILITY_MULTI_CONSUME,
};

static lbx_status
kinds_create_deque(void *kind_context, const lbx_mailbox_options *options,
                   void **ret_storage)
{
    (void)kind_context;
    return lbx__deque_create(options->allocator, ret_storage);
}

static const lbx_kind_ops deque_ops = {
    .size_bytes = sizeof(lbx_kind_ops),
    .capabilities = LBX_CAPABILITY_SEND_FRONT,
    .create = kinds_create_deque,
    .destroy = lbx__deque_destroy,
    .push = lbx__deque_push,
    .pop = lbx__deque_pop,
    .push_front = lbx__deque_push_front,
    .evict = lbx__deque_pop,
};

#define UNBOUNDED .unlimited = true
#define BOUNDED   .limited = true

static const lbx__mailbox_kind built_in_kinds[] = {
    {LBX_KIND_UNBOUNDED, LBX__ORDER_FIFO, BOTH, UNBOUNDED},
    {LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, LBX__ORDER_FIFO, PRODUCERS, UNBOUNDED},
    {LBX_KIND_BOUNDED, LBX__ORDER_FIFO, BOTH, BOUNDED},
    {LBX_KIND_UNBOUNDED_PRIORITY, LBX__ORDER_PRIORITY,
     BOTH | LBX_CAPABILITY_PRIORITIZE, UNBOUNDED},
    {LBX_KIND_BOUNDED_PRIORITY, LBX__ORDER_PRIORITY,
     BOTH | LBX_CAPABILITY_PRIORITIZE, BOUNDED},
    {LBX_KIND_UNBOUNDED_CONTROL_AWARE, LBX__ORDER_CONTROL,
     BOTH | LBX_CAPABILITY_CONTROL, UNBOUNDED},
    {LBX_KIND_BOUNDED_CONTROL_AWARE, LBX__ORDER_CONTROL,
     BOTH | LBX_CAPABILITY_CONTROL, BOUNDED},
    {LBX_KIND_UNBOUNDED_DEQUE, LBX__ORDER_STORAGE,
     BOTH | LBX_CAPABILITY_SEND_FRONT, UNBOUNDED, .ops = &deque_ops},
    {LBX_KIND_BOUNDED_DEQUE, LBX__ORDER_STORAGE,
     BOTH | LBX_CAPABILITY_SEND_FRONT, BOUNDED, .ops = &deque_ops},
};

/* Aliases. All priority kinds are stable: equal messages leave in the order of
 * their arrival. */
static const struct kind_alias {
    const char *name;
    const char *of;
} kind_aliases[] = {
    {"priority", LBX_KIND_UNBOUNDED_PRIORITY},
    {"unbounded-stable-priority", LBX_KIND_UNBOUNDED_PRIORITY},
    {"bounded-stable-priority", LBX_KIND_BOUNDED_PRIORITY},
    {"control-aware", LBX_KIND_UNBOUNDED_CONTROL_AWARE},
    {"deque", LBX_KIND_UNBOUNDED_DEQUE},
};

struct custom_kind {
    lbx__mailbox_kind kind; /* first: its name is at the end */
    struct custom_kind *next;
    size_t size_bytes;
    char name[];
};

struct lbx_kind_registry {
    const lbx_allocator *allocator;
    struct custom_kind *first;
};

static const lbx__mailbox_kind *
kinds_find_built_in(const char *name)
{
    for (size_t i = 0; i < sizeof(kind_aliases) / sizeof(kind_aliases[0]); i++)
        if (strcmp(kind_aliases[i].name, name) == 0)
            name = kind_aliases[i].of;
    for (size_t i = 0; i < sizeof(built_in_kinds) / sizeof(built_in_kinds[0]);
         i++)
        if (strcmp(built_in_kinds[i].name, name) == 0)
            return &built_in_kinds[i];
    return NULL;
}

const lbx__mailbox_kind *
lbx__kinds_find(const lbx_kind_registry *kinds, const char *name)
{
    if (!name)
        name = LBX_KIND_UNBOUNDED;
    for (struct custom_kind *c = kinds ? kinds->first : NULL; c; c = c->next)
        if (strcmp(c->name, name) == 0)
            return &c->kind;
    return kinds_find_built_in(name);
}

lbx_status
lbx_kind_registry_create(const lbx_allocator *allocator,
                         lbx_kind_registry **ret)
{
    lbx_kind_registry *kinds;

    if (!ret || !lbx__allocator_usable(allocator))
        return LBX_INVALID;
    kinds = lbx__zalloc(allocator, sizeof(*kinds));
    if (!kinds)
        return LBX_NO_MEMORY;
    kinds->allocator = allocator;
    *ret = kinds;
    return LBX_OK;
}

void
lbx_kind_registry_destroy(lbx_kind_registry *kinds)
{
    struct custom_kind *added;

    if (!kinds)
        return;
    while (kinds->first) {
        added = kinds->first;
        kinds->first = added->next;
        lbx__free(kinds->allocator, added, added->size_bytes);
    }
    lbx__free(kinds->allocator, kinds, sizeof(*kinds));
}

LBX__SIZED(kind_ops_sized, lbx_kind_ops, evict, LBX_KIND_OPS_INIT);

static bool
kinds_is_complete(const lbx_kind_ops *ops)
{
    const uint32_t allowed =
        LBX_CAPABILITY_SEND_FRONT | LBX_CAPABILITY_PRIORITIZE;

    return lbx__sized_check(ops, &kind_ops_sized, NULL) == LBX_OK &&
           ops->create && ops->destroy && ops->push && ops->pop &&
           (ops->capabilities & ~allowed) == 0 &&
           (!(ops->capabilities & LBX_CAPABILITY_SEND_FRONT) ||
            ops->push_front);
}

lbx_status
lbx_kind_registry_add(lbx_kind_registry *kinds, const char *name,
                      const lbx_kind_ops *ops, void *kind_context)
{
    struct custom_kind *added;
    size_t size;

    if (!kinds || !name || !*name || !ops || !kinds_is_complete(ops))
        return LBX_INVALID;
    if (lbx__kinds_find(kinds, name))
        return LBX_EXISTS;
    size = sizeof(*added) + strlen(name) + 1;
    added = lbx__zalloc(kinds->allocator, size);
    if (!added)
        return LBX_NO_MEMORY;
    memcpy(added->name, name, strlen(name) + 1);
    added->size_bytes = size;
    added->kind.name = added->name;
    added->kind.order = LBX__ORDER_STORAGE;
    added->kind.capabilities = (uint32_t)BOTH | ops->capabilities;
    added->kind.ops = ops;
    added->kind.context = kind_context;
    added->next = kinds->first;
    kinds->first = added;
    return LBX_OK;
}

uint32_t
lbx_kind_registry_capabilities(const lbx_kind_registry *kinds, const char *name)
{
    const lbx__mailbox_kind *kind = lbx__kinds_find(kinds, name);

    if (!kind)
        return 0;
    return kind->capabilities |
           (kind->limited ? LBX_CAPABILITY_BOUND | LBX_CAPABILITY_BLOCK : 0u);
}

const char *
lbx_kinds_find(const lbx_kind_registry *kinds, const char *name,
               lbx_kind_capacity *ret_capacity)
{
    const lbx__mailbox_kind *kind = name ? lbx__kinds_find(kinds, name) : NULL;

    if (!kind)
        return NULL;
    if (ret_capacity && kind->limited)
        *ret_capacity = LBX_KIND_CAPACITY_REQUIRED;
    else if (ret_capacity)
        *ret_capacity = kind->unlimited ? LBX_KIND_CAPACITY_NONE
                                        : LBX_KIND_CAPACITY_OPTIONAL;
    return kind->name;
}

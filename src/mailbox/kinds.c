/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of kinds: a table of the built-in ones, and a list of users'
 * own behind it. Looked up once per mailbox: a walk will do.
 */
#include "mailbox/kinds.h"

#include "base/alloc.h"
#include "queue/deque.h"
#include <string.h>

enum {
    PRODUCERS = LBX_CAN_MULTI_PRODUCE,
    BOTH = LBX_CAN_MULTI_PRODUCE | LBX_CAN_MULTI_CONSUME,
};

#define UNBOUNDED .unlimited = true
#define BOUNDED   .limited = true

static const lbx__kind built_in[] = {
    {LBX_KIND_UNBOUNDED, LBX__FIFO, BOTH, UNBOUNDED},
    {LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, LBX__FIFO, PRODUCERS, UNBOUNDED},
    {LBX_KIND_BOUNDED, LBX__FIFO, BOTH, BOUNDED},
    {LBX_KIND_UNBOUNDED_PRIORITY, LBX__BY_PRIORITY, BOTH | LBX_CAN_PRIORITIZE,
     UNBOUNDED},
    {LBX_KIND_BOUNDED_PRIORITY, LBX__BY_PRIORITY, BOTH | LBX_CAN_PRIORITIZE,
     BOUNDED},
    {LBX_KIND_UNBOUNDED_CONTROL_AWARE, LBX__CONTROL_FIRST,
     BOTH | LBX_CAN_CONTROL, UNBOUNDED},
    {LBX_KIND_BOUNDED_CONTROL_AWARE, LBX__CONTROL_FIRST, BOTH | LBX_CAN_CONTROL,
     BOUNDED},
    {LBX_KIND_UNBOUNDED_DEQUE, LBX__STORAGE, BOTH | LBX_CAN_SEND_FRONT,
     UNBOUNDED, .ops = &lbx__deque_ops},
    {LBX_KIND_BOUNDED_DEQUE, LBX__STORAGE, BOTH | LBX_CAN_SEND_FRONT, BOUNDED,
     .ops = &lbx__deque_ops},
};

/* Other names for the same: equals are always in order of arrival. */
static const struct alias {
    const char *name;
    const char *of;
} aliases[] = {
    {"priority", LBX_KIND_UNBOUNDED_PRIORITY},
    {"unbounded-stable-priority", LBX_KIND_UNBOUNDED_PRIORITY},
    {"bounded-stable-priority", LBX_KIND_BOUNDED_PRIORITY},
    {"control-aware", LBX_KIND_UNBOUNDED_CONTROL_AWARE},
    {"deque", LBX_KIND_UNBOUNDED_DEQUE},
};

struct custom {
    lbx__kind kind; /* first: its name is at the end */
    struct custom *next;
    size_t size_bytes;
    char name[];
};

struct lbx_kinds {
    const lbx_allocator *allocator;
    struct custom *first;
};

static const lbx__kind *
find_built_in(const char *name)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(aliases[i].name, name) == 0)
            name = aliases[i].of;
    for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
        if (strcmp(built_in[i].name, name) == 0)
            return &built_in[i];
    return NULL;
}

const lbx__kind *
lbx__kinds_find(const lbx_kinds *kinds, const char *name)
{
    if (!name)
        name = LBX_KIND_UNBOUNDED;
    for (struct custom *c = kinds ? kinds->first : NULL; c; c = c->next)
        if (strcmp(c->name, name) == 0)
            return &c->kind;
    return find_built_in(name);
}

lbx_status
lbx_kinds_create(const lbx_allocator *allocator, lbx_kinds **ret)
{
    lbx_kinds *kinds;

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
lbx_kinds_destroy(lbx_kinds *kinds)
{
    struct custom *custom;

    if (!kinds)
        return;
    while (kinds->first) {
        custom = kinds->first;
        kinds->first = custom->next;
        lbx__free(kinds->allocator, custom, custom->size_bytes);
    }
    lbx__free(kinds->allocator, kinds, sizeof(*kinds));
}

static bool
is_complete(const lbx_storage_ops *ops)
{
    const uint32_t allowed = LBX_CAN_SEND_FRONT | LBX_CAN_PRIORITIZE;

    return ops->version == LBX_STORAGE_OPS_VERSION && ops->create &&
           ops->destroy && ops->push && ops->pop &&
           (ops->capabilities & ~allowed) == 0 &&
           (!(ops->capabilities & LBX_CAN_SEND_FRONT) || ops->push_front);
}

lbx_status
lbx_kinds_add(lbx_kinds *kinds, const char *name, const lbx_storage_ops *ops,
              void *kind_context)
{
    struct custom *custom;
    size_t size;

    if (!kinds || !name || !*name || !ops || !is_complete(ops))
        return LBX_INVALID;
    if (lbx__kinds_find(kinds, name))
        return LBX_EXISTS;
    size = sizeof(*custom) + strlen(name) + 1;
    custom = lbx__zalloc(kinds->allocator, size);
    if (!custom)
        return LBX_NO_MEMORY;
    memcpy(custom->name, name, strlen(name) + 1);
    custom->size_bytes = size;
    custom->kind.name = custom->name;
    custom->kind.order = LBX__STORAGE;
    custom->kind.capabilities = (uint32_t)BOTH | ops->capabilities;
    custom->kind.ops = ops;
    custom->kind.context = kind_context;
    custom->next = kinds->first;
    kinds->first = custom;
    return LBX_OK;
}

uint32_t
lbx_kinds_capabilities(const lbx_kinds *kinds, const char *name)
{
    const lbx__kind *kind = lbx__kinds_find(kinds, name);

    if (!kind)
        return 0;
    return kind->capabilities |
           (kind->limited ? LBX_CAN_BOUND | LBX_CAN_BLOCK : 0u);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What few actors need, and lists of nodes. */
#include "actor/system.h"
#include "base/alloc.h"

void
lbx__nodes_append(lbx__nodes *list, lbx__node *node)
{
    // No other thread sees these links.
    lbx__init(&node->next, NULL);
    if (list->last)
        lbx__init(&list->last->next, node);
    else
        list->first = node;
    list->last = node;
    list->count++;
}

lbx__node *
lbx__nodes_take(lbx__nodes *list)
{
    lbx__node *node = list->first;

    if (!node)
        return NULL;
    list->first = lbx__peek(&node->next);
    if (!list->first)
        list->last = NULL;
    list->count--;
    return node;
}

lbx__extra *
lbx__extra_of(lbx__cell *cell)
{
    static const lbx_strategy strategy = LBX_STRATEGY_INIT;
    lbx__extra *extra = cell->extra;

    if (extra)
        return extra;
    extra = lbx__zalloc(cell->system->options.allocator, sizeof(*extra));
    if (!extra)
        return NULL;
    extra->strategy = strategy;
    extra->stash_capacity = LBX_UNLIMITED;
    extra->idle_ns = -1;
    cell->extra = extra;
    return extra;
}

void
lbx__extra_free(lbx__cell *cell)
{
    const lbx_allocator *allocator = cell->system->options.allocator;
    lbx__extra *extra = cell->extra;

    if (!extra)
        return;
    lbx__refs_fini(&extra->watching, allocator);
    if (extra->receives)
        lbx__free(allocator, extra->receives,
                  extra->receive_room * sizeof(extra->receives[0]));
    lbx__free(allocator, extra, sizeof(*extra));
    cell->extra = NULL;
}

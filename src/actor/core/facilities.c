/* SPDX-License-Identifier: Apache-2.0 */
/* What few actors need, and lists of nodes. */
#include "actor/core/system.h"
#include "base/alloc.h"

void
lbx__node_list_append(lbx__node_list *list, lbx__node *node)
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
lbx__node_list_take(lbx__node_list *list)
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

lbx__facilities *
lbx__facilities_of(lbx__cell *cell)
{
    static const lbx_strategy strategy = LBX_STRATEGY_INIT;
    lbx__facilities *facilities = cell->facilities;

    if (facilities)
        return facilities;
    facilities =
        lbx__zalloc(cell->system->options.allocator, sizeof(*facilities));
    if (!facilities)
        return NULL;
    facilities->strategy = strategy;
    facilities->stash_capacity = LBX_UNLIMITED;
    facilities->idle_ns = -1;
    cell->facilities = facilities;
    return facilities;
}

void
lbx__facilities_free(lbx__cell *cell)
{
    const lbx_allocator *allocator = cell->system->options.allocator;
    lbx__facilities *facilities = cell->facilities;

    if (!facilities)
        return;
    lbx__ref_set_fini(&facilities->watching, allocator);
    if (facilities->receives)
        lbx__free(allocator, facilities->receives,
                  facilities->receive_room * sizeof(facilities->receives[0]));
    lbx__free(allocator, facilities, sizeof(*facilities));
    cell->facilities = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facilities: the state of what few actors use (become, stash, watching,
 * receive timeout, outbox, pipes, supervision strategy), allocated on first
 * use.
 *
 * Threads: the owner of the cell.
 */
#include "actor/core/system.h"
#include "base/alloc.h"

lbx__facilities *
lbx__facilities_of(lbx__cell *cell)
{
    static const lbx_supervisor supervisor = LBX_SUPERVISOR_INIT;
    lbx__facilities *facilities = cell->facilities;

    if (facilities)
        return facilities;
    facilities =
        lbx__zalloc(cell->system->options.allocator, sizeof(*facilities));
    if (!facilities)
        return NULL;
    facilities->supervisor = supervisor;
    facilities->stash_capacity = LBX_UNLIMITED;
    facilities->idle_ns = -1;
    lbx__list_init(&facilities->timers);
    lbx__minheap_init(&facilities->pipes, cell->system->options.allocator);
    facilities->pipes_due_ns = LBX_FOREVER;
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
    lbx__map_fini(&facilities->watching, allocator);
    lbx__array_fini(&facilities->receives, allocator);
    lbx__minheap_fini(&facilities->pipes);
    lbx__reason_unref(facilities->reason);
    lbx__reason_unref(facilities->said);
    lbx__free(allocator, facilities, sizeof(*facilities));
    cell->facilities = NULL;
}

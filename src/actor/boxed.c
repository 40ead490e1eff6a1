/* SPDX-License-Identifier: Apache-2.0 */
/* Boxed actors. X1 to X3 are in boxed.h. */
#include "actor/boxed.h"

#include "actor/system.h"
#include "actor/team.h"
#include "base/alloc.h"
#include "base/park.h"

struct lbx__boxes {
    lbx_system *system;
    lbx__lock lock;
    lbx__boxed *spare;
    lbx__boxed *all;
};

lbx_status
lbx__boxes_create(lbx_system *system, lbx__boxes **ret)
{
    lbx__boxes *boxes = lbx__zalloc(system->options.allocator, sizeof(*boxes));

    if (!boxes)
        return LBX_NO_MEMORY;
    boxes->system = system;
    *ret = boxes;
    return LBX_OK;
}

void
lbx__boxes_destroy(lbx__boxes *boxes)
{
    const lbx_allocator *allocator;

    if (!boxes)
        return;
    allocator = boxes->system->options.allocator;
    while (boxes->all) {
        lbx__boxed *next = boxes->all->next;

        lbx__free(allocator, boxes->all, sizeof(*boxes->all));
        boxes->all = next;
    }
    lbx__free(allocator, boxes, sizeof(*boxes));
}

static lbx__boxed *
get(lbx__boxes *boxes)
{
    lbx__boxed *boxed;

    lbx__lock_take(&boxes->lock);
    boxed = boxes->spare;
    if (boxed) {
        boxes->spare = boxed->next_free;
    } else {
        boxed = lbx__zalloc(boxes->system->options.allocator, sizeof(*boxed));
        if (boxed) {
            boxed->system = boxes->system;
            boxed->next = boxes->all;
            boxes->all = boxed;
        }
    }
    lbx__lock_give(&boxes->lock);
    return boxed;
}

static void
put(lbx__boxes *boxes, lbx__boxed *boxed)
{
    lbx__lock_take(&boxes->lock);
    boxed->next_free = boxes->spare;
    boxes->spare = boxed;
    lbx__lock_give(&boxes->lock);
}

static void
lost(void *context, const lbx_loss *loss)
{
    lbx__dead_letter(context, loss->envelope,
                     (lbx_loss_reason)loss->envelope->lost);
}

lbx_status
lbx__boxed_make(lbx__cell *cell, const char *kind,
                const lbx_mailbox_options *given, lbx__team *team)
{
    lbx_system *system = cell->system;
    lbx__boxed *boxed = get(system->boxes);
    lbx_mailbox_options options = *given;
    lbx_status status;

    if (!boxed)
        return LBX_NO_MEMORY;
    options.allocator = system->options.allocator;
    options.clock = system->options.clock;
    if (!options.kinds)
        options.kinds = system->options.kinds;
    options.owner = (void *)(uintptr_t)lbx__cell_ref(cell); // X3
    options.envelopes = true;
    options.system_reservation = LBX_DISABLED;
    options.loss_sink.lost = lost;
    options.loss_sink.context = system;
    status = lbx_mailbox_create(kind, &options, &boxed->in, &boxed->out);
    if (status != LBX_OK) {
        put(system->boxes, boxed);
        return status;
    }
    boxed->mailbox = lbx_consumer_mailbox(boxed->out);
    boxed->kind = kind;
    boxed->owner = team ? 0 : lbx__cell_ref(cell);
    boxed->team = team;
    // Release: who holds it sees the mailbox.
    lbx__store(&boxed->refs, 1u, release);
    lbx__store(&cell->boxed, boxed, release);
    return LBX_OK;
}

void
lbx__boxed_let_go(lbx__boxed *boxed)
{
    // Release and acquire: all use comes before the end.
    if (lbx__sub(&boxed->refs, 1, acq_rel) > 1)
        return;
    lbx_producer_unref(boxed->in);
    lbx_consumer_unref(boxed->out);
    put(boxed->system->boxes, boxed);
}

void
lbx__boxed_end(lbx__cell *cell)
{
    // Relaxed, both: the owner writes it.
    lbx__boxed *boxed = lbx__load(&cell->boxed, relaxed);

    if (!boxed)
        return;
    lbx__store(&cell->boxed, NULL, relaxed);
    if (boxed->team ? lbx__team_leave(boxed->team, cell)
                    : boxed->owner == lbx__cell_ref(cell))
        (void)lbx_mailbox_close(boxed->mailbox, LBX_CLOSE_IMMEDIATE);
    lbx__boxed_let_go(boxed);
}

void
lbx__boxed_share(lbx__boxed *boxed, lbx__cell *cell)
{
    // Relaxed, both: the box is held by others, the cell is not known to
    // anybody.
    (void)lbx__add(&boxed->refs, 1, relaxed);
    lbx__store(&cell->boxed, boxed, relaxed);
}

void
lbx__boxed_wake(lbx__boxed *boxed, lbx__cell *cell)
{
    if (boxed->team) {
        lbx__team_wake(boxed->team);
        return;
    }
    lbx__cell_wake_always(cell);
    // A routee that was told directly may be busy: its pool wakes the others.
    if (lbx__cell_of(boxed->owner) != cell)
        lbx__cell_wake_always(lbx__cell_of(boxed->owner));
}

lbx__boxed *
lbx__boxed_hold(lbx__cell *cell, uint64_t ref)
{
    lbx_ref to = {ref};
    // Acquire: pairs with the release in lbx__boxed_make().
    lbx__boxed *boxed = lbx__load(&cell->boxed, acquire);
    uint32_t refs = boxed ? lbx__load(&boxed->refs, relaxed) : 0;

    do {
        if (refs == 0)
            return NULL; // X1
        // Acquire: the mailbox inside.
    } while (!lbx__cas(&boxed->refs, &refs, refs + 1, acquire));
    if (lbx_ref_is_alive(to))
        return boxed; // X2
    lbx__boxed_let_go(boxed);
    return NULL;
}

bool
lbx__boxed_pop(lbx__cell *cell, lbx__node *ret)
{
    // Relaxed: the owner writes it.
    lbx__boxed *boxed = lbx__load(&cell->boxed, relaxed);
    lbx_envelope envelope;

    if (!boxed)
        return false;
    if (lbx_consumer_try_receive_envelope(boxed->out, &envelope) != LBX_OK) {
        // One that is counted and not there yet; its sender needs a moment.
        if (lbx_mailbox_depth(boxed->mailbox) > 0)
            lbx__pause();
        return false;
    }
    lbx__node_fill(ret, &envelope, lbx__cell_ref(cell)); // X3
    return true;
}

bool
lbx__boxed_has_messages(const lbx__cell *cell)
{
    lbx__boxed *boxed = lbx__load(&cell->boxed, relaxed);

    return boxed && lbx_mailbox_depth(boxed->mailbox) > 0;
}

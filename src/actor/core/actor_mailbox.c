/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actor mailboxes: creating, counting and waking (ABOX-1 to ABOX-4 in
 * actor_mailbox.h).
 *
 * Locks: one for the free list. No mailbox is called under it.
 */
#include "actor/core/actor_mailbox.h"

#include "actor/core/sharers.h"
#include "actor/core/system.h"
#include "base/alloc.h"
#include "base/park.h"

struct lbx__actor_mailboxes {
    lbx_system *system;
    lbx__lock lock;
    lbx__actor_mailbox *spare;
    lbx__actor_mailbox *all;
};

lbx_status
lbx__actor_mailboxes_create(lbx_system *system, lbx__actor_mailboxes **ret)
{
    lbx__actor_mailboxes *boxes =
        lbx__zalloc(system->options.allocator, sizeof(*boxes));

    if (!boxes)
        return LBX_NO_MEMORY;
    boxes->system = system;
    *ret = boxes;
    return LBX_OK;
}

void
lbx__actor_mailboxes_destroy(lbx__actor_mailboxes *boxes)
{
    const lbx_allocator *allocator;

    if (!boxes)
        return;
    allocator = boxes->system->options.allocator;
    while (boxes->all) {
        lbx__actor_mailbox *next = boxes->all->next;

        lbx__free(allocator, boxes->all, sizeof(*boxes->all));
        boxes->all = next;
    }
    lbx__free(allocator, boxes, sizeof(*boxes));
}

static lbx__actor_mailbox *
actor_mailbox_take(lbx__actor_mailboxes *boxes)
{
    lbx__actor_mailbox *box;

    lbx__lock_take(&boxes->lock);
    box = boxes->spare;
    if (box) {
        boxes->spare = box->next_free;
    } else {
        box = lbx__zalloc(boxes->system->options.allocator, sizeof(*box));
        if (box) {
            box->system = boxes->system;
            box->next = boxes->all;
            boxes->all = box;
        }
    }
    lbx__lock_give(&boxes->lock);
    return box;
}

static void
actor_mailbox_put_back(lbx__actor_mailboxes *boxes, lbx__actor_mailbox *box)
{
    lbx__lock_take(&boxes->lock);
    box->next_free = boxes->spare;
    boxes->spare = box;
    lbx__lock_give(&boxes->lock);
}

void
lbx__actor_mailbox_lose(lbx__actor_mailbox *box, const lbx_envelope *envelope,
                        lbx_loss_reason reason)
{
    lbx_envelope lost = *envelope;
    lbx_loss loss = {
        .mailbox = box->mailbox,
        .mailbox_name = box->options.name,
        .envelope = &lost,
    };

    if (!box->losses.lost ||
        lbx__dead_letter_is_own(envelope->type, envelope->message)) {
        lbx__dead_letter_publish(box->system, envelope, reason);
        return;
    }
    lost.lost = (uint8_t)reason;
    lost.reserved[0] = LBX__REPORT_NONE;
    // Relaxed: a statistic.
    loss.lost_messages = lbx__add(&box->lost, 1, relaxed) + 1;
    box->losses.lost(box->losses.context, &loss);
    lbx__dead_letter_report(box->system, envelope, reason);
}

static void
actor_mailbox_lost(void *context, const lbx_loss *loss)
{
    lbx__actor_mailbox_lose(context, loss->envelope,
                            (lbx_loss_reason)loss->envelope->lost);
}

lbx_status
lbx__actor_mailbox_create(lbx__cell *cell, const char *kind,
                          const lbx_mailbox_options *given,
                          lbx__sharers *sharers)
{
    lbx_system *system = cell->system;
    lbx__actor_mailbox *box = actor_mailbox_take(system->actor_mailboxes);
    lbx_mailbox_options options = *given;
    lbx_status status;

    if (!box)
        return LBX_NO_MEMORY;
    if (!options.allocator)
        options.allocator = system->options.allocator;
    options.clock = system->options.clock;
    if (!options.kinds)
        options.kinds = system->options.kinds;
    options.owner = (void *)(uintptr_t)lbx__cell_ref(cell); // ABOX-3
    options.envelopes = true;
    options.system_reservation = LBX_LIMIT_DISABLED;
    box->losses = given->loss_sink;
    lbx__init(&box->lost, 0);
    options.loss_sink.lost = actor_mailbox_lost;
    options.loss_sink.context = box;
    // Only where the settings or the props ask for it: events cost time.
    if (options.pressure_messages != LBX_DEFAULT && !options.metrics.event &&
        system->options.warn) {
        options.metrics.event = lbx__crowd_note_pressure;
        options.metrics.context = box;
    }
    status = lbx_mailbox_create(kind, &options, &box->in, &box->out);
    if (status != LBX_OK) {
        actor_mailbox_put_back(system->actor_mailboxes, box);
        return status;
    }
    box->mailbox = lbx_consumer_mailbox(box->out);
    box->kind = kind;
    box->options = options;
    box->owner = sharers ? 0 : lbx__cell_ref(cell);
    box->sharers = sharers;
    // Release: a thread that takes a reference sees the mailbox.
    lbx__store(&box->refs, 1u, release);
    lbx__store(&cell->box, box, release);
    return LBX_OK;
}

void
lbx__actor_mailbox_unref(lbx__actor_mailbox *box)
{
    // Release and acquire: all use comes before the end.
    if (lbx__sub(&box->refs, 1, acq_rel) > 1)
        return;
    lbx_producer_unref(box->in);
    lbx_consumer_unref(box->out);
    actor_mailbox_put_back(box->system->actor_mailboxes, box);
}

void
lbx__actor_mailbox_detach(lbx__cell *cell)
{
    // Relaxed, both: the owner writes it.
    lbx__actor_mailbox *box = lbx__load(&cell->box, relaxed);

    if (!box)
        return;
    lbx__store(&cell->box, NULL, relaxed);
    if (box->sharers ? lbx__sharers_leave(box->sharers, cell)
                     : box->owner == lbx__cell_ref(cell))
        (void)lbx_mailbox_close(box->mailbox, LBX_CLOSE_IMMEDIATE);
    lbx__actor_mailbox_unref(box);
}

void
lbx__actor_mailbox_share(lbx__actor_mailbox *box, lbx__cell *cell)
{
    // Relaxed, both: others keep the mailbox alive, and no other thread knows
    // the cell.
    (void)lbx__add(&box->refs, 1, relaxed);
    lbx__store(&cell->box, box, relaxed);
}

void
lbx__actor_mailbox_wake(lbx__actor_mailbox *box, lbx__cell *cell)
{
    if (box->sharers) {
        lbx__sharers_wake(box->sharers);
        return;
    }
    lbx__cell_wake_always(cell);
    // A routee with its own sender may be busy: its pool wakes the others.
    if (lbx__cell_of(box->owner) != cell)
        lbx__cell_wake_always(lbx__cell_of(box->owner));
}

lbx__actor_mailbox *
lbx__actor_mailbox_ref(lbx__cell *cell, uint64_t ref)
{
    lbx_ref to = {ref};
    // Acquire: pairs with the release in lbx__actor_mailbox_create().
    lbx__actor_mailbox *box = lbx__load(&cell->box, acquire);
    uint32_t refs = box ? lbx__load(&box->refs, relaxed) : 0;

    do {
        if (refs == 0)
            return NULL; // ABOX-1
        // Acquire: the mailbox inside.
    } while (!lbx__cas(&box->refs, &refs, refs + 1, acquire));
    if (lbx_ref_is_alive(to))
        return box; // ABOX-2
    lbx__actor_mailbox_unref(box);
    return NULL;
}

bool
lbx__actor_mailbox_pop(lbx__cell *cell, lbx__node *ret)
{
    // Relaxed: the owner writes it.
    lbx__actor_mailbox *box = lbx__load(&cell->box, relaxed);
    lbx_envelope envelope;

    if (!box)
        return false;
    if (lbx_consumer_try_receive_envelope(box->out, &envelope) != LBX_OK) {
        // One that is counted and not there yet: its sender is about to add it.
        if (lbx_mailbox_depth(box->mailbox) > 0)
            lbx__pause();
        return false;
    }
    lbx__node_fill(ret, &envelope, lbx__cell_ref(cell)); // ABOX-3
    return true;
}

bool
lbx__actor_mailbox_has_messages(const lbx__cell *cell)
{
    lbx__actor_mailbox *box = lbx__load(&cell->box, relaxed);

    return box && lbx_mailbox_depth(box->mailbox) > 0;
}

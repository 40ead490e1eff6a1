/* SPDX-License-Identifier: Apache-2.0 */
/* Change locks. CHLOCK-1 is in change_lock.h. */
#include "server/sqs/change_lock.h"

#include "base/park.h"
#include "codec/hash64.h"
#include "server/sqs/request.h"

#include <assert.h>

void
lbx__change_locks_init(lbx__change_locks *locks)
{
    *locks = (lbx__change_locks){.lock = {0}};
    for (size_t i = 0; i < LBX__CHANGE_LOCKS; i++)
        lbx__list_init(&locks->slots[i].waiting);
}

static uint32_t
change_lock_slot(const char *space, const char *name)
{
    if (!space)
        space = "";
    return (uint32_t)(lbx__hash64(lbx__hash64(0, space, strlen(space)), name,
                                  strlen(name)) %
                      LBX__CHANGE_LOCKS);
}

/* False: it waits, and `taken` will be called. */
static bool
change_lock_take(lbx__change_locks *locks, lbx__change_ticket *ticket)
{
    bool is_free;

    lbx__list_init(&ticket->link);
    lbx__lock_take(&locks->lock);
    is_free = !locks->slots[ticket->slot].is_held;
    if (is_free)
        locks->slots[ticket->slot].is_held = true;
    else
        lbx__list_append(&locks->slots[ticket->slot].waiting, &ticket->link);
    lbx__lock_give(&locks->lock);
    return is_free;
}

static void
change_lock_give(lbx__change_locks *locks, uint32_t slot)
{
    lbx__link *waiting = &locks->slots[slot].waiting;
    lbx__change_ticket *next = NULL;

    lbx__lock_take(&locks->lock);
    if (lbx__list_empty(waiting)) {
        locks->slots[slot].is_held = false;
    } else { // CHLOCK-1: it stays held, by the next
        next = lbx__member(waiting->next, lbx__change_ticket, link);
        lbx__list_remove(&next->link);
    }
    lbx__lock_give(&locks->lock);
    if (next)
        next->taken(next);
}

/* ---- Of a request ---- */

static void
change_lock_resume(lbx__task *task)
{
    lbx__request *request = lbx__member(task, lbx__request, task);

    request->is_running = false;
    request->step(request, LBX_OK);
}

static void
change_lock_post(lbx__change_ticket *ticket)
{
    lbx__request *request = lbx__member(ticket, lbx__request, change);

    lbx__loop_post(request->loop, &request->task);
}

void
lbx__change_lock_take(lbx__request *request, lbx__request_step *step)
{
    const lbx__queue *queue = request->queue;

    assert(!request->has_change_lock && !request->is_running);
    request->change = (lbx__change_ticket){
        .slot = change_lock_slot(queue->space, queue->name),
        .taken = change_lock_post,
    };
    request->has_change_lock = true;
    request->step = step;
    request->task.run = change_lock_resume;
    // A wait is no receive: it is not cancelled (REQ-2).
    request->is_running = true;
    if (change_lock_take(&request->sqs->change_locks, &request->change))
        change_lock_resume(&request->task);
}

void
lbx__change_lock_give(lbx__request *request)
{
    if (!request->has_change_lock)
        return;
    request->has_change_lock = false;
    change_lock_give(&request->sqs->change_locks, request->change.slot);
}

/* ---- Of a thread ---- */

static void
change_lock_wake(lbx__change_ticket *ticket)
{
    lbx__change_wait *wait = lbx__member(ticket, lbx__change_wait, ticket);

    // Release: pairs with the load in lbx__change_lock_wait(). The memory may
    // be gone after it, and a wake-up needs the address only.
    lbx__store(&wait->is_taken, 1u, release);
    lbx__futex_wake(&wait->is_taken, 1);
}

void
lbx__change_lock_wait(lbx__change_locks *locks, lbx__change_wait *wait,
                      const char *space, const char *name)
{
    wait->ticket = (lbx__change_ticket){
        .slot = change_lock_slot(space, name),
        .taken = change_lock_wake,
    };
    lbx__init(&wait->is_taken, 0u);
    if (change_lock_take(locks, &wait->ticket))
        return;
    // Acquire: pairs with the store in change_lock_wake().
    while (!lbx__load(&wait->is_taken, acquire))
        lbx__futex_wait(&wait->is_taken, 0, -1);
}

void
lbx__change_lock_end(lbx__change_locks *locks, lbx__change_wait *wait)
{
    change_lock_give(locks, wait->ticket.slot);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Change locks. CHLOCK-1 is in change_lock.h. */
#include "server/sqs/change_lock.h"

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
change_lock_slot(const lbx__queue *queue)
{
    const char *space = queue->space ? queue->space : "";

    return (uint32_t)(lbx__hash64(lbx__hash64(0, space, strlen(space)),
                                  queue->name, strlen(queue->name)) %
                      LBX__CHANGE_LOCKS);
}

static void
change_lock_taken(lbx__task *task)
{
    lbx__request *request = lbx__member(task, lbx__request, task);

    request->is_running = false;
    request->step(request, LBX_OK);
}

void
lbx__change_lock_take(lbx__request *request, lbx__request_step *step)
{
    lbx__change_locks *locks = &request->sqs->change_locks;
    const uint32_t slot = change_lock_slot(request->queue);
    bool is_free;

    assert(!request->has_change_lock && !request->is_running);
    request->change_slot = slot;
    request->has_change_lock = true;
    request->step = step;
    request->task.run = change_lock_taken;
    // A wait is no receive: it is not cancelled (REQ-2).
    request->is_running = true;
    lbx__lock_take(&locks->lock);
    is_free = !locks->slots[slot].is_held;
    if (is_free)
        locks->slots[slot].is_held = true;
    else
        lbx__list_append(&locks->slots[slot].waiting, &request->change);
    lbx__lock_give(&locks->lock);
    if (is_free)
        change_lock_taken(&request->task);
}

void
lbx__change_lock_give(lbx__request *request)
{
    lbx__change_locks *locks = &request->sqs->change_locks;
    const uint32_t slot = request->change_slot;
    lbx__request *next = NULL;

    if (!request->has_change_lock)
        return;
    request->has_change_lock = false;
    lbx__lock_take(&locks->lock);
    if (lbx__list_empty(&locks->slots[slot].waiting)) {
        locks->slots[slot].is_held = false;
    } else { // CHLOCK-1: it stays held, by the next
        next =
            lbx__member(locks->slots[slot].waiting.next, lbx__request, change);
        lbx__list_remove(&next->change);
    }
    lbx__lock_give(&locks->lock);
    if (next)
        lbx__loop_post(next->loop, &next->task);
}

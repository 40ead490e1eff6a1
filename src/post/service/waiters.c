/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting receives, by box and by due time; see waiters.h. */
#include "post/service/waiters.h"

#include "base/alloc.h"

static lbx__waited_box *
waited_box_of(lbx__minheap_node *node)
{
    return lbx__member(node, lbx__waited_box, due);
}

static bool
waited_box_has_uid(const void *item, const void *key)
{
    const lbx__waited_box *box = item;

    return box->uid == *(const uint64_t *)key;
}

void
lbx__waiters_init(lbx__waiters *waiters, const lbx_allocator *allocator)
{
    *waiters = (lbx__waiters){.allocator = allocator};
    lbx__minheap_init(&waiters->by_due, allocator);
    lbx__list_init(&waiters->marked);
}

void
lbx__waiters_fini(lbx__waiters *waiters)
{
    lbx__minheap_node *first;

    while ((first = lbx__minheap_first(&waiters->by_due)) != NULL)
        lbx__waiters_remove_box(waiters, waited_box_of(first));
    lbx__free(waiters->allocator, waiters->spare, sizeof(*waiters->spare));
    lbx__minheap_fini(&waiters->by_due);
    lbx__map_fini(&waiters->by_uid, waiters->allocator);
}

/* ---- Boxes ---- */

lbx__waited_box *
lbx__waiters_search(const lbx__waiters *waiters, uint64_t uid)
{
    return lbx__map_find(&waiters->by_uid, lbx__map_hash_word(uid),
                         waited_box_has_uid, &uid);
}

static void
waiters_mark_box(lbx__waiters *waiters, lbx__waited_box *box)
{
    if (lbx__list_empty(&box->marked))
        lbx__list_append(&waiters->marked, &box->marked);
}

lbx__waited_box *
lbx__waiters_add_box(lbx__waiters *waiters, uint64_t uid)
{
    lbx__waited_box *box = lbx__waiters_find(waiters, uid);

    if (box)
        return box;
    if (!lbx__map_reserve(&waiters->by_uid, waiters->allocator) ||
        !lbx__minheap_reserve(&waiters->by_due))
        return NULL;
    box = waiters->spare;
    waiters->spare = NULL;
    if (!box)
        box = lbx__alloc(waiters->allocator, sizeof(*box),
                         _Alignof(lbx__waited_box));
    if (!box)
        return NULL;
    *box = (lbx__waited_box){.uid = uid};
    lbx__minheap_node_init(&box->due);
    lbx__list_init(&box->marked);
    lbx__map_add(&waiters->by_uid, lbx__map_hash_word(uid), box);
    lbx__minheap_add(&waiters->by_due, &box->due, LBX_FOREVER);
    waiters_mark_box(waiters, box); // WAITERS-2
    return box;
}

void
lbx__waiters_remove_box(lbx__waiters *waiters, lbx__waited_box *box)
{
    assert(!box->calls.first);
    (void)lbx__map_remove(&waiters->by_uid, lbx__map_hash_word(box->uid),
                          waited_box_has_uid, &box->uid);
    lbx__minheap_remove(&waiters->by_due, &box->due);
    lbx__list_remove(&box->marked);
    if (waiters->spare)
        lbx__free(waiters->allocator, box, sizeof(*box));
    else
        waiters->spare = box;
}

void
lbx__waiters_mark(lbx__waiters *waiters, uint64_t uid)
{
    lbx__waited_box *box = lbx__waiters_find(waiters, uid);

    if (box)
        waiters_mark_box(waiters, box);
}

void
lbx__waiters_mark_all(lbx__waiters *waiters)
{
    for (size_t i = 0; i < waiters->by_due.nodes.count; i++)
        waiters_mark_box(waiters,
                         waited_box_of(waiters->by_due.nodes.items[i]));
}

void
lbx__waiters_mark_due(lbx__waiters *waiters, int64_t now_ns)
{
    // A marked box needs no due time until it has been served: with LBX_FOREVER
    // it leaves the front of the heap, and is marked once.
    while (lbx__waiters_due(waiters) <= now_ns) {
        lbx__waited_box *box =
            waited_box_of(lbx__minheap_first(&waiters->by_due));

        waiters_mark_box(waiters, box);
        lbx__waiters_set_due(waiters, box, LBX_FOREVER);
    }
}

lbx__waited_box *
lbx__waiters_take_marked(lbx__waiters *waiters)
{
    lbx__link *link = waiters->marked.next;

    if (link == &waiters->marked)
        return NULL;
    lbx__list_remove(link);
    return lbx__member(link, lbx__waited_box, marked);
}

void
lbx__waiters_set_due(lbx__waiters *waiters, lbx__waited_box *box,
                     int64_t due_ns)
{
    lbx__minheap_rekey(&waiters->by_due, &box->due, due_ns);
}

void
lbx__waiters_advance_due(lbx__waiters *waiters, uint64_t uid, int64_t due_ns)
{
    lbx__waited_box *box = lbx__waiters_find(waiters, uid);

    if (box && due_ns < box->due.key)
        lbx__waiters_set_due(waiters, box, due_ns);
}

/* ---- Calls ---- */

static void
waiters_enter(lbx__waited_box *box, lbx_call *call)
{
    call->words[LBX__CALL_OWNER] = box;
    lbx__call_set_phase(call, LBX__CALL_WAITING);
}

void
lbx__waiters_append(lbx__waited_box *box, lbx_call *call)
{
    waiters_enter(box, call);
    lbx__calls_append(&box->calls, call);
}

void
lbx__waiters_prepend(lbx__waited_box *box, lbx_call *call)
{
    waiters_enter(box, call);
    lbx__calls_prepend(&box->calls, call);
}

lbx_call *
lbx__waiters_pop(lbx__waited_box *box)
{
    lbx_call *call = lbx__calls_pop(&box->calls);

    if (call)
        lbx__call_set_phase(call, LBX__CALL_RUNNING);
    return call;
}

void
lbx__waiters_remove(lbx__waiters *waiters, lbx_call *call)
{
    lbx__waited_box *box = call->words[LBX__CALL_OWNER];

    assert(lbx__call_get_note(call).phase == LBX__CALL_WAITING);
    lbx__calls_remove(&box->calls, call);
    lbx__call_set_phase(call, LBX__CALL_RUNNING);
    if (!box->calls.first)
        waiters_mark_box(waiters, box); // WAITERS-2
}

bool
lbx__waiters_valid(const lbx__waiters *waiters)
{
    for (size_t i = 0; i < waiters->by_due.nodes.count; i++) {
        const lbx__waited_box *box =
            waited_box_of(waiters->by_due.nodes.items[i]);

        if (lbx__waiters_find(waiters, box->uid) != box ||
            (!box->calls.first && lbx__list_empty(&box->marked)))
            return false;
    }
    return waiters->by_due.nodes.count == waiters->by_uid.count &&
           lbx__minheap_valid(&waiters->by_due) &&
           lbx__map_valid(&waiters->by_uid);
}

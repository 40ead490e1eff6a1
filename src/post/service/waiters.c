/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting receives; see waiters.h. */
#include "post/service/waiters.h"

#include "base/alloc.h"

enum {
    FIRST_ROOM = 16
};

void
lbx__waiters_init(lbx__waiters *waiters, const lbx_allocator *allocator)
{
    *waiters = (lbx__waiters){.allocator = allocator};
    lbx__list_init(&waiters->stirred);
}

static void
free_arrays(const lbx__waiters *waiters)
{
    lbx__free(waiters->allocator, waiters->table,
              waiters->room * sizeof(waiters->table[0]));
    lbx__free(waiters->allocator, waiters->heap,
              waiters->room * sizeof(waiters->heap[0]));
}

void
lbx__waiters_fini(lbx__waiters *waiters)
{
    while (waiters->count) {
        assert(!waiters->heap[0]->calls.first);
        lbx__waiters_drop(waiters, waiters->heap[0]);
    }
    lbx__free(waiters->allocator, waiters->spare, sizeof(*waiters->spare));
    free_arrays(waiters);
}

/* ---- The table ---- */

static lbx__wanted **
chain(const lbx__waiters *waiters, uint64_t uid)
{
    // Uids are counted, or random: either way the product's high bits differ.
    const uint64_t mixed = uid * UINT64_C(0x9e3779b97f4a7c15);

    return &waiters->table[(mixed >> 32) & (waiters->room - 1)];
}

lbx__wanted *
lbx__waiters_find(const lbx__waiters *waiters, uint64_t uid)
{
    lbx__wanted *wanted;

    if (waiters->count == 0)
        return NULL;
    wanted = *chain(waiters, uid);
    while (wanted && wanted->uid != uid)
        wanted = wanted->next;
    return wanted;
}

static void
link_in(lbx__waiters *waiters, lbx__wanted *wanted)
{
    lbx__wanted **link = chain(waiters, wanted->uid);

    wanted->next = *link;
    *link = wanted;
}

/* Room for one more in the table and the heap. */
static bool
make_room(lbx__waiters *waiters)
{
    lbx__waiters wider = *waiters;

    if (waiters->count < waiters->room)
        return true;
    wider.room = waiters->room ? waiters->room * 2 : FIRST_ROOM;
    wider.table =
        lbx__zalloc(wider.allocator, wider.room * sizeof(wider.table[0]));
    wider.heap =
        lbx__zalloc(wider.allocator, wider.room * sizeof(wider.heap[0]));
    if (!wider.table || !wider.heap) {
        free_arrays(&wider);
        return false;
    }
    for (size_t i = 0; i < waiters->count; i++) {
        wider.heap[i] = waiters->heap[i];
        link_in(&wider, wider.heap[i]);
    }
    free_arrays(waiters);
    waiters->table = wider.table;
    waiters->heap = wider.heap;
    waiters->room = wider.room;
    return true;
}

/* ---- The heap ---- */

static void
put_at(lbx__waiters *waiters, size_t place, lbx__wanted *wanted)
{
    waiters->heap[place] = wanted;
    wanted->place = place;
}

static void
sift_up(lbx__waiters *waiters, lbx__wanted *wanted)
{
    size_t place = wanted->place;

    while (place > 0) {
        lbx__wanted *parent = waiters->heap[(place - 1) / 2];

        if (parent->due_ns <= wanted->due_ns)
            break;
        put_at(waiters, place, parent);
        place = (place - 1) / 2;
    }
    put_at(waiters, place, wanted);
}

static void
sift_down(lbx__waiters *waiters, lbx__wanted *wanted)
{
    size_t place = wanted->place;

    for (;;) {
        size_t child = 2 * place + 1;

        if (child >= waiters->count)
            break;
        if (child + 1 < waiters->count &&
            waiters->heap[child + 1]->due_ns < waiters->heap[child]->due_ns)
            child++;
        if (wanted->due_ns <= waiters->heap[child]->due_ns)
            break;
        put_at(waiters, place, waiters->heap[child]);
        place = child;
    }
    put_at(waiters, place, wanted);
}

void
lbx__waiters_set_due(lbx__waiters *waiters, lbx__wanted *wanted, int64_t due_ns)
{
    wanted->due_ns = due_ns;
    sift_up(waiters, wanted);
    sift_down(waiters, wanted);
}

/* ---- Boxes ---- */

static void
stir(lbx__waiters *waiters, lbx__wanted *wanted)
{
    if (lbx__list_empty(&wanted->stirred))
        lbx__list_append(&waiters->stirred, &wanted->stirred);
}

lbx__wanted *
lbx__waiters_want(lbx__waiters *waiters, uint64_t uid)
{
    lbx__wanted *wanted = lbx__waiters_find(waiters, uid);

    if (wanted)
        return wanted;
    if (!make_room(waiters))
        return NULL;
    wanted = waiters->spare;
    waiters->spare = NULL;
    if (!wanted)
        wanted = lbx__alloc(waiters->allocator, sizeof(*wanted),
                            _Alignof(lbx__wanted));
    if (!wanted)
        return NULL;
    *wanted = (lbx__wanted){.uid = uid, .due_ns = LBX_FOREVER};
    lbx__list_init(&wanted->stirred);
    link_in(waiters, wanted);
    put_at(waiters, waiters->count++, wanted); // for ever: the last of a heap
    stir(waiters, wanted);                     // W2
    return wanted;
}

void
lbx__waiters_drop(lbx__waiters *waiters, lbx__wanted *wanted)
{
    lbx__wanted **link = chain(waiters, wanted->uid);
    lbx__wanted *last = waiters->heap[--waiters->count];

    assert(!wanted->calls.first);
    while (*link != wanted)
        link = &(*link)->next;
    *link = wanted->next;
    if (last != wanted) {
        put_at(waiters, wanted->place, last);
        lbx__waiters_set_due(waiters, last, last->due_ns);
    }
    lbx__list_remove(&wanted->stirred);
    if (waiters->spare)
        lbx__free(waiters->allocator, wanted, sizeof(*wanted));
    else
        waiters->spare = wanted;
}

void
lbx__waiters_stir(lbx__waiters *waiters, uint64_t uid)
{
    lbx__wanted *wanted = lbx__waiters_find(waiters, uid);

    if (wanted)
        stir(waiters, wanted);
}

void
lbx__waiters_expect(lbx__waiters *waiters, uint64_t uid, int64_t due_ns)
{
    lbx__wanted *wanted = lbx__waiters_find(waiters, uid);

    if (wanted && due_ns < wanted->due_ns)
        lbx__waiters_set_due(waiters, wanted, due_ns);
}

void
lbx__waiters_stir_all(lbx__waiters *waiters)
{
    for (size_t i = 0; i < waiters->count; i++)
        stir(waiters, waiters->heap[i]);
}

void
lbx__waiters_stir_due(lbx__waiters *waiters, int64_t now_ns)
{
    // Stirred ones stand outside the order of due times until they have been
    // looked at, so that the heap goes down: each is stirred once.
    while (lbx__waiters_due(waiters) <= now_ns) {
        lbx__wanted *wanted = waiters->heap[0];

        stir(waiters, wanted);
        lbx__waiters_set_due(waiters, wanted, LBX_FOREVER);
    }
}

lbx__wanted *
lbx__waiters_next(lbx__waiters *waiters)
{
    lbx__link *link = waiters->stirred.next;

    if (link == &waiters->stirred)
        return NULL;
    lbx__list_remove(link);
    return lbx__member(link, lbx__wanted, stirred);
}

/* ---- Calls ---- */

static void
enter(lbx__wanted *wanted, lbx_call *call)
{
    call->words[LBX__WORD_OF] = wanted;
    lbx__call_move(call, LBX__WAITING);
}

void
lbx__wanted_append(lbx__wanted *wanted, lbx_call *call)
{
    enter(wanted, call);
    lbx__calls_append(&wanted->calls, call);
}

void
lbx__wanted_put_back(lbx__wanted *wanted, lbx_call *call)
{
    enter(wanted, call);
    lbx__calls_prepend(&wanted->calls, call);
}

lbx_call *
lbx__wanted_take(lbx__wanted *wanted)
{
    lbx_call *call = lbx__calls_pop(&wanted->calls);

    if (call)
        lbx__call_move(call, LBX__RUNNING);
    return call;
}

void
lbx__waiters_leave(lbx__waiters *waiters, lbx_call *call)
{
    lbx__wanted *wanted = call->words[LBX__WORD_OF];

    assert(lbx__call_note(call).place == LBX__WAITING);
    lbx__calls_remove(&wanted->calls, call);
    lbx__call_move(call, LBX__RUNNING);
    if (!wanted->calls.first)
        stir(waiters, wanted); // W2
}

bool
lbx__waiters_valid(const lbx__waiters *waiters)
{
    size_t chained = 0;

    for (size_t i = 0; i < waiters->count; i++) {
        const lbx__wanted *wanted = waiters->heap[i];

        if (wanted->place != i ||
            lbx__waiters_find(waiters, wanted->uid) != wanted)
            return false;
        if (i > 0 && waiters->heap[(i - 1) / 2]->due_ns > wanted->due_ns)
            return false;
        if (!wanted->calls.first && lbx__list_empty(&wanted->stirred))
            return false;
    }
    for (size_t i = 0; i < waiters->room; i++)
        for (const lbx__wanted *w = waiters->table[i]; w; w = w->next)
            chained++;
    return chained == waiters->count;
}

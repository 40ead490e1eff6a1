/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers: messages for later.
 *
 * A heap of slots by due time, under one lock; a thread that sleeps until the
 * first is due, started with the first timer. A system without threads fires
 * its timers in lbx_system_run().
 *
 * M1  A slot is in the heap or free; `place` says where. A timer's name is its
 *     slot and the slot's count of uses, so that a stale name finds nothing.
 * M2  Messages are told, and copied, without the lock. A timer that fires once
 *     is free before; a periodic one is due again, and `firing`: who cancels it
 *     then leaves its end to the thread that fires it.
 */
#include "actor/core/system.h"

#include "base/alloc.h"
#include "base/park.h"
#include "base/type.h"
#include <pthread.h>
#include <string.h>

enum {
    FIRST_ROOM = 16
};

#define NONE UINT32_MAX

typedef struct slot {
    int64_t due_ns;
    int64_t period_ns; /* 0: once */
    uint64_t to;
    lbx_envelope envelope;
    uint32_t use; /* odd: in use */
    uint32_t place;
    uint32_t next_spare;
    uint8_t code; /* not 0: a system message */
    bool firing;
    bool cancelled;
} slot;

struct lbx__timers {
    lbx_system *system;
    lbx__lock lock;
    slot *slots;
    uint32_t *heap; /* slot numbers */
    uint32_t room;
    uint32_t count;
    uint32_t spare;
    bool has_thread;
    bool stopping;
    pthread_t thread;
    _Atomic(uint32_t) changed; /* a futex: counts changes of the first */
};

lbx_status
lbx__timers_create(lbx_system *system, lbx__timers **ret)
{
    lbx__timers *timers =
        lbx__zalloc(system->options.allocator, sizeof(*timers));

    if (!timers)
        return LBX_NO_MEMORY;
    timers->system = system;
    timers->spare = NONE;
    *ret = timers;
    return LBX_OK;
}

/* The heap. */

static int64_t
due(const lbx__timers *timers, uint32_t place)
{
    return timers->slots[timers->heap[place]].due_ns;
}

static void
put_at(lbx__timers *timers, uint32_t place, uint32_t number)
{
    timers->heap[place] = number;
    timers->slots[number].place = place;
}

static void
sift_up(lbx__timers *timers, uint32_t place)
{
    uint32_t number = timers->heap[place];

    while (place > 0) {
        uint32_t parent = (place - 1) / 2;

        if (due(timers, parent) <= timers->slots[number].due_ns)
            break;
        put_at(timers, place, timers->heap[parent]);
        place = parent;
    }
    put_at(timers, place, number);
}

static void
sift_down(lbx__timers *timers, uint32_t place)
{
    uint32_t number = timers->heap[place];

    for (;;) {
        uint32_t child = 2 * place + 1;

        if (child >= timers->count)
            break;
        if (child + 1 < timers->count &&
            due(timers, child + 1) < due(timers, child))
            child++;
        if (timers->slots[number].due_ns <= due(timers, child))
            break;
        put_at(timers, place, timers->heap[child]);
        place = child;
    }
    put_at(timers, place, number);
}

static void
take_out(lbx__timers *timers, uint32_t number)
{
    uint32_t place = timers->slots[number].place;
    uint32_t last = timers->heap[--timers->count];

    if (place < timers->count) {
        put_at(timers, place, last);
        sift_up(timers, place);
        sift_down(timers, timers->slots[last].place);
    }
    timers->slots[number].use++; // M1
    timers->slots[number].next_spare = timers->spare;
    timers->spare = number;
}

static bool
make_room(lbx__timers *timers)
{
    const lbx_allocator *allocator = timers->system->options.allocator;
    uint32_t room = timers->room ? timers->room * 2 : FIRST_ROOM;
    slot *slots;
    uint32_t *heap;

    if (timers->spare != NONE)
        return true;
    slots = lbx__zalloc(allocator, room * sizeof(slots[0]));
    heap = lbx__zalloc(allocator, room * sizeof(heap[0]));
    if (!slots || !heap) {
        lbx__free(allocator, slots, room * sizeof(slots[0]));
        lbx__free(allocator, heap, room * sizeof(heap[0]));
        return false;
    }
    if (timers->room > 0) {
        memcpy(slots, timers->slots, timers->room * sizeof(slots[0]));
        memcpy(heap, timers->heap, timers->room * sizeof(heap[0]));
        lbx__free(allocator, timers->slots, timers->room * sizeof(slots[0]));
        lbx__free(allocator, timers->heap, timers->room * sizeof(heap[0]));
    }
    for (uint32_t i = timers->room; i < room; i++)
        slots[i].next_spare = i + 1 < room ? i + 1 : NONE;
    timers->spare = timers->room;
    timers->slots = slots;
    timers->heap = heap;
    timers->room = room;
    return true;
}

/* Tells a fired timer's message. All timers would wait for room with it, those
 * too that make room. */
static void
tell(lbx_system *system, const slot *fired)
{
    lbx_ref to = {fired->to};
    lbx__node *node;

    if (fired->code == 0) {
        lbx__ref_tell_at_once(to, &fired->envelope);
        return;
    }
    node = lbx__node_pool_get(system->pool);
    if (!node)
        return;
    node->sender = 0;
    node->recipient = fired->to;
    node->code = fired->code;
    lbx__cell_push_system(lbx__cell_of(fired->to), node);
}

/* A sum that does not overflow. */
static int64_t
later(int64_t time_ns, int64_t by_ns)
{
    return time_ns > LBX_FOREVER - by_ns ? LBX_FOREVER : time_ns + by_ns;
}

/* Takes one due timer; false when none is. A periodic one stays. */
static bool
take_due(lbx__timers *timers, int64_t now, slot *ret, uint32_t *ret_number)
{
    uint32_t number;
    slot *first;
    lbx_ref to;

    if (timers->count == 0 || due(timers, 0) > now ||
        due(timers, 0) == LBX_FOREVER)
        return false;
    number = timers->heap[0];
    first = &timers->slots[number];
    *ret = *first;
    *ret_number = number;
    to.word = first->to;
    if (first->period_ns == 0 || !lbx_ref_is_alive(to)) {
        ret->period_ns = 0;
        take_out(timers, number);
        return true;
    }
    // What was missed is not made up for.
    first->due_ns = later(first->due_ns, first->period_ns);
    if (first->due_ns <= now)
        first->due_ns = later(now, first->period_ns);
    first->firing = true;
    sift_down(timers, 0);
    return true;
}

/* Tells a periodic message, or a copy where it must be one. */
static void
tell_again(lbx__timers *timers, slot *fired, uint32_t number)
{
    const lbx_type *type = fired->envelope.type;
    void *message = fired->envelope.message;
    bool cancelled;

    if (!lbx__type_clones(type) ||
        lbx_type_clone(type, message, &fired->envelope.message) == LBX_OK)
        tell(timers->system, fired);
    lbx__lock_take(&timers->lock);
    timers->slots[number].firing = false;
    cancelled = timers->slots[number].cancelled;
    if (cancelled)
        take_out(timers, number);
    lbx__lock_give(&timers->lock);
    if (cancelled)
        lbx__message_destroy(timers->system, type, message);
}

int64_t
lbx__timers_fire(lbx__timers *timers)
{
    int64_t next = LBX_FOREVER;
    slot fired;

    for (;;) {
        int64_t now = lbx_clock_now(timers->system->options.clock);
        uint32_t number;
        bool found;

        lbx__lock_take(&timers->lock);
        found = take_due(timers, now, &fired, &number);
        if (!found && timers->count > 0)
            next = due(timers, 0);
        lbx__lock_give(&timers->lock);
        if (!found)
            return next;
        if (fired.period_ns > 0) // M2
            tell_again(timers, &fired, number);
        else
            tell(timers->system, &fired);
    }
}

static void *
keep_time(void *argument)
{
    lbx__timers *timers = argument;

    for (;;) {
        // Acquire: changes counted before are seen by the look below.
        uint32_t seen = lbx__load(&timers->changed, acquire);
        int64_t next = lbx__timers_fire(timers);
        int64_t wait_ns = -1;
        bool stopping;

        lbx__lock_take(&timers->lock);
        stopping = timers->stopping;
        lbx__lock_give(&timers->lock);
        if (stopping)
            return NULL;
        if (next != LBX_FOREVER) {
            wait_ns = next - lbx_clock_now(timers->system->options.clock);
            if (wait_ns <= 0)
                continue;
        }
        lbx__futex_wait(&timers->changed, seen, wait_ns);
    }
}

static void
note_change(lbx__timers *timers)
{
    // Release: pairs with the acquire in keep_time().
    (void)lbx__add(&timers->changed, 1, release);
    lbx__futex_wake(&timers->changed, 1);
}

/* The thread, where there are threads. Under the lock. */
static bool
has_keeper(lbx__timers *timers)
{
    if (timers->has_thread || timers->system->options.threads == 0)
        return true;
    timers->has_thread =
        pthread_create(&timers->thread, NULL, keep_time, timers) == 0;
    return timers->has_thread;
}

static lbx_status
add(lbx__timers *timers, const slot *wanted, lbx_timer *ret)
{
    lbx_status status = LBX_NO_MEMORY;
    bool first = false;

    lbx__lock_take(&timers->lock);
    if (has_keeper(timers) && make_room(timers)) {
        uint32_t number = timers->spare;
        uint32_t use = timers->slots[number].use + 1; // M1
        uint32_t next_spare = timers->slots[number].next_spare;

        timers->slots[number] = *wanted;
        timers->slots[number].use = use;
        timers->spare = next_spare;
        put_at(timers, timers->count, number);
        sift_up(timers, timers->count++);
        first = timers->slots[number].place == 0;
        ret->id = (uint64_t)use << 32 | number;
        status = LBX_OK;
    }
    lbx__lock_give(&timers->lock);
    if (first)
        note_change(timers);
    return status;
}

lbx_status
lbx_timer_start(lbx_system *system, lbx_ref to, const lbx_envelope *envelope,
                int64_t delay_ns, int64_t period_ns, lbx_timer *ret)
{
    slot wanted = {.to = to.word};

    if (!system || !envelope || !ret || !to.word || delay_ns < 0 ||
        period_ns < 0 || lbx_envelope_is_system(envelope))
        return LBX_INVALID;
    if (period_ns > 0 && !lbx__type_clones(envelope->type) &&
        (lbx__type_ends(envelope->type) ||
         (!envelope->type && system->options.destroy)))
        return LBX_UNSUPPORTED;
    wanted.due_ns = lbx_deadline_after(system->options.clock, delay_ns);
    wanted.period_ns = period_ns;
    wanted.envelope = *envelope;
    return add(system->timers, &wanted, ret);
}

lbx_status
lbx__timers_start_system(lbx__timers *timers, uint64_t to, uint8_t code,
                         int64_t delay_ns)
{
    slot wanted = {
        .to = to,
        .code = code,
        // A negative delay is one that has passed, not "for ever".
        .due_ns = lbx_deadline_after(timers->system->options.clock,
                                     delay_ns > 0 ? delay_ns : 0),
    };
    lbx_timer timer;

    return add(timers, &wanted, &timer);
}

bool
lbx_timer_cancel(lbx_system *system, lbx_timer timer)
{
    lbx__timers *timers = system ? system->timers : NULL;
    uint32_t number = (uint32_t)timer.id;
    uint32_t use = (uint32_t)(timer.id >> 32);
    lbx_envelope envelope;
    bool found;
    bool ours = false;

    if (!timers || timer.id == 0)
        return false;
    lbx__lock_take(&timers->lock);
    found = number < timers->room && timers->slots[number].use == use &&
            use % 2 == 1 && !timers->slots[number].cancelled;
    if (found) {
        ours = !timers->slots[number].firing; // M2
        timers->slots[number].cancelled = true;
        envelope = timers->slots[number].envelope;
        if (ours)
            take_out(timers, number);
    }
    lbx__lock_give(&timers->lock);
    if (ours)
        lbx__message_destroy(system, envelope.type, envelope.message);
    return found;
}

void
lbx__timers_stop(lbx__timers *timers)
{
    bool has_thread;

    if (!timers)
        return;
    lbx__lock_take(&timers->lock);
    timers->stopping = true;
    has_thread = timers->has_thread;
    timers->has_thread = false;
    lbx__lock_give(&timers->lock);
    if (!has_thread)
        return;
    note_change(timers);
    (void)pthread_join(timers->thread, NULL);
}

void
lbx__timers_destroy(lbx__timers *timers)
{
    const lbx_allocator *allocator;

    if (!timers)
        return;
    allocator = timers->system->options.allocator;
    for (uint32_t i = 0; i < timers->count; i++) {
        const slot *left = &timers->slots[timers->heap[i]];

        if (left->code == 0)
            lbx__message_destroy(timers->system, left->envelope.type,
                                 left->envelope.message);
    }
    lbx__free(allocator, timers->slots, timers->room * sizeof(slot));
    lbx__free(allocator, timers->heap, timers->room * sizeof(uint32_t));
    lbx__free(allocator, timers, sizeof(*timers));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers: messages that are sent later.
 *
 * A heap of timers by due time, under one lock; and a thread that sleeps until
 * the first is due, started with the first timer. A system without threads
 * fires its timers in lbx_system_run().
 *
 * TIMER-1  A timer is in the heap or on the free list. Its public id is its
 *          index and its number of uses, so that a stale id matches none.
 * TIMER-2  Messages are sent, and copied, without the lock. A timer that fires
 *          once is free before; a periodic one is in the heap again, and
 *          `firing`: a thread that cancels it then leaves its end to the thread
 *          that fires it.
 * TIMER-3  A timer that an actor started for itself is on the list in that
 *          actor's facilities, under the lock, until it is free or cancelled:
 *          a restart and the end of the actor cancel all of them.
 * TIMER-4  A timer for a system message has the message's node from its start:
 *          one that was started fires without memory, too. It fires once.
 */
#include "actor/core/system.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/list.h"
#include "base/minheap.h"
#include "base/park.h"
#include "base/threads.h"
#include "base/time.h"
#include "base/type.h"
#include <pthread.h>

/* What a timer does. */
struct timer_task {
    uint64_t to;
    lbx_envelope envelope;
    int64_t period_ns; /* 0: once */
    lbx__node *node;   /* TIMER-4; NULL: the envelope is sent */
};

typedef struct timer {
    lbx__minheap_node due; /* key: when, in ns */
    struct timer_task task;
    struct timer *next_free;
    lbx__link own; /* TIMER-3 */
    uint32_t index;
    uint32_t use; /* odd: in use */
    bool firing;
    bool cancelled;
} timer;

struct lbx__timers {
    lbx_system *system;
    lbx__lock lock;
    lbx__array(timer *) all;
    timer *first_free;
    lbx__minheap heap;
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
    lbx__minheap_init(&timers->heap, system->options.allocator);
    *ret = timers;
    return LBX_OK;
}

/* The timer that is due first, or NULL. Under the lock. */
static timer *
timers_first(const lbx__timers *timers)
{
    lbx__minheap_node *node = lbx__minheap_first(&timers->heap);

    return node ? lbx__member(node, timer, due) : NULL;
}

/* Takes a timer out of the heap and frees it. Under the lock. */
static void
timer_release(lbx__timers *timers, timer *ended)
{
    lbx__minheap_remove(&timers->heap, &ended->due);
    lbx__list_remove(&ended->own);
    ended->use++; // TIMER-1
    ended->next_free = timers->first_free;
    timers->first_free = ended;
}

/* Adds a timer to the free list; false without memory. Under the lock. */
static bool
timers_grow(lbx__timers *timers)
{
    const lbx_allocator *allocator = timers->system->options.allocator;
    timer *fresh;

    if (!lbx__array_reserve(&timers->all, allocator, 1))
        return false;
    fresh = lbx__zalloc(allocator, sizeof(*fresh));
    if (!fresh)
        return false;
    lbx__minheap_node_init(&fresh->due);
    lbx__list_init(&fresh->own);
    fresh->index = (uint32_t)timers->all.count;
    timers->all.items[timers->all.count++] = fresh;
    fresh->next_free = timers->first_free;
    timers->first_free = fresh;
    return true;
}

/* Sends the message of a fired timer. It does not wait for a full mailbox: all
 * timers would wait with it, including those that empty the mailbox. */
static void
timer_send(const struct timer_task *task)
{
    lbx_ref to = {task->to};

    if (task->node)
        lbx__cell_push_system(lbx__cell_of(task->to), task->node);
    else
        lbx__ref_tell_at_once(to, &task->envelope);
}

/* Takes one due timer and its task; NULL when none is due. A periodic one stays
 * in the heap, others are free. Under the lock. */
static timer *
timer_take_due(lbx__timers *timers, int64_t now_ns, struct timer_task *ret)
{
    timer *first = timers_first(timers);
    int64_t next_ns;

    if (!first || first->due.key > now_ns || first->due.key == LBX_FOREVER)
        return NULL;
    *ret = first->task;
    if (first->task.period_ns == 0 || !lbx__ref_lives(first->task.to)) {
        ret->period_ns = 0;
        timer_release(timers, first);
        return first;
    }
    // Periods that were missed are skipped.
    next_ns = lbx__time_add(first->due.key, first->task.period_ns);
    if (next_ns <= now_ns)
        next_ns = lbx__time_add(now_ns, first->task.period_ns);
    first->firing = true;
    lbx__minheap_rekey(&timers->heap, &first->due, next_ns);
    return first;
}

/* Sends a periodic message, or a copy of it where its type requires one. */
static void
timer_send_periodic(lbx__timers *timers, timer *fired, struct timer_task *task)
{
    const lbx_type *type = task->envelope.type;
    void *message = task->envelope.message;
    bool cancelled;

    if (!lbx__type_clones(type) ||
        lbx_type_clone(type, message, &task->envelope.message) == LBX_OK)
        timer_send(task);
    lbx__lock_take(&timers->lock);
    fired->firing = false;
    cancelled = fired->cancelled;
    if (cancelled)
        timer_release(timers, fired);
    lbx__lock_give(&timers->lock);
    if (cancelled)
        lbx__message_destroy(timers->system, type, message);
}

int64_t
lbx__timers_fire(lbx__timers *timers)
{
    int64_t next_ns = LBX_FOREVER;

    for (;;) {
        int64_t now_ns = lbx_clock_now(timers->system->options.clock);
        struct timer_task task;
        timer *fired;

        lbx__lock_take(&timers->lock);
        fired = timer_take_due(timers, now_ns, &task);
        if (!fired && timers_first(timers))
            next_ns = timers_first(timers)->due.key;
        lbx__lock_give(&timers->lock);
        if (!fired)
            return next_ns;
        if (task.period_ns > 0) // TIMER-2
            timer_send_periodic(timers, fired, &task);
        else
            timer_send(&task);
    }
}

static void *
timers_main(void *argument)
{
    lbx__timers *timers = argument;

    for (;;) {
        // Acquire: changes counted before are seen by the fire below.
        uint32_t seen = lbx__load(&timers->changed, acquire);
        int64_t next_ns = lbx__timers_fire(timers);
        int64_t wait_ns = lbx__time_left(
            next_ns, lbx_clock_now(timers->system->options.clock));
        bool stopping;

        lbx__lock_take(&timers->lock);
        stopping = timers->stopping;
        lbx__lock_give(&timers->lock);
        if (stopping)
            return NULL;
        if (wait_ns != 0)
            lbx__futex_wait(&timers->changed, seen, wait_ns);
    }
}

static void
timers_wake_thread(lbx__timers *timers)
{
    // Release: pairs with the acquire in timers_main().
    (void)lbx__add(&timers->changed, 1, release);
    lbx__futex_wake(&timers->changed, 1);
}

/* Starts the thread, where there are threads. Under the lock. */
static bool
timers_start_thread(lbx__timers *timers)
{
    if (timers->has_thread || timers->system->options.threads == 0)
        return true;
    timers->has_thread =
        lbx__threads_start(&timers->thread, timers_main, timers);
    return timers->has_thread;
}

/* `own`: the list of an actor that starts it for itself, or NULL. */
static lbx_status
timer_add(lbx__timers *timers, const struct timer_task *task, int64_t due_ns,
          lbx__link *own, lbx_timer *ret)
{
    lbx_status status = LBX_NO_MEMORY;
    bool first = false;

    lbx__lock_take(&timers->lock);
    if (timers_start_thread(timers) &&
        (timers->first_free || timers_grow(timers)) &&
        lbx__minheap_reserve(&timers->heap)) {
        timer *added = timers->first_free;

        timers->first_free = added->next_free;
        added->task = *task;
        added->use++; // TIMER-1
        added->firing = false;
        added->cancelled = false;
        lbx__minheap_add(&timers->heap, &added->due, due_ns);
        if (own)
            lbx__list_append(own, &added->own);
        first = timers_first(timers) == added;
        ret->id = (uint64_t)added->use << 32 | added->index;
        status = LBX_OK;
    }
    lbx__lock_give(&timers->lock);
    if (first)
        timers_wake_thread(timers);
    return status;
}

/* Checks and adds a timer of a user; `own` as in timer_add(). */
static lbx_status
timer_start_checked(lbx_system *system, const struct timer_task *task,
                    int64_t delay_ns, lbx__link *own, lbx_timer *ret)
{
    const lbx_envelope *envelope = &task->envelope;

    if (!task->to || delay_ns < 0 || task->period_ns < 0 ||
        lbx_envelope_is_system(envelope))
        return LBX_INVALID;
    if (task->period_ns > 0 && !lbx__type_clones(envelope->type) &&
        (lbx__type_destroys(envelope->type) ||
         (!envelope->type && system->options.destroy)))
        return LBX_UNSUPPORTED;
    return timer_add(system->timers, task,
                     lbx_deadline_after(system->options.clock, delay_ns), own,
                     ret);
}

lbx_status
lbx_timer_start(lbx_system *system, lbx_ref to, const lbx_envelope *envelope,
                int64_t delay_ns, int64_t period_ns, lbx_timer *ret)
{
    struct timer_task task = {.to = to.word, .period_ns = period_ns};
    const lbx_context *context = lbx__context_current();
    lbx__facilities *facilities = NULL;

    if (!system || !envelope || !ret)
        return LBX_INVALID;
    task.envelope = *envelope;
    // Ended actors and promises have none (a listener may run in their run).
    if (context && context->self == to.word && context->system == system &&
        lbx__ref_lives(to.word) && context->cell->role != LBX__ROLE_PROMISE) {
        facilities = lbx__facilities_of(context->cell);
        if (!facilities)
            return LBX_NO_MEMORY;
    }
    return timer_start_checked(system, &task, delay_ns,
                               facilities ? &facilities->timers : NULL, ret);
}

lbx_status
lbx__timers_start_message(lbx_system *system, uint64_t to,
                          const lbx_envelope *envelope, int64_t delay_ns,
                          lbx_timer *ret)
{
    const struct timer_task task = {.to = to, .envelope = *envelope};

    return timer_start_checked(system, &task, delay_ns, NULL, ret);
}

lbx_status
lbx__timers_start_system(lbx__timers *timers, uint64_t to, uint8_t code,
                         int64_t delay_ns, lbx_timer *ret)
{
    lbx__node *node = lbx__node_pool_get(timers->system->pool); // TIMER-4
    struct timer_task task = {.to = to, .node = node};
    lbx_timer unused;
    lbx_status status;
    // A negative delay is one that has passed, not "for ever".
    int64_t due_ns = lbx_deadline_after(timers->system->options.clock,
                                        delay_ns > 0 ? delay_ns : 0);

    if (!node)
        return LBX_NO_MEMORY;
    node->sender = 0;
    node->recipient = to;
    node->code = code;
    status = timer_add(timers, &task, due_ns, NULL, ret ? ret : &unused);
    if (status != LBX_OK)
        lbx__node_pool_put(timers->system->pool, node);
    return status;
}

/* The timer of an id, unless it is stale. Under the lock. */
static timer *
timer_find(const lbx__timers *timers, lbx_timer id)
{
    uint32_t index = (uint32_t)id.id;
    uint32_t use = (uint32_t)(id.id >> 32);
    timer *found = index < timers->all.count ? timers->all.items[index] : NULL;

    return found && found->use == use && use % 2 == 1 && !found->cancelled
               ? found
               : NULL;
}

bool
lbx__timers_has(lbx__timers *timers, lbx_timer id)
{
    bool found;

    lbx__lock_take(&timers->lock);
    found = timer_find(timers, id) != NULL;
    lbx__lock_give(&timers->lock);
    return found;
}

/* Cancels a timer; false when the thread that fires it ends its message
 * (TIMER-2). Under the lock. */
static bool
timer_cancel(lbx__timers *timers, timer *found, lbx_envelope *ret)
{
    found->cancelled = true;
    *ret = found->task.envelope;
    if (found->firing) {
        lbx__list_remove(&found->own); // TIMER-3
        return false;
    }
    timer_release(timers, found);
    return true;
}

bool
lbx_timer_cancel(lbx_system *system, lbx_timer id)
{
    lbx__timers *timers = system ? system->timers : NULL;
    lbx_envelope envelope;
    timer *found;
    bool ours;

    if (!timers || id.id == 0)
        return false;
    lbx__lock_take(&timers->lock);
    found = timer_find(timers, id);
    ours = found && timer_cancel(timers, found, &envelope);
    lbx__lock_give(&timers->lock);
    if (ours)
        lbx__message_destroy(system, envelope.type, envelope.message);
    return found != NULL;
}

void
lbx__timers_cancel_system(lbx__timers *timers, lbx_timer id)
{
    lbx__node *node = NULL;
    lbx_envelope none;
    timer *found;

    if (id.id == 0)
        return;
    lbx__lock_take(&timers->lock);
    found = timer_find(timers, id);
    if (found) {
        node = found->task.node;
        (void)timer_cancel(timers, found, &none); // it has no message
    }
    lbx__lock_give(&timers->lock);
    if (node)
        lbx__node_pool_put(timers->system->pool, node);
}

void
lbx__timers_cancel_own(lbx__timers *timers, lbx__link *own)
{
    lbx_envelope envelope;
    bool found = true;
    bool ours;

    while (found) {
        lbx__lock_take(&timers->lock);
        found = !lbx__list_empty(own);
        ours = found && timer_cancel(timers, lbx__member(own->next, timer, own),
                                     &envelope);
        lbx__lock_give(&timers->lock);
        if (ours)
            lbx__message_destroy(timers->system, envelope.type,
                                 envelope.message);
    }
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
    timers_wake_thread(timers);
    (void)pthread_join(timers->thread, NULL);
}

void
lbx__timers_destroy(lbx__timers *timers)
{
    const lbx_allocator *allocator;
    const timer *left;

    if (!timers)
        return;
    allocator = timers->system->options.allocator;
    while ((left = timers_first(timers))) {
        lbx__minheap_remove(&timers->heap, lbx__minheap_first(&timers->heap));
        if (!left->task.node) // the pool frees the nodes
            lbx__message_destroy(timers->system, left->task.envelope.type,
                                 left->task.envelope.message);
    }
    for (size_t i = 0; i < timers->all.count; i++)
        lbx__free(allocator, timers->all.items[i], sizeof(timer));
    lbx__array_fini(&timers->all, allocator);
    lbx__minheap_fini(&timers->heap);
    lbx__free(allocator, timers, sizeof(*timers));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop's thread, and the two lists of tasks.
 *
 * Posted tasks are a stack that posters push to and the loop's thread takes as
 * a whole: reversed, it has the order of the posts. Only the post that finds
 * the stack empty wakes the loop up. Deferred tasks are a queue of the loop's
 * own thread; they run after the events of a round, before handles that were
 * closed in it are reported as closed (LOOP-4).
 */
#include "net/loop.h"

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fault.h"
#include "base/park.h"
#include "base/threads.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum {
    LOOP_NAME_BYTES = 16, /* of a thread, with its NUL */
    LOOP_SCRATCH_BYTES = 64 * 1024
};

struct lbx__loop {
    const lbx_allocator *allocator;
    uv_loop_t uv;
    uv_async_t async;     /* a task was posted */
    uv_prepare_t prepare; /* run deferred tasks: after timers, */
    uv_check_t check;     /* and after events */
    pthread_t thread;
    char name[LOOP_NAME_BYTES];
    char *scratch;

    /* Of the loop's thread. */
    lbx__task *deferred;
    lbx__task **deferred_end;
    bool is_ending;
    lbx__task ending;

    /* Of its thread at the start, then read by any. */
    _Atomic(uintptr_t) thread_self;

    /* Of every thread. */
    _Alignas(LBX__LINE) _Atomic(lbx__task *) posted; /* newest first */
    _Atomic(uint32_t) posters; /* threads inside lbx__loop_post() */
};

static bool
loop_run_posted(lbx__loop *loop)
{
    lbx__task *task, *next, *in_order = NULL;

    // Acquire: pairs with the release in lbx__loop_post(), so that what the
    // poster wrote before is visible to the task.
    task = lbx__exchange(&loop->posted, NULL, acquire);
    if (!task)
        return false;
    for (; task; task = next) {
        next = task->next;
        task->next = in_order;
        in_order = task;
    }
    for (task = in_order; task; task = next) {
        next = task->next; // the task's memory may be freed by its run
        task->run(task);
    }
    return true;
}

static bool
loop_run_deferred(lbx__loop *loop)
{
    lbx__task *task;

    if (!loop->deferred)
        return false;
    while ((task = loop->deferred)) {
        loop->deferred = task->next;
        if (!loop->deferred)
            loop->deferred_end = &loop->deferred;
        task->run(task);
    }
    return true;
}

static void
loop_on_async(uv_async_t *async)
{
    (void)loop_run_posted(async->data);
}

static void
loop_on_prepare(uv_prepare_t *prepare)
{
    (void)loop_run_deferred(prepare->data);
}

static void
loop_on_check(uv_check_t *check)
{
    (void)loop_run_deferred(check->data);
}

/* From now on the loop's own handles do not keep it running. */
static void
loop_on_ending(lbx__task *task)
{
    lbx__loop *loop =
        (lbx__loop *)(void *)((char *)task - offsetof(lbx__loop, ending));

    loop->is_ending = true;
    uv_unref((uv_handle_t *)&loop->async);
}

static void *
loop_main(void *argument)
{
    lbx__loop *loop = argument;

    (void)pthread_setname_np(pthread_self(), loop->name);
    // Release: pairs with the acquire in lbx__loop_is_this_thread().
    lbx__store(&loop->thread_self, lbx__thread_self(), release);
    do {
        (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
        // LOOP-1: tasks that came last may open handles again.
    } while (loop_run_posted(loop) || loop_run_deferred(loop) ||
             uv_loop_alive(&loop->uv));
    uv_close((uv_handle_t *)&loop->async, NULL);
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    uv_close((uv_handle_t *)&loop->check, NULL);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    return NULL;
}

/* The handles are unreferenced but the one that posts need. */
static bool
loop_open(lbx__loop *loop)
{
    if (uv_loop_init(&loop->uv) != 0)
        return false;
    if (uv_async_init(&loop->uv, &loop->async, loop_on_async) != 0) {
        (void)uv_loop_close(&loop->uv);
        return false;
    }
    (void)uv_prepare_init(&loop->uv, &loop->prepare);
    (void)uv_check_init(&loop->uv, &loop->check);
    loop->async.data = loop;
    loop->prepare.data = loop;
    loop->check.data = loop;
    (void)uv_prepare_start(&loop->prepare, loop_on_prepare);
    (void)uv_check_start(&loop->check, loop_on_check);
    uv_unref((uv_handle_t *)&loop->prepare);
    uv_unref((uv_handle_t *)&loop->check);
    return true;
}

static void
loop_free(lbx__loop *loop)
{
    lbx__free(loop->allocator, loop->scratch, LOOP_SCRATCH_BYTES);
    lbx__free(loop->allocator, loop, sizeof(*loop));
}

/* For a loop whose thread could not be started: does what it would do last. */
static void
loop_close_unstarted(lbx__loop *loop)
{
    uv_close((uv_handle_t *)&loop->async, NULL);
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    uv_close((uv_handle_t *)&loop->check, NULL);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop->uv);
}

lbx_status
lbx__loop_create(const lbx_allocator *allocator, const char *name,
                 lbx__loop **ret, lbx_fault *fault)
{
    lbx__loop *loop = lbx__alloc(allocator, sizeof(*loop), _Alignof(lbx__loop));

    if (!loop)
        return lbx__fault_set(fault, LBX_NO_MEMORY, "no memory for a loop");
    *loop = (lbx__loop){.allocator = allocator};
    loop->deferred_end = &loop->deferred;
    (void)snprintf(loop->name, sizeof(loop->name), "%s", name);
    loop->scratch = lbx__alloc(allocator, LOOP_SCRATCH_BYTES, LBX__LINE);
    if (!loop->scratch) {
        loop_free(loop);
        return lbx__fault_set(fault, LBX_NO_MEMORY, "no memory for a loop");
    }
    if (!loop_open(loop)) {
        loop_free(loop);
        return lbx__fault_set(fault, LBX_IO,
                              "the system has no descriptors for a loop");
    }
    if (!lbx__threads_start(&loop->thread, loop_main, loop)) {
        loop_close_unstarted(loop);
        loop_free(loop);
        return lbx__fault_set(fault, LBX_NO_MEMORY,
                              "the system has no thread for a loop");
    }
    *ret = loop;
    return LBX_OK;
}

void
lbx__loop_destroy(lbx__loop *loop)
{
    int closed;

    if (!loop)
        return;
    assert(!lbx__loop_is_this_thread(loop));
    loop->ending.run = loop_on_ending;
    lbx__loop_post(loop, &loop->ending);
    (void)pthread_join(loop->thread, NULL);
    assert(loop->is_ending);
    // A task may have run before its poster has returned.
    while (lbx__load(&loop->posters, acquire) > 0)
        lbx__yield();
    closed = uv_loop_close(&loop->uv);
    assert(closed == 0);
    (void)closed;
    loop_free(loop);
}

void
lbx__loop_post(lbx__loop *loop, lbx__task *task)
{
    lbx__task *newest = lbx__load(&loop->posted, relaxed); // the CAS decides

    // Relaxed: the release below orders it before the task.
    (void)lbx__add(&loop->posters, 1u, relaxed);
    do {
        task->next = newest;
        // Release: pairs with the acquire in loop_run_posted().
    } while (!lbx__cas(&loop->posted, &newest, task, release));
    // A poster that found tasks leaves the waking to the one who put the first.
    if (!newest)
        (void)uv_async_send(&loop->async);
    // Release: pairs with the acquire in lbx__loop_destroy(): the loop may be
    // freed after it.
    (void)lbx__sub(&loop->posters, 1u, release);
}

void
lbx__loop_defer(lbx__loop *loop, lbx__task *task)
{
    task->next = NULL;
    *loop->deferred_end = task;
    loop->deferred_end = &task->next;
}

bool
lbx__loop_is_this_thread(const lbx__loop *loop)
{
    // Acquire: pairs with the release in loop_main().
    return lbx__load(&loop->thread_self, acquire) == lbx__thread_self();
}

uv_loop_t *
lbx__loop_uv(lbx__loop *loop)
{
    return &loop->uv;
}

int64_t
lbx__loop_now_ns(const lbx__loop *loop)
{
    return (int64_t)uv_now(&loop->uv) * LBX_MS;
}

char *
lbx__loop_scratch(lbx__loop *loop, size_t *ret_size)
{
    *ret_size = LOOP_SCRATCH_BYTES;
    return loop->scratch;
}

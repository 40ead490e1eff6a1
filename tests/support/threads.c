/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads for tests.
 */
#include "support/threads.h"

#include "support/test.h"

struct runner {
    pthread_t id;
    unsigned index;
    thread_body *body;
    void *context;
    pthread_barrier_t *start;
};

static void *
run_runner(void *argument)
{
    struct runner *runner = argument;

    pthread_barrier_wait(runner->start);
    runner->body(runner->index, runner->context);
    return NULL;
}

void
threads_run(unsigned count, thread_body *body, void *context)
{
    struct runner runners[THREADS_MOST];
    pthread_barrier_t start;

    CHECK(count >= 1 && count <= THREADS_MOST);
    CHECK(pthread_barrier_init(&start, NULL, count) == 0);
    for (unsigned i = 0; i < count; i++) {
        runners[i] = (struct runner){
            .index = i,
            .body = body,
            .context = context,
            .start = &start,
        };
        CHECK(pthread_create(&runners[i].id, NULL, run_runner, &runners[i]) ==
              0);
    }
    for (unsigned i = 0; i < count; i++)
        CHECK(pthread_join(runners[i].id, NULL) == 0);
    pthread_barrier_destroy(&start);
}

static void *
run_thread(void *argument)
{
    struct thread *thread = argument;

    thread->body(thread->context);
    return NULL;
}

void
thread_start(struct thread *thread, void (*body)(void *context), void *context)
{
    thread->body = body;
    thread->context = context;
    CHECK(pthread_create(&thread->id, NULL, run_thread, thread) == 0);
}

void
thread_join(struct thread *thread)
{
    CHECK(pthread_join(thread->id, NULL) == 0);
}

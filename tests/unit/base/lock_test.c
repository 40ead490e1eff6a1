/* SPDX-License-Identifier: Apache-2.0 */
/* The lock, and parking below it. */
#include "base/lock.h"
#include "base/park.h"
#include "support/test.h"
#include "support/threads.h"

#include <sched.h>

enum {
    THREADS = 4
};

struct world {
    lbx__lock lock;
    long counter; /* under the lock; not atomic, so that TSan watches */
    int rounds;
};

static void
count_up(unsigned index, void *context)
{
    struct world *world = context;

    (void)index;
    for (int i = 0; i < world->rounds; i++) {
        lbx__lock_take(&world->lock);
        world->counter++;
        lbx__lock_give(&world->lock);
    }
}

TEST(lock_admits_one_at_a_time)
{
    struct world world = {.rounds = test_is_sanitized() ? 20000 : 100000};

    threads_run(THREADS, count_up, &world);
    CHECK_INT((long)THREADS * world.rounds, world.counter);
    CHECK_INT(0, lbx__peek(&world.lock.word)); // it is not held
}

/* Holders that are interrupted make the others sleep, not only spin. */
static void
count_slowly(unsigned index, void *context)
{
    struct world *world = context;

    (void)index;
    for (int i = 0; i < world->rounds; i++) {
        lbx__lock_take(&world->lock);
        world->counter++;
        sched_yield();
        lbx__lock_give(&world->lock);
    }
}

TEST(lock_wakes_those_who_sleep)
{
    struct world world = {.rounds = 2000};

    threads_run(THREADS, count_slowly, &world);
    CHECK_INT((long)THREADS * world.rounds, world.counter);
    CHECK_INT(0, lbx__peek(&world.lock.word));
}

static void
take_and_look(void *context)
{
    struct world *world = context;

    lbx__lock_take(&world->lock);
    world->counter = lbx__peek(&world->lock.word);
    lbx__lock_give(&world->lock);
}

/* LOCK-1: who waits sleeps, and says so before. LOCK-2: woken, it has the lock
 * as if others slept still. */
TEST_CITING("LOCK-1 LOCK-2", lock_that_is_slept_for_is_marked_until_it_is_free)
{
    struct world world = {.rounds = 0};
    struct thread thread;

    lbx__lock_take(&world.lock);
    CHECK_INT(1, lbx__peek(&world.lock.word));
    thread_start(&thread, take_and_look, &world);
    EVENTUALLY(lbx__load(&world.lock.word, relaxed) == 2);
    lbx__lock_give(&world.lock);
    thread_join(&thread);
    CHECK_INT(2, world.counter);
    CHECK_INT(0, lbx__peek(&world.lock.word));
}

TEST(futex_does_not_sleep_on_another_value)
{
    _Atomic(uint32_t) word = 1;

    lbx__futex_wait(&word, 0, -1);
    CHECK_INT(1, lbx__peek(&word));
}

TEST(futex_sleeps_no_longer_than_told)
{
    _Atomic(uint32_t) word = 0;

    lbx__futex_wait(&word, 0, 0);
    lbx__futex_wait(&word, 0, LBX_MS);
}

struct bell {
    _Atomic(uint32_t) rung;
};

static void
ring(void *context)
{
    struct bell *bell = context;

    // Release: pairs with the acquire load of the waiter.
    lbx__store(&bell->rung, 1, release);
    lbx__futex_wake(&bell->rung, 1);
}

TEST(futex_is_woken)
{
    struct bell bell = {0};
    struct thread thread;

    thread_start(&thread, ring, &bell);
    // Acquire: pairs with ring().
    while (lbx__load(&bell.rung, acquire) == 0)
        lbx__futex_wait(&bell.rung, 0, -1);
    thread_join(&thread);
}

/* Whether it works is the system's affair; it answers the same each time. */
TEST(barrier_answers_the_same_each_time)
{
    bool works = lbx__barrier_all();

    CHECK_INT(works, lbx__barrier_all());
    test_note("the barrier %s here", works ? "works" : "does not work");
}

struct numbers {
    _Atomic(int) arrived;
    unsigned index[THREADS];
    uintptr_t self[THREADS];
};

static void
take_numbers(unsigned index, void *context)
{
    struct numbers *numbers = context;

    numbers->index[index] = lbx__thread_index();
    numbers->self[index] = lbx__thread_self();
    CHECK_INT(numbers->index[index], lbx__thread_index());
    lbx__add(&numbers->arrived, 1, seq_cst);
    // All must be alive at the same time for the promise to hold.
    EVENTUALLY(lbx__load(&numbers->arrived, seq_cst) == THREADS);
}

TEST(thread_numbers_are_distinct_and_small)
{
    struct numbers numbers = {0};

    for (int round = 0; round < 3; round++) {
        lbx__store(&numbers.arrived, 0, seq_cst);
        threads_run(THREADS, take_numbers, &numbers);
        for (int i = 0; i < THREADS; i++) {
            CHECK(numbers.self[i] != 0);
            CHECK(numbers.index[i] <= THREADS); // used again when free
            for (int j = 0; j < i; j++) {
                CHECK(numbers.index[i] != numbers.index[j]);
                CHECK(numbers.self[i] != numbers.self[j]);
            }
        }
    }
}

struct late {
    pthread_key_t key;
    unsigned before, another, after;
    _Atomic(uint32_t) taken, done;
};

static void
keep_a_number(void *context)
{
    struct late *late = context;

    late->another = lbx__thread_index();
    lbx__store(&late->taken, 1u, release);
    // Acquire: pairs with the release in take_a_number_late().
    EVENTUALLY(lbx__load(&late->done, acquire) != 0);
}

/* At the end of a thread, when it has given its number back. */
static void
take_a_number_late(void *context)
{
    struct late *late = context;
    struct thread thread;

    thread_start(&thread, keep_a_number, late);
    // Acquire: pairs with the release in keep_a_number().
    EVENTUALLY(lbx__load(&late->taken, acquire) != 0);
    late->after = lbx__thread_index();
    lbx__store(&late->done, 1u, release);
    thread_join(&thread);
}

static void
end_late(void *context)
{
    struct late *late = context;

    late->before = lbx__thread_index();
    CHECK_INT(0, pthread_setspecific(late->key, late));
}

/* A destructor of the thread's that sends a message, say, must not use a number
 * that another thread has by now. */
TEST(thread_takes_another_number_when_it_has_given_its_own_back)
{
    struct late late = {.before = 0};
    struct thread thread;

    (void)lbx__thread_index(); // its key comes first, and so does its end
    CHECK_INT(0, pthread_key_create(&late.key, take_a_number_late));
    thread_start(&thread, end_late, &late);
    thread_join(&thread);
    CHECK_INT(late.before, late.another);
    CHECK(late.after != late.another);
    CHECK_INT(0, pthread_key_delete(late.key));
}

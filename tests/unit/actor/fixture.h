/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the actor tests have in common: a system with a clock that the test
 * moves, actors that write a diary, and a list of the dead letters.
 *
 *     ACTOR_TEST("", letter_is_handled)
 *     {
 *         lbx_tell(part_spawn(a), letter(7));
 *         CHECK_DIARY(world, "a+ a:7");
 *     }
 *
 * The world has no threads unless the test asks for some: nothing happens
 * before world_run(), which CHECK_DIARY() calls, and then everything in one
 * order. With threads, CHECK_DIARY() waits for what it is told to expect.
 */
#ifndef LBX_TEST_ACTOR_FIXTURE_H
#define LBX_TEST_ACTOR_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include <letterbox/actor.h>

#include "support/clock.h"
#include "support/local.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    DIARY_BYTES = 4096,
    DEEDS_KEPT = 256,
    LETTERS_KEPT = 256,
    PART_CHILDREN = 4,
    FAILS = 1000, /* a letter of this number or above makes its actor fail */
};

struct part;

/* Something to do inside an actor, told as a message. */
typedef lbx_status deed(lbx_context *context, struct part *part,
                        void *argument);

struct order {
    deed *deed;
    void *argument;
};

/* ---- The world ---- */

struct dead {
    lbx_envelope envelope;
    lbx_ref sender;
    lbx_ref recipient;
    bool suppressed;
};

struct world {
    lbx_system *system;
    struct test_clock time;
    lbx_clock clock;
    int64_t threads;
    pthread_mutex_t lock;
    char diary[DIARY_BYTES];
    struct order orders[DEEDS_KEPT];
    _Atomic unsigned order_count;
    struct dead dead[LETTERS_KEPT];
    _Atomic unsigned dead_count; /* suppressed ones left out */
    _Atomic unsigned suppressed_count;
    _Atomic long ended; /* untyped messages, by the system's `destroy` */
};

/* A system without threads and with the test's clock. */
void world_begin(struct world *world);

/* The options that makes, to be changed; then the system. */
lbx_system_options world_options(struct world *world);
void world_begin_with(struct world *world, const lbx_system_options *options);

/* A system with threads and the real clock. */
void world_begin_threads(struct world *world, int64_t threads);

/* Terminates and destroys the system; nothing when the test has done so. */
void world_end(struct world *world);

/* The same; how many messages its `destroy` has got in all. */
long world_end_count(struct world *world);

/* Declares one that is ended with its block. */
#define LOCAL_WORLD(name) __attribute__((cleanup(world_end))) struct world name

/* Runs until nothing is ready; how many runs. */
uint64_t world_run(struct world *world);
uint64_t world_run_most(struct world *world, uint64_t most);
void world_advance(struct world *world, int64_t duration_ns);
lbx_system_stats world_stats(struct world *world);

/* The diary says this, from the beginning or since the last check. */
#define CHECK_DIARY(world, expected)                                           \
    world_check_diary(__FILE__, __LINE__, world, expected)

/* The same when the clock has been moved on by so much. */
#define CHECK_DIARY_AFTER(world, duration_ns, expected)                        \
    (world_advance(world, duration_ns), CHECK_DIARY(world, expected))

void world_check_diary(const char *file, int line, struct world *world,
                       const char *expected);
void world_write(struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Dead letter `index` was this letter, for that reason. */
void world_check_dead(const struct world *world, unsigned index, int number,
                      lbx_loss_reason reason);

/* ---- Parts that actors play ---- */

/* A part writes NAME+ when it starts, NAME:7 for letter 7, NAME- when it
 * stops, NAME! for a notice that another has ended, NAME? for a receive
 * timeout; and does what it is ordered to. */
struct part {
    const char *name;
    struct world *world;
    lbx_ref self;                         /* since it was spawned */
    struct part *children[PART_CHILDREN]; /* spawned when it starts */
    lbx_strategy strategy;                /* for them */
    int64_t stash_capacity;
    bool silent; /* writes nothing */
    _Atomic unsigned starts;
    _Atomic unsigned stops;
    _Atomic unsigned received; /* letters */
    lbx_ref ended;             /* whom the last notice was about */
    void *context;             /* the test's own */

    /* In place of what is usual, or after it; NULL: nothing more. */
    lbx_status (*start)(lbx_context *context, struct part *part);
    void (*stop)(lbx_context *context, struct part *part);
    lbx_status (*receive)(lbx_context *context, struct part *part,
                          void *message);
    lbx_status (*mend)(lbx_context *context, struct part *part,
                       lbx_status status, void *message);
    lbx_directive (*decide)(lbx_context *context, struct part *part,
                            lbx_child_failure *failure);
};

void part_init(struct part *part, struct world *world, const char *name);
lbx_props part_props(struct part *part);

/* Under "/user", by its name. */
lbx_ref part_spawn(struct part *part);

/* The same with a mailbox of this kind; options may be NULL. */
lbx_ref part_spawn_boxed(struct part *part, const char *kind,
                         const lbx_mailbox_options *options);

/* A nameless actor that is no part: `argument` is for its start. */
lbx_ref behaviour_spawn(struct world *world, const lbx_behaviour *behaviour,
                        void *argument);

/* As a child of the actor whose handler calls this. */
lbx_status part_spawn_in(lbx_context *context, struct part *part);

/* Orders an actor to do something. */
void bid(struct part *part, deed *what, void *argument);

/* A message that says only its number; any, 0 (which is NULL) included. */
void *letter(int number);
int number_of(const void *message);

/* ---- Tests with a world and a cast ---- */

/* What most tests need: parts "a" to "d", not spawned, in a world. */
struct cast {
    struct world world;
    struct part a;
    struct part b;
    struct part c;
    struct part d;
};

void cast_begin(struct cast *cast, int64_t threads);
void cast_begin_with(struct cast *cast, const lbx_system_options *options);

/* A test in a world without threads and with a clock that the test moves; or
 * with threads and the real clock. The body has `world` and `a` to `d`. */
#define ACTOR_TEST(behaviour, name) ACTOR_TEST_THREADS(behaviour, name, 0)

#define ACTOR_TEST_THREADS(behaviour, name, threads)                           \
    CAST_TEST(behaviour, name, cast_begin(&cast, threads))

/* A test without threads whose system has other `options`: `change` is an
 * expression that sets some of them. */
#define ACTOR_TEST_WITH(behaviour, name, change)                               \
    CAST_TEST(behaviour, name, {                                               \
        lbx_system_options options = world_options(&cast.world);               \
                                                                               \
        change;                                                                \
        cast_begin_with(&cast, &options);                                      \
    })

#define CAST_TEST(behaviour, name, begin)                                      \
    static void name##_in(CAST_PARAMETERS);                                    \
    TEST_CITING(behaviour, name)                                               \
    {                                                                          \
        struct cast cast;                                                      \
                                                                               \
        begin;                                                                 \
        name##_in(&cast.world, &cast.a, &cast.b, &cast.c, &cast.d);            \
        world_end(&cast.world);                                                \
    }                                                                          \
    static void name##_in(CAST_PARAMETERS)

#define CAST_PARAMETERS                                                        \
    __attribute__((unused)) struct world *world,                               \
        __attribute__((unused)) struct part *a,                                \
        __attribute__((unused)) struct part *b,                                \
        __attribute__((unused)) struct part *c,                                \
        __attribute__((unused)) struct part *d

/* A test with a fixture of its own, `struct type`, which the body gets by the
 * name of its type; `begin` and `end` are called before and after it. */
#define FIXTURE_TEST(type, behaviour, name, begin, end)                        \
    static void name##_in(struct type *type);                                  \
    TEST_CITING(behaviour, name)                                               \
    {                                                                          \
        struct type fixture;                                                   \
        struct type *type = &fixture;                                          \
                                                                               \
        begin;                                                                 \
        name##_in(type);                                                       \
        end;                                                                   \
    }                                                                          \
    static void name##_in(struct type *type)

/* Orders that many tests give; the argument is a struct part, or as said. */
deed do_stop;    /* oneself */
deed do_fail;    /* with the lbx_status that the argument points to */
deed do_watch;   /* the part */
deed do_unwatch; /* the part */
deed do_spawn;   /* the part, as a child */
deed do_stash;   /* from now on, every letter */
deed do_unstash; /* all, and stash no more */
deed do_block;   /* until the gate is open: a struct gate */

/* Keeps a handler busy until the test lets it go on. */
struct gate {
    _Atomic bool reached;
    _Atomic bool is_open;
};

#endif

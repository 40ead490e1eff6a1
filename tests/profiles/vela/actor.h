/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela's actor under test: a loop in a system, with a handler that keeps a list
 * of what it was given.
 *
 *     ACTOR_TEST("V-19", a_sentence_about_it)
 *     {
 *         actor_start(actor);
 *         actor_send(actor, 7);
 *         run(system);
 *         CHECK_INT(7, actor->got[0]);
 *     }
 *
 * Their names: process_next_message is process_next, get_metrics is the stats.
 * An exception is a status, and a raise is LBX_INVALID with a sentence.
 */
#ifndef LBX_TEST_PROFILES_VELA_ACTOR_H
#define LBX_TEST_PROFILES_VELA_ACTOR_H

#include "profiles/vela/vela.h"
#include <letterbox/compat/vela.h>

enum {
    ACTOR_REMEMBERS = 1024,
    BAD = -1, /* the message that the handler fails at */
};

/* Set the first group, or none, before actor_create(). */
struct actor {
    lbx_vela_loop_options options; /* version 0: LBX_VELA_LOOP_OPTIONS_INIT */
    lbx_status (*also)(struct actor *actor, intptr_t number);
    lbx_status error_answer; /* of handle_error; 0 is LBX_OK */

    lbx_vela_loop *loop;
    intptr_t got[ACTOR_REMEMBERS]; /* the first so many good ones */
    size_t count;                  /* of the good ones */
    size_t bad;                    /* how often handle_error was called, */
    lbx_status error;              /* and with what */
    intptr_t bad_number;
    char hooks[32]; /* one letter for each hook that was called, and... */
    size_t hook_count;
};

static inline lbx_status
actor_receive(lbx_vela_loop *loop, void *context, void *message)
{
    struct actor *actor = context;
    intptr_t number = number_of(message);

    CHECK(!actor->loop || actor->loop == loop);
    if (number == BAD)
        return LBX_REFUSED;
    if (actor->count < ACTOR_REMEMBERS)
        actor->got[actor->count] = number;
    actor->count++;
    return actor->also ? actor->also(actor, number) : LBX_OK;
}

static inline lbx_status
actor_handle_error(lbx_vela_loop *loop, void *context, lbx_status error,
                   void *message)
{
    struct actor *actor = context;

    CHECK_PTR(actor->loop, loop);
    actor->bad++;
    actor->error = error;
    actor->bad_number = number_of(message);
    return actor->error_answer;
}

static inline void
actor_create(struct actor *actor, lbx_system *system)
{
    static const lbx_vela_loop_options usual = LBX_VELA_LOOP_OPTIONS_INIT;

    if (actor->options.size_bytes == 0)
        actor->options = usual;
    if (!actor->options.receive)
        actor->options.receive = actor_receive;
    if (!actor->options.handle_error)
        actor->options.handle_error = actor_handle_error;
    actor->options.context = actor;
    CHECK_OK(lbx_vela_loop_create(system, &actor->options, &actor->loop));
}

static inline void
actor_send(struct actor *actor, intptr_t number)
{
    CHECK_OK(lbx_vela_loop_send(actor->loop, message_of(number)));
}

static inline lbx_vela_loop_stats
actor_stats(struct actor *actor)
{
    lbx_vela_loop_stats stats = LBX_VELA_LOOP_STATS_INIT;

    CHECK_OK(lbx_vela_loop_stats_read(actor->loop, &stats));
    return stats;
}

static inline void
actor_start(struct actor *actor)
{
    CHECK_OK(lbx_vela_loop_start(actor->loop, NULL));
}

static inline void
actor_stop(struct actor *actor)
{
    CHECK_OK(lbx_vela_loop_stop(actor->loop, LBX_FOREVER, NULL));
}

/* Waits until so many were handled well; what their handlers did can be read
 * then, if no others run. */
#define AWAIT(actor, number)                                                   \
    EVENTUALLY(actor_stats(actor).processed >= (uint64_t)(number))

#define CHECK_STATE(expected, actor)                                           \
    CHECK_INT(LBX_VELA_LOOP_##expected, lbx_vela_loop_state_of((actor)->loop))

/* The move is refused, with this sentence, and changes nothing. */
#define CHECK_REFUSED(text_expected, call)                                     \
    do {                                                                       \
        lbx_fault fault = {LBX_OK, ""};                                        \
                                                                               \
        CHECK_STATUS(LBX_INVALID, call);                                       \
        CHECK_STATUS(LBX_INVALID, fault.status);                               \
        CHECK_STR(text_expected, fault.text);                                  \
    } while (0)

/* A system with so many threads; none: run() does their work. */
static inline lbx_system *
vela_system(int64_t threads)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_system *system;

    options.threads = threads;
    CHECK_OK(lbx_system_create(&options, &system));
    return system;
}

static inline void
run(lbx_system *system)
{
    CHECK_OK(lbx_system_run(system, UINT64_MAX, NULL));
}

/* Ends both. No notification of the loop has become a dead letter. */
static inline void
end(lbx_system *system, struct actor *actor)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    lbx_vela_loop_destroy(actor->loop);
    CHECK_OK(lbx_system_stats_read(system, &stats));
    CHECK_INT(0, stats.dead_letters);
    lbx_system_destroy(system);
}

/* A test with an actor in a system with so many threads; both are made before
 * it and ended after it. What follows `threads` initialises the struct
 * actor. */
#define ACTOR_TEST_WITH(behaviours, name, threads, ...)                        \
    static void name##_with(struct actor *actor, lbx_system *system);          \
                                                                               \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        struct actor actor = {__VA_ARGS__};                                    \
        lbx_system *system = vela_system(threads);                             \
                                                                               \
        actor_create(&actor, system);                                          \
        name##_with(&actor, system);                                           \
        end(system, &actor);                                                   \
    }                                                                          \
                                                                               \
    static void name##_with(struct actor *actor,                               \
                            lbx_system *system __attribute__((unused)))

#define THREADS_TEST(behaviours, name, threads)                                \
    ACTOR_TEST_WITH(behaviours, name, threads, .loop = NULL)

/* The same without threads: run() does their work. */
#define ACTOR_TEST(behaviours, name) THREADS_TEST(behaviours, name, 0)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The actor system: threads, actors, dead letters.
 *
 *     lbx_system *system;
 *     lbx_props props = LBX_PROPS_INIT;
 *     lbx_ref counter;
 *
 *     props.behaviour = &counter_behaviour;
 *     lbx_system_create(NULL, &system);
 *     lbx_system_spawn(system, &props, "counter", &counter);
 *     lbx_tell(counter, NULL);
 *     lbx_system_terminate(system, LBX_FOREVER);
 *     lbx_system_destroy(system);
 *
 * Actors form a tree: those spawned here are children of "/user", those spawned
 * by a handler are that actor's. A parent supervises its children and stops
 * after them.
 */
#ifndef LETTERBOX_ACTOR_SYSTEM_H
#define LETTERBOX_ACTOR_SYSTEM_H

#include <letterbox/actor/props.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/settings.h>

LBX_BEGIN

typedef struct lbx_system lbx_system;
typedef struct lbx_mailbox_type lbx_mailbox_type; /* actor/selection.h */

/* A message that was not handled. `envelope` has the reason (`lost`), the
 * sender and the recipient. */
typedef struct lbx_dead_letter_event {
    lbx_system *system;
    const lbx_envelope *envelope;
    lbx_ref sender;
    lbx_ref recipient;
    bool suppressed; /* its type asks not to be reported as a mishap */
} lbx_dead_letter_event;

/* Called for each dead letter, in the thread that caused it, with no lock held.
 * The message is borrowed: it is destroyed when all listeners have been
 * called. */
typedef struct lbx_dead_letter_listener {
    void (*on_dead_letter)(void *context, const lbx_dead_letter_event *letter);
    void *context;
} lbx_dead_letter_listener;

typedef struct lbx_system_options {
    size_t size_bytes; /* LBX_SYSTEM_OPTIONS_INIT sets it */
    const char *name;
    const lbx_allocator *allocator; /* borrowed, as all pointers here */
    const lbx_clock *clock;
    const lbx_kind_registry
        *kinds;       /* mailboxes of your own; NULL: the built-in */
    lbx_fault *fault; /* filled in when creation fails */
    /* of the default dispatcher; LBX_DEFAULT: from the settings, one for
     * each processor; 0: none, of no dispatcher, see lbx_system_run() */
    int64_t threads;
    /* messages before an actor lets others run, or fewer when it has sent
     * more than 512 meanwhile; LBX_DEFAULT: from the settings, 5 */
    int64_t throughput;
    lbx_dead_letter_listener dead_letters;

    /* Destroys messages without a type that were handled, or will not be. NULL:
     * nothing to do. */
    void (*destroy)(void *message, void *context);
    void *destroy_context;

    /* Which mailbox and dispatcher an actor gets: actor/selection.h. */
    const lbx_settings
        *settings; /* over lbx_system_reference_settings(); a reference
                                     is taken; NULL: only that */
    const lbx_mailbox_type *mailbox_types; /* your own */
    size_t mailbox_type_count;

    /* Without threads: which actor is next, and how many of its messages it
     * handles, from a generator that starts here. The same seed gives the same
     * order each time, another seed another one. 0: first come, first served,
     * `throughput` at a time. */
    uint64_t seed;

    /* Called with a line for people about what works and may surprise: once,
     * that there is a mailbox whose senders wait when it is full; for each key
     * of Akka's or Pekko's in the settings that has no effect here; and once
     * for each actor without a limit for which 10,000 messages or more wait. In
     * the thread that made the system or the actor, or that sends; with no lock
     * held; must not use the system. NULL: not called. */
    void (*warn)(void *context, const char *line);
    void *warn_context;

    /* What "/user" does about its children that fail; copied. NULL: as
     * LBX_SUPERVISOR_INIT. It has no parent: LBX_DIRECTIVE_ESCALATE stops. */
    const lbx_supervisor *supervisor;
} lbx_system_options;

#define LBX_SYSTEM_OPTIONS_INIT                                                \
    {                                                                          \
        .size_bytes = sizeof(lbx_system_options), .name = "letterbox",         \
        .threads = LBX_DEFAULT, .throughput = LBX_DEFAULT                      \
    }

/*
 * lbx_system_create() makes a system and starts its threads. NULL options are
 * LBX_SYSTEM_OPTIONS_INIT.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY, also when threads cannot be
 *            started; what is wrong with the settings: LBX_INVALID,
 *            LBX_NOT_FOUND, LBX_EXISTS, LBX_UNSUPPORTED, and the fault.
 * Ownership  the system is the caller's; destroy it with lbx_system_destroy().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_system_create(const lbx_system_options *options, lbx_system **ret);

/*
 * lbx_system_spawn() makes an actor under "/user" and gives its ref at once;
 * `start` runs later, on the actor's dispatcher, before its first message.
 * Without a name the actor gets one of its own. A name has no '/', does not
 * begin with '$', is not empty and has less than 200 bytes. The name of a
 * stopped actor is free when its parent has released it: a moment after its
 * watchers have been notified.
 *
 * Returns    LBX_OK; LBX_EXISTS when a living sibling has the name;
 *            LBX_NOT_FOUND for an unknown mailbox or dispatcher;
 *            LBX_UNSUPPORTED when the mailbox cannot do what the behaviour or
 *            the dispatcher needs; LBX_INVALID, also for settings that cannot
 *            be used; props->fault explains these four; LBX_CLOSED after
 *            lbx_system_terminate(); LBX_NO_MEMORY.
 * Ownership  a ref owns nothing. The props are copied.
 * Threads    any. Waits only for another thread that makes the first use of
 *            the same mailbox or dispatcher of the settings.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_spawn(lbx_system *system,
                                                 const lbx_props *props,
                                                 const char *name,
                                                 lbx_ref *ret);

/*
 * lbx_system_find() finds a living actor by its path, "/user/shop/till".
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID.
 * Ownership  a ref owns nothing.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_find(lbx_system *system,
                                                const char *path, lbx_ref *ret);

/*
 * lbx_system_run() runs actors of a system without threads in the calling
 * thread, until none is ready or `max_runs` runs have been made; the number of
 * runs goes to *ret_runs, which may be NULL. Timers that are due fire first.
 * For tests, and for programs with a loop of their own.
 *
 * With a `seed` in the options the order of runs is drawn at random, and can be
 * repeated: a test that goes through a thousand seeds tries a thousand orders,
 * and a seed that fails once fails every time, as long as the program itself
 * does not depend on time, on addresses or on other threads. What one actor
 * sends to another still arrives in order.
 *
 * Returns    LBX_OK; LBX_INVALID for a system with threads.
 * Ownership  nothing changes hands.
 * Threads    one at a time, and not from a handler.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_run(lbx_system *system,
                                               uint64_t max_runs,
                                               uint64_t *ret_runs);

/*
 * lbx_system_terminate() stops all actors, children before parents, and waits
 * until they have stopped. A system without threads is run meanwhile.
 *
 * Returns    LBX_OK; LBX_TIMEOUT when actors are still there at the deadline:
 *            lbx_system_print() shows which, and it may be called again;
 *            LBX_INVALID, also from a handler.
 * Threads    any but an actor's.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_terminate(lbx_system *system,
                                                     int64_t deadline_ns);

/*
 * lbx_system_destroy() stops the threads and frees everything. Actors that are
 * still there are terminated first, however long that takes. Refs of this
 * system must not be used any more. Takes NULL.
 *
 * Threads    any but an actor's, once.
 * Blocks     until every actor has stopped.
 * Since      0.1
 */
LBX_API void lbx_system_destroy(lbx_system *system);

/* Statistics of a system. */
typedef struct lbx_system_stats {
    size_t size_bytes;     /* LBX_SYSTEM_STATS_INIT sets it */
    uint64_t actors;       /* alive now, "/user" not included */
    uint64_t spawned;      /* ever */
    uint64_t dead_letters; /* ever */
    uint64_t suppressed;   /* of those */
    uint64_t runs;         /* runs of an actor */
    uint64_t handled;      /* messages */
    uint64_t failures;
    uint64_t steals;   /* actors a thread took from another's queue */
    uint64_t parks;    /* times a thread went to sleep */
    size_t cell_bytes; /* memory of one actor without its state */
} lbx_system_stats;

#define LBX_SYSTEM_STATS_INIT                                                  \
    {                                                                          \
        .size_bytes = sizeof(lbx_system_stats)                                 \
    }

/*
 * lbx_system_stats_read() reads the statistics, each at its own instant.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_stats_read(lbx_system *system,
                                                      lbx_system_stats *ret);

/* Statistics of a dispatcher. */
typedef struct lbx_dispatcher_stats {
    const char *name; /* its id in the settings, valid as long as the system */
    uint64_t threads; /* 0: lbx_system_run() runs it */
    uint64_t runs;    /* as in lbx_system_stats, from here on */
    uint64_t handled;
    uint64_t steals;
    uint64_t parks;
    uint64_t queued; /* actors that wait for a thread now; the one that a thread
                        has set aside to run next is not among them */
} lbx_dispatcher_stats;

/*
 * lbx_system_each_dispatcher() calls `see` with the statistics of each
 * dispatcher that has been used, the default one included.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the stats are valid during the call.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_each_dispatcher(
    lbx_system *system,
    void (*see)(void *context, const lbx_dispatcher_stats *stats),
    void *context);

/*
 * lbx_system_print() prints the tree of actors through `print`, line by line,
 * children under their parent, each with its path, behaviour, numbers and kind
 * of mailbox:
 *
 *     /user/shop/till (till) handled 12, failed 1, waiting 3, bounded
 *
 * With timestamps the line goes on: how long messages waited on average, and at
 * most. The text is for people, and may change.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY when not all could be printed; LBX_INVALID.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_system_print(lbx_system *system,
                 void (*print)(void *context, const char *line), void *context);

LBX_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system inside: the struct, the facilities of an actor, the context of a
 * run, and the functions of the files of this room.
 *
 * What the room promises about actors; tests cite these:
 *
 * ACTOR-1   One thread at a time runs an actor, and each run sees what the runs
 *           before it did.
 * ACTOR-2   Messages from one sender to one receiver stay in order.
 * ACTOR-3   Every message is handled, or becomes a dead letter exactly once;
 *           never both.
 * ACTOR-4   As soon as a ref exists, sends to it succeed and are kept in its
 *           own mailbox; none is lost, doubled or overtaken.
 * ACTOR-5   A restart keeps the mailbox; the message that failed is handled as
 *           configured.
 * ACTOR-6   System messages (stop, supervision, watching) are not lost, and
 *           other messages do not starve them.
 * ACTOR-7   Each watcher gets exactly one notice, also of an actor that has
 *           ended before.
 * ACTOR-8   After its end no handler of an actor runs; a new actor in the same
 *           cell or of the same name never gets the old one's messages.
 * ACTOR-9   An actor with messages is scheduled exactly once.
 * ACTOR-10  A scheduled actor runs within a bounded number of runs of others.
 * ACTOR-11  Termination ends with all actors ended, children before parents.
 */
#ifndef LBX_ACTOR_CORE_SYSTEM_H
#define LBX_ACTOR_CORE_SYSTEM_H

#include "actor/core/cell.h"
#include "actor/core/reason.h"
#include "actor/dispatch/dispatcher.h"
#include "base/array.h"
#include "base/list.h"
#include "base/map.h"
#include "base/minheap.h"
#include "base/park.h"
#include <letterbox/actor.h>

typedef struct lbx__actor_mailboxes lbx__actor_mailboxes;
typedef struct lbx__names lbx__names;
typedef struct lbx__dispatchers lbx__dispatchers;
typedef struct lbx__selection lbx__selection;
typedef struct lbx__timers lbx__timers;

struct lbx_system {
    uint64_t magic;
    lbx_system_options options; /* with every default filled in */
    lbx__node_pool *pool;
    lbx__cells *cells;
    lbx__names *names;
    lbx__actor_mailboxes *actor_mailboxes;
    lbx__timers *timers;
    lbx__selection *selection;
    lbx__dispatchers *dispatchers;
    lbx__dispatcher *dispatcher; /* the default one */
    lbx__cell *user;             /* the guardian */
    uint64_t user_ref;
    lbx__replay replay; /* with a seed: every ready cell */
    lbx__dispatcher_setup dispatching;

    lbx__lock listeners_lock;
    uint32_t listener_count;
    lbx_dead_letter_listener listeners[LBX_MAX_DEAD_LETTER_LISTENERS];
    _Atomic(uint32_t) stopping; /* terminate was called */

    _Atomic(uint32_t) terminated; /* "/user" has ended; a futex */
    _Atomic(uint32_t) serials;    /* of unnamed actors */
    _Atomic(uint64_t) alive;
    _Atomic(uint64_t) spawned;
    _Atomic(uint64_t) dead_letters;
    _Atomic(uint64_t) suppressed;
    _Atomic(uint64_t) failures;
};

#define LBX__SYSTEM_MAGIC UINT64_C(0x6c62782073797374)

/* What few actors use: allocated on first use, freed when the actor ends. */
struct lbx__facilities {
    lbx_supervisor supervisor;

    /* Watchers: the WATCH nodes they sent, which become their notices; and
     * the actors that this one watches. */
    lbx__node_list watchers;
    lbx__map watching; /* of refs, each its own address */

    /* Handlers set by become: a stack, its top last. */
    lbx__array(lbx_actor_handler *) receives;

    /* The stash, and what was unstashed: STASH-1 in stash.c. */
    lbx__node_list stash;
    lbx__node_list ahead;
    int64_t stash_capacity; /* LBX_UNLIMITED */

    /* The message whose handler failed; and one that is handled again, before
     * everything else. */
    lbx__node *failed;
    lbx__node *again;
    bool retrying; /* a timer will retry it */

    /* Restarts in the current window. */
    int32_t restarts;
    int64_t window_ns;

    /* The last failure, until it is settled; and what the actor has just said
     * about one, for the message that was the `said_at`-th. */
    lbx_status failure;
    lbx__reason *reason;
    lbx__reason *said;
    lbx_status said_status;
    uint64_t said_at;
    lbx_termination_reason ended; /* why it is ending */

    /* Back-off: SUPER-2 in supervision.c. */
    uint32_t backoffs;  /* in a row */
    int64_t pause_ns;   /* before the start that is next */
    int64_t started_ns; /* the last start, or the next one during a pause */
    bool pausing;

    /* The receive timeout. */
    int64_t idle_ns; /* negative: none */
    lbx_timer idle_timer;

    lbx__link timers; /* those that it started for itself: TIMER-3 */

    struct lbx__outgoing *outbox; /* messages that wait for space elsewhere */
    struct lbx__ask *ask;         /* a promise's */

    /* Operations that the actor waits for: PIPE-1 in pipe.c. */
    lbx__minheap pipes;
    int64_t pipes_due_ns;  /* when their timer fires; LBX_FOREVER: none runs */
    lbx_timer pipes_timer; /* that timer, or one that has fired */
    uint32_t era;          /* how often the actor has begun anew */
};

/* One call of a behaviour's function. */
struct lbx_context {
    lbx__cell *cell;
    lbx_system *system; /* the cell's */
    uint64_t self;      /* its ref */
    uint32_t life;      /* its generation; not read from the senders' line */
    lbx__node_cache *cache; /* this thread's nodes of that system, or NULL */
    lbx__node *node;        /* the current message; NULL in hooks */
    bool taken;             /* the message is no longer the context's */
    bool stashed;
    uint32_t sent;    /* in this run */
    uint64_t handled; /* in this run */
};

bool lbx__system_is_stopping(lbx_system *system);

/* The context of the run that this thread is in; NULL outside. */
extern LBX__LOCAL(lbx_context *, lbx__run_current);

static inline lbx_context *
lbx__context_current(void)
{
    return lbx__local(lbx__run_current);
}

/* ref.c: sends and does not wait: for a full mailbox it is a dead letter. */
void lbx__ref_tell_at_once(lbx_ref to, const lbx_envelope *envelope);

/* Sends with the envelope's own sender, or none, and with its duty to
 * report. */
void lbx__ref_tell_as(lbx_ref to, const lbx_envelope *envelope);
/* Why a message was lost that a send with this status did not take. */
lbx_loss_reason lbx__ref_loss_reason(lbx_status status);

/* ask.c: reports to the sender of a message how it was handled. */
void lbx__ask_report(lbx_system *system, uint64_t sender, lbx_status status);

/* facilities.c */
lbx__facilities *lbx__facilities_of(lbx__cell *cell); /* NULL: no memory */
void lbx__facilities_free(lbx__cell *cell);

/* dead_letter.c */
void lbx__dead_letter_publish(lbx_system *system, const lbx_envelope *envelope,
                              lbx_loss_reason reason);
void lbx__dead_letter_publish_node(lbx_system *system, lbx__node *node,
                                   lbx_loss_reason reason);
/* Whether a message is one that only the library makes and destroys. */
bool lbx__dead_letter_is_own(const lbx_type *type, const void *message);
/* Reports a loss to the sender, if that waits for the outcome. By then the
 * message is destroyed, or its new owner's. */
void lbx__dead_letter_report(lbx_system *system, const lbx_envelope *envelope,
                             lbx_loss_reason reason);

/* message.c: the end of a message that is not passed on. */
void lbx__message_destroy(lbx_system *system, const lbx_type *type,
                          void *message);
extern const char lbx__message_poison;

/* spawn.c: by the run of the parent, or by any thread for "/user". */
bool lbx__spawn_are_props(const lbx_props *props);

/* A user's props as this library's: the same, the defaults for NULL, or `own`;
 * NULL when they are invalid. */
const lbx_props *lbx__spawn_view_props(const lbx_props *props, lbx_props *own,
                                       lbx_fault *fault);
lbx_status lbx__spawn_actor(lbx_system *system, lbx__cell *parent,
                            const lbx_props *props, const char *name,
                            lbx_ref *ret);
/* The same for a pool; `balances`: its children share its mailbox. */
lbx_status lbx__spawn_pool(lbx_system *system, lbx__cell *parent,
                           const lbx_props *props, const char *name,
                           bool balances, lbx_ref *ret);

/* life.c: birth and death. By the owner, within its run. */
/* The ref of an unnamed child by its serial number, or 0. Any thread. */
uint64_t lbx__life_find_child(lbx__cell *cell, uint32_t serial);
void lbx__life_begin_stop(lbx_context *context);
/* A poison pill was taken: the same, or for the pool that shares its
 * mailbox. */
void lbx__life_poison(lbx_context *context);
void lbx__life_end(lbx_context *context);
void lbx__life_release_child(lbx_context *context, lbx__cell *child);
lbx_status lbx__life_start(lbx_context *context);
void lbx__life_restart(lbx_context *context);
/* The second half of a restart: fresh state, start. */
void lbx__life_start_again(lbx_context *context);
void lbx__life_free_state(lbx__cell *cell);

/* watch.c */
/* What a notice of an end says: a message of lbx_terminated_type(). */
typedef struct lbx__notice {
    lbx_termination why; /* first: it is what users read */
    lbx_system *system;
    lbx__reason *reason; /* a reference; or NULL */
} lbx__notice;
void lbx__watch_destroy_notice(void *message, void *context);
void lbx__watch_add(lbx__cell *cell, lbx__node *node);
void lbx__watch_remove(lbx__cell *cell, lbx__node *node);
/* Turns a WATCH node into the notice, with what `why` says, and sends it. */
void lbx__watch_notify(lbx_system *system, lbx__node *node,
                       const lbx__notice *why);
/* The same for an actor that had ended before. */
void lbx__watch_notify_gone(lbx_system *system, lbx__node *node);
/* Returns whether the actor awaits this notice, and no longer awaits it. */
bool lbx__watch_expects(lbx__cell *cell, lbx__node *notice);

/* supervise.c */
/* Returns the status of the message: OK when `handle_error` has settled it. */
lbx_status lbx__supervision_fail(lbx_context *context, lbx_status status);
void lbx__supervision_decide(lbx_context *context, const lbx__node *message);
void lbx__supervision_obey(lbx_context *context, const lbx__node *message);
void lbx__supervision_retry(lbx_context *context);
/* The failure is settled: the actor goes on. */
void lbx__supervision_forget(lbx__cell *cell);
/* A pause may be over. */
void lbx__supervision_continue(lbx_context *context);
/* Whether the start of a restart comes later; then a timer runs. */
bool lbx__supervision_pauses(lbx__cell *cell);
/* Before an actor stops: notes whether it had failed. */
void lbx__supervision_note_end(lbx__cell *cell);
/* The end of a FAILURE that is not decided. */
void lbx__supervision_discard(lbx__node *failure);
/* Copies a user's supervisor; INVALID. */
lbx_status lbx__supervision_read(const lbx_supervisor *given, lbx_fault *fault,
                                 lbx_supervisor *ret);
/* The parent is held, or no longer is (SUPER-1). */
void lbx__supervision_hold(lbx__cell *cell, bool held);

/* stash.c. The unstashed or retried message that is handled next; NULL: the
 * next of the mailbox is. By the owner. */
lbx__node *lbx__stash_next(lbx__cell *cell);
bool lbx__stash_has_next(const lbx__facilities *facilities);
/* Unstashes the first `max_count`; returns how many. */
uint64_t lbx__stash_unstash(lbx__cell *cell, uint64_t max_count);

/* router.c: lbx__spawn_actor(), or a pool where deployment demands one. */
lbx_status lbx__router_spawn(lbx_system *system, lbx__cell *parent,
                             const lbx_props *given, const char *name,
                             lbx_ref *ret);
/* The end of an actor, if it is a pool. */
void lbx__router_end(lbx__cell *cell);
/* What a cell that is a pool was made from; NULL for others. */
const lbx_pool *lbx__router_pool(const lbx__cell *cell);

/* names.c: names among siblings. */
lbx_status lbx__names_create(const lbx_allocator *allocator, lbx__names **ret);
void lbx__names_destroy(lbx__names *names);
/* The beginning of a life: its parent, its name (NULL: none), its generation.
 * EXISTS when a sibling has the name. */
lbx_status lbx__names_enter(lbx__names *names, lbx__cell *cell,
                            lbx__cell *parent, const char *name);
void lbx__names_leave(lbx__names *names, lbx__cell *cell);
/* Calls `write`, which must only read, for a living cell while no name changes;
 * NOT_FOUND for one that has ended. */
lbx_status lbx__names_path(lbx__names *names, uint64_t ref,
                           lbx_status (*write)(const lbx__cell *cell,
                                               void *context),
                           void *context);
/* The path of a named actor, also of one that has ended and is remembered. */
bool lbx__names_last_path(lbx__names *names, uint64_t ref, char *ret_path,
                          size_t size_bytes);
/* The ref of a child, or 0. */
uint64_t lbx__names_find(lbx__names *names, const lbx__cell *parent,
                         const char *name, size_t length);

/* print.c: writes the path of a cell, cut if it does not fit: then FULL. While
 * no name changes. */
lbx_status lbx__print_path(const lbx__cell *cell, char *ret_path,
                           size_t size_bytes);

/* stats.c: the number of messages in the inbox. Any thread. */
uint64_t lbx__stats_inbox_depth(lbx__cell *cell);

/* timers.c */
lbx_status lbx__timers_create(lbx_system *system, lbx__timers **ret);
void lbx__timers_stop(lbx__timers *timers);
void lbx__timers_destroy(lbx__timers *timers);
/* Fires what is due; returns when the next is. */
int64_t lbx__timers_fire(lbx__timers *timers);
/* Starts a timer for a message of the library, which a restart leaves. */
lbx_status lbx__timers_start_message(lbx_system *system, uint64_t to,
                                     const lbx_envelope *envelope,
                                     int64_t delay_ns, lbx_timer *ret);
/* Returns whether a timer waits: it was started, and has neither fired for the
 * last time nor been cancelled. */
bool lbx__timers_has(lbx__timers *timers, lbx_timer id);
/* Cancels the timers of an actor's own (TIMER-3). */
void lbx__timers_cancel_own(lbx__timers *timers, lbx__link *own);
/* Starts a timer for a system message; `ret` may be NULL. */
lbx_status lbx__timers_start_system(lbx__timers *timers, uint64_t to,
                                    uint8_t code, int64_t delay_ns,
                                    lbx_timer *ret);
/* Cancels such a timer, unless it has fired or is none (0). */
void lbx__timers_cancel_system(lbx__timers *timers, lbx_timer id);

/* timeout.c: around the messages of a run. */
void lbx__timeout_begin_run(lbx__cell *cell);
void lbx__timeout_end_run(lbx__cell *cell);

/* pipe.c. By the owner: on a node that a waker pushed; on a deadline; before
 * `stop` is called. */
void lbx__pipe_poll(lbx__cell *cell, lbx__node *node);
void lbx__pipe_poll_late(lbx__cell *cell);
void lbx__pipe_end(lbx__cell *cell);
/* Frees a node whose actor has ended (PIPE-2). */
void lbx__pipe_bury(lbx__node *node);
/* Returns whether a result is of this era; otherwise it was a dead letter. */
bool lbx__pipe_expects(lbx__cell *cell, lbx__node *result);
/* Whether a message is a result that no one misses. */
bool lbx__pipe_is_minor(const lbx_type *type, const void *message);

/* ask.c: the first message of a promise; its end when the ask was left. */
void lbx__ask_answer(lbx_context *context);
void lbx__ask_end(lbx_context *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system inside, and what an actor has only when it needs it.
 */
#ifndef LBX_ACTOR_SYSTEM_H
#define LBX_ACTOR_SYSTEM_H

#include "actor/core/cell.h"
#include "actor/core/ref_set.h"
#include "actor/dispatch/dispatcher.h"
#include "base/park.h"
#include <letterbox/actor.h>

typedef struct lbx__actor_mailboxes lbx__actor_mailboxes;
typedef struct lbx__names lbx__names;
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
    lbx__dispatcher *dispatcher; /* the default one */
    lbx__cell *user;             /* the guardian */
    uint64_t user_ref;
    lbx__replay replay; /* with a seed: every ready cell */
    lbx__dispatcher_setup dispatching;

    lbx__lock listeners_lock;
    uint32_t listener_count;
    lbx_dead_letter_listener listeners[LBX_MOST_LISTENERS];
    _Atomic(uint32_t) stopping; /* terminate was called */

    _Atomic(uint32_t) terminated; /* "/user" has ended; a futex */
    _Atomic(uint32_t) serials;    /* given to actors, for their names */
    _Atomic(uint64_t) alive;
    _Atomic(uint64_t) spawned;
    _Atomic(uint64_t) dead_letters;
    _Atomic(uint64_t) suppressed;
    _Atomic(uint64_t) failures;
};

#define LBX__SYSTEM_MAGIC UINT64_C(0x6c62782073797374)

/* A list of nodes that its owner alone touches. */
typedef struct lbx__node_list {
    lbx__node *first;
    lbx__node *last;
    uint64_t count;
} lbx__node_list;

void lbx__node_list_append(lbx__node_list *list, lbx__node *node);
lbx__node *lbx__node_list_take(lbx__node_list *list);

/* What few actors need: allocated on first use, freed when the actor ends. */
struct lbx__facilities {
    lbx_strategy strategy;

    /* Watchers: the WATCH nodes they sent, which become their notices; and
     * whom this one watches. */
    lbx__node_list watchers;
    lbx__ref_set watching;

    /* Become: the stack, its top last. */
    lbx_receive **receives;
    uint32_t receive_count;
    uint32_t receive_room;

    /* The stash, and what was unstashed: H1 in stash.c. */
    lbx__node_list stash;
    lbx__node_list ahead;
    int64_t stash_capacity; /* LBX_UNLIMITED */

    /* The message whose handler failed; and one that is to be handled again,
     * before everything else. */
    lbx__node *failed;
    lbx__node *again;
    bool retrying; /* a timer will try it again */

    /* Restarts in the current window. */
    int32_t restarts;
    int64_t window_ns;

    /* The receive timeout. */
    int64_t idle_ns; /* negative: none */
    lbx_timer idle_timer;

    struct lbx__outgoing *outbox; /* messages that wait for room elsewhere */
    struct lbx__ask *ask;         /* a promise's */
};

/* One call of a behaviour's function. */
struct lbx_context {
    lbx__cell *cell;
    lbx_system *system; /* the cell's */
    uint64_t self;      /* its ref */
    uint32_t life;      /* its generation; not read from the senders' line */
    lbx__node_cache *cache; /* this thread's nodes of that system, or NULL */
    lbx__node *node;        /* the current message; NULL in hooks */
    bool taken;             /* the message is no longer ours to end */
    bool stashed;
    uint32_t sent;    /* in this turn */
    uint64_t handled; /* in this turn */
};

bool lbx__system_is_stopping(lbx_system *system);

/* The context of the turn that this thread is in; NULL outside. */
extern LBX__LOCAL(lbx_context *, lbx__run_current);

static inline lbx_context *
lbx__context_current(void)
{
    return lbx__local(lbx__run_current);
}

/* ref.c: tells, and does not wait for room: a full mailbox makes it a dead
 * letter. */
void lbx__ref_tell_at_once(lbx_ref to, const lbx_envelope *envelope);

/* Tells in the name that the envelope has, nobody's if it has none, and with its
 * duty to report. */
void lbx__ref_tell_as(lbx_ref to, const lbx_envelope *envelope);

/* Tells the sender of a message how it was handled, if that is waited for. */
void lbx__ask_report(lbx_system *system, uint64_t sender, lbx_status status);

/* facilities.c */
lbx__facilities *lbx__facilities_of(lbx__cell *cell); /* NULL: no memory */
void lbx__facilities_free(lbx__cell *cell);

/* dead_letter.c */
void lbx__dead_letter_publish(lbx_system *system, const lbx_envelope *envelope,
                              lbx_loss_reason reason);
void lbx__dead_letter_publish_node(lbx_system *system, lbx__node *node,
                                   lbx_loss_reason reason);

/* message.c: the end of a message that is not passed on. */
void lbx__message_destroy(lbx_system *system, const lbx_type *type,
                          void *message);
extern const char lbx__message_poison;

/* life.c: birth and death. By the owner, within its turn. */
bool lbx__life_are_props(const lbx_props *props);
lbx_status lbx__life_spawn(lbx_system *system, lbx__cell *parent,
                           const lbx_props *props, const char *name,
                           lbx_ref *ret);
/* The same for a pool; `balances`: its children share its mailbox. */
lbx_status lbx__life_spawn_pool(lbx_system *system, lbx__cell *parent,
                                const lbx_props *props, const char *name,
                                bool balances, lbx_ref *ret);
/* The ref of an unnamed child by its number, or 0. Any thread. */
uint64_t lbx__life_find_child(lbx__cell *cell, uint32_t serial);
void lbx__life_begin_stop(lbx_context *context);
/* A poison pill's turn has come: the same, or for the pool that shares its
 * mailbox. */
void lbx__life_poison(lbx_context *context);
void lbx__life_end(lbx_context *context);
void lbx__life_release_child(lbx_context *context, lbx__cell *child);
lbx_status lbx__life_start(lbx_context *context);
void lbx__life_restart(lbx_context *context);

/* watch.c */
void lbx__watch_add(lbx__cell *cell, lbx__node *node);
void lbx__watch_remove(lbx__cell *cell, lbx__node *node);
void lbx__watch_notify(lbx_system *system, lbx__node *node);
/* Tells whether the actor waits for this notice, and counts it as come. */
bool lbx__watch_expects(lbx__cell *cell, lbx__node *notice);

/* supervise.c */
/* Answers how it ended for the message: OK when `handle_error` has settled it. */
lbx_status lbx__supervision_fail(lbx_context *context, lbx_status status);
void lbx__supervision_decide(lbx_context *context, const lbx__node *message);
void lbx__supervision_obey(lbx_context *context, const lbx__node *message);
void lbx__supervision_retry(lbx_context *context);
/* The parent is held up by a failure, or no longer is. */
void lbx__supervision_hold(lbx__cell *cell, bool held);

/* stash.c. What is handled next because it was unstashed, or is to be tried
 * again; NULL: what waits in the mailbox is. By the owner. */
lbx__node *lbx__stash_next(lbx__cell *cell);
bool lbx__stash_has_next(const lbx__facilities *facilities);
/* Unstashes the first `most`; how many. */
uint64_t lbx__stash_unstash(lbx__cell *cell, uint64_t most);

/* router.c: lbx__life_spawn(), for what deployment may make a pool. */
lbx_status lbx__router_spawn(lbx_system *system, lbx__cell *parent,
                             const lbx_props *props, const char *name,
                             lbx_ref *ret);
/* The end of an actor, if it is a pool. */
void lbx__router_end(lbx__cell *cell);
/* What a cell that is a pool was made from; NULL for others. */
const lbx_pool *lbx__router_pool(const lbx__cell *cell);

/* names.c: who has which name among its siblings. */
lbx_status lbx__names_create(const lbx_allocator *allocator, lbx__names **ret);
void lbx__names_destroy(lbx__names *names);
/* The beginning of a life: its parent, its name (NULL: none), its generation.
 * EXISTS when a sibling has the name. */
lbx_status lbx__names_enter(lbx__names *names, lbx__cell *cell,
                            lbx__cell *parent, const char *name);
void lbx__names_leave(lbx__names *names, lbx__cell *cell);
/* Calls `write` for a living cell while no name changes: it must not do
 * anything but read. NOT_FOUND for one that has ended. */
lbx_status lbx__names_path(lbx__names *names, uint64_t ref,
                           lbx_status (*write)(const lbx__cell *cell,
                                               void *context),
                           void *context);
/* The ref of a child, or 0. */
uint64_t lbx__names_find(lbx__names *names, const lbx__cell *parent,
                         const char *name, size_t length);

/* timers.c */
lbx_status lbx__timers_create(lbx_system *system, lbx__timers **ret);
void lbx__timers_stop(lbx__timers *timers);
void lbx__timers_destroy(lbx__timers *timers);
/* Fires what is due; when the next is. */
int64_t lbx__timers_fire(lbx__timers *timers);
/* A system message for later. */
lbx_status lbx__timers_start_system(lbx__timers *timers, uint64_t to,
                                    uint8_t code, int64_t delay_ns);

/* timeout.c: around the messages of a turn. */
void lbx__timeout_begin_run(lbx__cell *cell);
void lbx__timeout_end_run(lbx__cell *cell);

/* ask.c: a promise's first message; its end when nobody asks any more. */
void lbx__ask_answer(lbx_context *context);
void lbx__ask_end(lbx_context *context);

#endif

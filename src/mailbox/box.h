/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mailbox inside: lanes, a gate, and a lock for whoever must wait.
 *
 * Sends and receives that need nobody's help touch a lane and one word, the
 * gate, and no lock. Everything else goes through the lock: waiting, handing
 * over, closing, suspending, being watched.
 *
 * B1  The gate says why receivers must take the lock; 0 means they need not.
 *     It changes under the lock only. A call that found 0 may finish as if it
 *     had come before the change: it looks at the gate again after its take,
 *     and whoever changed the gate and depends on that calls
 *     lbx__barrier_all() in between.
 * B2  A waiting receiver is granted a reservation, not a message. `reserved`
 *     counts grants not yet used; without one, a take under the lock leaves
 *     `reserved` messages alone.
 * B3  While receivers wait, WAITING is up in every lane; a push that sees it
 *     calls lbx__box_published(). While senders wait, the lane is gated, and
 *     whoever makes room moves the first waiting message in.
 * B4  No callback runs under the lock, except the user's clock. What a visit
 *     under the lock decides is collected in a turn and carried out when it
 *     ends.
 * B5  `holds` counts what keeps the memory: one for all producers, one for all
 *     consumers, one for each operation, one for a turn with callbacks.
 * B6  A single-consumer lane is popped by the consumer, or under the lock when
 *     the gate is up and the consumer is not `inside`.
 */
#ifndef LBX_MAILBOX_BOX_H
#define LBX_MAILBOX_BOX_H

#include "base/lock.h"
#include "base/op.h"
#include "queue/lane.h"
#include <letterbox/mailbox.h>
#include <letterbox/mailbox/messages.h>

/* What the mailbox's operations keep in lbx__op.data. */
typedef struct __attribute__((may_alias)) lbx__send_data {
    lbx_envelope envelope;
    lbx_send_result *result;
    void *const *messages; /* batch: the rest */
    size_t count;
    size_t *sent;
    int64_t policy_deadline_ns;
    lbx_send_result made;
    void *lane;
    bool prepared; /* the envelope has its priority */
} lbx__send_data;

typedef struct __attribute__((may_alias)) lbx__receive_data {
    void **message;
    lbx_envelope *envelope;
    void **messages;
    size_t most;
    size_t *count;
    uint64_t ticket; /* its position among the waiting; 0: none yet */
} lbx__receive_data;

typedef struct __attribute__((may_alias)) lbx__flush_data {
    uint64_t mark[3]; /* by lane: what was accepted before */
    uint64_t look[3]; /* by lane: how many taken before a check pays */
    bool stop;
} lbx__flush_data;

LBX__OP_DATA(lbx__send_data, lbx__op_send);
LBX__OP_DATA(lbx__receive_data, lbx__op_receive);
LBX__OP_DATA(lbx__flush_data, lbx__op_flush);

enum {
    LBX__SYSTEM_LANE = 0,
    LBX__CONTROL_LANE,
    LBX__USER_LANE,
    LBX__LANES
};

enum {
    LBX__GATE_WAITERS = 1,   /* receivers wait, or hold reservations */
    LBX__GATE_SUSPENDED = 2, /* only system messages flow */
    LBX__GATE_SYSTEM = 4,    /* there may be a system message */
    LBX__GATE_CLOSED = 8,
    LBX__GATE_FLUSH = 16,   /* someone waits for messages to be taken */
    LBX__GATE_WATCHED = 32, /* metrics want to hear of every take */
    LBX__GATE_ALWAYS = 64,  /* this mailbox has no fast path */
};

/* Which calls can be made without looking further. */
typedef enum lbx__fast {
    LBX__FAST_ONE = 0, /* plain messages, unbounded, one consumer */
    LBX__FAST_MANY,    /* the same, many consumers */
    LBX__FAST_CONTROL, /* the same, two lanes */
    LBX__FAST_RING,    /* plain messages, bounded */
    LBX__FAST_SORTER,  /* messages with priorities, unbounded */
    LBX__FAST_NONE,
} lbx__fast;

struct lbx_mailbox {
    /* Read by all, written seldom. */
    uint64_t magic;
    lbx__fast fast;
    bool many; /* several consumers */
    bool keeps_envelopes;
    bool straight; /* an envelope needs no look before it is pushed */
    uint32_t capabilities;
    _Atomic(uint32_t) gate;
    lbx__lane *lane[LBX__LANES]; /* control: may be NULL; system: see below */
    _Atomic(lbx__lane *) system; /* made by the first system message */
    lbx_mailbox_options options; /* with every default filled in */

    /* Rooms that are counted apart: for the user lane, or for user and control
     * together; and for the control lane alone. */
    lbx__budget budget;
    lbx__budget control_budget;

    /* The consumer: B6. */
    alignas(2 * LBX__LINE) _Atomic(uint32_t) inside;
    _Atomic(uint32_t) dry; /* looks in vain since the last depth sample */

    /* Under the lock. */
    alignas(2 * LBX__LINE) lbx__lock lock;
    bool closed;
    bool discarding; /* what is left, or comes late, is lost */
    bool waiting_up; /* B3 */
    bool stalled;
    uint64_t reserved;
    uint64_t tickets; /* given to waiting receivers: their order */
    lbx__link receivers;
    lbx__link flushers;
    uint64_t suspensions; /* nesting */
    uint64_t suspended_count;
    int64_t suspended_at_ns;
    int64_t suspended_total_ns;
    lbx_metrics_sink metrics;
    lbx_scheduler_hook hook;
    lbx_signal *signal;

    /* Counters. */
    _Atomic(uint64_t) rejected;
    _Atomic(uint64_t) dropped_newest;
    _Atomic(uint64_t) dropped_oldest;
    _Atomic(uint64_t) expired;
    _Atomic(uint64_t) lost;
    _Atomic(uint64_t) high_water;
    _Atomic(uint64_t) timed;
    _Atomic(int64_t) waited_total_ns;
    _Atomic(int64_t) waited_max_ns;
    _Atomic(uint32_t) pressed;
    _Atomic(uint32_t) to_dead_letters; /* closed with DEAD_LETTER */
    _Atomic(uint64_t) producers;
    _Atomic(uint64_t) consumers;
    _Atomic(uint64_t) holds;

    lbx__lane control_lane;
    lbx__lane user_lane;
};

enum {
    LBX__DRY_SPELL = 32
};

#define LBX__BOX_MAGIC UINT64_C(0x6c65747465726278)

/* The handles are the mailbox under other names: the type tells what one may
 * do with it. */
static inline lbx_mailbox *
lbx__box_of_producer(lbx_producer *producer)
{
    return (lbx_mailbox *)(void *)producer;
}

static inline lbx_mailbox *
lbx__box_of_consumer(lbx_consumer *consumer)
{
    return (lbx_mailbox *)(void *)consumer;
}

/* One visit under the lock: B4. */
typedef struct lbx__turn {
    lbx__wakes wakes;
    uint64_t enqueued; /* sends completed for others, to be observed */
} lbx__turn;

void lbx__turn_begin(lbx_mailbox *box, lbx__turn *turn);
void lbx__turn_end(lbx_mailbox *box, lbx__turn *turn);

/* B5. */
void lbx__box_hold(lbx_mailbox *box);
void lbx__box_release(lbx_mailbox *box);
void lbx__box_free(lbx_mailbox *box);

/* Items and envelopes. */
void lbx__box_pack(const lbx__lane *lane, const lbx_envelope *envelope,
                   uint64_t *item);
void lbx__box_unpack(lbx_mailbox *box, int lane, const uint64_t *item,
                     lbx_envelope *ret);

/* lanes.c: what the lanes hold. */
lbx__lane *lbx__box_lane(lbx_mailbox *box, int lane); /* NULL: none */
lbx_status lbx__box_make_system(lbx_mailbox *box, lbx__lane **ret);
uint64_t lbx__box_depth(lbx_mailbox *box);
void lbx__box_sample(lbx_mailbox *box);

/* lanes.c: the order in which two messages would be taken, whatever their
 * arrival, < 0 when it is a first; and whether one inside would be taken before
 * this one. By a consumer. */
int lbx__box_compare(const lbx_mailbox *box, const lbx_envelope *a,
                     const lbx_envelope *b);
bool lbx__box_beats(lbx_mailbox *box, const lbx_envelope *than);

/* send.c */
lbx_status lbx__box_admissible(lbx_mailbox *box, lbx_envelope *envelope,
                               lbx__lane **ret_lane);
int lbx__box_push(lbx_mailbox *box, lbx__lane *lane,
                  const lbx_envelope *envelope, bool ahead,
                  uint64_t *ret_grown);
lbx_status lbx__box_send(lbx_mailbox *box, lbx__lane *lane,
                         const lbx_envelope *envelope, lbx_send_result *result);
void lbx__box_pushed(lbx_mailbox *box, const lbx__lane *lane, int flags);
lbx_status lbx__box_drop(lbx_mailbox *box, const lbx_envelope *envelope,
                         lbx_send_result *result);
/* Counts a send that found no room: LBX_FULL. */
lbx_status lbx__box_reject(lbx_mailbox *box, const lbx__lane *lane);
/* How a send ends whose push said no; without the lock. */
lbx_status lbx__box_refuse(lbx_mailbox *box, const lbx__lane *lane, int flags);
/* Sends another mailbox's lost envelope as it is; false: not taken. */
bool lbx__box_bury(lbx_mailbox *box, const lbx_envelope *dead);

/* take.c */
bool lbx__box_may_wait(const lbx_mailbox *box);
bool lbx__box_take_open(lbx_mailbox *box, lbx_envelope *ret);
bool lbx__box_take_locked(lbx_mailbox *box, lbx__turn *turn, lbx_envelope *ret);
bool lbx__box_taken(lbx_mailbox *box, const lbx_envelope *envelope);
lbx_status lbx__box_take(lbx_mailbox *box, lbx_envelope *ret);
lbx_status lbx__box_take_batch(lbx_mailbox *box, void **ret_messages,
                               size_t most, size_t *ret_count);

/* wait.c: under the lock, within a turn. */
uint64_t lbx__box_takeable(lbx_mailbox *box);
void lbx__box_grant(lbx_mailbox *box, lbx__turn *turn);
void lbx__box_admit(lbx_mailbox *box, lbx__turn *turn);
void lbx__box_flushed(lbx_mailbox *box, lbx__turn *turn);
void lbx__box_raise_waiting(lbx_mailbox *box);
void lbx__box_stall(lbx_mailbox *box, bool stalled);
void lbx__box_set_gate(lbx_mailbox *box, uint32_t bit, bool up);

/* wait.c: without the lock. Something was published; room was made; the gate
 * was up after a take. */
void lbx__box_published(lbx_mailbox *box);
void lbx__box_room(lbx_mailbox *box);
void lbx__box_look_again(lbx_mailbox *box);

/* suspend.c: under the lock; the event is for later. */
void lbx__box_end_suspension(lbx_mailbox *box, lbx_metric_event *ret);

/* close.c */
void lbx__box_close(lbx_mailbox *box, bool discard, bool to_dead_letters);
void lbx__box_discard(lbx_mailbox *box);

/* observe.c: without locks. */
void lbx__box_lose(lbx_mailbox *box, const lbx_envelope *envelope,
                   lbx_loss_reason reason);
void lbx__box_enqueued(lbx_mailbox *box, const lbx__lane *lane);
void lbx__box_pressure(lbx_mailbox *box);
void lbx__box_event(lbx_mailbox *box, lbx_metric metric, uint64_t count);
void lbx__box_event_of(lbx_mailbox *box, const lbx_metric_event *event);

#endif

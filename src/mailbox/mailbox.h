/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mailbox from inside: private header of this room.
 *
 * A mailbox has up to three lanes (queues), a gate and a lock. A send or a
 * receive that needs no other thread touches a lane and reads the gate; it
 * takes no lock. Waiting, handing over, closing, suspending and observing go
 * through the lock.
 *
 * MBOX-1  The gate holds the reasons why a receiver must take the lock; 0: it
 *         need not. The gate changes under the lock only. A receive that read 0
 *         may finish as if it had run before the change: it reads the gate
 *         again after its take. A thread that changed the gate and depends on
 *         that second read calls lbx__barrier_all() first.
 * MBOX-2  A waiting receiver is granted a reservation, not a message.
 *         `reserved` counts grants that are not used yet. A take under the lock
 *         by a thread without a grant leaves `reserved` messages in the lanes.
 * MBOX-3  While receivers wait, WAITING is set in every lane; a push that sees
 *         it calls lbx__visit_serve_receivers(). While senders wait, the lane
 *         is closed to other senders; the thread that frees capacity moves the
 *         first waiting message in.
 * MBOX-4  No callback runs under the lock, except the user's clock. Wake-ups
 *         and notifications that a visit decides on are collected in the
 *         lbx__visit and made when it ends.
 * MBOX-5  `holds` counts what keeps the memory: one for all producers, one for
 *         all consumers, one for each operation, one for a visit that has
 *         callbacks to make.
 * MBOX-6  A single-consumer lane is popped by the consumer; by another thread
 *         only under the lock, with the gate not 0 and `inside` 0.
 */
#ifndef LBX_MAILBOX_MAILBOX_H
#define LBX_MAILBOX_MAILBOX_H

#include "base/lock.h"
#include "base/op.h"
#include "base/sized.h"
#include "queue/lane.h"
#include <letterbox/mailbox.h>
#include <letterbox/mailbox/messages.h>

/* What the operations of this room keep in lbx__op.data. */
typedef struct __attribute__((may_alias)) lbx__send_data {
    lbx_envelope envelope;
    lbx_send_result *result;       /* of the caller; may be NULL */
    void *const *messages;         /* batch: all of it, or NULL */
    const lbx_envelope *envelopes; /* the same, with envelopes */
    size_t count;
    size_t *sent; /* batch: how many so far; else NULL */
    int64_t policy_deadline_ns;
    lbx_send_result made;
    void *lane;
    bool prepared; /* the envelope has its priority */
} lbx__send_data;

typedef struct __attribute__((may_alias)) lbx__receive_data {
    void **message;         /* or the first of a batch */
    lbx_envelope *envelope; /* the same */
    size_t max;
    size_t *count;   /* batch: how many; else NULL */
    uint64_t ticket; /* its position among the waiting; 0: none yet */
} lbx__receive_data;

typedef struct __attribute__((may_alias)) lbx__flush_data {
    uint64_t mark[3];       /* by lane: what was accepted before the flush */
    uint64_t next_check[3]; /* by lane: how many must be taken until then */
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
    LBX__GATE_FLUSH = 16,   /* a flush waits for messages to be taken */
    LBX__GATE_WATCHED = 32, /* a metrics sink is notified of every take */
    LBX__GATE_ALWAYS = 64,  /* this mailbox has no fast path */
};

/* Which fast path the calls of a mailbox may use. */
typedef enum lbx__fast {
    LBX__FAST_ONE = 0,  /* plain messages, unbounded, one consumer */
    LBX__FAST_MANY,     /* the same, many consumers */
    LBX__FAST_CONTROL,  /* the same, two lanes */
    LBX__FAST_RING,     /* plain messages, bounded */
    LBX__FAST_PRIORITY, /* messages with priorities, unbounded */
    LBX__FAST_NONE,
} lbx__fast;

struct lbx_mailbox {
    /* Read by all, written seldom. */
    uint64_t magic;
    lbx__fast fast;
    bool many; /* several consumers */
    bool keeps_envelopes;
    bool straight; /* envelopes are pushed without checks */
    uint32_t capabilities;
    _Atomic(uint32_t) gate;
    lbx__lane *lane[LBX__LANES]; /* control: may be NULL; system: see below */
    _Atomic(lbx__lane *) system; /* made by the first system message */
    lbx_mailbox_options options; /* with every default filled in */

    /* Capacity that is counted outside the queue: for the user lane, or for
     * user and control lane together; and for the control lane alone. */
    lbx__quota quota;
    lbx__quota control_quota;

    /* Written by the consumer: MBOX-6. */
    alignas(2 * LBX__LINE) _Atomic(uint32_t) inside;
    _Atomic(uint32_t) dry; /* empty takes since the last depth sample */

    /* Under the lock. */
    alignas(2 * LBX__LINE) lbx__lock lock;
    bool closed;
    bool discarding; /* messages that are left or arrive late are lost */
    bool waiting_up; /* WAITING is set in the lanes: MBOX-3 */
    bool stalled;    /* `stalled` is set in the lanes: SEGQ-6 */
    uint64_t reserved;
    uint64_t tickets; /* drawn by waiting receivers: their order */
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
    _Atomic(int64_t) max_waited_ns;
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

#define LBX__MAILBOX_MAGIC UINT64_C(0x6c65747465726278)

/* Both handles point to the mailbox; their types limit what a caller may do. */
static inline lbx_mailbox *
lbx__mailbox_of_producer(lbx_producer *producer)
{
    return (lbx_mailbox *)(void *)producer;
}

static inline lbx_mailbox *
lbx__mailbox_of_consumer(lbx_consumer *consumer)
{
    return (lbx_mailbox *)(void *)consumer;
}

/* Sets or clears one bit of the gate. Under the lock. */
static inline void
lbx__gate_set(lbx_mailbox *box, uint32_t bit, bool up)
{
    // Relaxed: it changes under the lock only; the load saves a
    // read-modify-write.
    if (((lbx__load(&box->gate, relaxed) & bit) != 0) == up)
        return;
    // seq_cst: MBOX-1, before the barrier of a thread that needs one.
    if (up)
        (void)lbx__or(&box->gate, bit, seq_cst);
    else
        (void)lbx__and(&box->gate, ~bit, seq_cst);
}

/* Asks the user's hook whether this thread may wait. */
static inline bool
lbx__mailbox_may_wait(const lbx_mailbox *box)
{
    return !box->options.may_wait ||
           box->options.may_wait(box->options.may_wait_context);
}

/* mailbox.c: MBOX-5; close; drop what is left as lost. */
void lbx__mailbox_hold(lbx_mailbox *box);
void lbx__mailbox_release(lbx_mailbox *box);
void lbx__mailbox_shut(lbx_mailbox *box, bool discard, bool to_dead_letters);
void lbx__mailbox_discard(lbx_mailbox *box);

/* options.c: checks options, fills in defaults. On failure the text is in
 * options->fault. */
struct lbx__mailbox_kind;
lbx_status lbx__options_settle(const struct lbx__mailbox_kind *kind,
                               lbx_mailbox_options *options);
bool lbx__options_is_count(int64_t limit);
__attribute__((format(printf, 3, 4))) lbx_status
lbx__options_fail(const lbx_mailbox_options *options, lbx_status status,
                  const char *format, ...);

/* lanes.c: makes the lanes of a kind; fini takes half-made ones. */
lbx_status lbx__lanes_init(lbx_mailbox *box,
                           const struct lbx__mailbox_kind *kind);
void lbx__lanes_fini(lbx_mailbox *box);

/* lanes.c: NULL when the mailbox has no such lane (yet). */
lbx__lane *lbx__lanes_get(lbx_mailbox *box, int lane);
lbx_status lbx__lanes_make_system(lbx_mailbox *box, lbx__lane **ret);

/* lanes.c: items and envelopes. */
void lbx__lanes_pack(const lbx__lane *lane, const lbx_envelope *envelope,
                     uint64_t *item);
void lbx__lanes_unpack(lbx_mailbox *box, int lane, const uint64_t *item,
                       lbx_envelope *ret);

/* lanes.c: messages inside; those that a receiver may take now (under the
 * lock); a sample for the high-water mark. */
uint64_t lbx__lanes_depth(lbx_mailbox *box);
uint64_t lbx__lanes_takeable(lbx_mailbox *box);
void lbx__lanes_sample(lbx_mailbox *box);

/* lanes.c: sets or clears `stalled` in every lane: SEGQ-6. Under the lock. */
void lbx__lanes_stall(lbx_mailbox *box, bool stalled);

/* send.c: checks and completes an envelope, finds its lane. */
lbx_status lbx__send_check(lbx_mailbox *box, lbx_envelope *envelope,
                           lbx__lane **ret_lane);
/* Pushes; as lbx__lane_push(). *ret_grown: the new capacity, or 0. */
int lbx__send_push(lbx_mailbox *box, lbx__lane *lane,
                   const lbx_envelope *envelope, bool ahead,
                   uint64_t *ret_grown);
/* Acts on the flags that a push returned. */
void lbx__send_pushed(lbx_mailbox *box, const lbx__lane *lane, int flags);
/* Sends without waiting, as the overflow policy decides. */
lbx_status lbx__send_envelope(lbx_mailbox *box, lbx__lane *lane,
                              const lbx_envelope *envelope,
                              lbx_send_result *result);
lbx_status lbx__send_front(lbx_mailbox *box, lbx_envelope envelope);
/* Drops the message of this send. */
lbx_status lbx__send_drop(lbx_mailbox *box, const lbx_envelope *envelope,
                          lbx_send_result *result);
/* Writes a result into the caller's, which is_writable(). */
static inline void
lbx__send_result_write(lbx_send_result *to, const lbx_send_result *from)
{
    const size_t size_bytes = to->size_bytes;

    if (size_bytes == sizeof(*to)) {
        *to = *from;
        to->size_bytes = size_bytes;
    } else {
        (void)LBX__SIZED_WRITE(to, from, lbx_send_result, overflow);
    }
}
static inline bool
lbx__send_result_is_writable(const lbx_send_result *to)
{
    return LBX__SIZED_IS_WRITABLE(to, lbx_send_result, overflow);
}
/* Counts a send that found no capacity: LBX_FULL. */
lbx_status lbx__send_reject(lbx_mailbox *box, const lbx__lane *lane);
/* The status of a send whose push failed with `flags`. Without the lock. */
lbx_status lbx__send_refuse(lbx_mailbox *box, const lbx__lane *lane, int flags);
/* Sends an envelope that another mailbox lost; false: not accepted. */
bool lbx__send_dead_letter(lbx_mailbox *box, const lbx_envelope *dead);

/* visit.c: what one thread does under the lock, and the callbacks that it
 * makes afterwards: MBOX-4. */
typedef struct lbx__visit {
    lbx__wakes wakes;
    uint64_t enqueued; /* sends completed for others, to be observed */
} lbx__visit;

/* take.c: one message without the lock; one under it. */
bool lbx__take_unlocked(lbx_mailbox *box, lbx_envelope *ret);
bool lbx__take_locked(lbx_mailbox *box, lbx__visit *visit, lbx_envelope *ret);
/* Checks the deadline and reports the take; false: the message had expired. */
bool lbx__take_finish(lbx_mailbox *box, const lbx_envelope *envelope);
lbx_status lbx__take_one(lbx_mailbox *box, lbx_envelope *ret);
/* Takes more until there are `max`; one of the arrays is NULL. */
lbx_status lbx__take_batch(lbx_mailbox *box, void **ret_messages,
                           lbx_envelope *ret_envelopes, size_t max,
                           size_t *ret_count);

/* visit.c */
void lbx__visit_begin(lbx_mailbox *box, lbx__visit *visit);
void lbx__visit_end(lbx_mailbox *box, lbx__visit *visit);

/* visit.c, within a visit: complete the waiting receives, sends and flushes
 * that have become possible; MBOX-3. */
void lbx__visit_grant(lbx_mailbox *box, lbx__visit *visit);
void lbx__visit_admit(lbx_mailbox *box, lbx__visit *visit);
void lbx__visit_flush(lbx_mailbox *box, lbx__visit *visit);
void lbx__visit_raise_waiting(lbx_mailbox *box);

/* visit.c, without the lock: a visit for receivers after a push, for senders
 * after capacity became free, for flushes after a take that found the gate
 * changed. */
void lbx__visit_serve_receivers(lbx_mailbox *box);
void lbx__visit_serve_senders(lbx_mailbox *box);
void lbx__visit_serve_flushes(lbx_mailbox *box);

/* suspension.c: under the lock; the caller reports *ret after it. */
void lbx__suspension_end(lbx_mailbox *box, lbx_metric_event *ret);

/* loss.c: without locks. Counts and reports a message that no consumer will
 * receive, and destroys it or makes it a dead letter. */
void lbx__loss_report(lbx_mailbox *box, const lbx_envelope *envelope,
                      lbx_loss_reason reason);

/* observers.c: without locks. */
void lbx__observers_enqueued(lbx_mailbox *box, const lbx__lane *lane);
void lbx__observers_pressure(lbx_mailbox *box);
void lbx__observers_count(lbx_mailbox *box, lbx_metric metric, uint64_t count);
void lbx__observers_event(lbx_mailbox *box, const lbx_metric_event *event);

#endif

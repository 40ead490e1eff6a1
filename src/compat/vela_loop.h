/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a loop.
 *
 * A loop owns a mailbox, and from start to stop an actor, the pump. The pump's
 * only message is a ring: "look into the mailbox". What a ring brings about is a
 * cycle. The mailbox's scheduler hook, which runs in the sender's thread, rings;
 * so do start, resume and stop, and the pump itself when a cycle ended before
 * the mailbox was empty. Only the public interface of actors and mailboxes is
 * used; base gives memory and atomics.
 *
 * All that threads have to agree on is in one word (loop_word.h).
 *
 * L1  There is at most one ring. TOLD is set by whoever will send it and cleared
 *     by the turn that gets it, or by ring_lost(). While it is set the loop is
 *     not over (L5), so it is there, and `pump` does not change.
 * L2  No wake-up is lost. A sender puts its message in and then changes the word
 *     (on_send, to the same value if need be); a turn changes the word
 *     (on_turn) and then looks into the mailbox. Both are read-modify-writes of
 *     one word, and so is every other change, so one comes first: if the
 *     sender's, the turn acquires what it released and finds the message; if the
 *     turn's, the sender finds TOLD clear, and rings. A sender that finds TOLD
 *     set is before the turn which clears it. One that finds the loop not running
 *     is before the start or resume, which ring.
 * L3  Whoever has set HANDLING takes and handles messages, alone: the pump in a
 *     cycle, or a caller of deliver and process_next. If the pump finds it set,
 *     it lets the ring go, and whoever clears it rings again.
 * L4  After pause or stop, nothing more is handled: the state is looked at after
 *     each take, and a message that was taken too late is `held`, to be the
 *     first of the next cycle. What was sent after a pause is taken after it.
 * L5  The loop is stopped by whoever makes the word "over": the pump has gone,
 *     there is no ring, nobody is handling. Until then all three may use the
 *     loop; afterwards only its users do.
 *
 * A system that is terminated takes the pump away. The loop hears of that by the
 * pump's `stop` or, before its first turn, by the ring that does not arrive: the
 * type of a ring ends it by telling the loop.
 */
#ifndef LBX_COMPAT_VELA_LOOP_H
#define LBX_COMPAT_VELA_LOOP_H

#include "base/atomic.h"
#include "compat/vela_word.h"
#include <letterbox/actor.h>
#include <letterbox/mailbox.h>
#include <letterbox/mailbox/messages.h>

struct lbx_vela_loop {
    /* Written once. */
    lbx_vela_loop_options options;
    lbx_system *system;
    lbx_producer *in;
    lbx_consumer *out;
    lbx_type *ring_type;
    lbx_signal *stopped;
    void (*destroy)(void *message, void *context); /* the mailbox's */
    void *destroy_context;
    uint64_t most; /* in a cycle */

    /* Everybody. */
    _Atomic(uint32_t) word;
    lbx_ref pump; /* L1; written by start */

    /* Whoever is handling (L3). */
    lbx_envelope held; /* L4 */
    _Atomic(bool) has_held;
    _Atomic(uint64_t) handled;
    _Atomic(uint64_t) processed;
    _Atomic(uint64_t) errors;
    _Atomic(uint64_t) cycles;
    _Atomic(int64_t) total_ns;
};

/* The word as it is. */
uint32_t lbx__vela_loop_word(lbx_vela_loop *loop);

/* Changes the word by a rule, and does what follows; the word before. Who is not
 * a user of the loop must not use it any more if that may have ended it (L5). */
uint32_t lbx__vela_loop_change(lbx_vela_loop *loop, lbx__vela_loop_rule *rule);

/* The mailbox's hook, in the sender's thread. */
void lbx__vela_loop_ready(void *loop, lbx_mailbox *mailbox);

/* Ends a ring that was not heard: its type's destroy. */
void lbx__vela_loop_end_ring(void *loop, void *context);

/* By whoever is handling (L3). The next message; false when there is none. */
bool lbx__vela_loop_take(lbx_vela_loop *loop, lbx_envelope *ret);

/* The same: handles one message. `direct`: an error is the caller's, with the
 * message. */
lbx_status lbx__vela_loop_handle(lbx_vela_loop *loop,
                                 const lbx_envelope *envelope, bool direct);

void lbx__vela_loop_end_message(const lbx_vela_loop *loop,
                                const lbx_envelope *envelope);

/* A handler that runs in this thread, and those that it runs in. */
typedef struct lbx__vela_loop_frame {
    const lbx_vela_loop *loop;
    void *message;
    bool taken;
    struct lbx__vela_loop_frame *outer;
} lbx__vela_loop_frame;

/* The innermost of the loop's own; NULL outside its handlers. */
lbx__vela_loop_frame *lbx__vela_loop_frame_of(const lbx_vela_loop *loop);

extern const lbx_behaviour lbx__vela_loop_pump;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela's message loop, inside.
 *
 * A loop owns a mailbox, and from start to stop an actor, the pump. The pump
 * has one message, the notification, and handles a cycle of the mailbox's
 * messages for each. Notifications are sent by the mailbox's scheduler hook, in
 * the sender's thread, by start, resume and stop, and by the pump itself when a
 * cycle ended before the mailbox was empty.
 *
 * Everything that threads must agree on is in one word (vela_word.h).
 *
 * VELA-1  At most one notification is on its way. The thread that sets NOTIFIED
 *         sends it; the pump's run that receives it clears the flag, or
 *         pump_notification_lost() does. While the flag is set the loop is not
 *         over (VELA-5), and `pump` does not change.
 * VELA-2  No wake-up is lost. A sender puts its message in and then changes the
 *         word (on_send, perhaps to the same value); the pump changes the word
 *         (on_run) and then reads the mailbox. All changes are
 *         read-modify-writes of one word, so one of the two comes first: if the
 *         sender's, the pump acquires what it released and finds the message;
 *         if the pump's, the sender finds NOTIFIED clear and notifies. A sender
 *         that finds the flag set comes before the run which clears it. One
 *         that finds the loop not running comes before the start or resume,
 *         which notify.
 * VELA-3  Only the thread that has set HANDLING takes and handles messages: the
 *         pump in a cycle, or a caller of deliver and process_next. If the pump
 *         finds it set, it drops the notification, and the thread that clears
 *         it notifies again.
 * VELA-4  After pause or stop, nothing more is handled: the state is read after
 *         each take, and a message that was taken too late is `held`, to be the
 *         first of the next cycle. What was sent after a pause is taken after
 *         the held one.
 * VELA-5  The thread that makes the word "over" stops the loop: the pump has
 *         ended, no notification is on its way, no thread handles a message.
 *         Until then all three may use the loop; afterwards only its users may.
 *
 * A system that is terminated ends the pump. The loop learns of it by the
 * pump's `stop` or, before the pump's first run, by the notification that
 * cannot be delivered: its type's destroy function informs the loop.
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
    lbx_type *notification_type;
    lbx_signal *stopped;
    void (*destroy)(void *message, void *context); /* the mailbox's */
    void *destroy_context;
    uint64_t max_per_cycle;

    /* Any thread. */
    _Atomic(uint32_t) word;
    lbx_ref pump; /* VELA-1; written by start */

    /* The thread that is handling (VELA-3). */
    lbx_envelope held; /* VELA-4 */
    _Atomic(bool) has_held;
    _Atomic(uint64_t) handled;
    _Atomic(uint64_t) processed;
    _Atomic(uint64_t) errors;
    _Atomic(uint64_t) cycles;
    _Atomic(int64_t) total_ns;
};

/* The current word. */
uint32_t lbx__vela_pump_word(lbx_vela_loop *loop);

/* Changes the word by a rule and does what follows from the change; returns the
 * word before. A thread that is not a user of the loop must not touch it
 * afterwards if that may have stopped it (VELA-5). */
uint32_t lbx__vela_pump_change(lbx_vela_loop *loop, lbx__vela_word_rule *rule);

/* The mailbox's hook, in the sender's thread. */
void lbx__vela_pump_ready(void *loop, lbx_mailbox *mailbox);

/* Destroys a notification that was not delivered. */
void lbx__vela_pump_end_notification(void *loop, void *context);

/* Takes the next message; false: there is none. While HANDLING (VELA-3). */
bool lbx__vela_pump_take(lbx_vela_loop *loop, lbx_envelope *ret);

/* Handles one message. While HANDLING (VELA-3). `direct`: on an error the
 * caller keeps the message. */
lbx_status lbx__vela_pump_handle(lbx_vela_loop *loop,
                                 const lbx_envelope *envelope, bool direct);

void lbx__vela_pump_end_message(const lbx_vela_loop *loop,
                                const lbx_envelope *envelope);

/* A handler that runs in this thread; `outer`: the one that called it. */
typedef struct lbx__vela_pump_frame {
    const lbx_vela_loop *loop;
    void *message;
    bool taken;
    struct lbx__vela_pump_frame *outer;
} lbx__vela_pump_frame;

/* The innermost frame of this loop; NULL outside its handlers. */
lbx__vela_pump_frame *lbx__vela_pump_frame_of(const lbx_vela_loop *loop);

extern const lbx_behaviour lbx__vela_pump_behaviour;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word of Vela's message loop: its state and four flags, and the rules by
 * which it changes.
 *
 * Each rule is a function from a word to the next; one that does not apply
 * returns the word unchanged. Nothing else changes the word, and every change
 * is one read-modify-write (VELA-1 to VELA-5 in vela_loop.h).
 */
#ifndef LBX_COMPAT_VELA_WORD_H
#define LBX_COMPAT_VELA_WORD_H

#include <letterbox/compat/vela.h>

enum {
    LBX__VELA_STATE = 7,     /* lbx_vela_loop_state */
    LBX__VELA_STARTING = 8,  /* a start is under way; the state is as before */
    LBX__VELA_NOTIFIED = 16, /* a notification is on its way */
    LBX__VELA_HANDLING = 32, /* a thread takes and handles messages */
    LBX__VELA_PUMP_ENDED = 64, /* the pump has ended */
};

typedef uint32_t lbx__vela_word_rule(uint32_t word);

static inline lbx_vela_loop_state
lbx__vela_word_state(uint32_t word)
{
    return (lbx_vela_loop_state)(word & LBX__VELA_STATE);
}

static inline bool
lbx__vela_word_is(uint32_t word, lbx_vela_loop_state state)
{
    return lbx__vela_word_state(word) == state;
}

static inline uint32_t
lbx__vela_word_with(uint32_t word, lbx_vela_loop_state state)
{
    return (word & ~(uint32_t)LBX__VELA_STATE) | (uint32_t)state;
}

/* The pump has ended and no thread uses the loop: VELA-5. */
static inline bool
lbx__vela_word_is_over(uint32_t word)
{
    return lbx__vela_word_is(word, LBX_VELA_LOOP_STOPPING) &&
           (word & LBX__VELA_PUMP_ENDED) &&
           !(word & (LBX__VELA_NOTIFIED | LBX__VELA_HANDLING));
}

/* ---- The user's moves ---- */

static inline uint32_t
lbx__vela_word_on_begin(uint32_t word)
{
    if (lbx__vela_word_is(word, LBX_VELA_LOOP_IDLE) ||
        lbx__vela_word_is(word, LBX_VELA_LOOP_STOPPED))
        return word | LBX__VELA_STARTING;
    return word;
}

static inline uint32_t
lbx__vela_word_on_start_failed(uint32_t word)
{
    return word & ~(uint32_t)LBX__VELA_STARTING;
}

static inline uint32_t
lbx__vela_word_on_start(uint32_t word)
{
    word &= ~(uint32_t)LBX__VELA_STARTING;
    return lbx__vela_word_with(word, LBX_VELA_LOOP_RUNNING) |
           LBX__VELA_NOTIFIED;
}

static inline uint32_t
lbx__vela_word_on_pause(uint32_t word)
{
    return lbx__vela_word_is(word, LBX_VELA_LOOP_RUNNING)
               ? lbx__vela_word_with(word, LBX_VELA_LOOP_PAUSED)
               : word;
}

static inline uint32_t
lbx__vela_word_on_resume(uint32_t word)
{
    return lbx__vela_word_is(word, LBX_VELA_LOOP_PAUSED)
               ? lbx__vela_word_with(word, LBX_VELA_LOOP_RUNNING) |
                     LBX__VELA_NOTIFIED
               : word;
}

static inline uint32_t
lbx__vela_word_on_stop(uint32_t word)
{
    if (lbx__vela_word_is(word, LBX_VELA_LOOP_RUNNING) ||
        lbx__vela_word_is(word, LBX_VELA_LOOP_PAUSED))
        return lbx__vela_word_with(word, LBX_VELA_LOOP_STOPPING) |
               LBX__VELA_NOTIFIED;
    return word;
}

/* ---- Messages ---- */

static inline uint32_t
lbx__vela_word_on_send(uint32_t word)
{
    return lbx__vela_word_is(word, LBX_VELA_LOOP_RUNNING)
               ? word | LBX__VELA_NOTIFIED
               : word;
}

/* The pump runs: it has received its notification. */
static inline uint32_t
lbx__vela_word_on_run(uint32_t word)
{
    word &= ~(uint32_t)LBX__VELA_NOTIFIED;
    return lbx__vela_word_is(word, LBX_VELA_LOOP_RUNNING)
               ? word | LBX__VELA_HANDLING
               : word;
}

/* A caller wants to handle a message while the loop is running. */
static inline uint32_t
lbx__vela_word_on_deliver(uint32_t word)
{
    return lbx__vela_word_is(word, LBX_VELA_LOOP_RUNNING)
               ? word | LBX__VELA_HANDLING
               : word;
}

/* A caller wants to handle a message while the loop is not running. */
static inline uint32_t
lbx__vela_word_on_process(uint32_t word)
{
    return lbx__vela_word_is(word, LBX_VELA_LOOP_RUNNING) ||
                   lbx__vela_word_is(word, LBX_VELA_LOOP_STOPPING)
               ? word
               : word | LBX__VELA_HANDLING;
}

/* Handling ends, with an empty mailbox. */
static inline uint32_t
lbx__vela_word_on_empty(uint32_t word)
{
    return word & ~(uint32_t)LBX__VELA_HANDLING;
}

/* Handling ends; there may be more to do. */
static inline uint32_t
lbx__vela_word_on_release(uint32_t word)
{
    word &= ~(uint32_t)LBX__VELA_HANDLING;
    if (lbx__vela_word_is(word, LBX_VELA_LOOP_RUNNING) ||
        (lbx__vela_word_is(word, LBX_VELA_LOOP_STOPPING) &&
         !(word & LBX__VELA_PUMP_ENDED)))
        return word | LBX__VELA_NOTIFIED;
    return word;
}

/* ---- The pump ---- */

/* It has ended. A start that is under way will notify it, and learn that. */
static inline uint32_t
lbx__vela_word_on_pump_end(uint32_t word)
{
    word |= LBX__VELA_PUMP_ENDED;
    return word & LBX__VELA_STARTING
               ? word
               : lbx__vela_word_with(word, LBX_VELA_LOOP_STOPPING);
}

/* A notification was not delivered, because the pump has ended. */
static inline uint32_t
lbx__vela_word_on_undelivered(uint32_t word)
{
    word &= ~(uint32_t)LBX__VELA_NOTIFIED;
    return lbx__vela_word_with(word | LBX__VELA_PUMP_ENDED,
                               LBX_VELA_LOOP_STOPPING);
}

/* A notification was not sent, for lack of memory. */
static inline uint32_t
lbx__vela_word_on_unsent(uint32_t word)
{
    return word & ~(uint32_t)LBX__VELA_NOTIFIED;
}

/* The loop is stopped. */
static inline uint32_t
lbx__vela_word_on_end(uint32_t word)
{
    return lbx__vela_word_with(word & ~(uint32_t)LBX__VELA_PUMP_ENDED,
                               LBX_VELA_LOOP_STOPPED);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop's word: its state and four flags, and the rules by which it changes.
 *
 * Each rule is a function from a word to the next. One that does not apply
 * answers the word as it is. Nothing else changes the word, and every change is
 * one read-modify-write (L1 to L5 in loop.h).
 */
#ifndef LBX_ACTOR_LOOP_WORD_H
#define LBX_ACTOR_LOOP_WORD_H

#include <letterbox/actor/loop.h>

enum {
    LBX__LOOP_STATE = 7,     /* lbx_loop_state */
    LBX__LOOP_STARTING = 8,  /* a start is under way; the state is as before */
    LBX__LOOP_TOLD = 16,     /* a ring is on its way to the pump */
    LBX__LOOP_HANDLING = 32, /* somebody may take and handle messages */
    LBX__LOOP_GONE = 64,     /* the pump has ended */
};

typedef uint32_t lbx__loop_rule(uint32_t word);

static inline lbx_loop_state
lbx__loop_state(uint32_t word)
{
    return (lbx_loop_state)(word & LBX__LOOP_STATE);
}

static inline bool
lbx__loop_is(uint32_t word, lbx_loop_state state)
{
    return lbx__loop_state(word) == state;
}

static inline uint32_t
lbx__loop_with(uint32_t word, lbx_loop_state state)
{
    return (word & ~(uint32_t)LBX__LOOP_STATE) | (uint32_t)state;
}

/* Has nothing left to do but to be called stopped. */
static inline bool
lbx__loop_is_over(uint32_t word)
{
    return lbx__loop_is(word, LBX_LOOP_STOPPING) && (word & LBX__LOOP_GONE) &&
           !(word & (LBX__LOOP_TOLD | LBX__LOOP_HANDLING));
}

/* ---- What users ask for ---- */

static inline uint32_t
lbx__loop_on_begin(uint32_t word)
{
    if (lbx__loop_is(word, LBX_LOOP_IDLE) ||
        lbx__loop_is(word, LBX_LOOP_STOPPED))
        return word | LBX__LOOP_STARTING;
    return word;
}

static inline uint32_t
lbx__loop_on_give_up(uint32_t word)
{
    return word & ~(uint32_t)LBX__LOOP_STARTING;
}

static inline uint32_t
lbx__loop_on_start(uint32_t word)
{
    word &= ~(uint32_t)LBX__LOOP_STARTING;
    return lbx__loop_with(word, LBX_LOOP_RUNNING) | LBX__LOOP_TOLD;
}

static inline uint32_t
lbx__loop_on_pause(uint32_t word)
{
    return lbx__loop_is(word, LBX_LOOP_RUNNING)
               ? lbx__loop_with(word, LBX_LOOP_PAUSED)
               : word;
}

static inline uint32_t
lbx__loop_on_resume(uint32_t word)
{
    return lbx__loop_is(word, LBX_LOOP_PAUSED)
               ? lbx__loop_with(word, LBX_LOOP_RUNNING) | LBX__LOOP_TOLD
               : word;
}

static inline uint32_t
lbx__loop_on_stop(uint32_t word)
{
    if (lbx__loop_is(word, LBX_LOOP_RUNNING) ||
        lbx__loop_is(word, LBX_LOOP_PAUSED))
        return lbx__loop_with(word, LBX_LOOP_STOPPING) | LBX__LOOP_TOLD;
    return word;
}

/* ---- Messages ---- */

static inline uint32_t
lbx__loop_on_send(uint32_t word)
{
    return lbx__loop_is(word, LBX_LOOP_RUNNING) ? word | LBX__LOOP_TOLD : word;
}

/* The pump has got its ring. */
static inline uint32_t
lbx__loop_on_turn(uint32_t word)
{
    word &= ~(uint32_t)LBX__LOOP_TOLD;
    return lbx__loop_is(word, LBX_LOOP_RUNNING) ? word | LBX__LOOP_HANDLING
                                                : word;
}

/* Somebody else wants to handle a message while the loop is running. */
static inline uint32_t
lbx__loop_on_deliver(uint32_t word)
{
    return lbx__loop_is(word, LBX_LOOP_RUNNING) ? word | LBX__LOOP_HANDLING
                                                : word;
}

/* The same while it is not. */
static inline uint32_t
lbx__loop_on_process(uint32_t word)
{
    return lbx__loop_is(word, LBX_LOOP_RUNNING) ||
                   lbx__loop_is(word, LBX_LOOP_STOPPING)
               ? word
               : word | LBX__LOOP_HANDLING;
}

/* Whoever was handling has seen an empty mailbox. */
static inline uint32_t
lbx__loop_on_empty(uint32_t word)
{
    return word & ~(uint32_t)LBX__LOOP_HANDLING;
}

/* Whoever was handling may have left something to do. */
static inline uint32_t
lbx__loop_on_release(uint32_t word)
{
    word &= ~(uint32_t)LBX__LOOP_HANDLING;
    if (lbx__loop_is(word, LBX_LOOP_RUNNING) ||
        (lbx__loop_is(word, LBX_LOOP_STOPPING) && !(word & LBX__LOOP_GONE)))
        return word | LBX__LOOP_TOLD;
    return word;
}

/* ---- The pump ---- */

/* It has ended. A start that is under way will ring, and then hear of it. */
static inline uint32_t
lbx__loop_on_gone(uint32_t word)
{
    word |= LBX__LOOP_GONE;
    return word & LBX__LOOP_STARTING ? word
                                     : lbx__loop_with(word, LBX_LOOP_STOPPING);
}

/* A ring did not arrive, because it has ended. */
static inline uint32_t
lbx__loop_on_unheard(uint32_t word)
{
    word &= ~(uint32_t)LBX__LOOP_TOLD;
    return lbx__loop_with(word | LBX__LOOP_GONE, LBX_LOOP_STOPPING);
}

/* A ring was not sent, for lack of memory. */
static inline uint32_t
lbx__loop_on_unsent(uint32_t word)
{
    return word & ~(uint32_t)LBX__LOOP_TOLD;
}

/* All is done. */
static inline uint32_t
lbx__loop_on_end(uint32_t word)
{
    return lbx__loop_with(word & ~(uint32_t)LBX__LOOP_GONE, LBX_LOOP_STOPPED);
}

#endif

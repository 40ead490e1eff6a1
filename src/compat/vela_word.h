/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop's word: its state and four flags, and the rules by which it changes.
 *
 * Each rule is a function from a word to the next. One that does not apply
 * answers the word as it is. Nothing else changes the word, and every change is
 * one read-modify-write (L1 to L5 in loop.h).
 */
#ifndef LBX_COMPAT_VELA_WORD_H
#define LBX_COMPAT_VELA_WORD_H

#include <letterbox/compat/vela.h>

enum {
    LBX__VELA_LOOP_STATE = 7, /* lbx_vela_loop_state */
    LBX__VELA_LOOP_STARTING =
        8,                    /* a start is under way; the state is as before */
    LBX__VELA_LOOP_TOLD = 16, /* a ring is on its way to the pump */
    LBX__VELA_LOOP_HANDLING = 32, /* somebody may take and handle messages */
    LBX__VELA_LOOP_GONE = 64,     /* the pump has ended */
};

typedef uint32_t lbx__vela_loop_rule(uint32_t word);

static inline lbx_vela_loop_state
lbx__vela_loop_state(uint32_t word)
{
    return (lbx_vela_loop_state)(word & LBX__VELA_LOOP_STATE);
}

static inline bool
lbx__vela_loop_is(uint32_t word, lbx_vela_loop_state state)
{
    return lbx__vela_loop_state(word) == state;
}

static inline uint32_t
lbx__vela_loop_with(uint32_t word, lbx_vela_loop_state state)
{
    return (word & ~(uint32_t)LBX__VELA_LOOP_STATE) | (uint32_t)state;
}

/* Has nothing left to do but to be called stopped. */
static inline bool
lbx__vela_loop_is_over(uint32_t word)
{
    return lbx__vela_loop_is(word, LBX_VELA_LOOP_STOPPING) &&
           (word & LBX__VELA_LOOP_GONE) &&
           !(word & (LBX__VELA_LOOP_TOLD | LBX__VELA_LOOP_HANDLING));
}

/* ---- What users ask for ---- */

static inline uint32_t
lbx__vela_loop_on_begin(uint32_t word)
{
    if (lbx__vela_loop_is(word, LBX_VELA_LOOP_IDLE) ||
        lbx__vela_loop_is(word, LBX_VELA_LOOP_STOPPED))
        return word | LBX__VELA_LOOP_STARTING;
    return word;
}

static inline uint32_t
lbx__vela_loop_on_give_up(uint32_t word)
{
    return word & ~(uint32_t)LBX__VELA_LOOP_STARTING;
}

static inline uint32_t
lbx__vela_loop_on_start(uint32_t word)
{
    word &= ~(uint32_t)LBX__VELA_LOOP_STARTING;
    return lbx__vela_loop_with(word, LBX_VELA_LOOP_RUNNING) |
           LBX__VELA_LOOP_TOLD;
}

static inline uint32_t
lbx__vela_loop_on_pause(uint32_t word)
{
    return lbx__vela_loop_is(word, LBX_VELA_LOOP_RUNNING)
               ? lbx__vela_loop_with(word, LBX_VELA_LOOP_PAUSED)
               : word;
}

static inline uint32_t
lbx__vela_loop_on_resume(uint32_t word)
{
    return lbx__vela_loop_is(word, LBX_VELA_LOOP_PAUSED)
               ? lbx__vela_loop_with(word, LBX_VELA_LOOP_RUNNING) |
                     LBX__VELA_LOOP_TOLD
               : word;
}

static inline uint32_t
lbx__vela_loop_on_stop(uint32_t word)
{
    if (lbx__vela_loop_is(word, LBX_VELA_LOOP_RUNNING) ||
        lbx__vela_loop_is(word, LBX_VELA_LOOP_PAUSED))
        return lbx__vela_loop_with(word, LBX_VELA_LOOP_STOPPING) |
               LBX__VELA_LOOP_TOLD;
    return word;
}

/* ---- Messages ---- */

static inline uint32_t
lbx__vela_loop_on_send(uint32_t word)
{
    return lbx__vela_loop_is(word, LBX_VELA_LOOP_RUNNING)
               ? word | LBX__VELA_LOOP_TOLD
               : word;
}

/* The pump has got its ring. */
static inline uint32_t
lbx__vela_loop_on_turn(uint32_t word)
{
    word &= ~(uint32_t)LBX__VELA_LOOP_TOLD;
    return lbx__vela_loop_is(word, LBX_VELA_LOOP_RUNNING)
               ? word | LBX__VELA_LOOP_HANDLING
               : word;
}

/* Somebody else wants to handle a message while the loop is running. */
static inline uint32_t
lbx__vela_loop_on_deliver(uint32_t word)
{
    return lbx__vela_loop_is(word, LBX_VELA_LOOP_RUNNING)
               ? word | LBX__VELA_LOOP_HANDLING
               : word;
}

/* The same while it is not. */
static inline uint32_t
lbx__vela_loop_on_process(uint32_t word)
{
    return lbx__vela_loop_is(word, LBX_VELA_LOOP_RUNNING) ||
                   lbx__vela_loop_is(word, LBX_VELA_LOOP_STOPPING)
               ? word
               : word | LBX__VELA_LOOP_HANDLING;
}

/* Whoever was handling has seen an empty mailbox. */
static inline uint32_t
lbx__vela_loop_on_empty(uint32_t word)
{
    return word & ~(uint32_t)LBX__VELA_LOOP_HANDLING;
}

/* Whoever was handling may have left something to do. */
static inline uint32_t
lbx__vela_loop_on_release(uint32_t word)
{
    word &= ~(uint32_t)LBX__VELA_LOOP_HANDLING;
    if (lbx__vela_loop_is(word, LBX_VELA_LOOP_RUNNING) ||
        (lbx__vela_loop_is(word, LBX_VELA_LOOP_STOPPING) &&
         !(word & LBX__VELA_LOOP_GONE)))
        return word | LBX__VELA_LOOP_TOLD;
    return word;
}

/* ---- The pump ---- */

/* It has ended. A start that is under way will ring, and then hear of it. */
static inline uint32_t
lbx__vela_loop_on_gone(uint32_t word)
{
    word |= LBX__VELA_LOOP_GONE;
    return word & LBX__VELA_LOOP_STARTING
               ? word
               : lbx__vela_loop_with(word, LBX_VELA_LOOP_STOPPING);
}

/* A ring did not arrive, because it has ended. */
static inline uint32_t
lbx__vela_loop_on_unheard(uint32_t word)
{
    word &= ~(uint32_t)LBX__VELA_LOOP_TOLD;
    return lbx__vela_loop_with(word | LBX__VELA_LOOP_GONE,
                               LBX_VELA_LOOP_STOPPING);
}

/* A ring was not sent, for lack of memory. */
static inline uint32_t
lbx__vela_loop_on_unsent(uint32_t word)
{
    return word & ~(uint32_t)LBX__VELA_LOOP_TOLD;
}

/* All is done. */
static inline uint32_t
lbx__vela_loop_on_end(uint32_t word)
{
    return lbx__vela_loop_with(word & ~(uint32_t)LBX__VELA_LOOP_GONE,
                               LBX_VELA_LOOP_STOPPED);
}

#endif

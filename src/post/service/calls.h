/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of calls, linked through the words a call has for its store: a service
 * allocates nothing for a call, however long it waits.
 *
 * N1  A call is in one list, the one its note's `place` says, or in none
 *     (LBX__RUNNING, LBX__ENDED).
 * N2  Words and lists belong to the service's lock.
 */
#ifndef LBX_POST_CALLS_H
#define LBX_POST_CALLS_H

#include <letterbox/store_driver.h>

#include <assert.h>
#include <string.h>

/* Where a call is. */
typedef enum lbx__place {
    LBX__ASKED = 0, /* nobody has begun it */
    LBX__RUNNING,   /* a turn has it: it ends with what happens */
    LBX__WAITING,   /* a receive, in the list of its box */
    LBX__DONE,      /* `status` is its end, to be told when the lock is free */
    LBX__ENDED,     /* being told: not ours any more */
} lbx__place;

/* What is known of a call; fits a word. */
typedef struct lbx__note {
    uint8_t place;
    uint8_t given_up; /* cancelled while it was running */
    uint8_t given;    /* letters a waiting receive has been handed */
    int8_t status;
} lbx__note;

_Static_assert(sizeof(lbx__note) <= sizeof(void *), "a note is one word");
_Static_assert(LBX_MAX_BATCH <= UINT8_MAX, "given counts a batch");

enum {
    LBX__WORD_NEXT,
    LBX__WORD_BEFORE,
    LBX__WORD_NOTE,
    LBX__WORD_OF /* what it belongs to: a box that is waited on, a page */
};

typedef struct lbx__calls {
    lbx_call *first;
    lbx_call *last;
} lbx__calls;

static inline lbx__note
lbx__call_note(const lbx_call *call)
{
    lbx__note note;

    memcpy(&note, &call->words[LBX__WORD_NOTE], sizeof(note));
    return note;
}

static inline void
lbx__call_set_note(lbx_call *call, lbx__note note)
{
    memcpy(&call->words[LBX__WORD_NOTE], &note, sizeof(note));
}

static inline void
lbx__call_move(lbx_call *call, lbx__place place)
{
    lbx__note note = lbx__call_note(call);

    note.place = (uint8_t)place;
    lbx__call_set_note(call, note);
}

static inline lbx_call *
lbx__call_next(const lbx_call *call)
{
    return call->words[LBX__WORD_NEXT];
}

static inline void
lbx__calls_append(lbx__calls *list, lbx_call *call)
{
    call->words[LBX__WORD_NEXT] = NULL;
    call->words[LBX__WORD_BEFORE] = list->last;
    if (list->last)
        list->last->words[LBX__WORD_NEXT] = call;
    else
        list->first = call;
    list->last = call;
}

static inline void
lbx__calls_prepend(lbx__calls *list, lbx_call *call)
{
    call->words[LBX__WORD_NEXT] = list->first;
    call->words[LBX__WORD_BEFORE] = NULL;
    if (list->first)
        list->first->words[LBX__WORD_BEFORE] = call;
    else
        list->last = call;
    list->first = call;
}

static inline void
lbx__calls_remove(lbx__calls *list, lbx_call *call)
{
    lbx_call *next = call->words[LBX__WORD_NEXT];
    lbx_call *before = call->words[LBX__WORD_BEFORE];

    if (next)
        next->words[LBX__WORD_BEFORE] = before;
    else
        list->last = before;
    if (before)
        before->words[LBX__WORD_NEXT] = next;
    else
        list->first = next;
}

static inline lbx_call *
lbx__calls_pop(lbx__calls *list)
{
    lbx_call *call = list->first;

    if (call)
        lbx__calls_remove(list, call);
    return call;
}

#endif

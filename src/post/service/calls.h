/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of calls, linked through the words that a call has for its store: the
 * service allocates nothing for a call, however long it waits.
 *
 * CALLS-1  A call is in one list, the one of its phase, or in none
 *          (LBX__CALL_RUNNING, LBX__CALL_FINISHING).
 * CALLS-2  The service's lock protects words and lists.
 */
#ifndef LBX_POST_SERVICE_CALLS_H
#define LBX_POST_SERVICE_CALLS_H

#include <letterbox/store_driver.h>

#include <assert.h>
#include <string.h>

typedef enum lbx__call_phase {
    LBX__CALL_QUEUED = 0, /* no batch has it yet */
    LBX__CALL_RUNNING,    /* a batch has it: it ends with what happens */
    LBX__CALL_WAITING,    /* a receive, in the list of its box */
    LBX__CALL_DONE,       /* `status` is final; finished without the lock */
    LBX__CALL_FINISHING,  /* no longer the service's */
} lbx__call_phase;

/* What the service knows of a call; fits a word. */
typedef struct lbx__call_note {
    uint8_t phase;
    uint8_t cancelled; /* while it was running */
    uint8_t delivered; /* letters that a waiting receive has had */
    int8_t status;
} lbx__call_note;

_Static_assert(sizeof(lbx__call_note) <= sizeof(void *), "a note is one word");
_Static_assert(LBX_MAX_BATCH <= UINT8_MAX, "delivered counts letters");

enum {
    LBX__CALL_NEXT,
    LBX__CALL_PREVIOUS,
    LBX__CALL_NOTE,
    LBX__CALL_OWNER /* a box with waiters, a page, or the list of a done call */
};

typedef struct lbx__calls {
    lbx_call *first;
    lbx_call *last;
} lbx__calls;

static inline lbx__call_note
lbx__call_get_note(const lbx_call *call)
{
    lbx__call_note note;

    memcpy(&note, &call->words[LBX__CALL_NOTE], sizeof(note));
    return note;
}

static inline void
lbx__call_set_note(lbx_call *call, lbx__call_note note)
{
    memcpy(&call->words[LBX__CALL_NOTE], &note, sizeof(note));
}

static inline void
lbx__call_set_phase(lbx_call *call, lbx__call_phase phase)
{
    lbx__call_note note = lbx__call_get_note(call);

    note.phase = (uint8_t)phase;
    lbx__call_set_note(call, note);
}

static inline lbx_call *
lbx__call_next(const lbx_call *call)
{
    return call->words[LBX__CALL_NEXT];
}

static inline void
lbx__calls_append(lbx__calls *list, lbx_call *call)
{
    call->words[LBX__CALL_NEXT] = NULL;
    call->words[LBX__CALL_PREVIOUS] = list->last;
    if (list->last)
        list->last->words[LBX__CALL_NEXT] = call;
    else
        list->first = call;
    list->last = call;
}

static inline void
lbx__calls_prepend(lbx__calls *list, lbx_call *call)
{
    call->words[LBX__CALL_NEXT] = list->first;
    call->words[LBX__CALL_PREVIOUS] = NULL;
    if (list->first)
        list->first->words[LBX__CALL_PREVIOUS] = call;
    else
        list->last = call;
    list->first = call;
}

static inline void
lbx__calls_remove(lbx__calls *list, lbx_call *call)
{
    lbx_call *next = call->words[LBX__CALL_NEXT];
    lbx_call *previous = call->words[LBX__CALL_PREVIOUS];

    if (next)
        next->words[LBX__CALL_PREVIOUS] = previous;
    else
        list->last = previous;
    if (previous)
        previous->words[LBX__CALL_NEXT] = next;
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

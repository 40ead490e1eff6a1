/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies, and other letters that are sent as one is settled: the postbox they
 * go to, and their packed draft.
 *
 * REPLY-1  A reply is sent before its letter is acknowledged, or in one step
 *          with it; never after.
 * REPLY-2  It carries the letter's id, the same on each delivery.
 */
#ifndef LBX_POST_REPLY_H
#define LBX_POST_REPLY_H

#include "post/letter.h"
#include "post/postbox.h"

typedef struct lbx__reply {
    lbx_postbox *to; /* a reference; NULL: no reply */
    lbx_draft draft;
    lbx__draft_packed packed;
    lbx_attachment attachment; /* used when both are in one store */
    lbx_sent_letter sent;
} lbx__reply;

/* Finds the postbox by the letter's routes and packs the draft. Statuses as of
 * lbx_letter_reply(). Must be finished whatever the result. */
lbx_status lbx__reply_init(lbx__reply *reply, const lbx_letter *letter,
                           const lbx_draft *given, lbx_fault *fault);
void lbx__reply_fini(lbx__reply *reply);

/* The same for a letter to a postbox of the caller. Statuses as of a send. */
lbx_status lbx__reply_init_to(lbx__reply *reply, const lbx_letter *letter,
                              const lbx_draft *draft, lbx_postbox *to);

/* A request to send it by itself. */
lbx_send_request lbx__reply_request(lbx__reply *reply);

#endif

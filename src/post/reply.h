/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies, and other letters that are sent as one is settled: where one goes, and
 * as what.
 *
 * P1  A reply is sent before its letter is acknowledged, or in one step with it;
 *     never after.
 * P2  It carries the letter's id, the same each time.
 */
#ifndef LBX_POST_REPLY_H
#define LBX_POST_REPLY_H

#include "post/letter.h"
#include "post/postbox.h"

typedef struct lbx__reply {
    lbx_postbox *to; /* counted; NULL: there is none */
    lbx_draft draft;
    lbx__draft_packed packing;
    lbx_attachment attachment; /* where both live in one store */
    lbx_sent sent;
} lbx__reply;

/* Finds the place and packs the draft. As lbx_letter_reply() answers; the reply
 * is to be ended whatever the answer. */
lbx_status lbx__reply_init(lbx__reply *reply, const lbx_letter *letter,
                           const lbx_draft *draft, lbx_fault *fault);
void lbx__reply_fini(lbx__reply *reply);

/* The same for a letter to a postbox of the caller's, as a send to it answers. */
lbx_status lbx__reply_init_to(lbx__reply *reply, const lbx_letter *letter,
                              const lbx_draft *draft, lbx_postbox *to);

/* A request to send it by itself. */
lbx_send_request lbx__reply_request(lbx__reply *reply);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What actions that create or change a queue have in common. */
#ifndef LBX_SERVER_SQS_CHANGE_H
#define LBX_SERVER_SQS_CHANGE_H

#include "server/sqs/attributes.h"
#include "server/sqs/request.h"

/* Fails for an input without a parameter that it needs. */
void lbx__change_fail_missing(lbx__request *request, const char *parameter);

/* The same for a status of CREATE or CONFIGURE with the options of a draft:
 * what is wrong with the dead-letter queue. */
void lbx__change_fail_status(lbx__request *request,
                             const lbx__queue_draft *draft, lbx_status status);

/* Reads the queue of the request anew: its own changes are based on that. */
void lbx__change_refresh(lbx__request *request, lbx_box_counts *counts,
                         lbx__request_step *step);

/* The same, for a change: until the request is answered, no other request of
 * this process changes the queue (CHLOCK-1). */
void lbx__change_begin(lbx__request *request, lbx__request_step *step);

/* Changes the queue's options, unless NULL, and texts. */
void lbx__change_configure(lbx__request *request,
                           const lbx_box_options *options,
                           const lbx_box_text *texts, size_t count,
                           lbx__request_step *step);

/* A step: the queue was changed; there is no output. */
void lbx__change_done(lbx__request *request, lbx_status status);

/* Seconds since 1970 in the arena; NULL: no memory. */
const char *lbx__change_time(lbx__request *request);

/* A copy of a text in the arena, with a prefix. NULL: no memory. */
const char *lbx__change_text(lbx__request *request, const char *prefix,
                             lbx__slice text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of queues: texts of the box, "tag:NAME". */
#ifndef LBX_SERVER_SQS_TAGS_H
#define LBX_SERVER_SQS_TAGS_H

#include "server/sqs/request.h"

/* Whether they are allowed, on a queue of this name without others. False: the
 * fault has why. */
bool lbx__tags_check(const lbx__sqs_pairs *tags, const char *queue,
                     lbx__sqs_fault *fault);

/* Writes the texts of the request's tags, as many as there are. False: no
 * memory. */
bool lbx__tags_make(lbx__request *request, lbx_box_text *ret);

#endif

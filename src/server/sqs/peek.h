/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a queue without receiving them, for /_aws/sqs/messages. */
#ifndef LBX_SERVER_SQS_PEEK_H
#define LBX_SERVER_SQS_PEEK_H

#include "server/sqs/request.h"

/* Shows up to MaxResults messages of request->queue from the sequence in
 * NextToken on, as a receive does that asks for all attributes; leased and
 * delayed ones with ShowInvisible and ShowDelayed. The reply has a NextToken
 * when there may be more. */
void lbx__peek_start(lbx__request *request);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the three batches have in common: the rules of their entries, and a
 * result with an outcome for each entry, in their order.
 *
 * SQBAT-1  An entry that fails does not prevent the others.
 */
#ifndef LBX_SERVER_SQS_BATCH_H
#define LBX_SERVER_SQS_BATCH_H

#include "server/sqs/request.h"

/* What became of an entry. */
typedef struct lbx__batch_result {
    lbx__sqs_error error; /* LBX__SQS_OK: it succeeded */
    const char *text;     /* of the error */
} lbx__batch_result;

/* Checks how many entries there are, and their ids. False: the request was
 * answered. */
bool lbx__batch_check(lbx__request *request);

/* An entry fails; the fault's text is copied. */
void lbx__batch_refuse(lbx__request *request, lbx__batch_result *result,
                       const lbx__sqs_fault *fault);

/* The result of a call of the store for an entry. */
void lbx__batch_set_status(lbx__batch_result *result, lbx_status status);

/* Answers with what became of each entry. `members`, unless NULL, writes more
 * than the id of one that succeeded. */
void lbx__batch_finish(lbx__request *request, const lbx__batch_result *results,
                       void (*members)(lbx__request *request, size_t index));

#endif

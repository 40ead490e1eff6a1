/* SPDX-License-Identifier: Apache-2.0 */
/* The table of errors; see error.h. */
#include "server/sqs/error.h"

#include <assert.h>
#include <stddef.h>

#define SPACE_sqs   "com.amazonaws.sqs#"
#define SPACE_coral "com.amazon.coral.service#"

/* Behind the row of LBX__SQS_OK, which is none. */
static const lbx__sqs_error_row sqs_errors[] = {{NULL, NULL, 200, false},
#define XX(name, space, code, status)                                          \
    {SPACE_##space #name, code, status, (status) < 500},
                                                LBX__SQS_ERRORS(XX)
#undef XX
};

const lbx__sqs_error_row *
lbx__sqs_error_row_of(lbx__sqs_error error)
{
    assert(error > LBX__SQS_OK &&
           (size_t)error < sizeof(sqs_errors) / sizeof(sqs_errors[0]));
    return &sqs_errors[error];
}

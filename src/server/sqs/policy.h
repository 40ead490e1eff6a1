/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Policy of a queue, as AddPermission and RemovePermission edit it: a
 * statement is added or taken out, and the rest stays as it is written.
 */
#ifndef LBX_SERVER_SQS_POLICY_H
#define LBX_SERVER_SQS_POLICY_H

#include "base/arena.h"
#include "base/slice.h"
#include <letterbox/type.h>

/* A member of the policy, or a statement: JSON in the policy's text. */
typedef struct lbx__policy_part {
    struct lbx__policy_part *next;
    const char *name; /* of a member */
    lbx__slice json;
    bool has_label; /* a statement whose Sid is the label */
} lbx__policy_part;

typedef struct lbx__policy {
    lbx__policy_part *members; /* all but Statement */
    lbx__policy_part *statements;
    size_t count;   /* of statements */
    bool has_label; /* one of them has it */
} lbx__policy;

/* Reads a policy, and looks for a label among its statements. The text must
 * outlive it. False: it is no policy, or there is no memory. */
bool lbx__policy_read(lbx__policy *policy, lbx__arena *arena,
                      const lbx_allocator *allocator, lbx__slice text,
                      const char *label);

/* Writes it: without the statement that has the label, or, unless NULL bytes,
 * with one more, which is JSON. */
void lbx__policy_write(const lbx__policy *policy, lbx__slice more,
                       lbx_buffer *out);

#endif

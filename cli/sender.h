/* SPDX-License-Identifier: Apache-2.0 */
/* Records become messages of a box, up to ten in one step. */
#ifndef LBX_CLI_SENDER_H
#define LBX_CLI_SENDER_H

#include "attributes.h"
#include "output.h"
#include "reader.h"

/* What all messages have in common. */
struct cli_sender_options {
    bool quiet; /* do not print ids */
    int64_t delay_ns;
    const char *group;
    const char *dedup_id; /* of the first; the second has ID-2 */
    const char *token;    /* the same */
    const char *type;
    const char *trace;
};

struct cli_sender {
    const struct cli_sender_options *options;
    struct cli_attributes attributes;
    struct cli_target target;
    struct cli_out out;
    uint64_t count;     /* messages that were sent */
    const char *source; /* "line" of standard input, "argument" */
    int code;           /* of what failed */
};

/* Sends records in groups that are not larger than the box allows, and prints
 * their ids. False when one was refused, after a complaint, or the ids could
 * not be printed. */
bool cli_sender_send(struct cli_sender *sender,
                     const struct cli_record *records, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of messages, as they are typed: NAME=VALUE, NAME:Number=1. */
#ifndef LBX_CLI_ATTRIBUTES_H
#define LBX_CLI_ATTRIBUTES_H

#include "cli.h"

enum {
    CLI_ATTRIBUTE_BYTES = 264 /* of a name, and of a label, with the NUL */
};

struct cli_attributes {
    lbx_attribute items[CLI_LIST_MOST];
    size_t count;
    int64_t bytes; /* of all, as SQS counts: names, types, values */
    char names[CLI_LIST_MOST][CLI_ATTRIBUTE_BYTES];
    char labels[CLI_LIST_MOST][CLI_ATTRIBUTE_BYTES];
};

/* CLI_OK, or CLI_USAGE after a complaint. Values stay in the list's texts. */
int cli_attributes_read(const struct cli_call *call,
                        const struct cli_list *list,
                        struct cli_attributes *ret);

#endif

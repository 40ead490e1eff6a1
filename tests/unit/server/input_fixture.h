/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that tests read, in either wire format. */
#ifndef LBX_TEST_SERVER_INPUT_FIXTURE_H
#define LBX_TEST_SERVER_INPUT_FIXTURE_H

#include "server/sqs/input.h"

struct input_read {
    lbx__arena arena;
    lbx__sqs_input input;
    lbx__sqs_fault fault;
    lbx__slice action;
    bool fits;
};

/* Reads a text; ended by input_done(). */
void input_json(struct input_read *read, const char *text);
void input_query(struct input_read *read, const char *form, const char *query);
void input_done(struct input_read *read);

/* Reads a text that must be refused, with a text that has `part`. */
void check_json_fault(const char *text, lbx__sqs_error error, const char *part);
void check_query_fault(const char *form, lbx__sqs_error error,
                       const char *part);

/* Checks a text of an input, with the NUL behind it. */
void check_text(const char *expected, lbx__slice text);

#endif

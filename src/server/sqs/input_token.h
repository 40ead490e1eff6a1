/* SPDX-License-Identifier: Apache-2.0 */
/* What input_json.c is made of: the single values of a JSON input, and what is
 * wrong with them. All but _open() and _member() return false for a fault. */
#ifndef LBX_SERVER_SQS_INPUT_TOKEN_H
#define LBX_SERVER_SQS_INPUT_TOKEN_H

#include "codec/json.h"
#include "server/sqs/input_table.h"

typedef struct lbx__input_json {
    lbx__json json;
    lbx__arena *arena;
    lbx__sqs_input *input;
    lbx__sqs_fault *fault;
    size_t members; /* so far */
} lbx__input_json;

/* The text is no JSON, or too much of it. */
bool lbx__input_token_fail(lbx__input_json *in);

/* It is JSON, but a value has another kind than it should have. */
bool lbx__input_token_fail_kind(lbx__input_json *in, const char *name,
                                const char *wanted);

/* The same where a scalar is wanted, "a String" or "an Integer": another scalar
 * is refused in the words of AWS, anything else in ours. */
bool lbx__input_token_fail_scalar(lbx__input_json *in, const char *name,
                                  const char *wanted, const char *ours);

/* The next member of an object: true and its name is the token; false at the
 * end, or for a fault, when *failed is set. */
bool lbx__input_token_member(lbx__input_json *in, bool *failed);

/* Begins a list or a map. False for null, and for a fault, when *failed is
 * set. */
bool lbx__input_token_open(lbx__input_json *in, const char *name,
                           lbx__json_kind wanted, bool *failed);

/* Copies the token, a name or a string, decoded. */
bool lbx__input_token_copy(lbx__input_json *in, lbx__slice *ret);

/* The value of a member; null leaves it absent. A body with characters that
 * JSON cannot express is no syntax error, but InvalidMessageContents. */
bool lbx__input_token_text(lbx__input_json *in, const char *name,
                           lbx__slice *ret);
bool lbx__input_token_body(lbx__input_json *in, const char *name,
                           lbx__slice *ret);
bool lbx__input_token_number(lbx__input_json *in, const char *name,
                             lbx__sqs_number *ret);

#endif

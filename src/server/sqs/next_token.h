/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NextTokens: where the next page of a list begins.
 *
 * That of a list of queues is base64 of eight bytes and the last name of the
 * page before: the eight bytes are a hash of the name, the action, the account
 * and the region. That is no protection, and needs none: a forged token shows
 * what the caller may see anyway. It keeps a token from being used where it
 * does not belong. That of a list of messages is a sequence number in decimal.
 *
 * Threads    any.
 */
#ifndef LBX_SERVER_SQS_NEXT_TOKEN_H
#define LBX_SERVER_SQS_NEXT_TOKEN_H

#include "server/sqs/queue.h"

enum {
    LBX__NEXT_TOKEN_BYTES = 8 + LBX_BOX_NAME_BYTES, /* before base64 */
    LBX__NEXT_TOKEN_TEXT = (LBX__NEXT_TOKEN_BYTES + 2) / 3 * 4 + 1
};

/* The list that a token belongs to. */
typedef struct lbx__next_token_list {
    const char *action;
    const lbx__world *world;
} lbx__next_token_list;

/* `name` is that of a box. */
void lbx__next_token_write(const lbx__next_token_list *list, const char *name,
                           char text[LBX__NEXT_TOKEN_TEXT]);

/* False: it is no token of this list. */
bool lbx__next_token_read(const lbx__next_token_list *list, lbx__slice text,
                          char name[LBX_BOX_NAME_BYTES]);

/* An empty text is 0. False: it is no number, or one that does not fit. */
bool lbx__next_token_read_sequence(lbx__slice text, uint64_t *ret);

#endif

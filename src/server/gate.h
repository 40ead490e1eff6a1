/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate: whose request it is. Every request passes it once, before anything
 * else is decided.
 *
 * GATE-1  With keys, a request is admitted only with a valid signature of one
 *         of them, and acts for the account of that key.
 * GATE-2  Without keys nothing is checked: account and region are those that
 *         the request says it is signed for, or the home ones. An access key
 *         of 12 digits is an account.
 * GATE-3  Keys are replaced as a whole; a request is checked against one set.
 */
#ifndef LBX_SERVER_GATE_H
#define LBX_SERVER_GATE_H

#include "base/lock.h"
#include "http/exchange.h"
#include "server/sqs/error.h"
#include "server/sqs/queue.h"
#include <letterbox/server.h>

typedef struct lbx__keys lbx__keys; /* a set of keys; GATE-3 */

typedef struct lbx__gate {
    const lbx_allocator *allocator;
    const lbx__world *home;
    lbx__lock lock;  /* of the pointer */
    lbx__keys *keys; /* a reference; NULL: none */
} lbx__gate;

void lbx__gate_init(lbx__gate *gate, const lbx_allocator *allocator,
                    const lbx__world *home);
void lbx__gate_fini(lbx__gate *gate);

/* Whether they can be taken. */
lbx_status lbx__gate_check_keys(const lbx_server_key *keys, size_t count,
                                lbx_fault *fault);

/* Takes copies of the keys in place of those it has. */
lbx_status lbx__gate_set_keys(lbx__gate *gate, const lbx_server_key *keys,
                              size_t count, lbx_fault *fault);

bool lbx__gate_is_open(lbx__gate *gate); /* it has no keys */

/* LBX__SQS_OK and whose it is; or an error and its text. */
lbx__sqs_error lbx__gate_admit(lbx__gate *gate,
                               const lbx__http_request *request,
                               lbx__world *ret, const char **ret_text);

/* Whether a body is worth reading, as far as the head tells: with keys, only
 * one that a known key claims to have signed. lbx__gate_admit() refuses the
 * others for the same reason, whatever their body. */
bool lbx__gate_may_admit(lbx__gate *gate, const lbx__http_request *request);

/* Whether a text can be an account (12 digits) or a region. */
bool lbx__gate_is_account(lbx__slice text);
bool lbx__gate_is_region(lbx__slice text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A courier whose handler fails, and what is seen of it: the dead letter that
 * is put aside, and a diary of what was done to the stores.
 */
#ifndef LBX_TEST_COURIER_FAILING_H
#define LBX_TEST_COURIER_FAILING_H

#include "fixture.h"

/* A handler: fails with shop.BadOrder, "no address". */
lbx_status fail_badly(lbx_job *job, void *context);

/* Opens a fixture with fail_badly(), whose dead letters go to `dead` at that
 * delivery. */
void open_with_policy(struct fixture *fx, uint32_t deliveries);

/* The record in a dead letter, which is the letter's. */
lbx_dead_letter_record *record_in(lbx_letter *letter);

/* Writes down what was done to the stores: R a reply, D a dead letter, A an
 * acknowledgement, B both in one step, N a nack; fails at the given one. */
struct diary {
    char text[32];
    int fail_at; /* from 1; 0: never */
    lbx_status status;
};

/* For fixture_before(); `context` is the diary. */
lbx_status write_down(void *context, lbx_call_kind verb, const void *request);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inquest: an actor, a, that asks another, b, and writes down each result that
 * its pipes end in.
 *
 *     INQUEST_TEST(ask_inside_is_answered)
 *     {
 *         struct inquiry inquiry = {inquest->b.self, 21, -1, 7, LBX_OK};
 *
 *         bid(&inquest->a, inquest_ask, &inquiry);
 *         CHECK_DIARY(&inquest->world, "b:21 a=OK#7:42");
 *     }
 */
#ifndef LBX_TEST_ACTOR_INQUEST_H
#define LBX_TEST_ACTOR_INQUEST_H

#include "actor/fixture.h"

/* a asks, b answers. */
struct inquest {
    struct world world;
    struct part a;
    struct part b;
};

/* What a part is told to ask. */
struct inquiry {
    lbx_ref to;
    int number;
    int64_t timeout_ns;
    uint64_t correlation;
    lbx_status expected;
};

/* A deed: asks; its argument is the inquiry. */
lbx_status inquest_ask(lbx_context *context, struct part *part, void *argument);

/* Writes NAME=STATUS#CORRELATION:ANSWER for a result, and fails for a result
 * with correlation 99. */
lbx_status inquest_write_result(lbx_context *context, struct part *part,
                                void *message);

/* Answers with twice the number; a number of FAILS or above not at all. */
lbx_status inquest_answer(lbx_context *context, struct part *part,
                          void *message);

/* Spawns both. */
void inquest_begin(struct inquest *inquest);

/* Ends the world: every message but the orders was ended. */
void inquest_check_ended(struct inquest *inquest, long letters);

#define INQUEST_TEST(name)                                                     \
    FIXTURE_TEST(inquest, "", name, inquest_begin(inquest),                    \
                 world_end(&inquest->world))

#endif

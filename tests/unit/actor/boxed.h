/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of actors on mailboxes of their own share. */
#ifndef LBX_TEST_ACTOR_BOXED_H
#define LBX_TEST_ACTOR_BOXED_H

#include <letterbox/mailbox.h>

#include "actor/fixture.h"

lbx_mailbox_options boxed_bounded(int64_t capacity, lbx_overflow overflow,
                                  int64_t wait_ns);

/* A priority: high 0, other 1, low 2, by the tens of a letter's number; the
 * pill 3. */
bool boxed_rank(const void *message, void *context, int32_t *ret);

/* A deed: tells 1 to 4 to the part that is its argument. */
lbx_status boxed_tell_four(lbx_context *context, struct part *part,
                           void *argument);

lbx_actor_stats boxed_stats(const struct part *part);

#endif

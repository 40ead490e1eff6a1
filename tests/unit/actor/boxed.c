/* SPDX-License-Identifier: Apache-2.0 */
/* Mailboxes, priorities and deeds; boxed.h. */
#include "actor/boxed.h"

#include <letterbox/compat/akka.h>

lbx_mailbox_options
boxed_bounded(int64_t capacity, lbx_overflow overflow, int64_t wait_ns)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    options.capacity_messages = capacity;
    options.overflow = overflow;
    options.wait_ns = wait_ns;
    return options;
}

bool
boxed_rank(const void *message, void *context, int32_t *ret)
{
    int number = message == lbx_poison_pill() ? 3 : number_of(message) / 10;

    (void)context;
    *ret = number;
    return true;
}

lbx_status
boxed_tell_four(lbx_context *context, struct part *part, void *argument)
{
    const struct part *to = argument;

    (void)context;
    for (int i = 1; i <= 4; i++)
        lbx_tell(to->self, letter(i));
    world_write(part->world, "told");
    return LBX_OK;
}

lbx_actor_stats
boxed_stats(const struct part *part)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    CHECK_OK(lbx_ref_stats_read(part->self, &stats));
    return stats;
}

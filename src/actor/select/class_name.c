/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Class names in settings: one table, from class to the library's own name.
 *
 * Priority mailboxes always keep equal messages in order of arrival, so that a
 * class for stable order and its unstable twin have the same name here.
 */
#include "actor/select/class_name.h"

#include <letterbox/mailbox/factory.h>
#include <string.h>

static const struct {
    const char *name; /* without its prefix */
    const char *own;
} class_names[] = {
    {"dispatch.UnboundedMailbox", LBX_KIND_UNBOUNDED},
    {"dispatch.SingleConsumerOnlyUnboundedMailbox",
     LBX_KIND_UNBOUNDED_SINGLE_CONSUMER},
    {"dispatch.BoundedMailbox", LBX_KIND_BOUNDED},
    {"dispatch.NonBlockingBoundedMailbox", "non-blocking-bounded"},
    {"dispatch.UnboundedPriorityMailbox", LBX_KIND_UNBOUNDED_PRIORITY},
    {"dispatch.UnboundedStablePriorityMailbox", LBX_KIND_UNBOUNDED_PRIORITY},
    {"dispatch.BoundedPriorityMailbox", LBX_KIND_BOUNDED_PRIORITY},
    {"dispatch.BoundedStablePriorityMailbox", LBX_KIND_BOUNDED_PRIORITY},
    {"dispatch.UnboundedControlAwareMailbox", LBX_KIND_UNBOUNDED_CONTROL_AWARE},
    {"dispatch.BoundedControlAwareMailbox", LBX_KIND_BOUNDED_CONTROL_AWARE},
    {"dispatch.UnboundedDequeBasedMailbox", LBX_KIND_UNBOUNDED_DEQUE},
    {"dispatch.BoundedDequeBasedMailbox", LBX_KIND_BOUNDED_DEQUE},
    {"dispatch.DispatcherConfigurator", "Dispatcher"},
    {"dispatch.PinnedDispatcherConfigurator", "PinnedDispatcher"},
    {"dispatch.BalancingDispatcherConfigurator", "BalancingDispatcher"},
    {"testkit.CallingThreadDispatcherConfigurator", "CallingThreadDispatcher"},
    {"routing.RoundRobinPool", "round-robin-pool"},
    {"routing.SmallestMailboxPool", "smallest-mailbox-pool"},
    {"routing.BroadcastPool", "broadcast-pool"},
    {"routing.BalancingPool", "balancing-pool"},
};

static const char *
skip_prefix(const char *name)
{
    static const char *const prefixes[] = {"akka.", "pekko.",
                                           "org.apache.pekko."};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t length = strlen(prefixes[i]);

        if (strncmp(name, prefixes[i], length) == 0)
            return name + length;
    }
    return name;
}

const char *
lbx__class_name_translate(const char *name)
{
    const char *plain = skip_prefix(name);

    for (size_t i = 0; i < sizeof(class_names) / sizeof(class_names[0]); i++)
        if (strcmp(class_names[i].name, plain) == 0)
            return class_names[i].own;
    return name;
}

bool
lbx__class_name_equal(const char *a, const char *b)
{
    return strcmp(skip_prefix(a), skip_prefix(b)) == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements. */
#include "actor/select/requirement.h"

#include <string.h>

static const struct semantics {
    const char *name;
    uint32_t needs;
    uint32_t must_not;
} built_in[] = {
    {"akka.dispatch.MultipleConsumerSemantics", LBX_CAN_MULTI_CONSUME, 0},
    {"akka.dispatch.BoundedMessageQueueSemantics", LBX_CAN_BOUND, 0},
    {"akka.dispatch.UnboundedMessageQueueSemantics", 0, LBX_CAN_BOUND},
    {"akka.dispatch.DequeBasedMessageQueueSemantics", LBX_CAN_SEND_FRONT, 0},
    {"akka.dispatch.BoundedDequeBasedMessageQueueSemantics",
     LBX_CAN_SEND_FRONT | LBX_CAN_BOUND, 0},
    {"akka.dispatch.UnboundedDequeBasedMessageQueueSemantics",
     LBX_CAN_SEND_FRONT, LBX_CAN_BOUND},
    {"akka.dispatch.ControlAwareMessageQueueSemantics", LBX_CAN_CONTROL, 0},
    {"akka.dispatch.BoundedControlAwareMessageQueueSemantics",
     LBX_CAN_CONTROL | LBX_CAN_BOUND, 0},
    {"akka.dispatch.UnboundedControlAwareMessageQueueSemantics",
     LBX_CAN_CONTROL, LBX_CAN_BOUND},
    {"letterbox.PriorityMessageQueueSemantics", LBX_CAN_PRIORITIZE, 0},
    {"letterbox.BoundedPriorityMessageQueueSemantics",
     LBX_CAN_PRIORITIZE | LBX_CAN_BOUND, 0},
};

enum {
    BUILT_IN = sizeof(built_in) / sizeof(built_in[0])
};

static const struct word {
    uint32_t capability;
    const char *has_not; /* what a mailbox without it is not */
} words[] = {
    {LBX_CAN_BOUND, "it is not bounded"},
    {LBX_CAN_MULTI_CONSUME, "it is for one consumer only"},
    {LBX_CAN_SEND_FRONT, "it is no deque"},
    {LBX_CAN_CONTROL, "it is not control-aware"},
    {LBX_CAN_PRIORITIZE, "it has no priorities"},
    {LBX_CAN_BLOCK, "its senders do not wait"},
    {LBX_CAN_MULTI_PRODUCE, "it is for one producer only"},
};

const char *
lbx__class_name(const char *name)
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

bool
lbx__class_name_equal(const char *a, const char *b)
{
    return strcmp(lbx__class_name(a), lbx__class_name(b)) == 0;
}

static const struct semantics *
find(const char *name)
{
    for (size_t i = 0; i < BUILT_IN; i++)
        if (lbx__class_name_equal(built_in[i].name, name))
            return &built_in[i];
    return NULL;
}

bool
lbx__requirement_is_built_in(const char *name)
{
    return find(name) != NULL;
}

lbx__requirement
lbx__requirement_of(const char *name, uint32_t needs)
{
    lbx__requirement requirement = {.name = name, .needs = needs};
    const struct semantics *semantics = NULL;

    if (name && *name) {
        semantics = find(name);
        requirement.declared = !semantics;
    } else {
        requirement.name = NULL;
        for (size_t i = 0; i < BUILT_IN && needs != 0; i++)
            if (built_in[i].needs == needs && built_in[i].must_not == 0)
                requirement.name = built_in[i].name;
    }
    if (semantics) {
        requirement.needs |= semantics->needs;
        requirement.must_not = semantics->must_not;
    }
    return requirement;
}

bool
lbx__requirement_exists(const lbx__requirement *requirement)
{
    return requirement->name || requirement->needs != 0;
}

static bool
is_declared(const char *name, const char *const *semantics)
{
    for (; semantics && *semantics; semantics++)
        if (lbx__class_name_equal(*semantics, name))
            return true;
    return false;
}

const char *
lbx__requirement_lack(const lbx__requirement *requirement,
                      uint32_t capabilities, const char *const *semantics)
{
    uint32_t lacks = requirement->needs & ~capabilities;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (lacks & words[i].capability)
            return words[i].has_not;
    if (requirement->must_not & capabilities & LBX_CAN_BOUND)
        return "it is bounded";
    if (requirement->declared && !is_declared(requirement->name, semantics))
        return "its type does not declare that";
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requirements: a table of the names that stand for capabilities, and the map
 * from a requirement to a mailbox, `letterbox.actor.mailbox.requirements`. What
 * the user maps goes before what the reference maps.
 */
#include "actor/select/requirement.h"

#include "actor/select/class_name.h"
#include "actor/select/foreign_key.h"
#include "actor/select/section.h"

static const struct semantics {
    const char *name;
    uint32_t needs;
    uint32_t must_not;
} semantics_table[] = {
    {"akka.dispatch.MultipleConsumerSemantics", LBX_CAPABILITY_MULTI_CONSUME,
     0},
    {"akka.dispatch.BoundedMessageQueueSemantics", LBX_CAPABILITY_BOUND, 0},
    {"akka.dispatch.UnboundedMessageQueueSemantics", 0, LBX_CAPABILITY_BOUND},
    {"akka.dispatch.DequeBasedMessageQueueSemantics", LBX_CAPABILITY_SEND_FRONT,
     0},
    {"akka.dispatch.BoundedDequeBasedMessageQueueSemantics",
     LBX_CAPABILITY_SEND_FRONT | LBX_CAPABILITY_BOUND, 0},
    {"akka.dispatch.UnboundedDequeBasedMessageQueueSemantics",
     LBX_CAPABILITY_SEND_FRONT, LBX_CAPABILITY_BOUND},
    {"akka.dispatch.ControlAwareMessageQueueSemantics", LBX_CAPABILITY_CONTROL,
     0},
    {"akka.dispatch.BoundedControlAwareMessageQueueSemantics",
     LBX_CAPABILITY_CONTROL | LBX_CAPABILITY_BOUND, 0},
    {"akka.dispatch.UnboundedControlAwareMessageQueueSemantics",
     LBX_CAPABILITY_CONTROL, LBX_CAPABILITY_BOUND},
    {"letterbox.PriorityMessageQueueSemantics", LBX_CAPABILITY_PRIORITIZE, 0},
    {"letterbox.BoundedPriorityMessageQueueSemantics",
     LBX_CAPABILITY_PRIORITIZE | LBX_CAPABILITY_BOUND, 0},
};

enum {
    SEMANTICS = sizeof(semantics_table) / sizeof(semantics_table[0])
};

static const struct {
    uint32_t capability;
    const char *text; /* about a mailbox without it */
} lacks_table[] = {
    {LBX_CAPABILITY_BOUND, "it is not bounded"},
    {LBX_CAPABILITY_MULTI_CONSUME, "it is for one consumer only"},
    {LBX_CAPABILITY_SEND_FRONT, "it is no deque"},
    {LBX_CAPABILITY_CONTROL, "it is not control-aware"},
    {LBX_CAPABILITY_PRIORITIZE, "it has no priorities"},
    {LBX_CAPABILITY_BLOCK, "its senders do not wait"},
    {LBX_CAPABILITY_MULTI_PRODUCE, "it is for one producer only"},
};

static const struct semantics *
semantics_find(const char *name)
{
    for (size_t i = 0; i < SEMANTICS; i++)
        if (lbx__class_name_equal(semantics_table[i].name, name))
            return &semantics_table[i];
    return NULL;
}

lbx__requirement
lbx__requirement_of(const char *name, uint32_t needs)
{
    lbx__requirement requirement = {.name = name, .needs = needs};
    const struct semantics *semantics = NULL;

    if (name && *name) {
        semantics = semantics_find(name);
        requirement.declared = !semantics;
    } else {
        requirement.name = NULL;
        for (size_t i = 0; i < SEMANTICS && needs != 0; i++)
            if (semantics_table[i].needs == needs &&
                semantics_table[i].must_not == 0)
                requirement.name = semantics_table[i].name;
    }
    if (semantics) {
        requirement.needs |= semantics->needs;
        requirement.must_not = semantics->must_not;
    }
    return requirement;
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

    for (size_t i = 0; i < sizeof(lacks_table) / sizeof(lacks_table[0]); i++)
        if (lacks & lacks_table[i].capability)
            return lacks_table[i].text;
    if (requirement->must_not & capabilities & LBX_CAPABILITY_BOUND)
        return "it is bounded";
    if (requirement->declared && !is_declared(requirement->name, semantics))
        return "its type does not declare that";
    return NULL;
}

/* ---- The map ---- */

static const char requirement_map_path[] =
    "letterbox.actor.mailbox.requirements";

static const lbx_settings *
map_find(const lbx_settings *settings, const char *name)
{
    const lbx_settings *map = lbx_settings_at(settings, requirement_map_path);

    for (size_t i = 0; i < lbx_settings_count(map); i++) {
        const lbx_settings *row = lbx_settings_child(map, i);

        if (lbx__class_name_equal(lbx_settings_key(row), name))
            return row;
    }
    return NULL;
}

const lbx_settings *
lbx__requirement_find_mailbox(const lbx_settings *given,
                              const lbx_settings *settings, const char *name)
{
    const lbx_settings *row = map_find(given, name);

    return row ? row : map_find(settings, name);
}

static lbx_status
map_check_row(const lbx__mailbox_types *types, const lbx_settings *row,
              const lbx_system_options *options, lbx_fault *fault)
{
    const char *name = lbx_settings_key(row);

    if (lbx_settings_kind_of(row) != LBX_SETTINGS_KIND_STRING)
        return lbx__section_fault(
            fault, LBX_INVALID, row,
            "expected the id of a mailbox; names with dots need "
            "quotes");
    if (lbx__foreign_key_is_requirement(name))
        lbx__foreign_key_warn_at(row, options);
    else if (!semantics_find(name) && !lbx__mailbox_types_declare(types, name))
        return lbx__section_fault(
            fault, LBX_NOT_FOUND, row,
            "no mailbox type declares %s, so that nothing can "
            "meet it",
            name);
    return LBX_OK;
}

lbx_status
lbx__requirement_check_map(const lbx_settings *settings,
                           const lbx__mailbox_types *types,
                           const lbx_system_options *options, lbx_fault *fault)
{
    const lbx_settings *map;
    lbx_status status =
        lbx_settings_read_section(settings, requirement_map_path, &map, fault);

    for (size_t i = 0; status == LBX_OK && i < lbx_settings_count(map); i++)
        status =
            map_check_row(types, lbx_settings_child(map, i), options, fault);
    return status;
}

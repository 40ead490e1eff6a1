/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The selection of a system: made with it, from its settings over the
 * reference. Types, mailboxes, deployments and dispatchers are made in this
 * order, since each uses those before it.
 */
#include "actor/select/selection.h"

#include "actor/select/foreign_key.h"
#include "actor/select/reference.h"
#include "actor/select/section.h"
#include "base/alloc.h"

static const lbx_settings_rule actor_rules[] = {
    {.key = "mailbox-libraries", .type = LBX_SETTINGS_TYPE_STRINGS},
    {.key = "unstarted-push-timeout", .type = LBX_SETTINGS_TYPE_DURATION},
    {.key = "internal-dispatcher", .type = LBX_SETTINGS_TYPE_ANY},
    {.key = "default-blocking-io-dispatcher", .type = LBX_SETTINGS_TYPE_ANY},
    {.key = "default-mailbox", .type = LBX_SETTINGS_TYPE_SECTION},
    {.key = "typed", .type = LBX_SETTINGS_TYPE_SECTION},
    {.key = "default-dispatcher", .type = LBX_SETTINGS_TYPE_SECTION},
    {.key = "deployment", .type = LBX_SETTINGS_TYPE_SECTION},
    {.key = "mailbox", .type = LBX_SETTINGS_TYPE_SECTION},
};

static lbx_status
selection_load(lbx__selection *selection, lbx_fault *fault)
{
    const lbx_settings *given = selection->options->settings;
    lbx_status status;

    selection->settings = lbx__reference_settings();
    if (!given)
        return LBX_OK;
    if (lbx_settings_kind_of(given) != LBX_SETTINGS_KIND_SECTION)
        return lbx__section_fault(fault, LBX_INVALID, given,
                                  "expected a section");
    status =
        lbx_settings_merge(given, selection->settings,
                           selection->options->allocator, &selection->merged);
    selection->settings = selection->merged;
    selection->given = lbx_settings_ref(given);
    return status;
}

/* Makes the choice for an actor that asks for nothing. */
static lbx_status
selection_choose_usual(lbx__selection *selection, lbx_fault *fault)
{
    static const lbx_behaviour plain = {.size_bytes = sizeof(lbx_behaviour)};
    lbx_props props = LBX_PROPS_INIT;
    lbx__choice_request request = {
        .props = &props, .behaviour = &plain, .fault = fault};
    lbx_status status;

    props.behaviour = &plain;
    status = lbx__choice_make(selection, &request, &selection->usual);
    if (status == LBX_OK)
        selection->is_plain =
            lbx__deployment_is_empty(selection->deployment) &&
            selection->usual.dispatcher->sort == LBX__DISPATCHER_SHARED &&
            selection->usual.mailbox->in_cell &&
            selection->usual.stash_capacity == LBX_UNLIMITED;
    return status;
}

static lbx_status
selection_fill_in(lbx__selection *selection, lbx_fault *fault)
{
    lbx_system_options *options = selection->options;
    const lbx_allocator *allocator = options->allocator;
    const lbx_settings *settings = selection->settings;
    lbx_status status = lbx__foreign_key_check(
        LBX__FOREIGN_ACTOR, lbx_settings_at(settings, "letterbox.actor"),
        actor_rules, sizeof(actor_rules) / sizeof(actor_rules[0]), fault);

    if (status == LBX_OK)
        lbx__foreign_key_warn(
            LBX__FOREIGN_ACTOR,
            lbx_settings_at(selection->given, "letterbox.actor"), options);

    if (status == LBX_OK)
        status = lbx_settings_read_integer(
            settings, "letterbox.actor.default-mailbox.stash-capacity",
            &selection->stash_capacity, fault);
    if (status == LBX_OK)
        status = lbx__mailbox_types_create(options, settings, fault,
                                           &selection->types);
    if (status == LBX_OK)
        status = lbx__requirement_check_map(settings, selection->types, options,
                                            fault);
    if (status == LBX_OK)
        status = lbx__mailbox_plans_create(
            allocator, settings, selection->types, &selection->mailbox_plans);
    if (status == LBX_OK)
        status = lbx__deployment_create(options, settings, fault,
                                        &selection->deployment);
    if (status == LBX_OK)
        status =
            lbx__dispatcher_plans_create(options, settings, selection->types,
                                         fault, &selection->dispatcher_plans);
    return status == LBX_OK ? selection_choose_usual(selection, fault) : status;
}

lbx_status
lbx__selection_create(lbx_system_options *options, lbx__selection **ret)
{
    lbx__selection *selection =
        lbx__zalloc(options->allocator, sizeof(*selection));
    lbx_status status;

    if (!selection)
        return LBX_NO_MEMORY;
    selection->options = options;
    status = selection_load(selection, options->fault);
    if (status == LBX_OK)
        status = selection_fill_in(selection, options->fault);
    if (status != LBX_OK) {
        lbx__selection_destroy(selection);
        return status;
    }
    *ret = selection;
    return LBX_OK;
}

void
lbx__selection_destroy(lbx__selection *selection)
{
    if (!selection)
        return;
    lbx__dispatcher_plans_destroy(selection->dispatcher_plans);
    lbx__deployment_destroy(selection->deployment);
    lbx__mailbox_plans_destroy(selection->mailbox_plans);
    lbx__mailbox_types_destroy(selection->types);
    lbx_settings_unref(selection->merged);
    lbx_settings_unref(selection->given);
    lbx__free(selection->options->allocator, selection, sizeof(*selection));
}

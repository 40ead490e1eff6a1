/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map from requirements to mailboxes, `letterbox.actor.mailbox.
 * requirements`. Akka's and Pekko's names for the same are one; what the user
 * maps goes before what the reference does.
 */
#include "actor/select/blame.h"
#include "actor/select/selection.h"

static const char map_path[] = "letterbox.actor.mailbox.requirements";

static const lbx_settings *
find_in(const lbx_settings *settings, const char *name)
{
    const lbx_settings *map = lbx_settings_at(settings, map_path);

    for (size_t i = 0; i < lbx_settings_count(map); i++) {
        const lbx_settings *row = lbx_settings_child(map, i);

        if (lbx__class_name_equal(lbx_settings_key(row), name))
            return row;
    }
    return NULL;
}

const lbx_settings *
lbx__requirements_find(const lbx__selection *selection, const char *name)
{
    const lbx_settings *row = find_in(selection->given, name);

    return row ? row : find_in(selection->settings, name);
}

static lbx_status
check_row(const lbx__selection *selection, const lbx_settings *row,
          lbx_fault *fault)
{
    const char *name = lbx_settings_key(row);

    if (lbx_settings_kind_of(row) != LBX_SETTINGS_KIND_STRING)
        return lbx__blame(fault, LBX_INVALID, row,
                          "expected the id of a mailbox; names with dots need "
                          "quotes");
    if (!lbx__requirement_is_built_in(name) &&
        !lbx__mailbox_types_declare(selection->types, name))
        return lbx__blame(fault, LBX_NOT_FOUND, row,
                          "no mailbox type declares %s, so that nothing can "
                          "meet it",
                          name);
    return LBX_OK;
}

lbx_status
lbx__requirements_check(const lbx__selection *selection, lbx_fault *fault)
{
    const lbx_settings *map;
    lbx_status status =
        lbx_settings_read_section(selection->settings, map_path, fault, &map);

    for (size_t i = 0; status == LBX_OK && i < lbx_settings_count(map); i++)
        status = check_row(selection, lbx_settings_child(map, i), fault);
    return status;
}

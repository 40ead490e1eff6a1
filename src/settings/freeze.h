/* SPDX-License-Identifier: Apache-2.0 */
/* Freezing: from expressions to the tree that users read. */
#ifndef LBX_SETTINGS_FREEZE_H
#define LBX_SETTINGS_FREEZE_H

#include "settings/expr.h"
#include "settings/settings.h"

/* Resolves all values and copies them into a new tree. `model` is the section
 * the tree was made of; NULL: sources. */
bool lbx__freeze_tree(lbx__loader *load, const lbx__expr *root,
                      const lbx_settings *model, lbx__settings_tree **ret);

#endif

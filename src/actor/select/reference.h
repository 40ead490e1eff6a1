/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference: every default of the settings that the actor rooms read. One
 * tree for the process, which is never freed.
 */
#ifndef LBX_ACTOR_SELECT_REFERENCE_H
#define LBX_ACTOR_SELECT_REFERENCE_H

#include <letterbox/settings.h>

/* lbx_system_reference_settings(), read. A tree that is made from it must be
 * given an allocator. */
const lbx_settings *lbx__reference_settings(void);

#endif

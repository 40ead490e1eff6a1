/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections of the settings: the keys that a section may have which describes a
 * mailbox, a dispatcher, or both, and faults that name the file and line.
 */
#ifndef LBX_ACTOR_SELECT_SECTION_H
#define LBX_ACTOR_SELECT_SECTION_H

#include <letterbox/actor/selection.h>

/* Checks the keys of a section. `type` is the user's mailbox type that it
 * names, whose keys are allowed too; NULL: none. */
lbx_status lbx__section_check(const lbx_settings *section,
                              const lbx_mailbox_type *type, lbx_fault *fault);

/* Writes a fault, which may be NULL: "file:line: path: " if `at` was read from
 * a file, then the text. Returns `status`. */
lbx_status lbx__section_fault(lbx_fault *fault, lbx_status status,
                              const lbx_settings *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of mailboxes by name: the built-in kinds, class names for them, users'
 * kinds, users' types, and types from shared objects.
 *
 * MBTYPE-1  The set of types does not change after its creation: finding one
 *           needs no lock.
 */
#ifndef LBX_ACTOR_SELECT_MAILBOX_TYPE_H
#define LBX_ACTOR_SELECT_MAILBOX_TYPE_H

#include <letterbox/actor/selection.h>

typedef struct lbx__mailbox_types lbx__mailbox_types;

/* One type, as it was found. */
typedef struct lbx__mailbox_type {
    const char *name;
    const char *kind;
    const lbx_kind_registry *kinds; /* where the kind is; NULL: built in */
    uint32_t capabilities;          /* of the kind */
    bool never_waits;               /* whatever the push timeout */
    lbx_kind_capacity capacity;     /* whether it has one */
    bool in_cell;                   /* the cell's own inbox does as well */
    const lbx_mailbox_type *user;   /* NULL: none of the users' */
} lbx__mailbox_type;

/* From the system's options, and the libraries that the settings name. */
lbx_status lbx__mailbox_types_create(const lbx_system_options *options,
                                     const lbx_settings *settings,
                                     lbx_fault *fault,
                                     lbx__mailbox_types **ret);
void lbx__mailbox_types_destroy(lbx__mailbox_types *types);

bool lbx__mailbox_types_find(const lbx__mailbox_types *types, const char *name,
                             lbx__mailbox_type *ret);

/* Whether a user's type declares this name. */
bool lbx__mailbox_types_declare(const lbx__mailbox_types *types,
                                const char *semantics);

/* Writes a line about a mailbox of this type, for people. `options` is NULL for
 * a mailbox in the cell. */
void lbx__mailbox_type_describe(const lbx__mailbox_type *type,
                                uint32_t capabilities,
                                const lbx_mailbox_options *options, char *line,
                                size_t size_bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of mailboxes by name: the built-in kinds, Akka's class names for them,
 * users' kinds, users' types, and types from shared objects.
 *
 * T1  Does not change after its creation: looking needs no lock.
 */
#ifndef LBX_ACTOR_SELECT_MAILBOX_TYPE_H
#define LBX_ACTOR_SELECT_MAILBOX_TYPE_H

#include <letterbox/actor/selection.h>

typedef struct lbx__mailbox_types lbx__mailbox_types;

/* One type, as it was found. */
typedef struct lbx__mailbox_type {
    const char *name;
    const char *kind;
    const lbx_kinds *kinds;       /* where the kind is; NULL: built in */
    uint32_t capabilities;        /* of the kind */
    bool never_waits;             /* whatever the push timeout */
    bool is_limited;              /* needs a capacity */
    bool is_unlimited;            /* must not have one */
    bool in_cell;                 /* the cell's own inbox does as well */
    const lbx_mailbox_type *user; /* NULL: none of the users' */
} lbx__mailbox_type;

/* From the system's options, and the libraries that the settings name. */
lbx_status lbx__mailbox_types_create(const lbx_system_options *options,
                                     const lbx_settings *settings,
                                     lbx_fault *fault,
                                     lbx__mailbox_types **ret);
void lbx__mailbox_types_destroy(lbx__mailbox_types *types);

bool lbx__mailbox_types_find(const lbx__mailbox_types *types, const char *name,
                             lbx__mailbox_type *ret);

/* Does a type declare this name? */
bool lbx__mailbox_types_declare(const lbx__mailbox_types *types,
                                const char *semantics);

/* libraries.c: shared objects. */
typedef struct lbx__library {
    void *handle;
    const lbx_mailbox_library *library;
} lbx__library;

lbx_status lbx__library_open(const lbx_settings *path, lbx_fault *fault,
                             lbx__library *ret);
void lbx__library_close(lbx__library *library);

#endif

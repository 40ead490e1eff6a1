/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree that users read.
 *
 * I1  Nothing in it changes after it was made, but for the count of
 *     references: readers need no lock.
 * I2  Everything in it lives in its own arena, keys and file names included.
 */
#ifndef LBX_SETTINGS_TREE_H
#define LBX_SETTINGS_TREE_H

#include <letterbox/settings.h>

#include "base/atomic.h"
#include "base/fault.h"
#include "settings/arena.h"
#include "settings/key_table.h"

typedef struct lbx__settings_tree lbx__settings_tree;

struct lbx_settings {
    lbx__settings_tree *tree;
    const lbx_settings *parent; /* NULL for the root */
    const char *key;
    const char *text;
    lbx__fault_line origin;
    lbx_settings_kind kind;
    size_t count;
    lbx_settings *children; /* of a list */
    lbx__key_table fields;  /* of a section: lbx_settings */
};

struct lbx__settings_tree {
    lbx__arena arena;
    _Atomic size_t references;
    bool is_document;     /* the root knows "letterbox" by all its names */
    const char *prefix;   /* the path of the root, if it was made of a part */
    lbx__key_table files; /* names, each kept once */
    lbx_settings root;
};

/* Destroys a tree, half-built or not. Takes NULL. */
void lbx__settings_tree_destroy(lbx__settings_tree *tree);

/* "file:line: path: " and a sentence, printf-like. Returns `status`. */
lbx_status lbx__settings_fault(const lbx_settings *settings, lbx_fault *fault,
                               lbx_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

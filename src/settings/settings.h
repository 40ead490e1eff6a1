/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree that users read.
 *
 * TREE-1  Nothing in a tree changes after it was made, except the count of
 *         references: readers need no lock.
 * TREE-2  All of a tree is in its own arena, keys and file names included.
 */
#ifndef LBX_SETTINGS_SETTINGS_H
#define LBX_SETTINGS_SETTINGS_H

#include <letterbox/settings.h>

#include "base/arena.h"
#include "base/atomic.h"
#include "base/fault.h"
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
    bool is_document;   /* the root resolves aliases of "letterbox" */
    const char *prefix; /* the path of the root, if it was made of a subtree */
    lbx__key_table files; /* each file name once */
    lbx_settings root;
};

/* Takes NULL and half-built trees. */
void lbx__settings_tree_destroy(lbx__settings_tree *tree);

/* "file:line: path: " and a sentence, printf-like. Returns `status`. */
lbx_status lbx__settings_fault(const lbx_settings *settings, lbx_fault *fault,
                               lbx_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

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
#include "settings/arena.h"
#include "settings/resolve.h"
#include "settings/table.h"

typedef struct lbx__tree lbx__tree;

struct lbx_settings {
    lbx__tree *tree;
    const lbx_settings *parent; /* NULL for the root */
    const char *key;
    const char *text;
    lbx__place place;
    lbx_settings_kind kind;
    size_t count;
    lbx_settings *children; /* of a list */
    lbx__table fields;      /* of a section: lbx_settings */
};

struct lbx__tree {
    lbx__arena arena;
    _Atomic size_t references;
    bool is_document;   /* the root knows "letterbox" by all its names */
    const char *prefix; /* the path of the root, if it was made of a part */
    lbx__table files;   /* names, each kept once */
    lbx_settings root;
};

/* Works out all values and copies them into a new tree; `model` is what the
 * tree was made of, if that was another. */
bool lbx__tree_create(lbx__load *load, const lbx__raw *root,
                      const lbx_settings *model, lbx__tree **ret);

/* Ends a tree, half-built or not. Takes NULL. */
void lbx__tree_destroy(lbx__tree *tree);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: values as they were written, before substitutions are replaced.
 *
 * A field keeps all its assignments, newest first, because a substitution may
 * refer to an older one, and because a value that overrides a substitution may
 * have to be merged with it. Only a section that directly follows a section is
 * merged at once.
 *
 * EXPR-1  Of two neighbouring assignments of a field, at most one is a section.
 */
#ifndef LBX_SETTINGS_EXPR_H
#define LBX_SETTINGS_EXPR_H

#include "settings/key_table.h"
#include "settings/loader.h"

typedef enum lbx__expr_kind {
    LBX__EXPR_NULL,
    LBX__EXPR_BOOLEAN,
    LBX__EXPR_NUMBER,
    LBX__EXPR_STRING,
    LBX__EXPR_LIST,     /* pieces are the members */
    LBX__EXPR_SECTION,  /* fields */
    LBX__EXPR_CONCAT,   /* pieces in one line */
    LBX__EXPR_SUBST,    /* ${path} */
    LBX__EXPR_PREVIOUS, /* the value that += extends, inside a list */
} lbx__expr_kind;

struct lbx__expr;

/* A member of a list; or a part of a concatenation, and the space before it. */
typedef struct lbx__expr_piece {
    struct lbx__expr_piece *next;
    struct lbx__expr *expr;
    const char *space;
} lbx__expr_piece;

typedef struct lbx__expr {
    lbx__expr_kind kind;
    bool optional; /* ${?path} */
    lbx__fault_line origin;
    const char *text;       /* of a plain value */
    lbx__key_table *fields; /* of a section: lbx__expr_field */
    lbx__expr_piece *pieces;

    /* A substitution's path. In an included file it is looked up twice: first
     * below the include, so keys[] starts with the keys of the include; then
     * from the root, so the path follows again after keys[key_count - 1]. */
    const char **keys;
    uint32_t key_count;
    uint32_t prefix_count;
} lbx__expr;

typedef struct lbx__expr_assignment {
    struct lbx__expr_assignment *older;
    lbx__expr *expr;
    uint32_t braces; /* the pair that contains it */
    bool looks_back; /* it refers to the older ones: ${x} in x, += */
} lbx__expr_assignment;

typedef struct lbx__expr_field {
    lbx__expr_assignment *newest;
} lbx__expr_field;

/* An expression without contents; NULL when the load has failed. */
lbx__expr *lbx__expr_create(lbx__loader *load, lbx__expr_kind kind,
                            lbx__fault_line origin);

/* Assigns to the field keys[0 .. count-1] below `section`; merges sections, and
 * fails the load for a duplicate. */
bool lbx__expr_assign(lbx__loader *load, lbx__expr *section,
                      const char *const *keys, uint32_t count,
                      lbx__expr_assignment assignment);

/* Adds `settings`, a section of a tree, to `section`. */
bool lbx__expr_add_tree(lbx__loader *load, lbx__expr *section,
                        const lbx_settings *settings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw values: what was written, before substitutions are replaced.
 *
 * A field keeps all that was assigned to it, newest first, because a
 * substitution may look back at what was there before, and because what is
 * written over a substitution may have to be merged with it. Only a section
 * that follows a section directly is merged at once.
 *
 * I1  of two neighbouring assignments of a field, at most one is a section.
 */
#ifndef LBX_SETTINGS_RAW_H
#define LBX_SETTINGS_RAW_H

#include "settings/load.h"
#include "settings/table.h"

typedef enum lbx__raw_kind {
    LBX__RAW_NULL,
    LBX__RAW_BOOLEAN,
    LBX__RAW_NUMBER,
    LBX__RAW_STRING,
    LBX__RAW_LIST,     /* pieces are the members */
    LBX__RAW_SECTION,  /* fields */
    LBX__RAW_CONCAT,   /* pieces beside each other */
    LBX__RAW_SUBST,    /* ${path} */
    LBX__RAW_PREVIOUS, /* what += adds to, inside a list */
} lbx__raw_kind;

struct lbx__raw;

/* A member of a list, or a part of a concatenation with the space before it. */
typedef struct lbx__piece {
    struct lbx__piece *next;
    struct lbx__raw *raw;
    const char *space;
} lbx__piece;

typedef struct lbx__raw {
    lbx__raw_kind kind;
    bool optional; /* ${?path} */
    lbx__place place;
    const char *text;   /* of a plain value */
    lbx__table *fields; /* of a section: lbx__field */
    lbx__piece *pieces;

    /* A substitution's path. In an included file it is first looked for below
     * the place of the include: keys[] begins with the keys of that place, and
     * behind its end the path follows once more, as seen from the root. */
    const char **keys;
    uint32_t key_count;
    uint32_t prefix_count;
} lbx__raw;

typedef struct lbx__assignment {
    struct lbx__assignment *older;
    lbx__raw *raw;
    uint32_t braces; /* the pair in which it stands */
    bool looks_back; /* it refers to the field itself: ${x} in x, += */
} lbx__assignment;

typedef struct lbx__field {
    lbx__assignment *newest;
} lbx__field;

/* A raw value without contents; NULL when the load has failed. */
lbx__raw *lbx__raw_create(lbx__load *load, lbx__raw_kind kind,
                          lbx__place place);

/* Puts `assignment` at keys[0 .. count-1] below `section`, and merges or
 * refuses as the rules for duplicates want it. */
bool lbx__raw_put(lbx__load *load, lbx__raw *section, const char *const *keys,
                  uint32_t count, lbx__assignment assignment);

/* Adds `settings`, a section of a tree, to `section`. */
bool lbx__raw_add_tree(lbx__load *load, lbx__raw *section,
                       const lbx_settings *settings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Substitutions are replaced lazily: a value is worked out when it is asked
 * for, and only as far as that: of a section, the keys are known at once, the
 * members when they are needed. That is what lets a section refer to a part of
 * itself, and two sections to parts of each other.
 *
 * A cell is a member being worked out. It has a slot for each assignment. A
 * slot's own value is that of its assignment alone; merged, it is that of all
 * assignments up to it. A cell that is asked for while it is being worked out
 * answers with what is below the slot under work: that is what it means that
 * x = ${x} looks back.
 *
 * A section that lies over a plain value or a list covers what is below that,
 * in the sections below its own too: that is remembered with the slot.
 *
 * I1  Each slot is worked out once; its value never changes.
 * I2  active is the slot under work, NULL when there is none.
 */
#ifndef LBX_SETTINGS_RESOLVE_H
#define LBX_SETTINGS_RESOLVE_H

#include "settings/raw.h"

struct lbx__value;
struct lbx__cell;

typedef struct lbx__slot {
    struct lbx__slot *below;
    struct lbx__slot *above;  /* scratch of lbx__cell_value() */
    const lbx__raw *raw;      /* an assignment, or ... */
    struct lbx__cell *source; /* ... a member of another section */
    bool looks_back;
    bool covers; /* merged, it is a section that lies over something else */
    bool own_done, merged_done;
    struct lbx__value *own, *merged; /* NULL: undefined */
} lbx__slot;

typedef struct lbx__cell {
    lbx__slot *top;
    lbx__slot *active;
} lbx__cell;

typedef struct lbx__value {
    lbx_settings_kind kind;
    bool freezing; /* its copy is being made: to meet it again is a cycle */
    lbx__place place;
    const char *text;
    struct lbx__value **members; /* of a list */
    size_t member_count;
    lbx__table *cells; /* of a section: lbx__cell */
} lbx__value;

typedef struct lbx__resolver {
    lbx__load *load;
    lbx__value *root;
    uint32_t depth; /* of values waiting for each other */
    bool looped;    /* a value was asked for by itself, and had none before */
} lbx__resolver;

/* Begins with the fields of all sources. */
bool lbx__resolver_init(lbx__resolver *resolver, lbx__load *load,
                        const lbx__raw *root);

/* The value of a member; NULL when it is undefined. */
bool lbx__cell_value(lbx__resolver *resolver, lbx__cell *cell,
                     lbx__value **ret);

/* What a raw value of `cell` comes to; NULL when it is undefined. */
bool lbx__raw_value(lbx__resolver *resolver, lbx__cell *cell,
                    const lbx__raw *raw, lbx__value **ret);

/* What a cell under work had before. */
bool lbx__cell_previous(lbx__resolver *resolver, lbx__cell *cell,
                        lbx__value **ret);

lbx__value *lbx__value_create(lbx__resolver *resolver, lbx_settings_kind kind,
                              lbx__place place);

/* A section that was written out. */
lbx__value *lbx__section_value(lbx__resolver *resolver, const lbx__raw *raw);

/* One section of several, the first below, the last on top. */
lbx__value *lbx__value_merge(lbx__resolver *resolver, lbx__value *const *layers,
                             size_t count);

/* Pieces beside each other. */
bool lbx__concat_value(lbx__resolver *resolver, lbx__cell *cell,
                       const lbx__raw *raw, lbx__value **ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Substitutions are replaced lazily: a value is worked out when it is asked
 * for, and only as far as that: of a section, the keys are known at once, the
 * members when they are needed. That is what lets a section refer to a part of
 * itself, and two sections to parts of each other.
 *
 * A symbol is a member being worked out. It has a binding for each assignment. A
 * binding's own value is that of its assignment alone; merged, it is that of all
 * assignments up to it. A symbol that is asked for while it is being worked out
 * answers with what is below the binding under work: that is what it means that
 * x = ${x} looks back.
 *
 * A section that lies over a plain value or a list covers what is below that,
 * in the sections below its own too: that is remembered with the binding.
 *
 * I1  Each binding is worked out once; its value never changes.
 * I2  active is the binding under work, NULL when there is none.
 */
#ifndef LBX_SETTINGS_RESOLVE_H
#define LBX_SETTINGS_RESOLVE_H

#include "settings/expr.h"

struct lbx__resolver_value;
struct lbx__symbol;

typedef struct lbx__binding {
    struct lbx__binding *below;
    struct lbx__binding *above; /* scratch of lbx__resolver_symbol_value() */
    const lbx__expr *expr;      /* an assignment, or ... */
    struct lbx__symbol *source; /* ... a member of another section */
    bool looks_back;
    bool covers; /* merged, it is a section that lies over something else */
    bool own_done, merged_done;
    struct lbx__resolver_value *own, *merged; /* NULL: undefined */
} lbx__binding;

typedef struct lbx__symbol {
    lbx__binding *top;
    lbx__binding *active;
} lbx__symbol;

typedef struct lbx__resolver_value {
    lbx_settings_kind kind;
    bool freezing; /* its copy is being made: to meet it again is a cycle */
    lbx__fault_line origin;
    const char *text;
    struct lbx__resolver_value **members; /* of a list */
    size_t member_count;
    lbx__key_table *symbols; /* of a section: lbx__symbol */
} lbx__resolver_value;

typedef struct lbx__resolver {
    lbx__loader *load;
    lbx__resolver_value *root;
    uint32_t depth; /* of values waiting for each other */
    bool looped;    /* a value was asked for by itself, and had none before */
} lbx__resolver;

/* Begins with the fields of all sources. */
bool lbx__resolver_init(lbx__resolver *resolver, lbx__loader *load,
                        const lbx__expr *root);

/* The value of a member; NULL when it is undefined. */
bool lbx__resolver_symbol_value(lbx__resolver *resolver, lbx__symbol *symbol,
                                lbx__resolver_value **ret);

/* What a expr value of `symbol` comes to; NULL when it is undefined. */
bool lbx__resolver_evaluate(lbx__resolver *resolver, lbx__symbol *symbol,
                            const lbx__expr *expr, lbx__resolver_value **ret);

/* What a symbol under work had before. */
bool lbx__resolver_previous_value(lbx__resolver *resolver, lbx__symbol *symbol,
                                  lbx__resolver_value **ret);

lbx__resolver_value *lbx__resolver_new_value(lbx__resolver *resolver,
                                             lbx_settings_kind kind,
                                             lbx__fault_line origin);

/* A section that was written out. */
lbx__resolver_value *lbx__resolver_section(lbx__resolver *resolver,
                                           const lbx__expr *expr);

/* One section of several, the first below, the last on top. */
lbx__resolver_value *lbx__resolver_merge(lbx__resolver *resolver,
                                         lbx__resolver_value *const *layers,
                                         size_t count);

/* Pieces beside each other. */
bool lbx__resolver_concat(lbx__resolver *resolver, lbx__symbol *symbol,
                          const lbx__expr *expr, lbx__resolver_value **ret);

#endif

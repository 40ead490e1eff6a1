/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolver replaces substitutions, lazily: a value is computed when it is
 * needed. Of a section, the keys are known at once and the members later, so a
 * section can refer to a part of itself, and two sections to parts of each
 * other.
 *
 * A symbol is a member of a section that is being resolved. It has one binding
 * for each assignment. A binding's own value is that of its assignment; its
 * merged value is that of all assignments up to it. A symbol that is needed
 * while it is being resolved has the value below its active binding: so x =
 * ${x} refers to the previous x.
 *
 * A section that overrides a plain value or a list hides what is below that,
 * also in the sections that its section is merged with; the binding remembers
 * it.
 *
 * RESOLV-1  Each binding is resolved once; its value never changes.
 * RESOLV-2  `active` is the binding that is being resolved; NULL: none.
 */
#ifndef LBX_SETTINGS_RESOLVER_H
#define LBX_SETTINGS_RESOLVER_H

#include "settings/expr.h"

struct lbx__resolver_value;
struct lbx__symbol;

typedef struct lbx__binding {
    struct lbx__binding *below;
    struct lbx__binding *above; /* scratch of lbx__resolver_symbol_value() */
    const lbx__expr *expr;      /* an assignment, or ... */
    struct lbx__symbol *source; /* ... a member of another section */
    bool looks_back;
    bool covers; /* merged, it is a section that hides something else */
    bool own_done, merged_done;
    struct lbx__resolver_value *own, *merged; /* NULL: undefined */
} lbx__binding;

typedef struct lbx__symbol {
    lbx__binding *top;
    lbx__binding *active;
} lbx__symbol;

typedef struct lbx__resolver_value {
    lbx_settings_kind kind;
    bool freezing; /* it is being copied: to meet it again is a cycle */
    lbx__fault_line origin;
    const char *text;
    struct lbx__resolver_value **members; /* of a list */
    size_t member_count;
    lbx__key_table *symbols; /* of a section: lbx__symbol */
} lbx__resolver_value;

typedef struct lbx__resolver {
    lbx__loader *load;
    lbx__resolver_value *root;
    uint32_t depth; /* of values that depend on each other */
    bool looped;    /* a value depends on itself, and had none before */
} lbx__resolver;

/* Starts with the fields of all sources. */
bool lbx__resolver_init(lbx__resolver *resolver, lbx__loader *load,
                        const lbx__expr *root);

/* The value of a member; NULL when it is undefined. */
bool lbx__resolver_symbol_value(lbx__resolver *resolver, lbx__symbol *symbol,
                                lbx__resolver_value **ret);

/* The value of an expression of `symbol`; NULL when it is undefined. */
bool lbx__resolver_evaluate(lbx__resolver *resolver, lbx__symbol *symbol,
                            const lbx__expr *expr, lbx__resolver_value **ret);

/* The value of a symbol below its active binding. */
bool lbx__resolver_previous_value(lbx__resolver *resolver, lbx__symbol *symbol,
                                  lbx__resolver_value **ret);

lbx__resolver_value *lbx__resolver_new_value(lbx__resolver *resolver,
                                             lbx_settings_kind kind,
                                             lbx__fault_line origin);

/* The value of a section expression. */
lbx__resolver_value *lbx__resolver_section(lbx__resolver *resolver,
                                           const lbx__expr *expr);

/* Merges sections; later ones override earlier ones. */
lbx__resolver_value *lbx__resolver_merge(lbx__resolver *resolver,
                                         lbx__resolver_value *const *layers,
                                         size_t count);

/* The value of a concatenation. */
bool lbx__resolver_concat(lbx__resolver *resolver, lbx__symbol *symbol,
                          const lbx__expr *expr, lbx__resolver_value **ret);

#endif

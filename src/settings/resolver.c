/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols and their bindings; see resolver.h.
 *
 * Values that depend on each other are resolved recursively, so the depth is
 * limited. Recursion is avoided where it is not needed: a field that extends
 * itself a thousand times is resolved from its oldest assignment upwards, and a
 * member that was passed on through many sections refers to its first source.
 */
#include "settings/resolver.h"

#include <assert.h>

lbx__resolver_value *
lbx__resolver_new_value(lbx__resolver *resolver, lbx_settings_kind kind,
                        lbx__fault_line origin)
{
    lbx__resolver_value *value;

    if (!lbx__loader_count_value(resolver->load, origin))
        return NULL;
    value = lbx__loader_take(resolver->load, sizeof(*value));
    if (!value)
        return NULL;
    value->kind = kind;
    value->origin = origin;
    value->text = "";
    if (kind == LBX_SETTINGS_KIND_SECTION) {
        value->symbols =
            lbx__loader_take(resolver->load, sizeof(*value->symbols));
        if (!value->symbols)
            return NULL;
    }
    return value;
}

/* A new topmost binding of the symbol `key`. */
static lbx__binding *
resolver_add_binding(lbx__resolver *resolver, lbx__resolver_value *section,
                     const char *key)
{
    lbx__loader *load = resolver->load;
    lbx__key_entry *entry =
        lbx__key_table_put(section->symbols, &load->arena, key);
    lbx__binding *binding;
    lbx__symbol *symbol;

    if (!entry) {
        (void)lbx__loader_no_memory(load);
        return NULL;
    }
    if (!entry->value)
        entry->value = lbx__loader_take(load, sizeof(lbx__symbol));
    symbol = entry->value;
    binding = symbol ? lbx__loader_take(load, sizeof(*binding)) : NULL;
    if (!binding || !lbx__loader_count_value(load, section->origin))
        return NULL;
    binding->below = symbol->top;
    symbol->top = binding;
    return binding;
}

/* Slots for the assignments of a field, the oldest at the bottom. */
static bool
resolver_add_field(lbx__resolver *resolver, lbx__resolver_value *section,
                   const char *key, const lbx__expr_field *field)
{
    lbx__binding *top = NULL;
    lbx__binding **end = &top;
    lbx__key_entry *entry;
    lbx__symbol *symbol;

    for (const lbx__expr_assignment *assignment = field->newest; assignment;
         assignment = assignment->older) {
        lbx__binding *binding =
            lbx__loader_take(resolver->load, sizeof(*binding));

        if (!binding ||
            !lbx__loader_count_value(resolver->load, section->origin))
            return false;
        binding->expr = assignment->expr;
        binding->looks_back = assignment->looks_back;
        *end = binding;
        end = &binding->below;
    }
    symbol = lbx__loader_take(resolver->load, sizeof(*symbol));
    if (!symbol)
        return false;
    symbol->top = top;
    entry = lbx__key_table_put(section->symbols, &resolver->load->arena, key);
    if (!entry)
        return lbx__loader_no_memory(resolver->load);
    entry->value = symbol;
    return true;
}

lbx__resolver_value *
lbx__resolver_section(lbx__resolver *resolver, const lbx__expr *expr)
{
    lbx__resolver_value *value = lbx__resolver_new_value(
        resolver, LBX_SETTINGS_KIND_SECTION, expr->origin);

    for (uint32_t i = 0; value && i < expr->fields->count; i++) {
        const lbx__key_entry *entry = &expr->fields->entries[i];

        if (!resolver_add_field(resolver, value, entry->key, entry->value))
            return NULL;
    }
    return value;
}

/* The symbol that a value comes from, through sections that only passed it
 * on. */
static lbx__symbol *
resolver_source_of(lbx__symbol *symbol)
{
    while (!symbol->top->below && symbol->top->source)
        symbol = symbol->top->source;
    return symbol;
}

lbx__resolver_value *
lbx__resolver_merge(lbx__resolver *resolver, lbx__resolver_value *const *layers,
                    size_t count)
{
    lbx__resolver_value *value;

    if (count == 1)
        return layers[0];
    value = lbx__resolver_new_value(resolver, LBX_SETTINGS_KIND_SECTION,
                                    layers[0]->origin);
    for (size_t i = 0; value && i < count; i++) {
        const lbx__key_table *symbols = layers[i]->symbols;

        for (uint32_t j = 0; j < symbols->count; j++) {
            lbx__binding *binding =
                resolver_add_binding(resolver, value, symbols->entries[j].key);

            if (!binding)
                return NULL;
            binding->source = resolver_source_of(symbols->entries[j].value);
        }
    }
    return value;
}

bool
lbx__resolver_init(lbx__resolver *resolver, lbx__loader *load,
                   const lbx__expr *root)
{
    *resolver = (lbx__resolver){.load = load};
    resolver->root = lbx__resolver_section(resolver, root);
    return resolver->root != NULL;
}

/* ---- Cells ---- */

/* The value of one assignment. */
static bool
resolver_own_value(lbx__resolver *resolver, lbx__symbol *symbol,
                   lbx__binding *binding, lbx__resolver_value **ret)
{
    lbx__binding *outer = symbol->active;

    if (!binding->own_done) { // RESOLV-1
        bool done;

        symbol->active = binding; // RESOLV-2
        done = binding->source
                   ? lbx__resolver_symbol_value(resolver, binding->source,
                                                &binding->own)
                   : lbx__resolver_evaluate(resolver, symbol, binding->expr,
                                            &binding->own);
        symbol->active = outer;
        if (!done)
            return false;
        binding->own_done = true;
    }
    *ret = binding->own;
    return true;
}

/* Whether what is below `binding`, whose own value is known, has no effect;
 * *covers is set if that is because it is hidden. */
static bool
resolver_is_last(const lbx__binding *binding, bool *covers)
{
    if (binding->source && binding->source->top->covers) {
        *covers = true;
        return true;
    }
    // A value that refers to the previous one contains it already.
    if (binding->looks_back && binding->below)
        *covers |= binding->below->covers;
    return binding->looks_back;
}

/* The next value from *binding down; moves *binding below it. NULL: no more. */
static bool
resolver_next_layer(lbx__resolver *resolver, lbx__symbol *symbol,
                    lbx__binding **binding, lbx__resolver_value **ret,
                    bool *covers)
{
    *ret = NULL;
    while (*binding && !*ret) {
        lbx__binding *at = *binding;

        *binding = at->below;
        if (at->merged_done) {
            *ret = at->merged;
            *covers |= at->covers;
            *binding = NULL;
        } else {
            if (!resolver_own_value(resolver, symbol, at, ret))
                return false;
            if (*ret && resolver_is_last(at, covers))
                *binding = NULL;
        }
    }
    return true;
}

/* How many bindings there are from here down. */
static size_t
resolver_stack_height(const lbx__binding *binding)
{
    size_t height = 0;

    for (; binding; binding = binding->below)
        height++;
    return height;
}

/* Merges the section *value with the sections below it. */
static bool
resolver_merge_down(lbx__resolver *resolver, lbx__symbol *symbol,
                    lbx__binding *rest, lbx__resolver_value **value,
                    bool *covers)
{
    const size_t max_count = resolver_stack_height(rest) + 1;
    lbx__resolver_value **layers;
    size_t first = max_count;

    layers = lbx__loader_take(resolver->load,
                              max_count * sizeof(lbx__resolver_value *));
    if (!layers)
        return false;
    while (*value && (*value)->kind == LBX_SETTINGS_KIND_SECTION) {
        layers[--first] = *value;
        if (!resolver_next_layer(resolver, symbol, &rest, value, covers))
            return false;
    }
    *covers |= *value != NULL;
    *value = lbx__resolver_merge(resolver, layers + first, max_count - first);
    return *value != NULL;
}

/* Computes the merged value of a binding. */
static bool
resolver_merge_binding(lbx__resolver *resolver, lbx__symbol *symbol,
                       lbx__binding *binding)
{
    lbx__binding *rest = binding;
    lbx__resolver_value *value;

    if (binding->merged_done)
        return true;
    if (!resolver_next_layer(resolver, symbol, &rest, &value, &binding->covers))
        return false;
    if (value && value->kind == LBX_SETTINGS_KIND_SECTION && rest &&
        !resolver_merge_down(resolver, symbol, rest, &value, &binding->covers))
        return false;
    binding->merged = value;
    binding->merged_done = true;
    return true;
}

/* Whether a binding's value depends on what is below it: it refers to the
 * previous value, or it is a section, which merges. */
static bool
resolver_needs_below(const lbx__binding *binding)
{
    return binding->looks_back ||
           (binding->expr && binding->expr->kind == LBX__EXPR_SECTION);
}

/* The merged value of `binding`, computed from below as far as is certainly
 * needed. */
static bool
resolver_binding_value(lbx__resolver *resolver, lbx__symbol *symbol,
                       lbx__binding *binding, lbx__resolver_value **ret)
{
    lbx__binding *at = binding;
    lbx__fault_line origin = {NULL, 0};

    *ret = NULL;
    if (!binding)
        return true;
    if (binding->merged_done) {
        *ret = binding->merged;
        return true;
    }
    if (binding->expr)
        origin = binding->expr->origin;
    if (!lbx__loader_check_depth(resolver->load, origin, ++resolver->depth))
        return false;
    while (resolver_needs_below(at) && at->below && !at->below->merged_done) {
        at->below->above = at;
        at = at->below;
    }
    while (resolver_merge_binding(resolver, symbol, at) && at != binding)
        at = at->above;
    resolver->depth--;
    *ret = binding->merged;
    return resolver->load->status == LBX_OK;
}

bool
lbx__resolver_symbol_value(lbx__resolver *resolver, lbx__symbol *symbol,
                           lbx__resolver_value **ret)
{
    if (symbol->active)
        return lbx__resolver_previous_value(resolver, symbol, ret);
    return resolver_binding_value(resolver, symbol, symbol->top, ret);
}

bool
lbx__resolver_previous_value(lbx__resolver *resolver, lbx__symbol *symbol,
                             lbx__resolver_value **ret)
{
    lbx__binding *active = symbol->active;

    assert(active);
    // The previous value in the section it comes from takes precedence.
    *ret = NULL;
    if (active->source && active->source->active &&
        !lbx__resolver_previous_value(resolver, active->source, ret))
        return false;
    if (!*ret && !resolver_binding_value(resolver, symbol, active->below, ret))
        return false;
    resolver->looped |= !*ret;
    return true;
}

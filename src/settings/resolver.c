/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells and their slots; the rules I1 and I2 are in resolve.h.
 *
 * Values that wait for each other nest on the stack, so that their depth is
 * limited. What nests without need is unrolled: a field that extends itself a
 * thousand times is worked out from its oldest assignment upwards, and a
 * member taken over through many sections points at where it came from.
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

/* A new binding on top of the symbol for `key`. */
static lbx__binding *
add_slot(lbx__resolver *resolver, lbx__resolver_value *section, const char *key)
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
add_field(lbx__resolver *resolver, lbx__resolver_value *section,
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

        if (!add_field(resolver, value, entry->key, entry->value))
            return NULL;
    }
    return value;
}

/* Where the value of a symbol really comes from: through sections that only
 * passed it on. */
static lbx__symbol *
origin_of(lbx__symbol *symbol)
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
                add_slot(resolver, value, symbols->entries[j].key);

            if (!binding)
                return NULL;
            binding->source = origin_of(symbols->entries[j].value);
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

/* The value of one assignment alone. */
static bool
own_value(lbx__resolver *resolver, lbx__symbol *symbol, lbx__binding *binding,
          lbx__resolver_value **ret)
{
    lbx__binding *outer = symbol->active;

    if (!binding->own_done) { // I1
        bool done;

        symbol->active = binding; // I2
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

/* Whether nothing below `binding`, whose own value is known, counts any more;
 * *covers is then set if that is because something was covered. */
static bool
is_last(const lbx__binding *binding, bool *covers)
{
    if (binding->source && binding->source->top->covers) {
        *covers = true;
        return true;
    }
    // What looks back has all that is below in it already.
    if (binding->looks_back && binding->below)
        *covers |= binding->below->covers;
    return binding->looks_back;
}

/* The next value of the stack from *binding down, *binding moved to what is below
 * it; NULL at the end. */
static bool
next_layer(lbx__resolver *resolver, lbx__symbol *symbol, lbx__binding **binding,
           lbx__resolver_value **ret, bool *covers)
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
            if (!own_value(resolver, symbol, at, ret))
                return false;
            if (*ret && is_last(at, covers))
                *binding = NULL;
        }
    }
    return true;
}

/* How many layers there can be at most from here down. */
static size_t
stack_height(const lbx__binding *binding)
{
    size_t height = 0;

    for (; binding; binding = binding->below)
        height++;
    return height;
}

/* Merges the sections below `top`, a section, with it. */
static bool
merge_down(lbx__resolver *resolver, lbx__symbol *symbol, lbx__binding *rest,
           lbx__resolver_value **value, bool *covers)
{
    const size_t most = stack_height(rest) + 1;
    lbx__resolver_value **layers;
    size_t first = most;

    layers =
        lbx__loader_take(resolver->load, most * sizeof(lbx__resolver_value *));
    if (!layers)
        return false;
    while (*value && (*value)->kind == LBX_SETTINGS_KIND_SECTION) {
        layers[--first] = *value;
        if (!next_layer(resolver, symbol, &rest, value, covers))
            return false;
    }
    *covers |= *value != NULL;
    *value = lbx__resolver_merge(resolver, layers + first, most - first);
    return *value != NULL;
}

/* The value of a binding and all below it. */
static bool
merge_slot(lbx__resolver *resolver, lbx__symbol *symbol, lbx__binding *binding)
{
    lbx__binding *rest = binding;
    lbx__resolver_value *value;

    if (binding->merged_done)
        return true;
    if (!next_layer(resolver, symbol, &rest, &value, &binding->covers))
        return false;
    if (value && value->kind == LBX_SETTINGS_KIND_SECTION && rest &&
        !merge_down(resolver, symbol, rest, &value, &binding->covers))
        return false;
    binding->merged = value;
    binding->merged_done = true;
    return true;
}

/* Whether the value of a binding cannot be known without what is below it: it
 * looks back, or it is a section, which merges. */
static bool
needs_below(const lbx__binding *binding)
{
    return binding->looks_back ||
           (binding->expr && binding->expr->kind == LBX__EXPR_SECTION);
}

/* The value from `binding` down, worked out from below as far as it is certain
 * to be needed. */
static bool
slot_value(lbx__resolver *resolver, lbx__symbol *symbol, lbx__binding *binding,
           lbx__resolver_value **ret)
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
    while (needs_below(at) && at->below && !at->below->merged_done) {
        at->below->above = at;
        at = at->below;
    }
    while (merge_slot(resolver, symbol, at) && at != binding)
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
    return slot_value(resolver, symbol, symbol->top, ret);
}

bool
lbx__resolver_previous_value(lbx__resolver *resolver, lbx__symbol *symbol,
                             lbx__resolver_value **ret)
{
    lbx__binding *active = symbol->active;

    assert(active);
    // What the member had in the section it comes from is nearer.
    *ret = NULL;
    if (active->source && active->source->active &&
        !lbx__resolver_previous_value(resolver, active->source, ret))
        return false;
    if (!*ret && !slot_value(resolver, symbol, active->below, ret))
        return false;
    resolver->looped |= !*ret;
    return true;
}

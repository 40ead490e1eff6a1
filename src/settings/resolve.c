/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells and their slots; the rules I1 and I2 are in resolve.h.
 *
 * Values that wait for each other nest on the stack, so that their depth is
 * limited. What nests without need is unrolled: a field that extends itself a
 * thousand times is worked out from its oldest assignment upwards, and a
 * member taken over through many sections points at where it came from.
 */
#include "settings/resolve.h"

#include <assert.h>

lbx__value *
lbx__value_create(lbx__resolver *resolver, lbx_settings_kind kind,
                  lbx__place place)
{
    lbx__value *value;

    if (!lbx__load_count(resolver->load, place))
        return NULL;
    value = lbx__load_take(resolver->load, sizeof(*value));
    if (!value)
        return NULL;
    value->kind = kind;
    value->place = place;
    value->text = "";
    if (kind == LBX_SETTINGS_KIND_SECTION) {
        value->cells = lbx__load_take(resolver->load, sizeof(*value->cells));
        if (!value->cells)
            return NULL;
    }
    return value;
}

/* A new slot on top of the cell for `key`. */
static lbx__slot *
add_slot(lbx__resolver *resolver, lbx__value *section, const char *key)
{
    lbx__load *load = resolver->load;
    lbx__entry *entry = lbx__table_put(section->cells, &load->arena, key);
    lbx__slot *slot;
    lbx__cell *cell;

    if (!entry) {
        (void)lbx__load_no_room(load);
        return NULL;
    }
    if (!entry->value)
        entry->value = lbx__load_take(load, sizeof(lbx__cell));
    cell = entry->value;
    slot = cell ? lbx__load_take(load, sizeof(*slot)) : NULL;
    if (!slot || !lbx__load_count(load, section->place))
        return NULL;
    slot->below = cell->top;
    cell->top = slot;
    return slot;
}

/* Slots for the assignments of a field, the oldest at the bottom. */
static bool
add_field(lbx__resolver *resolver, lbx__value *section, const char *key,
          const lbx__field *field)
{
    lbx__slot *top = NULL;
    lbx__slot **end = &top;
    lbx__entry *entry;
    lbx__cell *cell;

    for (const lbx__assignment *assignment = field->newest; assignment;
         assignment = assignment->older) {
        lbx__slot *slot = lbx__load_take(resolver->load, sizeof(*slot));

        if (!slot || !lbx__load_count(resolver->load, section->place))
            return false;
        slot->raw = assignment->raw;
        slot->looks_back = assignment->looks_back;
        *end = slot;
        end = &slot->below;
    }
    cell = lbx__load_take(resolver->load, sizeof(*cell));
    if (!cell)
        return false;
    cell->top = top;
    entry = lbx__table_put(section->cells, &resolver->load->arena, key);
    if (!entry)
        return lbx__load_no_room(resolver->load);
    entry->value = cell;
    return true;
}

lbx__value *
lbx__section_value(lbx__resolver *resolver, const lbx__raw *raw)
{
    lbx__value *value =
        lbx__value_create(resolver, LBX_SETTINGS_KIND_SECTION, raw->place);

    for (uint32_t i = 0; value && i < raw->fields->count; i++) {
        const lbx__entry *entry = &raw->fields->entries[i];

        if (!add_field(resolver, value, entry->key, entry->value))
            return NULL;
    }
    return value;
}

/* Where the value of a cell really comes from: through sections that only
 * passed it on. */
static lbx__cell *
origin_of(lbx__cell *cell)
{
    while (!cell->top->below && cell->top->source)
        cell = cell->top->source;
    return cell;
}

lbx__value *
lbx__value_merge(lbx__resolver *resolver, lbx__value *const *layers,
                 size_t count)
{
    lbx__value *value;

    if (count == 1)
        return layers[0];
    value = lbx__value_create(resolver, LBX_SETTINGS_KIND_SECTION,
                              layers[0]->place);
    for (size_t i = 0; value && i < count; i++) {
        const lbx__table *cells = layers[i]->cells;

        for (uint32_t j = 0; j < cells->count; j++) {
            lbx__slot *slot = add_slot(resolver, value, cells->entries[j].key);

            if (!slot)
                return NULL;
            slot->source = origin_of(cells->entries[j].value);
        }
    }
    return value;
}

bool
lbx__resolver_init(lbx__resolver *resolver, lbx__load *load,
                   const lbx__raw *root)
{
    *resolver = (lbx__resolver){.load = load};
    resolver->root = lbx__section_value(resolver, root);
    return resolver->root != NULL;
}

/* ---- Cells ---- */

/* The value of one assignment alone. */
static bool
own_value(lbx__resolver *resolver, lbx__cell *cell, lbx__slot *slot,
          lbx__value **ret)
{
    lbx__slot *outer = cell->active;

    if (!slot->own_done) { // I1
        bool done;

        cell->active = slot; // I2
        done = slot->source
                   ? lbx__cell_value(resolver, slot->source, &slot->own)
                   : lbx__raw_value(resolver, cell, slot->raw, &slot->own);
        cell->active = outer;
        if (!done)
            return false;
        slot->own_done = true;
    }
    *ret = slot->own;
    return true;
}

/* Whether nothing below `slot`, whose own value is known, counts any more;
 * *covers is then set if that is because something was covered. */
static bool
is_last(const lbx__slot *slot, bool *covers)
{
    if (slot->source && slot->source->top->covers) {
        *covers = true;
        return true;
    }
    // What looks back has all that is below in it already.
    if (slot->looks_back && slot->below)
        *covers |= slot->below->covers;
    return slot->looks_back;
}

/* The next value of the stack from *slot down, *slot moved to what is below
 * it; NULL at the end. */
static bool
next_layer(lbx__resolver *resolver, lbx__cell *cell, lbx__slot **slot,
           lbx__value **ret, bool *covers)
{
    *ret = NULL;
    while (*slot && !*ret) {
        lbx__slot *at = *slot;

        *slot = at->below;
        if (at->merged_done) {
            *ret = at->merged;
            *covers |= at->covers;
            *slot = NULL;
        } else {
            if (!own_value(resolver, cell, at, ret))
                return false;
            if (*ret && is_last(at, covers))
                *slot = NULL;
        }
    }
    return true;
}

/* How many layers there can be at most from here down. */
static size_t
stack_height(const lbx__slot *slot)
{
    size_t height = 0;

    for (; slot; slot = slot->below)
        height++;
    return height;
}

/* Merges the sections below `top`, a section, with it. */
static bool
merge_down(lbx__resolver *resolver, lbx__cell *cell, lbx__slot *rest,
           lbx__value **value, bool *covers)
{
    const size_t most = stack_height(rest) + 1;
    lbx__value **layers;
    size_t first = most;

    layers = lbx__load_take(resolver->load, most * sizeof(lbx__value *));
    if (!layers)
        return false;
    while (*value && (*value)->kind == LBX_SETTINGS_KIND_SECTION) {
        layers[--first] = *value;
        if (!next_layer(resolver, cell, &rest, value, covers))
            return false;
    }
    *covers |= *value != NULL;
    *value = lbx__value_merge(resolver, layers + first, most - first);
    return *value != NULL;
}

/* The value of a slot and all below it. */
static bool
merge_slot(lbx__resolver *resolver, lbx__cell *cell, lbx__slot *slot)
{
    lbx__slot *rest = slot;
    lbx__value *value;

    if (slot->merged_done)
        return true;
    if (!next_layer(resolver, cell, &rest, &value, &slot->covers))
        return false;
    if (value && value->kind == LBX_SETTINGS_KIND_SECTION && rest &&
        !merge_down(resolver, cell, rest, &value, &slot->covers))
        return false;
    slot->merged = value;
    slot->merged_done = true;
    return true;
}

/* Whether the value of a slot cannot be known without what is below it: it
 * looks back, or it is a section, which merges. */
static bool
needs_below(const lbx__slot *slot)
{
    return slot->looks_back ||
           (slot->raw && slot->raw->kind == LBX__RAW_SECTION);
}

/* The value from `slot` down, worked out from below as far as it is certain
 * to be needed. */
static bool
slot_value(lbx__resolver *resolver, lbx__cell *cell, lbx__slot *slot,
           lbx__value **ret)
{
    lbx__slot *at = slot;
    lbx__place place = {NULL, 0};

    *ret = NULL;
    if (!slot)
        return true;
    if (slot->merged_done) {
        *ret = slot->merged;
        return true;
    }
    if (slot->raw)
        place = slot->raw->place;
    if (!lbx__load_depth(resolver->load, place, ++resolver->depth))
        return false;
    while (needs_below(at) && at->below && !at->below->merged_done) {
        at->below->above = at;
        at = at->below;
    }
    while (merge_slot(resolver, cell, at) && at != slot)
        at = at->above;
    resolver->depth--;
    *ret = slot->merged;
    return resolver->load->status == LBX_OK;
}

bool
lbx__cell_value(lbx__resolver *resolver, lbx__cell *cell, lbx__value **ret)
{
    if (cell->active)
        return lbx__cell_previous(resolver, cell, ret);
    return slot_value(resolver, cell, cell->top, ret);
}

bool
lbx__cell_previous(lbx__resolver *resolver, lbx__cell *cell, lbx__value **ret)
{
    lbx__slot *active = cell->active;

    assert(active);
    // What the member had in the section it comes from is nearer.
    *ret = NULL;
    if (active->source && active->source->active &&
        !lbx__cell_previous(resolver, active->source, ret))
        return false;
    if (!*ret && !slot_value(resolver, cell, active->below, ret))
        return false;
    resolver->looped |= !*ret;
    return true;
}

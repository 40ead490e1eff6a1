/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields and what is assigned to them.
 *
 * The rule for duplicates. Each pair of braces has a number; a file without
 * them counts as one pair. A second assignment to a field with the number of
 * the newest one is a mistake, unless it visibly builds on what is there:
 * sections merge, ${x} in x and += extend, ${?x} replaces only if it can.
 */
#include "settings/raw.h"

#include <assert.h>
#include <string.h>

lbx__raw *
lbx__raw_create(lbx__load *load, lbx__raw_kind kind, lbx__place place)
{
    lbx__raw *raw;

    if (!lbx__load_count(load, place))
        return NULL;
    raw = lbx__load_take(load, sizeof(*raw));
    if (!raw)
        return NULL;
    raw->kind = kind;
    raw->place = place;
    if (kind == LBX__RAW_SECTION) {
        raw->fields = lbx__load_take(load, sizeof(*raw->fields));
        if (!raw->fields)
            return NULL;
    }
    return raw;
}

/* Whether the value can turn out to be a section. */
static bool
may_merge(const lbx__raw *raw)
{
    bool all_substituted = true;

    if (raw->kind == LBX__RAW_SECTION || raw->kind == LBX__RAW_SUBST)
        return true;
    if (raw->kind != LBX__RAW_CONCAT)
        return false;
    for (const lbx__piece *piece = raw->pieces; piece; piece = piece->next) {
        if (piece->raw->kind == LBX__RAW_SECTION)
            return true;
        all_substituted &= piece->raw->kind == LBX__RAW_SUBST;
    }
    return all_substituted;
}

/* Whether the value can turn out to be nothing. */
static bool
may_vanish(const lbx__raw *raw)
{
    if (raw->kind != LBX__RAW_CONCAT)
        return raw->kind == LBX__RAW_SUBST && raw->optional;
    for (const lbx__piece *piece = raw->pieces; piece; piece = piece->next) {
        if (!may_vanish(piece->raw))
            return false;
    }
    return true;
}

static bool
is_duplicate(const lbx__assignment *newest, const lbx__assignment *next)
{
    return newest && newest->braces == next->braces && !next->looks_back &&
           !may_vanish(next->raw) &&
           !(may_merge(newest->raw) && may_merge(next->raw));
}

static bool merge_sections(lbx__load *load, lbx__raw *into,
                           const lbx__raw *from);

/* Puts an assignment on top of a field's others. */
static bool
assign(lbx__load *load, lbx__field *field, const lbx__assignment *next)
{
    lbx__assignment *copy;

    if (field->newest && field->newest->raw->kind == LBX__RAW_SECTION &&
        next->raw->kind == LBX__RAW_SECTION) {
        field->newest->braces = next->braces;
        return merge_sections(load, field->newest->raw, next->raw);
    }
    copy = lbx__load_take(load, sizeof(*copy));
    if (!copy)
        return false;
    *copy = *next;
    copy->older = field->newest;
    field->newest = copy;
    return true;
}

/* The field of that name, made if need be. */
static lbx__field *
field_of(lbx__load *load, lbx__raw *section, const char *key)
{
    lbx__entry *entry;

    assert(section->kind == LBX__RAW_SECTION);
    entry = lbx__table_put(section->fields, &load->arena, key);
    if (!entry) {
        (void)lbx__load_no_room(load);
        return NULL;
    }
    if (!entry->value)
        entry->value = lbx__load_take(load, sizeof(lbx__field));
    return entry->value;
}

/* Puts a chain of assignments, oldest first, on a field: turned round, put,
 * turned back, so that a long one needs no stack. */
static bool
assign_all(lbx__load *load, lbx__field *field, lbx__assignment *newest)
{
    lbx__assignment *oldest = NULL;

    while (newest) {
        lbx__assignment *older = newest->older;

        newest->older = oldest;
        oldest = newest;
        newest = older;
    }
    for (; oldest; oldest = oldest->older) {
        if (!assign(load, field, oldest))
            return false;
    }
    return true;
}

/* Moves the fields of `from`, which is not used any more, into `into`. */
static bool
merge_sections(lbx__load *load, lbx__raw *into, const lbx__raw *from)
{
    for (uint32_t i = 0; i < from->fields->count; i++) {
        const lbx__entry *entry = &from->fields->entries[i];
        lbx__field *source = entry->value;
        lbx__field *field = field_of(load, into, entry->key);

        load->steps++;
        if (!field)
            return false;
        if (!field->newest)
            *field = *source;
        else if (!assign_all(load, field, source->newest))
            return false;
    }
    return true;
}

static bool
refuse_duplicate(lbx__load *load, const char *key, const lbx__raw *first,
                 const lbx__raw *second)
{
    return lbx__load_fail(load, LBX_INVALID, second->place,
                          "%.60s: set twice in the same braces, first on line "
                          "%u; keep one, or override it in a block of its own",
                          key, (unsigned)first->place.line);
}

/* The newest section of a field, made if what is newest is something else. */
static lbx__raw *
section_of(lbx__load *load, lbx__field *field, const char *key,
           const lbx__assignment *assignment)
{
    lbx__assignment section = {.braces = assignment->braces};

    if (field->newest && field->newest->raw->kind == LBX__RAW_SECTION) {
        field->newest->braces = assignment->braces;
        return field->newest->raw;
    }
    section.raw =
        lbx__raw_create(load, LBX__RAW_SECTION, assignment->raw->place);
    if (!section.raw)
        return NULL;
    if (!load->options.allow_duplicates &&
        is_duplicate(field->newest, &section)) {
        (void)refuse_duplicate(load, key, field->newest->raw, section.raw);
        return NULL;
    }
    return assign(load, field, &section) ? field->newest->raw : NULL;
}

bool
lbx__raw_put(lbx__load *load, lbx__raw *section, const char *const *keys,
             uint32_t count, lbx__assignment assignment)
{
    lbx__field *field = NULL;

    assert(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        field = field_of(load, section, keys[i]);
        if (!field)
            return false;
        if (i + 1 == count)
            break;
        section = section_of(load, field, keys[i], &assignment);
        if (!section)
            return false;
    }
    if (!load->options.allow_duplicates &&
        is_duplicate(field->newest, &assignment))
        return refuse_duplicate(load, keys[count - 1], field->newest->raw,
                                assignment.raw);
    return assign(load, field, &assignment);
}

/* Back from a tree: its depth was checked when it was made. */
static lbx__raw *
raw_of(lbx__load *load, const lbx_settings *settings)
{
    static const lbx__raw_kind kinds[] = {
        [LBX_SETTINGS_KIND_NULL] = LBX__RAW_NULL,
        [LBX_SETTINGS_KIND_BOOLEAN] = LBX__RAW_BOOLEAN,
        [LBX_SETTINGS_KIND_NUMBER] = LBX__RAW_NUMBER,
        [LBX_SETTINGS_KIND_STRING] = LBX__RAW_STRING,
        [LBX_SETTINGS_KIND_LIST] = LBX__RAW_LIST,
        [LBX_SETTINGS_KIND_SECTION] = LBX__RAW_SECTION,
    };
    const lbx__place place = {lbx_settings_file(settings),
                              lbx_settings_line(settings)};
    lbx__raw *raw =
        lbx__raw_create(load, kinds[lbx_settings_kind_of(settings)], place);
    lbx__piece **end;

    if (!raw)
        return NULL;
    raw->text = lbx_settings_text(settings);
    if (raw->kind == LBX__RAW_SECTION)
        return lbx__raw_add_tree(load, raw, settings) ? raw : NULL;
    end = &raw->pieces;
    for (size_t i = 0; i < lbx_settings_count(settings); i++) {
        lbx__piece *piece = lbx__load_take(load, sizeof(*piece));

        if (!piece)
            return NULL;
        piece->raw = raw_of(load, lbx_settings_child(settings, i));
        if (!piece->raw)
            return NULL;
        *end = piece;
        end = &piece->next;
    }
    return raw;
}

bool
lbx__raw_add_tree(lbx__load *load, lbx__raw *section,
                  const lbx_settings *settings)
{
    const uint32_t braces = ++load->braces;

    for (size_t i = 0; i < lbx_settings_count(settings); i++) {
        const lbx_settings *child = lbx_settings_child(settings, i);
        const char *key = lbx_settings_key(child);
        lbx__assignment assignment = {.braces = braces};

        assignment.raw = raw_of(load, child);
        if (!assignment.raw)
            return false;
        if (!lbx__raw_put(load, section, &key, 1, assignment))
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields, and the rule for duplicates.
 *
 * Each pair of braces has a number; a file without braces counts as one pair. A
 * second assignment to a field inside the same braces is a mistake, unless it
 * visibly extends the first: sections merge, ${x} in x and += extend, and ${?x}
 * replaces only if it is defined.
 */
#include "settings/expr.h"

#include <assert.h>
#include <string.h>

lbx__expr *
lbx__expr_create(lbx__loader *load, lbx__expr_kind kind, lbx__fault_line origin)
{
    lbx__expr *expr;

    if (!lbx__loader_count_value(load, origin))
        return NULL;
    expr = lbx__loader_take(load, sizeof(*expr));
    if (!expr)
        return NULL;
    expr->kind = kind;
    expr->origin = origin;
    if (kind == LBX__EXPR_SECTION) {
        expr->fields = lbx__loader_take(load, sizeof(*expr->fields));
        if (!expr->fields)
            return NULL;
    }
    return expr;
}

/* Whether the value may resolve to a section. */
static bool
expr_may_merge(const lbx__expr *expr)
{
    bool all_substituted = true;

    if (expr->kind == LBX__EXPR_SECTION || expr->kind == LBX__EXPR_SUBST)
        return true;
    if (expr->kind != LBX__EXPR_CONCAT)
        return false;
    for (const lbx__expr_piece *piece = expr->pieces; piece;
         piece = piece->next) {
        if (piece->expr->kind == LBX__EXPR_SECTION)
            return true;
        all_substituted &= piece->expr->kind == LBX__EXPR_SUBST;
    }
    return all_substituted;
}

/* Whether the value may be undefined. */
static bool
expr_may_vanish(const lbx__expr *expr)
{
    if (expr->kind != LBX__EXPR_CONCAT)
        return expr->kind == LBX__EXPR_SUBST && expr->optional;
    for (const lbx__expr_piece *piece = expr->pieces; piece;
         piece = piece->next) {
        if (!expr_may_vanish(piece->expr))
            return false;
    }
    return true;
}

static bool
expr_is_duplicate(const lbx__expr_assignment *newest,
                  const lbx__expr_assignment *next)
{
    return newest && newest->braces == next->braces && !next->looks_back &&
           !expr_may_vanish(next->expr) &&
           !(expr_may_merge(newest->expr) && expr_may_merge(next->expr));
}

static bool expr_merge_sections(lbx__loader *load, lbx__expr *into,
                                const lbx__expr *from);

/* Adds an assignment to a field, as the newest. */
static bool
expr_push(lbx__loader *load, lbx__expr_field *field,
          const lbx__expr_assignment *next)
{
    lbx__expr_assignment *copy;

    if (field->newest && field->newest->expr->kind == LBX__EXPR_SECTION &&
        next->expr->kind == LBX__EXPR_SECTION) {
        field->newest->braces = next->braces;
        return expr_merge_sections(load, field->newest->expr, next->expr);
    }
    copy = lbx__loader_take(load, sizeof(*copy));
    if (!copy)
        return false;
    *copy = *next;
    copy->older = field->newest;
    field->newest = copy;
    return true;
}

/* The field with this key, created if it does not exist. */
static lbx__expr_field *
expr_find_field(lbx__loader *load, lbx__expr *section, const char *key)
{
    lbx__key_entry *entry;

    assert(section->kind == LBX__EXPR_SECTION);
    entry = lbx__key_table_put(section->fields, &load->arena, key);
    if (!entry) {
        (void)lbx__loader_no_memory(load);
        return NULL;
    }
    if (!entry->value)
        entry->value = lbx__loader_take(load, sizeof(lbx__expr_field));
    return entry->value;
}

/* Puts a chain of assignments, oldest first, on a field: turned round, put,
 * turned back, so that a long one needs no stack. */
static bool
expr_push_all(lbx__loader *load, lbx__expr_field *field,
              lbx__expr_assignment *newest)
{
    lbx__expr_assignment *oldest = NULL;

    while (newest) {
        lbx__expr_assignment *older = newest->older;

        newest->older = oldest;
        oldest = newest;
        newest = older;
    }
    for (; oldest; oldest = oldest->older) {
        if (!expr_push(load, field, oldest))
            return false;
    }
    return true;
}

/* Moves the fields of `from`, which is not used any more, into `into`. */
static bool
expr_merge_sections(lbx__loader *load, lbx__expr *into, const lbx__expr *from)
{
    for (uint32_t i = 0; i < from->fields->count; i++) {
        const lbx__key_entry *entry = &from->fields->entries[i];
        lbx__expr_field *source = entry->value;
        lbx__expr_field *field = expr_find_field(load, into, entry->key);

        load->steps++;
        if (!field)
            return false;
        if (!field->newest)
            *field = *source;
        else if (!expr_push_all(load, field, source->newest))
            return false;
    }
    return true;
}

static bool
expr_refuse_duplicate(lbx__loader *load, const char *key,
                      const lbx__expr *first, const lbx__expr *second)
{
    return lbx__loader_fail(
        load, LBX_INVALID, second->origin,
        "%.60s: set twice in the same braces, first on line "
        "%u; keep one, or override it in a block of its own",
        key, (unsigned)first->origin.line);
}

/* The newest value of a field if it is a section; otherwise a new section. */
static lbx__expr *
expr_find_section(lbx__loader *load, lbx__expr_field *field, const char *key,
                  const lbx__expr_assignment *assignment)
{
    lbx__expr_assignment section = {.braces = assignment->braces};

    if (field->newest && field->newest->expr->kind == LBX__EXPR_SECTION) {
        field->newest->braces = assignment->braces;
        return field->newest->expr;
    }
    section.expr =
        lbx__expr_create(load, LBX__EXPR_SECTION, assignment->expr->origin);
    if (!section.expr)
        return NULL;
    if (!load->options.allow_duplicates &&
        expr_is_duplicate(field->newest, &section)) {
        (void)expr_refuse_duplicate(load, key, field->newest->expr,
                                    section.expr);
        return NULL;
    }
    return expr_push(load, field, &section) ? field->newest->expr : NULL;
}

bool
lbx__expr_assign(lbx__loader *load, lbx__expr *section, const char *const *keys,
                 uint32_t count, lbx__expr_assignment assignment)
{
    lbx__expr_field *field = NULL;

    assert(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        field = expr_find_field(load, section, keys[i]);
        if (!field)
            return false;
        if (i + 1 == count)
            break;
        section = expr_find_section(load, field, keys[i], &assignment);
        if (!section)
            return false;
    }
    if (!load->options.allow_duplicates &&
        expr_is_duplicate(field->newest, &assignment))
        return expr_refuse_duplicate(load, keys[count - 1], field->newest->expr,
                                     assignment.expr);
    return expr_push(load, field, &assignment);
}

/* An expression from a tree, whose depth was checked when it was made. */
static lbx__expr *
expr_from_tree(lbx__loader *load, const lbx_settings *settings)
{
    static const lbx__expr_kind kinds[] = {
        [LBX_SETTINGS_KIND_NULL] = LBX__EXPR_NULL,
        [LBX_SETTINGS_KIND_BOOLEAN] = LBX__EXPR_BOOLEAN,
        [LBX_SETTINGS_KIND_NUMBER] = LBX__EXPR_NUMBER,
        [LBX_SETTINGS_KIND_STRING] = LBX__EXPR_STRING,
        [LBX_SETTINGS_KIND_LIST] = LBX__EXPR_LIST,
        [LBX_SETTINGS_KIND_SECTION] = LBX__EXPR_SECTION,
    };
    const lbx__fault_line origin = {lbx_settings_file(settings),
                                    lbx_settings_line(settings)};
    lbx__expr *expr =
        lbx__expr_create(load, kinds[lbx_settings_kind_of(settings)], origin);
    lbx__expr_piece **end;

    if (!expr)
        return NULL;
    expr->text = lbx_settings_text(settings);
    if (expr->kind == LBX__EXPR_SECTION)
        return lbx__expr_add_tree(load, expr, settings) ? expr : NULL;
    end = &expr->pieces;
    for (size_t i = 0; i < lbx_settings_count(settings); i++) {
        lbx__expr_piece *piece = lbx__loader_take(load, sizeof(*piece));

        if (!piece)
            return NULL;
        piece->expr = expr_from_tree(load, lbx_settings_child(settings, i));
        if (!piece->expr)
            return NULL;
        *end = piece;
        end = &piece->next;
    }
    return expr;
}

bool
lbx__expr_add_tree(lbx__loader *load, lbx__expr *section,
                   const lbx_settings *settings)
{
    const uint32_t braces = ++load->braces;

    for (size_t i = 0; i < lbx_settings_count(settings); i++) {
        const lbx_settings *child = lbx_settings_child(settings, i);
        const char *key = lbx_settings_key(child);
        lbx__expr_assignment assignment = {.braces = braces};

        assignment.expr = expr_from_tree(load, child);
        if (!assignment.expr)
            return false;
        if (!lbx__expr_assign(load, section, &key, 1, assignment))
            return false;
    }
    return true;
}

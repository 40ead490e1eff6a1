/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concatenation: values beside each other on a line become one value.
 *
 * Plain values become one text, with the white space between them; lists become
 * one list; sections one section. Undefined values count as nothing. All other
 * mixtures are errors, as HOCON demands.
 */
#include "settings/resolver.h"

#include <string.h>

/* The values of the pieces; undefined ones are NULL. */
struct parts {
    lbx__resolver_value **values;
    size_t count;
    size_t defined;
    const lbx__resolver_value
        *kind; /* the first list or section, else a plain one */
};

static bool
resolver_concat_is_plain(const lbx__resolver_value *value)
{
    return value->kind != LBX_SETTINGS_KIND_LIST &&
           value->kind != LBX_SETTINGS_KIND_SECTION;
}

static bool
resolver_concat_collect(lbx__resolver *resolver, lbx__symbol *symbol,
                        const lbx__expr *expr, struct parts *parts)
{
    size_t count = 0;

    for (const lbx__expr_piece *piece = expr->pieces; piece;
         piece = piece->next)
        count++;
    parts->values =
        lbx__loader_take(resolver->load, count * sizeof(*parts->values));
    if (!parts->values)
        return false;
    for (const lbx__expr_piece *piece = expr->pieces; piece;
         piece = piece->next) {
        lbx__resolver_value *value;

        if (!lbx__resolver_evaluate(resolver, symbol, piece->expr, &value))
            return false;
        parts->values[parts->count++] = value;
        if (!value)
            continue;
        parts->defined++;
        if (!parts->kind || resolver_concat_is_plain(parts->kind))
            parts->kind = value;
    }
    return true;
}

static const char *
resolver_concat_text(const lbx__resolver_value *value)
{
    return value ? value->text : "";
}

static bool
resolver_concat_texts(lbx__resolver *resolver, const lbx__expr *expr,
                      const struct parts *parts, lbx__resolver_value **ret)
{
    const lbx__expr_piece *piece = expr->pieces;
    size_t length = 0;
    char *text;

    for (size_t i = 0; i < parts->count; i++, piece = piece->next)
        length += strlen(piece->space) +
                  strlen(resolver_concat_text(parts->values[i]));
    *ret = lbx__resolver_new_value(resolver, LBX_SETTINGS_KIND_STRING,
                                   expr->origin);
    text = *ret ? lbx__loader_take(resolver->load, length + 1) : NULL;
    if (!text)
        return false;
    (*ret)->text = text;
    piece = expr->pieces;
    for (size_t i = 0; i < parts->count; i++, piece = piece->next) {
        text = stpcpy(text, piece->space);
        text = stpcpy(text, resolver_concat_text(parts->values[i]));
    }
    return true;
}

static bool
resolver_concat_lists(lbx__resolver *resolver, const lbx__expr *expr,
                      const struct parts *parts, lbx__resolver_value **ret)
{
    lbx__resolver_value *list =
        lbx__resolver_new_value(resolver, LBX_SETTINGS_KIND_LIST, expr->origin);
    size_t count = 0;

    if (!list)
        return false;
    for (size_t i = 0; i < parts->count; i++)
        count += parts->values[i] ? parts->values[i]->member_count : 0;
    *ret = list;
    if (count == 0)
        return true;
    list->members =
        lbx__loader_take(resolver->load, count * sizeof(*list->members));
    if (!list->members)
        return false;
    for (size_t i = 0; i < parts->count; i++) {
        const lbx__resolver_value *part = parts->values[i];

        for (size_t j = 0; part && j < part->member_count; j++)
            list->members[list->member_count++] = part->members[j];
    }
    return true;
}

static bool
resolver_concat_sections(lbx__resolver *resolver, struct parts *parts,
                         lbx__resolver_value **ret)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->count; i++) {
        if (parts->values[i])
            parts->values[count++] = parts->values[i];
    }
    *ret = lbx__resolver_merge(resolver, parts->values, count);
    return *ret != NULL;
}

static bool
resolver_concat_same_kind(const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const lbx__resolver_value *value = parts->values[i];

        if (value && value->kind != parts->kind->kind)
            return false;
    }
    return true;
}

/* Whether all values are undefined, with no white space between them. */
static bool
resolver_concat_is_nothing(const lbx__expr *expr, const struct parts *parts)
{
    if (parts->defined > 0)
        return false;
    for (const lbx__expr_piece *piece = expr->pieces; piece;
         piece = piece->next) {
        if (piece->space[0])
            return false;
    }
    return true;
}

bool
lbx__resolver_concat(lbx__resolver *resolver, lbx__symbol *symbol,
                     const lbx__expr *expr, lbx__resolver_value **ret)
{
    struct parts parts = {.count = 0};

    if (!resolver_concat_collect(resolver, symbol, expr, &parts))
        return false;
    *ret = NULL;
    if (resolver_concat_is_nothing(expr, &parts))
        return true;
    if (!parts.kind || resolver_concat_is_plain(parts.kind))
        return resolver_concat_texts(resolver, expr, &parts, ret);
    if (!resolver_concat_same_kind(&parts))
        return lbx__loader_fail(
            resolver->load, LBX_INVALID, expr->origin,
            "values of different kinds beside each other; a %s can only "
            "stand beside others",
            parts.kind->kind == LBX_SETTINGS_KIND_LIST ? "list" : "section");
    return parts.kind->kind == LBX_SETTINGS_KIND_LIST
               ? resolver_concat_lists(resolver, expr, &parts, ret)
               : resolver_concat_sections(resolver, &parts, ret);
}

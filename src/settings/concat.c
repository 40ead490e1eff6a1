/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concatenation: plain values become one text, with the white space between
 * them; lists one list; sections one section. Undefined pieces count as
 * nothing. Of other mixtures HOCON makes errors, and so do we.
 */
#include "settings/resolve.h"

#include <string.h>

/* The values of the pieces; undefined ones are NULL. */
struct parts {
    lbx__value **values;
    size_t count;
    size_t defined;
    const lbx__value *kind; /* the first list or section, else a plain one */
};

static bool
is_plain(const lbx__value *value)
{
    return value->kind != LBX_SETTINGS_KIND_LIST &&
           value->kind != LBX_SETTINGS_KIND_SECTION;
}

static bool
collect(lbx__resolver *resolver, lbx__cell *cell, const lbx__raw *raw,
        struct parts *parts)
{
    size_t count = 0;

    for (const lbx__piece *piece = raw->pieces; piece; piece = piece->next)
        count++;
    parts->values =
        lbx__load_take(resolver->load, count * sizeof(*parts->values));
    if (!parts->values)
        return false;
    for (const lbx__piece *piece = raw->pieces; piece; piece = piece->next) {
        lbx__value *value;

        if (!lbx__raw_value(resolver, cell, piece->raw, &value))
            return false;
        parts->values[parts->count++] = value;
        if (!value)
            continue;
        parts->defined++;
        if (!parts->kind || is_plain(parts->kind))
            parts->kind = value;
    }
    return true;
}

static const char *
text_of(const lbx__value *value)
{
    return value ? value->text : "";
}

static bool
join(lbx__resolver *resolver, const lbx__raw *raw, const struct parts *parts,
     lbx__value **ret)
{
    const lbx__piece *piece = raw->pieces;
    size_t length = 0;
    char *text;

    for (size_t i = 0; i < parts->count; i++, piece = piece->next)
        length += strlen(piece->space) + strlen(text_of(parts->values[i]));
    *ret = lbx__value_create(resolver, LBX_SETTINGS_KIND_STRING, raw->place);
    text = *ret ? lbx__load_take(resolver->load, length + 1) : NULL;
    if (!text)
        return false;
    (*ret)->text = text;
    piece = raw->pieces;
    for (size_t i = 0; i < parts->count; i++, piece = piece->next) {
        text = stpcpy(text, piece->space);
        text = stpcpy(text, text_of(parts->values[i]));
    }
    return true;
}

static bool
append(lbx__resolver *resolver, const lbx__raw *raw, const struct parts *parts,
       lbx__value **ret)
{
    lbx__value *list =
        lbx__value_create(resolver, LBX_SETTINGS_KIND_LIST, raw->place);
    size_t count = 0;

    if (!list)
        return false;
    for (size_t i = 0; i < parts->count; i++)
        count += parts->values[i] ? parts->values[i]->member_count : 0;
    *ret = list;
    if (count == 0)
        return true;
    list->members =
        lbx__load_take(resolver->load, count * sizeof(*list->members));
    if (!list->members)
        return false;
    for (size_t i = 0; i < parts->count; i++) {
        const lbx__value *part = parts->values[i];

        for (size_t j = 0; part && j < part->member_count; j++)
            list->members[list->member_count++] = part->members[j];
    }
    return true;
}

static bool
merge(lbx__resolver *resolver, struct parts *parts, lbx__value **ret)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->count; i++) {
        if (parts->values[i])
            parts->values[count++] = parts->values[i];
    }
    *ret = lbx__value_merge(resolver, parts->values, count);
    return *ret != NULL;
}

static bool
all_of_a_kind(const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const lbx__value *value = parts->values[i];

        if (value && value->kind != parts->kind->kind)
            return false;
    }
    return true;
}

/* Whether only substitutions that came to nothing stand there, and not so much
 * as a blank between them. */
static bool
is_nothing(const lbx__raw *raw, const struct parts *parts)
{
    if (parts->defined > 0)
        return false;
    for (const lbx__piece *piece = raw->pieces; piece; piece = piece->next) {
        if (piece->space[0])
            return false;
    }
    return true;
}

bool
lbx__concat_value(lbx__resolver *resolver, lbx__cell *cell, const lbx__raw *raw,
                  lbx__value **ret)
{
    struct parts parts = {.count = 0};

    if (!collect(resolver, cell, raw, &parts))
        return false;
    *ret = NULL;
    if (is_nothing(raw, &parts))
        return true;
    if (!parts.kind || is_plain(parts.kind))
        return join(resolver, raw, &parts, ret);
    if (!all_of_a_kind(&parts))
        return lbx__load_fail(
            resolver->load, LBX_INVALID, raw->place,
            "values of different kinds beside each other; a %s can only "
            "stand beside others",
            parts.kind->kind == LBX_SETTINGS_KIND_LIST ? "list" : "section");
    return parts.kind->kind == LBX_SETTINGS_KIND_LIST
               ? append(resolver, raw, &parts, ret)
               : merge(resolver, &parts, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a raw value comes to. The members of a list are worked out at once, so
 * that ${x} in a list of x looks back too; those of a section are not.
 *
 * A substitution is looked up from the root of the tree, in an included file
 * first below the place of the include, and last in the environment.
 */
#include "settings/resolve.h"

#include "settings/utf8.h"

#include <string.h>

/* Follows keys from the root; *ret is NULL when they lead nowhere. */
static bool
look_up(lbx__resolver *resolver, const char *const *keys, uint32_t count,
        lbx__value **ret)
{
    lbx__value *value = resolver->root;

    for (uint32_t i = 0; i < count && value; i++) {
        lbx__cell *cell;

        resolver->load->steps++;
        if (value->kind != LBX_SETTINGS_KIND_SECTION) {
            value = NULL;
            break;
        }
        cell = lbx__table_get(value->cells, keys[i]);
        value = NULL;
        if (cell && !lbx__cell_value(resolver, cell, &value))
            return false;
    }
    *ret = value;
    return true;
}

/* The path of a substitution as it was written, but for quotes. */
static char *
name_of(lbx__load *load, const lbx__raw *subst)
{
    size_t length = 0;
    char *name, *at;

    for (uint32_t i = subst->prefix_count; i < subst->key_count; i++)
        length += strlen(subst->keys[i]) + 1;
    name = lbx__load_take(load, length);
    if (!name)
        return NULL;
    at = name;
    for (uint32_t i = subst->prefix_count; i < subst->key_count; i++) {
        if (i > subst->prefix_count)
            *at++ = '.';
        at = stpcpy(at, subst->keys[i]);
    }
    return name;
}

/* The last resort of a substitution. */
static bool
from_environment(lbx__resolver *resolver, const lbx__raw *subst,
                 lbx__value **ret)
{
    const lbx_settings_options *options = &resolver->load->options;
    const char *name = name_of(resolver->load, subst);
    const char *text = NULL;

    if (!name)
        return false;
    if (!options->no_environment)
        text = options->environment(name, options->context);
    if (!text && subst->optional)
        return true;
    if (!text && resolver->looped)
        return lbx__load_fail(resolver->load, LBX_INVALID, subst->place,
                              "${%.80s}: a cycle; it needs this very value",
                              name);
    if (!text)
        return lbx__load_fail(
            resolver->load, LBX_INVALID, subst->place,
            "${%.60s}: no such key%s; ${?%.60s} may have no value", name,
            options->no_environment ? "" : " and no such variable", name);
    *ret = lbx__value_create(resolver, LBX_SETTINGS_KIND_STRING, subst->place);
    if (!*ret)
        return false;
    if (!lbx__utf8_valid(text))
        return lbx__load_fail(resolver->load, LBX_INVALID, subst->place,
                              "${%.80s}: the variable is not valid UTF-8",
                              name);
    (*ret)->text = lbx__load_copy(resolver->load, text, strlen(text));
    return (*ret)->text != NULL;
}

static bool
subst_value(lbx__resolver *resolver, const lbx__raw *raw, lbx__value **ret)
{
    resolver->looped = false;
    if (!look_up(resolver, raw->keys, raw->key_count, ret))
        return false;
    if (!*ret && raw->prefix_count > 0 &&
        !look_up(resolver, raw->keys + raw->key_count,
                 raw->key_count - raw->prefix_count, ret))
        return false;
    return *ret || from_environment(resolver, raw, ret);
}

static bool
list_value(lbx__resolver *resolver, lbx__cell *cell, const lbx__raw *raw,
           lbx__value **ret)
{
    lbx__value *list =
        lbx__value_create(resolver, LBX_SETTINGS_KIND_LIST, raw->place);
    size_t count = 0;

    // Lists nest here without a cell between them.
    if (!list ||
        !lbx__load_depth(resolver->load, raw->place, ++resolver->depth))
        return false;
    for (const lbx__piece *piece = raw->pieces; piece; piece = piece->next)
        count++;
    *ret = list;
    list->members =
        lbx__load_take(resolver->load, (count + 1) * sizeof(*list->members));
    if (!list->members)
        return false;
    for (const lbx__piece *piece = raw->pieces; piece; piece = piece->next) {
        lbx__value *member;

        if (!lbx__raw_value(resolver, cell, piece->raw, &member))
            return false;
        if (member) // ${?x} may have come to nothing
            list->members[list->member_count++] = member;
    }
    resolver->depth--;
    return true;
}

static bool
plain_value(lbx__resolver *resolver, lbx_settings_kind kind,
            const lbx__raw *raw, lbx__value **ret)
{
    *ret = lbx__value_create(resolver, kind, raw->place);
    if (*ret)
        (*ret)->text = raw->text;
    return *ret != NULL;
}

bool
lbx__raw_value(lbx__resolver *resolver, lbx__cell *cell, const lbx__raw *raw,
               lbx__value **ret)
{
    *ret = NULL;
    switch (raw->kind) {
    case LBX__RAW_NULL:
        return plain_value(resolver, LBX_SETTINGS_KIND_NULL, raw, ret);
    case LBX__RAW_BOOLEAN:
        return plain_value(resolver, LBX_SETTINGS_KIND_BOOLEAN, raw, ret);
    case LBX__RAW_NUMBER:
        return plain_value(resolver, LBX_SETTINGS_KIND_NUMBER, raw, ret);
    case LBX__RAW_STRING:
        return plain_value(resolver, LBX_SETTINGS_KIND_STRING, raw, ret);
    case LBX__RAW_LIST:
        return list_value(resolver, cell, raw, ret);
    case LBX__RAW_SECTION:
        *ret = lbx__section_value(resolver, raw);
        return *ret != NULL;
    case LBX__RAW_CONCAT:
        return lbx__concat_value(resolver, cell, raw, ret);
    case LBX__RAW_SUBST:
        return subst_value(resolver, raw, ret);
    case LBX__RAW_PREVIOUS:
        return lbx__cell_previous(resolver, cell, ret);
    }
    return false;
}

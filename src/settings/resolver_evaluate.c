/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of an expression.
 *
 * The members of a list are resolved at once, so that ${x} in a list of x
 * refers to the previous x too; those of a section are resolved later.
 *
 * A substitution is looked up from the root of the tree; in an included file,
 * below the include first; in the environment last.
 */
#include "settings/resolver.h"

#include "base/utf8.h"

#include <string.h>

/* Follows keys from the root; *ret is NULL when there is no such value. */
static bool
resolver_look_up(lbx__resolver *resolver, const char *const *keys,
                 uint32_t count, lbx__resolver_value **ret)
{
    lbx__resolver_value *value = resolver->root;

    for (uint32_t i = 0; i < count && value; i++) {
        lbx__symbol *symbol;

        resolver->load->steps++;
        if (value->kind != LBX_SETTINGS_KIND_SECTION) {
            value = NULL;
            break;
        }
        symbol = lbx__key_table_get(value->symbols, keys[i]);
        value = NULL;
        if (symbol && !lbx__resolver_symbol_value(resolver, symbol, &value))
            return false;
    }
    *ret = value;
    return true;
}

/* The path of a substitution as it was written, without quotes. */
static char *
resolver_subst_name(lbx__loader *load, const lbx__expr *subst)
{
    size_t length = 0;
    char *name, *at;

    for (uint32_t i = subst->prefix_count; i < subst->key_count; i++)
        length += strlen(subst->keys[i]) + 1;
    name = lbx__loader_take(load, length);
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
resolver_from_environment(lbx__resolver *resolver, const lbx__expr *subst,
                          lbx__resolver_value **ret)
{
    const lbx_settings_options *options = &resolver->load->options;
    const char *name = resolver_subst_name(resolver->load, subst);
    const char *text = NULL;

    if (!name)
        return false;
    if (!options->no_environment)
        text = options->environment(name, options->context);
    if (!text && subst->optional)
        return true;
    if (!text && resolver->looped)
        return lbx__loader_fail(resolver->load, LBX_INVALID, subst->origin,
                                "${%.80s}: a cycle; it needs this very value",
                                name);
    if (!text)
        return lbx__loader_fail(
            resolver->load, LBX_INVALID, subst->origin,
            "${%.60s}: no such key%s; ${?%.60s} may have no value", name,
            options->no_environment ? "" : " and no such variable", name);
    *ret = lbx__resolver_new_value(resolver, LBX_SETTINGS_KIND_STRING,
                                   subst->origin);
    if (!*ret)
        return false;
    if (!lbx__utf8_valid(text))
        return lbx__loader_fail(resolver->load, LBX_INVALID, subst->origin,
                                "${%.80s}: the variable is not valid UTF-8",
                                name);
    (*ret)->text = lbx__loader_copy(resolver->load, text, strlen(text));
    return (*ret)->text != NULL;
}

static bool
resolver_subst_value(lbx__resolver *resolver, const lbx__expr *expr,
                     lbx__resolver_value **ret)
{
    resolver->looped = false;
    if (!resolver_look_up(resolver, expr->keys, expr->key_count, ret))
        return false;
    if (!*ret && expr->prefix_count > 0 &&
        !resolver_look_up(resolver, expr->keys + expr->key_count,
                          expr->key_count - expr->prefix_count, ret))
        return false;
    return *ret || resolver_from_environment(resolver, expr, ret);
}

static bool
resolver_list_value(lbx__resolver *resolver, lbx__symbol *symbol,
                    const lbx__expr *expr, lbx__resolver_value **ret)
{
    lbx__resolver_value *list =
        lbx__resolver_new_value(resolver, LBX_SETTINGS_KIND_LIST, expr->origin);
    size_t count = 0;

    // Lists nest here without a symbol between them.
    if (!list || !lbx__loader_check_depth(resolver->load, expr->origin,
                                          ++resolver->depth))
        return false;
    for (const lbx__expr_piece *piece = expr->pieces; piece;
         piece = piece->next)
        count++;
    *ret = list;
    list->members =
        lbx__loader_take(resolver->load, (count + 1) * sizeof(*list->members));
    if (!list->members)
        return false;
    for (const lbx__expr_piece *piece = expr->pieces; piece;
         piece = piece->next) {
        lbx__resolver_value *member;

        if (!lbx__resolver_evaluate(resolver, symbol, piece->expr, &member))
            return false;
        if (member) // ${?x} may be undefined
            list->members[list->member_count++] = member;
    }
    resolver->depth--;
    return true;
}

static bool
resolver_plain_value(lbx__resolver *resolver, lbx_settings_kind kind,
                     const lbx__expr *expr, lbx__resolver_value **ret)
{
    *ret = lbx__resolver_new_value(resolver, kind, expr->origin);
    if (*ret)
        (*ret)->text = expr->text;
    return *ret != NULL;
}

bool
lbx__resolver_evaluate(lbx__resolver *resolver, lbx__symbol *symbol,
                       const lbx__expr *expr, lbx__resolver_value **ret)
{
    *ret = NULL;
    switch (expr->kind) {
    case LBX__EXPR_NULL:
        return resolver_plain_value(resolver, LBX_SETTINGS_KIND_NULL, expr,
                                    ret);
    case LBX__EXPR_BOOLEAN:
        return resolver_plain_value(resolver, LBX_SETTINGS_KIND_BOOLEAN, expr,
                                    ret);
    case LBX__EXPR_NUMBER:
        return resolver_plain_value(resolver, LBX_SETTINGS_KIND_NUMBER, expr,
                                    ret);
    case LBX__EXPR_STRING:
        return resolver_plain_value(resolver, LBX_SETTINGS_KIND_STRING, expr,
                                    ret);
    case LBX__EXPR_LIST:
        return resolver_list_value(resolver, symbol, expr, ret);
    case LBX__EXPR_SECTION:
        *ret = lbx__resolver_section(resolver, expr);
        return *ret != NULL;
    case LBX__EXPR_CONCAT:
        return lbx__resolver_concat(resolver, symbol, expr, ret);
    case LBX__EXPR_SUBST:
        return resolver_subst_value(resolver, expr, ret);
    case LBX__EXPR_PREVIOUS:
        return lbx__resolver_previous_value(resolver, symbol, ret);
    }
    return false;
}

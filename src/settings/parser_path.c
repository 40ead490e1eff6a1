/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths in a text: keys separated by dots, before a value and inside ${ }.
 *
 * Words and quoted texts beside each other are one key, with the white space
 * between them. Only a dot in a word without quotes ends a key.
 */
#include "settings/parser.h"

#include <string.h>

/* A path while it is read. Large: it is in no frame that nested values need. */
struct path {
    const char *keys[LBX__LOADER_DEPTH_CAP];
    uint32_t count;
    char key[LBX__LOADER_KEY_BYTES]; /* the last one */
    size_t length;
    bool begun; /* "" is a key too, if it was quoted */
};

static bool
parser_path_add(lbx__parser *parser, struct path *path, const char *text,
                size_t length)
{
    if (length >= sizeof(path->key) - path->length)
        return lbx__loader_fail(
            parser->load, LBX_INVALID, lbx__parser_origin(parser),
            "a key is longer than %d bytes", LBX__LOADER_KEY_BYTES - 1);
    memcpy(path->key + path->length, text, length);
    path->length += length;
    path->begun = true;
    return true;
}

static bool
parser_path_end_key(lbx__parser *parser, struct path *path)
{
    const char *key;

    if (!path->begun)
        return lbx__loader_fail(
            parser->load, LBX_INVALID, lbx__parser_origin(parser),
            "a path has an empty key; \"\" is one, if it is "
            "meant");
    if (!lbx__loader_check_depth(parser->load, lbx__parser_origin(parser),
                                 path->count + 1))
        return false;
    key = lbx__loader_copy(parser->load, path->key, path->length);
    path->keys[path->count++] = key;
    path->length = 0;
    path->begun = false;
    return key != NULL;
}

/* A plain word, whose dots end keys. */
static bool
parser_path_add_word(lbx__parser *parser, struct path *path)
{
    const char *at = parser->token.text;
    const char *end = at + parser->token.length_bytes;

    for (;;) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        const char *stop = dot ? dot : end;

        if (stop > at &&
            !parser_path_add(parser, path, at, (size_t)(stop - at)))
            return false;
        if (!dot)
            return true;
        if (!parser_path_end_key(parser, path))
            return false;
        at = dot + 1;
    }
}

static bool
parser_path_add_token(lbx__parser *parser, struct path *path, bool first)
{
    const lbx__token *token = &parser->token;

    if (!first && token->space_bytes > 0 &&
        !parser_path_add(parser, path, token->space, token->space_bytes))
        return false;
    if (token->kind == LBX__TOKEN_PLAIN)
        return parser_path_add_word(parser, path);
    return parser_path_add(parser, path, token->text, token->length_bytes);
}

bool
lbx__parser_path(lbx__parser *parser, const char ***ret_keys,
                 uint32_t *ret_count)
{
    struct path path;
    size_t size_bytes;
    bool first = true;

    path.count = 0;
    path.length = 0;
    path.begun = false;
    while (parser->token.kind == LBX__TOKEN_PLAIN ||
           parser->token.kind == LBX__TOKEN_QUOTED) {
        if (!parser_path_add_token(parser, &path, first) ||
            !lbx__parser_advance(parser))
            return false;
        first = false;
    }
    if (first) {
        (void)lbx__parser_expected(parser, "a key");
        return false;
    }
    if (!parser_path_end_key(parser, &path))
        return false;
    size_bytes = path.count * sizeof(*path.keys);
    *ret_keys = lbx__loader_take(parser->load, size_bytes);
    if (!*ret_keys)
        return false;
    memcpy(*ret_keys, path.keys, size_bytes);
    *ret_count = path.count;
    return true;
}

/* Whether the path is exactly that of the field whose value is being read. */
static bool
parser_path_is_here(const lbx__loader *load, const lbx__expr *subst)
{
    if (subst->key_count != load->trail_count)
        return false;
    for (uint32_t i = 0; i < load->trail_count; i++) {
        if (!load->trail[i] || strcmp(load->trail[i], subst->keys[i]) != 0)
            return false;
    }
    return true;
}

/* How many keys lead to the include; 0 inside a list, where no path leads. */
static uint32_t
parser_path_usable_prefix(const lbx__parser *parser)
{
    for (uint32_t i = 0; i < parser->prefix_count; i++) {
        if (!parser->load->trail[i])
            return 0;
    }
    return parser->prefix_count;
}

bool
lbx__parser_subst(lbx__parser *parser, lbx__expr **ret)
{
    lbx__loader *load = parser->load;
    const uint32_t prefix = parser_path_usable_prefix(parser);
    const char **keys = NULL;
    uint32_t count = 0;
    lbx__expr *expr =
        lbx__expr_create(load, LBX__EXPR_SUBST, lbx__parser_origin(parser));

    if (!expr)
        return false;
    expr->optional = parser->token.optional;
    if (!lbx__parser_advance(parser) ||
        !lbx__parser_path(parser, &keys, &count))
        return false;
    if (parser->token.kind != LBX__TOKEN_CLOSE_BRACE)
        return lbx__parser_expected(parser, "'}' after the path of ${");
    if (!lbx__parser_advance(parser))
        return false;

    expr->keys = lbx__loader_take(load, (prefix + 2 * count) * sizeof(*keys));
    if (!expr->keys)
        return false;
    if (prefix > 0)
        memcpy(expr->keys, load->trail, prefix * sizeof(*keys));
    memcpy(expr->keys + prefix, keys, count * sizeof(*keys));
    keys[0] = lbx__loader_root_name(keys[0]);
    memcpy(expr->keys + prefix + count, keys, count * sizeof(*keys));
    if (prefix == 0)
        expr->keys[0] = keys[0];
    expr->prefix_count = prefix;
    expr->key_count = prefix + count;
    parser->refers_to_itself |= parser_path_is_here(load, expr);
    *ret = expr;
    return true;
}

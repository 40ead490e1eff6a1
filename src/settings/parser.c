/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar, top down. Values are in parser_value.c, paths in parser_path.c,
 * includes in parser_include.c.
 *
 * PARSER-1  The trail has the keys from the root of the tree to the field whose
 *           value is being read. Its length is the depth, which is limited, so
 *           the depth of recursion is limited too.
 */
#include "settings/parser.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool
lbx__parser_advance(lbx__parser *parser)
{
    return lbx__lexer_next(&parser->lexer, &parser->token);
}

bool
lbx__parser_skip_newlines(lbx__parser *parser)
{
    while (parser->token.kind == LBX__TOKEN_NEWLINE) {
        if (!lbx__parser_advance(parser))
            return false;
    }
    return true;
}

lbx__fault_line
lbx__parser_origin(const lbx__parser *parser)
{
    return (lbx__fault_line){parser->lexer.file, parser->token.line};
}

bool
lbx__parser_expected(lbx__parser *parser, const char *what)
{
    const lbx__token *token = &parser->token;
    const lbx__fault_line origin = lbx__parser_origin(parser);
    const int shown = token->length_bytes < 40 ? (int)token->length_bytes : 40;

    if (token->kind == LBX__TOKEN_END)
        return lbx__loader_fail(parser->load, LBX_INVALID, origin,
                                "expected %s, but the text ends", what);
    if (token->kind == LBX__TOKEN_NEWLINE)
        return lbx__loader_fail(parser->load, LBX_INVALID, origin,
                                "expected %s, but the line ends", what);
    return lbx__loader_fail(parser->load, LBX_INVALID, origin,
                            "expected %s, not '%.*s'", what, shown,
                            token->text);
}

/* Appends `keys` to the trail; the caller restores trail_count. */
static bool
parser_descend(lbx__parser *parser, const char *const *keys, uint32_t count)
{
    lbx__loader *load = parser->load;

    for (uint32_t i = 0; i < count; i++) {
        if (!lbx__loader_check_depth(load, lbx__parser_origin(parser),
                                     load->trail_count + 1)) // PARSER-1
            return false;
        load->trail[load->trail_count++] = keys[i];
    }
    return true;
}

/* What x += value stands for: ${?x} [value]. */
static lbx__expr *
parser_append_expr(lbx__parser *parser, lbx__expr *value)
{
    lbx__loader *load = parser->load;
    lbx__expr *concat = lbx__expr_create(load, LBX__EXPR_CONCAT, value->origin);
    lbx__expr *previous =
        lbx__expr_create(load, LBX__EXPR_SUBST, value->origin);
    lbx__expr *list = lbx__expr_create(load, LBX__EXPR_LIST, value->origin);
    lbx__expr_piece *pieces = lbx__loader_take(load, 3 * sizeof(*pieces));
    const size_t keys_bytes = load->trail_count * sizeof(*load->trail);

    if (!concat || !previous || !list || !pieces)
        return NULL;
    previous->optional = true;
    previous->keys = lbx__loader_take(load, keys_bytes);
    if (!previous->keys)
        return NULL;
    memcpy(previous->keys, load->trail, keys_bytes);
    previous->key_count = load->trail_count;
    for (uint32_t i = 0; i < load->trail_count; i++) {
        if (!load->trail[i]) // no path leads into a list
            previous->kind = LBX__EXPR_PREVIOUS;
    }
    pieces[0] = (lbx__expr_piece){&pieces[1], previous, ""};
    pieces[1] = (lbx__expr_piece){NULL, list, ""};
    pieces[2] = (lbx__expr_piece){NULL, value, ""};
    list->pieces = &pieces[2];
    concat->pieces = &pieces[0];
    return concat;
}

/* The value of a field, and whether it refers to the previous one. */
static bool
parser_field_value(lbx__parser *parser, const char *key,
                   lbx__expr_assignment *ret)
{
    const bool outer = parser->refers_to_itself;
    const lbx__token_kind kind = parser->token.kind;

    if (kind != LBX__TOKEN_ASSIGN && kind != LBX__TOKEN_APPEND &&
        kind != LBX__TOKEN_OPEN_BRACE) {
        char what[120];

        (void)snprintf(what, sizeof(what), "'=', ':', '+=' or '{' after %.60s",
                       key);
        return lbx__parser_expected(parser, what);
    }
    if (kind != LBX__TOKEN_OPEN_BRACE &&
        (!lbx__parser_advance(parser) || !lbx__parser_skip_newlines(parser)))
        return false;
    parser->refers_to_itself = false;
    if (!lbx__parser_value(parser, &ret->expr))
        return false;
    ret->looks_back = parser->refers_to_itself;
    parser->refers_to_itself = outer;
    if (kind == LBX__TOKEN_APPEND) {
        ret->expr = parser_append_expr(parser, ret->expr);
        ret->looks_back = true;
    }
    return ret->expr != NULL;
}

static bool
parser_field(lbx__parser *parser, lbx__expr *section, uint32_t braces)
{
    lbx__loader *load = parser->load;
    const uint32_t trail_count = load->trail_count;
    lbx__expr_assignment assignment = {.braces = braces};
    const char **keys;
    uint32_t count;

    if (!lbx__parser_path(parser, &keys, &count))
        return false;
    if (trail_count == 0)
        keys[0] = lbx__loader_root_name(keys[0]);
    if (!parser_descend(parser, keys, count) ||
        !lbx__parser_skip_newlines(parser) ||
        !parser_field_value(parser, keys[count - 1], &assignment))
        return false;
    load->trail_count = trail_count;
    return lbx__expr_assign(load, section, keys, count, assignment);
}

/* A comma, a line end, or both: what separates fields. */
static bool
parser_separator(lbx__parser *parser, lbx__token_kind closer)
{
    const bool newline = parser->token.kind == LBX__TOKEN_NEWLINE;

    if (!lbx__parser_skip_newlines(parser))
        return false;
    if (parser->token.kind == closer)
        return true;
    if (parser->token.kind == LBX__TOKEN_COMMA)
        return lbx__parser_advance(parser);
    if (newline)
        return true;
    if (parser->token.kind == LBX__TOKEN_ASSIGN)
        return lbx__parser_expected(
            parser, "the end of the value (quote a text that has ':' or '=')");
    return lbx__parser_expected(parser,
                                closer == LBX__TOKEN_CLOSE_BRACE
                                    ? "a line end, ',' or '}' after the value"
                                    : "a line end or ',' after the value");
}

static bool
parser_is_word(const lbx__token *token, const char *word)
{
    return token->kind == LBX__TOKEN_PLAIN &&
           token->length_bytes == strlen(word) &&
           memcmp(token->text, word, token->length_bytes) == 0;
}

bool
lbx__parser_fields(lbx__parser *parser, lbx__expr *section,
                   lbx__token_kind closer)
{
    const uint32_t braces = ++parser->load->braces;

    for (;;) {
        if (!lbx__parser_skip_newlines(parser))
            return false;
        if (parser->token.kind == closer)
            return true;
        if (parser_is_word(&parser->token, "include")) {
            if (!lbx__parser_advance(parser) ||
                !lbx__parser_include(parser, section))
                return false;
        } else if (!parser_field(parser, section, braces)) {
            return false;
        }
        if (!parser_separator(parser, closer))
            return false;
    }
}

bool
lbx__parser_parse(lbx__loader *load, const char *file, const char *text,
                  size_t length_bytes, lbx__expr *section)
{
    lbx__parser parser = {.load = load, .prefix_count = load->trail_count};
    lbx__token_kind closer = LBX__TOKEN_END;

    assert(section->kind == LBX__EXPR_SECTION);
    if (!lbx__lexer_init(&parser.lexer, load, file, text, length_bytes) ||
        !lbx__parser_advance(&parser) || !lbx__parser_skip_newlines(&parser))
        return false;
    if (parser.token.kind == LBX__TOKEN_OPEN_BRACE) {
        closer = LBX__TOKEN_CLOSE_BRACE;
        if (!lbx__parser_advance(&parser))
            return false;
    }
    if (!lbx__parser_fields(&parser, section, closer))
        return false;
    if (closer == LBX__TOKEN_CLOSE_BRACE &&
        (!lbx__parser_advance(&parser) || !lbx__parser_skip_newlines(&parser)))
        return false;
    if (parser.token.kind != LBX__TOKEN_END)
        return lbx__parser_expected(&parser, "nothing after the last '}'");
    return true;
}

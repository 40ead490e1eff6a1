/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values. Pieces beside each other on a line are one value: texts are joined at
 * once, others when substitutions are replaced.
 */
#include "settings/parser.h"

#include "settings/scalar.h"

#include <string.h>

static bool
parser_value_list_members(lbx__parser *parser, lbx__expr *list)
{
    lbx__expr_piece **end = &list->pieces;

    for (;;) {
        lbx__expr_piece *piece;

        if (!lbx__parser_skip_newlines(parser))
            return false;
        if (parser->token.kind == LBX__TOKEN_CLOSE_BRACKET)
            return lbx__parser_advance(parser);
        piece = lbx__loader_take(parser->load, sizeof(*piece));
        if (!piece || !lbx__parser_value(parser, &piece->expr))
            return false;
        *end = piece;
        end = &piece->next;

        // A comma, a line end, or both.
        if (parser->token.kind == LBX__TOKEN_CLOSE_BRACKET)
            continue;
        if (parser->token.kind != LBX__TOKEN_COMMA &&
            parser->token.kind != LBX__TOKEN_NEWLINE)
            return lbx__parser_expected(
                parser, "a line end, ',' or ']' after a member of a list");
        if (!lbx__parser_skip_newlines(parser))
            return false;
        if (parser->token.kind == LBX__TOKEN_COMMA &&
            !lbx__parser_advance(parser))
            return false;
    }
}

/* [ ... ]: one level deeper, which no path names. */
static bool
parser_value_list(lbx__parser *parser, lbx__expr *list)
{
    lbx__loader *load = parser->load;

    if (!lbx__loader_check_depth(load, list->origin, load->trail_count + 1))
        return false;
    load->trail[load->trail_count++] = NULL;
    if (!lbx__parser_advance(parser) ||
        !parser_value_list_members(parser, list))
        return false;
    load->trail_count--;
    return true;
}

static bool
parser_value_section(lbx__parser *parser, lbx__expr *section)
{
    const bool outer = parser->refers_to_itself;

    if (!lbx__parser_advance(parser) ||
        !lbx__parser_fields(parser, section, LBX__TOKEN_CLOSE_BRACE))
        return false;
    parser->refers_to_itself = outer;
    return lbx__parser_advance(parser);
}

static bool
parser_value_text(lbx__parser *parser, lbx__expr *expr)
{
    const lbx__token *token = &parser->token;

    expr->text =
        token->kind == LBX__TOKEN_QUOTED
            ? token->text
            : lbx__loader_copy(parser->load, token->text, token->length_bytes);
    return expr->text && lbx__parser_advance(parser);
}

/* One piece; *ret is NULL at the end of the value. */
static bool
parser_value_piece(lbx__parser *parser, lbx__expr **ret)
{
    lbx__expr_kind kind = LBX__EXPR_STRING;

    *ret = NULL;
    switch (parser->token.kind) {
    case LBX__TOKEN_SUBST:
        return lbx__parser_subst(parser, ret);
    case LBX__TOKEN_OPEN_BRACE:
        kind = LBX__EXPR_SECTION;
        break;
    case LBX__TOKEN_OPEN_BRACKET:
        kind = LBX__EXPR_LIST;
        break;
    case LBX__TOKEN_QUOTED:
    case LBX__TOKEN_PLAIN:
        break;
    default:
        return true;
    }
    *ret = lbx__expr_create(parser->load, kind, lbx__parser_origin(parser));
    if (!*ret)
        return false;
    if (kind == LBX__EXPR_SECTION)
        return parser_value_section(parser, *ret);
    if (kind == LBX__EXPR_LIST)
        return parser_value_list(parser, *ret);
    return parser_value_text(parser, *ret);
}

/* The kind of a single word without quotes. */
static lbx__expr_kind
parser_value_word_kind(const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return LBX__EXPR_BOOLEAN;
    if (strcmp(text, "null") == 0)
        return LBX__EXPR_NULL;
    return lbx__scalar_is_number(text) ? LBX__EXPR_NUMBER : LBX__EXPR_STRING;
}

/* Joins texts into one; NULL when the load has failed. */
static lbx__expr *
parser_value_join(lbx__parser *parser, lbx__expr *concat)
{
    size_t length = 0;
    char *text;

    for (const lbx__expr_piece *piece = concat->pieces; piece;
         piece = piece->next)
        length += strlen(piece->space) + strlen(piece->expr->text);
    text = lbx__loader_take(parser->load, length + 1);
    if (!text)
        return NULL;
    concat->kind = LBX__EXPR_STRING;
    concat->text = text;
    for (const lbx__expr_piece *piece = concat->pieces; piece;
         piece = piece->next) {
        text = stpcpy(text, piece->space);
        text = stpcpy(text, piece->expr->text);
    }
    concat->pieces = NULL;
    return concat;
}

/* Adds a piece with the space before it, which counts only between two. */
static bool
parser_value_add_piece(lbx__parser *parser, const lbx__token *first,
                       lbx__expr *expr, lbx__expr_piece ***end)
{
    lbx__expr_piece *piece = lbx__loader_take(parser->load, sizeof(*piece));

    if (!piece)
        return false;
    piece->expr = expr;
    piece->space =
        lbx__loader_copy(parser->load, first->space, first->space_bytes);
    **end = piece;
    *end = &piece->next;
    return piece->space != NULL;
}

/* The pieces that follow `first` on its line. */
static bool
parser_value_concat(lbx__parser *parser, lbx__expr *first, lbx__expr **ret)
{
    lbx__expr *concat =
        lbx__expr_create(parser->load, LBX__EXPR_CONCAT, first->origin);
    lbx__token token = {.space_bytes = 0};
    bool all_text = true;
    lbx__expr *expr = first;
    lbx__expr_piece **end;

    if (!concat)
        return false;
    end = &concat->pieces;
    while (expr) {
        if (!parser_value_add_piece(parser, &token, expr, &end))
            return false;
        all_text &= expr->kind == LBX__EXPR_STRING;
        token = parser->token;
        if (!parser_value_piece(parser, &expr))
            return false;
    }
    *ret = all_text ? parser_value_join(parser, concat) : concat;
    return *ret != NULL;
}

static bool
parser_value_starts_piece(lbx__token_kind kind)
{
    return kind == LBX__TOKEN_SUBST || kind == LBX__TOKEN_OPEN_BRACE ||
           kind == LBX__TOKEN_OPEN_BRACKET || kind == LBX__TOKEN_QUOTED ||
           kind == LBX__TOKEN_PLAIN;
}

bool
lbx__parser_value(lbx__parser *parser, lbx__expr **ret)
{
    const bool is_word = parser->token.kind == LBX__TOKEN_PLAIN;
    lbx__expr *expr = NULL;

    if (!parser_value_piece(parser, &expr))
        return false;
    if (!expr)
        return lbx__parser_expected(parser, "a value");
    if (parser_value_starts_piece(parser->token.kind))
        return parser_value_concat(parser, expr, ret);
    if (is_word)
        expr->kind = parser_value_word_kind(expr->text);
    *ret = expr;
    return true;
}

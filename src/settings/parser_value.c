/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values in a text. Pieces that stand beside each other on a line are one
 * value: plain ones become a string at once, others when substitutions are
 * replaced.
 */
#include "settings/parser.h"

#include "settings/scalar.h"

#include <string.h>

static bool
list_value(lbx__parser *parser, lbx__expr *list)
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

/* [ ... ]: a step down that no path names. */
static bool
parse_list(lbx__parser *parser, lbx__expr *list)
{
    lbx__loader *load = parser->load;

    if (!lbx__loader_check_depth(load, list->origin, load->trail_count + 1))
        return false;
    load->trail[load->trail_count++] = NULL;
    if (!lbx__parser_advance(parser) || !list_value(parser, list))
        return false;
    load->trail_count--;
    return true;
}

static bool
parse_section(lbx__parser *parser, lbx__expr *section)
{
    const bool outer = parser->refers_to_itself;

    if (!lbx__parser_advance(parser) ||
        !lbx__parser_fields(parser, section, LBX__TOKEN_CLOSE_BRACE))
        return false;
    parser->refers_to_itself = outer;
    return lbx__parser_advance(parser);
}

static bool
parse_text(lbx__parser *parser, lbx__expr *expr)
{
    const lbx__token *token = &parser->token;

    expr->text =
        token->kind == LBX__TOKEN_QUOTED
            ? token->text
            : lbx__loader_copy(parser->load, token->text, token->length_bytes);
    return expr->text && lbx__parser_advance(parser);
}

/* One piece; *ret is NULL when the value has ended. */
static bool
parse_piece(lbx__parser *parser, lbx__expr **ret)
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
        return parse_section(parser, *ret);
    if (kind == LBX__EXPR_LIST)
        return parse_list(parser, *ret);
    return parse_text(parser, *ret);
}

/* What a plain word that stands alone is. */
static lbx__expr_kind
kind_of_word(const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return LBX__EXPR_BOOLEAN;
    if (strcmp(text, "null") == 0)
        return LBX__EXPR_NULL;
    return lbx__scalar_is_number(text) ? LBX__EXPR_NUMBER : LBX__EXPR_STRING;
}

/* Texts beside each other, joined; NULL when the load has failed. */
static lbx__expr *
joined(lbx__parser *parser, lbx__expr *concat)
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
add_piece(lbx__parser *parser, const lbx__token *first, lbx__expr *expr,
          lbx__expr_piece ***end)
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
concatenate(lbx__parser *parser, lbx__expr *first, lbx__expr **ret)
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
        if (!add_piece(parser, &token, expr, &end))
            return false;
        all_text &= expr->kind == LBX__EXPR_STRING;
        token = parser->token;
        if (!parse_piece(parser, &expr))
            return false;
    }
    *ret = all_text ? joined(parser, concat) : concat;
    return *ret != NULL;
}

static bool
starts_piece(lbx__token_kind kind)
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

    if (!parse_piece(parser, &expr))
        return false;
    if (!expr)
        return lbx__parser_expected(parser, "a value");
    if (starts_piece(parser->token.kind))
        return concatenate(parser, expr, ret);
    if (is_word)
        expr->kind = kind_of_word(expr->text);
    *ret = expr;
    return true;
}

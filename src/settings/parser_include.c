/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Includes: include "x", include file("x"), include required(...).
 *
 * The included text is parsed into the section that contains the include, as if
 * it were a block of its own. A missing file is ignored unless it is required.
 */
#include "settings/parser.h"

#include "settings/source.h"

#include <string.h>

/* Whether a token starts with `word`, which may end with '(': the lexer keeps
 * both in one token. */
static bool
parser_include_opens(const lbx__token *token, const char *word)
{
    const size_t length = strlen(word);

    return token->kind == LBX__TOKEN_PLAIN && token->length_bytes >= length &&
           memcmp(token->text, word, length) == 0;
}

/* Removes `word` from the front of the token; advances when nothing is left. */
static bool
parser_include_take(lbx__parser *parser, const char *word)
{
    lbx__token *token = &parser->token;
    const size_t length = strlen(word);

    token->text += length;
    token->length_bytes -= length;
    return token->length_bytes > 0 || lbx__parser_advance(parser);
}

/* The name, and the `brackets` closing brackets after it. */
static bool
parser_include_name(lbx__parser *parser, uint32_t brackets, const char **ret)
{
    static const char hint[] =
        "\"name\", file(\"name\") or required(...) after include; a key of "
        "that name is written in quotes";

    if (parser->token.kind != LBX__TOKEN_QUOTED)
        return lbx__parser_expected(parser, hint);
    *ret = parser->token.text;
    if (!lbx__parser_advance(parser))
        return false;
    for (; brackets > 0; brackets--) {
        if (!parser_include_opens(&parser->token, ")"))
            return lbx__parser_expected(parser, "')'");
        if (!parser_include_take(parser, ")"))
            return false;
    }
    return true;
}

bool
lbx__parser_include(lbx__parser *parser, lbx__expr *section)
{
    const lbx__fault_line origin = lbx__parser_origin(parser);
    lbx__source_include_name include = {.origin = origin};
    uint32_t brackets = 0;

    if (parser_include_opens(&parser->token, "url(") ||
        parser_include_opens(&parser->token, "classpath("))
        return lbx__loader_fail(parser->load, LBX_INVALID, origin,
                                "only files can be included: \"name\" or "
                                "file(\"name\")");
    if (parser_include_opens(&parser->token, "required(")) {
        include.required = true;
        brackets++;
        if (!parser_include_take(parser, "required("))
            return false;
    }
    if (parser_include_opens(&parser->token, "file(")) {
        brackets++;
        if (!parser_include_take(parser, "file("))
            return false;
    }
    return parser_include_name(parser, brackets, &include.name) &&
           lbx__loader_count_value(parser->load, origin) &&
           lbx__source_include(parser->load, &include, section);
}

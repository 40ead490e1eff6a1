/* SPDX-License-Identifier: Apache-2.0 */
/* From text to expressions. */
#ifndef LBX_SETTINGS_PARSER_H
#define LBX_SETTINGS_PARSER_H

#include "settings/expr.h"
#include "settings/lexer.h"

typedef struct lbx__parser {
    lbx__lexer lexer;
    lbx__loader *load;
    lbx__token token; /* the next one to parse */

    /* Keys before trail[prefix_count] lead to the include of this text. */
    uint32_t prefix_count;
    bool refers_to_itself; /* ${x} was seen in the value of x */
} lbx__parser;

/* Parses a text into `section`, which is at the load's trail. */
bool lbx__parser_parse(lbx__loader *load, const char *file, const char *text,
                       size_t length_bytes, lbx__expr *section);

/* Shared by the parts of the parser. */
bool lbx__parser_advance(lbx__parser *parser);
bool lbx__parser_skip_newlines(lbx__parser *parser);
lbx__fault_line lbx__parser_origin(const lbx__parser *parser);

/* Fails the load: "expected ..., not ...". Returns false. */
bool lbx__parser_expected(lbx__parser *parser, const char *what);

/* A path of words and quoted keys. */
bool lbx__parser_path(lbx__parser *parser, const char ***ret_keys,
                      uint32_t *ret_count);

/* ${path}; the token is at ${. */
bool lbx__parser_subst(lbx__parser *parser, lbx__expr **ret);

/* A value: pieces beside each other, up to the end of line, a comma or a
 * closing bracket. */
bool lbx__parser_value(lbx__parser *parser, lbx__expr **ret);

/* Fields up to `closer`, which becomes the current token. */
bool lbx__parser_fields(lbx__parser *parser, lbx__expr *section,
                        lbx__token_kind closer);

/* The rest of an include, after that word. */
bool lbx__parser_include(lbx__parser *parser, lbx__expr *section);

#endif

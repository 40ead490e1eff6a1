/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of a settings text. */
#ifndef LBX_SETTINGS_LEXER_H
#define LBX_SETTINGS_LEXER_H

#include "settings/loader.h"

typedef enum lbx__token_kind {
    LBX__TOKEN_END,
    LBX__TOKEN_NEWLINE,
    LBX__TOKEN_COMMA,  /* or a semicolon */
    LBX__TOKEN_ASSIGN, /* = or : */
    LBX__TOKEN_APPEND, /* += */
    LBX__TOKEN_OPEN_BRACE,
    LBX__TOKEN_CLOSE_BRACE,
    LBX__TOKEN_OPEN_BRACKET,
    LBX__TOKEN_CLOSE_BRACKET,
    LBX__TOKEN_SUBST,  /* ${ or ${? */
    LBX__TOKEN_QUOTED, /* text is unescaped and ends with a NUL */
    LBX__TOKEN_PLAIN,  /* text points into the source */
} lbx__token_kind;

typedef struct lbx__token {
    lbx__token_kind kind;
    bool optional; /* ${? */
    uint32_t line;
    const char *text; /* of the other kinds too, for faults */
    size_t length_bytes;
    const char *space; /* before it, on the same line */
    size_t space_bytes;
} lbx__token;

typedef struct lbx__lexer {
    lbx__loader *load;
    const char *file; /* or the name of a text in memory */
    const char *at;
    const char *end;
    uint32_t line;
} lbx__lexer;

/* Starts at the beginning of a text, which must outlive the lexer. False when
 * it is not valid UTF-8, or contains a NUL. */
bool lbx__lexer_init(lbx__lexer *lexer, lbx__loader *load, const char *file,
                     const char *text, size_t length_bytes);

/* The next token; END at the end of the text, also when called again. */
bool lbx__lexer_next(lbx__lexer *lexer, lbx__token *ret);

lbx__fault_line lbx__lexer_origin(const lbx__lexer *lexer);

#endif

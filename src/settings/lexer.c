/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lexer: one character of lookahead; each byte is read once.
 *
 * LEXER-1  `at` is at the start of a character: the text was checked as a
 *          whole, and each step skips whole characters.
 */
#include "settings/lexer.h"

#include "base/utf8.h"

#include <string.h>

/* Characters that end a word without quotes, and are not allowed in one. */
static const char reserved[] = "$\"{}[]:=,;+#`^?!@*&\\";

/* HOCON's white space, and U+FFFC, which word processors leave for an
 * object. */
static bool
lexer_is_space(uint32_t code)
{
    switch (code) {
    case '\t':
    case '\v':
    case '\f':
    case '\r':
    case 0x1c:
    case 0x1d:
    case 0x1e:
    case 0x1f:
    case ' ':
    case 0xa0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x3000:
    case 0xfeff: // a byte order mark
    case 0xfffc: // an object replacement character
        return true;
    default:
        return code >= 0x2000 && code <= 0x200a;
    }
}

/* The length of the white-space character at `text`; 0 for any other, and for a
 * line feed. */
static size_t
lexer_space_length(const char *text, size_t left_bytes)
{
    uint32_t code;
    size_t length = lbx__utf8_decode(text, left_bytes, &code);

    return length > 0 && lexer_is_space(code) ? length : 0;
}

lbx__fault_line
lbx__lexer_origin(const lbx__lexer *lexer)
{
    return (lbx__fault_line){lexer->file, lexer->line};
}

static size_t
lexer_left(const lbx__lexer *lexer)
{
    return (size_t)(lexer->end - lexer->at);
}

static bool
lexer_starts_with(const lbx__lexer *lexer, const char *word)
{
    const size_t length = strlen(word);

    return lexer_left(lexer) >= length && memcmp(lexer->at, word, length) == 0;
}

bool
lbx__lexer_init(lbx__lexer *lexer, lbx__loader *load, const char *file,
                const char *text, size_t length_bytes)
{
    const char *at = text;
    uint32_t code;

    *lexer = (lbx__lexer){load, file, text, text + length_bytes, 1};
    while (at < lexer->end) {
        const size_t length =
            lbx__utf8_decode(at, (size_t)(lexer->end - at), &code);

        if (length == 0)
            return lbx__loader_fail(load, LBX_INVALID, lbx__lexer_origin(lexer),
                                    "not valid UTF-8");
        if (code == 0)
            return lbx__loader_fail(load, LBX_INVALID, lbx__lexer_origin(lexer),
                                    "a NUL byte; settings are text");
        if (code == '\n')
            lexer->line++;
        at += length;
    }
    lexer->line = 1;
    load->steps += length_bytes;
    return true;
}

/* White space and comments, up to the end of the line. */
static void
lexer_skip_space(lbx__lexer *lexer, lbx__token *token)
{
    size_t length;

    token->space = lexer->at;
    while ((length = lexer_space_length(lexer->at, lexer_left(lexer))) > 0)
        lexer->at += length;
    token->space_bytes = (size_t)(lexer->at - token->space);
    if (lexer_starts_with(lexer, "#") || lexer_starts_with(lexer, "//")) {
        const char *end = memchr(lexer->at, '\n', lexer_left(lexer));

        lexer->at = end ? end : lexer->end;
    }
}

/* """ ... """: no escapes; quotes before the last three belong to the text. */
static bool
lexer_triple_quoted(lbx__lexer *lexer, lbx__token *token)
{
    const lbx__fault_line origin = lbx__lexer_origin(lexer);
    const char *start = lexer->at + 3;
    const char *end = start;

    for (;;) {
        end = memchr(end, '"', (size_t)(lexer->end - end));
        if (!end || lexer->end - end < 3)
            return lbx__loader_fail(
                lexer->load, LBX_INVALID, origin,
                "the text that begins here with \"\"\" does "
                "not end with \"\"\"");
        if (end[1] == '"' && end[2] == '"')
            break;
        end++;
    }
    while (lexer->end - end > 3 && end[3] == '"')
        end++;
    for (const char *at = start; at < end; at++)
        lexer->line += *at == '\n';
    lexer->at = end + 3;
    token->length_bytes = (size_t)(end - start);
    token->text = lbx__loader_copy(lexer->load, start, token->length_bytes);
    return token->text != NULL;
}

/* The closing quote; NULL when there is none on this line. */
static const char *
lexer_closing_quote(const lbx__lexer *lexer)
{
    const char *at = lexer->at + 1;

    while (at < lexer->end && *at != '"' && *at != '\n')
        at += *at == '\\' && lexer->end - at > 1 ? 2 : 1;
    return at < lexer->end && *at == '"' ? at : NULL;
}

static bool
lexer_quoted(lbx__lexer *lexer, lbx__token *token)
{
    const lbx__fault_line origin = lbx__lexer_origin(lexer);
    const char *end = lexer_closing_quote(lexer);
    char *out;

    if (!end)
        return lbx__loader_fail(lexer->load, LBX_INVALID, origin,
                                "a quote is not closed on this line; text of "
                                "several lines stands between \"\"\"");
    // An unescaped text is never longer.
    out = lbx__loader_take(lexer->load, (size_t)(end - lexer->at));
    if (!out)
        return false;
    token->text = out;
    for (lexer->at++; lexer->at < end;) {
        const char c = *lexer->at++;
        size_t length;

        if ((unsigned char)c < 0x20)
            return lbx__loader_fail(
                lexer->load, LBX_INVALID, origin,
                "a control character in quotes; write it as "
                "\\t or \\u%04x",
                (unsigned)(unsigned char)c);
        if (c != '\\') {
            *out++ = c;
            continue;
        }
        length = lbx__utf8_unescape(&lexer->at, end, out);
        if (length == 0)
            return lbx__loader_fail(
                lexer->load, LBX_INVALID, origin,
                "a bad escape in quotes; \\\" \\\\ \\/ \\b \\f \\n \\r \\t and "
                "\\u with four digits (not 0000) are allowed");
        out += length;
    }
    lexer->at = end + 1;
    *out = '\0';
    token->length_bytes = (size_t)(out - token->text);
    return true;
}

/* Whether the next character is the + of a number such as 1e+3. */
static bool
lexer_is_exponent_sign(const lbx__lexer *lexer, const lbx__token *token)
{
    const char *at = lexer->at;

    return *at == '+' && at > token->text && (at[-1] | 0x20) == 'e' &&
           ((*token->text >= '0' && *token->text <= '9') ||
            *token->text == '-') &&
           lexer_left(lexer) > 1 && at[1] >= '0' && at[1] <= '9';
}

/* A word without quotes: up to white space, a comment or a reserved
 * character. */
static bool
lexer_plain(lbx__lexer *lexer, lbx__token *token)
{
    while (lexer->at < lexer->end) {
        const unsigned char c = (unsigned char)*lexer->at;

        if (c == '\n' || (c < 0x80 && memchr(reserved, c, sizeof(reserved)) &&
                          !lexer_is_exponent_sign(lexer, token)))
            break;
        if (c == '/' && lexer_starts_with(lexer, "//"))
            break;
        if (lexer_space_length(lexer->at, lexer_left(lexer)) > 0)
            break;
        lexer->at++;
        while (lexer->at < lexer->end &&
               ((unsigned char)*lexer->at & 0xc0) == 0x80)
            lexer->at++; // LEXER-1
    }
    token->length_bytes = (size_t)(lexer->at - token->text);
    if (token->length_bytes > 0)
        return true;
    return lbx__loader_fail(lexer->load, LBX_INVALID, lbx__lexer_origin(lexer),
                            "'%c' is reserved; put text that has it in quotes",
                            *lexer->at);
}

/* Tokens of one character. */
static bool
lexer_single(char c, lbx__token_kind *ret)
{
    static const char characters[] = "\n,;=:{}[]";
    static const lbx__token_kind kinds[] = {
        LBX__TOKEN_NEWLINE,       LBX__TOKEN_COMMA,
        LBX__TOKEN_COMMA,         LBX__TOKEN_ASSIGN,
        LBX__TOKEN_ASSIGN,        LBX__TOKEN_OPEN_BRACE,
        LBX__TOKEN_CLOSE_BRACE,   LBX__TOKEN_OPEN_BRACKET,
        LBX__TOKEN_CLOSE_BRACKET,
    };
    const char *found = memchr(characters, c, sizeof(characters) - 1);

    if (found)
        *ret = kinds[found - characters];
    return found != NULL;
}

bool
lbx__lexer_next(lbx__lexer *lexer, lbx__token *ret)
{
    *ret = (lbx__token){.kind = LBX__TOKEN_END};
    lexer_skip_space(lexer, ret);
    ret->line = lexer->line;
    ret->text = lexer->at;
    if (lexer->at == lexer->end)
        return true;
    ret->length_bytes = 1;
    if (lexer_single(*lexer->at, &ret->kind)) {
        lexer->line += *lexer->at++ == '\n';
        return true;
    }
    if (*lexer->at == '"') {
        ret->kind = LBX__TOKEN_QUOTED;
        return lexer_starts_with(lexer, "\"\"\"")
                   ? lexer_triple_quoted(lexer, ret)
                   : lexer_quoted(lexer, ret);
    }
    if (lexer_starts_with(lexer, "${")) {
        ret->kind = LBX__TOKEN_SUBST;
        ret->optional = lexer_starts_with(lexer, "${?");
        ret->length_bytes = ret->optional ? 3 : 2;
        lexer->at += ret->length_bytes;
        return true;
    }
    if (lexer_starts_with(lexer, "+=")) {
        ret->kind = LBX__TOKEN_APPEND;
        ret->length_bytes = 2;
        lexer->at += 2;
        return true;
    }
    ret->kind = LBX__TOKEN_PLAIN;
    return lexer_plain(lexer, ret);
}

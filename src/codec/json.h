/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON, read strictly and token by token.
 *
 *     lbx__json json;
 *
 *     lbx__json_init(&json, text, size, allocator);
 *     if (lbx__json_next(&json) != LBX__JSON_OBJECT)
 *         ... // not an object, or not JSON: lbx__json_fault() has the reason
 *     while (lbx__json_next(&json) == LBX__JSON_NAME) {
 *         if (lbx__json_is(&json, "default")) {
 *             if (lbx__json_next(&json) == LBX__JSON_STRING) ...
 *         } else
 *             lbx__json_skip(&json);
 *     }
 *     if (lbx__json_next(&json) != LBX__JSON_END) ...
 *     lbx__json_fini(&json);
 *
 * Strict: RFC 8259 to the letter, and beyond it: the text is UTF-8; no name is
 * twice in an object, however it is escaped; nothing is deeper than 32; U+0000
 * and halves of surrogate pairs are refused. Numbers are text: nothing is
 * rounded.
 *
 * Memory is allocated only for names, when a text has more than 32.
 *
 * JSON-1  A token's bytes lie in the text. They are decoded only on request.
 * JSON-2  After a fault every further token is the same fault.
 * JSON-3  When END has been read, the whole text was JSON.
 * JSON-4  The time is linear in the size of the text, whatever it contains:
 *         names are found by a hash with a secret key.
 */
#ifndef LBX_CODEC_JSON_H
#define LBX_CODEC_JSON_H

#include <letterbox/base.h>
#include <letterbox/type.h>

enum {
    LBX__JSON_DEPTH = 32,
    LBX__JSON_NAMES = 65536, /* maximum in a text */
    LBX__JSON_SLOTS = 64     /* before any are allocated */
};

typedef enum lbx__json_kind {
    LBX__JSON_END = 0,
    LBX__JSON_FAULT,
    LBX__JSON_OBJECT,
    LBX__JSON_OBJECT_END,
    LBX__JSON_ARRAY,
    LBX__JSON_ARRAY_END,
    LBX__JSON_NAME, /* of a member; its value comes next */
    LBX__JSON_STRING,
    LBX__JSON_NUMBER,
    LBX__JSON_TRUE,
    LBX__JSON_FALSE,
    LBX__JSON_NULL,
} lbx__json_kind;

/* A name that has been read, and in which object. */
typedef struct lbx__json_name {
    uint64_t hash;
    uint32_t object; /* 0: the slot is free */
    uint32_t offset;
    uint32_t size;
} lbx__json_name;

typedef struct lbx__json {
    const char *text, *at, *end;

    /* The token: without quotes, escapes as they are. */
    lbx__json_kind kind;
    const char *token;
    size_t size;
    bool escaped;

    /* The open objects and arrays. */
    uint8_t expected; /* enum expected in json.c */
    uint32_t depth;
    uint32_t objects;               /* how many there were */
    uint32_t open[LBX__JSON_DEPTH]; /* the object's number; 0: an array */

    /* The fault: JSON-2. */
    lbx_status status;
    const char *why;

    /* The names so far. */
    const lbx_allocator *allocator;
    lbx__json_name *names;
    uint32_t slots; /* a power of two */
    uint32_t used;
    lbx__json_name first[LBX__JSON_SLOTS];
} lbx__json;

/* The text must outlive the reader. */
void lbx__json_init(lbx__json *json, const char *text, size_t size,
                    const lbx_allocator *allocator);
void lbx__json_fini(lbx__json *json);

/* The next token. */
lbx__json_kind lbx__json_next(lbx__json *json);

/* Reads past the value that the token begins: to the end of an object or array;
 * of a name, past its value. False for a fault. */
bool lbx__json_skip(lbx__json *json);

/* Whether a name or string, decoded, is this text. */
bool lbx__json_is(const lbx__json *json, const char *text);

/* Appends a name or string, decoded. */
void lbx__json_text(const lbx__json *json, lbx_buffer *out);

/* A number as an integer. False when it has a fraction or an exponent, or does
 * not fit. */
bool lbx__json_integer(const lbx__json *json, int64_t *ret);

/* A number as a double, rounded. False when it is beyond the largest one, or
 * has more than a thousand characters. */
bool lbx__json_double(const lbx__json *json, double *ret);

/* Writes the fault of the reader: LBX_ENCODING, LBX_TOO_LARGE or LBX_NO_MEMORY.
 * When the text is valid JSON but not what the caller expected, `why` is the
 * reason; NULL: a general one. Returns the status. `fault` may be NULL. */
lbx_status lbx__json_fault(const lbx__json *json, const char *why,
                           lbx_fault *fault);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: a strict reader and a writer, small ones, for bodies that are no
 * records (<letterbox/record.h>).
 *
 *     lbx_json *json;
 *     int64_t cents;
 *
 *     status = lbx_json_read(body, size, NULL, &json, &fault);
 *     if (status == LBX_OK) {
 *         lbx_json_value order = lbx_json_root(json);
 *         const char *item = lbx_json_text(lbx_json_get(order, "item"), NULL);
 *
 *         if (item && lbx_json_int64(lbx_json_get(order, "cents"), &cents))
 *             ...
 *         lbx_json_destroy(json);
 *     }
 *
 * Looking up what is not there gives LBX_JSON_ABSENT, from which everything
 * else is absent too: a chain of calls needs one check, at its end.
 *
 * Strict: RFC 8259 to the letter, in UTF-8; no name is twice in an object;
 * nothing is deeper than 32 levels; U+0000 is refused. Reading takes memory of
 * a few times the text's size, and time linear in it. Numbers are kept as text:
 * nothing is rounded unless you ask for a double.
 *
 * Writing, in an `encode` of your own, or into an lbx_buffer_create():
 *
 *     lbx_json_writer out;
 *
 *     lbx_json_writer_init(&out, buffer);
 *     lbx_json_writer_object(&out, NULL);
 *     lbx_json_writer_text(&out, "item", "a book");
 *     lbx_json_writer_int64(&out, "cents", 1200);
 *     lbx_json_writer_end(&out);
 *     status = lbx_json_writer_finish(&out);
 *
 * Each call has the name of the member; NULL in an array and at the top. A
 * failure is kept, makes all later calls do nothing, and is what finish
 * returns.
 *
 * Threads    what was read does not change: any. A writer, one at a time.
 */
#ifndef LETTERBOX_JSON_H
#define LETTERBOX_JSON_H

#include <letterbox/base.h>
#include <letterbox/type.h>

LBX_BEGIN

typedef struct lbx_json lbx_json;

typedef enum lbx_json_kind {
    LBX_JSON_ABSENT = 0,
    LBX_JSON_NULL,
    LBX_JSON_BOOL,
    LBX_JSON_NUMBER,
    LBX_JSON_TEXT,
    LBX_JSON_ARRAY,
    LBX_JSON_OBJECT,
} lbx_json_kind;

/* A value inside what was read; as long as that lives. {0} is absent. */
typedef struct lbx_json_value {
    const lbx_json *json;
    uint32_t index;
} lbx_json_value;

/*
 * lbx_json_read() reads a whole text.
 *
 * Returns    LBX_OK; LBX_ENCODING for a text that is not JSON; LBX_TOO_LARGE
 *            for one that is too deep, or too long; LBX_NO_MEMORY; LBX_INVALID.
 *            `fault` has the byte and the reason.
 * Ownership  the result is the caller's: lbx_json_destroy(). The text is
 *            copied.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_json_read(const void *text,
                                              size_t size_bytes,
                                              const lbx_allocator *allocator,
                                              lbx_json **ret, lbx_fault *fault);

/*
 * lbx_json_destroy() destroys it, with all its values and texts. Takes NULL.
 *
 * Threads    any, once.
 * Since      0.1
 */
LBX_API void lbx_json_destroy(lbx_json *json);

/*
 * lbx_json_root() is the value that the text is; absent for NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_json_value lbx_json_root(const lbx_json *json);

/*
 * lbx_json_kind_of() is the kind of a value.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_json_kind lbx_json_kind_of(lbx_json_value value);

/*
 * lbx_json_get() is the member of an object with this name; absent when there
 * is none, or the value is no object. Takes time by the number of members.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_json_value lbx_json_get(lbx_json_value value, const char *name);

/*
 * lbx_json_first() is the first member of an object, or element of an array;
 * absent when there is none.
 *
 *     for (value = lbx_json_first(items); lbx_json_kind_of(value);
 *          value = lbx_json_next(value))
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_json_value lbx_json_first(lbx_json_value value);

/*
 * lbx_json_next() is the member or element behind this one; absent after the
 * last.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_json_value lbx_json_next(lbx_json_value value);

/*
 * lbx_json_name() is the name of a member; NULL for values that have none.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_json_name(lbx_json_value value);

/*
 * lbx_json_text() is a string, decoded and with a NUL behind it; of a number,
 * the digits as they were written; NULL for others. `ret_bytes` may be NULL.
 *
 * Ownership  the text is as old as what was read.
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_json_text(lbx_json_value value, size_t *ret_bytes);

/*
 * lbx_json_int64() reads a number without fraction and exponent.
 *
 * Returns    true; false for others, and for numbers that do not fit.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_json_int64(lbx_json_value value, int64_t *ret);

/*
 * lbx_json_double() reads a number, rounded to the nearest.
 *
 * Returns    true; false for others, and for numbers beyond the largest.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_json_double(lbx_json_value value, double *ret);

/*
 * lbx_json_bool() reads true or false.
 *
 * Returns    true; false for other kinds of values.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_json_bool(lbx_json_value value, bool *ret);

/* ---- Writing ---- */

/* A writer; its members are the library's. */
typedef struct lbx_json_writer {
    uint64_t opaque[6];
} lbx_json_writer;

/*
 * lbx_json_writer_init() starts a value at the end of a buffer, which must
 * outlive the writer. There is nothing to free.
 *
 * Ownership  the buffer is borrowed.
 * Since      0.1
 */
LBX_API void lbx_json_writer_init(lbx_json_writer *writer, lbx_buffer *buffer);

/*
 * lbx_json_writer_object() begins an object. Members must have different names.
 *
 * Since      0.1
 */
LBX_API void lbx_json_writer_object(lbx_json_writer *writer, const char *name);

/*
 * lbx_json_writer_array() begins an array.
 *
 * Since      0.1
 */
LBX_API void lbx_json_writer_array(lbx_json_writer *writer, const char *name);

/*
 * lbx_json_writer_end() ends the object or array that was begun last.
 *
 * Since      0.1
 */
LBX_API void lbx_json_writer_end(lbx_json_writer *writer);

/*
 * lbx_json_writer_text() writes a string; null for NULL.
 *
 * Since      0.1
 */
LBX_API void lbx_json_writer_text(lbx_json_writer *writer, const char *name,
                                  const char *text);

/*
 * lbx_json_writer_int64() writes a number.
 *
 * Since      0.1
 */
LBX_API void lbx_json_writer_int64(lbx_json_writer *writer, const char *name,
                                   int64_t number);

/*
 * lbx_json_writer_double() writes a number: the shortest text that is read as
 * the same. NaN and infinities fail, with LBX_ENCODING.
 *
 * Since      0.1
 */
LBX_API void lbx_json_writer_double(lbx_json_writer *writer, const char *name,
                                    double number);

/*
 * lbx_json_writer_bool() writes true or false.
 *
 * Since      0.1
 */
LBX_API void lbx_json_writer_bool(lbx_json_writer *writer, const char *name,
                                  bool value);

/*
 * lbx_json_writer_finish() returns whether one whole value was written.
 *
 * Returns    LBX_OK; LBX_ENCODING for a text that is not UTF-8, a double that
 *            is not finite, calls in a wrong order, a name that is missing or
 *            too many, more than 32 levels, or what was not ended;
 *            LBX_TOO_LARGE and LBX_NO_MEMORY of the buffer; LBX_INVALID.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_json_writer_finish(lbx_json_writer *writer);

LBX_END

#endif

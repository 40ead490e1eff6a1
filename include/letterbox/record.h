/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: structs that travel as JSON objects, by a table of their members.
 *
 *     struct order {
 *         const char *item;
 *         int64_t cents;
 *         const char *note; // NULL: none
 *     };
 *
 *     LBX_RECORD(order_record, struct order, "shop.Order",
 *                LBX_FIELD(struct order, item, TEXT),
 *                LBX_FIELD(struct order, cents, INT64),
 *                LBX_OPTIONAL(struct order, note, TEXT));
 *
 *     lbx_record_type_create(&order_record, NULL, &order_type, NULL);
 *     lbx_type_registry_add(types, order_type);
 *     ...
 *     struct order order = {.item = "a book", .cents = 1200};
 *     lbx_draft draft = lbx_draft_of_message(order_type, &order);
 *
 * The letter is {"item":"a book","cents":1200}; the receiver's
 * lbx_letter_message() is a struct order again. A row whose member has not the
 * type of its kind does not compile.
 *
 *   TEXT     const char * or char *   a string; NULL: absent
 *   CHARS    char [n]                 a string shorter than n; empty: absent
 *   BOOL     bool                     true or false
 *   INT32    int32_t                  a number without fraction or exponent
 *   UINT32   uint32_t                 the same
 *   INT64    int64_t                  the same
 *   DOUBLE   double                   a number; the shortest that reads the
 *                                     same; NaN and infinities are refused
 *   TIME     int64_t                  ms since 1970, as RFC 3339 in UTC; read
 *                                     with any offset; 0: absent
 *   JSON     const char * or char *   any JSON value, unchanged; NULL: absent
 *
 * and with macros of their own bytes (a pointer and a size_t), as base64, and
 * records inside records.
 *
 * Reading is strict: the text is one JSON object in UTF-8, without names that
 * are there twice, U+0000 or more than 32 levels; every field has its type and
 * fits its member; what is not optional is there. Names without a field are
 * ignored, so that programs of different versions understand each other; null
 * is absent. An optional number that is absent is 0, and is written as 0.
 *
 * Messages of such a type are made by lbx_record_decode() and
 * lbx_record_clone(): one block of memory with all texts in it. What is only
 * encoded, as in a draft, may be any struct.
 *
 * Threads    any.
 */
#ifndef LETTERBOX_RECORD_H
#define LETTERBOX_RECORD_H

#include <letterbox/base.h>
#include <letterbox/type.h>

#include <stddef.h>

LBX_BEGIN

typedef struct lbx_record lbx_record;

typedef enum lbx_field_kind {
    LBX_FIELD_KIND_TEXT = 0,
    LBX_FIELD_KIND_CHARS,
    LBX_FIELD_KIND_BOOL,
    LBX_FIELD_KIND_INT32,
    LBX_FIELD_KIND_UINT32,
    LBX_FIELD_KIND_INT64,
    LBX_FIELD_KIND_DOUBLE,
    LBX_FIELD_KIND_TIME,
    LBX_FIELD_KIND_JSON,
    LBX_FIELD_KIND_BYTES,   /* base64 */
    LBX_FIELD_KIND_BODY,    /* the same, but a string where the bytes are UTF-8
                               without a NUL, otherwise called NAME_base64 */
    LBX_FIELD_KIND_RECORD,  /* a struct inside the struct */
    LBX_FIELD_KIND_POINTER, /* a pointer to one; NULL: absent */
} lbx_field_kind;

/* A row of the table; made by the macros below. */
typedef struct lbx_field {
    const char *name; /* in JSON */
    lbx_field_kind kind;
    bool optional;
    size_t offset_bytes;
    size_t extra;             /* BYTES, BODY: the offset of the size_t;
                                 otherwise the size of the member, or of what
                                 it points to (POINTER) */
    const lbx_record *record; /* RECORD, POINTER */
} lbx_field;

enum {
    LBX_RECORD_MAX_FIELDS = 64,
    LBX_RECORD_MAX_DEPTH = 8 /* records inside records */
};

/* A table. Made by LBX_RECORD(); it must outlive all that is made of it. */
struct lbx_record {
    size_t size_bytes; /* LBX_RECORD() sets it */
    const char *name;  /* of the type */
    size_t struct_bytes;
    const lbx_field *fields;
    size_t field_count;
    size_t field_bytes; /* of a row */
};

/* LBX_RECORD(id, struct_type, "type.Name", rows...) defines a table `id`. */
#define LBX_RECORD(id, type, type_name, ...)                                   \
    static const lbx_field id##_fields[] = {__VA_ARGS__};                      \
    static const lbx_record id = {sizeof(lbx_record),                          \
                                  type_name,                                   \
                                  sizeof(type),                                \
                                  id##_fields,                                 \
                                  sizeof(id##_fields) / sizeof(lbx_field),     \
                                  sizeof(lbx_field)}

/* A row: LBX_FIELD(struct order, item, TEXT). LBX_OPTIONAL() for a field that
 * may be absent; _NAMED for another name in JSON than the member's. */
#define LBX_FIELD(type, member, kind)                                          \
    LBX__FIELD(#member, type, member, kind, false)
#define LBX_OPTIONAL(type, member, kind)                                       \
    LBX__FIELD(#member, type, member, kind, true)
#define LBX_FIELD_NAMED(name, type, member, kind)                              \
    LBX__FIELD(name, type, member, kind, false)
#define LBX_OPTIONAL_NAMED(name, type, member, kind)                           \
    LBX__FIELD(name, type, member, kind, true)

/* Bytes, as base64: a pointer, and the member, a size_t, that has their number.
 * NULL: absent. Decoded ones have a NUL behind them. */
#define LBX_FIELD_BYTES(type, member, size_member)                             \
    LBX__FIELD_BYTES(#member, BYTES, false, type, member, size_member)
#define LBX_OPTIONAL_BYTES(type, member, size_member)                          \
    LBX__FIELD_BYTES(#member, BYTES, true, type, member, size_member)

/* A record inside: a struct, or, when it is optional, a pointer to one. */
#define LBX_FIELD_RECORD(type, member, inside)                                 \
    {                                                                          \
#member, LBX_FIELD_KIND_RECORD, false, offsetof(type, member),         \
            sizeof(LBX__FIELD_OF(type, member)), &(inside)                     \
    }
#define LBX_OPTIONAL_RECORD(type, member, inside)                              \
    {                                                                          \
#member, LBX_FIELD_KIND_POINTER, true, offsetof(type, member),         \
            sizeof(*LBX__FIELD_OF(type, member)), &(inside)                    \
    }

/*
 * lbx_record_type_create() makes a type whose messages are such structs. What
 * `options` has beside encode, decode, destroy, clone and context is used too
 * (bases, a priority, an allocator for the type, another name); NULL: the
 * record's name. Messages are in the C library's memory.
 *
 * Returns    LBX_OK; LBX_INVALID for a table that contradicts itself, or
 *            options as lbx_type_create() refuses them; LBX_NO_MEMORY. `fault`
 *            has the reason.
 * Ownership  as lbx_type_create(); the record is borrowed.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_record_type_create(
    const lbx_record *record, const lbx_type_options *options, lbx_type **ret,
    lbx_fault *fault);

/*
 * lbx_record_encode() appends a struct as JSON, for an `encode` of your own.
 *
 * Returns    LBX_OK; LBX_ENCODING when a field that is not optional is absent,
 *            or a member cannot be written: a text that is not UTF-8, JSON that
 *            is none, a double that is not finite; LBX_TOO_LARGE and
 *            LBX_NO_MEMORY of the buffer; LBX_INVALID. `fault` names the field.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_record_encode(const lbx_record *record,
                                                  const void *message,
                                                  lbx_buffer *out,
                                                  lbx_fault *fault);

/*
 * lbx_record_decode() makes a struct of JSON.
 *
 *     lbx_record_decode(&order_record, body, size, NULL, &order, &fault);
 *
 * Returns    LBX_OK; LBX_ENCODING for a text that is not such a record: `fault`
 *            names the field, or the byte; LBX_NO_MEMORY; LBX_INVALID.
 * Ownership  the struct and its texts are the caller's: lbx_record_destroy().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_record_decode(const lbx_record *record, const void *json, size_t size_bytes,
                  const lbx_allocator *allocator, void **ret, lbx_fault *fault);

/*
 * lbx_record_clone() copies a struct and all that its fields point to: the way
 * to make a message of a struct on the stack.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY; LBX_INVALID.
 * Ownership  as lbx_record_decode(). What is no field is copied as it is.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_record_clone(const lbx_record *record,
                                                 const void *message,
                                                 const lbx_allocator *allocator,
                                                 void **ret);

/*
 * lbx_record_destroy() destroys what the two above have made, and nothing else.
 * Takes NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_record_destroy(void *message);

LBX_END

/* ---- What the macros above are made of ---- */

#define LBX__FIELD_OF(type, member) (((type *)0)->member)

#define LBX__FIELD(name, type, member, kind, optional)                         \
    {                                                                          \
        name, LBX_FIELD_KIND_##kind, optional,                                 \
            offsetof(type, member) +                                           \
                0 * sizeof(LBX__FIELD_IS_##kind(type, member)),                \
            sizeof(LBX__FIELD_OF(type, member)), NULL                          \
    }

#define LBX__FIELD_BYTES(name, kind, optional, type, member, size_member)      \
    {                                                                          \
        name, LBX_FIELD_KIND_##kind, optional,                                 \
            offsetof(type, member) +                                           \
                0 * sizeof(*(const char *)LBX__FIELD_OF(type, member)),        \
            offsetof(type, size_member) +                                      \
                0 * sizeof(LBX__FIELD_IS(size_t *, type, size_member)),        \
            NULL                                                               \
    }

/* Each compiles only for members of the one type. */
/* NOLINTBEGIN(bugprone-macro-parentheses): types have no parentheses */
#ifdef __cplusplus
#define LBX__FIELD_IS(expected, type, member)                                  \
    static_cast<expected>(&LBX__FIELD_OF(type, member))
#define LBX__FIELD_IS_TEXT(type, member)                                       \
    static_cast<const char *const *>(&LBX__FIELD_OF(type, member))
#define LBX__FIELD_IS_CHARS(type, member)                                      \
    static_cast<char(*)[sizeof(LBX__FIELD_OF(type, member))]>(                 \
        &LBX__FIELD_OF(type, member))
#else
#define LBX__FIELD_IS(expected, type, member)                                  \
    _Generic(&LBX__FIELD_OF(type, member), expected : 1)
#define LBX__FIELD_IS_TEXT(type, member)                                       \
    _Generic(&LBX__FIELD_OF(type, member), const char ** : 1, char ** : 1)
#define LBX__FIELD_IS_CHARS(type, member)                                      \
    _Generic(&LBX__FIELD_OF(type, member),                                     \
             char(*)[sizeof(LBX__FIELD_OF(type, member))] : 1)
#endif
/* NOLINTEND(bugprone-macro-parentheses) */
#define LBX__FIELD_IS_JSON(s, member)   LBX__FIELD_IS_TEXT(s, member)
#define LBX__FIELD_IS_BOOL(s, member)   LBX__FIELD_IS(bool *, s, member)
#define LBX__FIELD_IS_INT32(s, member)  LBX__FIELD_IS(int32_t *, s, member)
#define LBX__FIELD_IS_UINT32(s, member) LBX__FIELD_IS(uint32_t *, s, member)
#define LBX__FIELD_IS_INT64(s, member)  LBX__FIELD_IS(int64_t *, s, member)
#define LBX__FIELD_IS_TIME(s, member)   LBX__FIELD_IS(int64_t *, s, member)
#define LBX__FIELD_IS_DOUBLE(s, member) LBX__FIELD_IS(double *, s, member)

#endif

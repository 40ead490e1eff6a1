/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message types: what the library may know about what a void * points to.
 *
 * A type has a fully qualified name, an ordered list of bases, and the
 * functions that destroy or copy a message. An envelope may carry one. It is
 * used to destroy messages that were not received, for default priorities, and
 * (with actors and postboxes) for matching and reply routes, where a message of
 * a derived type also counts as one of its bases.
 *
 * Bases are linearised once, when the type is created, by the C3 rule: a type
 * before its bases, bases in the order given, no base before a type derived
 * from it. Bases that cannot be put in one order are refused. Only the line of
 * ancestors is inherited; destroy and clone are not.
 *
 * Letters carry bytes and the name of a type. `encode` and `decode` are how a
 * message becomes bytes and bytes a message; the type decides the format.
 *
 * Threads    a type does not change after its creation: any thread may use it.
 */
#ifndef LETTERBOX_TYPE_H
#define LETTERBOX_TYPE_H

#include <letterbox/base.h>

LBX_BEGIN

typedef struct lbx_type lbx_type;

/* Bytes that are being written: what `encode` appends to. */
typedef struct lbx_buffer lbx_buffer;

/* The priority of a message that states none. */
#define LBX_PRIORITY_DEFAULT 10

typedef struct lbx_type_options {
    size_t size_bytes;            /* LBX_TYPE_OPTIONS_INIT sets it */
    const char *name;             /* "shop.OrderPlaced"; copied */
    const lbx_type *const *bases; /* in order; they must outlive the type */
    size_t base_count;
    int32_t default_priority; /* what lbx_envelope_of_type() gives */
    const lbx_allocator *allocator;
    void *context; /* given to those below */

    /* Destroys a message that will not be received. NULL: nothing to do. */
    void (*destroy)(void *message, void *context);

    /* Makes an independent copy, or returns NULL when there is no memory.
     * NULL: messages of this type cannot be copied. */
    void *(*clone)(const void *message, void *context);

    /* Appends the message's bytes to `out` (lbx_buffer_append()). Anything but
     * LBX_OK and LBX_NO_MEMORY becomes LBX_ENCODING. NULL: messages of this
     * type cannot be put into letters. */
    lbx_status (*encode)(const void *message, lbx_buffer *out, void *context);

    /* Makes a message of bytes, which have a NUL behind them. It is destroyed
     * by `destroy`. As `encode` otherwise. */
    lbx_status (*decode)(const void *bytes, size_t size_bytes, void **ret,
                         void *context);
} lbx_type_options;

#define LBX_TYPE_OPTIONS_INIT                                                  \
    {                                                                          \
        .size_bytes = sizeof(lbx_type_options),                                \
        .default_priority = LBX_PRIORITY_DEFAULT                               \
    }

/*
 * lbx_message_free() is free(), for messages that are one block of malloc():
 * a `destroy` of types, mailboxes and actor systems. `context` is not used.
 * Takes NULL.
 *
 * Ownership  `message` is freed.
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_message_free(void *message, void *context);

/*
 * lbx_type_create() makes a type from its description.
 *
 * Returns    LBX_OK; LBX_INVALID for an empty name, a NULL base, or bases that
 *            cannot be put in one order; LBX_NO_MEMORY.
 * Ownership  the type is the caller's; destroy it with lbx_type_destroy() when
 *            no message, mailbox or derived type uses it any more.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_type_create(const lbx_type_options *options,
                                                lbx_type **ret);

/*
 * lbx_type_destroy() destroys a type. Takes NULL.
 *
 * Since      0.1
 */
LBX_API void lbx_type_destroy(lbx_type *type);

/*
 * lbx_type_name() is the type's fully qualified name.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_type_name(const lbx_type *type);

/*
 * lbx_type_default_priority() is the priority of messages of this type that
 * state none; LBX_PRIORITY_DEFAULT for NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API int32_t lbx_type_default_priority(const lbx_type *type);

/*
 * lbx_type_is_a() returns whether `type` is `base` or derived from it.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_type_is_a(const lbx_type *type, const lbx_type *base);

/*
 * lbx_type_ancestor() is the type's linearised line: index 0 is the type
 * itself, then its ancestors from nearest to farthest; NULL past the end.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_type *lbx_type_ancestor(const lbx_type *type, size_t index);

/*
 * lbx_type_clone() copies a message of this type.
 *
 * Returns    LBX_OK; LBX_UNSUPPORTED when the type has no clone function;
 *            LBX_NO_MEMORY; LBX_INVALID.
 * Ownership  the copy is the caller's.
 * Threads    any, as far as the type's own function allows.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_type_clone(const lbx_type *type,
                                               const void *message, void **ret);

/*
 * lbx_type_destroy_message() destroys a message of this type; without a type or
 * a destroy function it does nothing.
 *
 * Threads    any, as far as the type's own function allows.
 * Since      0.1
 */
LBX_API void lbx_type_destroy_message(const lbx_type *type, void *message);

/*
 * lbx_type_encode() appends a message of this type, as bytes, to `out`.
 *
 * Returns    LBX_OK; LBX_UNSUPPORTED when the type has no encode function;
 *            LBX_ENCODING; LBX_TOO_LARGE when the buffer's limit is reached;
 *            LBX_NO_MEMORY; LBX_INVALID.
 * Threads    any, as far as the type's own function allows.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_type_encode(const lbx_type *type,
                                                const void *message,
                                                lbx_buffer *out);

/*
 * lbx_type_decode() makes a message of bytes, which have a NUL behind them.
 *
 * Returns    LBX_OK; LBX_UNSUPPORTED when the type has no decode function;
 *            LBX_ENCODING; LBX_NO_MEMORY; LBX_INVALID.
 * Ownership  the message is the caller's: lbx_type_destroy_message().
 * Threads    any, as far as the type's own function allows.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_type_decode(const lbx_type *type,
                                                const void *bytes,
                                                size_t size_bytes, void **ret);

/*
 * lbx_buffer_create() makes an empty buffer of your own, which will not hold
 * more than `max_bytes`: for what encodes outside a letter.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY; LBX_INVALID.
 * Ownership  the buffer is the caller's: lbx_buffer_destroy().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_buffer_create(
    size_t max_bytes, const lbx_allocator *allocator, lbx_buffer **ret);

/*
 * lbx_buffer_destroy() destroys a buffer that was created. Takes NULL.
 *
 * Threads    any, once.
 * Since      0.1
 */
LBX_API void lbx_buffer_destroy(lbx_buffer *buffer);

/*
 * lbx_buffer_bytes() is what was added so far, with a NUL behind it;
 * `ret_bytes`, which may be NULL, is its size.
 *
 * Ownership  borrowed, until the buffer changes.
 * Since      0.1
 */
LBX_API const char *lbx_buffer_bytes(const lbx_buffer *buffer,
                                     size_t *ret_bytes);

/*
 * lbx_buffer_append() adds bytes to a buffer, such as an `encode` is given.
 * After a failure the buffer takes nothing more and the encoding fails,
 * whatever `encode` returns.
 *
 * Returns    LBX_OK; LBX_TOO_LARGE; LBX_NO_MEMORY; LBX_INVALID.
 * Since      0.1
 */
LBX_API lbx_status lbx_buffer_append(lbx_buffer *buffer, const void *bytes,
                                     size_t size_bytes);

/*
 * lbx_buffer_append_text() is the same for a text up to its NUL.
 *
 * Returns    as lbx_buffer_append().
 * Since      0.1
 */
LBX_API lbx_status lbx_buffer_append_text(lbx_buffer *buffer, const char *text);

LBX_END

#endif

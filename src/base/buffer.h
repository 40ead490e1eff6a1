/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that grow, up to a limit: what encoders write to.
 *
 * The first failure is kept in `status`; what is added after it is ignored and
 * `size` stays as it was. So a writer of many pieces checks once, at the end.
 *
 * BUF-1  bytes[size] is a NUL, unless bytes is NULL, and then size is 0.
 * BUF-2  size <= max; size + 1 <= capacity.
 * BUF-3  once status is not LBX_OK, only a reset changes anything.
 */
#ifndef LBX_BASE_BUFFER_H
#define LBX_BASE_BUFFER_H

#include <letterbox/type.h>

struct lbx_buffer {
    const lbx_allocator *allocator;
    char *bytes;
    size_t size;
    size_t capacity; /* allocated */
    size_t max;      /* the limit of size */
    lbx_status status;
};

/* An empty buffer that will not hold more than `max` bytes. */
void lbx__buffer_init(lbx_buffer *buffer, const lbx_allocator *allocator,
                      size_t max);

/* Frees the bytes. Takes a zeroed buffer. */
void lbx__buffer_fini(lbx_buffer *buffer);

/* Makes it empty and LBX_OK again; the memory stays. */
void lbx__buffer_reset(lbx_buffer *buffer);

/* Adds `size` uninitialised bytes and returns their address; NULL after a
 * failure. */
char *lbx__buffer_claim(lbx_buffer *buffer, size_t size);

static inline void
lbx__buffer_add(lbx_buffer *buffer, const void *bytes, size_t size)
{
    (void)lbx_buffer_append(buffer, bytes, size);
}

/* Adds one byte. */
void lbx__buffer_add_byte(lbx_buffer *buffer, char byte);

/* The text so far, "" when there is none. */
const char *lbx__buffer_text(const lbx_buffer *buffer);

#endif

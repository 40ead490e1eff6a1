/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that grow, up to a limit: what encoders write to.
 *
 * A failure sticks: the first one is kept in `status`, what follows is not
 * added, and `size` stays where it was. So a writer of many pieces asks once, at
 * the end.
 *
 * B1  bytes[size] is a NUL, unless bytes is NULL, and then size is 0.
 * B2  size <= most; size + 1 <= room.
 * B3  once status is not OK, nothing changes but by reset.
 */
#ifndef LBX_BASE_BUFFER_H
#define LBX_BASE_BUFFER_H

#include <letterbox/type.h>

struct lbx_buffer {
    const lbx_allocator *allocator;
    char *bytes;
    size_t size;
    size_t room; /* allocated */
    size_t most; /* the limit of size */
    lbx_status status;
};

/* An empty buffer that will not hold more than `most` bytes. */
void lbx__buffer_init(lbx_buffer *buffer, const lbx_allocator *allocator,
                      size_t most);

/* Frees the bytes. Takes a zeroed buffer. */
void lbx__buffer_fini(lbx_buffer *buffer);

/* Empty again and OK, with the room it had. */
void lbx__buffer_reset(lbx_buffer *buffer);

/* Room for `size` bytes more, uninitialised and counted as there; NULL after a
 * failure. */
char *lbx__buffer_claim(lbx_buffer *buffer, size_t size);

static inline void
lbx__buffer_add(lbx_buffer *buffer, const void *bytes, size_t size)
{
    (void)lbx_buffer_append(buffer, bytes, size);
}

/* One byte more. */
void lbx__buffer_add_byte(lbx_buffer *buffer, char byte);

/* The text so far, "" when there is none. */
const char *lbx__buffer_text(const lbx_buffer *buffer);

#endif

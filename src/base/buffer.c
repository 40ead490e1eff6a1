/* SPDX-License-Identifier: Apache-2.0 */
/* Growing bytes; the invariants are in base/buffer.h. */
#include "base/buffer.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

enum {
    FIRST_ROOM = 128
};

void
lbx__buffer_init(lbx_buffer *buffer, const lbx_allocator *allocator,
                 size_t most)
{
    assert(most < SIZE_MAX / 4); // doubling does not overflow
    *buffer = (lbx_buffer){.allocator = allocator, .most = most};
}

void
lbx__buffer_fini(lbx_buffer *buffer)
{
    lbx__free(buffer->allocator, buffer->bytes, buffer->room);
    buffer->bytes = NULL;
    buffer->size = buffer->room = 0;
}

void
lbx__buffer_reset(lbx_buffer *buffer)
{
    buffer->status = LBX_OK;
    buffer->size = 0;
    if (buffer->bytes)
        buffer->bytes[0] = '\0';
}

/* Makes room for `size` bytes in all, and a NUL. */
static bool
grow(lbx_buffer *buffer, size_t size)
{
    size_t room = buffer->room ? buffer->room : FIRST_ROOM;
    char *bytes;

    while (room < size + 1)
        room *= 2;
    if (room > buffer->most + 1)
        room = buffer->most + 1; // still enough: size <= most
    bytes = lbx__alloc(buffer->allocator, room, 1);
    if (!bytes)
        return false;
    if (buffer->size > 0)
        memcpy(bytes, buffer->bytes, buffer->size);
    lbx__free(buffer->allocator, buffer->bytes, buffer->room);
    buffer->bytes = bytes;
    buffer->room = room;
    return true;
}

char *
lbx__buffer_claim(lbx_buffer *buffer, size_t size)
{
    char *claimed;

    if (buffer->status != LBX_OK)
        return NULL;
    if (size > buffer->most - buffer->size) {
        buffer->status = LBX_TOO_LARGE;
        return NULL;
    }
    if (buffer->size + size + 1 > buffer->room &&
        !grow(buffer, buffer->size + size)) {
        buffer->status = LBX_NO_MEMORY;
        return NULL;
    }
    claimed = buffer->bytes + buffer->size;
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0'; // B1
    return claimed;
}

lbx_status
lbx_buffer_append(lbx_buffer *buffer, const void *bytes, size_t size_bytes)
{
    char *claimed;

    if (!buffer || (!bytes && size_bytes > 0))
        return LBX_INVALID;
    claimed = lbx__buffer_claim(buffer, size_bytes);
    if (claimed && size_bytes > 0)
        memcpy(claimed, bytes, size_bytes);
    return buffer->status;
}

lbx_status
lbx_buffer_append_text(lbx_buffer *buffer, const char *text)
{
    if (!text)
        return LBX_INVALID;
    return lbx_buffer_append(buffer, text, strlen(text));
}

void
lbx__buffer_add_byte(lbx_buffer *buffer, char byte)
{
    char *claimed = lbx__buffer_claim(buffer, 1);

    if (claimed)
        *claimed = byte;
}

const char *
lbx__buffer_text(const lbx_buffer *buffer)
{
    return buffer->bytes ? buffer->bytes : "";
}

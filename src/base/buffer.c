/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that grow; BUF-1 to BUF-3 are in buffer.h. */
#include "base/buffer.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 128
};

void
lbx__buffer_init(lbx_buffer *buffer, const lbx_allocator *allocator, size_t max)
{
    assert(max < SIZE_MAX / 4); // doubling does not overflow
    *buffer = (lbx_buffer){.allocator = allocator, .max = max};
}

void
lbx__buffer_fini(lbx_buffer *buffer)
{
    lbx__free(buffer->allocator, buffer->bytes, buffer->capacity);
    buffer->bytes = NULL;
    buffer->size = buffer->capacity = 0;
}

void
lbx__buffer_reset(lbx_buffer *buffer)
{
    buffer->status = LBX_OK;
    buffer->size = 0;
    if (buffer->bytes)
        buffer->bytes[0] = '\0';
}

/* Grows to `size` bytes in all, and a NUL. */
static bool
buffer_grow(lbx_buffer *buffer, size_t size)
{
    size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
    char *bytes;

    while (capacity < size + 1)
        capacity *= 2;
    if (capacity > buffer->max + 1)
        capacity = buffer->max + 1; // still enough: size <= max
    bytes = lbx__alloc(buffer->allocator, capacity, 1);
    if (!bytes)
        return false;
    if (buffer->size > 0)
        memcpy(bytes, buffer->bytes, buffer->size);
    lbx__free(buffer->allocator, buffer->bytes, buffer->capacity);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

char *
lbx__buffer_claim(lbx_buffer *buffer, size_t size)
{
    char *claimed;

    if (buffer->status != LBX_OK)
        return NULL;
    if (size > buffer->max - buffer->size) {
        buffer->status = LBX_TOO_LARGE;
        return NULL;
    }
    if (buffer->size + size + 1 > buffer->capacity &&
        !buffer_grow(buffer, buffer->size + size)) {
        buffer->status = LBX_NO_MEMORY;
        return NULL;
    }
    claimed = buffer->bytes + buffer->size;
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0'; // BUF-1
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

/* ---- Buffers of programs ---- */

lbx_status
lbx_buffer_create(size_t max_bytes, const lbx_allocator *allocator,
                  lbx_buffer **ret)
{
    lbx_buffer *buffer;

    if (!ret || max_bytes >= SIZE_MAX / 4 || !lbx__allocator_usable(allocator))
        return LBX_INVALID;
    buffer = lbx__alloc(allocator, sizeof(*buffer), _Alignof(lbx_buffer));
    if (!buffer)
        return LBX_NO_MEMORY;
    lbx__buffer_init(buffer, allocator, max_bytes);
    *ret = buffer;
    return LBX_OK;
}

void
lbx_buffer_destroy(lbx_buffer *buffer)
{
    if (!buffer)
        return;
    lbx__buffer_fini(buffer);
    lbx__free(buffer->allocator, buffer, sizeof(*buffer));
}

const char *
lbx_buffer_bytes(const lbx_buffer *buffer, size_t *ret_bytes)
{
    if (ret_bytes)
        *ret_bytes = buffer ? buffer->size : 0;
    return buffer ? lbx__buffer_text(buffer) : "";
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of records; see record.h. Texts are measured first, then copied into
 * one block (RECORD-2). */
#include "codec/record.h"

#include "base/alloc.h"

#include <string.h>

static bool
record_clone_has_bytes(const lbx_field *field)
{
    return field->kind == LBX_FIELD_KIND_TEXT ||
           field->kind == LBX_FIELD_KIND_JSON ||
           field->kind == LBX_FIELD_KIND_BYTES ||
           field->kind == LBX_FIELD_KIND_BODY;
}

/* The struct that a RECORD or POINTER field has; NULL: none, or another
 * kind. */
static const void *
record_clone_inside(const lbx_field *field, const void *message)
{
    const void *at = (const char *)message + field->offset_bytes;
    const void *inside;

    if (!field->record)
        return NULL;
    if (field->kind == LBX_FIELD_KIND_RECORD)
        return at;
    memcpy(&inside, at, sizeof(inside));
    return inside;
}

/* The bytes of all texts, with a NUL behind each. */
static size_t
record_clone_measure(const lbx_record *record, const void *message)
{
    size_t total = 0;

    for (size_t i = 0; i < record->field_count; i++) {
        const lbx_field *field = lbx__record_field(record, i);
        const void *inside = record_clone_inside(field, message);

        if (record_clone_has_bytes(field)) {
            const lbx__record_bytes bytes =
                lbx__record_get_bytes(message, field);

            total += bytes.bytes ? bytes.size + 1 : 0;
        } else if (inside) {
            total += record_clone_measure(field->record, inside);
        }
    }
    return total;
}

static void
record_clone_bytes(lbx__record_block *block, const lbx_field *field,
                   const void *from, void *to)
{
    lbx__record_bytes bytes = lbx__record_get_bytes(from, field);

    if (!bytes.bytes)
        return;
    if (bytes.size > 0)
        memcpy(block->texts, bytes.bytes, bytes.size);
    block->texts[bytes.size] = '\0';
    bytes.bytes = block->texts;
    block->texts += bytes.size + 1;
    lbx__record_set_bytes(to, field, bytes);
}

/* Copies into a struct of the block. */
static void
record_clone_struct(lbx__record_block *block, const lbx_record *record,
                    const void *from, void *to)
{
    memcpy(to, from, record->struct_bytes);
    for (size_t i = 0; i < record->field_count; i++) {
        const lbx_field *field = lbx__record_field(record, i);
        const void *inside = record_clone_inside(field, from);
        void *at = lbx__record_member(to, field);

        if (record_clone_has_bytes(field))
            record_clone_bytes(block, field, from, to);
        if (!inside)
            continue;
        if (field->kind == LBX_FIELD_KIND_POINTER) {
            void *taken = lbx__record_block_take(block, field->record);

            memcpy(at, &taken, sizeof(taken));
            at = taken;
        }
        record_clone_struct(block, field->record, inside, at);
    }
}

void *
lbx__record_clone(const lbx_record *record, const void *message,
                  const lbx_allocator *allocator)
{
    lbx__record_block block;
    void *copy;

    if (!lbx__record_block_create(
            &block, record, record_clone_measure(record, message), allocator))
        return NULL;
    copy = lbx__record_block_take(&block, record);
    record_clone_struct(&block, record, message, copy);
    return copy;
}

lbx_status
lbx_record_clone(const lbx_record *record, const void *message,
                 const lbx_allocator *allocator, void **ret)
{
    void *copy;

    if (!message || !ret || lbx__record_check(record, NULL) != LBX_OK ||
        !lbx__allocator_usable(allocator))
        return LBX_INVALID;
    copy = lbx__record_clone(record, message, allocator);
    if (!copy)
        return LBX_NO_MEMORY;
    *ret = copy;
    return LBX_OK;
}

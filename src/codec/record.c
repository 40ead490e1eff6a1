/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of records, the memory of records, and their types; see record.h.
 */
#include "codec/record.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

/* ---- Tables ---- */

static const lbx__sized record_sized = {sizeof(lbx_record),
                                        LBX__SIZED_MIN(lbx_record, field_bytes),
                                        "LBX_RECORD()", NULL};

const lbx_field *
lbx__record_field(const lbx_record *record, size_t index)
{
    return (const void *)((const char *)record->fields +
                          index * record->field_bytes);
}

/* How many bytes of the struct a member has; 0: not a kind that is known. */
static size_t
record_member_bytes(const lbx_field *field)
{
    switch (field->kind) {
    case LBX_FIELD_KIND_TEXT:
    case LBX_FIELD_KIND_JSON:
    case LBX_FIELD_KIND_BYTES:
    case LBX_FIELD_KIND_BODY:
    case LBX_FIELD_KIND_POINTER:
        return sizeof(void *);
    case LBX_FIELD_KIND_BOOL:
        return sizeof(bool);
    case LBX_FIELD_KIND_INT32:
    case LBX_FIELD_KIND_UINT32:
        return sizeof(int32_t);
    case LBX_FIELD_KIND_INT64:
    case LBX_FIELD_KIND_TIME:
        return sizeof(int64_t);
    case LBX_FIELD_KIND_DOUBLE:
        return sizeof(double);
    case LBX_FIELD_KIND_CHARS:
    case LBX_FIELD_KIND_RECORD:
        return field->extra;
    }
    return 0;
}

static bool
record_fits(const lbx_record *record, size_t offset_bytes, size_t size_bytes)
{
    return size_bytes > 0 && size_bytes <= record->struct_bytes &&
           offset_bytes <= record->struct_bytes - size_bytes;
}

static bool
record_is_newer(const lbx_record *record, const lbx_field *field)
{
    const char *bytes = (const char *)field;

    for (size_t i = sizeof(*field); i < record->field_bytes; i++)
        if (bytes[i] != 0)
            return true;
    return false;
}

/* What is wrong with a row; NULL: nothing. */
static const char *
record_field_fault(const lbx_record *record, size_t index)
{
    const lbx_field *field = lbx__record_field(record, index);

    if (record_is_newer(record, field))
        return "it asks for something that this library does not have";
    if (!field->name || !field->name[0] || !lbx__utf8_valid(field->name))
        return "its name must be UTF-8 and not empty";
    if (strlen(field->name) + sizeof("_base64") > LBX__RECORD_NAME_BYTES)
        return "its name is too long";
    if (!record_fits(record, field->offset_bytes, record_member_bytes(field)))
        return "it is no kind of field, or outside the struct";
    if ((field->kind == LBX_FIELD_KIND_BYTES ||
         field->kind == LBX_FIELD_KIND_BODY) &&
        !record_fits(record, field->extra, sizeof(size_t)))
        return "its size is outside the struct";
    if (field->record && field->kind != LBX_FIELD_KIND_RECORD &&
        field->kind != LBX_FIELD_KIND_POINTER)
        return "a field of its kind has no record inside";
    for (size_t i = 0; i < index; i++)
        if (strcmp(lbx__record_field(record, i)->name, field->name) == 0)
            return "another field has its name";
    return NULL;
}

static lbx_status
record_check_depth(const lbx_record *record, size_t depth, lbx_fault *fault)
{
    if (!record)
        return lbx__fault_set(fault, LBX_INVALID, "the record is NULL");
    if (lbx__sized_check(record, &record_sized, fault) != LBX_OK)
        return LBX_INVALID;
    if (depth == LBX_RECORD_MAX_DEPTH)
        return lbx__fault_set(fault, LBX_INVALID,
                              "more than %d records inside one another",
                              LBX_RECORD_MAX_DEPTH);
    if (!record->name || !record->fields || record->field_count < 1 ||
        record->field_count > LBX_RECORD_MAX_FIELDS ||
        record->field_bytes < sizeof(lbx_field) || record->struct_bytes < 1)
        return lbx__fault_set(fault, LBX_INVALID,
                              "a record has a name and 1 to %d fields",
                              LBX_RECORD_MAX_FIELDS);
    for (size_t i = 0; i < record->field_count; i++) {
        const lbx_field *field = lbx__record_field(record, i);
        const char *why = record_field_fault(record, i);
        const bool inside = field->kind == LBX_FIELD_KIND_RECORD ||
                            field->kind == LBX_FIELD_KIND_POINTER;

        if (!why && inside) {
            if (record_check_depth(field->record, depth + 1, fault) != LBX_OK)
                return LBX_INVALID;
            if (field->record->struct_bytes != field->extra)
                why = "its struct is not the one of its record";
        }
        if (why)
            return lbx__fault_set(fault, LBX_INVALID, "%s: field '%s': %s",
                                  record->name, field->name ? field->name : "",
                                  why);
    }
    return LBX_OK;
}

lbx_status
lbx__record_check(const lbx_record *record, lbx_fault *fault)
{
    return record_check_depth(record, 0, fault);
}

lbx_status
lbx__record_fault(const lbx_record *record, const lbx__record_path *path,
                  lbx_status status, lbx_fault *fault)
{
    char text[LBX_RECORD_MAX_DEPTH * LBX__RECORD_NAME_BYTES] = "";
    size_t used = 0;

    for (size_t i = 0; i < path->depth; i++) {
        const char *name = path->names[i];
        const int more = snprintf(text + used, sizeof(text) - used, "%s%s",
                                  i > 0 ? "." : "", name);

        used += (size_t)more; // they fit: record_field_fault()
    }
    assert(used < sizeof(text));
    return lbx__fault_set(fault, status, "%s: field '%s': %s", record->name,
                          text,
                          path->why ? path->why : lbx_status_text(status));
}

/* ---- Members ---- */

lbx__record_bytes
lbx__record_get_bytes(const void *message, const lbx_field *field)
{
    lbx__record_bytes got = {NULL, 0};

    memcpy(&got.bytes, (const char *)message + field->offset_bytes,
           sizeof(got.bytes));
    if (!got.bytes)
        return got;
    if (field->kind == LBX_FIELD_KIND_TEXT ||
        field->kind == LBX_FIELD_KIND_JSON)
        got.size = strlen(got.bytes);
    else
        memcpy(&got.size, (const char *)message + field->extra,
               sizeof(got.size));
    return got;
}

void
lbx__record_set_bytes(void *message, const lbx_field *field,
                      lbx__record_bytes bytes)
{
    memcpy(lbx__record_member(message, field), &bytes.bytes,
           sizeof(bytes.bytes));
    if (field->kind != LBX_FIELD_KIND_TEXT &&
        field->kind != LBX_FIELD_KIND_JSON)
        memcpy((char *)message + field->extra, &bytes.size, sizeof(bytes.size));
}

void
lbx__record_base64_name(const lbx_field *field,
                        char name[LBX__RECORD_NAME_BYTES])
{
    const int length =
        snprintf(name, LBX__RECORD_NAME_BYTES, "%s_base64", field->name);

    assert(length < LBX__RECORD_NAME_BYTES); // record_field_fault()
    (void)length;
}

/* ---- Memory ---- */

enum {
    RECORD_MAGIC = 0x5eC02d
};

struct record_header {
    const lbx_allocator *allocator;
    size_t size_bytes;
    uint32_t magic; /* against messages that were made otherwise */
    alignas(max_align_t) unsigned char message[];
};

static size_t
record_round_up(size_t size_bytes)
{
    return (size_bytes + alignof(max_align_t) - 1) &
           ~(alignof(max_align_t) - 1);
}

/* The bytes of a struct and of all that its fields may point to. */
static size_t
record_structs_bytes(const lbx_record *record, bool inside)
{
    size_t bytes = inside ? 0 : record_round_up(record->struct_bytes);

    for (size_t i = 0; i < record->field_count; i++) {
        const lbx_field *field = lbx__record_field(record, i);

        if (field->record)
            bytes += record_structs_bytes(field->record,
                                          field->kind == LBX_FIELD_KIND_RECORD);
    }
    return bytes;
}

bool
lbx__record_block_create(lbx__record_block *block, const lbx_record *record,
                         size_t text_bytes, const lbx_allocator *allocator)
{
    const size_t structs = record_structs_bytes(record, false);
    const size_t fixed = sizeof(struct record_header) + structs;
    struct record_header *header;

    if (text_bytes > SIZE_MAX - fixed)
        return false;
    header = lbx__alloc(allocator, fixed + text_bytes, alignof(max_align_t));
    if (!header)
        return false;
    memset(header, 0, fixed);
    header->allocator = allocator;
    header->size_bytes = fixed + text_bytes;
    header->magic = RECORD_MAGIC;
    block->message = block->next = header->message;
    block->texts = (char *)header->message + structs;
    return true;
}

void *
lbx__record_block_take(lbx__record_block *block, const lbx_record *record)
{
    void *taken = block->next;

    block->next += record_round_up(record->struct_bytes);
    assert((char *)block->next <= block->texts);
    return taken;
}

void
lbx_record_destroy(void *message)
{
    struct record_header *header;

    if (!message)
        return;
    header =
        (void *)((char *)message - offsetof(struct record_header, message));
    assert(header->magic == RECORD_MAGIC); // made by decode or clone
    header->magic = 0;
    lbx__free(header->allocator, header, header->size_bytes);
}

/* ---- Types ---- */

static void
record_type_destroy(void *message, void *context)
{
    (void)context;
    lbx_record_destroy(message);
}

static void *
record_type_clone(const void *message, void *context)
{
    return message ? lbx__record_clone(context, message, NULL) : NULL;
}

static lbx_status
record_type_encode(const void *message, lbx_buffer *out, void *context)
{
    return message ? lbx__record_encode(context, message, out, NULL)
                   : LBX_ENCODING;
}

static lbx_status
record_type_decode(const void *bytes, size_t size_bytes, void **ret,
                   void *context)
{
    return lbx__record_decode(context, bytes, size_bytes, NULL, ret, NULL);
}

static void
record_type_fill(lbx_type_options *options, const lbx_record *record)
{
    options->context = (void *)(uintptr_t)record;
    options->destroy = record_type_destroy;
    options->clone = record_type_clone;
    options->encode = record_type_encode;
    options->decode = record_type_decode;
}

LBX__SIZED(record_type_sized, lbx_type_options, decode, LBX_TYPE_OPTIONS_INIT);

lbx_status
lbx_record_type_create(const lbx_record *record,
                       const lbx_type_options *options, lbx_type **ret,
                       lbx_fault *fault)
{
    lbx_type_options own;
    lbx_status status = lbx__record_check(record, fault);

    if (status != LBX_OK)
        return status;
    status = lbx__sized_read(&own, options, &record_type_sized, fault);
    if (status != LBX_OK)
        return status;
    if (!own.name)
        own.name = record->name;
    record_type_fill(&own, record);
    lbx__fault_clear(fault);
    return lbx__fault_complete(fault, lbx_type_create(&own, ret), "type",
                               own.name);
}

lbx_type_options
lbx__record_type_options(const lbx_record *record)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;

    options.name = record->name;
    record_type_fill(&options, record);
    return options;
}

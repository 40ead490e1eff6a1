/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message types, linearised once.
 *
 * A type is one block of memory: the struct, its line (itself, then all its
 * ancestors in C3 order) and its name. Nothing in it changes after creation,
 * so that readers need no lock.
 *
 * C3 merges the lines of the bases and the list of the bases itself: take the
 * first head that is in no other list's tail, strike it from all lists,
 * repeat. When every head is in some tail, the order contradicts itself.
 * The merge is a loop over lists that were merged before: its depth does not
 * grow with the depth of the types.
 *
 * TYPE-1  line[0] is the type itself; no type is twice in a line.
 * TYPE-2  a type is in no tail once it has been taken: it was struck from every
 *         list it headed, and it was in no tail when it was taken.
 */
#include <letterbox/type.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/sized.h"
#include "base/type.h"

#include <assert.h>
#include <string.h>

struct lbx_type {
    const lbx_allocator *allocator;
    size_t size_bytes; /* of this block */
    const char *name;
    int32_t default_priority;
    void *context;
    void (*destroy)(void *message, void *context);
    void *(*clone)(const void *message, void *context);
    lbx_status (*encode)(const void *message, lbx_buffer *out, void *context);
    lbx_status (*decode)(const void *bytes, size_t size_bytes, void **ret,
                         void *context);
    size_t line_count;
    const lbx_type *line[]; /* the name follows */
};

/* A merge under way: list i is line i of the bases from taken[i] on, and the
 * last list is that of the bases themselves. */
struct type_merge {
    const lbx_type *const *bases;
    size_t base_count;
    size_t *taken; /* base_count + 1 of them */
    const lbx_type **line;
    size_t line_count;
};

/* The head of list `index`; NULL when it is used up. */
static const lbx_type *
merge_head(const struct type_merge *merge, size_t index)
{
    size_t at = merge->taken[index];

    if (index == merge->base_count)
        return at < merge->base_count ? merge->bases[at] : NULL;
    return lbx_type_ancestor(merge->bases[index], at);
}

/* Whether `type` is in list `index` behind its head. By TYPE-2 that is so for
 * all members that are not the head, in the lines of the bases. */
static bool
merge_in_tail(const struct type_merge *merge, size_t index,
              const lbx_type *type)
{
    if (index < merge->base_count)
        return lbx_type_is_a(merge->bases[index], type) &&
               merge_head(merge, index) != type;
    for (size_t i = merge->taken[index] + 1; i < merge->base_count; i++) {
        if (merge->bases[i] == type)
            return true;
    }
    return false;
}

static bool
merge_in_any_tail(const struct type_merge *merge, const lbx_type *type)
{
    for (size_t i = 0; i <= merge->base_count; i++) {
        if (merge_in_tail(merge, i, type))
            return true;
    }
    return false;
}

/* The next of the line; NULL when the lists are used up or contradict each
 * other, and then *ret_left tells which. */
static const lbx_type *
merge_next(const struct type_merge *merge, bool *ret_left)
{
    *ret_left = false;
    for (size_t i = 0; i <= merge->base_count; i++) {
        const lbx_type *candidate = merge_head(merge, i);

        if (!candidate)
            continue;
        *ret_left = true;
        if (!merge_in_any_tail(merge, candidate))
            return candidate;
    }
    return NULL;
}

static void
merge_strike(struct type_merge *merge, const lbx_type *type)
{
    for (size_t i = 0; i <= merge->base_count; i++) {
        if (merge_head(merge, i) == type)
            merge->taken[i]++;
    }
}

/* Fills merge->line with the ancestors; false for a contradiction. */
static bool
merge_lines(struct type_merge *merge)
{
    const lbx_type *next;
    bool left;

    // The common case, and what keeps a deep chain of types linear.
    if (merge->base_count == 1) {
        merge->line_count = merge->bases[0]->line_count;
        memcpy(merge->line, merge->bases[0]->line,
               merge->line_count * sizeof(*merge->line));
        return true;
    }
    for (next = merge_next(merge, &left); next;
         next = merge_next(merge, &left)) {
        merge->line[merge->line_count++] = next;
        merge_strike(merge, next);
    }
    return !left;
}

/* How many ancestors there can be at most; false when the number cannot be
 * right, or a base is missing. */
static bool
type_count_ancestors(const lbx_type_options *options, size_t *ret)
{
    const size_t most = SIZE_MAX / sizeof(void *) / 4;
    size_t count = 0;

    if (options->base_count > 0 && !options->bases)
        return false;
    if (options->base_count > most)
        return false;
    for (size_t i = 0; i < options->base_count; i++) {
        if (!options->bases[i] || count > most)
            return false;
        count += options->bases[i]->line_count;
    }
    *ret = count;
    return true;
}

/* One block for type, line and name. */
static lbx_type *
type_build(const lbx_type_options *options, const struct type_merge *merge)
{
    const size_t name_bytes = strlen(options->name) + 1;
    const size_t line_count = merge->line_count + 1;
    const size_t line_bytes = line_count * sizeof(merge->line[0]);
    const size_t size_bytes = sizeof(lbx_type) + line_bytes + name_bytes;
    lbx_type *type = lbx__zalloc(options->allocator, size_bytes);
    char *name;

    if (!type)
        return NULL;
    type->allocator = options->allocator;
    type->size_bytes = size_bytes;
    type->default_priority = options->default_priority;
    type->context = options->context;
    type->destroy = options->destroy;
    type->clone = options->clone;
    type->encode = options->encode;
    type->decode = options->decode;
    type->line_count = line_count;
    type->line[0] = type;
    if (merge->line_count > 0)
        memcpy(&type->line[1], merge->line,
               merge->line_count * sizeof(merge->line[0]));
    name = (char *)&type->line[line_count];
    memcpy(name, options->name, name_bytes);
    type->name = name;
    return type;
}

LBX__SIZED(type_options_sized, lbx_type_options, decode, LBX_TYPE_OPTIONS_INIT);

void
lbx_message_free(void *message, void *context)
{
    (void)context;
    lbx__free(NULL, message, 0);
}

lbx_status
lbx_type_create(const lbx_type_options *given, lbx_type **ret)
{
    const lbx_type_options *options;
    lbx_type_options own;
    struct type_merge merge = {0};
    lbx_status status = LBX_INVALID;
    size_t most, scratch_bytes;
    lbx_type *type;

    if (!given || !ret)
        return LBX_INVALID;
    options = lbx__sized_view(given, &own, &type_options_sized, NULL);
    if (!options)
        return LBX_INVALID;
    if (!options->name || !options->name[0] ||
        !type_count_ancestors(options, &most))
        return LBX_INVALID;

    merge.bases = options->bases;
    merge.base_count = options->base_count;
    scratch_bytes = (options->base_count + 1) * sizeof(*merge.taken) +
                    most * sizeof(*merge.line);
    merge.taken = lbx__zalloc(options->allocator, scratch_bytes);
    if (!merge.taken)
        return LBX_NO_MEMORY;
    merge.line = (const lbx_type **)(void *)&merge.taken[merge.base_count + 1];

    if (merge_lines(&merge)) {
        assert(merge.line_count <= most);
        type = type_build(options, &merge);
        status = type ? LBX_OK : LBX_NO_MEMORY;
        if (type)
            *ret = type;
    }
    lbx__free(options->allocator, merge.taken, scratch_bytes);
    return status;
}

static void *
storage_allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    lbx__type_storage *storage = context;
    size_t at = (storage->used + align_bytes - 1) & ~(align_bytes - 1);

    if (align_bytes > alignof(lbx__type_storage) ||
        at > sizeof(storage->bytes) || size_bytes > sizeof(storage->bytes) - at)
        return NULL;
    storage->used = at + size_bytes;
    return &storage->bytes[at];
}

static void
storage_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)memory;
    (void)size_bytes;
}

const lbx_type *
lbx__type_init_static(lbx__type_storage *storage, lbx_type_options options)
{
    lbx_type *type = NULL;
    lbx_status status;

    storage->allocator =
        (lbx_allocator){storage_allocate, storage_release, storage};
    options.allocator = &storage->allocator;
    status = lbx_type_create(&options, &type);
    assert(status == LBX_OK); // the storage is large enough for our names
    (void)status;
    return type;
}

void
lbx_type_destroy(lbx_type *type)
{
    if (type)
        lbx__free(type->allocator, type, type->size_bytes);
}

const char *
lbx_type_name(const lbx_type *type)
{
    return type ? type->name : "";
}

int32_t
lbx_type_default_priority(const lbx_type *type)
{
    return type ? type->default_priority : LBX_PRIORITY_DEFAULT;
}

bool
lbx_type_is_a(const lbx_type *type, const lbx_type *base)
{
    if (!type || !base)
        return false;
    for (size_t i = 0; i < type->line_count; i++) {
        if (type->line[i] == base)
            return true;
    }
    return false;
}

const lbx_type *
lbx_type_ancestor(const lbx_type *type, size_t index)
{
    return type && index < type->line_count ? type->line[index] : NULL;
}

lbx_status
lbx_type_clone(const lbx_type *type, const void *message, void **ret)
{
    void *copy;

    if (!type || !ret)
        return LBX_INVALID;
    if (!type->clone)
        return LBX_UNSUPPORTED;
    copy = type->clone(message, type->context);
    if (!copy)
        return LBX_NO_MEMORY;
    *ret = copy;
    return LBX_OK;
}

void
lbx_type_destroy_message(const lbx_type *type, void *message)
{
    if (type && type->destroy)
        type->destroy(message, type->context);
}

bool
lbx__type_clones(const lbx_type *type)
{
    return type && type->clone;
}

bool
lbx__type_destroys(const lbx_type *type)
{
    return type && type->destroy;
}

/* What a type's own functions may return; all else is LBX_ENCODING. */
static lbx_status
type_coded(lbx_status status)
{
    return status == LBX_OK || status == LBX_NO_MEMORY ? status : LBX_ENCODING;
}

lbx_status
lbx_type_encode(const lbx_type *type, const void *message, lbx_buffer *out)
{
    lbx_status status;

    if (!type || !out)
        return LBX_INVALID;
    if (!type->encode)
        return LBX_UNSUPPORTED;
    status = type_coded(type->encode(message, out, type->context));
    return out->status != LBX_OK ? out->status : status;
}

lbx_status
lbx_type_decode(const lbx_type *type, const void *bytes, size_t size_bytes,
                void **ret)
{
    void *message = NULL;
    lbx_status status;

    if (!type || !bytes || !ret)
        return LBX_INVALID;
    if (!type->decode)
        return LBX_UNSUPPORTED;
    status =
        type_coded(type->decode(bytes, size_bytes, &message, type->context));
    if (status == LBX_OK)
        *ret = message;
    return status;
}

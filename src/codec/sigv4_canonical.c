/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canonical request: method, path, query string, fields, names of fields,
 * hash of the body; each on its line.
 *
 * The path is encoded once more than it was sent: only object storage does not.
 */
#include "codec/sigv4_canonical.h"

#include "base/alloc.h"
#include "codec/form.h"

#include <stdlib.h>

static void
canonical_put(lbx_buffer *out, lbx__slice text)
{
    if (text.size > 0)
        lbx__buffer_add(out, text.bytes, text.size);
}

static bool
canonical_is_unreserved(char byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' ||
           byte == '_' || byte == '~';
}

/* Encodes into `out`, which has 3 * text.size bytes. Returns the size. */
static size_t
canonical_encode(lbx__slice text, char *out)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t size = 0;

    for (size_t i = 0; i < text.size; i++) {
        const unsigned char byte = (unsigned char)text.bytes[i];

        if (canonical_is_unreserved(text.bytes[i])) {
            out[size++] = text.bytes[i];
            continue;
        }
        out[size++] = '%';
        out[size++] = digits[byte >> 4];
        out[size++] = digits[byte & 15];
    }
    return size;
}

// ---- The path ----

/* Takes the segment before the next slash, and the slash. */
static lbx__slice
canonical_take_segment(lbx__slice *rest)
{
    const char *slash = memchr(rest->bytes, '/', rest->size);
    lbx__slice segment = *rest;

    if (slash)
        segment.size = (size_t)(slash - rest->bytes);
    rest->bytes += segment.size + (slash != NULL);
    rest->size -= segment.size + (slash != NULL);
    return segment;
}

/* Writes the path with single slashes and without . and .. segments, encoded,
 * into `out`, which has 3 * path.size + 1 bytes. Returns the size. */
static size_t
canonical_write_path(lbx__slice path, char *out)
{
    const bool has_end = path.size > 0 && path.bytes[path.size - 1] == '/';
    size_t size = 0;

    while (path.size > 0) {
        const lbx__slice segment = canonical_take_segment(&path);

        if (segment.size == 0 || lbx__slice_is(segment, "."))
            continue;
        if (lbx__slice_is(segment, "..")) {
            while (size > 0 && out[--size] != '/')
                continue;
            continue;
        }
        out[size++] = '/';
        size += canonical_encode(segment, out + size);
    }
    if (size == 0 || has_end)
        out[size++] = '/';
    return size;
}

static void
canonical_add_path(lbx__slice path, lbx_buffer *out)
{
    const size_t most = 3 * path.size + 2, before = out->size;
    char *written = lbx__buffer_claim(out, most);

    if (!written)
        return;
    out->size = before + canonical_write_path(path, written);
    out->bytes[out->size] = '\0'; // BUF-1
}

// ---- The query string ----

typedef struct canonical_pair {
    lbx__slice name;
    lbx__slice value;
} canonical_pair;

static int
canonical_compare_slices(lbx__slice a, lbx__slice b)
{
    const size_t both = a.size < b.size ? a.size : b.size;
    const int order = both > 0 ? memcmp(a.bytes, b.bytes, both) : 0;

    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static int
canonical_compare_pairs(const void *a, const void *b)
{
    const canonical_pair *left = a, *right = b;
    const int order = canonical_compare_slices(left->name, right->name);

    return order ? order : canonical_compare_slices(left->value, right->value);
}

/* Decodes and encodes (SIGV4-3), with `memory` for both, which moves on. */
static bool
canonical_recode(lbx__slice *text, char **memory)
{
    char *decoded = *memory + 3 * text->size;
    lbx__slice plain = {decoded, 0};

    if (!lbx__form_decode(*text, decoded, &plain.size))
        return false;
    *text = (lbx__slice){*memory, canonical_encode(plain, *memory)};
    *memory += text->size;
    return true;
}

/* Fills `pairs` and returns how many; false when something is not properly
 * encoded. */
static bool
canonical_split(lbx__slice query, bool in_query, char *memory,
                canonical_pair *pairs, size_t *ret_count)
{
    lbx__form form = lbx__form_of(query);
    canonical_pair pair;
    size_t count = 0;

    while (lbx__form_next(&form, &pair.name, &pair.value)) {
        if (!canonical_recode(&pair.name, &memory) ||
            !canonical_recode(&pair.value, &memory))
            return false;
        if (!in_query || !lbx__slice_is(pair.name, "X-Amz-Signature"))
            pairs[count++] = pair;
    }
    *ret_count = count;
    return true;
}

static void
canonical_put_pairs(const canonical_pair *pairs, size_t count, lbx_buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            lbx__buffer_add_byte(out, '&');
        canonical_put(out, pairs[i].name);
        lbx__buffer_add_byte(out, '=');
        canonical_put(out, pairs[i].value);
    }
}

static lbx_status
canonical_add_query(lbx__slice query, bool in_query, lbx_buffer *out)
{
    const lbx_allocator *allocator = out->allocator;
    // Three bytes for each, and once more for the decoded one.
    const size_t memory_bytes = 4 * query.size + 1;
    size_t count = 1, pairs_bytes;
    lbx_status status = LBX_NO_MEMORY;
    canonical_pair *pairs;
    char *memory;

    if (query.size == 0)
        return LBX_OK;
    for (size_t i = 0; i < query.size; i++)
        count += query.bytes[i] == '&';
    pairs_bytes = count * sizeof(*pairs);
    pairs = lbx__alloc(allocator, pairs_bytes, _Alignof(canonical_pair));
    memory = lbx__alloc(allocator, memory_bytes, 1);
    if (pairs && memory) {
        status = LBX_INVALID;
        if (canonical_split(query, in_query, memory, pairs, &count)) {
            qsort(pairs, count, sizeof(*pairs), canonical_compare_pairs);
            canonical_put_pairs(pairs, count, out);
            status = LBX_OK;
        }
    }
    lbx__free(allocator, memory, memory_bytes);
    lbx__free(allocator, pairs, pairs_bytes);
    return status;
}

// ---- The fields ----

/* Takes the name before the next semicolon, and the semicolon. */
static lbx__slice
canonical_take_name(lbx__slice *list)
{
    const char *found = memchr(list->bytes, ';', list->size);
    lbx__slice name = *list;

    if (found)
        name.size = (size_t)(found - list->bytes);
    list->bytes += name.size + (found != NULL);
    list->size -= name.size + (found != NULL);
    return name;
}

/* A value without spaces around it, and with one for each run of them. */
static void
canonical_put_value(lbx_buffer *out, lbx__slice value)
{
    bool is_first = true;

    for (size_t i = 0; i < value.size;) {
        size_t end = i;

        while (end < value.size && value.bytes[end] != ' ' &&
               value.bytes[end] != '\t')
            end++;
        if (end > i) {
            if (!is_first)
                lbx__buffer_add_byte(out, ' ');
            lbx__buffer_add(out, value.bytes + i, end - i);
            is_first = false;
        }
        i = end + 1;
    }
}

static void
canonical_add_field(const lbx__sigv4_request *request, lbx__slice name,
                    lbx_buffer *out)
{
    char separator = ':';

    canonical_put(out, name);
    for (size_t i = 0; i < request->field_count; i++) {
        if (!lbx__slice_equal(request->fields[i].name, name))
            continue;
        lbx__buffer_add_byte(out, separator);
        canonical_put_value(out, request->fields[i].value);
        separator = ','; // of a field that was sent twice
    }
    lbx__buffer_add_byte(out, '\n');
}

lbx_status
lbx__sigv4_canonical_add(const lbx__sigv4_request *request,
                         const lbx__sigv4_canonical *parts, lbx_buffer *out)
{
    lbx__slice list = parts->signed_fields;
    lbx_status status;

    canonical_put(out, request->method);
    lbx__buffer_add_byte(out, '\n');
    canonical_add_path(request->path, out);
    lbx__buffer_add_byte(out, '\n');
    status = canonical_add_query(request->query, parts->in_query, out);
    if (status != LBX_OK)
        return status;
    lbx__buffer_add_byte(out, '\n');
    while (list.size > 0)
        canonical_add_field(request, canonical_take_name(&list), out);
    lbx__buffer_add_byte(out, '\n');
    canonical_put(out, parts->signed_fields);
    lbx__buffer_add_byte(out, '\n');
    canonical_put(out, lbx__slice_of(parts->body_hash));
    return out->status;
}

// ---- The names of the fields ----

static bool
canonical_has_field(const lbx__sigv4_request *request, lbx__slice name)
{
    for (size_t i = 0; i < request->field_count; i++) {
        if (lbx__slice_equal(request->fields[i].name, name))
            return true;
    }
    return false;
}

static bool
canonical_lists(lbx__slice list, lbx__slice name)
{
    while (list.size > 0) {
        if (lbx__slice_equal(canonical_take_name(&list), name))
            return true;
    }
    return false;
}

const char *
lbx__sigv4_canonical_check(const lbx__sigv4_request *request,
                           lbx__slice signed_fields)
{
    static const char prefix[] = "x-amz-";
    lbx__slice list = signed_fields, before = {0};

    while (list.size > 0) {
        const lbx__slice name = canonical_take_name(&list);

        if (before.bytes && canonical_compare_slices(before, name) >= 0)
            return "SignedHeaders must be sorted, and name each header once.";
        if (!canonical_has_field(request, name))
            return "SignedHeaders names a header that was not sent.";
        before = name;
    }
    if (!canonical_lists(signed_fields, lbx__slice_of("host")))
        return "The header Host must be signed.";
    for (size_t i = 0; i < request->field_count; i++) {
        const lbx__slice name = request->fields[i].name;

        if (name.size >= sizeof(prefix) - 1 &&
            memcmp(name.bytes, prefix, sizeof(prefix) - 1) == 0 &&
            !canonical_lists(signed_fields, name))
            return "Each header X-Amz-* that is sent must be signed.";
    }
    return NULL;
}

static int
canonical_compare_names(const void *a, const void *b)
{
    return canonical_compare_slices(*(const lbx__slice *)a,
                                    *(const lbx__slice *)b);
}

lbx_status
lbx__sigv4_canonical_names(const lbx__sigv4_request *request, lbx_buffer *out)
{
    const size_t count = request->field_count;
    const size_t bytes = count * sizeof(lbx__slice);
    lbx__slice *names;

    if (count == 0)
        return LBX_OK;
    names = lbx__alloc(out->allocator, bytes, _Alignof(lbx__slice));
    if (!names)
        return LBX_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        names[i] = request->fields[i].name;
    qsort(names, count, sizeof(*names), canonical_compare_names);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && lbx__slice_equal(names[i - 1], names[i]))
            continue;
        if (i > 0)
            lbx__buffer_add_byte(out, ';');
        canonical_put(out, names[i]);
    }
    lbx__free(out->allocator, names, bytes);
    return out->status;
}

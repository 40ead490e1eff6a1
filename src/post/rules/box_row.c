/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a box; see box_row.h. */
#include "post/rules/box_row.h"

#include "codec/endian.h"

#include <string.h>

enum {
    ROW_FIXED = 20,
    OPTION_NUMBERS = 18,
    OPTION_NUMBERS_FIRST = 18, /* that rows of the first version have */
    REDRIVE_MAX = 10,
    BOX_OPTIONS_FORMAT = 1 /* low half of the first number of options */
};

static void
box_row_add_number(lbx_buffer *out, uint64_t number)
{
    uint8_t bytes[8];

    lbx__put_le64(bytes, number);
    lbx__buffer_add(out, bytes, sizeof(bytes));
}

/* Size with the NUL, text, NUL; a size of 0 is NULL. */
static void
box_row_put_text(lbx_buffer *out, const char *text)
{
    const size_t size = text ? strlen(text) + 1 : 0;
    uint8_t bytes[4];

    lbx__put_le32(bytes, (uint32_t)size);
    lbx__buffer_add(out, bytes, sizeof(bytes));
    if (size > 0)
        lbx__buffer_add(out, text, size);
}

static bool
box_row_take_text(lbx__bytes *left, const char **ret)
{
    const uint8_t *at = left->data;
    size_t size;

    if (left->size < 4)
        return false;
    size = lbx__get_le32(at);
    if (size > left->size - 4 || (size > 0 && at[4 + size - 1] != '\0'))
        return false;
    *ret = size > 0 ? (const char *)at + 4 : NULL;
    left->data = at + 4 + size;
    left->size -= 4 + size;
    return true;
}

/* ---- The row ---- */

void
lbx__box_row_encode(const lbx__box_row *row, lbx_buffer *out)
{
    const size_t space = strlen(row->space) + 1, name = strlen(row->name) + 1;
    uint8_t fixed[ROW_FIXED];
    uint8_t *at = lbx__put_le32(fixed, row->configured);

    at = lbx__put_le32(at, (uint32_t)space);
    at = lbx__put_le32(at, (uint32_t)name);
    at = lbx__put_le32(at, (uint32_t)row->options.size);
    lbx__put_le32(at, (uint32_t)row->texts.size);
    lbx__buffer_add(out, fixed, sizeof(fixed));
    lbx__buffer_add(out, row->space, space);
    lbx__buffer_add(out, row->name, name);
    lbx__buffer_add(out, row->options.data, row->options.size);
    if (row->texts.size > 0)
        lbx__buffer_add(out, row->texts.data, row->texts.size);
}

lbx_status
lbx__box_row_decode(lbx__bytes value, lbx__box_row *ret)
{
    const uint8_t *at = value.data;
    uint64_t space, name;

    if (value.size < ROW_FIXED)
        return LBX_CORRUPT;
    ret->configured = lbx__get_le32(at);
    space = lbx__get_le32(at + 4);
    name = lbx__get_le32(at + 8);
    ret->options.size = lbx__get_le32(at + 12);
    ret->texts.size = lbx__get_le32(at + 16);
    if (space < 1 || space > LBX_BOX_SPACE_BYTES || name < 1 ||
        name > LBX_BOX_NAME_BYTES ||
        ROW_FIXED + space + name + ret->options.size + ret->texts.size !=
            value.size)
        return LBX_CORRUPT;
    at += ROW_FIXED;
    ret->space = (const char *)at;
    ret->name = (const char *)at + space;
    if (ret->space[space - 1] != '\0' || ret->name[name - 1] != '\0')
        return LBX_CORRUPT;
    ret->options.data = at + space + name;
    ret->texts.data = at + space + name + ret->options.size;
    return LBX_OK;
}

bool
lbx__box_row_next_text(lbx__bytes *left, lbx_box_text *ret)
{
    return left->size > 0 && box_row_take_text(left, &ret->name) && ret->name &&
           box_row_take_text(left, &ret->value) && ret->value;
}

void
lbx__box_row_add_text(lbx_buffer *out, const lbx_box_text *text)
{
    box_row_put_text(out, text->name);
    box_row_put_text(out, text->value);
}

/* ---- Options ---- */

/* Of numbers[15]: five flags and two enumerations. */
#define BOX_FLAGS_KNOWN UINT64_C(0xffff1f)

/* A new number is added at the end, a new flag to `flags` (BOXROW-2). */
static void
box_row_encode_numbers(const lbx_box_options *options,
                       uint64_t ret[OPTION_NUMBERS])
{
    const lbx_box_limits *limits = &options->limits;
    const uint64_t flags = (uint64_t)options->strict |
                           (uint64_t)options->keep_position << 1 |
                           (uint64_t)options->fifo << 2 |
                           (uint64_t)options->deduplicate_by_content << 3 |
                           (uint64_t)limits->text_only << 4;
    const uint64_t numbers[OPTION_NUMBERS] = {
        BOX_OPTIONS_FORMAT,
        (uint64_t)limits->max_lease_ns,
        (uint64_t)limits->max_wait_ns,
        (uint64_t)limits->max_delay_ns,
        (uint64_t)limits->min_retention_ns,
        (uint64_t)limits->max_retention_ns,
        (uint64_t)limits->max_letter_bytes,
        (uint64_t)limits->max_batch_bytes,
        (uint64_t)limits->max_leased,
        limits->max_attributes,
        (uint64_t)options->lease_ns,
        (uint64_t)options->delay_ns,
        (uint64_t)options->wait_ns,
        (uint64_t)options->retention_ns,
        (uint64_t)options->capacity_letters,
        flags | (uint64_t)options->deduplication << 8 |
            (uint64_t)options->dead_letter_allow << 16,
        options->max_deliveries,
        options->dead_letter_box_count,
    };

    memcpy(ret, numbers, sizeof(numbers));
}

/* How many numbers a row has (BOXROW-2): those after the first version's only
 * up to the last that is not the default. */
static size_t
box_row_count(const uint64_t numbers[OPTION_NUMBERS])
{
    static const lbx_box_options init = LBX_BOX_OPTIONS_INIT;
    uint64_t defaults[OPTION_NUMBERS];
    size_t count = OPTION_NUMBERS_FIRST;

    box_row_encode_numbers(&init, defaults);
    for (size_t i = OPTION_NUMBERS_FIRST; i < OPTION_NUMBERS; i++)
        if (numbers[i] != defaults[i])
            count = i + 1;
    return count;
}

void
lbx__box_row_encode_options(const lbx_box_options *options, lbx_buffer *out)
{
    uint64_t numbers[OPTION_NUMBERS];
    size_t count;

    box_row_encode_numbers(options, numbers);
    count = box_row_count(numbers);
    if (count != OPTION_NUMBERS_FIRST)
        numbers[0] |= (uint64_t)count << 32;
    for (size_t i = 0; i < count; i++)
        box_row_add_number(out, numbers[i]);
    box_row_put_text(out, options->dead_letters);
    for (size_t i = 0; i < options->dead_letter_box_count; i++)
        box_row_put_text(out, options->dead_letter_boxes[i]);
}

/* Takes the numbers of a row; those that it does not have are the defaults
 * (BOXROW-2). OK; NEWER; CORRUPT. */
static lbx_status
box_row_take_numbers(lbx__bytes *left, uint64_t ret[OPTION_NUMBERS])
{
    static const lbx_box_options init = LBX_BOX_OPTIONS_INIT;
    const uint8_t *at = left->data;
    uint64_t first, count;

    if (left->size < 8)
        return LBX_CORRUPT;
    first = lbx__get_le64(at);
    count = first >> 32 ? first >> 32 : OPTION_NUMBERS_FIRST;
    if ((uint32_t)first == 0 || left->size / 8 < count)
        return LBX_CORRUPT;
    if ((uint32_t)first > BOX_OPTIONS_FORMAT || count > OPTION_NUMBERS)
        return LBX_NEWER;
    box_row_encode_numbers(&init, ret);
    for (size_t i = 1; i < count; i++)
        ret[i] = lbx__get_le64(at + 8 * i);
    if (ret[15] & ~BOX_FLAGS_KNOWN ||
        (ret[15] >> 8 & 0xff) > LBX_DEDUPLICATION_GROUP ||
        (ret[15] >> 16 & 0xff) > LBX_DEAD_LETTER_ALLOW_LISTED)
        return LBX_NEWER;
    left->data = at + 8 * count;
    left->size -= 8 * (size_t)count;
    return LBX_OK;
}

static void
box_row_decode_numbers(const uint64_t numbers[OPTION_NUMBERS],
                       lbx_box_options *ret)
{
    const uint64_t flags = numbers[15];

    *ret = (lbx_box_options){
        .size_bytes = sizeof(*ret),
        .limits =
            {
                .max_lease_ns = (int64_t)numbers[1],
                .max_wait_ns = (int64_t)numbers[2],
                .max_delay_ns = (int64_t)numbers[3],
                .min_retention_ns = (int64_t)numbers[4],
                .max_retention_ns = (int64_t)numbers[5],
                .max_letter_bytes = (int64_t)numbers[6],
                .max_batch_bytes = (int64_t)numbers[7],
                .max_leased = (int64_t)numbers[8],
                .max_attributes = (uint32_t)numbers[9],
                .text_only = flags >> 4 & 1,
            },
        .lease_ns = (int64_t)numbers[10],
        .delay_ns = (int64_t)numbers[11],
        .wait_ns = (int64_t)numbers[12],
        .retention_ns = (int64_t)numbers[13],
        .capacity_letters = (int64_t)numbers[14],
        .strict = flags & 1,
        .keep_position = flags >> 1 & 1,
        .fifo = flags >> 2 & 1,
        .deduplicate_by_content = flags >> 3 & 1,
        .deduplication = (lbx_deduplication)(flags >> 8 & 0xff),
        .dead_letter_allow = (lbx_dead_letter_allow)(flags >> 16 & 0xff),
        .max_deliveries = (uint32_t)numbers[16],
        .dead_letter_box_count = (size_t)numbers[17],
    };
}

/* Copies a text to the caller's buffer; returns the copy. */
static const char *
box_row_keep_text(char *buffer, size_t *used, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *at = buffer + *used;

    memcpy(at, text, size);
    *used += size;
    return at;
}

/* Puts the texts into the caller's buffer: the list of pointers, then what they
 * point to. LBX_BOX_OPTIONS_BUFFER_BYTES hold eleven names and ten pointers. */
static lbx_status
box_row_keep_texts(lbx__bytes left, const char *dead_letters, char *buffer,
                   lbx_box_options *ret)
{
    const size_t align = _Alignof(const char *);
    const size_t skip = (align - (uintptr_t)buffer % align) % align;
    const char **list = (const char **)(void *)(buffer + skip);
    size_t used = skip + REDRIVE_MAX * sizeof(*list);
    const char *text;

    _Static_assert((REDRIVE_MAX + 1) * sizeof(char *) +
                           (size_t)(REDRIVE_MAX + 1) * LBX_BOX_NAME_BYTES <=
                       LBX_BOX_OPTIONS_BUFFER_BYTES,
                   "options' texts fit");
    if (dead_letters)
        ret->dead_letters = box_row_keep_text(buffer, &used, dead_letters);
    for (size_t i = 0; i < ret->dead_letter_box_count; i++) {
        if (!box_row_take_text(&left, &text) || !text ||
            strlen(text) >= LBX_BOX_NAME_BYTES)
            return LBX_CORRUPT;
        list[i] = box_row_keep_text(buffer, &used, text);
    }
    ret->dead_letter_boxes = ret->dead_letter_box_count > 0 ? list : NULL;
    return LBX_OK;
}

lbx_status
lbx__box_row_decode_options(lbx__bytes bytes, char *buffer,
                            lbx_box_options *ret)
{
    uint64_t numbers[OPTION_NUMBERS];
    const char *text;
    lbx_status status = box_row_take_numbers(&bytes, numbers);

    if (status != LBX_OK)
        return status;
    box_row_decode_numbers(numbers, ret);
    if (ret->dead_letter_box_count > REDRIVE_MAX ||
        !box_row_take_text(&bytes, &text) ||
        (text && strlen(text) >= LBX_BOX_NAME_BYTES))
        return LBX_CORRUPT;
    if (buffer)
        return box_row_keep_texts(bytes, text, buffer, ret);
    ret->dead_letters = text; // in the row
    return LBX_OK;
}

lbx_status
lbx__box_row_decode_facts(lbx__bytes value, lbx__facts *ret)
{
    lbx__box_row row;
    lbx_status status = lbx__box_row_decode(value, &row);

    if (status == LBX_OK)
        status = lbx__box_row_decode_options(row.options, NULL, &ret->options);
    if (status != LBX_OK)
        return status;
    ret->configured = row.configured;
    ret->dead = ret->options.dead_letters != NULL;
    memcpy(ret->space, row.space, strlen(row.space) + 1);
    memcpy(ret->name, row.name, strlen(row.name) + 1);
    if (ret->dead)
        memcpy(ret->dead_letters, ret->options.dead_letters,
               strlen(ret->options.dead_letters) + 1);
    ret->options.dead_letters = NULL; // see `dead`
    return LBX_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing names of fields; see input_path.h. */
#include "server/sqs/input_path.h"

#include <assert.h>

/* The bits of a key, from the highest: the row of the entries or 0, the index
 * of the entry, the row of the member, the index of the item, the leaf. */
enum {
    LEAF_BITS = 8,
    ROW_BITS = 8,
    INDEX_BITS = 16
};

_Static_assert(LBX__INPUT_PATH_MAX_INDEX < 1 << INDEX_BITS, "an index fits");

/* Takes what is before the next point, and the point. */
static lbx__slice
path_take_part(lbx__slice *rest)
{
    const char *point = memchr(rest->bytes, '.', rest->size);
    lbx__slice part = *rest;

    if (point)
        part.size = (size_t)(point - rest->bytes);
    rest->bytes += part.size + (point != NULL);
    rest->size -= part.size + (point != NULL);
    return part;
}

/* Takes an index, if there is one; 0: there is none. False for one that is not
 * allowed. */
static bool
path_take_index(lbx__slice *rest, uint32_t *ret)
{
    lbx__slice after = *rest;
    const lbx__slice part = path_take_part(&after);
    uint32_t index = 0;

    *ret = 0;
    for (size_t i = 0; i < part.size; i++) {
        const unsigned digit = (unsigned)part.bytes[i] - '0';

        if (digit > 9)
            return true; // a word
        if (index <= LBX__INPUT_PATH_MAX_INDEX)
            index = index * 10 + digit;
    }
    if (part.size == 0)
        return true;
    *rest = after;
    *ret = index;
    return index > 0 && index <= LBX__INPUT_PATH_MAX_INDEX;
}

static const lbx__input_member *
path_find_member(lbx__slice name, bool in_entry)
{
    for (size_t i = 0; i < lbx__input_member_count; i++) {
        const lbx__input_member *member = &lbx__input_members[i];

        if (member->query && (!in_entry || member->in_entry) &&
            lbx__slice_is(name, member->query))
            return member;
    }
    return NULL;
}

/* The leaf that the rest of a name is. NONE: it is unknown. */
static lbx__input_leaf
path_leaf(lbx__slice rest, const lbx__input_member *member)
{
    lbx__slice part;

    if (member->kind == LBX__INPUT_PAIRS) {
        if (lbx__slice_is(rest, member->key))
            return LBX__INPUT_LEAF_NAME;
        return lbx__slice_is(rest, "Value") ? LBX__INPUT_LEAF_VALUE
                                            : LBX__INPUT_LEAF_NONE;
    }
    if (lbx__slice_is(rest, "Name"))
        return LBX__INPUT_LEAF_NAME;
    if (!lbx__slice_is(path_take_part(&rest), "Value"))
        return LBX__INPUT_LEAF_NONE;
    if (lbx__slice_is(rest, "DataType"))
        return LBX__INPUT_LEAF_TYPE;
    if (lbx__slice_is(rest, "StringValue"))
        return LBX__INPUT_LEAF_STRING;
    if (lbx__slice_is(rest, "BinaryValue"))
        return LBX__INPUT_LEAF_BINARY;
    part = path_take_part(&rest);
    return lbx__slice_is(part, "StringListValue") ||
                   lbx__slice_is(part, "BinaryListValue")
               ? LBX__INPUT_LEAF_LIST
               : LBX__INPUT_LEAF_NONE;
}

/* Adds a digit to a key. */
static void
path_add_digit(lbx__input_path *path, unsigned bits, uint64_t digit)
{
    assert(digit < (uint64_t)1 << bits);
    path->key = path->key << bits | digit;
}

/* The number of a row, from 1; 0: none. */
static uint64_t
path_row(const lbx__input_member *member)
{
    return member ? (uint64_t)(member - lbx__input_members) + 1 : 0;
}

/* What is behind the name of the member. Sets member to NULL when the path is
 * unknown. */
static bool
path_parse_item(lbx__slice rest, lbx__input_path *path)
{
    const lbx__input_member *member = path->member;
    bool known = true;
    uint32_t index = 0;

    switch (member->kind) {
    case LBX__INPUT_TEXTS:
    case LBX__INPUT_PAIRS:
    case LBX__INPUT_ATTRIBUTES:
        if (!path_take_index(&rest, &index))
            return false;
        break;
    case LBX__INPUT_ENTRIES:
        known = false; // entries are in no entry
        break;
    default:
        break;
    }
    if (member->kind == LBX__INPUT_PAIRS ||
        member->kind == LBX__INPUT_ATTRIBUTES) {
        path->leaf = path_leaf(rest, member);
        known = path->leaf != LBX__INPUT_LEAF_NONE;
    } else if (rest.size > 0) {
        known = false;
    }
    path->is_unnumbered = index == 0;
    path_add_digit(path, ROW_BITS, path_row(member));
    path_add_digit(path, INDEX_BITS, index);
    path_add_digit(path, LEAF_BITS, path->leaf);
    if (!known)
        path->member = NULL;
    return true;
}

bool
lbx__input_path_parse(lbx__slice name, lbx__input_path *ret)
{
    lbx__slice rest = name;
    uint32_t index = 0;

    *ret = (lbx__input_path){0};
    ret->member = path_find_member(path_take_part(&rest), false);
    if (ret->member && ret->member->kind == LBX__INPUT_ENTRIES) {
        ret->list = ret->member;
        if (!path_take_index(&rest, &index))
            return false;
        ret->member = path_find_member(path_take_part(&rest), true);
    }
    path_add_digit(ret, ROW_BITS, path_row(ret->list));
    path_add_digit(ret, INDEX_BITS, index);
    return !ret->member || path_parse_item(rest, ret);
}

uint64_t
lbx__input_path_entry(const lbx__input_path *path)
{
    return path->key >> (ROW_BITS + INDEX_BITS + LEAF_BITS);
}

uint64_t
lbx__input_path_item(const lbx__input_path *path)
{
    return path->key >> LEAF_BITS;
}

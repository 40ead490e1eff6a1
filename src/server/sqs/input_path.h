/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: the names of Query's fields, "Attribute.2.Name". A list's index may be
 * left out, as old clients do, and then comes before all others.
 */
#ifndef LBX_SERVER_SQS_INPUT_PATH_H
#define LBX_SERVER_SQS_INPUT_PATH_H

#include "server/sqs/input_table.h"

enum {
    LBX__INPUT_PATH_MAX_INDEX = 9999
};

/* The field of an item: of a map, or of a message's attribute. */
typedef enum lbx__input_leaf {
    LBX__INPUT_LEAF_NONE = 0,
    LBX__INPUT_LEAF_NAME,
    LBX__INPUT_LEAF_VALUE,  /* of a map */
    LBX__INPUT_LEAF_TYPE,   /* Value.DataType */
    LBX__INPUT_LEAF_STRING, /* Value.StringValue */
    LBX__INPUT_LEAF_BINARY, /* Value.BinaryValue */
    LBX__INPUT_LEAF_LIST,   /* Value.StringListValue, Value.BinaryListValue */
} lbx__input_leaf;

typedef struct lbx__input_path {
    const lbx__input_member *list;   /* entries that it is in; NULL: none */
    const lbx__input_member *member; /* NULL: unknown, to be ignored */
    lbx__input_leaf leaf;
    bool is_unnumbered; /* no index behind the member */
    uint64_t key;       /* for the order: entry, item, leaf */
} lbx__input_path;

/* False for an index that is not from 1 to LBX__INPUT_PATH_MAX_INDEX. */
bool lbx__input_path_parse(lbx__slice name, lbx__input_path *ret);

/* What paths to the same entry, and to the same item of a list, have in
 * common. */
uint64_t lbx__input_path_entry(const lbx__input_path *path);
uint64_t lbx__input_path_item(const lbx__input_path *path);

#endif

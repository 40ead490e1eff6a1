/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of inputs: one row for each, with what the two wire formats call
 * it. Both readers are driven by the table; private to them.
 */
#ifndef LBX_SERVER_SQS_INPUT_TABLE_H
#define LBX_SERVER_SQS_INPUT_TABLE_H

#include "server/sqs/input.h"

typedef enum lbx__input_kind {
    LBX__INPUT_TEXT,       /* lbx__slice */
    LBX__INPUT_NUMBER,     /* lbx__sqs_number */
    LBX__INPUT_TEXTS,      /* lbx__sqs_texts */
    LBX__INPUT_PAIRS,      /* lbx__sqs_pairs */
    LBX__INPUT_ATTRIBUTES, /* lbx__sqs_attributes */
    LBX__INPUT_ENTRIES,    /* entries and entry_count of lbx__sqs_input */
} lbx__input_kind;

typedef struct lbx__input_member {
    const char *json;  /* "AttributeNames"; NULL: not in JSON */
    const char *query; /* "AttributeName"; NULL: not in Query */
    const char *key;   /* of a map in Query: "Name" or "Key" */
    lbx__input_kind kind;
    bool in_entry; /* a member of lbx__sqs_entry, else of lbx__sqs_input */
    size_t offset;
    size_t flag; /* a bool of lbx__sqs_input: it was sent; 0: none */
} lbx__input_member;

extern const lbx__input_member lbx__input_members[];
extern const size_t lbx__input_member_count;

/* Where a member lies: in the entry, if it is one of an entry. */
void *lbx__input_at(const lbx__input_member *member, lbx__sqs_input *input,
                    lbx__sqs_entry *entry);

/* The message's body: its texts may have any characters. */
bool lbx__input_is_body(const lbx__input_member *member);

/* Capacity for one more than `count` items, which are moved if need be; NULL
 * without memory. */
void *lbx__input_grow(lbx__arena *arena, void *items, size_t count,
                      size_t item_bytes);

/* Decimal digits, perhaps behind a minus. False for anything else, and for what
 * does not fit. */
bool lbx__input_integer(lbx__slice text, int64_t *ret);

/* Whether what has names has all of them, and each once; JSON cannot express
 * anything else. */
bool lbx__input_check(const lbx__sqs_input *input, lbx__sqs_fault *fault);

/* These write the fault and return false. */
bool lbx__input_fail_memory(lbx__sqs_fault *fault, const lbx__arena *arena);
bool lbx__input_fail_body(lbx__sqs_fault *fault);
bool lbx__input_fail_count(lbx__sqs_fault *fault,
                           const lbx__input_member *member);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input of an action, read from either wire format.
 *
 * One struct has the members of all actions; what was not sent is absent: a
 * slice with NULL bytes, a number that is not `given`, a list without items.
 * What an action does not know is ignored, as AWS does.
 *
 * INPUT-1  All bytes lie in the arena or in the request's body; texts are valid
 *          UTF-8 and have a NUL behind them, which `size` does not count.
 * INPUT-2  Reading is bounded: lists by LBX__SQS_MAX_ITEMS, members by
 *          LBX__SQS_MAX_MEMBERS, depth by the JSON reader.
 */
#ifndef LBX_SERVER_SQS_INPUT_H
#define LBX_SERVER_SQS_INPUT_H

#include "base/arena.h"
#include "base/slice.h"
#include "server/sqs/error.h"

enum {
    LBX__SQS_MAX_ITEMS = 256,
    LBX__SQS_MAX_MEMBERS = 4096
};

typedef struct lbx__sqs_number {
    bool given;
    int64_t value;
    lbx__slice text; /* as it was sent */
} lbx__sqs_number;

typedef struct lbx__sqs_texts {
    lbx__slice *items;
    size_t count;
} lbx__sqs_texts;

/* A map of texts, in the order they were sent. */
typedef struct lbx__sqs_pair {
    lbx__slice name;
    lbx__slice value;
} lbx__sqs_pair;

typedef struct lbx__sqs_pairs {
    lbx__sqs_pair *items;
    size_t count;
} lbx__sqs_pairs;

/* A message attribute, or a system attribute. */
typedef struct lbx__sqs_attribute {
    lbx__slice name;
    lbx__slice data_type;
    lbx__slice string_value; /* NULL bytes: not sent */
    lbx__slice binary_value; /* decoded; NULL bytes: not sent */
    bool has_list_values;    /* StringListValues or BinaryListValues */
} lbx__sqs_attribute;

typedef struct lbx__sqs_attributes {
    lbx__sqs_attribute *items;
    size_t count;
} lbx__sqs_attributes;

/* One message of a send, a deletion or a change of visibility: the members of
 * a batch's entry, or of the action itself. */
typedef struct lbx__sqs_entry {
    lbx__slice id; /* of an entry */
    lbx__slice body;
    lbx__sqs_number delay;
    lbx__sqs_attributes attributes;
    lbx__sqs_attributes system_attributes;
    lbx__slice deduplication_id;
    lbx__slice group_id;
    lbx__slice receipt;
    lbx__sqs_number visibility; /* VisibilityTimeout; of a receive too */
} lbx__sqs_entry;

typedef struct lbx__sqs_input {
    lbx__slice queue_url;
    lbx__slice queue_name;
    lbx__slice queue_prefix; /* QueueNamePrefix */
    lbx__slice owner;        /* QueueOwnerAWSAccountId */
    lbx__slice label;
    lbx__slice next_token;
    lbx__slice source_arn;
    lbx__slice destination_arn;
    lbx__slice task_handle;
    lbx__slice attempt_id;   /* ReceiveRequestAttemptId */
    lbx__slice show_leased;  /* ShowInvisible of a peek, */
    lbx__slice show_delayed; /* and ShowDelayed */
    lbx__sqs_number max_results;
    lbx__sqs_number max_messages; /* MaxNumberOfMessages */
    lbx__sqs_number wait;         /* WaitTimeSeconds */
    lbx__sqs_number rate;         /* MaxNumberOfMessagesPerSecond */
    lbx__sqs_pairs attributes;    /* Attributes of Create- and SetQueue... */
    lbx__sqs_pairs tags;          /* tags of CreateQueue; of Query, all */
    lbx__sqs_pairs queue_tags;    /* Tags of TagQueue, in JSON */
    bool has_attributes;          /* Attributes was sent, be it empty */
    bool has_tags;
    lbx__sqs_texts tag_keys;
    lbx__sqs_texts attribute_names; /* AttributeNames */
    lbx__sqs_texts system_names;    /* MessageSystemAttributeNames */
    lbx__sqs_texts message_names;   /* MessageAttributeNames */
    lbx__sqs_texts account_ids;     /* AWSAccountIds */
    lbx__sqs_texts action_names;    /* Actions */
    lbx__sqs_entry entry;           /* of an action on one message */
    lbx__sqs_entry *entries;        /* Entries of a batch */
    size_t entry_count;
    bool has_entries; /* JSON: Entries was sent, be it empty */
} lbx__sqs_input;

/* What is wrong with an input. */
typedef struct lbx__sqs_fault {
    lbx__sqs_error error;
    char text[512];
} lbx__sqs_fault;

/* Reads a JSON object. False: the fault has why (SerializationException). */
bool lbx__sqs_input_read_json(lbx__sqs_input *input, lbx__arena *arena,
                              lbx__slice body, lbx__sqs_fault *fault);

/* Reads fields of a form: of the body, the query string or both. `action` is
 * the value of Action, NULL bytes if there was none. */
bool lbx__sqs_input_read_query(lbx__sqs_input *input, lbx__arena *arena,
                               lbx__slice form, lbx__slice query,
                               lbx__slice *action, lbx__sqs_fault *fault);

#endif

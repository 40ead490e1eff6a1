/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of a queue: one row for each, with how it is shown and set.
 *
 * Most are options of the box. What the rules of boxes do not know is in texts
 * of the box. A box that a program made may have options that SQS does not
 * allow, no limit of age, say; it is shown with the nearest value of SQS.
 *
 * ATTR-1  A draft that was refused has changed nothing but itself.
 * ATTR-2  An attribute that was not given keeps the value that it has.
 * ATTR-3  The text of a RedrivePolicy or a RedriveAllowPolicy is two lines: the
 *         policy as the server writes it for the options that it was set with,
 *         and as it was given. It is shown as given while the box has those
 *         options. Of a RedrivePolicy whose count is a string, both lines are
 *         the server's.
 */
#ifndef LBX_SERVER_SQS_ATTRIBUTES_H
#define LBX_SERVER_SQS_ATTRIBUTES_H

#include "server/sqs/input.h"
#include "server/sqs/queue.h"
#include "server/sqs/redrive.h"

/* Texts of the box that belong to SQS. */
#define LBX__TEXT_TAG           "tag:"
#define LBX__TEXT_POLICY        "sqs:Policy"
#define LBX__TEXT_REDRIVE       "sqs:RedrivePolicy"
#define LBX__TEXT_REDRIVE_ALLOW "sqs:RedriveAllowPolicy"
#define LBX__TEXT_KEY           "sqs:KmsMasterKeyId"
#define LBX__TEXT_KEY_SECONDS   "sqs:KmsDataKeyReusePeriodSeconds"
#define LBX__TEXT_SSE           "sqs:SqsManagedSseEnabled"
#define LBX__TEXT_THROUGHPUT    "sqs:FifoThroughputLimit"
#define LBX__TEXT_CREATED       "sqs:CreatedTimestamp"
#define LBX__TEXT_MODIFIED      "sqs:LastModifiedTimestamp"
#define LBX__TEXT_PURGED        "sqs:purged"
#define LBX__TEXT_MOVE          "sqs:move:"

/* A list of texts that replaces some of those below it. */
typedef struct lbx__texts {
    const lbx_box_text *items;
    size_t count;
    const struct lbx__texts *below; /* NULL: none */
} lbx__texts;

/* NULL: none, or taken away. */
const char *lbx__attributes_find_text(const lbx__texts *texts,
                                      const char *name);

/* What an attribute is read from. */
typedef struct lbx__attribute_view {
    const lbx__world *world;
    const char *name; /* of the queue */
    const lbx_box_options *options;
    const lbx_box_counts *counts; /* may be NULL: all are 0 */
    lbx__texts texts;
} lbx__attribute_view;

lbx__attribute_view lbx__attributes_view(const lbx__queue *queue,
                                         const lbx_box_counts *counts);

/* A new queue, or the change of one. */
enum {
    LBX__DRAFT_TEXTS = 16
};

typedef struct lbx__queue_draft {
    lbx__arena *arena;
    const lbx_allocator *allocator;
    const lbx__world *world;
    const char *name;
    const lbx__texts *below; /* that the queue has; NULL: a new one */
    lbx_box_options options;
    lbx_box_text texts[LBX__DRAFT_TEXTS]; /* that change */
    size_t text_count;
    lbx__slice redrive; /* RedrivePolicy as given; NULL bytes: not given */
    bool has_key;       /* KmsMasterKeyId is given, */
    bool has_sse;       /* SqsManagedSseEnabled is given as true */
    lbx__sqs_fault fault;
} lbx__queue_draft;

typedef struct lbx__attribute lbx__attribute;
struct lbx__attribute {
    const char *name;
    uint32_t use;

    lbx__slice (*get)(const lbx__attribute *row,
                      const lbx__attribute_view *view,
                      char buffer[LBX__REDRIVE_BYTES]);

    /* False: the draft's fault has why. NULL: it cannot be set. */
    bool (*set)(const lbx__attribute *row, lbx__queue_draft *draft,
                lbx__slice value);

    /* Of a number of the options: its range, unit and offset. */
    int64_t least, most, unit;
    size_t offset;
    const char *text; /* of the box */
};

enum {
    LBX__ATTRIBUTE_FIFO = 1,   /* only fifo queues have it, */
    LBX__ATTRIBUTE_SPEAKS = 2, /* and a refusal says so */
    LBX__ATTRIBUTE_COUNTS = 4  /* it needs counts */
};

extern const lbx__attribute lbx__attributes[];
extern const size_t lbx__attribute_count;

/* NULL: there is none of that name. */
const lbx__attribute *lbx__attributes_find(lbx__slice name);

/* The value, in `buffer` or in the view; NULL bytes: the queue has none. */
lbx__slice lbx__attributes_get(const lbx__attribute *row,
                               const lbx__attribute_view *view,
                               char buffer[LBX__REDRIVE_BYTES]);

/* Applies what was given, and checks the whole. False: the fault has why. */
bool lbx__attributes_set_all(lbx__queue_draft *draft,
                             const lbx__sqs_pairs *given);

/* Whether an attribute has the same value in both. */
bool lbx__attributes_equal(const lbx__attribute *row,
                           const lbx__attribute_view *a,
                           const lbx__attribute_view *b);

lbx__attribute_view lbx__attributes_draft_view(const lbx__queue_draft *draft);

/* Adds or replaces a text; NULL: takes it away. */
void lbx__attributes_draft_text(lbx__queue_draft *draft, const char *name,
                                const char *value);

/* Setters of the table. */
bool lbx__attributes_set_number(const lbx__attribute *row,
                                lbx__queue_draft *draft, lbx__slice value);
bool lbx__attributes_set_policy(const lbx__attribute *row,
                                lbx__queue_draft *draft, lbx__slice value);
bool lbx__attributes_set_redrive(const lbx__attribute *row,
                                 lbx__queue_draft *draft, lbx__slice value);
bool lbx__attributes_set_allow(const lbx__attribute *row,
                               lbx__queue_draft *draft, lbx__slice value);
bool lbx__attributes_set_key(const lbx__attribute *row, lbx__queue_draft *draft,
                             lbx__slice value);
bool lbx__attributes_set_key_seconds(const lbx__attribute *row,
                                     lbx__queue_draft *draft, lbx__slice value);
bool lbx__attributes_set_sse(const lbx__attribute *row, lbx__queue_draft *draft,
                             lbx__slice value);
bool lbx__attributes_set_fifo(const lbx__attribute *row,
                              lbx__queue_draft *draft, lbx__slice value);
bool lbx__attributes_set_content(const lbx__attribute *row,
                                 lbx__queue_draft *draft, lbx__slice value);
bool lbx__attributes_set_scope(const lbx__attribute *row,
                               lbx__queue_draft *draft, lbx__slice value);
bool lbx__attributes_set_throughput(const lbx__attribute *row,
                                    lbx__queue_draft *draft, lbx__slice value);

#endif

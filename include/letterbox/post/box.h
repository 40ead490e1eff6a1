/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxes: what a store keeps, and by which rules.
 *
 * A box is a named queue of letters in a store; a postbox is a program's
 * handle of one. The rules of a box are set when it is created, can be changed
 * later, and live in the store: every program that opens the box sees the same.
 *
 *     lbx_box_options box = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
 *
 *     lbx_store_create_box(store, "orders-dlq", &box, &fault);
 *     box.lease_ns = 300 * LBX_SECOND;
 *     box.dead_letters = "orders-dlq";    // which must be there
 *     box.max_deliveries = 5;
 *     lbx_store_create_box(store, "orders", &box, &fault);
 *
 * Presets to start from. LBX_BOX_PRESET_DEFAULT (and LBX_BOX_OPTIONS_INIT): no
 * upper limits, letters are kept until acknowledged, a receipt is good as long
 * as its lease (`strict`). LBX_BOX_PRESET_SQS: the limits and defaults of SQS:
 * letters are kept for four days, leases last 12 hours at most, bodies are
 * text.
 *
 * The life of a letter:
 *
 *     send ──► delayed ──► ready ──receive──► leased ──acknowledge──► gone
 *                            ▲                  │ │
 *                            └──nack, lease over┘ └─too often─► dead letters
 *
 * Order. Letters become ready in the order of the moments they are due, and in
 * that order they are received; one that comes back goes to the back, unless
 * `keep_position` is set. In a `fifo` box each group is strictly in order:
 * while one letter of a group is leased, no later one of that group is
 * delivered.
 *
 * Tenants. In a box that is not `fifo` the group of a letter names a tenant,
 * and a noisy tenant does not hold up the others. A tenant is noisy when 30 or
 * more of its letters are leased and these are more than a tenth of all that
 * are leased in the box; it stays so until none of its letters is ready, or
 * until it has sent nothing for five minutes. A receive takes letters of quiet
 * tenants first, then those of the noisy tenant with the fewest leased. A
 * letter without a group is a tenant of its own, and never noisy. Letters of
 * one tenant come in the order in which they were sent, received or nacked
 * last.
 */
#ifndef LETTERBOX_POST_BOX_H
#define LETTERBOX_POST_BOX_H

#include <letterbox/base.h>

LBX_BEGIN

/* Letters in one send, receive or settle. */
#define LBX_MAX_BATCH 10

/* A box's name, with the NUL: printable ASCII without spaces and '/'. */
#define LBX_BOX_NAME_BYTES 128

/* How far the other numbers may go. LBX_UNLIMITED is no limit. */
typedef struct lbx_box_limits {
    int64_t max_lease_ns; /* of one lease, and of all extensions since receive;
                              SQS: 12 h */
    int64_t max_wait_ns;  /* of a long poll; SQS: 20 s */
    int64_t max_delay_ns; /* SQS: 15 min */
    int64_t min_retention_ns; /* SQS: 1 min */
    int64_t max_retention_ns; /* SQS: 14 days */
    int64_t max_letter_bytes; /* body and attributes; SQS: 1 MiB. With all else
                                   that is kept of it (type, routes, group, ids,
                                   trace, and about 100 bytes of the store's) a
                                   letter is never more than 64 MiB: a body is
                                   always somewhat less. */
    int64_t max_batch_bytes;  /* the sum of a send; SQS: 1 MiB */
    int64_t max_leased;       /* SQS: 120,000 */
    uint32_t max_attributes;  /* SQS: 10 */
    bool text_only; /* bodies are not empty, UTF-8, and have no characters that
                       XML 1.0 does not allow; SQS */
} lbx_box_limits;

/* Over what an id of a duplicate is looked for (fifo). */
typedef enum lbx_deduplication {
    LBX_DEDUPLICATION_BOX = 0, /* SQS: queue */
    LBX_DEDUPLICATION_GROUP,   /* SQS: messageGroup */
} lbx_deduplication;

/* Which boxes may send their dead letters here. */
typedef enum lbx_dead_letter_allow {
    LBX_DEAD_LETTER_ALLOW_ALL = 0,
    LBX_DEAD_LETTER_ALLOW_NONE,
    LBX_DEAD_LETTER_ALLOW_LISTED, /* those in dead_letter_boxes */
} lbx_dead_letter_allow;

/* The rules of a box. Durations are not negative. */
typedef struct lbx_box_options {
    size_t size_bytes; /* LBX_BOX_OPTIONS_INIT sets it */
    lbx_box_limits limits;

    /* Defaults for letters that state nothing else. */
    int64_t lease_ns;     /* how long a receiver has it; 30 s */
    int64_t delay_ns;     /* before it is ready for the first time; 0 */
    int64_t wait_ns;      /* of a receive that states none; 0: not at all */
    int64_t retention_ns; /* from the send on; LBX_UNLIMITED; SQS: 4 days */

    /* Letters inside, delayed and leased ones included. A send beyond that is
     * LBX_FULL. */
    int64_t capacity_letters;

    /* A receipt is current until the letter is received again, deleted or
     * purged; with `strict`, also only until its lease runs out. Fifo boxes are
     * always strict. */
    bool strict;

    /* A letter that comes back takes its old position, not the last one. */
    bool keep_position;

    /* Strict order within groups, and no duplicates for five minutes. Cannot be
     * changed later. */
    bool fifo;
    bool deduplicate_by_content; /* fifo: without an id, the body's hash */
    lbx_deduplication deduplication;

    /* A letter that was delivered max_deliveries times is moved, when it is
     * due again, to this box of the same store, in one step. It must be there
     * already, be another box, and be `fifo` if this one is. NULL: never. */
    const char *dead_letters;
    uint32_t max_deliveries; /* 1 to 1000; 0 without dead_letters */

    /* Which boxes may name this one as their dead letters. */
    lbx_dead_letter_allow dead_letter_allow;
    const char *const *dead_letter_boxes;
    size_t dead_letter_box_count; /* at most 10 */
} lbx_box_options;

#define LBX_BOX_LIMITS_NONE                                                    \
    {                                                                          \
        .max_lease_ns = LBX_UNLIMITED, .max_wait_ns = LBX_UNLIMITED,           \
        .max_delay_ns = LBX_UNLIMITED, .max_retention_ns = LBX_UNLIMITED,      \
        .max_letter_bytes = LBX_UNLIMITED, .max_batch_bytes = LBX_UNLIMITED,   \
        .max_leased = LBX_UNLIMITED, .max_attributes = UINT32_MAX              \
    }

#define LBX_BOX_OPTIONS_INIT                                                   \
    {                                                                          \
        .size_bytes = sizeof(lbx_box_options), .limits = LBX_BOX_LIMITS_NONE,  \
        .lease_ns = 30 * LBX_SECOND, .retention_ns = LBX_UNLIMITED,            \
        .capacity_letters = LBX_UNLIMITED, .strict = true                      \
    }

/* What to start from. */
typedef enum lbx_box_preset {
    LBX_BOX_PRESET_DEFAULT = 0, /* LBX_BOX_OPTIONS_INIT */
    LBX_BOX_PRESET_SQS,         /* a standard queue of SQS */
    LBX_BOX_PRESET_SQS_FIFO,    /* a FIFO queue of SQS */
} lbx_box_preset;

/*
 * lbx_box_options_read_preset() writes the options of a preset into `ret`,
 * whose `size_bytes` is set; for any other number, LBX_BOX_OPTIONS_INIT.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_box_options_read_preset(lbx_box_preset set,
                                               lbx_box_options *ret);

/* lbx_box_options_preset() returns them, made in the program itself. */
LBX_INLINE lbx_box_options
lbx_box_options_preset(lbx_box_preset set)
{
    lbx_box_options options;

    options.size_bytes = sizeof(options);
    (void)lbx_box_options_read_preset(set, &options);
    return options;
}

/*
 * lbx_box_options_check() returns whether options are valid; if not, the fault
 * names the field and what is allowed.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the fault is the caller's; it may be NULL.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_box_options_check(const lbx_box_options *options, lbx_fault *fault);

/* How many letters are in a box, exactly, at one moment. What is due counts as
 * ready, whether or not the store has moved it yet. */
typedef struct lbx_box_counts {
    size_t size_bytes; /* LBX_BOX_COUNTS_INIT sets it */
    uint64_t ready;
    uint64_t leased;
    uint64_t delayed;  /* sent or returned with a delay, and not due yet */
    uint64_t bytes;    /* bodies and attributes of all of them */
    int64_t oldest_ns; /* age of the oldest that is not acknowledged; -1 */
} lbx_box_counts;

#define LBX_BOX_COUNTS_INIT                                                    \
    {                                                                          \
        .size_bytes = sizeof(lbx_box_counts)                                   \
    }

LBX_END

#endif

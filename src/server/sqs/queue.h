/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues: what the server knows of a box, and the directory of those it has
 * looked up.
 *
 * A queue is a box of the store in the space of its account and region; for
 * the home account and region, in the space of programs (NULL), so that
 * `letterbox receive file:DIR/orders` and an SDK see the same queue. What SQS
 * keeps and the rules of boxes do not know is in the box's texts: "tag:NAME",
 * and "sqs:NAME" for Policy, the KMS attributes, CreatedTimestamp and such.
 *
 * QUEUE-1  A queue does not change once it was read; a change makes another.
 * QUEUE-2  What the directory has is at most LBX__QUEUE_FRESH_NS old: other
 *          processes may configure or delete the box. A call that returns
 *          CLOSED means that the life of the box is over.
 * QUEUE-3  What was read before a change is not in the directory after it: a
 *          client sees its own changes at once, by any connection.
 */
#ifndef LBX_SERVER_SQS_QUEUE_H
#define LBX_SERVER_SQS_QUEUE_H

#include "base/slice.h"
#include <letterbox/store_driver.h>

enum {
    LBX__ACCOUNT_BYTES = 13,
    LBX__REGION_BYTES = 19
};

#define LBX__QUEUE_FRESH_NS LBX_SECOND

/* Whose queues: an account in a region. */
typedef struct lbx__world {
    char account[LBX__ACCOUNT_BYTES]; /* 12 digits */
    char region[LBX__REGION_BYTES];   /* "us-east-1" */
} lbx__world;

typedef struct lbx__queue {
    _Atomic(uint32_t) refs;
    lbx__world world;
    const char *space; /* NULL: that of programs */
    const char *name;
    lbx_box box;
    lbx_box_options options; /* texts inside are the queue's */
    const lbx_box_text *texts;
    size_t text_count;
    int64_t read_ns;
} lbx__queue;

typedef struct lbx__queues lbx__queues; /* the directory */
struct lbx__request;

/* `home`: the world that is the space of programs. */
lbx_status lbx__queues_create(const lbx_allocator *allocator,
                              const lbx__world *home, lbx__queues **ret);
void lbx__queues_destroy(lbx__queues *queues);

/* Finds a queue, in the directory or by a call of the store, and continues with
 * `step`: OK and request->queue is set; NOT_FOUND; or a failure of the
 * store. */
void lbx__queues_find(struct lbx__request *request, const lbx__world *world,
                      lbx__slice name,
                      void (*step)(struct lbx__request *request,
                                   lbx_status status));

/* The same, always by a call of the store. `counts`, unless NULL, are those of
 * the same moment. */
void lbx__queues_read(struct lbx__request *request, const lbx__world *world,
                      lbx__slice name, lbx_box_counts *counts,
                      void (*step)(struct lbx__request *request,
                                   lbx_status status));

/* Forgets what is known: after a change, a deletion, or CLOSED. Any thread. */
void lbx__queues_forget(lbx__queues *queues, const lbx__world *world,
                        const char *name);

/* Notes that a queue was deleted, and whether one was in the last minute. This
 * process only, and only the latest few hundred. Any thread. */
void lbx__queues_note_deleted(lbx__queues *queues, const lbx__world *world,
                              const char *name);
bool lbx__queues_deleted_recently(lbx__queues *queues, const lbx__world *world,
                                  const char *name);

lbx__queue *lbx__queue_ref(lbx__queue *queue);
void lbx__queue_unref(lbx__queue *queue);

/* The space of a world's boxes: NULL for home, else "ACCOUNT/REGION" in
 * `buffer`. */
const char *lbx__queues_space(const lbx__queues *queues,
                              const lbx__world *world,
                              char buffer[LBX_BOX_SPACE_BYTES]);

/* A text of the box, "sqs:Policy"; NULL: none. */
const char *lbx__queue_text(const lbx__queue *queue, const char *name);

/* "arn:aws:sqs:us-east-1:000000000000:orders". The buffer has
 * LBX__ARN_BYTES. */
#define LBX__ARN_BYTES 192
const char *lbx__queue_arn(const lbx__world *world, const char *name,
                           char *buffer);

/* The name in an ARN of this world; NULL bytes for any other. */
lbx__slice lbx__queue_name_of_arn(const lbx__world *world, lbx__slice arn);

/* The world and name that a QueueUrl, a request's path, or a bare name means;
 * an account or a region that it does not have is left as it is. False: it
 * cannot be a queue. */
bool lbx__queue_parse_url(lbx__slice url, lbx__world *ret, lbx__slice *name);

/* The region that a host has in its name, "sqs.eu-west-1.example" or
 * "eu-west-1.queue.example", and the host of a URL. False: none. */
bool lbx__queue_region_of_host(lbx__slice host, lbx__world *world);
bool lbx__queue_region_of_url(lbx__slice url, lbx__world *world);

/* Appends the URL of a queue to `out`: of the request's Host. */
void lbx__queue_url(const struct lbx__request *request, const char *name,
                    lbx_buffer *out);

#endif

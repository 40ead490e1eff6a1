/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server counts, for Prometheus.
 *
 * METRIC-1  Each loop counts for itself; a reader adds the counts of all.
 */
#ifndef LBX_SERVER_METRICS_H
#define LBX_SERVER_METRICS_H

#include "base/atomic.h"
#include "base/buffer.h"
#include "http/http.h"
#include "server/sqs/request.h"

enum {
    LBX__METRICS_ACTIONS = 32, /* of lbx__actions; the last is all else */
    LBX__METRICS_BUCKETS = 14
};

typedef struct lbx__metrics_action {
    _Atomic(uint64_t) by_class[6]; /* by the first digit of the status */
    _Atomic(uint64_t) buckets[LBX__METRICS_BUCKETS];
    _Atomic(uint64_t) total_ns;
} lbx__metrics_action;

typedef struct lbx__metrics {
    lbx__metrics_action actions[LBX__METRICS_ACTIONS];
} lbx__metrics;

/* A request of an action, NULL if it has none, was answered. */
void lbx__metrics_count(lbx__metrics *metrics, const lbx__action *action,
                        int status, int64_t time_ns);

/* Appends the sum of `count` of them, as Prometheus reads it. */
void lbx__metrics_write(const lbx__metrics *const *metrics, size_t count,
                        const lbx__http_counts *http, lbx_buffer *out);

/* A queue, and what is in it. */
typedef struct lbx__metrics_queue {
    struct lbx__metrics_queue *next;
    lbx__world world;
    const char *name;
    lbx_box_counts counts;
} lbx__metrics_queue;

/* Appends the gauges of queues; `is_cut`: there are more than these. */
void lbx__metrics_write_queues(const lbx__metrics_queue *first, bool is_cut,
                               lbx_buffer *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard: what a server has on one loop.
 *
 * SHARD-1  A shard is over when its listener and its timer are closed and its
 *          connections freed, each of which outlives its exchanges. The server
 *          is freed after that.
 *
 * Threads    the loop's; counts and `is_over` are read by any.
 */
#ifndef LBX_HTTP_SHARD_H
#define LBX_HTTP_SHARD_H

#include "base/atomic.h"
#include "http/answer.h"
#include "http/budget.h"
#include "http/deadlines.h"
#include "http/http.h"
#include "http/peers.h"
#include "http/rates.h"
#include "net/listener.h"

/* What all shards of a server share. */
typedef struct lbx__shard_common {
    lbx__http_options options; /* the texts and loops are not used later */
    lbx__peers peers;
    lbx__rates rates;
    lbx__budget *budget; /* the options', or `own_budget` */
    lbx__budget own_budget;
    _Atomic(uint64_t) connections; /* of all shards, now */
    _Atomic(uint32_t) shards_left; /* that are not over; threads park on it */
} lbx__shard_common;

/* Counted by the loop's thread alone, read by any: relaxed. */
typedef struct lbx__shard_counts {
    _Atomic(uint64_t) accepted;
    _Atomic(uint64_t) refused;
    _Atomic(uint64_t) requests;
    _Atomic(uint64_t) rejected;
    _Atomic(uint64_t) bytes_in;
    _Atomic(uint64_t) bytes_out;
} lbx__shard_counts;

typedef struct lbx__shard {
    lbx__shard_common *common;
    lbx__loop *loop;
    lbx__listener listener;
    lbx__deadlines deadlines;
    lbx__link connections;
    size_t connection_count;
    bool is_stopping;
    bool is_listening; /* the listener is not closed yet */
    int64_t date_second;
    char date[LBX__ANSWER_DATE];
    int64_t log_second;
    uint32_t log_lines; /* in that second */
    lbx__task start;
    lbx__task stop;
    lbx__task cut;
    lbx__shard_counts counts;
} lbx__shard;

static inline void
lbx__shard_add(_Atomic(uint64_t) *count, uint64_t more)
{
    // Relaxed: one thread writes it, and nothing depends on it.
    lbx__store(count, lbx__load(count, relaxed) + more, relaxed);
}

/* `fd` listens; it is the shard's. Any thread, before others know it. */
void lbx__shard_init(lbx__shard *shard, lbx__shard_common *common,
                     lbx__loop *loop, int fd);

/* Any thread: posts what starts the shard, stops it, or cuts its connections
 * off. Each once, in this order. */
void lbx__shard_start(lbx__shard *shard);
void lbx__shard_stop(lbx__shard *shard);
void lbx__shard_cut(lbx__shard *shard);

/* The text of the Date field now. */
const char *lbx__shard_date(lbx__shard *shard);

/* A line of the log, at most ten a second. */
void lbx__shard_log(lbx__shard *shard, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A connection was freed. */
void lbx__shard_release(lbx__shard *shard);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as text for Prometheus. METRIC-1 is in metrics.h. */
#include "server/metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Upper limits of the buckets, in microseconds; the last has none. */
static const int64_t bucket_us[LBX__METRICS_BUCKETS - 1] = {
    50,    100,   250,    500,     1000,    2500,     5000,
    10000, 50000, 100000, 1000000, 5000000, 25000000,
};

static size_t
metrics_index(const lbx__action *action)
{
    size_t index = LBX__METRICS_ACTIONS - 1;

    if (action >= lbx__actions && action < lbx__actions + lbx__action_count)
        index = (size_t)(action - lbx__actions);
    return index < LBX__METRICS_ACTIONS ? index : LBX__METRICS_ACTIONS - 1;
}

void
lbx__metrics_count(lbx__metrics *metrics, const lbx__action *action, int status,
                   int64_t time_ns)
{
    lbx__metrics_action *counts = &metrics->actions[metrics_index(action)];
    size_t bucket = 0;

    while (bucket < LBX__METRICS_BUCKETS - 1 &&
           time_ns > bucket_us[bucket] * 1000)
        bucket++;
    // Relaxed: counts order nothing.
    lbx__add(&counts->by_class[status / 100 % 6], 1u, relaxed);
    lbx__add(&counts->buckets[bucket], 1u, relaxed);
    lbx__add(&counts->total_ns, (uint64_t)time_ns, relaxed);
}

static void __attribute__((format(printf, 2, 3)))
metrics_print(lbx_buffer *out, const char *format, ...)
{
    char line[512];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (size > 0)
        lbx__buffer_add(out, line,
                        (size_t)size < sizeof(line) ? (size_t)size
                                                    : sizeof(line) - 1);
}

static uint64_t
metrics_sum(const lbx__metrics *const *metrics, size_t count, size_t action,
            size_t offset)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        const char *base = (const char *)&metrics[i]->actions[action];
        const _Atomic(uint64_t) *word =
            (const _Atomic(uint64_t) *)(const void *)(base + offset);

        sum += lbx__load(word, relaxed); // counts order nothing
    }
    return sum;
}

static const char *
metrics_name(size_t action)
{
    return action < lbx__action_count ? lbx__actions[action].name : "other";
}

static void
metrics_write_requests(const lbx__metrics *const *metrics, size_t count,
                       lbx_buffer *out)
{
    metrics_print(out, "# HELP letterbox_requests_total Requests that were "
                       "answered, by action and class of status.\n"
                       "# TYPE letterbox_requests_total counter\n");
    for (size_t i = 0; i < LBX__METRICS_ACTIONS; i++) {
        for (size_t class = 1; class < 6; class ++) {
            uint64_t sum = metrics_sum(metrics, count, i,
                                       offsetof(lbx__metrics_action, by_class) +
                                           class * sizeof(uint64_t));

            if (sum > 0)
                metrics_print(out,
                              "letterbox_requests_total{action=\"%s\","
                              "status=\"%zuxx\"} %" PRIu64 "\n",
                              metrics_name(i), class, sum);
        }
    }
}

static uint64_t
metrics_sum_bucket(const lbx__metrics *const *metrics, size_t count,
                   size_t action, size_t bucket)
{
    return metrics_sum(metrics, count, action,
                       offsetof(lbx__metrics_action, buckets) +
                           bucket * sizeof(uint64_t));
}

static void
metrics_write_latency(const lbx__metrics *const *metrics, size_t count,
                      size_t action, lbx_buffer *out)
{
    const char *name = metrics_name(action);
    uint64_t below = 0, total;

    for (size_t i = 0; i < LBX__METRICS_BUCKETS; i++)
        below += metrics_sum_bucket(metrics, count, action, i);
    if (below == 0)
        return;
    below = 0;
    for (size_t i = 0; i < LBX__METRICS_BUCKETS - 1; i++) {
        below += metrics_sum_bucket(metrics, count, action, i);
        metrics_print(out,
                      "letterbox_request_seconds_bucket{action=\"%s\","
                      "le=\"%g\"} %" PRIu64 "\n",
                      name, (double)bucket_us[i] / 1e6, below);
    }
    below +=
        metrics_sum_bucket(metrics, count, action, LBX__METRICS_BUCKETS - 1);
    total = metrics_sum(metrics, count, action,
                        offsetof(lbx__metrics_action, total_ns));
    metrics_print(out,
                  "letterbox_request_seconds_bucket{action=\"%s\",le=\"+Inf\"}"
                  " %" PRIu64 "\n"
                  "letterbox_request_seconds_sum{action=\"%s\"} %.9f\n"
                  "letterbox_request_seconds_count{action=\"%s\"} %" PRIu64
                  "\n",
                  name, below, name, (double)total / 1e9, name, below);
}

static void
metrics_write_http(const lbx__http_counts *http, lbx_buffer *out)
{
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } rows[] = {
        {"connections", "gauge", "Open connections.", http->connections},
        {"connections_total", "counter", "Accepted connections.",
         http->accepted},
        {"connections_refused_total", "counter",
         "Connections refused by a limit.", http->refused},
        {"requests_rejected_total", "counter",
         "Requests refused for framing, size or time.", http->rejected},
        {"received_bytes_total", "counter", "Bytes read.", http->bytes_in},
        {"held_bytes", "gauge", "Bytes of requests and answers under way.",
         http->held_bytes},
        {"sent_bytes_total", "counter", "Bytes written.", http->bytes_out},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        metrics_print(out,
                      "# HELP letterbox_%s %s\n# TYPE letterbox_%s %s\n"
                      "letterbox_%s %" PRIu64 "\n",
                      rows[i].name, rows[i].help, rows[i].name, rows[i].type,
                      rows[i].name, rows[i].value);
}

void
lbx__metrics_write(const lbx__metrics *const *metrics, size_t count,
                   const lbx__http_counts *http, lbx_buffer *out)
{
    metrics_write_http(http, out);
    metrics_write_requests(metrics, count, out);
    metrics_print(out, "# HELP letterbox_request_seconds Time from a request "
                       "to its answer, long polls included.\n"
                       "# TYPE letterbox_request_seconds histogram\n");
    for (size_t i = 0; i < LBX__METRICS_ACTIONS; i++)
        metrics_write_latency(metrics, count, i, out);
}

/* ---- Queues ---- */

/* A name as the value of a label: quotes and backslashes are escaped. */
static void
metrics_add_label(lbx_buffer *out, const char *name)
{
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            lbx__buffer_add_byte(out, '\\');
        lbx__buffer_add_byte(out, *name);
    }
}

/* A metric's name and the labels that all metrics of a queue have. */
static void
metrics_add_queue(lbx_buffer *out, const char *metric,
                  const lbx__metrics_queue *queue)
{
    metrics_print(out, "%s{account=\"%s\",region=\"%s\",queue=\"", metric,
                  queue->world.account, queue->world.region);
    metrics_add_label(out, queue->name);
    lbx__buffer_add_byte(out, '"');
}

static void
metrics_add_depths(lbx_buffer *out, const lbx__metrics_queue *queue)
{
    const struct {
        const char *state;
        uint64_t count;
    } rows[] = {
        {"visible", queue->counts.ready},
        {"in_flight", queue->counts.leased},
        {"delayed", queue->counts.delayed},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        metrics_add_queue(out, "letterbox_messages", queue);
        metrics_print(out, ",state=\"%s\"} %" PRIu64 "\n", rows[i].state,
                      rows[i].count);
    }
}

/* All of a metric is in one piece, as the format asks. */
void
lbx__metrics_write_queues(const lbx__metrics_queue *first, bool is_cut,
                          lbx_buffer *out)
{
    const lbx__metrics_queue *queue;

    metrics_print(out, "# HELP letterbox_messages Messages in a queue, by "
                       "state.\n# TYPE letterbox_messages gauge\n");
    for (queue = first; queue; queue = queue->next)
        metrics_add_depths(out, queue);
    metrics_print(out, "# HELP letterbox_oldest_seconds Age of the oldest "
                       "message.\n# TYPE letterbox_oldest_seconds gauge\n");
    for (queue = first; queue; queue = queue->next) {
        const int64_t age_ns = queue->counts.oldest_ns;

        metrics_add_queue(out, "letterbox_oldest_seconds", queue);
        metrics_print(out, "} %.3f\n", age_ns < 0 ? 0.0 : (double)age_ns / 1e9);
    }
    metrics_print(out,
                  "# HELP letterbox_queues_cut 1 if there are more queues "
                  "than are shown here.\n"
                  "# TYPE letterbox_queues_cut gauge\n"
                  "letterbox_queues_cut %d\n",
                  is_cut);
}

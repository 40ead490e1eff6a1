/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of requests and queues, as Prometheus reads them. */
#include "server/metrics.h"

#include "support/test.h"

#include <string.h>

enum {
    MOST_BYTES = 1 << 20
};

static bool
has_line(const lbx_buffer *text, const char *line)
{
    const size_t size = strlen(line);
    const char *at = lbx__buffer_text(text);

    while ((at = strstr(at, line)) != NULL) {
        if (at[size] == '\n' && (at == text->bytes || at[-1] == '\n'))
            return true;
        at++;
    }
    return false;
}

static void
check_line(const lbx_buffer *text, const char *line)
{
    if (!has_line(text, line))
        FAIL("no line '%s'", line);
}

static const lbx__action *
action_of(const char *name)
{
    const lbx__action *action = lbx__action_find(lbx__slice_of(name));

    CHECK(action != NULL);
    return action;
}

/* METRIC-1: every loop counts for itself, and the sum is shown. */
TEST(metrics_are_the_sum_of_all_loops)
{
    static lbx__metrics loops[2];
    const lbx__metrics *const all[] = {&loops[0], &loops[1]};
    const lbx__http_counts http = {.connections = 1,
                                   .accepted = 2,
                                   .refused = 3,
                                   .requests = 4,
                                   .rejected = 5,
                                   .bytes_in = 6,
                                   .bytes_out = 7};
    lbx_buffer text;

    lbx__metrics_count(&loops[0], action_of("SendMessage"), 200, LBX_MS);
    lbx__metrics_count(&loops[1], action_of("SendMessage"), 200, LBX_MS);
    lbx__metrics_count(&loops[1], action_of("SendMessage"), 403, LBX_MS);
    lbx__metrics_count(&loops[0], NULL, 503, LBX_MS);
    lbx__buffer_init(&text, NULL, MOST_BYTES);
    lbx__metrics_write(all, 2, &http, &text);
    check_line(&text, "letterbox_connections 1");
    check_line(&text, "letterbox_connections_total 2");
    check_line(&text, "letterbox_connections_refused_total 3");
    check_line(&text, "letterbox_requests_rejected_total 5");
    check_line(&text, "letterbox_received_bytes_total 6");
    check_line(&text, "letterbox_sent_bytes_total 7");
    check_line(&text, "letterbox_requests_total{action=\"SendMessage\","
                      "status=\"2xx\"} 2");
    check_line(&text, "letterbox_requests_total{action=\"SendMessage\","
                      "status=\"4xx\"} 1");
    check_line(&text, "letterbox_requests_total{action=\"other\","
                      "status=\"5xx\"} 1");
    check_line(&text, "letterbox_request_seconds_count{action=\"SendMessage\"}"
                      " 3");
    check_line(&text, "letterbox_request_seconds_sum{action=\"SendMessage\"}"
                      " 0.003000000");
    CHECK(!strstr(lbx__buffer_text(&text), "ListQueues"));
    lbx__buffer_fini(&text);
}

/* A bucket has all that took at most as long as it says. */
TEST(metrics_of_time_are_in_buckets_that_grow)
{
    static lbx__metrics one;
    const lbx__metrics *const all[] = {&one};
    const lbx__action *action = action_of("ReceiveMessage");
    const lbx__http_counts http = {.connections = 0};
    lbx_buffer text;

#define BUCKET(limit, count)                                                   \
    "letterbox_request_seconds_bucket{action=\"ReceiveMessage\",le=\"" limit   \
    "\"} " count
    lbx__metrics_count(&one, action, 200, 0);
    lbx__metrics_count(&one, action, 200, 50 * LBX_US);
    lbx__metrics_count(&one, action, 200, 50 * LBX_US + 1);
    lbx__metrics_count(&one, action, 200, 20 * LBX_SECOND);
    lbx__metrics_count(&one, action, 200, 26 * LBX_SECOND);
    lbx__buffer_init(&text, NULL, MOST_BYTES);
    lbx__metrics_write(all, 1, &http, &text);
    check_line(&text, BUCKET("5e-05", "2"));
    check_line(&text, BUCKET("0.0001", "3"));
    check_line(&text, BUCKET("5", "3"));
    check_line(&text, BUCKET("25", "4"));
    check_line(&text, BUCKET("+Inf", "5"));
#undef BUCKET
    lbx__buffer_fini(&text);
}

/* A box of a program may have any name. */
TEST(metrics_of_a_queue_have_its_world_and_its_name_escaped)
{
    lbx__metrics_queue second = {.world = {"000000000000", "us-east-1"},
                                 .name = "q"};
    lbx__metrics_queue first = {.next = &second,
                                .world = {"111111111111", "eu-west-1"},
                                .name = "a\"b\\c"};
    lbx_buffer text;

#define LABELS                                                                 \
    "{account=\"111111111111\",region=\"eu-west-1\","                          \
    "queue=\"a\\\"b\\\\c\""
    first.counts.ready = 1;
    first.counts.leased = 2;
    first.counts.delayed = 3;
    first.counts.oldest_ns = 1500 * LBX_MS;
    second.counts.oldest_ns = -1; // there is none
    lbx__buffer_init(&text, NULL, MOST_BYTES);
    lbx__metrics_write_queues(&first, false, &text);
    check_line(&text, "letterbox_messages" LABELS ",state=\"visible\"} 1");
    check_line(&text, "letterbox_messages" LABELS ",state=\"in_flight\"} 2");
    check_line(&text, "letterbox_messages" LABELS ",state=\"delayed\"} 3");
    check_line(&text, "letterbox_oldest_seconds" LABELS "} 1.500");
    check_line(&text, "letterbox_oldest_seconds{account=\"000000000000\","
                      "region=\"us-east-1\",queue=\"q\"} 0.000");
    check_line(&text, "letterbox_queues_cut 0");
#undef LABELS
    lbx__buffer_reset(&text);
    lbx__metrics_write_queues(NULL, true, &text);
    check_line(&text, "letterbox_queues_cut 1");
    lbx__buffer_fini(&text);
}

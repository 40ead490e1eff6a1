/* SPDX-License-Identifier: Apache-2.0 */
#include "http/http.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/park.h"
#include "base/time.h"
#include "http/shard.h"
#include "net/socket.h"
#include <assert.h>

struct lbx__http {
    lbx__shard_common common;
    lbx__socket_group group;
    _Atomic(bool) is_stopping;
    size_t size_bytes; /* of this memory */
    size_t shard_count;
    lbx__shard shards[];
};

const lbx__http_limits lbx__http_default_limits = {
    .max_connections = 10000,
    .max_connections_per_peer = 1000,
    .max_pipelined = 16,
    .max_field_count = 100,
    .max_head_bytes = (size_t)32 * 1024,
    .max_target_bytes = (size_t)8 * 1024,
    .max_body_bytes = (size_t)1536 * 1024,
    .max_held_bytes = (size_t)256 << 20,
    .head_ns = 10 * LBX_SECOND,
    .min_body_bytes_per_second = 1024,
    .write_ns = 30 * LBX_SECOND,
    .min_answer_bytes_per_second = 1024,
    .idle_ns = 60 * LBX_SECOND,
};

enum {
    /* Limits of the limits: so that sums of sizes cannot overflow. */
    HTTP_HEAD_MOST = 128 * 1024, /* what a connection can hold */
    HTTP_FIELDS_MOST = 10000
};

static lbx_status
http_check_limits(const lbx__http_limits *limits, lbx_fault *fault)
{
    if (limits->max_connections < 1 || limits->max_pipelined < 1)
        return lbx__fault_set(fault, LBX_INVALID,
                              "a server has at least one connection, with one "
                              "request at a time");
    if (limits->max_head_bytes > HTTP_HEAD_MOST ||
        limits->max_field_count > HTTP_FIELDS_MOST ||
        limits->max_target_bytes > limits->max_head_bytes)
        return lbx__fault_set(fault, LBX_INVALID,
                              "a head has at most %d bytes and %d fields, and "
                              "is not shorter than its target",
                              HTTP_HEAD_MOST, HTTP_FIELDS_MOST);
    if (limits->max_body_bytes > SIZE_MAX / 4)
        return lbx__fault_set(fault, LBX_INVALID,
                              "a body of %zu bytes is too long",
                              limits->max_body_bytes);
    return LBX_OK;
}

static void
http_free(lbx__http *http)
{
    const lbx_allocator *allocator = http->common.options.allocator;

    lbx__peers_fini(&http->common.peers);
    lbx__rates_fini(&http->common.rates);
    lbx__free(allocator, http, http->size_bytes);
}

static lbx__http *
http_alloc(const lbx__http_options *options)
{
    size_t size = sizeof(lbx__http) + options->loop_count * sizeof(lbx__shard);
    lbx__http *http = lbx__zalloc(options->allocator, size);

    if (!http)
        return NULL;
    http->size_bytes = size;
    http->shard_count = options->loop_count;
    http->common.options = *options;
    http->common.own_budget.max_bytes = options->limits.max_held_bytes;
    http->common.budget =
        options->budget ? options->budget : &http->common.own_budget;
    lbx__peers_init(&http->common.peers, options->allocator);
    if (lbx__rates_init(&http->common.rates, options->allocator,
                        options->limits.max_requests_per_second) == LBX_OK)
        return http;
    http_free(http);
    return NULL;
}

lbx_status
lbx__http_create(const lbx__http_options *options, lbx__http **ret,
                 lbx_fault *fault)
{
    lbx__address address;
    lbx__http *http;
    lbx_status status = http_check_limits(&options->limits, fault);
    size_t bytes = options->loop_count * sizeof(int), i;
    int *fds;

    assert(options->loop_count > 0 && options->handler.handle);
    if (status == LBX_OK)
        status = lbx__address_parse(options->address, &address, fault);
    if (status != LBX_OK)
        return status;
    http = http_alloc(options);
    fds = lbx__zalloc(options->allocator, bytes);
    if (!http || !fds) {
        if (http)
            http_free(http);
        lbx__free(options->allocator, fds, bytes);
        return lbx__fault_set(fault, LBX_NO_MEMORY, "no memory for a server");
    }
    http->group.fds = fds;
    http->group.count = options->loop_count;
    status = lbx__socket_listen(&address, &http->group, fault);
    for (i = 0; i < options->loop_count && status == LBX_OK; i++)
        lbx__shard_init(&http->shards[i], &http->common, options->loops[i],
                        fds[i]);
    http->group.fds = NULL;
    lbx__free(options->allocator, fds, bytes);
    if (status != LBX_OK) {
        http_free(http);
        return status;
    }
    lbx__init(&http->common.shards_left, (uint32_t)options->loop_count);
    for (i = 0; i < options->loop_count; i++)
        lbx__shard_start(&http->shards[i]);
    *ret = http;
    return LBX_OK;
}

const char *
lbx__http_address(const lbx__http *http)
{
    return http->group.text;
}

void
lbx__http_stop(lbx__http *http)
{
    size_t i;

    // Relaxed: only one caller goes on, and tells the loops by posts.
    if (lbx__exchange(&http->is_stopping, true, relaxed))
        return;
    for (i = 0; i < http->shard_count; i++)
        lbx__shard_stop(&http->shards[i]);
}

void
lbx__http_destroy(lbx__http *http, int64_t deadline_ns)
{
    uint32_t left;
    size_t i;

    if (!http)
        return;
    lbx__http_stop(http);
    // Acquire: pairs with the release of the shards' last words.
    while ((left = lbx__load(&http->common.shards_left, acquire)) > 0) {
        int64_t wait_ns = lbx__time_left(deadline_ns, lbx_clock_now(NULL));

        if (wait_ns == 0) {
            deadline_ns = LBX_FOREVER; // once
            for (i = 0; i < http->shard_count; i++)
                lbx__shard_cut(&http->shards[i]);
            continue;
        }
        lbx__futex_wait(&http->common.shards_left, left, wait_ns);
    }
    lbx__socket_unlink(&http->group);
    http_free(http);
}

void
lbx__http_count(const lbx__http *http, lbx__http_counts *ret)
{
    size_t i;

    *ret = (lbx__http_counts){
        .connections = lbx__load(&http->common.connections, relaxed),
        .held_bytes = lbx__load(&http->common.budget->held_bytes, relaxed),
    };
    for (i = 0; i < http->shard_count; i++) {
        const lbx__shard_counts *counts = &http->shards[i].counts;

        // Relaxed: figures for people.
        ret->accepted += lbx__load(&counts->accepted, relaxed);
        ret->refused += lbx__load(&counts->refused, relaxed);
        ret->requests += lbx__load(&counts->requests, relaxed);
        ret->rejected += lbx__load(&counts->rejected, relaxed);
        ret->bytes_in += lbx__load(&counts->bytes_in, relaxed);
        ret->bytes_out += lbx__load(&counts->bytes_out, relaxed);
    }
}

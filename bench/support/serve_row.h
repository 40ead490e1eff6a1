/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short ways to make a row of the daemon; everything such a program includes.
 * A figure is the time of one request, as the clock on the wall has it, with
 * one thread of ours that sends on all connections; beside it stand requests a
 * second.
 */
#ifndef BENCH_SUPPORT_SERVE_ROW_H
#define BENCH_SUPPORT_SERVE_ROW_H

#include "support/harness.h"
#include "support/http_load.h"
#include "support/our_server.h"
#include "support/sqs.h"
#include "support/threads.h"

namespace bench
{

constexpr int64_t second_ns = 1000000000;

inline Row
serve_row(const std::string &name, const std::string &workload)
{
    Row row;

    row.name = name;
    row.workload = workload;
    row.most_rounds = 5;    // servers are started by each
    row.limit_ms = 120000;  // and some have to be filled
    row.fixed_count = true; // rounds go by time
    row.unit = "us";
    row.beside_unit = "k requests/s";
    return row;
}

inline Sample
per_request(int64_t ns, uint64_t requests)
{
    double each = double(ns) / 1e3 / double(requests);

    return {each, 1e3 / each};
}

/* The same or other requests on all connections, for so long. `request` makes
 * a connection's next, `answered` sees its answer. */
template <class Request, class Answered>
Sample
drive(HttpLoad &load, int64_t ns, Request request, Answered answered)
{
    int64_t start = now_ns(), until = start + ns;
    uint64_t count = 0;

    load.run(
        [&](std::size_t i) -> const std::string * {
            return now_ns() < until ? &request(i) : nullptr;
        },
        [&](std::size_t i, std::string_view body) {
            answered(i, body);
            count++;
        });
    return per_request(now_ns() - start, count);
}

/* One request again and again: warmed up, then measured. */
inline Sample
drive_same(HttpLoad &load, const std::string &request, int64_t warm_ns,
           int64_t ns)
{
    auto same = [&](std::size_t) -> const std::string & { return request; };
    auto ignored = [](std::size_t, std::string_view) {};

    drive(load, warm_ns, same, ignored);
    return drive(load, ns, same, ignored);
}

} // namespace bench

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Single sends to the daemon, its messages in memory. */
#include "peers/elasticmq.h"
#include "peers/fauxqs.h"
#include "support/serve_row.h"
#include "support/turns.h"

using namespace bench;

namespace
{

constexpr std::size_t connections = 16;
constexpr std::size_t body_bytes = 100;
constexpr int64_t measured_ns = second_ns * 7 / 10;
constexpr int64_t warm_ns = second_ns / 5;
constexpr int64_t compiled_ns = 2 * second_ns; // until a peer is compiled
const char *const queue = "letters";

std::string
body()
{
    return std::string(body_bytes, 'x');
}

Sample
sends(int port, const Sqs &sqs, int64_t first_ns)
{
    HttpLoad load(port, connections);

    load.call(sqs.create(queue));
    return drive_same(load, sqs.send(queue, body()), first_ns, measured_ns);
}

/* Beside some that are queued, so that none finds the queue empty. */
Sample
turns(int port, const Sqs &sqs, int64_t first_ns)
{
    HttpLoad load(port, connections);
    std::string send = sqs.send(queue, body());

    load.call(sqs.create(queue));
    for (std::size_t i = 0; i < 10 * connections; i++)
        load.call(send);
    Turns cycle(sqs, queue, body(), connections);
    cycle.drive(load, first_ns);
    return cycle.drive(load, measured_ns);
}

using Work = Sample (*)(int port, const Sqs &sqs, int64_t first_ns);

Sample
ours_at(Work work)
{
    Server server(serve_command("memory:"));

    return work(server.port(), JsonSqs(server.port()), warm_ns);
}

Sample
empty_answers()
{
    Server server(empty_answer_command());

    return sends(server.port(), JsonSqs(server.port()), warm_ns);
}

void
add_ours(Row &row, Work work)
{
    add(row, Side::ours, "letterbox", "JSON", "memory store",
        [=] { return ours_at(work); });
}

Row
empty_row()
{
    Row row = serve_row("serve-send",
                        "daemon, memory store: SendMessage in JSON, 100 B, 16 "
                        "keep-alive connections");

    row.goal = 0.5;
    row.limit = 25;
    row.goal_text = "at least 40 k/s, and 0.5 x the rate of empty answers";
    add_ours(row, sends);
    add(row, Side::peer, "empty answer", "JSON",
        "the same requests, the same HTTP stack, nothing behind it",
        empty_answers);
    return row;
}

Row
others_row(const char *name, const char *workload, Work work)
{
    Row row = serve_row(name, workload);

    row.goal_text = "none set: what can be had besides";
    add_ours(row, work);
    if (!Fauxqs::is_there())
        row.missing.push_back("fauxqs");
    else
        add(row, Side::peer, "fauxqs", "JSON", "2.4.1, its log is off", [=] {
            Fauxqs peer;

            return work(peer.port, JsonSqs(peer.port), compiled_ns);
        });
    if (!ElasticMq::is_there())
        row.missing.push_back("ElasticMQ");
    else
        add(row, Side::peer, "ElasticMQ", "Query", "0.7.1, which has no JSON",
            [=] {
                ElasticMq peer;

                return work(peer.port, QuerySqs(peer.port), compiled_ns);
            });
    return row;
}

const char *const banner =
    "One thread sends on 16 keep-alive connections, on each a request after\n"
    "the answer of the one before. The daemon and the empty answers run on "
    "all\n"
    "processors. Peers that compile while they run have 2 s for it before\n"
    "they are measured; starting does not count.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(
        argc, argv, "serve/sends", banner,
        {
            empty_row,
            [] {
                return others_row(
                    "serve-send-others",
                    "the same, against other SQS servers in memory", sends);
            },
            [] {
                return others_row("serve-turn-others",
                                  "the same: receive one, delete it, send one; "
                                  "per request",
                                  turns);
            },
        });
}

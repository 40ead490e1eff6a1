/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon beside more and more messages and queues, all in memory. */
#include "support/serve_row.h"
#include "support/turns.h"

using namespace bench;

namespace
{

constexpr std::size_t connections = 16;
constexpr int64_t measured_ns = second_ns * 7 / 10;
constexpr int64_t warm_ns = second_ns / 5;

std::string
body()
{
    return std::string(100, 'x');
}

std::string
short_number(uint64_t n)
{
    if (n >= 1000000)
        return std::to_string(n / 1000000) + " M";
    if (n >= 1000)
        return std::to_string(n / 1000) + " k";
    return std::to_string(n);
}

/* Each request once, on all connections. */
void
send_all(HttpLoad &load, uint64_t count,
         const std::function<const std::string &(uint64_t)> &request)
{
    uint64_t at = 0;

    load.run(
        [&](std::size_t) -> const std::string * {
            return at < count ? &request(at++) : nullptr;
        },
        [](std::size_t, std::string_view) {});
}

/* Beside a request's cost, what it takes of the daemon's processors. */
template <class Drive>
Sample
with_cpu(const Server &server, Drive drive)
{
    int64_t start = now_ns(), before = server.cpu_ns();
    Sample sample = drive();
    double busy = double(server.cpu_ns() - before);

    return {sample.cost, sample.cost * busy / double(now_ns() - start)};
}

/* ---- Messages ---- */

/* Of requests of all three kinds, beside so many messages. */
Sample
turns_beside(uint64_t messages)
{
    Server server(serve_command("memory:"));
    JsonSqs sqs(server.port());
    HttpLoad load(server.port(), connections);
    std::string batch = sqs.send_batch("letters", body());

    load.call(sqs.create("letters"));
    send_all(load, messages / 10,
             [&](uint64_t) -> const std::string & { return batch; });
    Turns turns(sqs, "letters", body(), connections);
    turns.drive(load, warm_ns);
    return with_cpu(server, [&] { return turns.drive(load, measured_ns); });
}

Row
queued()
{
    uint64_t most = settings.full ? 1000000 : 100000;
    Row row = serve_row("serve-queued", "daemon, memory store: receive one, "
                                        "delete it, send one, beside " +
                                            short_number(most) + " queued");

    row.best_of = false;
    row.goal = 1 / 1.5;
    row.goal_text = "at most 1.5 x the cost beside 1 k queued";
    row.beside_unit = "us of the daemon's processors";
    for (uint64_t messages : {most, uint64_t(1000)})
        row.contestants.push_back({messages == most ? Side::ours : Side::peer,
                                   short_number(messages) + " queued", "JSON",
                                   "per request",
                                   [=] { return turns_beside(messages); }});
    return row;
}

/* ---- Queues ---- */

Sample
sends_over(uint64_t queues)
{
    Server server(serve_command("memory:"));
    JsonSqs sqs(server.port());
    HttpLoad load(server.port(), connections);
    std::vector<std::string> creates, sends;
    uint64_t at = 0;

    for (uint64_t i = 0; i < queues; i++) {
        std::string name = "queue-" + std::to_string(i);

        creates.push_back(sqs.create(name));
        sends.push_back(sqs.send(name, body()));
    }
    for (const std::vector<std::string> &requests : {creates, sends})
        send_all(load, queues, [&](uint64_t i) -> const std::string & {
            return requests[i];
        });
    auto request = [&](std::size_t) -> const std::string & {
        return sends[at++ % queues];
    };
    auto ignored = [](std::size_t, std::string_view) {};
    drive(load, warm_ns, request, ignored);
    return with_cpu(server,
                    [&] { return drive(load, measured_ns, request, ignored); });
}

Row
queues()
{
    Row row = serve_row("serve-queues", "daemon, memory store: SendMessage to "
                                        "10 k queues in turn, 100 B");

    row.best_of = false;
    row.goal = 1 / 1.5;
    row.goal_text = "at most 1.5 x the cost with one queue";
    row.beside_unit = "us of the daemon's processors";
    for (uint64_t count : {10000, 1, 100}) {
        Side side = count == 10000 ? Side::ours
                    : count == 1   ? Side::peer
                                   : Side::less;

        row.contestants.push_back(
            {side, short_number(count) + (count == 1 ? " queue" : " queues"),
             "JSON", "per request", [=] { return sends_over(count); }});
    }
    return row;
}

const char *const banner =
    "16 connections, on each a request after the answer of the one before, to\n"
    "the same daemon with more and with fewer messages, and queues. What is\n"
    "against the least size is not another program, but ours.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "serve/growth", banner, {queued, queues});
}

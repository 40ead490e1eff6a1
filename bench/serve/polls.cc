/* SPDX-License-Identifier: Apache-2.0 */
/* Ten thousand long polls at the daemon: what they take while nothing comes,
 * and how soon one ends when something does. */
#include "support/memory.h"
#include "support/serve_row.h"
#include <algorithm>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>

using namespace bench;

namespace
{

constexpr std::size_t queues = 100;
constexpr std::size_t wakes = 1000;
constexpr int wait_s = 20;
constexpr rlim_t spare_descriptors = 200;

/* As many as this process may have descriptors, and the daemon too. */
std::size_t
poll_count()
{
    rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        fail("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        fail("setrlimit");
    if (limit.rlim_max == RLIM_INFINITY)
        return 10000;
    return std::min<std::size_t>(10000, limit.rlim_max - spare_descriptors);
}

std::string
queue_of(std::size_t poll)
{
    return "queue-" + std::to_string(poll % queues);
}

/* A daemon and its polls, all of which wait. */
struct World {
    explicit World(std::size_t count)
        : server(serve_command(
              "memory:", {"--max-connections", std::to_string(count + 100)})),
          sqs(server.port()), caller(server.port(), 1)
    {
        for (std::size_t i = 0; i < queues; i++) {
            caller.call(sqs.create(queue_of(i)));
            requests.push_back(sqs.receive_waiting(queue_of(i), wait_s));
        }
        before_bytes = resident_bytes(server.pid());
        polls = std::make_unique<HttpLoad>(server.port(), count);
        for (std::size_t i = 0; i < count; i++)
            polls->send(i, requests[i % queues]);
        settle();
    }

    /* Until the daemon has read all of them: then it is idle for a while, also
     * on a machine that is busy with others. */
    void settle()
    {
        for (int quiet = 0; quiet < 3; quiet++) {
            int64_t last = server.cpu_ns();

            usleep(100000);
            if (server.cpu_ns() - last > 1000000)
                quiet = -1;
        }
    }

    Server server;
    JsonSqs sqs;
    HttpLoad caller;
    std::vector<std::string> requests;
    std::unique_ptr<HttpLoad> polls;
    double before_bytes = 0;
};

Sample
idle_cpu(std::size_t count)
{
    World world(count);
    int64_t start = now_ns(), before = world.server.cpu_ns();

    usleep(2000000);
    double busy = double(world.server.cpu_ns() - before);
    return {100 * busy / double(now_ns() - start), 0};
}

Sample
idle_memory(std::size_t count)
{
    World world(count);
    double bytes = resident_bytes(world.server.pid()) - world.before_bytes;

    return {bytes / 1024 / double(count), 0};
}

/* From a send until a poll of its queue has the message. That poll waits again
 * before the next send. */
Sample
wake_up(std::size_t count)
{
    World world(count);
    std::vector<double> times;

    for (std::size_t i = 0; i < wakes; i++) {
        std::string message = world.sqs.send(queue_of(i), "wake up");
        int64_t start = now_ns();
        bool woken = false;

        world.caller.call(message);
        while (!woken)
            world.polls->wait(-1, [&](std::size_t poll, std::string_view body) {
                if (body.find("wake up") != std::string_view::npos) {
                    times.push_back(double(now_ns() - start) / 1e6);
                    woken = true;
                }
                world.polls->send(poll, world.requests[poll % queues]);
            });
    }
    std::sort(times.begin(), times.end());
    return {times[wakes * 99 / 100], times[wakes / 2]};
}

Row
polls_row(const char *name, const char *what, const char *unit, double limit,
          Sample (*round)(std::size_t))
{
    std::size_t count = poll_count();
    Row row = serve_row(name, "daemon, memory store: " + std::to_string(count) +
                                  " long polls on 100 queues: " + what);

    row.unit = unit;
    row.limit = limit;
    row.beside_unit = "";
    row.contestants.push_back(
        {Side::ours, "letterbox", "JSON", "", [=] { return round(count); }});
    return row;
}

Row
cpu()
{
    Row row = polls_row("serve-polls-cpu",
                        "the daemon's time on processors while they wait", "%",
                        1, idle_cpu);

    row.goal_text = "less than 1 % of a processor";
    return row;
}

Row
memory()
{
    Row row = polls_row("serve-polls-memory", "resident memory of each", "KiB",
                        20, idle_memory);

    row.goal_text = "at most 20 KiB each";
    return row;
}

Row
wake()
{
    Row row = polls_row("serve-polls-wake",
                        "from a send until one of them has the message, what "
                        "99 of 100 do not exceed",
                        "ms", 20, wake_up);

    row.goal_text = "less than 20 ms";
    row.beside_unit = "ms in the middle";
    return row;
}

const char *const banner =
    "Each of the connections has a long poll of 20 s on one of 100 queues.\n"
    "Messages come one at a time; a poll that has one waits again.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "serve/polls", banner, {cpu, memory, wake});
}

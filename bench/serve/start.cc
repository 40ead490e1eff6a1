/* SPDX-License-Identifier: Apache-2.0 */
/* How soon the daemon is ready, and what it takes of memory then. */
#include "peers/fauxqs.h"
#include "support/memory.h"
#include "support/post_row.h"
#include "support/serve_row.h"

using namespace bench;

namespace
{

constexpr std::size_t creators = 64;
constexpr int queues = 10000;
const char *const health = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

Sample
ready(int64_t start, pid_t pid)
{
    double ms = double(now_ns() - start) / 1e6;

    return {ms, resident_bytes(pid) / (1 << 20)};
}

/* From the start of the process until its first answer. `first` makes that
 * request. */
template <class First>
Sample
start_up(const std::string &place, First first)
{
    int64_t start = now_ns();
    Server server(serve_command(file_url(place)));
    HttpLoad load(server.port(), 1);

    load.call(first(JsonSqs(server.port())));
    return ready(start, server.pid());
}

Row
start_row(const std::string &name, const std::string &what)
{
    Row row =
        serve_row(name, "daemon: from its start to its first answer, " + what);

    row.unit = "ms";
    row.beside_unit = "MiB resident";
    return row;
}

std::string
ask_health(const JsonSqs &)
{
    return health;
}

/* ---- Without messages ---- */

Sample
fauxqs_start()
{
    int64_t start = now_ns();
    Fauxqs peer;
    HttpLoad load(peer.port, 1);

    load.call(health);
    return ready(start, peer.pid());
}

Row
empty()
{
    Row row = start_row("serve-start", "file store, empty");

    row.limit = 20;
    row.beside_goal = 8;
    row.goal_text = "less than 20 ms, less than 8 MiB";
    row.prepare = [] { start_up("empty", ask_health); };
    add(row, Side::ours, "letterbox", "empty store", "",
        [] { return start_up("empty", ask_health); });
    if (Fauxqs::is_there())
        add(row, Side::peer, "fauxqs", "in memory", "", fauxqs_start);
    else
        row.missing.push_back("fauxqs");
    return row;
}

Row
fresh_store()
{
    Row row = start_row("serve-start-new", "in a new folder");

    row.goal_text = "none set: the store is made, and synced";
    add(row, Side::ours, "letterbox", "new store", "", [] {
        fresh_folder("new");
        return start_up("new", ask_health);
    });
    return row;
}

/* ---- With much on the disk ---- */

Row
letters()
{
    uint64_t count = settings.full ? 1000000 : 100000;
    Row row = start_row("serve-start-letters",
                        std::to_string(count) + " letters in a file store");

    row.limit = 1000;
    row.goal_text = "less than 1 s until one of them is received";
    row.prepare = [=] {
        Store store(file_url("letters"), LBX_DURABILITY_PROCESS);
        Box box(store, "letters", 100);

        send_with_fleet(box, under_way, batch_most, count);
    };
    add(row, Side::ours, "letterbox", "file store", "", [] {
        return start_up("letters", [](const JsonSqs &sqs) {
            return sqs.receive("letters");
        });
    });
    return row;
}

std::string
queue_name(int i)
{
    return "queue-" + std::to_string(i);
}

void
create_queues()
{
    Server server(
        serve_command(file_url("queues"), {"--durability", "process"}));
    JsonSqs sqs(server.port());
    HttpLoad load(server.port(), creators);
    std::vector<std::string> requests;
    std::size_t at = 0;

    for (int i = 0; i < queues; i++)
        requests.push_back(sqs.create(queue_name(i)));
    load.run(
        [&](std::size_t) -> const std::string * {
            return at < requests.size() ? &requests[at++] : nullptr;
        },
        [](std::size_t, std::string_view) {});
}

Row
many_queues()
{
    Row row = start_row("serve-start-queues", "10,000 queues in a file store");

    row.limit = 1000;
    row.goal_text = "less than 1 s until one of them has taken a message";
    row.prepare = create_queues;
    add(row, Side::ours, "letterbox", "file store", "", [] {
        return start_up("queues", [](const JsonSqs &sqs) {
            return sqs.send(queue_name(queues - 1), "first");
        });
    });
    return row;
}

const char *const banner =
    "The time is that from fork to the first answer, by a client that\n"
    "connects when the daemon has printed its address; memory is what is\n"
    "resident after that answer, shared libraries included.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "serve/start", banner,
                    {empty, fresh_store, letters, many_queues});
}

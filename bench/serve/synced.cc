/* SPDX-License-Identifier: Apache-2.0 */
/* Sends to the daemon that are on the disk before they are answered. */
#include "support/post_row.h"
#include "support/serve_row.h"
#include <fcntl.h>
#include <unistd.h>

using namespace bench;

namespace
{

constexpr std::size_t body_bytes = 1024;
constexpr int64_t measured_ns = second_ns;
constexpr int64_t warm_ns = second_ns / 5;
const char *const box_name = "letters";

std::string
url()
{
    return file_url("synced");
}

/* Once for all rows of this run. */
void
use_once()
{
    std::string mark = folder("used") + "/done";

    if (access(mark.c_str(), F_OK) == 0)
        return;
    use_store(url(), box_name, body_bytes);
    close(open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

Sample
daemon_sends(std::size_t connections)
{
    Sample sample;
    {
        Server server(serve_command(url()));
        JsonSqs sqs(server.port());
        HttpLoad load(server.port(), connections);

        sample =
            drive_same(load, sqs.send(box_name, std::string(body_bytes, 'x')),
                       warm_ns, measured_ns);
    }
    empty_box(url(), box_name);
    return sample;
}

/* What HTTP takes of it: the same connections and requests. */
Sample
empty_answers(std::size_t connections)
{
    Server server(empty_answer_command());
    JsonSqs sqs(server.port());
    HttpLoad load(server.port(), connections);

    return drive_same(load, sqs.send(box_name, std::string(body_bytes, 'x')),
                      warm_ns, measured_ns);
}

Sample
library_sends(std::size_t fleet)
{
    const uint64_t letters = scaled(20000);
    Sample sample;
    {
        Store store(url(), LBX_DURABILITY_POWER_CUT);
        Box box(store, box_name, body_bytes);

        send_with_fleet(box, fleet, 1, letters / 5);
        int64_t start = now_ns();
        send_with_fleet(box, fleet, 1, letters);
        sample = per_request(now_ns() - start, letters);
    }
    empty_box(url(), box_name);
    return sample;
}

Row
synced(std::size_t connections)
{
    std::string number = std::to_string(connections);
    Row row = serve_row("serve-synced-" + number,
                        "daemon, file store: synced SendMessage, 1 KiB, " +
                            number + " connections");

    row.prepare = use_once;
    row.goal = 0.5;
    row.goal_text = "HTTP costs less than the disk: at least 0.5 x the "
                    "library's rate";
    add(row, Side::ours, "letterbox serve", "synced", "JSON",
        [=] { return daemon_sends(connections); });
    add(row, Side::peer, "library", "synced",
        "as many sends under way from one thread, no HTTP",
        [=] { return library_sends(connections); });
    add(row, Side::less, "empty answer", "no disk", "HTTP alone",
        [=] { return empty_answers(connections); });
    return row;
}

const char *const banner =
    "Letters of 1 KiB; every answer is on the disk before it is given. The\n"
    "peer is our own library in this process, with as many sends under way as\n"
    "the daemon has connections, on the same store, which has been filled and\n"
    "drained before.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "serve/synced", banner,
                    {
                        [] { return synced(16); },
                        [] { return synced(64); },
                        [] { return synced(256); },
                    });
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory, in one thread: letters through all of their life. */
#include "peers/lists.h"
#include "support/post_row.h"

using namespace bench;

namespace
{

constexpr std::size_t body_bytes = 100;
constexpr uint64_t queued = 1000;

/* By the thread's own time: nobody else is needed. */
Sample
turn(bool batches)
{
    const uint64_t letters = scaled(300000) / batch_most * batch_most;
    Store store("memory:");
    Box box(store, "letters", body_bytes);

    box.fill(queued);
    int64_t start = thread_cpu_ns();
    if (batches)
        for (uint64_t i = 0; i < letters; i += batch_most)
            box.turn_batch();
    else
        for (uint64_t i = 0; i < letters; i++)
            box.turn_one();
    Sample sample = per_letter(thread_cpu_ns() - start, letters);
    if (box.letters() != queued)
        fail("letters lost or doubled");
    return sample;
}

Sample
lists()
{
    const uint64_t letters = scaled(1000000);
    std::string body(body_bytes, 'x');
    Lists queue;

    for (uint64_t i = 0; i < queued; i++)
        queue.send(body);
    int64_t start = thread_cpu_ns();
    for (uint64_t i = 0; i < letters; i++) {
        queue.send(body);
        queue.acknowledge(queue.receive());
    }
    return per_letter(thread_cpu_ns() - start, letters);
}

Row
memory(const char *name, const char *workload, bool batches)
{
    Row row = post_row(name, workload);

    row.limit = 1000;
    row.goal_text = "at least 1 M letters a second: at most 1,000 ns";
    add(row, Side::ours, "letterbox", batches ? "bulk" : "single",
        "ids, counts, sums of rows, a lease of 30 s; any thread may call",
        [=] { return turn(batches); });
    add(row, Side::less, "list, hash, heap", "single", "and no more", lists);
    return row;
}

const char *const banner =
    "One thread sends, receives and acknowledges letters of 100 B in memory,\n"
    "while 1,000 others are queued. The peer is what any such queue must do\n"
    "at least: a copy into a list, one into a hash, a place in a heap.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(
        argc, argv, "post/memory", banner,
        {
            [] {
                return memory("memory-single",
                              "memory: send, receive, acknowledge, one letter "
                              "at a time, 100 B",
                              false);
            },
            [] {
                return memory("memory-batch",
                              "memory: send, receive, acknowledge, batches of "
                              "10, 100 B",
                              true);
            },
        });
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The store in files where an OK survives the process, not a power cut. */
#include "peers/lmdb.h"
#include "support/post_row.h"
#ifdef HAVE_BEANSTALKD
#include "peers/beanstalkd.h"
#endif
#ifdef HAVE_REDIS
#include "peers/redis.h"
#endif

using namespace bench;

namespace
{

constexpr std::size_t body_bytes = 100;

std::string
place(const char *what, uint64_t queued)
{
    return std::string(what) + "-" + std::to_string(queued);
}

void
fill(uint64_t queued)
{
    Store store(file_url(place("process", queued)), LBX_DURABILITY_PROCESS);
    Box box(store, "letters", body_bytes);

    use_store(file_url(place("process", queued)), "letters", body_bytes);
    send_with_fleet(box, under_way, batch_most, queued);

    Lmdb lmdb(folder(place("lmdb", queued)), false);
    for (uint64_t i = 0; i < queued; i += 1000) {
        lmdb.begin();
        lmdb.send(box.body, 1000);
        lmdb.commit();
    }
}

/* Send, receive, acknowledge, by batches; so many are under way. */
Sample
ours(uint64_t queued, std::size_t batches)
{
    const uint64_t letters = scaled(50000) / batch_most * batch_most;
    Store store(file_url(place("process", queued)), LBX_DURABILITY_PROCESS);
    Box box(store, "letters", body_bytes);
    Sample sample = timed(letters, [&] {
        if (batches > 1)
            turn_with_fleet(box, batches, letters);
        else
            for (uint64_t i = 0; i < letters; i += batch_most)
                box.turn_batch();
    });

    if (box.letters() != queued)
        fail("letters lost or doubled");
    return sample;
}

Sample
lmdb(uint64_t queued)
{
    const uint64_t letters = scaled(50000) / batch_most * batch_most;
    Lmdb lmdb(folder(place("lmdb", queued)), false);
    std::string body(body_bytes, 'x');
    uint64_t numbers[batch_most];

    return timed(letters, [&] {
        for (uint64_t i = 0; i < letters; i += batch_most) {
            lmdb.begin();
            lmdb.send(body, batch_most);
            lmdb.commit();
            lmdb.begin();
            lmdb.lease(numbers, batch_most);
            lmdb.commit();
            lmdb.begin();
            lmdb.acknowledge(numbers, batch_most);
            lmdb.commit();
        }
    });
}

template <class Peer>
Sample
daemon(Peer &peer, uint64_t queued, uint64_t letters)
{
    constexpr std::size_t group = under_way * batch_most;
    std::string body(body_bytes, 'x');

    for (uint64_t i = 0; i < queued; i += 500)
        peer.put(body, 500);
    letters = letters / group * group;
    return timed(letters, [&] {
        for (uint64_t i = 0; i < letters; i += group) {
            peer.put(body, group);
            peer.take(group);
        }
    });
}

Row
unsynced(const char *name, const char *workload, uint64_t queued, double limit,
         const char *goal_text)
{
    Row row = post_row(name, workload);

    row.prepare = [=] { fill(queued); };
    row.limit = limit;
    row.goal_text = goal_text;
    add(row, Side::ours, "letterbox", "a batch at a time", "calls that wait",
        [=] { return ours(queued, 1); });
    add(row, Side::ours, "letterbox", "6 batches", "operations",
        [=] { return ours(queued, under_way); });
    add(row, Side::less, "lmdb", "a batch at a time",
        "no sync: may damage its file in a power cut",
        [=] { return lmdb(queued); });
#ifdef HAVE_BEANSTALKD
    if (queued <= 10000) // a million would take it longer than a round
        add(row, Side::less, "beanstalkd", "pipelined", "memory, over a socket",
            [=] {
                Beanstalkd peer(false, 1);

                return daemon(peer, queued, scaled(20000));
            });
#endif
#ifdef HAVE_REDIS
    add(row, Side::less, "redis", "pipelined", "memory, over a socket", [=] {
        Redis peer(false);

        return daemon(peer, queued, scaled(20000));
    });
#endif
    return row;
}

const char *const banner =
    "Letters of 100 B are sent, received and acknowledged in batches of 10,\n"
    "while others are queued before them. Ours writes its journal and does "
    "not\n"
    "wait for the disk: what was answered survives kill -9. LMDB is told not\n"
    "to sync. The servers keep everything in memory and are written to ahead\n"
    "of their answers, 60 letters at a time.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(
        argc, argv, "post/unsynced", banner,
        {
            [] {
                return unsynced(
                    "file-process-10k",
                    "files, no sync: send, receive, acknowledge, batches of "
                    "10, 100 B, 10 k queued",
                    10000, 1e9 / 300e3,
                    "at least 300 k letters a second: at most 3,333 ns");
            },
            [] {
                return unsynced(
                    "file-process-1m",
                    "files, no sync: send, receive, acknowledge, batches of "
                    "10, 100 B, 1 M queued",
                    1000000, 1e9 / 120e3,
                    "at least 120 k letters a second: at most 8,333 ns");
            },
        });
}

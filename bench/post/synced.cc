/* SPDX-License-Identifier: Apache-2.0 */
/* The store in files where an OK survives a power cut, from one process. */
#include "peers/lmdb.h"
#include "peers/raw_log.h"
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

constexpr std::size_t body_bytes = 1024;
const char *const box_name = "letters";

std::string
body()
{
    return std::string(body_bytes, 'x');
}

uint64_t
many()
{
    return scaled(30000);
}

uint64_t
few()
{
    return scaled(1500);
}

std::string
url()
{
    return file_url("synced");
}

void
use_lmdb()
{
    Lmdb lmdb(folder("lmdb"), false);
    uint64_t numbers[batch_most];

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 2000; j++) {
            lmdb.begin();
            lmdb.send(body(), batch_most);
            lmdb.commit();
        }
        for (int j = 0; j < 2000; j++) {
            lmdb.begin();
            lmdb.lease(numbers, batch_most);
            lmdb.acknowledge(numbers, batch_most);
            lmdb.commit();
        }
    }
}

/* Once for all rows of this run. */
void
use_all()
{
    std::string mark = folder("used") + "/done";

    if (access(mark.c_str(), F_OK) == 0)
        return;
    use_store(url(), box_name, body_bytes);
    use_lmdb();
    RawLog log(folder("raw-log"));
    close(open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* ---- Sends ---- */

Sample
our_sends(std::size_t fleet, std::size_t each, uint64_t letters)
{
    Sample sample;
    {
        Store store(url(), LBX_DURABILITY_POWER_CUT);
        Box box(store, box_name, body_bytes);

        sample =
            timed(letters, [&] { send_with_fleet(box, fleet, each, letters); });
        if (box.letters() != letters)
            fail("letters lost or doubled");
    }
    empty_box(url(), box_name);
    return sample;
}

Sample
our_single_sends(uint64_t letters)
{
    Sample sample;
    {
        Store store(url(), LBX_DURABILITY_POWER_CUT);
        Box box(store, box_name, body_bytes);

        sample = timed(letters, [&] {
            for (uint64_t i = 0; i < letters; i++)
                box.send();
        });
    }
    empty_box(url(), box_name);
    return sample;
}

Sample
log_sends(std::size_t group, uint64_t letters)
{
    RawLog log(folder("raw-log"));
    std::string text = body();

    letters = letters / group * group;
    return timed(letters, [&] {
        for (uint64_t i = 0; i < letters; i += group) {
            for (std::size_t j = 0; j < group; j++)
                log.send(text);
            log.commit();
        }
    });
}

Sample
lmdb_sends(std::size_t group, uint64_t letters)
{
    Lmdb lmdb(folder("lmdb"), true);
    std::string text = body();

    letters = letters / group * group;
    Sample sample = timed(letters, [&] {
        for (uint64_t i = 0; i < letters; i += group) {
            lmdb.begin();
            lmdb.send(text, group);
            lmdb.commit();
        }
    });
    lmdb.empty();
    return sample;
}

void
add_log(Row &row, Side side, std::size_t group, uint64_t (*letters)())
{
    add(row, side, "raw log", "synced", "no tree, no sums, no second process",
        [=] { return log_sends(group, letters()); });
}

void
add_lmdb(Row &row, std::size_t group)
{
    add(row, Side::less, "lmdb", "synced", "no journal before it",
        [=] { return lmdb_sends(group, scaled(6000)); });
}

#ifdef HAVE_BEANSTALKD
Sample
beanstalkd_sends(std::size_t connections, std::size_t group)
{
    uint64_t letters = few() / group * group;
    Beanstalkd peer(true, connections);
    std::string text = body();

    return timed(letters, [&] {
        for (uint64_t i = 0; i < letters; i += group)
            peer.put(text, group);
    });
}
#endif

Row
sends(const char *name, const char *workload, std::size_t fleet,
      std::size_t each)
{
    Row row = post_row(name, workload);
    std::size_t group = fleet * each;

    row.prepare = use_all;
    row.goal = 0.65;
    row.goal_text = "at least 0.65 x the raw log's speed";
    add(row, Side::ours, "letterbox", "synced",
        "operations from one thread; journal, then LMDB",
        [=] { return our_sends(fleet, each, many()); });
    add_log(row, Side::peer, group, many);
    add_lmdb(row, group);
    return row;
}

Row
sends_and_daemons(const char *name, const char *workload)
{
    Row row = post_row(name, workload);

    row.prepare = use_all;
    row.goal = 20;
    row.goal_text = "at least 20 x beanstalkd -f0";
    add(row, Side::ours, "letterbox", "synced", "operations from one thread",
        [] { return our_sends(sends_under_way, 1, many()); });
#ifdef HAVE_BEANSTALKD
    add(row, Side::peer, "beanstalkd -f0", "64 puts on a connection",
        "a sync for each", [] { return beanstalkd_sends(1, sends_under_way); });
    add(row, Side::peer, "beanstalkd -f0", "64 connections", "a sync for each",
        [] { return beanstalkd_sends(sends_under_way, sends_under_way); });
#endif
    return row;
}

#ifdef HAVE_REDIS
Row
sends_and_redis()
{
    Row row =
        post_row("file-send-64-redis",
                 "files: synced sends, 64 under way, 1 KiB, against Redis");

    row.prepare = use_all;
    row.goal_text = "none set: a list in memory with a log of commands";
    add(row, Side::ours, "letterbox", "synced", "operations from one thread",
        [] { return our_sends(sends_under_way, 1, many()); });
    add(row, Side::peer, "redis appendfsync always", "64 RPUSH on a connection",
        "one sync for all that have come", [] {
            uint64_t letters = many() / sends_under_way * sends_under_way;
            Redis peer(true);
            std::string text = body();

            return timed(letters, [&] {
                for (uint64_t i = 0; i < letters; i += sends_under_way)
                    peer.put(text, sends_under_way);
            });
        });
    return row;
}
#endif

Row
one_sender()
{
    Row row =
        post_row("file-send-1", "files: synced sends, one at a time, 1 KiB");

    row.prepare = use_all;
    row.goal = 0.85;
    row.goal_text = "at least 0.85 x the raw log's speed";
    add(row, Side::ours, "letterbox", "synced", "a call that waits",
        [] { return our_single_sends(few()); });
    add_log(row, Side::peer, 1, few);
#ifdef HAVE_BEANSTALKD
    add(row, Side::less, "beanstalkd -f0", "synced", "over a socket",
        [] { return beanstalkd_sends(1, 1); });
#endif
    return row;
}

/* ---- Leases and acknowledgements ---- */

Sample
our_drain(uint64_t letters)
{
    {
        Store store(url(), LBX_DURABILITY_PROCESS);
        Box box(store, box_name, body_bytes);

        send_with_fleet(box, under_way, batch_most, letters);
    }
    Store store(url(), LBX_DURABILITY_POWER_CUT);
    Box box(store, box_name, body_bytes);

    Sample sample =
        timed(letters, [&] { drain_with_fleet(box, under_way, letters); });
    if (box.letters() != 0)
        fail("letters are left");
    return sample;
}

Sample
log_drain(uint64_t letters)
{
    constexpr std::size_t group = under_way * batch_most;
    RawLog log(folder("raw-log"));
    std::string text = body();
    uint64_t numbers[group];

    letters = letters / group * group;
    for (uint64_t i = 0; i < letters; i++) {
        log.send(text);
        if (i % 1000 == 999)
            log.commit();
    }
    log.commit();
    return timed(letters, [&] {
        for (uint64_t i = 0; i < letters; i += group) {
            for (uint64_t &number : numbers)
                number = log.lease();
            log.commit();
            for (uint64_t number : numbers)
                log.acknowledge(number);
            log.commit();
        }
    });
}

Sample
lmdb_drain(uint64_t letters)
{
    constexpr std::size_t group = under_way * batch_most;
    std::string text = body();
    uint64_t numbers[group];

    letters = letters / group * group;
    {
        Lmdb lmdb(folder("lmdb"), false);

        for (uint64_t i = 0; i < letters; i += group) {
            lmdb.begin();
            lmdb.send(text, group);
            lmdb.commit();
        }
    }
    Lmdb lmdb(folder("lmdb"), true);

    return timed(letters, [&] {
        for (uint64_t i = 0; i < letters; i += group) {
            lmdb.begin();
            lmdb.lease(numbers, group);
            lmdb.commit();
            lmdb.begin();
            lmdb.acknowledge(numbers, group);
            lmdb.commit();
        }
    });
}

#ifdef HAVE_BEANSTALKD
Sample
beanstalkd_drain()
{
    constexpr std::size_t group = under_way * batch_most;
    uint64_t letters = few() / group * group;
    Beanstalkd peer(true, 1);

    for (uint64_t i = 0; i < letters; i += group)
        peer.put(body(), group);
    return timed(letters, [&] {
        for (uint64_t i = 0; i < letters; i += group)
            peer.take(group);
    });
}
#endif

Row
drain()
{
    Row row = post_row("file-settle-10",
                       "files: lease and acknowledge, both synced, 6 batches "
                       "of 10 under way, 1 KiB");

    row.prepare = use_all;
    row.goal = 0.65;
    row.goal_text = "at least 0.65 x the raw log's speed";
    add(row, Side::ours, "letterbox", "synced", "two answers a letter",
        [] { return our_drain(many()); });
    add(row, Side::peer, "raw log", "synced", "two records a letter",
        [] { return log_drain(many()); });
    add(row, Side::less, "lmdb", "synced", "two commits for 60 letters",
        [] { return lmdb_drain(scaled(6000)); });
#ifdef HAVE_BEANSTALKD
    add(row, Side::less, "beanstalkd -f0", "pipelined",
        "reserves are not logged", beanstalkd_drain);
#endif
    return row;
}

const char *const banner =
    "Letters of 1 KiB; every answer is on the disk before it is given. Ours "
    "is\n"
    "a store that has been filled and drained before, driven by operations\n"
    "from one thread. The raw log appends to a preallocated file, one write\n"
    "and one fdatasync for all that is under way, and keeps lists in memory:\n"
    "it is the limit, not a store. Servers listen on 127.0.0.1, with their\n"
    "files on the same disk.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(
        argc, argv, "post/synced", banner,
        {
            [] {
                return sends("file-send-64",
                             "files: synced sends, 64 under way, 1 KiB",
                             sends_under_way, 1);
            },
            [] {
                return sends("file-send-10",
                             "files: synced sends, 6 batches of 10 under way, "
                             "1 KiB",
                             under_way, batch_most);
            },
            drain,
            one_sender,
            [] {
                return sends_and_daemons(
                    "file-send-64-beanstalkd",
                    "files: synced sends, 64 under way, 1 KiB, against "
                    "beanstalkd");
            },
#ifdef HAVE_REDIS
            sends_and_redis,
#endif
        });
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Eight processes that share one store in files. */
#include "peers/lmdb.h"
#include "support/post_row.h"
#include <csignal>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

using namespace bench;

namespace
{

constexpr int processes = 8;
constexpr std::size_t body_bytes = 1024;
constexpr int64_t work_ns = 800000000;

/* What the processes of a round share. */
struct Shared {
    std::atomic<int> ready;
    std::atomic<bool> go, stop;
    std::atomic<uint64_t> sent[processes];
};

/* `open` makes a function that sends a batch, in the process that sends. */
template <class Open>
[[noreturn]] void
work(Shared &shared, int index, Open open)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto sender = open();

    shared.ready++;
    while (!shared.go)
        usleep(500);
    while (!shared.stop) {
        sender->send_batch();
        shared.sent[index] += batch_most;
    }
    sender.reset();
    _exit(0);
}

/* The cost is that of a letter in all of them; beside it stands how many times
 * its fair share is what the slowest one got. */
template <class Open>
Sample
together(Open open)
{
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Shared &shared = *new (memory) Shared();
    uint64_t sum = 0, least = UINT64_MAX;

    for (int i = 0; i < processes; i++) {
        pid_t pid = fork();

        if (pid < 0)
            fail("fork");
        if (pid == 0)
            work(shared, i, open);
    }
    while (shared.ready < processes)
        usleep(500);
    int64_t start = now_ns();
    shared.go = true;
    usleep(work_ns / 1000);
    for (std::atomic<uint64_t> &sent : shared.sent) {
        uint64_t mine = sent;

        sum += mine;
        least = std::min(least, mine);
    }
    int64_t ns = now_ns() - start;
    shared.stop = true;
    for (int i = 0; i < processes; i++) {
        int status;

        if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail("one of the processes failed");
    }
    double share =
        double(sum) / processes / double(std::max<uint64_t>(least, 1));
    return {double(ns) / double(std::max<uint64_t>(sum, 1)), share};
}

struct OurSender {
    Store store{file_url("company"), LBX_DURABILITY_POWER_CUT};
    Box box{store, "letters", body_bytes};

    void send_batch()
    {
        box.send(batch_most);
    }
};

struct LmdbSender {
    Lmdb lmdb{folder("lmdb-company"), true};
    std::string body = std::string(body_bytes, 'x');

    void send_batch()
    {
        lmdb.begin();
        lmdb.send(body, batch_most);
        lmdb.commit();
    }
};

Row
company()
{
    Row row = post_row("file-8-processes",
                       "files: 8 processes share a store, synced sends in "
                       "batches of 10, 1 KiB");

    row.goal = 1;
    row.beside_unit = "x the slowest one's letters is a fair share";
    row.beside_goal = 1 / 0.3;
    row.goal_text = "at least LMDB's speed; no process below 0.3 x its fair "
                    "share";
    row.prepare = [] { use_store(file_url("company"), "letters", body_bytes); };
    add(row, Side::ours, "letterbox", "synced", "a commit of LMDB for a group",
        [] {
            Sample sample =
                together([] { return std::make_unique<OurSender>(); });

            empty_box(file_url("company"), "letters");
            return sample;
        });
    add(row, Side::peer, "lmdb", "synced", "a commit for a batch", [] {
        Sample sample = together([] { return std::make_unique<LmdbSender>(); });
        Lmdb(folder("lmdb-company"), false).empty();
        return sample;
    });
    return row;
}

const char *const banner =
    "Eight processes send batches of 10 letters of 1 KiB for 0.8 s, each "
    "waits\n"
    "until its batch is on the disk. LMDB alone is what a store shared by\n"
    "processes must do at least: one synced commit for each batch.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "post/company", banner, {company});
}

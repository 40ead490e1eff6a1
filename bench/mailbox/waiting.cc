/* SPDX-License-Identifier: Apache-2.0 */
/* Consumers that sleep when idle, producers that sleep when it is full, and
 * what sleeping costs in processor time. */
#include "peers/baseline.h"
#include "support/row.h"
#include <sys/resource.h>
#include <thread>
#include <time.h>
#ifdef HAVE_MOODYCAMEL
#include "peers/moodycamel.h"
#endif
#ifdef HAVE_TBB
#include "peers/tbb.h"
#endif
#ifdef HAVE_GLIB
#include "peers/glib.h"
#endif

using namespace bench;

namespace
{

template <class Make, class Put>
void
add_idle(Row &row, Side side, const char *name, const char *does,
         const Shape &shape, Make make, Put put)
{
    add_stream(row, side, name, "single", does, shape, make, put,
               TakeWaiting{});
}

Row
idle(const char *name, int producers, double goal)
{
    Shape shape = {producers, 1, 1000000};
    Shape slow = {producers, 1, 300000}; // for those at 100 ns and more
    auto ours = mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER);
    Row row;

    row.name = name;
    row.workload =
        "unbounded, the consumer sleeps when idle: " + shape_text(shape);
    row.goal = goal;
    row.goal_text = goal_text(goal);
    add_idle(row, Side::ours, "letterbox", ours_does, shape, ours, PutOne{});
    add_stream(row, Side::ours, "letterbox", "bulk", ours_does, shape, ours,
               PutOne{}, TakeBulkWaiting{});
#ifdef HAVE_MOODYCAMEL
    add_idle(row, Side::peer, "moodycamel-blocking", moodycamel_does, shape,
             fresh<MoodycamelBlocking>(), PutOne{});
    add_stream(row, Side::peer, "moodycamel-blocking", "bulk", moodycamel_does,
               shape, fresh<MoodycamelBlocking>(), PutOne{}, TakeBulkWaiting{});
#endif
#ifdef HAVE_TBB
    add_idle(row, Side::peer, "tbb-bounded-queue", "no close", slow,
             fresh<TbbBounded<0>>(), PutWaiting{});
#endif
#ifdef HAVE_GLIB
    add_idle(row, Side::peer, "gasyncqueue", "no close", slow, fresh<GAsync>(),
             PutOne{});
#endif
    add_idle(row, Side::peer, "mutex-condition", "no close", slow,
             fresh<MutexQueue<0>>(), PutOne{});
    return row;
}

template <class Make>
void
add_blocked(Row &row, Side side, const char *name, const char *does,
            uint64_t messages, Make make)
{
    add_stream(row, side, name, "single", does, {4, 1, messages}, make,
               PutWaiting{}, TakeWaiting{});
}

Row
blocked(const char *name, double goal, bool packaged)
{
    Row row;

    row.name = name;
    row.workload = "bounded to 64, 4 producers that sleep when it is full, 1 "
                   "consumer that sleeps when it is empty";
    row.goal = goal;
    add_blocked(row, Side::ours, "letterbox",
                "close, exact depth, waiting sends in FIFO order", 200000,
                bounded_mailbox(64, LBX_OVERFLOW_BLOCK));
    if (!packaged) {
        row.goal_text = "at least 5 x the speed of a mutex and two conditions";
        add_blocked(row, Side::peer, "mutex-two-conditions",
                    "no close; waiting sends in no order", 50000,
                    fresh<MutexQueue<64>>());
        return row;
    }
    row.goal_text = "none set: for orientation";
#ifdef HAVE_TBB
    add_blocked(row, Side::peer, "tbb-bounded-queue",
                "no close; tickets; spins, then sleeps", 50000,
                fresh<TbbBounded<64>>());
#endif
    return row;
}

double
cpu_ms()
{
    rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

/* Puts a receiver to sleep on an empty queue and a sender on a full one;
 * after a moment's peace, the processor time of one second. */
template <class MakeIn, class MakeOut>
Sample
sleepers(MakeIn make_empty, MakeOut make_full)
{
    auto empty = make_empty();
    auto full = make_full();
    using Empty = typename decltype(empty)::element_type;
    using Full = typename decltype(full)::element_type;
    typename Full::Producer filler(*full);

    for (int i = 0; i < 64; i++)
        filler.push_wait(value_of(0));
    std::thread receiver([&] {
        typename Empty::Consumer consumer(*empty);
        uint64_t value = 0;

        consumer.pop_wait(value);
    });
    std::thread sender([&] { filler.push_wait(value_of(0)); });

    const timespec settle = {0, 50000000}, second = {1, 0};
    nanosleep(&settle, nullptr);
    double before = cpu_ms();
    nanosleep(&second, nullptr);
    double used = cpu_ms() - before;

    typename Empty::Producer waker(*empty);
    typename Full::Consumer taker(*full);
    uint64_t value = 0;
    waker.push_wait(value_of(0));
    taker.pop_wait(value);
    receiver.join();
    sender.join();
    return {used, used};
}

Row
idle_cpu()
{
    Row row;

    row.name = "idle-cpu";
    row.workload = "one receiver and one sender asleep for 1 s: processor time";
    row.unit = "ms";
    row.beside_unit = "ms";
    row.beside_goal = 2;
    row.most_rounds = 5;
    row.fixed_count = true;
    row.goal_text = "no processor time: under 2 ms in 1 s";
    add(row, Side::ours, "letterbox", "sleep", "receive and send", [] {
        return sleepers(mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER),
                        bounded_mailbox(64, LBX_OVERFLOW_BLOCK));
    });
    add(row, Side::peer, "mutex-condition", "sleep", "wait", [] {
        return sleepers(fresh<MutexQueue<0>>(), fresh<MutexQueue<64>>());
    });
    return row;
}

const char *const banner =
    "Ours: lbx_consumer_receive(), which sleeps when nothing is there, and\n"
    "lbx_producer_send() under LBX_OVERFLOW_BLOCK; waiting sends are served in "
    "order "
    "of\n"
    "arrival. \"bulk\" takes up to 64 that are there and waits only when none\n"
    "is. moodycamel: BlockingConcurrentQueue with tokens (a semaphore that\n"
    "spins 10,000 times first). No peer can be closed; a mutex and conditions\n"
    "serve waiting senders in no order.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "mailbox/waiting", banner,
                    {
                        [] { return idle("idle-1p1c", 1, 5); },
                        [] { return idle("idle-2p1c", 2, 3); },
                        [] { return idle("idle-4p1c", 4, 1.2); },
                        [] { return blocked("blocked-4p", 5, false); },
#ifdef HAVE_TBB
                        [] { return blocked("blocked-4p-tbb", 0, true); },
#endif
                        idle_cpu,
                    });
}

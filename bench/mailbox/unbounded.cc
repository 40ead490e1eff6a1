/* SPDX-License-Identifier: Apache-2.0 */
/* Unbounded mailboxes against unbounded queues, consumers spinning. */
#include "support/row.h"
#ifdef HAVE_MOODYCAMEL
#include "peers/moodycamel.h"
#endif
#ifdef HAVE_XENIUM
#include "peers/xenium.h"
#endif
#ifdef HAVE_BOOST
#include "peers/boost.h"
#endif
#ifdef HAVE_TBB
#include "peers/tbb.h"
#endif
#ifdef HAVE_URCU
#include "peers/urcu.h"
#endif

using namespace bench;

namespace
{

constexpr const char *bare = "no close, no size, nobody can wait";

template <class Make>
void
add_one_thread(Row &row, Side side, const char *name, const char *does,
               uint64_t messages, uint64_t run, Make make)
{
    add(row, side, name, "single", does,
        [=] { return one_thread(messages, run, make, TakeOne{}); });
}

template <class Make>
void
add_one_thread_bulk(Row &row, Side side, const char *name, const char *does,
                    uint64_t messages, uint64_t run, Make make)
{
    add(row, side, name, "bulk", does,
        [=] { return one_thread(messages, run, make, TakeBulk{}); });
}

/* One thread puts `run` messages, takes them, and again. */
Row
in_and_out(const char *name, uint64_t run, double goal)
{
    const uint64_t n = 2000000;
    Row row;

    row.name = name;
    row.workload = "unbounded, one thread: " + std::to_string(run) + " in, " +
                   std::to_string(run) + " out";
    row.goal = goal;
    row.goal_text = goal_text(goal);
    auto ours = mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER);
    add_one_thread(row, Side::ours, "letterbox", ours_does, n, run, ours);
    if (run > 1)
        add_one_thread_bulk(row, Side::ours, "letterbox", ours_does, n, run,
                            ours);
#ifdef HAVE_MOODYCAMEL
    add_one_thread(row, Side::peer, "moodycamel", moodycamel_does, n, run,
                   fresh<Moodycamel>());
    add_one_thread(row, Side::peer, "moodycamel-tokens", moodycamel_does, n,
                   run, fresh<MoodycamelTokens>());
    if (run > 1)
        add_one_thread_bulk(row, Side::peer, "moodycamel-tokens",
                            moodycamel_does, n, run, fresh<MoodycamelTokens>());
#endif
#ifdef HAVE_XENIUM
    add_one_thread(row, Side::peer, "ramalhete", bare, n, run,
                   fresh<Ramalhete>());
#endif
#ifdef HAVE_BOOST
    add_one_thread(row, Side::peer, "boost-queue", bare, n, run,
                   fresh<BoostGrowing>());
#endif
#ifdef HAVE_TBB
    add_one_thread(row, Side::peer, "tbb-concurrent-queue", bare, n, run,
                   fresh<TbbUnbounded>());
#endif
#ifdef HAVE_URCU
    add_one_thread(row, Side::peer, "urcu-wfcqueue", bare, n, run,
                   fresh<Wfcqueue>());
#endif
    return row;
}

template <class Make>
void
add_single(Row &row, Side side, const char *name, const char *does,
           const Shape &shape, Make make)
{
    add_stream(row, side, name, "single", does, shape, make, PutOne{},
               TakeOne{});
}

template <class Make>
void
add_bulk(Row &row, Side side, const char *name, const char *does,
         const Shape &shape, Make make)
{
    add_stream(row, side, name, "bulk", does, shape, make, PutOne{},
               TakeBulk{});
}

void
add_peers(Row &row, const Shape &shape)
{
#ifdef HAVE_MOODYCAMEL
    add_single(row, Side::peer, "moodycamel", moodycamel_does, shape,
               fresh<Moodycamel>());
    add_single(row, Side::peer, "moodycamel-tokens", moodycamel_does, shape,
               fresh<MoodycamelTokens>());
    add_bulk(row, Side::peer, "moodycamel-tokens", moodycamel_does, shape,
             fresh<MoodycamelTokens>());
#endif
#ifdef HAVE_XENIUM
    add_single(row, Side::peer, "ramalhete", bare, shape, fresh<Ramalhete>());
#endif
#ifdef HAVE_BOOST
    add_single(row, Side::peer, "boost-queue", bare, shape,
               fresh<BoostGrowing>());
#endif
#ifdef HAVE_TBB
    add_single(row, Side::peer, "tbb-concurrent-queue", bare, shape,
               fresh<TbbUnbounded>());
#endif
#ifdef HAVE_URCU
    if (shape.consumers == 1)
        add_single(row, Side::peer, "urcu-wfcqueue", bare, shape,
                   fresh<Wfcqueue>());
#endif
    (void)row, (void)shape;
}

Row
streaming(const char *name, const char *kind, const Shape &shape, double goal)
{
    Row row;

    row.name = name;
    row.workload = "unbounded, spinning: " + shape_text(shape);
    row.patience = {1, 16};
    row.goal = goal;
    row.goal_text = goal_text(goal);
    add_single(row, Side::ours, "letterbox", ours_does, shape, mailbox(kind));
    add_bulk(row, Side::ours, "letterbox", ours_does, shape, mailbox(kind));
    add_peers(row, shape);
    return row;
}

const char *const banner =
    "Ours: close without loss, exact depth, overflow policy, stats, checks "
    "for\n"
    "sleepers at every send; messages of all producers in one order. Peers:\n"
    "moodycamel keeps a queue per producer (no order between producers) and "
    "an\n"
    "approximate size; the others have neither size nor close nor waiting.\n"
    "Producers send one at a time; \"bulk\" takes up to 64 that are there. An\n"
    "empty look is followed by the same back-off on every side.";

} // namespace

int
main(int argc, char **argv)
{
    const char *one = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER;

    return run_rows(
        argc, argv, "mailbox/unbounded", banner,
        {
            [] { return in_and_out("mpsc-1t", 1, 1.6); },
            [] { return in_and_out("mpsc-1t-64", 64, 1.0); },
            [=] {
                return streaming("mpsc-1p1c", one, {1, 1, 3000000}, 2.5);
            },
            [=] {
                return streaming("mpsc-2p1c", one, {2, 1, 3000000}, 2.0);
            },
            [=] {
                return streaming("mpsc-4p1c", one, {4, 1, 3000000}, 0.95);
            },
            [] {
                return streaming("mpmc-2p2c", LBX_KIND_UNBOUNDED,
                                 {2, 2, 3000000}, 1.0);
            },
        });
}

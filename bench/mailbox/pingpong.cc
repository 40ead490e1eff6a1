/* SPDX-License-Identifier: Apache-2.0 */
/* One message back and forth between two threads: what one hand-over costs. */
#include "peers/baseline.h"
#include "support/row.h"
#ifdef HAVE_MOODYCAMEL
#include "peers/moodycamel.h"
#endif
#ifdef HAVE_XENIUM
#include "peers/xenium.h"
#endif
#ifdef HAVE_ATOMIC_QUEUE
#include "peers/atomic_queue.h"
#endif
#ifdef HAVE_BOOST
#include "peers/boost.h"
#endif
#ifdef HAVE_TBB
#include "peers/tbb.h"
#endif
#ifdef HAVE_CK
#include "peers/ck.h"
#endif
#ifdef HAVE_GLIB
#include "peers/glib.h"
#endif

using namespace bench;

namespace
{

constexpr const char *bare = "no close, nobody can wait";

template <class Make>
void
add_spinning(Row &row, Side side, const char *name, const char *does, Make make)
{
    add(row, side, name, "single", does,
        [=] { return ping_pong(100000, make, PutOne{}, TakeOne{}); });
}

Row
spinning()
{
    Row row;

    row.name = "pingpong-spin";
    row.workload =
        "one message back and forth, both sides spinning, ns one way";
    row.goal = 1 / 1.2;
    row.goal_text = "at most 1.2 x the best peer's time";
    add_spinning(row, Side::ours, "letterbox-unbounded", ours_does,
                 mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER));
    add_spinning(row, Side::ours, "letterbox-bounded", ours_does,
                 bounded_mailbox(1024, LBX_OVERFLOW_REJECT));
#ifdef HAVE_CK
    add_spinning(row, Side::peer, "ck-ring-spsc",
                 "one producer and one consumer only", fresh<CkSpsc>());
#endif
#ifdef HAVE_XENIUM
    add_spinning(row, Side::peer, "vyukov", bare, fresh<Vyukov>());
    add_spinning(row, Side::peer, "ramalhete", bare, fresh<Ramalhete>());
#endif
#ifdef HAVE_ATOMIC_QUEUE
    add_spinning(row, Side::peer, "atomic-queue", bare, fresh<AtomicQueue>());
#endif
#ifdef HAVE_BOOST
    add_spinning(row, Side::peer, "boost-spsc",
                 "one producer and one consumer only", fresh<BoostSpsc>());
#endif
#ifdef HAVE_MOODYCAMEL
    add_spinning(row, Side::peer, "moodycamel-tokens", bare,
                 fresh<MoodycamelTokens>());
#endif
    return row;
}

template <class Make, class Put>
void
add_blocking(Row &row, Side side, const char *name, const char *does,
             uint64_t trips, Make make, Put put)
{
    add(row, side, name, "single", does,
        [=] { return ping_pong(trips, make, put, TakeWaiting{}); });
}

void
add_our_blocking(Row &row)
{
    add_blocking(row, Side::ours, "letterbox-unbounded", ours_does, 50000,
                 mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER), PutOne{});
    add_blocking(row, Side::ours, "letterbox-bounded", ours_does, 50000,
                 bounded_mailbox(1024, LBX_OVERFLOW_BLOCK), PutOne{});
}

Row
blocking()
{
    Row row;

    row.name = "pingpong-block";
    row.workload =
        "one message back and forth, receivers may sleep, ns one way";
    row.goal = 1;
    row.goal_text = "at least the best peer's speed";
    add_our_blocking(row);
#ifdef HAVE_MOODYCAMEL
    add_blocking(row, Side::peer, "moodycamel-blocking",
                 "no close; spins 10,000 times, then sleeps", 50000,
                 fresh<MoodycamelBlocking>(), PutOne{});
#endif
#ifdef HAVE_TBB
    add_blocking(row, Side::peer, "tbb-bounded-queue", "no close; sleeps", 5000,
                 fresh<TbbBounded<0>>(), PutWaiting{});
#endif
    add_blocking(row, Side::peer, "mutex-condition", "no close; sleeps", 5000,
                 fresh<MutexQueue<0>>(), PutOne{});
    return row;
}

#ifdef HAVE_GLIB
Row
blocking_glib()
{
    Row row;

    row.name = "pingpong-block-glib";
    row.workload = "the same against GLib, which sleeps at once, ns one way";
    row.goal = 50;
    row.goal_text = "at least 50 x GAsyncQueue's speed";
    add_our_blocking(row);
    add_blocking(row, Side::peer, "gasyncqueue", "no close; sleeps", 5000,
                 fresh<GAsync>(), PutOne{});
    return row;
}
#endif

const char *const banner =
    "Two threads, two queues, one message under way. Spinning: both sides "
    "look\n"
    "again and again with the same back-off. Blocking: each side's own way to\n"
    "wait; all of them sleep in the kernel in the end, after the spinning "
    "that\n"
    "they chose themselves.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "mailbox/pingpong", banner,
                    {
                        spinning,
                        blocking,
#ifdef HAVE_GLIB
                        blocking_glib,
#endif
                    });
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded mailboxes of 1,024 against rings, single messages and batches. */
#include "support/row.h"
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
#ifdef HAVE_DPDK
#include "peers/dpdk.h"
#endif

using namespace bench;

namespace
{

constexpr const char *bare = "no close, nobody can wait";
constexpr const char *bare_sc = "no close, nobody can wait, one consumer only";
constexpr const char *bare_spsc =
    "no close, nobody can wait, one producer and one consumer only";

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
add_batch(Row &row, Side side, const char *name, const char *does,
          const Shape &shape, Make make)
{
    add_stream(row, side, name, "batch", does, shape, make, PutBatch{},
               TakeBatch{});
}

void
add_single_peers(Row &row, const Shape &shape)
{
    bool pair = shape.producers == 1 && shape.consumers == 1;

#ifdef HAVE_XENIUM
    add_single(row, Side::peer, "vyukov", bare, shape, fresh<Vyukov>());
#endif
#ifdef HAVE_ATOMIC_QUEUE
    add_single(row, Side::peer, "atomic-queue", bare, shape,
               fresh<AtomicQueue>());
    add_single(row, Side::peer, "atomic-queue2", bare, shape,
               fresh<AtomicQueue2>());
#endif
#ifdef HAVE_CK
    if (shape.consumers == 1)
        add_single(row, Side::peer, "ck-ring-mpsc", bare_sc, shape,
                   fresh<CkMpsc>());
    else
        add_single(row, Side::peer, "ck-ring-mpmc", bare, shape,
                   fresh<CkMpmc>());
    if (pair)
        add_single(row, Side::less, "ck-ring-spsc", bare_spsc, shape,
                   fresh<CkSpsc>());
#endif
#ifdef HAVE_DPDK
    add_single(row, Side::peer, "rte-ring", bare, shape, fresh<RteMpmc>());
    add_single(row, Side::peer, "rte-ring-hts", bare, shape, fresh<RteHts>());
#endif
#ifdef HAVE_BOOST
    add_single(row, Side::peer, "boost-queue-fixed", bare, shape,
               fresh<BoostFixed>());
    if (pair)
        add_single(row, Side::less, "boost-spsc", bare_spsc, shape,
                   fresh<BoostSpsc>());
#endif
#ifdef HAVE_TBB
    add_single(row, Side::peer, "tbb-bounded-queue", "no close", shape,
               fresh<TbbBounded<1024>>());
#endif
    (void)row, (void)pair;
}

Row
single(const char *name, const Shape &shape, double goal)
{
    Row row;

    row.name = name;
    row.workload =
        "bounded to 1,024, spinning, single messages: " + shape_text(shape);
    row.patience = {1, 16};
    row.goal = goal;
    row.goal_text = goal_text(goal);
    add_single(row, Side::ours, "letterbox", ours_does, shape,
               bounded_mailbox(1024, LBX_OVERFLOW_REJECT));
    add_single_peers(row, shape);
    return row;
}

void
add_batch_peers(Row &row, const Shape &shape)
{
#ifdef HAVE_DPDK
    add_batch(row, Side::peer, "rte-ring-mpmc", bare, shape, fresh<RteMpmc>());
    add_batch(row, Side::peer, "rte-ring-mpsc", bare_sc, shape,
              fresh<RteMpsc>());
    add_batch(row, Side::peer, "rte-ring-hts", bare, shape, fresh<RteHts>());
    if (shape.producers == 1)
        add_batch(row, Side::less, "rte-ring-spsc", bare_spsc, shape,
                  fresh<RteSpsc>());
#endif
#ifdef HAVE_BOOST
    if (shape.producers == 1)
        add_batch(row, Side::less, "boost-spsc", bare_spsc, shape,
                  fresh<BoostSpsc>());
#endif
    (void)row, (void)shape;
}

Row
batched(const char *name, const Shape &shape, double goal)
{
    Row row;

    row.name = name;
    row.workload = "bounded to 1,024, spinning, batches of 32 both ways: " +
                   shape_text(shape);
    row.patience = {1, 16};
    row.goal = goal;
    row.goal_text = goal_text(goal);
    add_batch(row, Side::ours, "letterbox", ours_does, shape,
              bounded_mailbox(1024, LBX_OVERFLOW_REJECT));
    add_batch_peers(row, shape);
    return row;
}

const char *const banner =
    "Ours: \"bounded\", capacity 1,024 exactly, policy REJECT, any number of\n"
    "producers and consumers, close without loss, exact depth, stats, checks\n"
    "for sleepers at every send and take. Peers: rings of 1,024 (ck and\n"
    "rte_ring hold 1,023) without close or waiting; rte_ring runs in our own\n"
    "memory, without EAL. Rings that admit only one producer ever do less\n"
    "than a mailbox: shown, not counted. Full and empty: the same back-off on\n"
    "every side.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "mailbox/bounded", banner,
                    {
                        [] {
                            return single("bounded-1p1c", {1, 1, 2000000}, 1.2);
                        },
                        [] {
                            return single("bounded-4p1c", {4, 1, 2000000}, 1.2);
                        },
                        [] {
                            return single("bounded-2p2c", {2, 2, 2000000}, 1.0);
                        },
                        [] {
                            return batched("batch-1p1c", {1, 1, 4000000}, 1.1);
                        },
                        [] {
                            return batched("batch-2p1c", {2, 1, 4000000}, 1.1);
                        },
                        [] {
                            return batched("batch-4p1c", {4, 1, 4000000}, 1.1);
                        },
                    });
}

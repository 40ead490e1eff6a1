/* SPDX-License-Identifier: Apache-2.0 */
/* Ten million messages pile up and are drained: time, and memory kept. */
#include "support/memory.h"
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

using namespace bench;

namespace
{

template <class Make, class Take>
Sample
burst(uint64_t messages, Make make, Take take)
{
    double before = resident_bytes();
    auto queue = make();
    using Queue = typename decltype(queue)::element_type;
    typename Queue::Producer producer(*queue);
    typename Queue::Consumer consumer(*queue);
    uint64_t sum = 0;
    int64_t start = thread_cpu_ns();

    PutOne{}(producer, 0, messages);
    for (uint64_t taken = 0; taken < messages;)
        taken += take(consumer, sum);
    int64_t ns = thread_cpu_ns() - start;
    double left_mib = (resident_bytes() - before) / 1048576;
    if (sum != sum_of(messages))
        fail("messages lost or doubled");
    return {double(ns) / double(messages), left_mib};
}

template <class Make, class Take>
void
add_burst(Row &row, Side side, const char *name, const char *style,
          const char *does, Make make, Take take)
{
    add(row, side, name, style, does,
        [=] { return burst(scaled(10000000), make, take); });
}

Row
burst_memory()
{
    const char *bare = "no close, no size";
    Row row;

    row.name = "burst-memory";
    row.workload = "one thread, 10 M messages in, then all out; memory left";
    row.goal = 1;
    row.goal_text = "at least the best peer's speed, and at most 8 MiB left";
    row.beside_unit = "MiB left";
    row.beside_goal = 8;
    row.most_rounds = 5;
    row.fixed_count = true;
    auto ours = mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER);
    add_burst(row, Side::ours, "letterbox", "single", ours_does, ours,
              TakeOne{});
    add_burst(row, Side::ours, "letterbox", "bulk", ours_does, ours,
              TakeBulk{});
#ifdef HAVE_MOODYCAMEL
    add_burst(row, Side::peer, "moodycamel-tokens", "single", moodycamel_does,
              fresh<MoodycamelTokens>(), TakeOne{});
    add_burst(row, Side::peer, "moodycamel-tokens", "bulk", moodycamel_does,
              fresh<MoodycamelTokens>(), TakeBulk{});
#endif
#ifdef HAVE_XENIUM
    add_burst(row, Side::peer, "ramalhete", "single", bare, fresh<Ramalhete>(),
              TakeOne{});
#endif
#ifdef HAVE_BOOST
    add_burst(row, Side::peer, "boost-queue", "single", bare,
              fresh<BoostGrowing>(), TakeOne{});
#endif
#ifdef HAVE_TBB
    add_burst(row, Side::peer, "tbb-concurrent-queue", "single", bare,
              fresh<TbbUnbounded>(), TakeOne{});
#endif
    (void)bare;
    return row;
}

const char *const banner =
    "Each contestant in a fresh process, one thread. Memory left is resident\n"
    "memory after the drain, with the queue still open, minus before.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "mailbox/burst", banner, {burst_memory});
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Priority mailboxes with about a thousand messages queued all the time. */
#include "peers/baseline.h"
#include "support/row.h"
#include <functional>
#ifdef HAVE_TBB
#include "peers/tbb.h"
#endif

using namespace bench;

namespace
{

/* A message carries its priority above bit 36 and its number below, so that
 * comparing messages compares priorities and keeps equals apart. */
constexpr int priority_shift = 36;
constexpr uint64_t queued = 1000;
constexpr uint64_t chunk = 32;   // how often both sides look at each other
constexpr uint64_t window = 256; // how far the depth may stray from `queued`

uint64_t
message_of(uint64_t number, unsigned priority_bits)
{
    uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15u;

    return (mixed >> (64 - priority_bits) << priority_shift) | (number + 1)
                                                                   << 4;
}

struct Progress {
    alignas(line_bytes) std::atomic<uint64_t> taken{0};
    struct alignas(line_bytes) Sent {
        std::atomic<uint64_t> count{0};
    };
    std::vector<Sent> sent;

    uint64_t all_sent() const
    {
        uint64_t sum = 0;

        for (const Sent &s : sent)
            sum += s.count.load(std::memory_order_acquire);
        return sum;
    }
};

template <class Consumer>
uint64_t
take_one(Consumer &consumer)
{
    Backoff backoff;
    uint64_t value = 0;

    while (!consumer.pop(value))
        backoff.wait();
    return value;
}

template <class Producer>
uint64_t
send_all(Producer &producer, Progress &progress, std::size_t who, uint64_t each,
         unsigned bits)
{
    uint64_t sum = 0, parties = progress.sent.size();
    Backoff backoff;

    for (uint64_t i = 0; i < each; i += chunk) {
        while (parties * (i + chunk) >
               progress.taken.load(std::memory_order_acquire) + window)
            backoff.wait();
        backoff.reset();
        for (uint64_t k = i; k < i + chunk; k++) {
            uint64_t message = message_of(queued + who * each + k, bits);

            while (!producer.push(message))
                backoff.wait();
            sum += message;
        }
        progress.sent[who].count.store(i + chunk, std::memory_order_release);
    }
    return sum;
}

template <class Consumer>
uint64_t
take_all(Consumer &consumer, Progress &progress, uint64_t total)
{
    uint64_t sum = 0;
    Backoff backoff;

    for (uint64_t i = 0; i < total; i += chunk) {
        while (i + chunk > progress.all_sent() + window)
            backoff.wait();
        backoff.reset();
        for (uint64_t k = 0; k < chunk; k++)
            sum += take_one(consumer);
        progress.taken.store(i + chunk, std::memory_order_release);
    }
    return sum;
}

template <class Make>
Sample
prioritized(int producers, uint64_t messages, unsigned bits, Make make)
{
    auto queue = make();
    using Queue = typename decltype(queue)::element_type;
    uint64_t each = scaled(messages) / uint64_t(producers) / chunk * chunk;
    uint64_t total = each * uint64_t(producers);
    Progress progress;
    std::atomic<uint64_t> difference{0}; // sent minus taken
    std::vector<std::function<void(Gate &)>> bodies;
    typename Queue::Producer filler(*queue);

    progress.sent = std::vector<Progress::Sent>(std::size_t(producers));
    for (uint64_t i = 0; i < queued; i++) {
        uint64_t message = message_of(i, bits);

        if (!filler.push(message))
            fail("cannot queue %llu messages", (unsigned long long)queued);
        difference += message;
    }
    bodies.push_back([&](Gate &gate) {
        typename Queue::Consumer consumer(*queue);

        gate.pass();
        difference -= take_all(consumer, progress, total);
    });
    for (int p = 0; p < producers; p++)
        bodies.push_back([&, p](Gate &gate) {
            typename Queue::Producer producer(*queue);

            gate.pass();
            difference +=
                send_all(producer, progress, std::size_t(p), each, bits);
        });
    int64_t ns = run_threads(bodies);

    // What is left must come out in order, and complete the sum.
    typename Queue::Consumer rest(*queue);
    uint64_t last = 0;
    for (uint64_t i = 0; i < queued; i++) {
        uint64_t message = take_one(rest);

        if (message >> priority_shift < last >> priority_shift)
            fail("a less urgent message came first");
        last = message;
        difference -= message;
    }
    if (difference != 0)
        fail("messages lost or doubled");
    return {double(ns) / double(total), 0};
}

bool
priority_of(const void *message, void *, int32_t *ret)
{
    *ret = int32_t(reinterpret_cast<uint64_t>(message) >> priority_shift);
    return true;
}

int
compare(const lbx_envelope *a, const lbx_envelope *b, void *)
{
    uint64_t left = reinterpret_cast<uint64_t>(a->message);
    uint64_t right = reinterpret_cast<uint64_t>(b->message);

    return left < right ? -1 : left > right;
}

using Order = std::greater<uint64_t>; // the smallest first

template <class Make>
void
add_prioritized(Row &row, Side side, const char *name, const char *does,
                int producers, unsigned bits, Make make)
{
    add(row, side, name, "single", does,
        [=] { return prioritized(producers, 400000, bits, make); });
}

void
add_peers(Row &row, int producers, unsigned bits)
{
#ifdef HAVE_TBB
    add_prioritized(row, Side::peer, "tbb-priority-queue",
                    "no close, equals in no order", producers, bits,
                    fresh<TbbPriority<Order>>());
#endif
    add_prioritized(row, Side::peer, "std-priority-queue-mutex",
                    "no close, equals in no order", producers, bits,
                    fresh<MutexPriority<Order>>());
}

Row
small_range(const char *name, int producers)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    Row row;

    row.name = name;
    row.workload = "256 priorities, about 1,000 queued, " +
                   std::to_string(producers) + " producer(s), 1 consumer";
    row.goal = 8;
    row.goal_text = goal_text(8);
    options.priority = priority_of;
    add_prioritized(row, Side::ours, "letterbox",
                    "close, exact depth, equals in FIFO order", producers, 8,
                    mailbox(LBX_KIND_UNBOUNDED_PRIORITY, options));
    add_peers(row, producers, 8);
    return row;
}

Row
any_order(const char *name, int producers)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    Row row;

    row.name = name;
    row.workload = "a comparator over 2^28 priorities, about 1,000 queued, " +
                   std::to_string(producers) + " producer(s), 1 consumer";
    row.goal = 1.2;
    row.goal_text = goal_text(1.2);
    options.compare = compare;
    add_prioritized(row, Side::ours, "letterbox",
                    "close, exact depth, equals in FIFO order", producers, 28,
                    mailbox(LBX_KIND_UNBOUNDED_PRIORITY, options));
    options.compare = nullptr;
    options.priority = priority_of;
    add_prioritized(row, Side::less, "letterbox-numbers",
                    "the same with 28-bit numbers instead of a comparator",
                    producers, 28,
                    mailbox(LBX_KIND_UNBOUNDED_PRIORITY, options));
    add_peers(row, producers, 28);
    return row;
}

const char *const banner =
    "Ours: \"unbounded-priority\", equals in order of arrival, close, exact\n"
    "depth, wakes sleepers; the priority comes from the mailbox's function, "
    "or\n"
    "its comparator. Peers: no close, nobody can wait, no order among equals\n"
    "of their own (our messages are all different). The queue is kept at "
    "1,000\n"
    "+- 256 messages by both sides looking at each other every 32 messages,\n"
    "the same for everybody.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "mailbox/priority", banner,
                    {
                        [] { return small_range("priority-small-1p1c", 1); },
                        [] { return small_range("priority-small-4p1c", 4); },
                        [] { return any_order("priority-any-1p1c", 1); },
                        [] { return any_order("priority-any-4p1c", 4); },
                    });
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The full mailbox against its own bare queue: at most 1.25 x its time. */
#include "mailbox/bare.h"
#include "support/row.h"

using namespace bench;

namespace
{

template <bool Many> struct BareSegq {
    void *queue = bare_segq_create(Many);

    BareSegq()
    {
        if (!queue)
            fail("no memory");
    }
    ~BareSegq()
    {
        bare_segq_destroy(queue);
    }

    struct Producer {
        explicit Producer(BareSegq &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            return bare_segq_push(queue, value);
        }
        void *queue;
    };

    struct Consumer {
        explicit Consumer(BareSegq &q) : queue(q.queue)
        {
        }
        bool pop(uint64_t &value)
        {
            return bare_segq_pop(queue, &value, 1) == 1;
        }
        std::size_t pop_batch(uint64_t *values, std::size_t most)
        {
            return bare_segq_pop(queue, values, most);
        }
        void *queue;
    };
};

struct BareRing {
    void *ring = bare_ring_create(1024);

    BareRing()
    {
        if (!ring)
            fail("no memory");
    }
    ~BareRing()
    {
        bare_ring_destroy(ring);
    }

    struct Producer {
        explicit Producer(BareRing &r) : ring(r.ring)
        {
        }
        bool push(uint64_t value)
        {
            return bare_ring_push(ring, &value, 1) == 1;
        }
        std::size_t push_batch(const uint64_t *values, std::size_t count)
        {
            return bare_ring_push(ring, values, count);
        }
        void *ring;
    };

    struct Consumer {
        explicit Consumer(BareRing &r) : ring(r.ring)
        {
        }
        bool pop(uint64_t &value)
        {
            return bare_ring_pop(ring, &value, 1) == 1;
        }
        std::size_t pop_batch(uint64_t *values, std::size_t most)
        {
            return bare_ring_pop(ring, values, most);
        }
        void *ring;
    };
};

constexpr const char *bare_does = "no close in use, nobody waits, no stats";

Row
start(const char *name, const std::string &workload)
{
    Row row;

    row.name = name;
    row.workload = "full mailbox against its bare queue: " + workload;
    row.goal = 1 / 1.25;
    row.goal_text = "at most 1.25 x the bare queue's time, single messages";
    row.best_of = false; // singly, where a call's cost shows most
    return row;
}

template <class Make, class Bare>
Row
one_thread_row(const char *name, const char *kind_text, Make ours, Bare bare)
{
    Row row = start(name, std::string(kind_text) + ", one thread, 1 in, 1 out");

    add(row, Side::ours, "mailbox", "single", ours_does,
        [=] { return one_thread(3000000, 1, ours, TakeOne{}); });
    add(row, Side::peer, "bare", "single", bare_does,
        [=] { return one_thread(3000000, 1, bare, TakeOne{}); });
    return row;
}

template <class Make, class Bare>
Row
stream_row(const char *name, const char *kind_text, const Shape &shape,
           Make ours, Bare bare)
{
    Row row = start(name, std::string(kind_text) + ", " + shape_text(shape));

    row.patience = {1, 16};
    add_stream(row, Side::ours, "mailbox", "single", ours_does, shape, ours,
               PutOne{}, TakeOne{});
    add_stream(row, Side::ours, "mailbox", "bulk", ours_does, shape, ours,
               PutOne{}, TakeBulk{});
    add_stream(row, Side::peer, "bare", "single", bare_does, shape, bare,
               PutOne{}, TakeOne{});
    add_stream(row, Side::peer, "bare", "bulk", bare_does, shape, bare,
               PutOne{}, TakeBulk{});
    return row;
}

const char *const banner =
    "The same queue twice: inside a mailbox, through the public API (close,\n"
    "exact depth, policy, stats, wake-up check, status), and bare, through "
    "one\n"
    "function call each way. Judged by single messages; bulk is beside it.";

} // namespace

int
main(int argc, char **argv)
{
    auto one = mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER);
    auto many = mailbox(LBX_KIND_UNBOUNDED);
    auto ring = bounded_mailbox(1024, LBX_OVERFLOW_REJECT);
    auto bare_one = fresh<BareSegq<false>>();
    auto bare_many = fresh<BareSegq<true>>();
    auto bare_ring = fresh<BareRing>();
    const char *segq = "unbounded, one consumer";
    const char *segq_many = "unbounded, several consumers";
    const char *bounded = "bounded to 1,024";

    return run_rows(argc, argv, "mailbox/overhead", banner,
                    {
                        [=] {
                            return one_thread_row("overhead-segq-1t", segq, one,
                                                  bare_one);
                        },
                        [=] {
                            return stream_row("overhead-segq-1p1c", segq,
                                              {1, 1, 3000000}, one, bare_one);
                        },
                        [=] {
                            return stream_row("overhead-segq-4p1c", segq,
                                              {4, 1, 3000000}, one, bare_one);
                        },
                        [=] {
                            return stream_row("overhead-segq-2p2c", segq_many,
                                              {2, 2, 3000000}, many, bare_many);
                        },
                        [=] {
                            return one_thread_row("overhead-ring-1t", bounded,
                                                  ring, bare_ring);
                        },
                        [=] {
                            return stream_row("overhead-ring-1p1c", bounded,
                                              {1, 1, 2000000}, ring, bare_ring);
                        },
                        [=] {
                            return stream_row("overhead-ring-4p1c", bounded,
                                              {4, 1, 2000000}, ring, bare_ring);
                        },
                    });
}

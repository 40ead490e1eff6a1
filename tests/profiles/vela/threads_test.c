/* SPDX-License-Identifier: Apache-2.0 */
/* Vela: TestThreadSafety. */
#include "profiles/vela/vela.h"

enum {
    MOST_MESSAGES = 4096
};

/* Threads 0 and 1 send, the others take until all messages are accounted
 * for. `seen` counts each number's arrivals. */
struct traffic {
    struct box box;
    int per_producer;
    atomic_int taken;
    atomic_int seen[MOST_MESSAGES];
};

static void
produce(struct traffic *traffic, int producer)
{
    int first = producer * traffic->per_producer;

    for (int i = 0; i < traffic->per_producer; i++) {
        while (box_send(&traffic->box, first + i) == LBX_FULL)
            sched_yield();
    }
}

/* As the manual prints it, a consumer polls 100 times and may be done before
 * the producers have begun. It polls until everything has arrived instead. */
static void
consume(struct traffic *traffic)
{
    int all = 2 * traffic->per_producer;

    while (atomic_load(&traffic->taken) < all) {
        intptr_t number = -1;

        if (box_take(&traffic->box, &number) == LBX_OK) {
            atomic_fetch_add(&traffic->seen[number], 1);
            atomic_fetch_add(&traffic->taken, 1);
        } else {
            sched_yield();
        }
    }
}

static void
two_produce_two_consume(unsigned index, void *context)
{
    struct traffic *traffic = context;

    if (index < 2)
        produce(traffic, (int)index);
    else
        consume(traffic);
}

/* All arrive, none twice, and the books agree when it is quiet. */
static void
check_traffic(const char *kind, int64_t capacity_messages, int per_producer)
{
    static struct traffic traffic;
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    traffic.box = vela_create(kind, capacity_messages);
    traffic.per_producer = per_producer;
    threads_run(4, two_produce_two_consume, &traffic);
    for (int i = 0; i < 2 * per_producer; i++)
        CHECK_INT(1, atomic_load(&traffic.seen[i]));
    CHECK_NOTHING(&traffic.box);
    stats = box_stats(&traffic.box);
    CHECK_INT(2 * per_producer, stats.accepted);
    CHECK_INT(2 * per_producer, stats.taken);
    CHECK_INT(0, stats.depth);
    box_destroy(&traffic.box);
}

TEST_CITING("V-25 V-01 V-07", unbounded_mailbox_thread_safe)
{
    check_traffic("unbounded", LBX_DEFAULT, 50);
}

/* V-01 asks it of all three kinds; a ring of 8 goes round many times. */
TEST_CITING("V-01 V-07", bounded_mailbox_with_many_on_both_ends)
{
    check_traffic("bounded", 8, 1000);
}

TEST_CITING("V-01 V-07", priority_mailbox_with_many_on_both_ends)
{
    check_traffic("priority", LBX_DEFAULT, 1000);
}

struct flood {
    struct box box;
    atomic_int accepted;
    atomic_int refused;
};

static void
send_thirty(unsigned index, void *context)
{
    struct flood *flood = context;

    for (int i = 0; i < 30; i++) {
        lbx_status status = box_send(&flood->box, (intptr_t)index * 30 + i);

        CHECK(lbx_mailbox_depth(flood->box.mailbox) <= 50);
        if (status == LBX_OK) {
            atomic_fetch_add(&flood->accepted, 1);
        } else {
            CHECK_STATUS(LBX_FULL, status);
            atomic_fetch_add(&flood->refused, 1);
        }
    }
}

/* No thread takes, so that exactly 50 of 60 fit, in any order. */
TEST_CITING("V-26 V-07 V-10", bounded_mailbox_thread_safe)
{
    struct flood flood = {.box = vela_bounded(50)};

    threads_run(2, send_thirty, &flood);
    CHECK_INT(50, atomic_load(&flood.accepted));
    CHECK_INT(10, atomic_load(&flood.refused));
    CHECK_INT(50, box_depth(&flood.box));
    CHECK_INT(50, box_stats(&flood.box).accepted);
    CHECK_INT(10, box_stats(&flood.box).rejected);
    box_destroy(&flood.box);
}

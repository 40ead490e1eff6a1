/* SPDX-License-Identifier: Apache-2.0 */
/* fraktor: its lock-free queue, and the selection of queues. */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

/* ---- Lock-free MPSC ---- */

struct race {
    struct box box;
    atomic_int accepted;
};

enum {
    PRODUCERS = 4,
    EACH = 500
};

static void
push_each(unsigned index, void *context)
{
    struct race *race = context;

    for (int i = 0; i < EACH; i++) {
        if (box_send(&race->box, (int)index * 10000 + i) == LBX_OK)
            atomic_fetch_add(&race->accepted, 1);
    }
}

/* Takes all that is left, checking each producer's order; returns how many. */
static int
take_all(struct box *box)
{
    int next[PRODUCERS] = {0};
    intptr_t number;
    int taken = 0;

    while (box_take(box, &number) == LBX_OK) {
        CHECK_INT(next[number / 10000]++, number % 10000);
        taken++;
    }
    return taken;
}

static struct race
mpsc_create(void)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    options.overflow = LBX_OVERFLOW_REJECT; // a single consumer cannot evict
    return (struct race){
        .box = box_create(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, &options)};
}

/* Exactly once, and each producer's in its own order. */
TEST_CITING("R-25", mpsc_delivers_exactly_once_in_producer_order)
{
    struct race race = mpsc_create();

    threads_run(PRODUCERS, push_each, &race);
    CHECK_INT(PRODUCERS * EACH, atomic_load(&race.accepted));
    CHECK_INT(PRODUCERS * EACH, take_all(&race.box));
    box_destroy(&race.box);
}

TEST_CITING("R-14 C-36", mpsc_close_rejects_later_pushes)
{
    struct race race = mpsc_create();

    CHECK_OK(box_send(&race.box, 0));
    CHECK_OK(lbx_mailbox_close(race.box.mailbox, LBX_CLOSE_DRAIN));
    for (int i = 1; i <= 100; i++)
        CHECK_STATUS(LBX_CLOSED, box_send(&race.box, i));
    CHECK_INT(1, take_all(&race.box));
    box_destroy(&race.box);
}

TEST_CITING("R-14 C-36", mpsc_close_drains)
{
    struct race race = mpsc_create();

    box_fill(&race.box, 0, EACH - 1);
    CHECK_OK(lbx_mailbox_close(race.box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(EACH, take_all(&race.box));
    CHECK_ENDED(&race.box);
    box_destroy(&race.box);
}

static void
push_or_close(unsigned index, void *context)
{
    struct race *race = context;

    if (index < PRODUCERS)
        push_each(index, race);
    else
        CHECK_OK(lbx_mailbox_close(race->box.mailbox, LBX_CLOSE_DRAIN));
}

/* No push that was accepted is lost by a close at the same time: what entered
 * before is waited for. */
TEST_CITING("R-14 C-36", mpsc_close_waits_for_an_entered_producer)
{
    for (int round = 0; round < 20; round++) {
        struct race race = mpsc_create();

        threads_run(PRODUCERS + 1, push_or_close, &race);
        CHECK_INT(atomic_load(&race.accepted), take_all(&race.box));
        CHECK_ENDED(&race.box);
        box_destroy(&race.box);
    }
}

static void
push_or_clean_up(unsigned index, void *context)
{
    struct race *race = context;

    if (index < PRODUCERS)
        push_each(index, race);
    else
        CHECK_OK(lbx_mailbox_close(race->box.mailbox, LBX_CLOSE_IMMEDIATE));
}

static void
count_loss(void *context, const lbx_loss *loss)
{
    (void)loss;
    atomic_fetch_add((atomic_int *)context, 1);
}

/* Cleaning up wins against sends under way: each accepted message becomes one
 * loss event, and nothing is left behind. */
TEST_CITING("R-14 R-20", cleanup_wins_against_enqueue_in_flight)
{
    for (int round = 0; round < 20; round++) {
        lbx_mailbox_options options = lbx_cellex_mailbox_options();
        struct race race = {0};
        atomic_int lost = 0;

        options.loss_sink = (lbx_loss_sink){count_loss, &lost};
        race.box = box_create(LBX_KIND_UNBOUNDED, &options);
        threads_run(PRODUCERS + 1, push_or_clean_up, &race);
        CHECK_ENDED(&race.box);
        CHECK_INT(atomic_load(&race.accepted), atomic_load(&lost));
        CHECK_INT(0, box_depth(&race.box));
        box_destroy(&race.box);
    }
}

/* ---- Selection ---- */

BOX_TEST("R-04", stable_priority_entry_ordering,
         box_create("unbounded-stable-priority", NULL))
{
    for (int i = 0; i < 30; i++)
        CHECK_OK(box_post(box, lbx_envelope_of(message_of(i), i % 3), NULL));
    for (int priority = 0; priority < 3; priority++) {
        for (int i = priority; i < 30; i += 3)
            CHECK_TAKES(box, i);
    }
}

/* Every configuration gives the queue it names. fraktor's ten kinds are our
 * eight and two names; the stable ones need no generator, since an envelope
 * has a priority of its own. */
TEST_CITING("C-04 R-21 R-25", selection_picks_the_right_queue_for_each_config)
{
    static const struct {
        const char *kind;
        uint32_t capabilities;
    } rows[] = {
        {LBX_KIND_UNBOUNDED, 0},
        {LBX_KIND_BOUNDED, LBX_CAPABILITY_BOUND},
        {LBX_KIND_UNBOUNDED_DEQUE, LBX_CAPABILITY_SEND_FRONT},
        {LBX_KIND_BOUNDED_DEQUE,
         LBX_CAPABILITY_SEND_FRONT | LBX_CAPABILITY_BOUND},
        {LBX_KIND_UNBOUNDED_PRIORITY, LBX_CAPABILITY_PRIORITIZE},
        {LBX_KIND_BOUNDED_PRIORITY,
         LBX_CAPABILITY_PRIORITIZE | LBX_CAPABILITY_BOUND},
        {"unbounded-stable-priority", LBX_CAPABILITY_PRIORITIZE},
        {"bounded-stable-priority",
         LBX_CAPABILITY_PRIORITIZE | LBX_CAPABILITY_BOUND},
        {LBX_KIND_UNBOUNDED_CONTROL_AWARE, LBX_CAPABILITY_CONTROL},
        {LBX_KIND_BOUNDED_CONTROL_AWARE,
         LBX_CAPABILITY_CONTROL | LBX_CAPABILITY_BOUND},
    };
    uint32_t telling = LBX_CAPABILITY_BOUND | LBX_CAPABILITY_SEND_FRONT |
                       LBX_CAPABILITY_PRIORITIZE | LBX_CAPABILITY_CONTROL;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct box box = box_create(rows[i].kind, NULL);
        uint32_t has = lbx_mailbox_capabilities(box.mailbox);

        CHECK_INT(rows[i].capabilities, has & telling);
        CHECK(has & LBX_CAPABILITY_MULTI_CONSUME);
        CHECK_INT(rows[i].capabilities & LBX_CAPABILITY_BOUND ? 1000
                                                              : LBX_UNLIMITED,
                  lbx_mailbox_capacity(box.mailbox));
        box_destroy(&box);
    }
}

/* What contradicts itself is refused at creation, with a reason. */
TEST_CITING("R-25 R-26", selection_refuses_what_cannot_be)
{
    static const struct {
        const char *kind;
        int64_t capacity_messages;
        lbx_overflow overflow;
    } rows[] = {
        {LBX_KIND_UNBOUNDED, 10, LBX_OVERFLOW_REJECT},
        {LBX_KIND_BOUNDED, LBX_UNLIMITED, LBX_OVERFLOW_REJECT},
        {LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, LBX_DEFAULT,
         LBX_OVERFLOW_DROP_OLDEST},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
        lbx_fault fault = {0};
        lbx_producer *in;
        lbx_consumer *out;

        options.capacity_messages = rows[i].capacity_messages;
        options.overflow = rows[i].overflow;
        options.fault = &fault;
        CHECK_STATUS(LBX_INVALID,
                     lbx_mailbox_create(rows[i].kind, &options, &in, &out));
        CHECK_STATUS(LBX_INVALID, fault.status);
        CHECK(fault.text[0] != '\0');
    }
}

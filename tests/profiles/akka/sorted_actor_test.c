/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PriorityDispatcherSpec, StablePriorityDispatcherSpec and
 * ControlAwareDispatcherSpec with actors; order_test.c has the queues. As in
 * the originals, the actor under test is a child.
 */
#include "shuffle.h"
#include "stage.h"
#include <letterbox/compat/akka.h>

/* A child with such a mailbox. */
static lbx_ref
begin(struct stage *stage, const char *kind,
      bool (*priority)(const void *, void *, int32_t *))
{
    static lbx_mailbox_options options;
    lbx_ref parent;

    options = lbx_akka_mailbox_options();
    options.priority = priority;
    stage_begin(stage, NULL);
    parent = stage_spawn(stage, ANY, "parent");
    CHECK_OK(stage_spawn_child(
        stage, parent, (struct wish){.mailbox = kind, .options = &options},
        "child"));
    return stage->child;
}

static void
gives_its_actor_sorted_messages(const char *kind)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        struct stage stage;
        lbx_ref child = begin(&stage, kind, by_number);
        int numbers[100];

        shuffle(numbers, 100, seed);
        for (int i = 0; i < 100; i++)
            stage_tell(child, numbers[i]);
        stage_run(&stage);
        CHECK_INT(100, stage.received_count);
        for (int i = 0; i < 100; i++)
            CHECK_INT(i + 1, stage.received[i]);
        stage_end(&stage);
    }
}

// "order its messages according to the specified comparator".
TEST_CITING("PriorityDispatcherSpec 1 A-10", actor_of_an_unbounded_priority)
{
    gives_its_actor_sorted_messages(LBX_KIND_UNBOUNDED_PRIORITY);
}

TEST_CITING("PriorityDispatcherSpec 2 A-10", actor_of_a_bounded_priority)
{
    gives_its_actor_sorted_messages(LBX_KIND_BOUNDED_PRIORITY);
}

static void
gives_its_actor_equals_as_sent(const char *kind)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        struct stage stage;
        lbx_ref child = begin(&stage, kind, first_hundred_by_number);
        int numbers[200];
        unsigned at = 0;

        shuffle(numbers, 200, seed);
        for (int i = 0; i < 200; i++)
            stage_tell(child, numbers[i]);
        stage_run(&stage);
        CHECK_INT(200, stage.received_count);
        for (int number = 1; number <= 100; number++)
            CHECK_INT(number, stage.received[at++]);
        for (int i = 0; i < 200; i++)
            if (numbers[i] > 100)
                CHECK_INT(numbers[i], stage.received[at++]);
        stage_end(&stage);
    }
}

// "...and equal priority in FIFO order".
TEST_CITING("StablePriorityDispatcherSpec 1 R-04",
            actor_of_an_unbounded_stable_priority)
{
    gives_its_actor_equals_as_sent("unbounded-stable-priority");
}

TEST_CITING("StablePriorityDispatcherSpec 2 R-04",
            actor_of_a_bounded_stable_priority)
{
    gives_its_actor_equals_as_sent("bounded-stable-priority");
}

static void
gives_its_actor_control_messages_first(const char *kind)
{
    struct stage stage;
    lbx_ref child = begin(&stage, kind, NULL);
    lbx_envelope control =
        lbx_envelope_control((void *)3, LBX_PRIORITY_DEFAULT);

    stage_tell(child, 1);
    stage_tell(child, 2);
    lbx_tell_envelope(child, &control);
    CHECK_RECEIVED(&stage, 3, 1, 2);
    stage_end(&stage);
}

// "deliver control messages first".
TEST_CITING("ControlAwareDispatcherSpec 1 R-07",
            actor_of_an_unbounded_control_aware)
{
    gives_its_actor_control_messages_first(LBX_KIND_UNBOUNDED_CONTROL_AWARE);
}

TEST_CITING("ControlAwareDispatcherSpec 2 R-07",
            actor_of_a_bounded_control_aware)
{
    gives_its_actor_control_messages_first(LBX_KIND_BOUNDED_CONTROL_AWARE);
}

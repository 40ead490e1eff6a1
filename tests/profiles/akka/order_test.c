/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PriorityDispatcherSpec, StablePriorityDispatcherSpec and
 * ControlAwareDispatcherSpec at queue level, and A-13's example.
 */
#include "fixture.h"
#include "shuffle.h"
#include <letterbox/compat/akka.h>

static struct box
make_sorted(const char *kind, bool (*priority)(const void *, void *, int32_t *))
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    options.priority = priority;
    return box_make(kind, &options);
}

// "order its messages according to the specified comparator".
static void
gives_shuffled_messages_back_sorted(const char *kind)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        struct box box = make_sorted(kind, by_number);
        int numbers[100];

        shuffle(numbers, 100, seed);
        for (int i = 0; i < 100; i++)
            box_send(&box, numbers[i]);
        for (int number = 1; number <= 100; number++)
            CHECK_INT(number, box_next(&box));
        CHECK_NOTHING(&box);
        box_end(&box);
    }
}

KIND_CITING(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY, "A-10 R-03",
            gives_shuffled_messages_back_sorted)
KIND_CITING(bounded_priority, LBX_KIND_BOUNDED_PRIORITY, "A-10 R-03",
            gives_shuffled_messages_back_sorted)

// "...and order messages of equal priority in FIFO order": 1..200 shuffled,
// the first hundred sorted, then the rest in the order they were sent.
static void
keeps_equals_in_sending_order(const char *kind)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        struct box box = make_sorted(kind, first_hundred_by_number);
        int numbers[200];

        shuffle(numbers, 200, seed);
        for (int i = 0; i < 200; i++)
            box_send(&box, numbers[i]);
        for (int number = 1; number <= 100; number++)
            CHECK_INT(number, box_next(&box));
        for (int i = 0; i < 200; i++) {
            if (numbers[i] > 100)
                CHECK_INT(numbers[i], box_next(&box));
        }
        CHECK_NOTHING(&box);
        box_end(&box);
    }
}

KIND_CITING(unbounded_stable_priority, "unbounded-stable-priority", "A-10 R-04",
            keeps_equals_in_sending_order)
KIND_CITING(bounded_stable_priority, "bounded-stable-priority", "A-10 R-04",
            keeps_equals_in_sending_order)
KIND_CITING(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY, "A-10 R-04",
            keeps_equals_in_sending_order)

// Order must survive takes between the sends, not only one big sort.
BOX_TEST("R-04", equals_stay_in_order_between_takes,
         make_sorted(LBX_KIND_UNBOUNDED_PRIORITY, first_hundred_by_number))
{
    int expected = 101;

    for (int number = 101; number <= 1000; number++) {
        box_send(box, number);
        if (number % 3 == 0)
            CHECK_INT(expected++, box_next(box));
        if (number % 50 == 0) {
            box_send(box, 7);
            CHECK_INT(7, box_next(box));
        }
    }
    while (expected <= 1000)
        CHECK_INT(expected++, box_next(box));
    CHECK_NOTHING(box);
}

// ControlAwareDispatcherSpec: two normal and one control: control first,
// normals in order.
static void
delivers_control_messages_first(const char *kind)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    LOCAL_BOX(box) = box_make(kind, &options);

    box_send(&box, 1);
    box_send(&box, 2);
    box_send_control(&box, 3);
    CHECK_RECEIVES(&box, 3, 1, 2);
}

KIND_CITING(unbounded_control_aware, LBX_KIND_UNBOUNDED_CONTROL_AWARE, "R-07",
            delivers_control_messages_first)
KIND_CITING(bounded_control_aware, LBX_KIND_BOUNDED_CONTROL_AWARE, "R-07",
            delivers_control_messages_first)

enum {
    LOW = 1,
    HIGH,
    P1,
    P2,
    P3,
    POISON_PILL,
};

// The documentation's MyPrioMailbox.
static bool
my_prio(const void *message, void *context, int32_t *ret)
{
    (void)context;
    switch (number_of(message)) {
    case HIGH:
        *ret = 0;
        break;
    case LOW:
        *ret = 2;
        break;
    case POISON_PILL:
        *ret = 3;
        break;
    default:
        *ret = 1;
    }
    return true;
}

BOX_TEST("A-13", documented_example_of_a_priority_mailbox,
         make_sorted(LBX_KIND_UNBOUNDED_PRIORITY, my_prio))
{
    const int sent[] = {LOW, LOW, HIGH, P1, P2, P3, HIGH, POISON_PILL};

    for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++)
        box_send(box, sent[i]);
    CHECK_RECEIVES(box, HIGH, HIGH, P1, P2, P3, LOW, LOW, POISON_PILL);
}

// system messages come before all and in their own order, whatever the
// user queue sorts by.
BOX_TEST("A-22 A-23", system_messages_come_before_priorities,
         make_sorted(LBX_KIND_UNBOUNDED_PRIORITY, by_number))
{
    box_send(box, INT32_MIN / 2);
    for (int number = 1; number <= 10; number++)
        box_send_system(box, number);
    for (int number = 1; number <= 10; number++)
        CHECK_INT(number, box_next(box));
    CHECK_RECEIVES(box, INT32_MIN / 2);
}

// Unstash prepends in original order: the last to the front first.
BOX_TEST("R-17", unstashing_to_the_front_keeps_the_original_order,
         box_make(LBX_KIND_UNBOUNDED_DEQUE, NULL))
{
    int stashed[3];

    box_send_numbers(box, 1, 5);
    for (int i = 0; i < 3; i++)
        stashed[i] = box_next(box);
    for (int i = 2; i >= 0; i--)
        CHECK_OK(lbx_producer_try_send_front(box->in, letter(stashed[i])));
    CHECK_RECEIVES(box, 1, 2, 3, 4, 5);
}

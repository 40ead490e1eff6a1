/* SPDX-License-Identifier: Apache-2.0 */
/* Vela: TestPriorityMailbox. */
#include "profiles/vela/vela.h"
#include <letterbox/compat/vela.h>

#include <string.h>

struct task {
    int32_t priority;
    int number;
};

static bool
priority_of_task(const void *message, void *context, int32_t *ret)
{
    const struct task *task = message;
    int *calls = context;

    if (calls)
        ++*calls;
    *ret = task->priority;
    return task->priority != -1; // such a task has no priority at all
}

/* Vela's example bands. */
static bool
priority_of_text(const void *message, void *context, int32_t *ret)
{
    (void)context;
    if (strncmp(message, "CRITICAL", 8) == 0)
        *ret = 0;
    else if (strncmp(message, "HIGH", 4) == 0)
        *ret = 5;
    else if (strncmp(message, "NORMAL", 6) == 0)
        *ret = 10;
    else
        *ret = 15;
    return true;
}

static struct box
priority_box(bool (*priority)(const void *, void *, int32_t *), int *calls)
{
    lbx_mailbox_options options = lbx_vela_mailbox_options();

    options.priority = priority;
    options.priority_context = calls;
    return box_create("priority", &options);
}

static void
send_task(struct box *box, struct task *task)
{
    CHECK_OK(lbx_producer_try_send(box->in, task));
}

static int
next_task(struct box *box)
{
    void *message = NULL;

    CHECK_OK(lbx_consumer_try_receive(box->out, &message));
    return ((struct task *)message)->number;
}

static void
check_next_text(struct box *box, const char *expected)
{
    void *message = NULL;

    CHECK_OK(lbx_consumer_try_receive(box->out, &message));
    CHECK_STR(expected, message);
}

static void
send_text(struct box *box, char *text)
{
    CHECK_OK(lbx_producer_try_send(box->in, text));
}

/* Without a function every message has priority 10: a plain FIFO. */
BOX_TEST("V-15", priority_initialization_with_default_priority,
         priority_box(NULL, NULL))
{
    lbx_envelope envelope;

    CHECK(lbx_mailbox_is_empty(box->mailbox));
    box_fill(box, 1, 3);
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
    CHECK_INT(10, envelope.priority);
    CHECK_INT(1, number_of(envelope.message));
    CHECK_TAKES(box, 2, 3);
}

BOX_TEST("V-15", priority_initialization_with_function,
         priority_box(priority_of_task, NULL))
{
    struct task task = {.priority = 3, .number = 1};
    lbx_envelope envelope;

    send_task(box, &task);
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
    CHECK_PTR(&task, envelope.message);
    CHECK_INT(3, envelope.priority);
}

BOX_TEST("V-14", priority_dequeue_by_priority,
         priority_box(priority_of_task, NULL))
{
    struct task tasks[] = {
        {.priority = 10, .number = 1},
        {.priority = 0, .number = 2},
        {.priority = 10, .number = 3},
    };

    for (size_t i = 0; i < 3; i++)
        send_task(box, &tasks[i]);
    CHECK_INT(2, next_task(box));
    CHECK_INT(1, next_task(box));
    CHECK_INT(3, next_task(box));
}

BOX_TEST("V-14 R-04", priority_fifo_within_same_priority,
         priority_box(priority_of_task, NULL))
{
    enum {
        COUNT = 200
    };
    struct task tasks[COUNT];

    for (int i = 0; i < COUNT; i++) {
        tasks[i] = (struct task){.priority = 10, .number = i};
        send_task(box, &tasks[i]);
    }
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(i, next_task(box));
}

BOX_TEST("V-17", priority_multiple_priority_levels,
         priority_box(priority_of_text, NULL))
{
    char low[] = "LOW: cleanup", normal_1[] = "NORMAL 1";
    char critical[] = "CRITICAL: emergency", normal_2[] = "NORMAL 2";
    char high[] = "HIGH: important";

    send_text(box, normal_1);
    send_text(box, low);
    send_text(box, critical);
    send_text(box, normal_2);
    send_text(box, high);
    check_next_text(box, critical);
    check_next_text(box, high);
    check_next_text(box, normal_1);
    check_next_text(box, normal_2);
    check_next_text(box, low);
}

BOX_TEST("V-05 V-14", priority_size_and_empty, priority_box(NULL, NULL))
{
    CHECK(lbx_mailbox_is_empty(box->mailbox));
    box_fill(box, 1, 2);
    CHECK_INT(2, box_depth(box));
    CHECK(!lbx_mailbox_is_empty(box->mailbox));
    CHECK_TAKES(box, 1, 2);
    CHECK(lbx_mailbox_is_empty(box->mailbox));
}

/* Once per message, and never again while the heap sorts: a function that
 * changes its mind cannot break the order. */
TEST_CITING("V-16 R-05", priority_function_runs_once_per_enqueue)
{
    int calls = 0;
    struct task tasks[64];
    LOCAL_BOX(box) = priority_box(priority_of_task, &calls);

    for (int i = 0; i < 64; i++) {
        tasks[i] = (struct task){.priority = 64 - i, .number = i};
        send_task(&box, &tasks[i]);
        tasks[i].priority = 0; // too late to matter
    }
    CHECK_INT(64, calls);
    for (int i = 63; i >= 0; i--)
        CHECK_INT(i, next_task(&box));
    CHECK_INT(64, calls);
}

/* Priorities are compared, never subtracted: the ends of the range work. */
BOX_TEST("V-14 R-05", priority_extremes_are_in_order,
         priority_box(priority_of_task, NULL))
{
    struct task tasks[] = {
        {.priority = INT32_MAX, .number = 4},
        {.priority = 0, .number = 3},
        {.priority = INT32_MIN, .number = 1},
        {.priority = -2, .number = 2},
    };

    for (size_t i = 0; i < 4; i++)
        send_task(box, &tasks[i]);
    for (int i = 1; i <= 4; i++)
        CHECK_INT(i, next_task(box));
}

/* A function that fails refuses the message; nothing else changes. */
BOX_TEST("V-15 R-05", priority_failing_function_refuses_the_message,
         priority_box(priority_of_task, NULL))
{
    struct task good = {.priority = 1, .number = 1};
    struct task bad = {.priority = -1, .number = 2};

    send_task(box, &good);
    CHECK_STATUS(LBX_REFUSED, lbx_producer_try_send(box->in, &bad));
    CHECK_INT(1, box_depth(box));
    CHECK_INT(1, box_stats(box).accepted);
    CHECK_INT(1, next_task(box));
}

/* Vela's priority mailbox is unbounded and always accepts. */
BOX_TEST("V-16", priority_always_accepts, priority_box(NULL, NULL))
{
    box_fill(box, 1, 5000);
    CHECK_INT(5000, box_depth(box));
    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(box->mailbox));
}

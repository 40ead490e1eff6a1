/* SPDX-License-Identifier: Apache-2.0 */
/* Vela: TestEdgeCases and TestPerformance. */
#include "profiles/vela/vela.h"

/* Vela cannot tell a "none" message from an empty mailbox, and its loop loses
 * it. Here the status tells them apart. */
BOX_TEST("V-22 R-11", enqueue_none_message, vela_unbounded())
{
    void *message = message_of(1);

    CHECK_OK(lbx_producer_try_send(box->in, NULL));
    CHECK_INT(1, box_depth(box));
    CHECK_OK(lbx_consumer_try_receive(box->out, &message));
    CHECK_PTR(NULL, message);
    CHECK_STATUS(LBX_EMPTY, lbx_consumer_try_receive(box->out, &message));
}

/* The same in the kinds that store a whole envelope, and in a ring. */
TEST_CITING("V-22 R-11", none_messages_keep_their_place_in_every_kind)
{
    static const char *const kinds[] = {
        LBX_KIND_BOUNDED,
        LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
        LBX_KIND_UNBOUNDED_PRIORITY,
        LBX_KIND_BOUNDED_CONTROL_AWARE,
        LBX_KIND_UNBOUNDED_DEQUE,
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct box box = vela_create(kinds[i], LBX_DEFAULT);

        CHECK_OK(box_send(&box, 1));
        CHECK_OK(box_send(&box, 0));
        CHECK_OK(box_send(&box, 2));
        CHECK_TAKES(&box, 1, 0, 2);
        CHECK_NOTHING(&box);
        box_destroy(&box);
    }
}

BOX_TEST("V-23", enqueue_complex_objects, vela_unbounded())
{
    struct order {
        int id;
        const char *items[2];
        struct {
            double total;
        } price;
    } order = {7, {"ink", "paper"}, {12.5}};
    void *message = NULL;
    const struct order *received;

    CHECK_OK(lbx_producer_try_send(box->in, &order));
    CHECK_OK(lbx_consumer_try_receive(box->out, &message));
    received = message;
    CHECK_PTR(&order, received);
    CHECK_INT(7, received->id);
    CHECK_STR("paper", received->items[1]);
    CHECK(received->price.total == 12.5);
}

BOX_TEST("V-04", multiple_dequeue_on_empty, vela_unbounded())
{
    for (int i = 0; i < 3; i++)
        CHECK_NOTHING(box);
    CHECK_OK(box_send(box, 1)); // and it still works
    CHECK_TAKES(box, 1);
    CHECK_NOTHING(box);
}

/* ---- Performance: Vela's floors, in Python. Far from ours, and so they fail
 * only when something is badly wrong, such as a take in O(n). ---- */

static void
check_floor(struct box *box, intptr_t count, int64_t limit_ns)
{
    int64_t limit = limit_ns * (test_is_sanitized() ? 20 : 1);
    intptr_t number = 0;
    int64_t start = lbx_clock_now(NULL);

    box_fill(box, 1, count);
    CHECK(lbx_clock_now(NULL) - start < limit);
    start = lbx_clock_now(NULL);
    for (intptr_t i = 1; i <= count; i++)
        CHECK_OK(box_take(box, &number));
    CHECK(lbx_clock_now(NULL) - start < limit);
}

BOX_TEST("V-24", unbounded_mailbox_performance, vela_unbounded())
{
    check_floor(box, 10000, LBX_SECOND);
}

BOX_TEST("V-24 V-17", priority_mailbox_performance,
         vela_create("priority", LBX_DEFAULT))
{
    check_floor(box, 1000, LBX_SECOND / 2);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wakers: which of them is called, how often, and all that one may do with its
 * own operation and with others (WAIT-3 to WAIT-6, and the promises of
 * operation.h).
 */
#include <stdlib.h>
#include <string.h>

#include "mailbox/fixture.h"

BOX_TEST("", poll_without_a_waker_calls_nobody, box_unbounded())
{
    struct receiver receiver;

    receiver_wait(&receiver, box);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receiver.operation, NULL));
    box_send(box, 1);
    CHECK_INT(0, receiver.bell.rings); // NULL replaced the bell
    receiver_check(&receiver, 1);
}

BOX_TEST("", new_waker_replaces_the_one_before, box_unbounded())
{
    struct bell second = {0};
    struct receiver receiver;

    receiver_wait(&receiver, box);
    CHECK_STATUS(LBX_PENDING, bell_poll(&receiver.operation, &second));
    box_send(box, 1);
    CHECK_INT(0, receiver.bell.rings);
    CHECK_INT(1, second.rings);
    receiver_check(&receiver, 1);
}

// The waker struct is copied by each poll; it may live on the stack.
TEST(waker_is_copied)
{
    LOCAL_BOX(box) = box_unbounded();
    struct bell bell = {0};
    lbx_waker waker = bell_waker(&bell);
    void *message = NULL;
    LOCAL_OPERATION(receive);

    CHECK_OK(
        lbx_consumer_receive_init(&receive, box.out, &message, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, &waker));
    memset(&waker, 0xee, sizeof(waker));
    box_send(&box, 1);
    CHECK_INT(1, bell.rings);
}

// At most once for each poll that answered PENDING, however much happens.
BOX_TEST("WAIT-6", waker_is_called_once_per_pending_poll, box_unbounded())
{
    struct receiver receiver;

    receiver_wait(&receiver, box);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&receiver));
    CHECK_STATUS(LBX_PENDING, receiver_poll(&receiver));
    box_send_numbers(box, 1, 5);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(1, receiver.bell.rings);
    receiver_check(&receiver, 1);
    CHECK_INT(1, receiver.bell.rings);
}

// Nobody rings when the poll answered at once.
TEST_CITING("WAIT-6", finished_poll_never_calls_the_waker)
{
    LOCAL_BOX(box) = box_unbounded();
    struct bell bell = {0};
    lbx_operation receive;
    void *message = NULL;

    box_send_numbers(&box, 1, 2);
    CHECK_OK(
        lbx_consumer_receive_init(&receive, box.out, &message, LBX_FOREVER));
    CHECK_OK(bell_poll(&receive, &bell));
    box_send(&box, 3);
    lbx_operation_fini(&receive);
    CHECK_INT(0, bell.rings);
}

// ---- From inside the operation's own waker (89, WAIT-5, WAIT-6) ----

enum deed {
    CANCEL_IT,
    POLL_IT,
    END_IT,
    FREE_IT,
};

struct inside {
    lbx_operation *operation;
    enum deed deed;
    int calls;
    lbx_status status;
};

static void
act_inside(void *context)
{
    struct inside *inside = context;

    inside->calls++;
    switch (inside->deed) {
    case CANCEL_IT:
        inside->status = lbx_operation_cancel(inside->operation);
        break;
    case POLL_IT:
        inside->status = lbx_operation_poll(inside->operation, NULL);
        break;
    case END_IT:
        lbx_operation_fini(inside->operation);
        break;
    case FREE_IT:
        lbx_operation_fini(inside->operation);
        memset(inside->operation, 0xee, sizeof(*inside->operation));
        free(inside->operation);
        break;
    }
}

struct self {
    struct box box;
    struct inside inside;
    void *message;
};

// A receive that waits with a waker that acts on the receive itself.
static void
self_begin(struct self *self, enum deed deed)
{
    lbx_waker waker = {act_inside, &self->inside};

    self->box = box_unbounded();
    self->message = letter(-1);
    self->inside = (struct inside){.deed = deed, .status = LBX_PENDING};
    self->inside.operation = malloc(sizeof(lbx_operation));
    CHECK(self->inside.operation != NULL);
    CHECK_OK(lbx_consumer_receive_init(self->inside.operation, self->box.out,
                                       &self->message, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING,
                 lbx_operation_poll(self->inside.operation, &waker));
}

static void
self_end(struct self *self)
{
    if (self->inside.deed != FREE_IT) {
        lbx_operation_fini(self->inside.operation);
        free(self->inside.operation);
    }
    box_end(&self->box);
}

TEST_CITING("WAIT-5 WAIT-6", operation_may_be_cancelled_inside_its_own_waker)
{
    struct self self;

    self_begin(&self, CANCEL_IT);
    box_send(&self.box, 1);
    CHECK_INT(1, self.inside.calls);
    CHECK_STATUS(LBX_CANCELLED, self.inside.status);
    CHECK_RECEIVES(&self.box, 1); // WAIT-3: it never left its place
    self_end(&self);
}

TEST_CITING("WAIT-6", operation_may_be_polled_inside_its_own_waker)
{
    struct self self;

    self_begin(&self, POLL_IT);
    box_send(&self.box, 1);
    CHECK_INT(1, self.inside.calls);
    CHECK_OK(self.inside.status);
    CHECK_INT(1, number_of(self.message));
    CHECK_NOTHING(&self.box);
    self_end(&self);
}

TEST_CITING("WAIT-6", operation_may_be_ended_inside_its_own_waker)
{
    struct self self;

    self_begin(&self, END_IT);
    box_send(&self.box, 1);
    CHECK_INT(1, self.inside.calls);
    CHECK_RECEIVES(&self.box, 1);
    self_end(&self);
}

// The last thing the library may do with an operation is call its waker.
TEST_CITING("WAIT-6", operation_may_be_freed_inside_its_own_waker)
{
    struct self self;

    self_begin(&self, FREE_IT);
    box_send(&self.box, 1);
    CHECK_INT(1, self.inside.calls);
    CHECK_RECEIVES(&self.box, 1);
    self_end(&self);
}

TEST_CITING("WAIT-6", operation_may_be_freed_inside_its_waker_by_close)
{
    struct self self;

    self_begin(&self, FREE_IT);
    CHECK_OK(lbx_mailbox_close(self.box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(1, self.inside.calls);
    self_end(&self);
}

// WAIT-4 with WAIT-6: the send that a receiver completes is freed by its waker.
BOX_TEST("WAIT-6", send_may_be_freed_inside_its_own_waker,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    struct inside inside = {.deed = FREE_IT};
    lbx_waker waker = {act_inside, &inside};

    inside.operation = malloc(sizeof(lbx_operation));
    CHECK(inside.operation != NULL);
    box_send(box, 1);
    CHECK_OK(lbx_producer_send_init(inside.operation, box->in, letter(2),
                                    LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(inside.operation, &waker));
    CHECK_INT(1, box_next(box));
    CHECK_INT(1, inside.calls);
    CHECK_RECEIVES(box, 2);
}

// Woken together, by one close or one batch: the first one's waker ends and
// frees the second, whose own waker must then never run.
struct together {
    lbx_operation *second;
    lbx_status status;
    void *message;
    struct bell bell;
};

static void
free_the_second(void *context)
{
    struct together *together = context;

    if (!together->second)
        return;
    together->status = lbx_operation_cancel(together->second);
    lbx_operation_fini(together->second);
    memset(together->second, 0xee, sizeof(*together->second));
    free(together->second);
    together->second = NULL;
}

static void
wait_together(struct together *together, const struct box *box,
              lbx_operation *first, void **ret_message)
{
    lbx_waker waker = {free_the_second, together};

    *together = (struct together){.second = malloc(sizeof(lbx_operation))};
    CHECK(together->second != NULL);
    CHECK_OK(
        lbx_consumer_receive_init(first, box->out, ret_message, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(first, &waker));
    CHECK_OK(lbx_consumer_receive_init(together->second, box->out,
                                       &together->message, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, bell_poll(together->second, &together->bell));
}

TEST_CITING("WAIT-5 WAIT-6",
            waker_may_free_another_operation_woken_by_the_same_close)
{
    LOCAL_BOX(box) = box_unbounded();
    struct together together;
    void *message = NULL;
    LOCAL_OPERATION(first);

    wait_together(&together, &box, &first, &message);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_PTR(NULL, together.second);
    CHECK_INT(0, together.bell.rings);
    CHECK_STATUS(LBX_CLOSED, lbx_operation_poll(&first, NULL));
}

TEST_CITING("WAIT-5 MSG-10",
            waker_may_free_another_operation_woken_by_the_same_batch)
{
    LOCAL_BOX(box) = box_make(LBX_KIND_BOUNDED, NULL);
    void *messages[] = {letter(1), letter(2)};
    struct together together;
    void *message = NULL;
    size_t sent = 0;
    LOCAL_OPERATION(first);

    wait_together(&together, &box, &first, &message);
    CHECK_OK(lbx_producer_try_send_batch(box.in, messages, 2, &sent));
    CHECK_STATUS(LBX_CANCELLED, together.status);
    CHECK_INT(0, together.bell.rings);
    CHECK_OK(lbx_operation_poll(&first, NULL));
    CHECK_INT(1, number_of(message));
    CHECK_RECEIVES(&box, 2); // promised to the second, and free again
}

// Two waiters of different sorts on one mailbox, freed by one another.
BOX_TEST("WAIT-6", waker_of_a_receive_may_end_a_waiting_send,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    struct together together = {.second = malloc(sizeof(lbx_operation))};
    lbx_waker waker = {free_the_second, &together};
    LOCAL_OPERATION(flush);

    CHECK(together.second != NULL);
    box_send(box, 1);
    CHECK_OK(lbx_mailbox_flush_init(&flush, box->mailbox, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&flush, &waker));
    CHECK_OK(lbx_producer_send_init(together.second, box->in, letter(2),
                                    LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, bell_poll(together.second, &together.bell));
    CHECK_INT(1, box_next(box)); // moves 2 in and ends the flush
    CHECK_PTR(NULL, together.second);
    CHECK_OK(together.status); // it had been sent
    CHECK_RECEIVES(box, 2);
    CHECK_OK(lbx_operation_poll(&flush, NULL));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations used in every order, the wrong ones included: WAIT-1, WAIT-3 to
 * WAIT-7, and the waker's promises of operation.h.
 */
#include <stdlib.h>
#include <string.h>

#include "mailbox/fixture.h"

// WAIT-1: one of value, cancelled, timeout, closed wins, once and for all.
BOX_TEST("WAIT-1", finished_operation_keeps_its_status, box_unbounded())
{
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, box);
    box_send_numbers(box, 1, 2);
    CHECK_OK(receiver_poll(&receiver));
    CHECK_INT(1, number_of(receiver.message));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_OK(receiver_poll(&receiver));
    CHECK_OK(lbx_operation_cancel(&receiver.operation));
    CHECK_OK(lbx_operation_status(&receiver.operation));
    CHECK_INT(1, number_of(receiver.message)); // and its value
    CHECK_RECEIVES(box, 2);
}

BOX_TEST("WAIT-1", cancelled_operation_stays_cancelled, box_unbounded())
{
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, box);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&receiver.operation));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&receiver.operation));
    box_send(box, 1);
    CHECK_STATUS(LBX_CANCELLED, receiver_poll(&receiver));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_status(&receiver.operation));
    CHECK_INT(0, receiver.bell.rings);
    CHECK_RECEIVES(box, 1);
}

// consumer.h: nothing happens before the first poll.
BOX_TEST("", operation_does_nothing_before_its_first_poll,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    void *message = NULL;
    LOCAL_OPERATION(receive);
    LOCAL_OPERATION(send);

    CHECK_OK(lbx_producer_send_init(&send, box->in, letter(1), LBX_FOREVER));
    CHECK_INT(0, lbx_mailbox_depth(box->mailbox));
    CHECK_STATUS(LBX_PENDING, lbx_operation_status(&send));
    CHECK_OK(
        lbx_consumer_receive_init(&receive, box->out, &message, LBX_FOREVER));
    box_send(box, 2);
    CHECK_INT(0, box_stats(box).waiting_receivers);
    CHECK_RECEIVES(box, 2); // not promised to the receive
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&send));
    CHECK_NOTHING(box);
}

BOX_TEST("WAIT-7", zeroed_ended_and_null_operations_can_be_ended,
         box_unbounded())
{
    lbx_operation zeroed;
    struct receiver receiver;

    memset(&zeroed, 0, sizeof(zeroed));
    lbx_operation_fini(&zeroed);
    lbx_operation_fini(NULL);
    receiver_wait(&receiver, box);
    lbx_operation_fini(&receiver.operation);
    lbx_operation_fini(&receiver.operation);
    box_send(box, 1);
    CHECK_INT(0, receiver.bell.rings);
    CHECK_RECEIVES(box, 1);
}

TEST(operations_that_were_never_started_are_invalid)
{
    lbx_operation zeroed;

    memset(&zeroed, 0, sizeof(zeroed));
    CHECK_STATUS(LBX_INVALID, lbx_operation_poll(&zeroed, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_wait(&zeroed));
    CHECK_STATUS(LBX_INVALID, lbx_operation_cancel(&zeroed));
    CHECK_STATUS(LBX_INVALID, lbx_operation_poll(NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_wait(NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_cancel(NULL));
}

// The same memory may be used again after fini.
BOX_TEST("", operation_may_be_started_again_after_its_end, box_unbounded())
{
    struct receiver receiver;

    for (int number = 1; number <= 3; number++) {
        receiver_wait(&receiver, box);
        box_send(box, number);
        receiver_check(&receiver, number);
    }
}

// operation.h: a finished receive may be started again, for loops.
BOX_TEST("", finished_receive_can_be_restarted, box_unbounded())
{
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, box);
    CHECK_STATUS(LBX_BUSY,
                 lbx_operation_restart(&receiver.operation, LBX_FOREVER));
    for (int number = 1; number <= 3; number++) {
        box_send(box, number);
        CHECK_OK(receiver_poll(&receiver));
        CHECK_INT(number, number_of(receiver.message));
        CHECK_OK(lbx_operation_restart(&receiver.operation, LBX_FOREVER));
        CHECK_STATUS(LBX_PENDING, receiver_poll(&receiver));
    }
    CHECK_INT(3, receiver.bell.rings);
}

BOX_TEST("", finished_flush_and_batch_can_be_restarted, box_unbounded())
{
    void *received[2];
    size_t count = 0;
    LOCAL_OPERATION(receive);
    LOCAL_OPERATION(flush);

    CHECK_OK(lbx_mailbox_flush_init(&flush, box->mailbox, LBX_FOREVER));
    CHECK_OK(lbx_consumer_receive_batch_init(&receive, box->out, received, 2,
                                             &count, LBX_FOREVER));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(lbx_operation_poll(&flush, NULL));
        CHECK_OK(lbx_operation_restart(&flush, LBX_FOREVER));
        box_send_numbers(box, 1, 2);
        CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&flush, NULL));
        CHECK_OK(lbx_operation_poll(&receive, NULL));
        CHECK_INT(2, count);
        CHECK_OK(lbx_operation_restart(&receive, LBX_FOREVER));
    }
    CHECK_OK(lbx_operation_poll(&flush, NULL));
}

BOX_TEST("", receive_of_an_envelope_waits_like_any_other,
         BOX(LBX_KIND_UNBOUNDED, envelope_options()))
{
    struct bell bell = {0};
    lbx_envelope envelope;
    lbx_operation receive;

    CHECK_OK(lbx_consumer_receive_envelope_init(&receive, box->out, &envelope,
                                                LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, bell_poll(&receive, &bell));
    box_send_envelope(box, lbx_envelope_of(letter(1), -3));
    CHECK_INT(1, bell.rings);
    CHECK_OK(bell_poll(&receive, &bell));
    CHECK_INT(1, number_of(envelope.message));
    CHECK_INT(-3, envelope.priority);
    lbx_operation_fini(&receive);
    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_consumer_receive_envelope_until(box->out, &envelope, 0));
}

// Also one that was cancelled or timed out: it waits anew, from the end of
// the line and with its new deadline.
BOX_TEST("", cancelled_receive_can_be_restarted, box_unbounded())
{
    struct receiver first;
    struct receiver second;

    receiver_wait(&first, box);
    receiver_wait(&second, box);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&first.operation));
    CHECK_OK(lbx_operation_restart(&first.operation, 12345));
    CHECK_STATUS(LBX_TIMEOUT, receiver_poll(&first)); // long past
    CHECK_OK(lbx_operation_restart(&first.operation, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, receiver_poll(&first));
    box_send_numbers(box, 1, 2);
    receiver_check(&second, 1);
    receiver_check(&first, 2);
}

BOX_TEST("", sends_and_zeroed_operations_cannot_be_restarted, box_unbounded())
{
    lbx_operation send;
    lbx_operation zeroed;

    memset(&zeroed, 0, sizeof(zeroed));
    CHECK_OK(lbx_producer_send_init(&send, box->in, letter(1), LBX_FOREVER));
    CHECK_OK(lbx_operation_poll(&send, NULL));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_operation_restart(&send, LBX_FOREVER));
    CHECK_OK(lbx_operation_status(&send));
    lbx_operation_fini(&send);
    CHECK_STATUS(LBX_INVALID, lbx_operation_restart(&zeroed, LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID, lbx_operation_restart(NULL, LBX_FOREVER));
    CHECK_RECEIVES(box, 1);
}

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

BOX_TEST("", outputs_are_written_only_on_success, box_unbounded())
{
    void *message = letter(77);
    LOCAL_RECEIVER(receiver);

    CHECK_STATUS(LBX_EMPTY, lbx_consumer_try_receive(box->out, &message));
    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_consumer_receive_until(box->out, &message, 0));
    CHECK_PTR(letter(77), message);
    receiver_wait(&receiver, box);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&receiver));
    CHECK_PTR(letter(-1), receiver.message);
}

// The result of a waiting send is written when it is final.
BOX_TEST("R-13", waiting_send_reports_its_outcome,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(2));
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    lbx_operation send;

    memset(&result, 0xa5, sizeof(result));
    result.size_bytes = sizeof(result);
    box_send(box, 1);
    CHECK_OK(lbx_producer_send_envelope_init(&send, box->in, &envelope,
                                             LBX_FOREVER, &result));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
    CHECK_INT(1, box_next(box));
    CHECK_OK(lbx_operation_poll(&send, NULL));
    CHECK_INT(LBX_OUTCOME_ENQUEUED, result.outcome);
    CHECK_INT(LBX_OVERFLOW_BLOCK, result.overflow);
    lbx_operation_fini(&send);

    CHECK_OK(lbx_producer_send_envelope_init(&send, box->in, &envelope,
                                             LBX_FOREVER, &result));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&send));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    lbx_operation_fini(&send);
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

// ---- WAIT-5 with a second thread ----

struct slow_waker {
    struct box box;
    _Atomic bool has_begun;
    _Atomic bool has_ended;
};

static void
wake_slowly(void *context)
{
    struct slow_waker *slow = context;

    slow->has_begun = true;
    for (int i = 0; i < 200; i++)
        sched_yield();
    slow->has_ended = true;
}

static void
send_one(void *context)
{
    struct slow_waker *slow = context;

    box_send(&slow->box, 1);
}

// Whoever frees what the waker uses, after cancel, is safe.
TEST_CITING("WAIT-5", cancel_awaits_a_waker_that_runs_in_another_thread)
{
    for (int round = 0; round < 50; round++) {
        struct slow_waker slow = {.has_begun = false};
        lbx_waker waker = {wake_slowly, &slow};
        struct thread thread;
        lbx_operation receive;
        void *message = NULL;

        slow.box = box_unbounded();
        CHECK_OK(lbx_consumer_receive_init(&receive, slow.box.out, &message,
                                           LBX_FOREVER));
        CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, &waker));
        thread_start(&thread, send_one, &slow);
        EVENTUALLY(slow.has_begun);
        CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&receive));
        CHECK(slow.has_ended);
        lbx_operation_fini(&receive);
        thread_join(&thread);
        CHECK_RECEIVES(&slow.box, 1);
        box_end(&slow.box);
    }
}

struct give_up {
    struct box box;
    _Atomic int got;
};

static void
send_or_give_up(unsigned index, void *context)
{
    struct give_up *world = context;

    for (int i = 0; i < 500; i++) {
        lbx_operation receive;
        void *message = NULL;
        struct bell bell = {0};

        if (index == 0) {
            box_send(&world->box, 1);
            continue;
        }
        CHECK_OK(lbx_consumer_receive_init(&receive, world->box.out, &message,
                                           LBX_FOREVER));
        if (bell_poll(&receive, &bell) == LBX_PENDING)
            (void)lbx_operation_cancel(&receive);
        if (lbx_operation_status(&receive) == LBX_OK)
            atomic_fetch_add(&world->got, 1);
        lbx_operation_fini(&receive);
    }
}

// WAIT-3, MSG-1 under a race: what the cancelled did not get is still there.
TEST_CITING("WAIT-3 MSG-1", racing_cancels_lose_no_message)
{
    struct give_up world = {.got = 0};

    world.box = box_unbounded();
    threads_run(3, send_or_give_up, &world);
    CHECK_INT(500, world.got + (int)lbx_mailbox_depth(world.box.mailbox));
    while (box_look(&world.box) == LBX_OK)
        world.got++;
    CHECK_INT(500, world.got);
    box_end(&world.box);
}

static void
take_or_give_up(unsigned index, void *context)
{
    struct give_up *world = context;

    for (int i = 0; i < 500; i++) {
        lbx_operation send;
        void *message;

        if (index == 0) {
            if (lbx_consumer_try_receive(world->box.out, &message) == LBX_OK)
                atomic_fetch_sub(&world->got, 1);
            continue;
        }
        CHECK_OK(lbx_producer_send_init(&send, world->box.in, letter(1),
                                        LBX_FOREVER));
        if (lbx_operation_poll(&send, NULL) == LBX_OK ||
            lbx_operation_cancel(&send) == LBX_OK)
            atomic_fetch_add(&world->got, 1);
        lbx_operation_fini(&send);
    }
}

// WAIT-4 under a race: what cancel called sent is in, what it did not is out.
TEST_CITING("WAIT-4 MSG-1", racing_cancelled_sends_are_wholly_in_or_out)
{
    lbx_mailbox_options options = limited_options(2, LBX_OVERFLOW_BLOCK);
    struct give_up world = {.got = 0};

    world.box = box_make(LBX_KIND_BOUNDED, &options);
    threads_run(3, take_or_give_up, &world);
    CHECK_INT(world.got, lbx_mailbox_depth(world.box.mailbox));
    CHECK_INT(0, box_stats(&world.box).waiting_senders);
    box_end(&world.box);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 89: every callback may use the mailbox it was called for. No lock is held,
 * nothing hangs, and everyone still gets what is theirs (R-42, WAIT-6).
 */
#include "mailbox/fixture.h"

struct world {
    struct box box;
    struct receiver waiting;
    int left; /* how often the callback still acts */
    int calls;
    int sent;
    int got;
};

// Uses nearly everything there is.
static void
meddle(struct world *world)
{
    void *message = NULL;

    world->calls++;
    if (world->left == 0)
        return;
    world->left--;
    (void)box_stats(&world->box);
    (void)lbx_mailbox_suspend(world->box.mailbox);
    (void)lbx_mailbox_resume(world->box.mailbox);
    if (lbx_producer_try_send(world->box.in, letter(100)) == LBX_OK)
        world->sent++;
    if (lbx_consumer_try_receive(world->box.out, &message) == LBX_OK)
        world->got = number_of(message);
    lbx_producer_unref(lbx_producer_ref(world->box.in));
}

static void
meddling_loss(void *context, const lbx_loss *loss)
{
    (void)loss;
    meddle(context);
}

static void
meddling_event(void *context, const lbx_metric_event *event)
{
    (void)event;
    meddle(context);
}

static void
meddling_ready(void *context, lbx_mailbox *mailbox)
{
    (void)mailbox;
    meddle(context);
}

static void
meddling_waker(void *context)
{
    meddle(context);
}

static void
meddling_destroy(void *message, void *context)
{
    (void)message;
    meddle(context);
}

static bool
meddling_priority(const void *message, void *context, int32_t *ret)
{
    (void)message;
    meddle(context);
    *ret = 0;
    return true;
}

// A message is lost; the sink takes one and sends one of its own.
static void
loss_sink_may_use_the_mailbox(const char *kind)
{
    lbx_mailbox_options options = limited_options(2, LBX_OVERFLOW_DROP_OLDEST);
    struct world world = {.left = 1};

    options.loss_sink = (lbx_loss_sink){meddling_loss, &world};
    world.box = box_make(kind, &options);
    box_send_numbers(&world.box, 1, 3);
    CHECK(world.calls >= 1);
    CHECK(world.got > 0);
    CHECK(lbx_mailbox_depth(world.box.mailbox) <= 2);
    box_end(&world.box);
}

LIMITED_KINDS(KIND_CITING, "R-42", loss_sink_may_use_the_mailbox)

static void
destroy_function_may_use_the_mailbox(const char *kind)
{
    lbx_mailbox_options options = limited_options(2, LBX_OVERFLOW_DROP_NEWEST);
    struct world world = {.left = 1};

    options.destroy = meddling_destroy;
    options.destroy_context = &world;
    world.box = box_make(kind, &options);
    box_send_numbers(&world.box, 1, 3);
    CHECK(world.calls >= 1);
    CHECK_INT(1, world.got);
    box_end(&world.box);
}

LIMITED_KINDS(KIND_CITING, "R-42", destroy_function_may_use_the_mailbox)

static void
metrics_sink_may_use_the_mailbox(const char *kind)
{
    lbx_mailbox_options options = options_for(kind, 10);
    struct world world = {.left = 0};
    lbx_metrics_sink sink = {meddling_event, &world};

    world.box = box_make(kind, &options);
    CHECK_OK(lbx_mailbox_set_metrics_sink(world.box.mailbox, &sink));
    world.left = 1;
    box_send(&world.box, 1);
    CHECK_INT(1, world.got);
    world.left = 1;
    CHECK_INT(100, box_next(&world.box));
    CHECK_OK(lbx_mailbox_set_metrics_sink(world.box.mailbox, NULL));
    box_end(&world.box);
}

EVERY_KIND(KIND_CITING, "R-42", metrics_sink_may_use_the_mailbox)

static void
scheduler_hook_may_use_the_mailbox(const char *kind)
{
    struct world world = {.left = 2};
    lbx_scheduler_hook hook = {meddling_ready, &world};

    world.box = box_make(kind, NULL);
    CHECK_OK(lbx_mailbox_set_scheduler_hook(world.box.mailbox, &hook));
    box_send(&world.box, 1); // its hook sends 100, whose hook sends 100
    CHECK_INT(3, world.calls);
    CHECK_INT(1, lbx_mailbox_depth(world.box.mailbox));
    box_end(&world.box);
}

EVERY_KIND(KIND_CITING, "R-42", scheduler_hook_may_use_the_mailbox)

static void
priority_function_may_use_the_mailbox(const char *kind)
{
    lbx_mailbox_options options = plain_options();
    struct world world = {.left = 1};

    options.priority = meddling_priority;
    options.priority_context = &world;
    world.box = box_make(kind, &options);
    box_send(&world.box, 1);
    CHECK_INT(100, world.got); // its own, sent and taken before
    CHECK_RECEIVES(&world.box, 1);
    box_end(&world.box);
}

KIND_CITING(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY, "R-05",
            priority_function_may_use_the_mailbox)
KIND_CITING(bounded_priority, LBX_KIND_BOUNDED_PRIORITY, "R-05",
            priority_function_may_use_the_mailbox)

// The waker of a receive sends and receives in the same mailbox.
static void
waker_may_use_the_mailbox(const char *kind)
{
    struct world world = {.left = 1};
    lbx_waker waker = {meddling_waker, &world};
    lbx_operation receive;
    void *message = NULL;

    world.box = box_make(kind, NULL);
    CHECK_OK(lbx_consumer_receive_init(&receive, world.box.out, &message,
                                       LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, &waker));
    box_send(&world.box, 1);
    CHECK_INT(1, world.calls);
    CHECK_OK(lbx_operation_poll(&receive, NULL));
    CHECK_INT(101, world.got + number_of(message)); // each got one
    lbx_operation_fini(&receive);
    CHECK_NOTHING(&world.box);
    box_end(&world.box);
}

KIND_CITING(unbounded, LBX_KIND_UNBOUNDED, "WAIT-6", waker_may_use_the_mailbox)
KIND_CITING(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY, "WAIT-6",
            waker_may_use_the_mailbox)
LIMITED_KINDS(KIND_CITING, "WAIT-6", waker_may_use_the_mailbox)

struct closer {
    struct box box;
    int calls;
    struct losses losses;
};

static void
close_from_loss(void *context, const lbx_loss *loss)
{
    struct closer *closer = context;

    closer->calls++;
    (void)loss;
    CHECK_OK(lbx_mailbox_close(closer->box.mailbox, LBX_CLOSE_IMMEDIATE));
}

// Closing from the callback of a loss makes more losses, each told once; the
// send that caused it was sent or refused, and says which.
TEST_CITING("CLOSE-5", mailbox_may_be_closed_from_its_loss_sink)
{
    lbx_mailbox_options options = limited_options(3, LBX_OVERFLOW_DROP_OLDEST);
    struct closer closer = {.calls = 0};
    lbx_status status;

    options.loss_sink = (lbx_loss_sink){close_from_loss, &closer};
    closer.box = box_make(LBX_KIND_BOUNDED, &options);
    box_send_numbers(&closer.box, 1, 3);
    status = lbx_producer_try_send(closer.box.in, letter(4));
    CHECK(status == LBX_OK || status == LBX_CLOSED);
    CHECK_INT(status == LBX_OK ? 4 : 3, closer.calls);
    CHECK_ENDED(&closer.box);
    box_end(&closer.box);
    CHECK_INT(status == LBX_OK ? 4 : 3, closer.calls);
}

static void
close_from_waker(void *context)
{
    struct closer *closer = context;

    closer->calls++;
    CHECK_OK(lbx_mailbox_close(closer->box.mailbox, LBX_CLOSE_DRAIN));
}

TEST_CITING("CLOSE-5 WAIT-6", mailbox_may_be_closed_from_a_waker)
{
    struct closer closer = {.calls = 0};
    lbx_waker waker = {close_from_waker, &closer};
    lbx_operation first;
    struct receiver second;
    void *message = NULL;

    closer.box = box_unbounded();
    CHECK_OK(lbx_consumer_receive_init(&first, closer.box.out, &message,
                                       LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&first, &waker));
    receiver_wait(&second, &closer.box);
    box_send(&closer.box, 1);
    CHECK_INT(1, closer.calls);
    CHECK_OK(lbx_operation_poll(&first, NULL));
    CHECK_INT(1, number_of(message));
    CHECK_INT(1, second.bell.rings);
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&second));
    lbx_operation_fini(&first);
    lbx_operation_fini(&second.operation);
    box_end(&closer.box);
}

struct dropper {
    struct box box;
};

static void
drop_handles(void *context)
{
    struct dropper *dropper = context;

    box_end(&dropper->box);
}

// The mailbox's last handles go inside a callback of the mailbox: its memory
// must outlive the call that is calling.
TEST_CITING("WAIT-6 MSG-7", last_handles_may_go_inside_a_waker)
{
    struct dropper dropper;
    lbx_waker waker = {drop_handles, &dropper};
    void *message = NULL;
    lbx_producer *in;
    LOCAL_OPERATION(receive);

    dropper.box = box_unbounded();
    in = dropper.box.in;
    CHECK_OK(lbx_consumer_receive_init(&receive, dropper.box.out, &message,
                                       LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, &waker));
    CHECK_OK(lbx_mailbox_close(lbx_producer_mailbox(in), LBX_CLOSE_DRAIN));
    CHECK_PTR(NULL, dropper.box.in);
    CHECK_STATUS(LBX_CLOSED, lbx_operation_poll(&receive, NULL));
}

static void
end_from_hook(void *context, lbx_mailbox *mailbox)
{
    (void)mailbox;
    drop_handles(context);
}

TEST_CITING("MSG-7", last_handles_may_go_inside_the_scheduler_hook)
{
    struct dropper dropper;
    lbx_scheduler_hook hook = {end_from_hook, &dropper};

    dropper.box = box_unbounded();
    CHECK_OK(lbx_mailbox_set_scheduler_hook(dropper.box.mailbox, &hook));
    CHECK_OK(lbx_producer_try_send(dropper.box.in, letter(1)));
    CHECK_PTR(NULL, dropper.box.in);
}

// The same where the call still has a result to fill in.
TEST_CITING("MSG-7", last_handles_may_go_while_an_envelope_is_sent)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_envelope envelope = lbx_envelope_of(letter(1), 0);
    struct dropper dropper;
    lbx_scheduler_hook hook = {end_from_hook, &dropper};
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    options.envelopes = true;
    dropper.box = box_make(LBX_KIND_UNBOUNDED, &options);
    CHECK_OK(lbx_mailbox_set_scheduler_hook(dropper.box.mailbox, &hook));
    CHECK_OK(
        lbx_producer_try_send_envelope(dropper.box.in, &envelope, &result));
    CHECK_PTR(NULL, dropper.box.in);
    CHECK_INT(LBX_OUTCOME_ENQUEUED, result.outcome);
}

struct stubborn {
    struct box box;
    int left;
};

static void
send_again(void *context, const lbx_loss *loss)
{
    struct stubborn *stubborn = context;

    if (stubborn->left == 0)
        return;
    stubborn->left--;
    CHECK_OK(lbx_producer_try_send(stubborn->box.in, loss->envelope->message));
}

// A sink that sends what was lost right back is its own doing, and works as
// long as it stops.
TEST_CITING("R-42", loss_sink_may_send_into_the_mailbox_that_lost)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_DROP_OLDEST);
    struct stubborn stubborn = {.left = 100};

    options.loss_sink = (lbx_loss_sink){send_again, &stubborn};
    stubborn.box = box_make(LBX_KIND_BOUNDED, &options);
    box_send_numbers(&stubborn.box, 1, 2);
    CHECK_INT(0, stubborn.left);
    CHECK_INT(1, lbx_mailbox_depth(stubborn.box.mailbox));
    CHECK_INT(102, box_stats(&stubborn.box).accepted);
    box_end(&stubborn.box);
}

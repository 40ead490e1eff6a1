/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of your own: storage is the user's; policies, lanes, waiting, close
 * and metrics stay the mailbox's.
 */
#include <stdlib.h>
#include <string.h>

#include "mailbox/fixture.h"

enum {
    ROOM = 32
};

// A stack: the last one in is the first one out, so that one can tell it from
// every built-in kind.
struct stack {
    lbx_envelope envelopes[ROOM];
    int count;
    struct shop *shop;
};

// The kind's context: what its storages share.
struct shop {
    lbx_status create_status;
    lbx_status push_status;
    int created;
    int destroyed;
    lbx_mailbox_options seen; /* by the last create */
};

static lbx_status
stack_create(void *kind_context, const lbx_mailbox_options *options,
             void **ret_storage)
{
    struct shop *shop = kind_context;
    struct stack *stack;

    shop->seen = *options;
    if (shop->create_status != LBX_OK)
        return shop->create_status;
    stack = calloc(1, sizeof(*stack));
    CHECK(stack != NULL);
    stack->shop = shop;
    shop->created++;
    *ret_storage = stack;
    return LBX_OK;
}

static void
stack_destroy(void *storage)
{
    struct stack *stack = storage;

    CHECK_INT(0, stack->count); // emptied by the mailbox
    stack->shop->destroyed++;
    free(stack);
}

static lbx_status
stack_push(void *storage, const lbx_envelope *envelope)
{
    struct stack *stack = storage;

    if (stack->shop->push_status != LBX_OK)
        return stack->shop->push_status;
    if (stack->count == ROOM)
        return LBX_FULL;
    stack->envelopes[stack->count++] = *envelope;
    return LBX_OK;
}

static bool
stack_pop(void *storage, lbx_envelope *ret)
{
    struct stack *stack = storage;

    if (stack->count == 0)
        return false;
    *ret = stack->envelopes[--stack->count];
    return true;
}

// The bottom of the stack matters least.
static bool
stack_evict(void *storage, lbx_envelope *ret)
{
    struct stack *stack = storage;

    if (stack->count == 0)
        return false;
    *ret = stack->envelopes[0];
    stack->count--;
    memmove(stack->envelopes, stack->envelopes + 1,
            (size_t)stack->count * sizeof(stack->envelopes[0]));
    return true;
}

static const lbx_kind_ops stack_ops = {
    .size_bytes = sizeof(lbx_kind_ops),
    .create = stack_create,
    .destroy = stack_destroy,
    .push = stack_push,
    .pop = stack_pop,
    .evict = stack_evict,
};

struct street {
    struct shop shop;
    lbx_kind_registry *kinds;
    lbx_mailbox_options options;
};

static void
street_begin(struct street *street)
{
    memset(street, 0, sizeof(*street));
    street->options = plain_options();
    CHECK_OK(lbx_kind_registry_create(NULL, &street->kinds));
    CHECK_OK(lbx_kind_registry_add(street->kinds, "stack", &stack_ops,
                                   &street->shop));
    street->options.kinds = street->kinds;
}

static void
street_end(struct street *street)
{
    CHECK_INT(street->shop.created, street->shop.destroyed);
    lbx_kind_registry_destroy(street->kinds);
}

TEST_CITING("R-21 A-16", own_kind_keeps_messages_its_own_way)
{
    struct street street;
    struct box box;

    street_begin(&street);
    box = box_make("stack", &street.options);
    box_send_numbers(&box, 1, 3);
    CHECK_INT(3, lbx_mailbox_depth(box.mailbox));
    CHECK_RECEIVES(&box, 3, 2, 1);
    box_end(&box);
    CHECK_INT(1, street.shop.destroyed);
    street_end(&street);
}

// create sees what it was asked for.
TEST_CITING("A-16", own_kind_receives_its_options_and_owner)
{
    struct street street;
    struct box box;

    street_begin(&street);
    street.options.owner = &street;
    street.options.name = "orders";
    street.options.capacity_messages = 7;
    box = box_make("stack", &street.options);
    CHECK_PTR(&street, street.shop.seen.owner);
    CHECK_STR("orders", street.shop.seen.name);
    CHECK_INT(7, street.shop.seen.capacity_messages);
    box_end(&box);
    street_end(&street);
}

// options.h: kinds of your own always keep whole envelopes.
TEST(own_kind_keeps_whole_envelopes)
{
    struct street street;
    lbx_envelope envelope = lbx_envelope_of(letter(1), 6);
    struct box box;

    street_begin(&street);
    box = box_make("stack", &street.options);
    envelope.sender = &street;
    box_send_envelope(&box, envelope);
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_PTR(&street, envelope.sender);
    CHECK_INT(6, envelope.priority);
    box_end(&box);
    street_end(&street);
}

// NO_MEMORY, REFUSED and FULL go to the sender; the mailbox stays open.
TEST_CITING("R-12", refusals_of_the_storage_reach_the_sender)
{
    const lbx_status refusals[] = {LBX_NO_MEMORY, LBX_REFUSED, LBX_FULL};
    struct losses losses = {.count = 0};
    struct street street;
    struct box box;

    street_begin(&street);
    street.options.loss_sink = losses_sink(&losses);
    box = box_make("stack", &street.options);
    box_send(&box, 1);
    for (size_t i = 0; i < 3; i++) {
        street.shop.push_status = refusals[i];
        CHECK_STATUS(refusals[i], lbx_producer_try_send(box.in, letter(2)));
        CHECK_STATUS(refusals[i], lbx_producer_send(box.in, letter(2)));
        CHECK_INT(1, lbx_mailbox_depth(box.mailbox));
        CHECK_INT(1, box_stats(&box).accepted);
    }
    street.shop.push_status = LBX_OK;
    box_send(&box, 3);
    CHECK_RECEIVES(&box, 3, 1);
    CHECK_INT(0, losses.count);
    box_end(&box);
    street_end(&street);
}

// factory.h: as they are, whatever the policy. A DROP_NEWEST mailbox does not
// turn the storage's FULL into a loss; a BLOCK mailbox does not wait for it.
TEST(refusals_of_the_storage_pass_the_policy_by)
{
    const lbx_overflow policies[] = {
        LBX_OVERFLOW_REJECT, LBX_OVERFLOW_DROP_NEWEST, LBX_OVERFLOW_DROP_OLDEST,
        LBX_OVERFLOW_GROW, LBX_OVERFLOW_BLOCK};

    for (size_t i = 0; i < 5; i++) {
        struct losses losses = {.count = 0};
        struct street street;
        struct box box;

        street_begin(&street);
        street.options.loss_sink = losses_sink(&losses);
        street.options.capacity_messages = 10;
        street.options.overflow = policies[i];
        box = box_make("stack", &street.options);
        street.shop.push_status = LBX_FULL;
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(1)));
        CHECK_STATUS(LBX_FULL, lbx_producer_send(box.in, letter(1)));
        CHECK_INT(2, box_stats(&box).rejected);
        CHECK_INT(0, losses.count);
        CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
        box_end(&box);
        street_end(&street);
    }
}

// A refusal in mid hand-over reaches the send that waits, and the room it
// would have taken goes to the next in line (MSG-9).
TEST_CITING("MSG-9", storage_that_refuses_a_waiting_send_serves_the_next)
{
    struct street street;
    struct sender first;
    struct sender second;
    struct box box;

    street_begin(&street);
    street.options.capacity_messages = 1;
    street.options.overflow = LBX_OVERFLOW_BLOCK;
    box = box_make("stack", &street.options);
    box_send(&box, 1);
    sender_wait(&first, &box, 2);
    sender_wait(&second, &box, 3);
    street.shop.push_status = LBX_REFUSED;
    CHECK_INT(1, box_next(&box));
    CHECK_STATUS(LBX_REFUSED, sender_poll(&first));
    CHECK_STATUS(LBX_REFUSED, sender_poll(&second));
    CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
    lbx_operation_fini(&first.operation);
    lbx_operation_fini(&second.operation);
    box_end(&box);
    street_end(&street);
}

// What a storage's own create answers is what creation answers.
TEST_CITING("A-30", creation_answers_what_the_storage_says)
{
    const lbx_status refusals[] = {LBX_NO_MEMORY, LBX_INVALID, LBX_REFUSED};
    lbx_producer *in;
    lbx_consumer *out;
    struct street street;

    street_begin(&street);
    for (size_t i = 0; i < 3; i++) {
        street.shop.create_status = refusals[i];
        CHECK_STATUS(refusals[i],
                     lbx_mailbox_create("stack", &street.options, &in, &out));
    }
    CHECK_INT(0, street.shop.created);
    street_end(&street);
}

// Policies, capacity, lanes, waiting, suspension and close work unchanged.
TEST_CITING("R-21 MSG-5", own_kind_gets_capacity_and_policy_from_the_mailbox)
{
    struct losses losses = {.count = 0};
    struct street street;
    struct box box;

    street_begin(&street);
    street.options.capacity_messages = 3;
    street.options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    street.options.loss_sink = losses_sink(&losses);
    box = box_make("stack", &street.options);
    CHECK(lbx_mailbox_capabilities(box.mailbox) & LBX_CAPABILITY_BOUND);
    box_send_numbers(&box, 1, 5);
    CHECK_INT(2, losses.count);
    losses_check(&losses, 0, 1, LBX_LOSS_DROPPED_OLDEST); // by evict
    losses_check(&losses, 1, 2, LBX_LOSS_DROPPED_OLDEST);
    box_send_system(&box, 9);
    CHECK_RECEIVES(&box, 9, 5, 4, 3);
    box_end(&box);
    street_end(&street);
}

TEST_CITING("R-21 R-34", own_kind_gets_waiting_from_the_mailbox)
{
    struct street street;
    struct receiver receiver;
    struct sender sender;
    struct box box;

    street_begin(&street);
    street.options.capacity_messages = 1;
    street.options.overflow = LBX_OVERFLOW_BLOCK;
    box = box_make("stack", &street.options);
    receiver_wait(&receiver, &box);
    box_send(&box, 1);
    sender_wait(&sender, &box, 2);
    receiver_check(&receiver, 1);
    CHECK_INT(1, sender.bell.rings);
    CHECK_OK(sender_poll(&sender));
    CHECK(lbx_mailbox_suspend(box.mailbox));
    CHECK_NOTHING(&box);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_RECEIVES(&box, 2);
    lbx_operation_fini(&sender.operation);
    box_end(&box);
    street_end(&street);
}

// A-15's cleanUp: what is left goes to the dead letters, in the storage's own
// order, before the storage is destroyed.
TEST_CITING("A-15", own_kind_is_emptied_before_it_is_destroyed)
{
    struct losses losses = {.count = 0};
    struct street street;
    struct box box;

    street_begin(&street);
    street.options.loss_sink = losses_sink(&losses);
    box = box_make("stack", &street.options);
    box_send_numbers(&box, 1, 3);
    box_end(&box);
    CHECK_INT(3, losses.count);
    losses_check(&losses, 0, 3, LBX_LOSS_CLOSED);
    losses_check(&losses, 2, 1, LBX_LOSS_CLOSED);
    street_end(&street);
}

// Without evict, DROP_OLDEST drops the next one.
TEST(kind_without_evict_drops_what_comes_next)
{
    struct losses losses = {.count = 0};
    lbx_kind_ops ops = stack_ops;
    struct street street;
    struct box box;

    street_begin(&street);
    ops.evict = NULL;
    CHECK_OK(lbx_kind_registry_add(street.kinds, "pile", &ops, &street.shop));
    street.options.capacity_messages = 2;
    street.options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    street.options.loss_sink = losses_sink(&losses);
    box = box_make("pile", &street.options);
    box_send_numbers(&box, 1, 3);
    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 2, LBX_LOSS_DROPPED_OLDEST);
    CHECK_RECEIVES(&box, 3, 1);
    box_end(&box);
    street_end(&street);
}

// A stack's push is also a push to the front.
TEST(kind_with_a_front_can_be_sent_to_its_front)
{
    lbx_kind_ops ops = stack_ops;
    struct street street;
    struct box box;

    street_begin(&street);
    ops.push_front = stack_push;
    ops.capabilities = LBX_CAPABILITY_SEND_FRONT;
    CHECK_OK(lbx_kind_registry_add(street.kinds, "deck", &ops, &street.shop));
    CHECK(lbx_kind_registry_capabilities(street.kinds, "deck") &
          LBX_CAPABILITY_SEND_FRONT);
    box = box_make("deck", &street.options);
    box_send(&box, 1);
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(2)));
    CHECK_RECEIVES(&box, 2, 1);
    box_end(&box);
    street_end(&street);
}

static bool
number_is_priority(const void *message, void *context, int32_t *ret)
{
    ++*(int *)context;
    *ret = number_of(message);
    return number_of(message) != 13;
}

// A kind that sorts is told what to sort by: the mailbox asks, once.
TEST_CITING("R-05", kind_that_sorts_is_given_priorities)
{
    lbx_kind_ops ops = stack_ops;
    lbx_envelope envelope;
    struct street street;
    struct box box;
    int asked = 0;

    street_begin(&street);
    ops.capabilities = LBX_CAPABILITY_PRIORITIZE;
    CHECK_OK(lbx_kind_registry_add(street.kinds, "sorted", &ops, &street.shop));
    street.options.priority = number_is_priority;
    street.options.priority_context = &asked;
    box = box_make("sorted", &street.options);
    box_send(&box, 5);
    CHECK_STATUS(LBX_REFUSED, lbx_producer_try_send(box.in, letter(13)));
    CHECK_INT(2, asked);
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_INT(5, envelope.priority);
    box_end(&box);
    street_end(&street);
}

TEST(registry_knows_the_built_in_kinds_and_its_own)
{
    struct street street;
    struct box box;

    street_begin(&street);
    box = box_make(LBX_KIND_BOUNDED, &street.options);
    box_end(&box);
    CHECK(lbx_kind_registry_capabilities(street.kinds, "stack") != 0);
    CHECK_INT(0, lbx_kind_registry_capabilities(
                     NULL, "stack")); // not in the built-in
    street_end(&street);
}

TEST(name_that_is_taken_exists)
{
    struct street street;

    street_begin(&street);
    CHECK_STATUS(LBX_EXISTS, lbx_kind_registry_add(street.kinds, "stack",
                                                   &stack_ops, &street.shop));
    CHECK_STATUS(LBX_EXISTS, lbx_kind_registry_add(street.kinds, "unbounded",
                                                   &stack_ops, &street.shop));
    CHECK_STATUS(LBX_EXISTS, lbx_kind_registry_add(street.kinds, "priority",
                                                   &stack_ops, &street.shop));
    street_end(&street);
}

TEST(name_of_a_kind_is_copied)
{
    char name[] = "pile";
    struct street street;
    struct box box;

    street_begin(&street);
    CHECK_OK(
        lbx_kind_registry_add(street.kinds, name, &stack_ops, &street.shop));
    memset(name, 'x', sizeof(name) - 1);
    box = box_make("pile", &street.options);
    box_end(&box);
    street_end(&street);
}

// A table with a hole would be a jump to NULL at the first message.
TEST(incomplete_tables_are_invalid)
{
    struct street street;
    lbx_kind_ops ops[6];

    street_begin(&street);
    for (int i = 0; i < 6; i++)
        ops[i] = stack_ops;
    ops[0].create = NULL;
    ops[1].destroy = NULL;
    ops[2].push = NULL;
    ops[3].pop = NULL;
    ops[4].size_bytes--;
    ops[5].capabilities = LBX_CAPABILITY_SEND_FRONT; // and no push_front
    for (int i = 0; i < 6; i++)
        CHECK_STATUS(LBX_INVALID,
                     lbx_kind_registry_add(street.kinds, "new", &ops[i], NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_kind_registry_add(street.kinds, "", &stack_ops, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_kind_registry_add(street.kinds, NULL, &stack_ops, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_kind_registry_add(street.kinds, "new", NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_kind_registry_add(NULL, "new", &stack_ops, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_kind_registry_create(NULL, NULL));
    lbx_kind_registry_destroy(NULL);
    CHECK_INT(0, lbx_kind_registry_capabilities(street.kinds, "new"));
    street_end(&street);
}

static void
crowd_a_stack(unsigned index, void *context)
{
    struct box *box = context;
    void *message = NULL;

    for (int i = 0; i < 500; i++) {
        if (index % 2 == 0)
            CHECK_OK(lbx_producer_send(box->in, letter(i)));
        else
            CHECK_OK(lbx_consumer_receive(box->out, &message));
    }
}

// factory.h: entries are called one at a time; the stack has no lock, and
// TSan looks on.
TEST(storage_is_called_by_one_thread_at_a_time)
{
    struct street street;
    struct box box;

    street_begin(&street);
    street.options.capacity_messages = 4;
    street.options.overflow = LBX_OVERFLOW_BLOCK;
    box = box_make("stack", &street.options);
    threads_run(4, crowd_a_stack, &box);
    CHECK_NOTHING(&box);
    box_end(&box);
    street_end(&street);
}

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
    struct stacks *stacks;
};

// The kind's context: what its storages share.
struct stacks {
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
    struct stacks *stacks = kind_context;
    struct stack *stack;

    stacks->seen = *options;
    if (stacks->create_status != LBX_OK)
        return stacks->create_status;
    stack = calloc(1, sizeof(*stack));
    CHECK(stack != NULL);
    stack->stacks = stacks;
    stacks->created++;
    *ret_storage = stack;
    return LBX_OK;
}

static void
stack_destroy(void *storage)
{
    struct stack *stack = storage;

    CHECK_INT(0, stack->count); // emptied by the mailbox
    stack->stacks->destroyed++;
    free(stack);
}

static lbx_status
stack_push(void *storage, const lbx_envelope *envelope)
{
    struct stack *stack = storage;

    if (stack->stacks->push_status != LBX_OK)
        return stack->stacks->push_status;
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

struct registry {
    struct stacks stacks;
    lbx_kind_registry *kinds;
    lbx_mailbox_options options;
};

static void
registry_begin(struct registry *registry)
{
    memset(registry, 0, sizeof(*registry));
    registry->options = plain_options();
    CHECK_OK(lbx_kind_registry_create(NULL, &registry->kinds));
    CHECK_OK(lbx_kind_registry_add(registry->kinds, "stack", &stack_ops,
                                   &registry->stacks));
    registry->options.kinds = registry->kinds;
}

static void
registry_end(struct registry *registry)
{
    CHECK_INT(registry->stacks.created, registry->stacks.destroyed);
    lbx_kind_registry_destroy(registry->kinds);
}

/* A test with a registry that has the kind "stack"; it is ended afterwards. */
#define STACK_TEST(behaviours, name)                                           \
    static void name##_with(struct registry *registry);                        \
                                                                               \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        struct registry registry;                                              \
                                                                               \
        registry_begin(&registry);                                             \
        name##_with(&registry);                                                \
        registry_end(&registry);                                               \
    }                                                                          \
                                                                               \
    static void name##_with(struct registry *registry)

STACK_TEST("R-21 A-16", own_kind_keeps_messages_its_own_way)
{
    struct box box = box_make("stack", &registry->options);

    box_send_numbers(&box, 1, 3);
    CHECK_INT(3, lbx_mailbox_depth(box.mailbox));
    CHECK_RECEIVES(&box, 3, 2, 1);
    box_end(&box);
    CHECK_INT(1, registry->stacks.destroyed);
}

// create sees what it was asked for.
STACK_TEST("A-16", own_kind_receives_its_options_and_owner)
{
    LOCAL_BOX(box);

    registry->options.owner = registry;
    registry->options.name = "orders";
    registry->options.capacity_messages = 7;
    box = box_make("stack", &registry->options);
    CHECK_PTR(registry, registry->stacks.seen.owner);
    CHECK_STR("orders", registry->stacks.seen.name);
    CHECK_INT(7, registry->stacks.seen.capacity_messages);
}

// options.h: kinds of your own always keep whole envelopes.
STACK_TEST("", own_kind_keeps_whole_envelopes)
{
    lbx_envelope envelope = lbx_envelope_of(letter(1), 6);
    LOCAL_BOX(box) = box_make("stack", &registry->options);

    envelope.sender = registry;
    box_send_envelope(&box, envelope);
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_PTR(registry, envelope.sender);
    CHECK_INT(6, envelope.priority);
}

// NO_MEMORY, REFUSED and FULL go to the sender; the mailbox stays open.
STACK_TEST("R-12", refusals_of_the_storage_reach_the_sender)
{
    const lbx_status refusals[] = {LBX_NO_MEMORY, LBX_REFUSED, LBX_FULL};
    struct losses losses = {.count = 0};
    LOCAL_BOX(box);

    registry->options.loss_sink = losses_sink(&losses);
    box = box_make("stack", &registry->options);
    box_send(&box, 1);
    for (size_t i = 0; i < 3; i++) {
        registry->stacks.push_status = refusals[i];
        CHECK_STATUS(refusals[i], lbx_producer_try_send(box.in, letter(2)));
        CHECK_STATUS(refusals[i], lbx_producer_send(box.in, letter(2)));
        CHECK_INT(1, lbx_mailbox_depth(box.mailbox));
        CHECK_INT(1, box_stats(&box).accepted);
    }
    registry->stacks.push_status = LBX_OK;
    box_send(&box, 3);
    CHECK_RECEIVES(&box, 3, 1);
    CHECK_INT(0, losses.count);
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
        struct registry registry;
        struct box box;

        registry_begin(&registry);
        registry.options.loss_sink = losses_sink(&losses);
        registry.options.capacity_messages = 10;
        registry.options.overflow = policies[i];
        box = box_make("stack", &registry.options);
        registry.stacks.push_status = LBX_FULL;
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(1)));
        CHECK_STATUS(LBX_FULL, lbx_producer_send(box.in, letter(1)));
        CHECK_INT(2, box_stats(&box).rejected);
        CHECK_INT(0, losses.count);
        CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
        box_end(&box);
        registry_end(&registry);
    }
}

// A refusal in mid hand-over reaches the send that waits, and the room it
// would have taken goes to the next in line (MSG-9).
STACK_TEST("MSG-9", storage_that_refuses_a_waiting_send_serves_the_next)
{
    LOCAL_BOX(box);
    LOCAL_SENDER(second);
    LOCAL_SENDER(first);

    registry->options.capacity_messages = 1;
    registry->options.overflow = LBX_OVERFLOW_BLOCK;
    box = box_make("stack", &registry->options);
    box_send(&box, 1);
    sender_wait(&first, &box, 2);
    sender_wait(&second, &box, 3);
    registry->stacks.push_status = LBX_REFUSED;
    CHECK_INT(1, box_next(&box));
    CHECK_STATUS(LBX_REFUSED, sender_poll(&first));
    CHECK_STATUS(LBX_REFUSED, sender_poll(&second));
    CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
}

// What a storage's own create answers is what creation answers.
STACK_TEST("A-30", creation_answers_what_the_storage_says)
{
    const lbx_status refusals[] = {LBX_NO_MEMORY, LBX_INVALID, LBX_REFUSED};
    lbx_producer *in;
    lbx_consumer *out;

    for (size_t i = 0; i < 3; i++) {
        registry->stacks.create_status = refusals[i];
        CHECK_STATUS(refusals[i], lbx_mailbox_create(
                                      "stack", &registry->options, &in, &out));
    }
    CHECK_INT(0, registry->stacks.created);
}

// Policies, capacity, lanes, waiting, suspension and close work unchanged.
STACK_TEST("R-21 MSG-5", own_kind_gets_capacity_and_policy_from_the_mailbox)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box);

    registry->options.capacity_messages = 3;
    registry->options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    registry->options.loss_sink = losses_sink(&losses);
    box = box_make("stack", &registry->options);
    CHECK(lbx_mailbox_capabilities(box.mailbox) & LBX_CAPABILITY_BOUND);
    box_send_numbers(&box, 1, 5);
    CHECK_INT(2, losses.count);
    losses_check(&losses, 0, 1, LBX_LOSS_DROPPED_OLDEST); // by evict
    losses_check(&losses, 1, 2, LBX_LOSS_DROPPED_OLDEST);
    box_send_system(&box, 9);
    CHECK_RECEIVES(&box, 9, 5, 4, 3);
}

STACK_TEST("R-21 R-34", own_kind_gets_waiting_from_the_mailbox)
{
    struct receiver receiver;
    LOCAL_BOX(box);
    LOCAL_SENDER(sender);

    registry->options.capacity_messages = 1;
    registry->options.overflow = LBX_OVERFLOW_BLOCK;
    box = box_make("stack", &registry->options);
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
}

// A-15's cleanUp: what is left goes to the dead letters, in the storage's own
// order, before the storage is destroyed.
STACK_TEST("A-15", own_kind_is_emptied_before_it_is_destroyed)
{
    struct losses losses = {.count = 0};
    struct box box;

    registry->options.loss_sink = losses_sink(&losses);
    box = box_make("stack", &registry->options);
    box_send_numbers(&box, 1, 3);
    box_end(&box);
    CHECK_INT(3, losses.count);
    losses_check(&losses, 0, 3, LBX_LOSS_CLOSED);
    losses_check(&losses, 2, 1, LBX_LOSS_CLOSED);
}

// Without evict, DROP_OLDEST drops the next one.
STACK_TEST("", kind_without_evict_drops_what_comes_next)
{
    struct losses losses = {.count = 0};
    lbx_kind_ops ops = stack_ops;
    LOCAL_BOX(box);

    ops.evict = NULL;
    CHECK_OK(lbx_kind_registry_add(registry->kinds, "pile", &ops,
                                   &registry->stacks));
    registry->options.capacity_messages = 2;
    registry->options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    registry->options.loss_sink = losses_sink(&losses);
    box = box_make("pile", &registry->options);
    box_send_numbers(&box, 1, 3);
    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 2, LBX_LOSS_DROPPED_OLDEST);
    CHECK_RECEIVES(&box, 3, 1);
}

// A stack's push is also a push to the front.
STACK_TEST("", kind_with_a_front_can_be_sent_to_its_front)
{
    lbx_kind_ops ops = stack_ops;
    LOCAL_BOX(box);

    ops.push_front = stack_push;
    ops.capabilities = LBX_CAPABILITY_SEND_FRONT;
    CHECK_OK(lbx_kind_registry_add(registry->kinds, "deck", &ops,
                                   &registry->stacks));
    CHECK(lbx_kind_registry_capabilities(registry->kinds, "deck") &
          LBX_CAPABILITY_SEND_FRONT);
    box = box_make("deck", &registry->options);
    box_send(&box, 1);
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(2)));
    CHECK_RECEIVES(&box, 2, 1);
}

static bool
number_is_priority(const void *message, void *context, int32_t *ret)
{
    ++*(int *)context;
    *ret = number_of(message);
    return number_of(message) != 13;
}

// A kind that sorts is told what to sort by: the mailbox asks, once.
STACK_TEST("R-05", kind_that_sorts_is_given_priorities)
{
    lbx_kind_ops ops = stack_ops;
    lbx_envelope envelope;
    LOCAL_BOX(box);
    int asked = 0;

    ops.capabilities = LBX_CAPABILITY_PRIORITIZE;
    CHECK_OK(lbx_kind_registry_add(registry->kinds, "sorted", &ops,
                                   &registry->stacks));
    registry->options.priority = number_is_priority;
    registry->options.priority_context = &asked;
    box = box_make("sorted", &registry->options);
    box_send(&box, 5);
    CHECK_STATUS(LBX_REFUSED, lbx_producer_try_send(box.in, letter(13)));
    CHECK_INT(2, asked);
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_INT(5, envelope.priority);
}

STACK_TEST("", registry_knows_the_built_in_kinds_and_its_own)
{
    struct box box = box_make(LBX_KIND_BOUNDED, &registry->options);

    box_end(&box);
    CHECK(lbx_kind_registry_capabilities(registry->kinds, "stack") != 0);
    CHECK_INT(0, lbx_kind_registry_capabilities(
                     NULL, "stack")); // not in the built-in
}

STACK_TEST("", name_that_is_taken_exists)
{
    CHECK_STATUS(LBX_EXISTS,
                 lbx_kind_registry_add(registry->kinds, "stack", &stack_ops,
                                       &registry->stacks));
    CHECK_STATUS(LBX_EXISTS,
                 lbx_kind_registry_add(registry->kinds, "unbounded", &stack_ops,
                                       &registry->stacks));
    CHECK_STATUS(LBX_EXISTS,
                 lbx_kind_registry_add(registry->kinds, "priority", &stack_ops,
                                       &registry->stacks));
}

STACK_TEST("", name_of_a_kind_is_copied)
{
    char name[] = "pile";
    LOCAL_BOX(box);

    CHECK_OK(lbx_kind_registry_add(registry->kinds, name, &stack_ops,
                                   &registry->stacks));
    memset(name, 'x', sizeof(name) - 1);
    box = box_make("pile", &registry->options);
}

// A table with a hole would be a jump to NULL at the first message.
STACK_TEST("", incomplete_tables_are_invalid)
{
    lbx_kind_ops ops[6];

    for (int i = 0; i < 6; i++)
        ops[i] = stack_ops;
    ops[0].create = NULL;
    ops[1].destroy = NULL;
    ops[2].push = NULL;
    ops[3].pop = NULL;
    ops[4].size_bytes--;
    ops[5].capabilities = LBX_CAPABILITY_SEND_FRONT; // and no push_front
    for (int i = 0; i < 6; i++)
        CHECK_STATUS(LBX_INVALID, lbx_kind_registry_add(registry->kinds, "new",
                                                        &ops[i], NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_kind_registry_add(registry->kinds, "", &stack_ops, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_kind_registry_add(registry->kinds, NULL,
                                                    &stack_ops, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_kind_registry_add(registry->kinds, "new", NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_kind_registry_add(NULL, "new", &stack_ops, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_kind_registry_create(NULL, NULL));
    lbx_kind_registry_destroy(NULL);
    CHECK_INT(0, lbx_kind_registry_capabilities(registry->kinds, "new"));
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
STACK_TEST("", storage_is_called_by_one_thread_at_a_time)
{
    LOCAL_BOX(box);

    registry->options.capacity_messages = 4;
    registry->options.overflow = LBX_OVERFLOW_BLOCK;
    box = box_make("stack", &registry->options);
    threads_run(4, crowd_a_stack, &box);
    CHECK_NOTHING(&box);
}

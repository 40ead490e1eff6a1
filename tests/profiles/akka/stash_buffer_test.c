/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StashBufferSpec: Akka Typed's stash buffer, on the stash of an actor.
 *
 * A clerk stashes the numbers it gets, or reads them out into the stage; told
 * DO, it does what the test says, inside its handler.
 */
#include "stage.h"

enum {
    DO = 900,
    CLEAR,
};

static struct {
    struct stage stage;
    lbx_ref self;
    void (*deed)(lbx_context *context);
    bool reads;
    int again; /* a number that it does not read yet, and stashes */
} clerk;

static lbx_status
clerk_receive(lbx_context *context, void *state, void *message)
{
    int number = (int)(intptr_t)message;

    (void)state;
    if (number == DO)
        clerk.deed(context);
    else if (!clerk.reads || number == clerk.again)
        return lbx_context_stash(context);
    else if (number == CLEAR)
        lbx_context_stash_clear(context);
    else
        clerk.stage.received[clerk.stage.received_count++] = number;
    return LBX_OK;
}

static const lbx_behaviour clerk_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "clerk",
    .receive = clerk_receive,
};

static void
clerk_begin(int64_t capacity)
{
    lbx_props props;

    stage_begin(&clerk.stage, NULL);
    props = stage_props(&clerk.stage, ANY);
    props.behaviour = &clerk_behaviour;
    props.stash_capacity = capacity;
    CHECK_OK(
        lbx_system_spawn(clerk.stage.system, &props, "clerk", &clerk.self));
}

static void
clerk_does(void (*deed)(lbx_context *context))
{
    clerk.deed = deed;
    stage_tell(clerk.self, DO);
    stage_run(&clerk.stage);
}

static void
clerk_gets(int first, int last)
{
    for (int number = first; number <= last; number++)
        stage_tell(clerk.self, number);
    stage_run(&clerk.stage);
}

static int
head(const lbx_context *context)
{
    lbx_envelope envelope;

    CHECK_OK(lbx_context_stash_find(context, NULL, NULL, &envelope));
    return (int)(intptr_t)envelope.message;
}

static void
check_empty(lbx_context *context)
{
    lbx_envelope envelope;

    CHECK_INT(0, lbx_context_stashed(context));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_context_stash_find(context, NULL, NULL, &envelope));
    CHECK_INT(0, lbx_context_unstash(context, 1));
}

static void
read_all(lbx_context *context)
{
    clerk.reads = true;
    lbx_context_unstash_all(context);
}

static void
read_one(lbx_context *context)
{
    clerk.reads = true;
    CHECK_INT(1, lbx_context_unstash(context, 1));
}

static void
check_two(lbx_context *context)
{
    CHECK_INT(2, lbx_context_stashed(context));
    CHECK_INT(1, head(context));
    CHECK_INT(2, lbx_context_stashed(context));
}

static void
check_second(lbx_context *context)
{
    CHECK_INT(1, lbx_context_stashed(context));
    CHECK_INT(2, head(context));
}

// "answer empty correctly", "append and drop".
TEST_CITING("StashBufferSpec 1", buffer_knows_its_size_and_head)
{
    clerk_begin(10);
    clerk_does(check_empty);
    clerk_gets(1, 2);
    clerk_does(check_two);
    clerk_does(read_one);
    CHECK_RECEIVED(&clerk.stage, 1);
    clerk_does(check_second);
    clerk_does(read_one);
    CHECK_RECEIVED(&clerk.stage, 2);
    clerk_does(check_empty);
    stage_end(&clerk.stage);
}

static void
stash_order(lbx_context *context)
{
    CHECK_STATUS(LBX_FULL, lbx_context_stash(context)); // not itself either
    CHECK_INT(3, lbx_context_stashed(context));
}

// "enforce capacity": three go in.
TEST_CITING("StashBufferSpec 2", buffer_of_three_refuses_the_fourth)
{
    clerk_begin(3);
    clerk_gets(1, 3);
    clerk_does(stash_order);
    clerk_does(read_all);
    CHECK_RECEIVED(&clerk.stage, 1, 2, 3);
    stage_end(&clerk.stage);
}

static bool
see(void *argument, const lbx_envelope *envelope)
{
    int *text = argument; // digits, the first one first

    *text = *text * 10 + (int)(intptr_t)envelope->message;
    return false;
}

static int
all(const lbx_context *context)
{
    lbx_envelope envelope;
    int text = 0;

    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_context_stash_find(context, see, &text, &envelope));
    return text;
}

static void
check_all_three(lbx_context *context)
{
    CHECK_INT(123, all(context));
}

static void
check_last_two(lbx_context *context)
{
    CHECK_INT(23, all(context));
}

// "process elements in the right order".
TEST_CITING("StashBufferSpec 3", buffer_shows_its_messages_in_order)
{
    clerk_begin(10);
    clerk_gets(1, 3);
    clerk_does(check_all_three);
    clerk_does(read_one);
    clerk_does(check_last_two);
    CHECK_RECEIVED(&clerk.stage, 1);
    stage_end(&clerk.stage);
}

static bool
is_number(void *argument, const lbx_envelope *envelope)
{
    return envelope->message == argument;
}

static void
check_contains(lbx_context *context)
{
    lbx_envelope envelope;

    CHECK_OK(lbx_context_stash_find(context, is_number, (void *)1, &envelope));
    CHECK_OK(lbx_context_stash_find(context, is_number, (void *)2, &envelope));
    CHECK_PTR((void *)2, envelope.message);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_context_stash_find(context, is_number,
                                                       (void *)3, &envelope));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_stash_find(context, NULL, NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_stash_find(NULL, NULL, NULL, &envelope));
}

// "answer 'exists' and 'contains' correctly".
TEST_CITING("StashBufferSpec 4", buffer_finds_what_it_contains)
{
    clerk_begin(10);
    clerk_gets(1, 2);
    clerk_does(check_contains);
    stage_end(&clerk.stage);
}

static lbx_status
add_tens(lbx_context *context, void *state, void *message)
{
    int number = (int)(intptr_t)message;

    (void)state;
    clerk.stage.received[clerk.stage.received_count++] = 10 * number;
    lbx_context_unbecome(context);
    return LBX_OK;
}

static lbx_status
add_hundreds(lbx_context *context, void *state, void *message)
{
    int number = (int)(intptr_t)message;

    (void)state;
    clerk.stage.received[clerk.stage.received_count++] = 100 * number;
    lbx_context_unbecome(context);
    return lbx_context_become(context, add_tens);
}

static void
read_changing(lbx_context *context)
{
    read_all(context);
    CHECK_OK(lbx_context_become(context, add_hundreds));
}

// "unstash to returned behaviors": each message meets what the one before it
// made of the actor.
TEST_CITING("StashBufferSpec 5", buffer_unstashes_through_behaviours)
{
    clerk_begin(10);
    clerk_gets(1, 3);
    clerk_does(read_changing);
    CHECK_RECEIVED(&clerk.stage, 100, 20, 3);
    clerk_does(check_empty);
    stage_end(&clerk.stage);
}

// "be able to stash while unstashing": what is stashed meanwhile is not handled
// by the same call.
TEST_CITING("StashBufferSpec 6", buffer_can_be_filled_while_it_is_emptied)
{
    clerk_begin(10);
    clerk_gets(1, 3);
    clerk.again = 2;
    clerk_does(read_all);
    CHECK_RECEIVED(&clerk.stage, 1, 3);
    clerk_does(check_second);
    clerk_does(read_all);
    CHECK_INT(0, clerk.stage.received_count);
    clerk_does(check_second);
    stage_end(&clerk.stage);
}

static void
read_at_most_twenty(lbx_context *context)
{
    uint64_t inside = lbx_context_stashed(context);

    clerk.reads = true;
    CHECK_INT(inside, lbx_context_unstash(context, 20));
}

// "unstash at most the number of messages in the buffer", when the call is
// made.
TEST_CITING("StashBufferSpec 7", buffer_unstashes_what_it_had_at_the_call)
{
    clerk_begin(10);
    clerk_gets(1, 3);
    clerk.again = 2;
    clerk_does(read_at_most_twenty);
    stage_tell(clerk.self, 2); // another one
    stage_tell(clerk.self, 4);
    CHECK_RECEIVED(&clerk.stage, 1, 3, 4);
    clerk.again = 0;
    clerk_does(read_at_most_twenty);
    CHECK_RECEIVED(&clerk.stage, 2, 2);
    clerk_does(check_empty);
    stage_end(&clerk.stage);
}

static void
clear(lbx_context *context)
{
    lbx_context_stash_clear(context);
    check_empty(context);
    lbx_context_stash_clear(context);
    lbx_context_stash_clear(NULL);
}

// "clear". They were the actor's: no dead letters.
TEST_CITING("StashBufferSpec 8", buffer_can_be_cleared)
{
    clerk_begin(10);
    clerk_gets(1, 2);
    clerk_does(clear);
    clerk_gets(3, 3);
    clerk_does(read_all);
    CHECK_RECEIVED(&clerk.stage, 3);
    CHECK_INT(0, clerk.stage.dead);
    stage_end(&clerk.stage);
}

// "be able to clear while unstashing".
TEST_CITING("StashBufferSpec 9", buffer_can_be_cleared_while_it_is_emptied)
{
    clerk_begin(10);
    clerk_gets(1, 2);
    clerk_gets(CLEAR, CLEAR);
    clerk_gets(3, 3);
    clerk_does(read_all);
    CHECK_RECEIVED(&clerk.stage, 1, 2);
    clerk_does(check_empty);
    clerk_gets(4, 4);
    CHECK_RECEIVED(&clerk.stage, 4);
    stage_end(&clerk.stage);
}

static void
check_capacity(lbx_context *context)
{
    CHECK_INT(42, lbx_context_stash_capacity(context));
}

static void
check_unlimited(lbx_context *context)
{
    CHECK(lbx_context_stash_capacity(context) == LBX_UNLIMITED);
}

// "answer thruthfully about its capacity".
TEST_CITING("StashBufferSpec 10", buffer_tells_its_capacity)
{
    clerk_begin(42);
    clerk_does(check_capacity);
    stage_end(&clerk.stage);
    clerk_begin(LBX_UNLIMITED);
    clerk_does(check_unlimited);
    stage_end(&clerk.stage);
    clerk_begin(LBX_DEFAULT);
    clerk_does(check_unlimited);
    stage_end(&clerk.stage);
}

// Typed stashes have a capacity, and so does every other: none is no number.
STAGE_TEST("R-09", stash_of_no_messages_is_refused)
{
    lbx_props props;
    lbx_ref ref;

    stage_begin(stage, NULL);
    props = stage_props(stage, ANY);
    props.stash_capacity = 0;
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_spawn(stage->system, &props, "a", &ref));
    props.stash_capacity = -5;
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_spawn(stage->system, &props, "a", &ref));
}

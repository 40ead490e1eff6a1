/* SPDX-License-Identifier: Apache-2.0 */
/* Become: another function for the messages to come. */
#include "actor/fixture.h"

static struct world *stage; // one test, one process

static lbx_actor_handler angry;

static lbx_status
calm(lbx_context *context, void *state, void *message)
{
    (void)state;
    world_write(stage, "calm:%d", number_of(message));
    if (number_of(message) >= FAILS)
        return LBX_REFUSED;
    if (number_of(message) == 0)
        CHECK_OK(lbx_context_become(context, angry));
    else if (number_of(message) == 9)
        lbx_context_unbecome(context); // there is nothing to go back to
    return LBX_OK;
}

static lbx_status
furious(lbx_context *context, void *state, void *message)
{
    (void)state;
    world_write(stage, "furious:%d", number_of(message));
    if (number_of(message) >= FAILS)
        return LBX_REFUSED;
    if (number_of(message) == 9)
        lbx_context_unbecome(context);
    return LBX_OK;
}

static lbx_status
angry(lbx_context *context, void *state, void *message)
{
    (void)state;
    world_write(stage, "angry:%d", number_of(message));
    if (number_of(message) == 0)
        CHECK_OK(lbx_context_become(context, furious));
    else if (number_of(message) == 9)
        lbx_context_unbecome(context);
    return LBX_OK;
}

static lbx_ref
spawn_calm(struct world *world)
{
    static const lbx_behaviour behaviour = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "moody",
        .receive = calm,
    };

    stage = world;
    return behaviour_spawn(world, &behaviour, NULL);
}

ACTOR_TEST("", become_starts_with_the_next_message)
{
    lbx_ref ref = spawn_calm(world);

    for (int i = 2; i >= 0; i--)
        lbx_tell(ref, letter(i));
    lbx_tell(ref, letter(1));
    CHECK_DIARY(world, "calm:2 calm:1 calm:0 angry:1");
}

ACTOR_TEST("", unbecome_goes_back_step_by_step)
{
    lbx_ref ref;
    static const int numbers[] = {0, 1, 0, 1, 9, 1, 9, 1, 9, 1};

    ref = spawn_calm(world);
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        lbx_tell(ref, letter(numbers[i]));
    CHECK_DIARY(world, "calm:0 angry:1 angry:0 furious:1 furious:9 angry:1 "
                       "angry:9 calm:1 calm:9 calm:1");
}

ACTOR_TEST("", restart_forgets_what_it_became)
{
    lbx_ref ref = spawn_calm(world);

    lbx_tell(ref, letter(0));
    lbx_tell(ref, letter(0));
    lbx_tell(ref, letter(FAILS));
    lbx_tell(ref, letter(1));
    CHECK_DIARY(world, "calm:0 angry:0 furious:1000 calm:1");
    lbx_tell(ref, letter(9));
    lbx_tell(ref, letter(0));
    lbx_tell(ref, letter(1));
    CHECK_DIARY(world, "calm:9 calm:0 angry:1");
}

static lbx_status
deepen(lbx_context *context, void *state, void *message)
{
    (void)state;
    if (number_of(message) == 1)
        CHECK_OK(lbx_context_become(context, deepen));
    else
        lbx_context_unbecome(context);
    return LBX_OK;
}

static lbx_status
shallow(lbx_context *context, void *state, void *message)
{
    if (number_of(message) != 1)
        world_write(stage, "ground");
    return number_of(message) == 1 ? deepen(context, state, message) : LBX_OK;
}

ACTOR_TEST("", become_may_nest_deeply)
{
    static const lbx_behaviour behaviour = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "deep",
        .receive = shallow,
    };
    lbx_ref ref;

    stage = world;
    ref = behaviour_spawn(world, &behaviour, NULL);
    for (int i = 0; i < 1000; i++)
        lbx_tell(ref, letter(1));
    for (int i = 0; i < 1001; i++)
        lbx_tell(ref, letter(2));
    CHECK_DIARY(world, "ground");
}

static lbx_status
become_in_start(lbx_context *context, void *state, void *argument)
{
    (void)state;
    (void)argument;
    CHECK_STATUS(LBX_INVALID, lbx_context_become(context, NULL));
    CHECK_OK(lbx_context_become(context, angry));
    return LBX_OK;
}

// It takes the place of the match table too.
ACTOR_TEST("", become_in_start_is_before_every_row)
{
    static const lbx_match rows[] = {{NULL, NULL, calm}};
    static const lbx_behaviour behaviour = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "moody",
        .start = become_in_start,
        .matches = rows,
        .match_count = 1,
    };
    lbx_ref ref;

    stage = world;
    ref = behaviour_spawn(world, &behaviour, NULL);
    lbx_tell(ref, letter(1));
    lbx_tell(ref, letter(9));
    lbx_tell(ref, letter(2));
    CHECK_DIARY(world, "angry:1 angry:9 calm:2");
    CHECK_STATUS(LBX_INVALID, lbx_context_become(NULL, calm));
    lbx_context_unbecome(NULL);
}

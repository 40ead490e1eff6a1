/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes in several threads: every ask ends once (ACTOR-3). */
#include "actor/fixture.h"

struct rush {
    struct world world;
    struct part b;
    _Atomic long asked;
    _Atomic long results;
    _Atomic long answers;
};

static lbx_status
rush_receive(lbx_context *context, struct part *part, void *message)
{
    struct rush *rush = part->context;
    lbx_envelope question = lbx_envelope_of(letter(1), 10);
    const lbx_pipe_result *result = message;

    if (lbx_context_type(context) == lbx_pipe_result_type()) {
        CHECK(result->status == LBX_OK || result->status == LBX_TIMEOUT);
        atomic_fetch_add(&rush->results, 1);
        if (result->status == LBX_OK)
            atomic_fetch_add(&rush->answers, 1);
        return LBX_OK;
    }
    // Some time out at about the time when the answer comes.
    for (int i = 0; i < 4; i++) {
        CHECK_OK(lbx_context_ask(context, rush->b.self, &question,
                                 i % 2 == 0 ? -1 : i * 4 * LBX_US, 0));
        atomic_fetch_add(&rush->asked, 1);
    }
    return LBX_OK;
}

static lbx_status
rush_answer(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    lbx_context_reply(context, message);
    (void)lbx_context_take(context);
    return LBX_OK;
}

static void
rush_begin(struct rush *rush, struct part *asker)
{
    world_begin_threads(&rush->world, 2);
    part_init(&rush->b, &rush->world, "b");
    rush->b.silent = true;
    rush->b.receive = rush_answer;
    part_spawn(&rush->b);
    part_init(asker, &rush->world, "a");
    asker->silent = true;
    asker->receive = rush_receive;
    asker->context = rush;
}

// Every ask ends in one result, every answer in one or as a dead letter.
TEST_CITING("ACTOR-3", every_ask_inside_ends_in_one_result)
{
    static struct rush rush;
    const long rounds = test_rounds(1000, 50000);
    struct part a;

    rush_begin(&rush, &a);
    part_spawn(&a);
    for (long i = 0; i < rounds; i++)
        lbx_tell(a.self, letter(2));
    EVENTUALLY(atomic_load(&rush.results) == 4 * rounds);
    lbx_tell(rush.b.self, lbx_poison_pill()); // after all questions
    CHECK_OK(lbx_ref_ended_until(rush.world.system, rush.b.self, LBX_FOREVER));
    world_end(&rush.world);
    CHECK_INT(4 * rounds, atomic_load(&rush.asked));
    CHECK_INT(4 * rounds, atomic_load(&rush.results));
    CHECK_INT(4 * rounds - atomic_load(&rush.answers),
              atomic_load(&rush.world.dead_count));
    CHECK_INT(5 * rounds, atomic_load(&rush.world.ended));
}

// Askers end while answers come, wakers call and timers fire.
TEST_CITING("ACTOR-3", askers_that_are_stopped_leave_nothing_behind)
{
    static struct rush rush;
    const long rounds = test_rounds(1000, 50000);
    struct part a;
    lbx_props props;

    rush_begin(&rush, &a);
    props = part_props(&a);
    for (long i = 0; i < rounds; i++) {
        lbx_ref ref;

        CHECK_OK(lbx_system_spawn(rush.world.system, &props, NULL, &ref));
        lbx_tell(ref, letter(2));
        if (i % 2 == 0)
            EVENTUALLY(atomic_load(&rush.asked) > 0);
        lbx_ref_stop(ref);
    }
    world_end(&rush.world);
    // One for each round, and one for each question: answers are questions.
    CHECK_INT(rounds + atomic_load(&rush.asked),
              atomic_load(&rush.world.ended));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Watching: each watcher gets one notice, whatever the order (ACTOR-7). */
#include "actor/fixture.h"

// "a" watches "b".
struct pair {
    struct world world;
    struct part a;
    struct part b;
};

static void
pair_begin(struct pair *pair)
{
    world_begin(&pair->world);
    part_init(&pair->a, &pair->world, "a");
    part_init(&pair->b, &pair->world, "b");
    part_spawn(&pair->a);
    part_spawn(&pair->b);
    CHECK_DIARY(&pair->world, "a+ b+");
}

#define PAIR_TEST(behaviour, name)                                             \
    FIXTURE_TEST(pair, behaviour, name, pair_begin(pair),                      \
                 world_end(&pair->world))

PAIR_TEST("ACTOR-7", watcher_is_told_of_the_end)
{
    bid(&pair->a, do_watch, &pair->b);
    CHECK_DIARY(&pair->world, "");
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b- a!");
    CHECK(lbx_ref_equal(pair->b.self, pair->a.ended));
    world_end(&pair->world);
    CHECK_INT(0, atomic_load(&pair->world.dead_count));
    CHECK_INT(0, atomic_load(&pair->world.suppressed_count));
}

PAIR_TEST("ACTOR-7", watching_the_dead_is_told_at_once)
{
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b-");
    bid(&pair->a, do_watch, &pair->b);
    CHECK_DIARY(&pair->world, "a!");
    CHECK(lbx_ref_equal(pair->b.self, pair->a.ended));
}

// The cell of the dead one belongs to another by now.
PAIR_TEST("ACTOR-7 ACTOR-8", watching_the_dead_is_not_watching_its_successor)
{
    struct part old;

    old = pair->b;
    for (int i = 0; i < 200; i++) {
        lbx_ref_stop(pair->b.self);
        (void)world_run(&pair->world);
        pair->b.silent = true;
        part_spawn(&pair->b);
    }
    CHECK_DIARY(&pair->world, "b-");
    bid(&pair->a, do_watch, &old);
    CHECK_DIARY(&pair->world, "a!");
    CHECK(lbx_ref_equal(old.self, pair->a.ended));
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "");
    world_end(&pair->world); // the actors use what lies on this stack
}

PAIR_TEST("ACTOR-7", watching_twice_is_watching_once)
{
    bid(&pair->a, do_watch, &pair->b);
    bid(&pair->a, do_watch, &pair->b);
    lbx_tell(pair->a.self, letter(1));
    bid(&pair->a, do_watch, &pair->b);
    CHECK_DIARY(&pair->world, "a:1");
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b- a!");
    world_end(&pair->world);
    CHECK_INT(0, atomic_load(&pair->world.suppressed_count));
}

// The second watch is sent when the notice for the first is under way.
PAIR_TEST("ACTOR-7", watching_twice_around_the_end_is_watching_once)
{
    bid(&pair->a, do_watch, &pair->b);
    CHECK_DIARY(&pair->world, "");
    lbx_ref_stop(pair->b.self);
    bid(&pair->a, do_watch, &pair->b); // before the notice in a's mailbox
    CHECK_DIARY(&pair->world, "b- a!");
}

PAIR_TEST("", watching_again_after_the_notice_brings_another)
{
    bid(&pair->a, do_watch, &pair->b);
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b- a!");
    bid(&pair->a, do_watch, &pair->b);
    CHECK_DIARY(&pair->world, "a!");
}

PAIR_TEST("", unwatching_takes_the_watch_back)
{
    bid(&pair->a, do_watch, &pair->b);
    bid(&pair->a, do_unwatch, &pair->b);
    bid(&pair->a, do_unwatch, &pair->b); // nothing to take back
    (void)world_run(&pair->world);
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b-");
    bid(&pair->a, do_unwatch, &pair->b); // nor of the dead
    CHECK_DIARY(&pair->world, "");
}

PAIR_TEST("", watch_unwatch_watch_is_a_watch)
{
    bid(&pair->a, do_watch, &pair->b);
    bid(&pair->a, do_unwatch, &pair->b);
    bid(&pair->a, do_watch, &pair->b);
    (void)world_run(&pair->world);
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b- a!");
}

ACTOR_TEST("", each_of_several_watchers_is_told)
{
    enum {
        WATCHERS = 10,
    };
    struct part watchers[WATCHERS];

    part_spawn(b);
    for (int i = 0; i < WATCHERS; i++) {
        static const char *const names[WATCHERS] = {"0", "1", "2", "3", "4",
                                                    "5", "6", "7", "8", "9"};

        part_init(&watchers[i], world, names[i]);
        watchers[i].silent = true;
        part_spawn(&watchers[i]);
        bid(&watchers[i], do_watch, b);
    }
    (void)world_run(world);
    for (int i = 0; i < WATCHERS; i += 3) // the first, the last, and between
        bid(&watchers[i], do_unwatch, b);
    (void)world_run(world);
    lbx_ref_stop(b->self);
    CHECK_DIARY(world, "b+ b- 1! 2! 4! 5! 7! 8!");
    world_end(world); // the actors use what lies on this stack
}

PAIR_TEST("", notice_for_a_dead_watcher_is_suppressed)
{
    bid(&pair->a, do_watch, &pair->b);
    (void)world_run(&pair->world);
    lbx_ref_stop(pair->a.self);
    CHECK_DIARY(&pair->world, "a-");
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b-");
    CHECK_INT(0, atomic_load(&pair->world.dead_count));
    CHECK_INT(1, atomic_load(&pair->world.suppressed_count));
    CHECK_INT(1, world_stats(&pair->world).suppressed);
    CHECK_INT(1, world_stats(&pair->world).dead_letters);
    world_end(&pair->world);
    CHECK_INT(1, atomic_load(&pair->world.ended)); // a's order, not the notice
}

PAIR_TEST("", two_may_watch_each_other)
{
    bid(&pair->a, do_watch, &pair->b);
    bid(&pair->b, do_watch, &pair->a);
    (void)world_run(&pair->world);
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b- a!");
    lbx_ref_stop(pair->a.self);
    CHECK_DIARY(&pair->world, "a-");
}

ACTOR_TEST("", parent_may_watch_its_child)
{
    a->children[0] = b;
    part_spawn(a);
    bid(a, do_watch, b);
    (void)world_run(world);
    bid(b, do_stop, NULL);
    CHECK_DIARY(world, "a+ b+ b- a!");
}

// A restart is not an end.
PAIR_TEST("", restart_keeps_watches_on_both_sides)
{
    bid(&pair->a, do_watch, &pair->b);
    (void)world_run(&pair->world);
    lbx_tell(pair->a.self, letter(FAILS));
    lbx_tell(pair->b.self, letter(FAILS));
    CHECK_DIARY(&pair->world, "a:1000 b:1000 a- a+ b- b+");
    lbx_ref_stop(pair->b.self);
    CHECK_DIARY(&pair->world, "b- a!");
}

static lbx_status
watch_nonsense(lbx_context *context, struct part *part, void *argument)
{
    CHECK_STATUS(LBX_INVALID, lbx_context_watch(context, lbx_ref_nobody()));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_watch(context, lbx_context_self(context)));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_watch(context, ((struct part *)argument)->self));
    lbx_context_unwatch(context, lbx_ref_nobody());
    lbx_context_unwatch(context, ((struct part *)argument)->self);
    world_write(part->world, "no");
    return LBX_OK;
}

PAIR_TEST("", watching_refuses_nobody_oneself_and_strangers)
{
    struct part stranger;
    LOCAL_WORLD(other);

    world_begin(&other);
    part_init(&stranger, &other, "s");
    part_spawn(&stranger);
    bid(&pair->a, watch_nonsense, &stranger);
    CHECK_DIARY(&pair->world, "no");
    CHECK_STATUS(LBX_INVALID, lbx_context_watch(NULL, pair->b.self));
    lbx_context_unwatch(NULL, pair->b.self);
}

// ---- Races ----

struct race {
    struct world world;
    struct part watcher;
    _Atomic long notices;
    long rounds;
};

static lbx_status
watch_word(lbx_context *context, void *state, void *message)
{
    struct race *race = *(struct race **)state;

    if (lbx_context_type(context) == lbx_terminated_type()) {
        atomic_fetch_add(&race->notices, 1);
        return LBX_OK;
    }
    CHECK_OK(lbx_context_watch(context, lbx_ref_of_sender(message)));
    return LBX_OK;
}

static lbx_status
remember_race(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(struct race **)state = argument;
    return LBX_OK;
}

static const lbx_behaviour watcher = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "watcher",
    .state_bytes = sizeof(struct race *),
    .start = remember_race,
    .receive = watch_word,
};

// The watch and the stop run into each other; then there is one notice.
TEST_CITING("ACTOR-7", watch_races_with_the_end)
{
    static struct race race;
    struct part b;
    lbx_props props = LBX_PROPS_INIT;
    lbx_props mortal;
    lbx_ref to[2];

    world_begin_threads(&race.world, 2);
    race.rounds = test_rounds(20000, 1000000);
    props.behaviour = &watcher;
    props.argument = &race;
    CHECK_OK(lbx_system_spawn(race.world.system, &props, "w1", &to[0]));
    CHECK_OK(lbx_system_spawn(race.world.system, &props, "w2", &to[1]));
    part_init(&b, &race.world, "b");
    b.silent = true;
    mortal = part_props(&b);
    for (long i = 0; i < race.rounds; i++) {
        lbx_envelope envelope;
        lbx_ref ref;

        CHECK_OK(lbx_system_spawn(race.world.system, &mortal, NULL, &ref));
        // The terminated type's disguise serves to pass a ref on.
        envelope = lbx_envelope_of(lbx_ref_as_sender(ref), 10);
        lbx_tell_envelope(to[0], &envelope);
        lbx_tell_envelope(to[1], &envelope);
        lbx_ref_stop(ref);
    }
    EVENTUALLY(atomic_load(&race.notices) == 2 * race.rounds);
    world_end(&race.world);
    CHECK_INT(2 * race.rounds, atomic_load(&race.notices));
    CHECK_INT(0, atomic_load(&race.world.suppressed_count));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Mailbox options of an actor without the name of a kind: which kind fits, and
 * which options an actor cannot have. */
#include "actor/boxed.h"

#include <string.h>

#include "support/torture.h"

struct wish {
    const char *kind; // that fits
    int64_t capacity;
    bool by_rank;
    int64_t control_capacity;
    uint32_t needs;
};

static lbx_mailbox_options
wish_options(const struct wish *wish)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.capacity_messages = wish->capacity;
    options.overflow = LBX_OVERFLOW_DROP_NEWEST;
    options.priority = wish->by_rank ? boxed_rank : NULL;
    options.control_capacity = wish->control_capacity;
    return options;
}

ACTOR_TEST("", mailbox_options_without_a_mailbox_choose_the_kind_that_fits)
{
    static const struct wish wishes[] = {
        {LBX_KIND_UNBOUNDED, LBX_DEFAULT, false, LBX_DEFAULT, 0},
        {LBX_KIND_BOUNDED, 5, false, LBX_DEFAULT, 0},
        {LBX_KIND_UNBOUNDED_PRIORITY, LBX_UNLIMITED, true, LBX_DEFAULT, 0},
        {LBX_KIND_BOUNDED_PRIORITY, 5, true, LBX_DEFAULT, 0},
        {LBX_KIND_BOUNDED_CONTROL_AWARE, 5, false, 3, 0},
        {LBX_KIND_UNBOUNDED_DEQUE, LBX_DEFAULT, false, LBX_DEFAULT,
         LBX_CAPABILITY_SEND_FRONT},
        {LBX_KIND_BOUNDED_DEQUE, 5, false, LBX_DEFAULT,
         LBX_CAPABILITY_SEND_FRONT},
        {LBX_KIND_UNBOUNDED_CONTROL_AWARE, LBX_DEFAULT, false, LBX_DEFAULT,
         LBX_CAPABILITY_CONTROL},
        {LBX_KIND_UNBOUNDED_PRIORITY, LBX_DEFAULT, false, LBX_DEFAULT,
         LBX_CAPABILITY_PRIORITIZE},
    };
    lbx_behaviour needy = *part_props(a).behaviour;

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
        lbx_mailbox_options options = wish_options(&wishes[i]);
        lbx_props props = part_props(a);
        lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;
        lbx_ref ref;

        needy.needs = wishes[i].needs;
        props.behaviour = &needy;
        props.mailbox_options = &options;
        CHECK_OK(lbx_system_spawn(world->system, &props, NULL, &ref));
        CHECK_OK(lbx_ref_stats_read(ref, &stats));
        CHECK_STR(wishes[i].kind, stats.mailbox);
    }
    world_end(world);
}

ACTOR_TEST("", capacity_in_mailbox_options_alone_is_kept)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.capacity_messages = 5;
    part_spawn_boxed(a, NULL, &options);
    for (int i = 0; i < 100; i++)
        lbx_tell(a->self, letter(i));
    CHECK_INT(5, boxed_stats(a).depth);
    CHECK_INT(95, atomic_load(&world->dead_count));
}

static void
end_nothing(void *message, void *context)
{
    (void)message;
    (void)context;
}

ACTOR_TEST("", mailbox_options_that_an_actor_cannot_have_are_refused)
{
    static const char *const words[] = {"owner", "clock", "destroy",
                                        "dead_letters"};
    lbx_mailbox_options lost = LBX_MAILBOX_OPTIONS_INIT;
    lbx_producer *in;
    lbx_consumer *out;

    lost.envelopes = true; // else no mailbox could have it as dead_letters
    CHECK_OK(lbx_mailbox_create(LBX_KIND_UNBOUNDED, &lost, &in, &out));
    for (size_t i = 0; i < 4; i++) {
        lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
        lbx_clock other = world->clock;
        lbx_fault fault;
        lbx_props props = part_props(a);
        lbx_ref ref;

        if (i == 0)
            options.owner = world;
        else if (i == 1)
            options.clock = &other;
        else if (i == 2)
            options.destroy = end_nothing;
        else
            options.dead_letters = in;
        props.mailbox_options = &options;
        props.fault = &fault;
        for (int named = 0; named < 2; named++) {
            props.mailbox = named ? LBX_KIND_UNBOUNDED : NULL;
            CHECK_STATUS(LBX_INVALID,
                         lbx_system_spawn(world->system, &props, "a", &ref));
            CHECK_STATUS(LBX_INVALID, fault.status);
            CHECK(strstr(fault.text, words[i]));
        }
    }
    part_spawn(a); // the name is free
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
}

TEST(mailbox_options_may_have_an_allocator_of_their_own)
{
    TORTURE(memory, allocator);
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    struct cast cast;

    cast_begin(&cast, 0);
    options.allocator = &allocator;
    options.clock = &cast.world.clock; // the system's is no other
    part_spawn_boxed(&cast.a, NULL, &options);
    CHECK(memory.live_blocks > 0);
    world_end(&cast.world);
    CHECK_INT(0, memory.live_blocks);
}

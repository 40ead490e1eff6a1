/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A million actors: all alive at once, each told something, each stopped.
 *
 * Memory is counted in three ways. What the system has asked for while all of
 * them lived says how large an actor is. What it asks for when a tenth of them
 * come back says whether the dead leave their places to the living. And what it
 * has not given back when it is destroyed has leaked; the messages themselves
 * are the leak sanitizer's.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>

#include <letterbox/actor.h>

#include "stress/storm.h"
#include "support/test.h"
#include "support/torture.h"

enum {
    BYTES_MOST = 264,      // of an actor: 256, and what lies between them
    SPARE_BYTES = 1 << 20, // for nodes that lie in some thread's cache
    IN_FLIGHT = 1000,      // messages, and actors that are about to end
};

struct census {
    lbx_system *system;
    struct torture memory;
    lbx_ref *refs;
    uint64_t told;
    uint64_t stopped;
    _Alignas(STORM_LINE) _Atomic(uint64_t) handled;
    _Alignas(STORM_LINE) _Atomic(uint64_t) destroyed;
    _Alignas(STORM_LINE) _Atomic(uint64_t) ended;
    _Atomic(uint64_t) dead_letters;
};

static struct census census = {.memory = TORTURE_INIT};

struct citizen {
    uint64_t number;
    uint64_t heard;
};

static lbx_status
citizen_receive(lbx_context *context, void *state, void *message)
{
    struct citizen *citizen = state;

    (void)context;
    citizen->number = *(const uint64_t *)message;
    citizen->heard++;
    atomic_fetch_add_explicit(&census.handled, 1, memory_order_relaxed);
    return LBX_OK;
}

static void
citizen_stop(lbx_context *context, void *state)
{
    const struct citizen *citizen = state;
    lbx_ref self = lbx_context_self(context);

    CHECK_INT(1, citizen->heard);
    CHECK(lbx_ref_equal(self, census.refs[citizen->number]));
    atomic_fetch_add_explicit(&census.ended, 1, memory_order_relaxed);
}

static const lbx_behaviour citizen_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "citizen",
    .state_bytes = sizeof(struct citizen),
    .receive = citizen_receive,
    .stop = citizen_stop,
};

static void
hear(void *context, const lbx_dead_letter_event *letter)
{
    (void)context;
    if (!letter->suppressed)
        atomic_fetch_add(&census.dead_letters, 1);
}

static void
end_message(void *message, void *context)
{
    (void)context;
    free(message);
    atomic_fetch_add_explicit(&census.destroyed, 1, memory_order_relaxed);
}

static void
await(_Atomic(uint64_t) *count, uint64_t least)
{
    while (atomic_load_explicit(count, memory_order_relaxed) < least)
        sched_yield();
}

static size_t
live_bytes(void)
{
    size_t bytes;

    pthread_mutex_lock(&census.memory.lock);
    bytes = census.memory.live_bytes;
    pthread_mutex_unlock(&census.memory.lock);
    return bytes;
}

static uint64_t
actors(void)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    CHECK_OK(lbx_system_stats_read(census.system, &stats));
    return stats.actors;
}

static void
bear(uint64_t count)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = &citizen_behaviour;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *message = malloc(sizeof(*message));

        CHECK(message);
        *message = i;
        CHECK_OK(
            lbx_system_spawn(census.system, &props, NULL, &census.refs[i]));
        lbx_tell(census.refs[i], message);
        census.told++;
        if (census.told > IN_FLIGHT)
            await(&census.handled, census.told - IN_FLIGHT);
    }
    await(&census.destroyed, census.told);
}

/* Half of them at once, half after what they have been told. */
static void
stop(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (i % 2 == 0)
            lbx_ref_stop(census.refs[i]);
        else
            lbx_tell(census.refs[i], lbx_poison_pill());
        census.stopped++;
        if (census.stopped > IN_FLIGHT)
            await(&census.ended, census.stopped - IN_FLIGHT);
    }
    while (actors() > 0)
        sched_yield();
    CHECK_INT(census.stopped, atomic_load(&census.ended));
}

TEST_CITING("ACTOR-3 ACTOR-8", a_million_actors_come_and_go)
{
    lbx_allocator allocator = torture_allocator(&census.memory);
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    uint64_t count = storm_count(1000000, 1000000, 100000, 4);
    size_t empty_bytes;
    size_t full_bytes;
    size_t after_bytes;
    uint64_t each_bytes;

    census.refs = calloc(count, sizeof(census.refs[0]));
    CHECK(census.refs);
    options.allocator = &allocator;
    options.threads = 2;
    options.destroy = end_message;
    options.dead_letters.on_dead_letter = hear;
    CHECK_OK(lbx_system_create(&options, &census.system));

    empty_bytes = live_bytes();
    bear(count);
    CHECK_INT(count, actors());
    full_bytes = live_bytes();
    each_bytes = (full_bytes - empty_bytes) / count - sizeof(struct citizen);
    stop(count);
    after_bytes = live_bytes();
    CHECK(after_bytes + count * sizeof(struct citizen) <=
          full_bytes + SPARE_BYTES);

    // Those that come now live where others have lived.
    bear(count / 10);
    stop(count / 10);
    CHECK(live_bytes() <= after_bytes + SPARE_BYTES);
    lbx_system_destroy(census.system);

    test_figure("actors: %" PRIu64 " spawned, told and stopped; %" PRIu64
                " bytes each, and %zu of state; %ld leaked",
                count, each_bytes, sizeof(struct citizen),
                census.memory.live_blocks);
    CHECK_INT(0, census.memory.live_blocks);
    CHECK_INT(census.told, atomic_load(&census.handled));
    CHECK_INT(0, atomic_load(&census.dead_letters));
    if (count >= 100000)
        CHECK(each_bytes <= BYTES_MOST);
    free(census.refs);
}

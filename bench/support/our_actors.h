/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of the actor rows, by the public API alone. A message is a number in
 * a pointer. An actor is a plain struct with
 *
 *     static constexpr const char *name;
 *     void receive(lbx_context *context, uint64_t message);
 *
 * which lives in the cell: spawn() gives a copy of one to `start`.
 */
#ifndef BENCH_SUPPORT_OUR_ACTORS_H
#define BENCH_SUPPORT_OUR_ACTORS_H

#include "support/actor_shapes.h"
#include "support/finish.h"
#include <letterbox/actor.h>
#include <letterbox/letterbox.h>
#include <new>
#include <type_traits>

namespace bench
{

inline void *
message_of(uint64_t number)
{
    return reinterpret_cast<void *>(number);
}

inline void
tell(lbx_ref to, uint64_t number)
{
    lbx_tell(to, message_of(number));
}

inline void
tell_with_priority(lbx_ref to, uint64_t number, int32_t priority)
{
    lbx_envelope envelope = lbx_envelope_of(message_of(number), priority);

    lbx_tell_envelope(to, &envelope);
}

inline void
tell_self(lbx_context *context, uint64_t number)
{
    tell(lbx_context_self(context), number);
}

/* A system with so many threads, never destroyed: the round's process ends
 * with it. Everything else is as it comes. */
inline lbx_system *
our_system(unsigned threads, int64_t throughput = LBX_DEFAULT)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_system *system = nullptr;

    options.threads = threads;
    options.throughput = throughput;
    lbx_status status = lbx_system_create(&options, &system);
    if (status != LBX_OK)
        fail("lbx_system_create: %s", lbx_status_text(status));
    return system;
}

template <class Actor>
lbx_status
start_actor(lbx_context *, void *state, void *argument)
{
    new (state) Actor(*static_cast<const Actor *>(argument));
    return LBX_OK;
}

template <class Actor>
lbx_status
actor_receives(lbx_context *context, void *state, void *message)
{
    static_cast<Actor *>(state)->receive(context,
                                         reinterpret_cast<uint64_t>(message));
    return LBX_OK;
}

/* The class of such an actor; one without members has no state and no start. */
template <class Actor>
const lbx_behaviour *
behaviour_of()
{
    static_assert(std::is_trivially_copyable<Actor>::value,
                  "its life ends without a destructor");
    static const lbx_behaviour behaviour = [] {
        lbx_behaviour made = {};

        made.size_bytes = sizeof(lbx_behaviour);
        made.name = Actor::name;
        made.receive = actor_receives<Actor>;
        if (!std::is_empty<Actor>::value) {
            made.state_bytes = sizeof(Actor);
            made.start = start_actor<Actor>;
        }
        return made;
    }();

    return &behaviour;
}

/* `mailbox` is a kind's name, or NULL for the default. */
template <class Actor>
lbx_ref
spawn(lbx_system *system, const Actor &actor, const char *mailbox = nullptr)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref ref;

    props.behaviour = behaviour_of<Actor>();
    props.argument = new Actor(actor); // `start` runs later
    props.mailbox = mailbox;
    lbx_status status = lbx_system_spawn(system, &props, nullptr, &ref);
    if (status != LBX_OK)
        fail("lbx_system_spawn: %s", lbx_status_text(status));
    return ref;
}

} // namespace bench

#endif

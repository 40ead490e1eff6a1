/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors: everything about them.
 *
 *     actor/ref.h           addresses, telling, stopping
 *     actor/props.h         what an actor does, how it is made and supervised
 *     actor/system.h        the system: threads, spawning, numbers
 *     actor/selection.h     which mailbox and dispatcher an actor gets
 *     actor/dead_letters.h  messages that were not handled
 *     actor/context.h       what a handler can do
 *     actor/pool.h          pools of actors behind one ref
 *     actor/ask.h           requests with a reply, timers
 *     actor/pipe.h          asking and waiting inside an actor
 *     actor/probe.h         for tests: an actor whose messages are expected
 *
 * docs/actors.md is the tour for newcomers.
 */
#ifndef LETTERBOX_ACTOR_H
#define LETTERBOX_ACTOR_H

#include <letterbox/actor/ask.h>
#include <letterbox/actor/context.h>
#include <letterbox/actor/dead_letters.h>
#include <letterbox/actor/pipe.h>
#include <letterbox/actor/pool.h>
#include <letterbox/actor/probe.h>
#include <letterbox/actor/props.h>
#include <letterbox/actor/ref.h>
#include <letterbox/actor/selection.h>
#include <letterbox/actor/system.h>

#endif

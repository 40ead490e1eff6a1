/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_H
#define LETTERBOX_ACTOR_H
#include <letterbox/actor/ask.h>
#include <letterbox/actor/context.h>
#include <letterbox/actor/dead_letters.h>
#include <letterbox/actor/pool.h>
#include <letterbox/actor/props.h>
#include <letterbox/actor/ref.h>
#include <letterbox/actor/selection.h>
#include <letterbox/actor/system.h>
#endif

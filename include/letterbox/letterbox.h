/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letterbox: everything that a program needs to run.
 *
 *     base.h operation.h type.h settings.h    what the others stand on
 *     mailbox.h mailbox/messages.h            queues inside a process
 *     actor.h                                 actors, supervised
 *     post.h store.h                          queues of letters in a store
 *     record.h json.h                         structs as JSON; JSON itself
 *     courier.h                               workers on a postbox
 *
 * The last three lines are not there when the library was built without
 * postboxes (-Dpost=disabled; LBX_HAS_POST). Not included, because few programs
 * need them:
 *
 *     server.h         a store as SQS: a library of its own, letterbox-server
 *     store_driver.h   for those who write a store
 *     testing.h        postboxes and a clock for your tests
 *     compat/akka.h compat/cellex.h compat/vela.h compat/wink.h
 *                      what exists for one of the systems that users come from
 */
#ifndef LETTERBOX_LETTERBOX_H
#define LETTERBOX_LETTERBOX_H

#include <letterbox/actor.h>
#include <letterbox/base.h>
#include <letterbox/mailbox.h>
#include <letterbox/mailbox/messages.h>
#include <letterbox/operation.h>
#include <letterbox/settings.h>
#include <letterbox/type.h>
#include <letterbox/version.h>

#if LBX_HAS_POST
#include <letterbox/courier.h>
#include <letterbox/json.h>
#include <letterbox/post.h>
#include <letterbox/record.h>
#include <letterbox/store.h>
#endif

#endif

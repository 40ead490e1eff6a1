/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Class names in settings: the names that Akka's and Pekko's files have for
 * mailbox types, dispatcher types and routers, each with the library's own name
 * for the same. No other file of the room knows them, except that requirements
 * are named by such a class.
 */
#ifndef LBX_ACTOR_SELECT_CLASS_NAME_H
#define LBX_ACTOR_SELECT_CLASS_NAME_H

#include <stdbool.h>

/* The library's own name for a class; `name` itself if it is no known class. */
const char *lbx__class_name_translate(const char *name);

/* Compares names; the parts that differ between Akka and Pekko do not count. */
bool lbx__class_name_equal(const char *a, const char *b);

#endif

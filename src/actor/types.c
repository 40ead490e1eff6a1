/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of the library's own messages. They live in static memory, made by
 * whoever asks first: there is nothing to fail and nothing to free.
 */
#include "actor/system.h"
#include "base/type.h"

#include <pthread.h>

static lbx__type_room rooms[3];
static const lbx_type *terminated_type;
static const lbx_type *timeout_type;
static const lbx_type *suppressed_type;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const lbx_type *
make(lbx__type_room *room, const char *name)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;

    options.name = name;
    return lbx__type_make_static(room, options);
}

static void
make_all(void)
{
    terminated_type = make(&rooms[0], "letterbox.Terminated");
    timeout_type = make(&rooms[1], "letterbox.ReceiveTimeout");
    suppressed_type = make(&rooms[2], "letterbox.Suppressed");
}

const lbx_type *
lbx_terminated_type(void)
{
    (void)pthread_once(&once, make_all);
    return terminated_type;
}

const lbx_type *
lbx_receive_timeout_type(void)
{
    (void)pthread_once(&once, make_all);
    return timeout_type;
}

const lbx_type *
lbx_suppressed_type(void)
{
    (void)pthread_once(&once, make_all);
    return suppressed_type;
}

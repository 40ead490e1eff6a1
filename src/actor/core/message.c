/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages: the types of the library's own ones, the poison pill, and the end
 * of every message.
 *
 * The types are in static memory and are made by the first call that needs one:
 * there is nothing to fail and nothing to free. A message is destroyed by its
 * type, or by the system's function if it has none.
 */
#include "actor/core/system.h"
#include "base/type.h"

#include <pthread.h>

static lbx__type_storage rooms[3];
static const lbx_type *terminated_type;
static const lbx_type *timeout_type;
static const lbx_type *suppressed_type;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const lbx_type *
message_make_type(lbx__type_storage *room, const char *name,
                  void (*destroy)(void *message, void *context))
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;

    options.name = name;
    options.destroy = destroy;
    return lbx__type_init_static(room, options);
}

static void
message_make_types(void)
{
    terminated_type = message_make_type(&rooms[0], "letterbox.Terminated",
                                        lbx__watch_destroy_notice);
    timeout_type =
        message_make_type(&rooms[1], "letterbox.ReceiveTimeout", NULL);
    suppressed_type =
        message_make_type(&rooms[2], "letterbox.Suppressed", NULL);
}

const lbx_type *
lbx_terminated_type(void)
{
    (void)pthread_once(&once, message_make_types);
    return terminated_type;
}

const lbx_type *
lbx_receive_timeout_type(void)
{
    (void)pthread_once(&once, message_make_types);
    return timeout_type;
}

const lbx_type *
lbx_dead_letter_suppressed_type(void)
{
    (void)pthread_once(&once, message_make_types);
    return suppressed_type;
}

const char lbx__message_poison = 0;

void *
lbx_poison_pill(void)
{
    return (void *)(uintptr_t)&lbx__message_poison;
}

void
lbx__message_destroy(lbx_system *system, const lbx_type *type, void *message)
{
    const lbx_system_options *options = &system->options;

    if (type)
        lbx_type_destroy_message(type, message);
    else if (options->destroy && message != (const void *)&lbx__message_poison)
        options->destroy(message, options->destroy_context);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of the library's own messages. They live in static memory, made by
 * whoever asks first: there is nothing to fail and nothing to free.
 */
#include "actor/system.h"

#include <assert.h>
#include <pthread.h>

enum {
    ROOM_BYTES = 256
};

/* One block of static memory, as an allocator. */
struct room {
    alignas(64) unsigned char bytes[ROOM_BYTES];
};

static struct room terminated_room;
static struct room timeout_room;
static struct room suppressed_room;
static lbx_type *terminated_type;
static lbx_type *timeout_type;
static lbx_type *suppressed_type;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *
allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    struct room *room = context;

    return size_bytes <= ROOM_BYTES && align_bytes <= 64 ? room->bytes : NULL;
}

static void
release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)memory;
    (void)size_bytes;
}

static void
make(struct room *room, const char *name, lbx_type **ret)
{
    lbx_allocator allocator = {allocate, release, room};
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_status status;

    options.name = name;
    options.allocator = &allocator;
    status = lbx_type_create(&options, ret);
    assert(status == LBX_OK);
    (void)status;
}

static void
make_all(void)
{
    make(&terminated_room, "letterbox.Terminated", &terminated_type);
    make(&timeout_room, "letterbox.ReceiveTimeout", &timeout_type);
    make(&suppressed_room, "letterbox.Suppressed", &suppressed_type);
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

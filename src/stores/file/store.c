/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store in files; see store.h.
 *
 * One thread opens the storage, uses it and closes it. It sleeps on the
 * storage's bell, which our own threads ring and those of other processes: a
 * letter that another process has sent, and a process that wants to be let in,
 * wake it alike (post/service/thread.c, H3).
 */
#include "stores/file/store.h"

#include "base/fault.h"
#include "post/service/service.h"
#include "post/stores.h"
#include "stores/file/copy.h"
#include "stores/file/file.h"

#include <letterbox/post/file.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct opening {
    const char *path;
    const lbx_store_options *options;
    const lbx__io *io;
};

static lbx_status
open_storage(void *context, lbx__storage **ret)
{
    const struct opening *opening = context;

    return lbx__file_open(opening->path, opening->options, opening->io, ret);
}

lbx_status
lbx__file_store_open(const char *path, const lbx_store_options *options,
                     const lbx__io *io, lbx_store **ret)
{
    lbx_store_options mine = LBX_STORE_OPTIONS_INIT;
    struct opening opening = {path, &mine, io};
    lbx__service_options service;
    lbx_status status;

    if (options)
        mine = *options;
    service = (lbx__service_options){
        .allocator = mine.allocator,
        .open = open_storage,
        .context = &opening,
        .one_thread = true,
        .closing = lbx__stores_keep,
        .closed = lbx__stores_closed,
        .manual_clock = mine.clock != NULL,
        .poll_ns = LBX_SECOND,
    };
    status = lbx__service_open(&service, ret);
    if (status == LBX_OK)
        lbx__store_set_clock(*ret, mine.clock);
    return status;
}

static lbx_status
sync_store(void *context)
{
    return lbx_store_sync(context);
}

lbx_status
lbx_file_copy(lbx_store *store, const char *dir)
{
    if (!store || !dir || !*dir)
        return LBX_INVALID;
    if (strcmp(lbx_store_scheme(store), lbx__file_scheme.name) != 0)
        return LBX_UNSUPPORTED;
    return lbx__file_copy(lbx__service_storage(store), dir, sync_store, store);
}

/* ---- By URL ---- */

/* The folder above is followed through symbolic links; the folder itself is not:
 * whether it is one is for the storage to see, which refuses it. */
static lbx_status
place(const char *rest, char *ret_place, lbx_fault *fault)
{
    char above[PATH_MAX];
    size_t size = strlen(rest);
    const char *slash, *name;
    size_t used;

    while (size > 1 && rest[size - 1] == '/')
        size--;
    if (size == 0 || size >= sizeof(above))
        return lbx__fault_set(fault, LBX_INVALID,
                              "a store in files is file:DIR, a folder");
    if (size > 2 && rest[0] == '/' && rest[1] == '/' && rest[2] != '/')
        return lbx__fault_set(fault, LBX_INVALID,
                              "file://%.100s names a machine: write file:/DIR",
                              rest + 2);
    slash = memrchr(rest, '/', size);
    name = slash ? slash + 1 : rest;
    used = size - (size_t)(name - rest);
    if (used == 0 || strncmp(name, ".", used) == 0 ||
        strncmp(name, "..", used) == 0) { // a way, not a name
        memcpy(above, rest, size);
        above[size] = '\0';
        used = 0;
    } else if (slash) {
        memcpy(above, rest, (size_t)(name - rest));
        above[name - rest] = '\0';
    } else {
        memcpy(above, ".", 2);
    }
    if (!realpath(above, ret_place))
        return lbx__fault_set(fault, lbx__io_status(-errno), "%.160s: %s",
                              above, strerror(errno));
    size = strlen(ret_place);
    if (size + used + 2 > LBX__PLACE_BYTES)
        return lbx__fault_set(fault, LBX_INVALID,
                              "a path of 4096 bytes or more");
    if (used > 0) {
        if (size > 1)
            ret_place[size++] = '/';
        memcpy(ret_place + size, name, used);
        ret_place[size + used] = '\0';
    }
    return LBX_OK;
}

static lbx_status
open_place(const char *name, const lbx_store_options *options, lbx_store **ret)
{
    return lbx__file_store_open(name, options, NULL, ret);
}

static bool
suits(lbx_store *store, const lbx_store_options *wanted)
{
    const lbx_store_options *have =
        lbx__file_options(lbx__service_storage(store));

    if (wanted->clock && wanted->clock != have->clock)
        return false;
    if (wanted->alone && !have->alone)
        return false;
    return wanted->durability == LBX_SURVIVES_DEFAULT ||
           (wanted->durability == have->durability &&
            (wanted->durability != LBX_SURVIVES_INTERVAL ||
             wanted->interval_ms == have->interval_ms));
}

const lbx__scheme lbx__file_scheme = {"file", place, open_place, suits};

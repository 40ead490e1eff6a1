/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store in files: the service over a storage in files.
 *
 * One thread opens the storage, uses it and closes it. It waits for the
 * notification of the storage, which threads of this process and other
 * processes send: a letter that another process has sent wakes it, and so does
 * a process that asks to join.
 */
#include "stores/file/file_store.h"

#include "post/service/service.h"
#include "post/stores.h"
#include "stores/file/file.h"

struct file_store_opening {
    const char *path;
    const lbx_store_options *options;
    const lbx__io *io;
};

static lbx_status
file_store_open_storage(void *context, lbx__storage **ret)
{
    const struct file_store_opening *opening = context;

    return lbx__file_open(opening->path, opening->options, opening->io, ret);
}

lbx_status
lbx__file_store_open(const char *path, const lbx_store_options *options,
                     const lbx__io *io, lbx_store **ret)
{
    lbx_store_options mine = LBX_STORE_OPTIONS_INIT;
    struct file_store_opening opening = {path, &mine, io};
    lbx__service_options service;
    lbx_status status;

    if (options)
        mine = *options;
    service = (lbx__service_options){
        .allocator = mine.allocator,
        .open = file_store_open_storage,
        .context = &opening,
        .one_thread = true,
        .closing = lbx__stores_close_later,
        .closed = lbx__stores_closed,
        .manual_clock = mine.clock != NULL,
        .poll_ns = LBX_SECOND,
    };
    status = lbx__service_open(&service, ret);
    if (status == LBX_OK)
        lbx__store_set_clock(*ret, mine.clock);
    return status;
}

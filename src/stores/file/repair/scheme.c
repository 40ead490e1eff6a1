/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file: URLs: which folder one names, and opening the store in it.
 *
 * It is in this room because opening with options.check reads the whole store
 * first, in a process of its own (check.c). post/schemes.c has the table of
 * schemes that names this one.
 *
 * Threads    any.
 */
#include "post/scheme.h"
#include "base/fault.h"
#include "post/service/service.h"
#include "stores/file/file.h"
#include "stores/file/file_store.h"
#include "stores/file/repair/check.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

extern const lbx__scheme lbx__file_scheme; // in post/schemes.c too

/* The folder above is followed through symbolic links; the folder itself is
 * not: whether it is one is for the storage to see, which refuses it. */
static lbx_status
scheme_place(const char *rest, char *ret_place, lbx_fault *fault)
{
    char above[PATH_MAX], shown[LBX__FAULT_PATH_BYTES];
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
        return lbx__fault_set(fault, lbx__io_status(-errno), "%s: %s",
                              lbx__fault_path(above, shown), strerror(errno));
    size = strlen(ret_place);
    if (size + used + 2 > LBX__ADDRESS_BYTES)
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
scheme_open(const char *name, const lbx_store_options *options, lbx_store **ret)
{
    const lbx_status status =
        options->check
            ? lbx__check_before_open(name, options->group, options->fault)
            : LBX_OK;

    return status == LBX_OK ? lbx__file_store_open(name, options, NULL, ret)
                            : status;
}

static const char *
scheme_differs(lbx_store *store, const lbx_store_options *wanted)
{
    const lbx_store_options *have =
        lbx__file_options(lbx__service_storage(store));

    if (wanted->clock && wanted->clock != have->clock)
        return "clock";
    if (wanted->exclusive && !have->exclusive)
        return "exclusive";
    if (wanted->group && !have->group)
        return "group";
    if (wanted->durability == LBX_DURABILITY_DEFAULT)
        return NULL;
    if (wanted->durability != have->durability)
        return "durability";
    return wanted->durability == LBX_DURABILITY_INTERVAL &&
                   wanted->interval_ms != have->interval_ms
               ? "interval_ms"
               : NULL;
}

const lbx__scheme lbx__file_scheme = {"file", scheme_place, scheme_open,
                                      scheme_differs, lbx__file_open_check};

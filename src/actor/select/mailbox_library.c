/* SPDX-License-Identifier: Apache-2.0 */
/* Types of mailboxes in shared objects. */
#include "actor/select/blame.h"
#include "actor/select/mailbox_type.h"

#include <dlfcn.h>

lbx_status
lbx__library_open(const lbx_settings *path, lbx_fault *fault, lbx__library *ret)
{
    const char *name = lbx_settings_text(path);
    const lbx_mailbox_library *library;
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        return lbx__blame(fault, LBX_NOT_FOUND, path, "%s",
                          dlerror()); // it names the file
    library = dlsym(handle, LBX_MAILBOX_LIBRARY_SYMBOL);
    if (!library || library->version != LBX_MAILBOX_LIBRARY_VERSION) {
        (void)dlclose(handle);
        return lbx__blame(fault, LBX_INVALID, path,
                          "%s has no symbol " LBX_MAILBOX_LIBRARY_SYMBOL
                          " of version %d",
                          name, LBX_MAILBOX_LIBRARY_VERSION);
    }
    ret->handle = handle;
    ret->library = library;
    return LBX_OK;
}

void
lbx__library_close(lbx__library *library)
{
    if (library->handle)
        (void)dlclose(library->handle);
    library->handle = NULL;
}

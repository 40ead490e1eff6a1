/* SPDX-License-Identifier: Apache-2.0 */
/* <letterbox/post/file_store.h> in a library that was built without stores in
 * files. */
#include <letterbox/post/file_store.h>

#include "base/sized.h"

static lbx_status
disabled_refuse(lbx_file_store_report *ret)
{
    if (ret && LBX__SIZED_IS_WRITABLE(ret, lbx_file_store_report, fault))
        ret->fault = (lbx_fault){
            LBX_UNSUPPORTED, "this library was built without stores in files"};
    return LBX_UNSUPPORTED;
}

lbx_status
lbx_file_store_check(const char *dir,
                     void (*damage)(void *context,
                                    const lbx_file_store_damage *part),
                     void *context, lbx_file_store_report *ret)
{
    (void)dir;
    (void)damage;
    (void)context;
    return disabled_refuse(ret);
}

lbx_status
lbx_file_store_check_with(const char *dir, const lbx_file_store_work *work,
                          lbx_file_store_report *ret)
{
    (void)dir;
    (void)work;
    return disabled_refuse(ret);
}

lbx_status
lbx_file_store_copy_with(lbx_store *store, const char *dir,
                         const lbx_file_store_work *work, lbx_fault *fault)
{
    (void)store;
    (void)dir;
    (void)work;
    if (fault)
        *fault = (lbx_fault){LBX_UNSUPPORTED,
                             "this library was built without stores in files"};
    return LBX_UNSUPPORTED;
}

lbx_status
lbx_file_store_salvage_with(const char *dir, const char *new_dir,
                            const lbx_file_store_work *work,
                            lbx_file_store_report *ret)
{
    (void)dir;
    (void)new_dir;
    (void)work;
    return disabled_refuse(ret);
}

lbx_status
lbx_file_store_copy(lbx_store *store, const char *dir)
{
    (void)store;
    (void)dir;
    return LBX_UNSUPPORTED;
}

lbx_status
lbx_file_store_salvage(const char *dir, const char *new_dir,
                       void (*damage)(void *context,
                                      const lbx_file_store_damage *part),
                       void *context, lbx_file_store_report *ret)
{
    (void)dir;
    (void)new_dir;
    (void)damage;
    (void)context;
    return disabled_refuse(ret);
}

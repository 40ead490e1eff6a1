/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a check, a copy or a salvage is: rows, as the trees count them. The
 * journal has more, so that the total is raised when there are.
 *
 * Threads    one at a time.
 */
#include "stores/file/repair/audit.h"

#include "base/sized.h"

enum {
    PROGRESS_ROWS = 1024 /* from one call to the next */
};

void
lbx__audit_progress_expect(lbx__audit_progress *progress, const lbx__view *view)
{
    for (int i = 0; i < LBX__TABLES; i++) {
        if (view->tables.has[i])
            progress->total += view->tables.trees[i].root.rows;
    }
}

static lbx_status
progress_tell(lbx__audit_progress *progress)
{
    if (progress->total < progress->done)
        progress->total = progress->done;
    return !progress->tell || progress->tell(progress->context, progress->done,
                                             progress->total)
               ? LBX_OK
               : LBX_CANCELLED;
}

lbx_status
lbx__audit_progress_step(lbx__audit_progress *progress)
{
    return ++progress->done % PROGRESS_ROWS == 0 ? progress_tell(progress)
                                                 : LBX_OK;
}

lbx_status
lbx__audit_progress_end(lbx__audit_progress *progress)
{
    progress->total = progress->done;
    return progress_tell(progress);
}

lbx_status
lbx__audit_progress_read(lbx_file_store_work *ret,
                         const lbx_file_store_work *work, lbx_fault *fault)
{
    LBX__SIZED(sized, lbx_file_store_work, progress, LBX_FILE_STORE_WORK_INIT);

    return lbx__sized_read(ret, work, &sized, fault);
}

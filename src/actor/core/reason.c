/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reasons: making and counting them.
 *
 * Threads: any; the text does not change.
 */
#include "actor/core/reason.h"

#include "base/alloc.h"
#include <stdio.h>

lbx__reason *
lbx__reason_create(const lbx_allocator *allocator, const char *format,
                   va_list arguments)
{
    lbx__reason *reason = lbx__zalloc(allocator, sizeof(*reason));

    if (!reason)
        return NULL;
    reason->allocator = allocator;
    lbx__init(&reason->refs, 1u);
    (void)vsnprintf(reason->text, sizeof(reason->text), format, arguments);
    return reason;
}

lbx__reason *
lbx__reason_ref(lbx__reason *reason)
{
    if (reason)
        (void)lbx__add(&reason->refs, 1, relaxed); // the caller holds one
    return reason;
}

void
lbx__reason_unref(lbx__reason *reason)
{
    // Release and acquire: all use comes before the free.
    if (reason && lbx__sub(&reason->refs, 1, acq_rel) == 1)
        lbx__free(reason->allocator, reason, sizeof(*reason));
}

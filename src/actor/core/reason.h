/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reasons: what an actor said about its failure, in words.
 *
 * A reason goes to the supervisor and to every watcher, so that it is counted.
 */
#ifndef LBX_ACTOR_CORE_REASON_H
#define LBX_ACTOR_CORE_REASON_H

#include "base/atomic.h"
#include <letterbox/base.h>
#include <stdarg.h>

enum {
    LBX__REASON_BYTES = 201
};

typedef struct lbx__reason {
    const lbx_allocator *allocator;
    _Atomic(uint32_t) refs;
    char text[LBX__REASON_BYTES];
} lbx__reason;

/* A reason with one reference; NULL without memory. */
lbx__reason *lbx__reason_create(const lbx_allocator *allocator,
                                const char *format, va_list arguments);

/* Both take NULL; the first returns its argument. */
lbx__reason *lbx__reason_ref(lbx__reason *reason);
void lbx__reason_unref(lbx__reason *reason);

static inline const char *
lbx__reason_text(const lbx__reason *reason)
{
    return reason ? reason->text : NULL;
}

#endif

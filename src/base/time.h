/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic on times that does not overflow.
 *
 * Times are int64_t nanoseconds; LBX_FOREVER, the largest, never comes and
 * stays what it is whatever is added.
 */
#ifndef LBX_BASE_TIME_H
#define LBX_BASE_TIME_H

#include <letterbox/base.h>

/* `time_ns` + `duration_ns`, at most LBX_FOREVER and at least INT64_MIN. */
static inline int64_t
lbx__time_add(int64_t time_ns, int64_t duration_ns)
{
    int64_t sum;

    if (time_ns == LBX_FOREVER)
        return LBX_FOREVER;
    if (__builtin_add_overflow(time_ns, duration_ns, &sum))
        return duration_ns > 0 ? LBX_FOREVER : INT64_MIN;
    return sum;
}

/* `count` units of `unit_ns` each, neither negative; at most LBX_FOREVER. */
static inline int64_t
lbx__time_scale(int64_t count, int64_t unit_ns)
{
    int64_t product;

    if (__builtin_mul_overflow(count, unit_ns, &product))
        return LBX_FOREVER;
    return product;
}

/* How long to wait at `now_ns` for `deadline_ns`: 0 when it has passed, -1 (for
 * ever, as futexes take it) when it never comes. */
static inline int64_t
lbx__time_left(int64_t deadline_ns, int64_t now_ns)
{
    int64_t left;

    if (deadline_ns == LBX_FOREVER)
        return -1;
    if (deadline_ns <= now_ns)
        return 0;
    // A difference that does not fit (292 years) counts as for ever.
    return __builtin_sub_overflow(deadline_ns, now_ns, &left) ? -1 : left;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as text: RFC 3339, "2026-11-16T10:51:36.123Z".
 *
 * A timestamp is milliseconds since 1970, UTC, from the year 0 to 9999. Leap
 * seconds are not counted, and ":60" is refused.
 */
#ifndef LBX_CODEC_TIMESTAMP_H
#define LBX_CODEC_TIMESTAMP_H

#include <letterbox/base.h>

#define LBX__TIMESTAMP_BYTES 25 /* with the NUL */

/* False outside the years 0 to 9999. */
bool lbx__timestamp_format(int64_t ms, char text[LBX__TIMESTAMP_BYTES]);

/* Any fraction, cut to milliseconds, and any offset. False for anything
 * else. */
bool lbx__timestamp_parse(const char *text, size_t size, int64_t *ret_ms);

#endif

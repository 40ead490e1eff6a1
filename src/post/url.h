/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs of stores and postboxes, as text: what follows the colon.
 *
 * URL-1  No character that means something in URLs, or to a shell, is taken
 *        literally: %20 is decoded; options after ?, fragments after # and a ~
 *        at the beginning are refused, with a fault that says what to write.
 */
#ifndef LBX_POST_URL_H
#define LBX_POST_URL_H

#include <letterbox/base.h>

/* Decodes `text`, a part of `url`, which faults show. `decoded` has
 * `size_bytes`. OK; INVALID (URL-1), also when it does not fit. */
lbx_status lbx__url_decode(const char *url, const char *text, char *decoded,
                           size_t size_bytes, lbx_fault *fault);

#endif

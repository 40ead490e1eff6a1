/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms: application/x-www-form-urlencoded, and query strings.
 *
 *     lbx__form form = lbx__form_of(bytes);
 *
 *     while (lbx__form_next(&form, &name, &value)) ... // still encoded
 *     lbx__form_decode(value, memory, &size)
 */
#ifndef LBX_CODEC_FORM_H
#define LBX_CODEC_FORM_H

#include "base/slice.h"
#include <letterbox/base.h>

typedef struct lbx__form {
    const char *at, *end;
} lbx__form;

lbx__form lbx__form_of(lbx__slice bytes);

/* The next field; a field without = has an empty value. Empty ones (&&) are
 * skipped. False at the end. */
bool lbx__form_next(lbx__form *form, lbx__slice *name, lbx__slice *value);

/* Decodes %XX and + into `out`, which has `text.size` bytes. False for a broken
 * %. What the bytes are is the caller's to check: %00 becomes a NUL. */
bool lbx__form_decode(lbx__slice text, char *out, size_t *ret_size);

#endif

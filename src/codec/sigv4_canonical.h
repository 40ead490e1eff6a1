/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical request of signature version 4: the text that is hashed;
 * private to sigv4.c. */
#ifndef LBX_CODEC_SIGV4_CANONICAL_H
#define LBX_CODEC_SIGV4_CANONICAL_H

#include "base/buffer.h"
#include "codec/digest.h"
#include "codec/sigv4.h"

/* What a canonical request is made of besides the request. */
typedef struct lbx__sigv4_canonical {
    lbx__slice signed_fields; /* "host;x-amz-date" */
    const char *body_hash;    /* in hexadecimal */
    bool in_query;            /* without X-Amz-Signature */
} lbx__sigv4_canonical;

/* Appends it. INVALID for a query string that is not properly encoded; another
 * failure is kept in the buffer. */
lbx_status lbx__sigv4_canonical_add(const lbx__sigv4_request *request,
                                    const lbx__sigv4_canonical *parts,
                                    lbx_buffer *out);

/* What is wrong with the list of signed fields: order, fields that are not
 * there, or not in the list and must be. NULL: nothing. */
const char *lbx__sigv4_canonical_check(const lbx__sigv4_request *request,
                                       lbx__slice signed_fields);

/* Appends the names of all fields, sorted, each once. */
lbx_status lbx__sigv4_canonical_names(const lbx__sigv4_request *request,
                                      lbx_buffer *out);

#endif

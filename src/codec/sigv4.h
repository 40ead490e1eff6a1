/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signature version 4 of AWS: signing requests, and checking signatures.
 *
 * SIGV4-1  The hash of the body is always computed from the body; a literal
 *          such as UNSIGNED-PAYLOAD is refused.
 * SIGV4-2  Signatures are compared in constant time (MAC-2), and an unknown
 *          key costs as much as a known one: no keys are kept from one check to
 *          the next, so that none is faster than another.
 * SIGV4-3  Two requests with the same signature mean the same: a query string
 *          is decoded as a form, and encoded again, before it is hashed.
 */
#ifndef LBX_CODEC_SIGV4_H
#define LBX_CODEC_SIGV4_H

#include "base/slice.h"
#include <letterbox/base.h>

/* The longest secret, in bytes. */
enum {
    LBX__SIGV4_SECRET_MAX = 256
};

/* The request, as it was sent. Names in lower case. */
typedef struct lbx__sigv4_field {
    lbx__slice name;
    lbx__slice value;
} lbx__sigv4_field;

typedef struct lbx__sigv4_request {
    lbx__slice method;
    lbx__slice path;  /* still percent-encoded */
    lbx__slice query; /* still percent-encoded; NULL bytes: none */
    const lbx__sigv4_field *fields;
    size_t field_count;
    lbx__slice body;
} lbx__sigv4_request;

/* What a request says of itself, before it is believed. */
typedef struct lbx__sigv4_claim {
    lbx__slice access_key;
    lbx__slice day;    /* "20261118" */
    lbx__slice region; /* of the scope */
    lbx__slice service;
    lbx__slice signed_fields; /* "host;x-amz-date"; presigned: encoded */
    lbx__slice signature;
    lbx__slice date;   /* X-Amz-Date, "20261118T071627Z" */
    lbx__slice token;  /* session token; NULL bytes: none. Presigned: encoded;
                        * lbx__sigv4_token_is() compares both. */
    bool in_query;     /* presigned */
    int64_t date_s;    /* seconds since 1970 */
    int64_t expires_s; /* presigned: X-Amz-Expires; else 0 */
} lbx__sigv4_claim;

typedef enum lbx__sigv4_result {
    LBX__SIGV4_OK = 0,
    LBX__SIGV4_ABSENT,     /* it has no signature at all */
    LBX__SIGV4_INCOMPLETE, /* malformed, twice, or in two forms */
    LBX__SIGV4_MISMATCH,
    LBX__SIGV4_EXPIRED,   /* or not yet valid */
    LBX__SIGV4_NO_MEMORY, /* it could not be checked */
} lbx__sigv4_result;

/* Finds the claim. ABSENT, INCOMPLETE; MISMATCH for a date or scope that no
 * signature can have. `why` is a sentence, unless it is OK. */
lbx__sigv4_result lbx__sigv4_read(const lbx__sigv4_request *request,
                                  lbx__sigv4_claim *ret, const char **why);

/* Checks it with the secret of its key, at `now_s`, within 15 minutes. A NULL
 * secret: the key is unknown; as much is computed, and it is a MISMATCH. `why`
 * is a sentence, or NULL when the signature is simply another. Region, service
 * and token are the caller's to check. */
lbx__sigv4_result lbx__sigv4_check(const lbx__sigv4_request *request,
                                   const lbx__sigv4_claim *claim,
                                   const char *secret, int64_t now_s,
                                   const lbx_allocator *allocator,
                                   const char **why);

/* Whether the claim has this session token; NULL: none. */
bool lbx__sigv4_token_is(const lbx__sigv4_claim *claim, const char *token);

/* The key that signs, and what it signs for. */
typedef struct lbx__sigv4_signer {
    const char *access_key;
    const char *secret;
    const char *region;
    const char *service;
    const char *date; /* as in the claim */
} lbx__sigv4_signer;

/* Signs: writes the value of Authorization. The fields
 * that are signed are all of `fields`. TOO_LARGE when it does not fit, INVALID
 * for a secret or a query string that cannot be. */
lbx_status lbx__sigv4_sign(const lbx__sigv4_request *request,
                           const lbx__sigv4_signer *signer,
                           const lbx_allocator *allocator, char *authorization,
                           size_t size);

#endif

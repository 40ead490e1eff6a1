/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing and checking; see sigv4.h. Both compute the same:
 *
 *   canonical request   sigv4_canonical.c
 *   string to sign      algorithm, date, scope, hash of the above
 *   key                 HMAC of HMAC ... of secret, day, region, service
 *   signature           HMAC of the string with the key
 */
#include "codec/sigv4.h"

#include "base/alloc.h"
#include "codec/form.h"
#include "codec/hex.h"
#include "codec/mac.h"
#include "codec/sigv4_canonical.h"

#include <stdio.h>

enum {
    WINDOW_S = 15 * 60,
    MAX_CANONICAL = 1 << 20,
    HEX_HASH = 2 * LBX__SHA256_BYTES, /* without its NUL */
    DAY_SIZE = 8
};

/* What a signature is computed with, for one call. */
typedef struct sigv4_work {
    lbx__digest *digest;
    lbx_buffer text;  /* the canonical request; then the string to sign */
    lbx_buffer names; /* the signed fields, decoded */
    char body_hash[HEX_HASH + 1];
} sigv4_work;

static lbx_status
sigv4_work_init(sigv4_work *work, const lbx_allocator *allocator)
{
    *work = (sigv4_work){0};
    lbx__buffer_init(&work->text, allocator, MAX_CANONICAL);
    lbx__buffer_init(&work->names, allocator, MAX_CANONICAL);
    return lbx__digest_create(allocator, &work->digest);
}

static void
sigv4_work_fini(sigv4_work *work)
{
    lbx__digest_destroy(work->digest);
    lbx__buffer_fini(&work->names);
    lbx__buffer_fini(&work->text);
}

static lbx_status
sigv4_hash_hex(sigv4_work *work, lbx__slice bytes, char text[HEX_HASH + 1])
{
    uint8_t hash[LBX__SHA256_BYTES];
    const lbx_status status = lbx__digest_all(
        work->digest, bytes.bytes ? bytes.bytes : "", bytes.size, hash);

    if (status == LBX_OK)
        lbx__hex_encode(hash, sizeof(hash), text);
    return status;
}

/* Each step's key is the result of the one before. */
static lbx_status
sigv4_derive(sigv4_work *work, const lbx__sigv4_claim *claim,
             const char *secret, uint8_t key[LBX__SHA256_BYTES])
{
    const lbx__slice steps[] = {claim->day, claim->region, claim->service,
                                lbx__slice_of("aws4_request")};
    char first[LBX__SIGV4_SECRET_MAX + 8];
    const int size = snprintf(first, sizeof(first), "AWS4%s", secret);
    lbx_status status;

    if (size < 0 || (size_t)size >= sizeof(first))
        return LBX_INVALID;
    status = lbx__mac_once(work->digest, first, (size_t)size, steps[0].bytes,
                           steps[0].size, key);
    for (size_t i = 1; i < 4 && status == LBX_OK; i++)
        status = lbx__mac_once(work->digest, key, LBX__SHA256_BYTES,
                               steps[i].bytes, steps[i].size, key);
    explicit_bzero(first, sizeof(first));
    return status;
}

static void
sigv4_put_line(lbx_buffer *out, lbx__slice text, char end)
{
    lbx__buffer_add(out, text.bytes, text.size);
    lbx__buffer_add_byte(out, end);
}

/* The string to sign, in work->text. */
static lbx_status
sigv4_build_string(sigv4_work *work, const lbx__sigv4_claim *claim)
{
    lbx_buffer *out = &work->text;
    char hash[HEX_HASH + 1];
    const lbx_status status = sigv4_hash_hex(
        work, (lbx__slice){lbx__buffer_text(out), out->size}, hash);

    if (status != LBX_OK)
        return status;
    lbx__buffer_reset(out);
    sigv4_put_line(out, lbx__slice_of("AWS4-HMAC-SHA256"), '\n');
    sigv4_put_line(out, claim->date, '\n');
    sigv4_put_line(out, claim->day, '/');
    sigv4_put_line(out, claim->region, '/');
    sigv4_put_line(out, claim->service, '/');
    sigv4_put_line(out, lbx__slice_of("aws4_request"), '\n');
    lbx__buffer_add(out, hash, HEX_HASH);
    return out->status;
}

/* Computes the signature; work->names and work->body_hash are there. */
static lbx_status
sigv4_compute(sigv4_work *work, const lbx__sigv4_request *request,
              const lbx__sigv4_claim *claim, const char *secret,
              char signature[HEX_HASH + 1])
{
    const lbx__sigv4_canonical parts = {
        .signed_fields = {lbx__buffer_text(&work->names), work->names.size},
        .body_hash = work->body_hash,
        .in_query = claim->in_query,
    };
    uint8_t key[LBX__SHA256_BYTES], hash[LBX__SHA256_BYTES];
    lbx_status status = lbx__sigv4_canonical_add(request, &parts, &work->text);

    if (status == LBX_OK)
        status = sigv4_build_string(work, claim);
    if (status == LBX_OK)
        status = sigv4_derive(work, claim, secret, key);
    if (status == LBX_OK)
        status = lbx__mac_once(work->digest, key, sizeof(key), work->text.bytes,
                               work->text.size, hash);
    if (status == LBX_OK)
        lbx__hex_encode(hash, sizeof(hash), signature);
    explicit_bzero(key, sizeof(key));
    return status;
}

// ---- Checking ----

/* The names of the signed fields, decoded if they come from a URL. */
static lbx_status
sigv4_read_names(sigv4_work *work, const lbx__sigv4_claim *claim)
{
    const lbx__slice names = claim->signed_fields;
    char *decoded = lbx__buffer_claim(&work->names, names.size);
    size_t size = names.size;

    if (!decoded)
        return work->names.status;
    if (!claim->in_query)
        memcpy(decoded, names.bytes, names.size);
    else if (!lbx__form_decode(names, decoded, &size))
        return LBX_INVALID;
    work->names.size = size;
    decoded[size] = '\0'; // BUF-1
    return LBX_OK;
}

/* SIGV4-1: a hash that the client sends must be that of the body. */
static bool
sigv4_hash_is_sent(const lbx__sigv4_request *request, const char *body_hash)
{
    for (size_t i = 0; i < request->field_count; i++) {
        const lbx__sigv4_field *field = &request->fields[i];

        if (lbx__slice_is(field->name, "x-amz-content-sha256") &&
            !lbx__slice_is(field->value, body_hash))
            return false;
    }
    return true;
}

static bool
sigv4_is_current(const lbx__sigv4_claim *claim, int64_t now_s)
{
    const int64_t age_s = now_s - claim->date_s;
    const int64_t most_s = claim->in_query ? claim->expires_s : WINDOW_S;

    return age_s >= -WINDOW_S && age_s <= most_s;
}

/* What the signature is compared with, and why it cannot be right at all. */
static lbx_status
sigv4_expect(sigv4_work *work, const lbx__sigv4_request *request,
             const lbx__sigv4_claim *claim, const char *secret,
             char expected[HEX_HASH + 1], const char **why)
{
    lbx_status status = sigv4_hash_hex(work, request->body, work->body_hash);

    if (status == LBX_OK)
        status = sigv4_read_names(work, claim);
    if (status == LBX_OK)
        // An unknown key costs as much: SIGV4-2.
        status = sigv4_compute(
            work, request, claim,
            secret ? secret : "0000000000000000000000000000000000000000",
            expected);
    if (status != LBX_OK)
        return status;
    *why = lbx__sigv4_canonical_check(
        request,
        (lbx__slice){lbx__buffer_text(&work->names), work->names.size});
    if (!*why && !sigv4_hash_is_sent(request, work->body_hash))
        *why = "X-Amz-Content-SHA256 is not the hash of the body.";
    return LBX_OK;
}

lbx__sigv4_result
lbx__sigv4_check(const lbx__sigv4_request *request,
                 const lbx__sigv4_claim *claim, const char *secret,
                 int64_t now_s, const lbx_allocator *allocator,
                 const char **why)
{
    char expected[HEX_HASH + 1];
    sigv4_work work;
    lbx_status status = sigv4_work_init(&work, allocator);
    lbx__sigv4_result result = LBX__SIGV4_MISMATCH;

    *why = NULL;
    if (status == LBX_OK)
        status = sigv4_expect(&work, request, claim, secret, expected, why);
    if (status == LBX_NO_MEMORY || status == LBX_UNSUPPORTED) {
        *why = "The server is out of memory.";
        result = LBX__SIGV4_NO_MEMORY;
    } else if (status == LBX_OK && !*why && secret &&
               claim->signature.size == HEX_HASH &&
               lbx__mac_equal(claim->signature.bytes, expected, HEX_HASH)) {
        result = LBX__SIGV4_OK;
        if (!sigv4_is_current(claim, now_s)) {
            *why = "The signature has expired, or is not yet valid.";
            result = LBX__SIGV4_EXPIRED;
        }
    }
    explicit_bzero(expected, sizeof(expected));
    sigv4_work_fini(&work);
    return result;
}

bool
lbx__sigv4_token_is(const lbx__sigv4_claim *claim, const char *token)
{
    lbx__slice rest = claim->token;

    if (!rest.bytes || !token)
        return !rest.bytes && !token;
    while (rest.size > 0 && *token) {
        // A character, or %XX.
        const bool encoded = claim->in_query && *rest.bytes == '%';
        const lbx__slice piece = {rest.bytes,
                                  encoded && rest.size >= 3 ? 3 : 1};
        char byte = *rest.bytes;
        size_t size;

        if (claim->in_query && !lbx__form_decode(piece, &byte, &size))
            return false;
        if (byte != *token++)
            return false;
        rest.bytes += piece.size;
        rest.size -= piece.size;
    }
    return rest.size == 0 && !*token;
}

// ---- Signing ----

lbx_status
lbx__sigv4_sign(const lbx__sigv4_request *request,
                const lbx__sigv4_signer *signer, const lbx_allocator *allocator,
                char *authorization, size_t size)
{
    const lbx__sigv4_claim claim = {
        .day = {signer->date, DAY_SIZE},
        .region = lbx__slice_of(signer->region),
        .service = lbx__slice_of(signer->service),
        .date = lbx__slice_of(signer->date),
    };
    char signature[HEX_HASH + 1];
    sigv4_work work;
    lbx_status status = sigv4_work_init(&work, allocator);
    int made = -1;

    if (claim.date.size < DAY_SIZE)
        status = LBX_INVALID;
    if (status == LBX_OK)
        status = sigv4_hash_hex(&work, request->body, work.body_hash);
    if (status == LBX_OK)
        status = lbx__sigv4_canonical_names(request, &work.names);
    if (status == LBX_OK)
        status =
            sigv4_compute(&work, request, &claim, signer->secret, signature);
    if (status == LBX_OK) {
        made =
            snprintf(authorization, size,
                     "AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/%s/"
                     "aws4_request, SignedHeaders=%s, Signature=%s",
                     signer->access_key, signer->date, signer->region,
                     signer->service, lbx__buffer_text(&work.names), signature);
        if (made < 0 || (size_t)made >= size)
            status = LBX_TOO_LARGE;
    }
    sigv4_work_fini(&work);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the claim of a request: in Authorization, or in the query string of a
 * presigned URL. Nothing is copied: parts of a presigned claim are as they were
 * sent, and may be percent-encoded where they have a separator.
 */
#include "codec/sigv4.h"

#include "codec/form.h"
#include "codec/timestamp.h"

#include <stdio.h>

static const char sigv4_algorithm[] = "AWS4-HMAC-SHA256";

enum {
    MAX_EXPIRES_S = 604800, /* a week */
    DAY_SIZE = 8,
    DATE_SIZE = 16
};

/* A claim before it is split. */
typedef struct sigv4_found {
    lbx__slice algorithm;
    lbx__slice credential;
    lbx__slice expires;
} sigv4_found;

static lbx__sigv4_result
sigv4_fail(lbx__sigv4_result result, const char **why, const char *text)
{
    *why = text;
    return result;
}

static lbx__sigv4_result
sigv4_fail_part(const char **why)
{
    return sigv4_fail(LBX__SIGV4_INCOMPLETE, why,
                      "The signature lacks a part, or has one twice.");
}

/* Sets a part that may be there once. */
static bool
sigv4_set_once(lbx__slice *part, lbx__slice value)
{
    if (part->bytes || value.size == 0)
        return false;
    *part = value;
    return true;
}

// ---- Credential and date ----

/* The size of the separator at `at`: the character, or %XX of it. 0: none. */
static size_t
sigv4_slash_size(const char *at, size_t left, bool encoded)
{
    if (*at == '/')
        return 1;
    return encoded && left >= 3 && at[0] == '%' && at[1] == '2' &&
                   (at[2] | ('A' ^ 'a')) == 'f'
               ? 3
               : 0;
}

/* Takes what is before the next slash, and the slash. */
static lbx__slice
sigv4_take_scope(lbx__slice *rest, bool encoded)
{
    lbx__slice part = {rest->bytes, 0};
    size_t slash = 0;

    while (part.size < rest->size && slash == 0) {
        slash = sigv4_slash_size(rest->bytes + part.size,
                                 rest->size - part.size, encoded);
        part.size += slash == 0;
    }
    rest->bytes += part.size + slash;
    rest->size -= part.size + slash;
    return part;
}

static bool
sigv4_is_plain(lbx__slice part)
{
    return part.size > 0 && !memchr(part.bytes, '%', part.size) &&
           !memchr(part.bytes, '+', part.size);
}

/* KEY/20261118/us-east-1/sqs/aws4_request */
static lbx__sigv4_result
sigv4_split_credential(lbx__slice text, lbx__sigv4_claim *claim,
                       const char **why)
{
    lbx__slice *parts[] = {&claim->access_key, &claim->day, &claim->region,
                           &claim->service};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        *parts[i] = sigv4_take_scope(&text, claim->in_query);
        if (!sigv4_is_plain(*parts[i]))
            return sigv4_fail(LBX__SIGV4_INCOMPLETE, why,
                              "The credential must be "
                              "KEY/DAY/REGION/SERVICE/aws4_request.");
    }
    if (!lbx__slice_is(text, "aws4_request"))
        return sigv4_fail(LBX__SIGV4_MISMATCH, why,
                          "The credential must end with aws4_request.");
    return LBX__SIGV4_OK;
}

/* "20261118T071627Z" as seconds since 1970. */
static bool
sigv4_parse_date(lbx__slice date, int64_t *ret_s)
{
    const char *at = date.bytes;
    char text[24];
    int64_t ms;

    if (date.size != DATE_SIZE || at[8] != 'T' || at[15] != 'Z')
        return false;
    (void)snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", at,
                   at + 4, at + 6, at + 9, at + 11, at + 13);
    if (!lbx__timestamp_parse(text, strlen(text), &ms))
        return false;
    *ret_s = ms / 1000;
    return true;
}

static lbx__sigv4_result
sigv4_check_date(lbx__sigv4_claim *claim, const char **why)
{
    if (!claim->date.bytes || !sigv4_parse_date(claim->date, &claim->date_s))
        return sigv4_fail(LBX__SIGV4_MISMATCH, why,
                          "X-Amz-Date must be there, as 20261118T071627Z.");
    if (claim->day.size != DAY_SIZE ||
        memcmp(claim->day.bytes, claim->date.bytes, DAY_SIZE) != 0)
        return sigv4_fail(LBX__SIGV4_MISMATCH, why,
                          "The credential's day is not that of X-Amz-Date.");
    return LBX__SIGV4_OK;
}

// ---- The header ----

static lbx__slice
sigv4_trim(lbx__slice text)
{
    while (text.size > 0 && (*text.bytes == ' ' || *text.bytes == '\t')) {
        text.bytes++;
        text.size--;
    }
    while (text.size > 0 && (text.bytes[text.size - 1] == ' ' ||
                             text.bytes[text.size - 1] == '\t'))
        text.size--;
    return text;
}

/* Takes what is before the next separator, and the separator. */
static lbx__slice
sigv4_take_until(lbx__slice *rest, char separator)
{
    const char *found = memchr(rest->bytes, separator, rest->size);
    lbx__slice part = *rest;

    if (found)
        part.size = (size_t)(found - rest->bytes);
    rest->bytes += part.size + (found != NULL);
    rest->size -= part.size + (found != NULL);
    return part;
}

/* The parts behind the algorithm: NAME=VALUE, ... */
static bool
sigv4_split_header(lbx__slice rest, lbx__sigv4_claim *claim, sigv4_found *found)
{
    while (rest.size > 0) {
        lbx__slice value = sigv4_trim(sigv4_take_until(&rest, ','));
        const lbx__slice name = sigv4_take_until(&value, '=');
        bool fits = false;

        if (lbx__slice_is(name, "Credential"))
            fits = sigv4_set_once(&found->credential, value);
        else if (lbx__slice_is(name, "SignedHeaders"))
            fits = sigv4_set_once(&claim->signed_fields, value);
        else if (lbx__slice_is(name, "Signature"))
            fits = sigv4_set_once(&claim->signature, value);
        if (!fits)
            return false;
    }
    return true;
}

/* A field that may be there once; NULL bytes: it is not. */
static bool
sigv4_find_field(const lbx__sigv4_request *request, const char *name,
                 lbx__slice *ret)
{
    *ret = (lbx__slice){0};
    for (size_t i = 0; i < request->field_count; i++) {
        if (!lbx__slice_is(request->fields[i].name, name))
            continue;
        if (ret->bytes)
            return false;
        *ret = sigv4_trim(request->fields[i].value);
    }
    return true;
}

static lbx__sigv4_result
sigv4_read_header(const lbx__sigv4_request *request, lbx__slice authorization,
                  lbx__sigv4_claim *claim, const char **why)
{
    sigv4_found found = {0};

    found.algorithm = sigv4_take_until(&authorization, ' ');
    if (!lbx__slice_is(found.algorithm, sigv4_algorithm))
        return sigv4_fail(LBX__SIGV4_INCOMPLETE, why,
                          "Authorization must begin with AWS4-HMAC-SHA256.");
    if (!sigv4_split_header(authorization, claim, &found) ||
        !found.credential.bytes || !claim->signed_fields.bytes ||
        !claim->signature.bytes ||
        !sigv4_find_field(request, "x-amz-date", &claim->date) ||
        !sigv4_find_field(request, "x-amz-security-token", &claim->token))
        return sigv4_fail_part(why);
    // Clients that cannot set X-Amz-Date put the same into Date.
    if (!claim->date.bytes && !sigv4_find_field(request, "date", &claim->date))
        return sigv4_fail_part(why);
    return sigv4_split_credential(found.credential, claim, why);
}

// ---- The query string ----

/* Where a parameter of a presigned URL belongs; NULL: it is another. */
static lbx__slice *
sigv4_parameter(lbx__slice name, lbx__sigv4_claim *claim, sigv4_found *found)
{
    const struct {
        const char *name;
        lbx__slice *at;
    } rows[] = {
        {"X-Amz-Algorithm", &found->algorithm},
        {"X-Amz-Credential", &found->credential},
        {"X-Amz-Date", &claim->date},
        {"X-Amz-Expires", &found->expires},
        {"X-Amz-SignedHeaders", &claim->signed_fields},
        {"X-Amz-Security-Token", &claim->token},
        {"X-Amz-Signature", &claim->signature},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (lbx__slice_is(name, rows[i].name))
            return rows[i].at;
    }
    return NULL;
}

/* False when a parameter is there twice. */
static bool
sigv4_scan_query(lbx__slice query, lbx__sigv4_claim *claim, sigv4_found *found)
{
    lbx__form form = lbx__form_of(query);
    lbx__slice name, value;

    while (lbx__form_next(&form, &name, &value)) {
        lbx__slice *at = sigv4_parameter(name, claim, found);

        if (at && at->bytes)
            return false;
        if (at)
            *at = value;
    }
    return true;
}

static bool
sigv4_parse_expires(lbx__slice text, int64_t *ret_s)
{
    int64_t number = 0;

    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9' ||
            number > MAX_EXPIRES_S)
            return false;
        number = number * 10 + (text.bytes[i] - '0');
    }
    *ret_s = number;
    return number >= 1 && number <= MAX_EXPIRES_S;
}

static lbx__sigv4_result
sigv4_read_query(const sigv4_found *found, lbx__sigv4_claim *claim,
                 const char **why)
{
    claim->in_query = true;
    if (found->credential.size == 0 || claim->signed_fields.size == 0 ||
        claim->signature.size == 0)
        return sigv4_fail_part(why);
    if (!lbx__slice_is(found->algorithm, sigv4_algorithm))
        return sigv4_fail(LBX__SIGV4_INCOMPLETE, why,
                          "X-Amz-Algorithm must be AWS4-HMAC-SHA256.");
    if (!sigv4_parse_expires(found->expires, &claim->expires_s))
        return sigv4_fail(LBX__SIGV4_INCOMPLETE, why,
                          "X-Amz-Expires must be from 1 to 604800 seconds.");
    return sigv4_split_credential(found->credential, claim, why);
}

lbx__sigv4_result
lbx__sigv4_read(const lbx__sigv4_request *request, lbx__sigv4_claim *ret,
                const char **why)
{
    lbx__sigv4_claim presigned = {0}, claim = {0};
    lbx__sigv4_result result;
    sigv4_found found = {0};
    lbx__slice authorization;
    bool is_presigned;

    *why = "";
    if (!sigv4_find_field(request, "authorization", &authorization) ||
        !sigv4_scan_query(request->query, &presigned, &found))
        return sigv4_fail_part(why);
    is_presigned = found.algorithm.bytes || found.credential.bytes ||
                   presigned.signature.bytes || presigned.signed_fields.bytes;
    if (authorization.bytes && is_presigned)
        return sigv4_fail(LBX__SIGV4_INCOMPLETE, why,
                          "The request is signed in the header Authorization "
                          "and in the query string.");
    if (!authorization.bytes && !is_presigned)
        return sigv4_fail(LBX__SIGV4_ABSENT, why, "The request is not signed.");
    if (is_presigned) {
        claim = presigned;
        result = sigv4_read_query(&found, &claim, why);
    } else {
        result = sigv4_read_header(request, authorization, &claim, why);
    }
    if (result == LBX__SIGV4_OK)
        result = sigv4_check_date(&claim, why);
    if (result == LBX__SIGV4_OK)
        *ret = claim;
    return result;
}

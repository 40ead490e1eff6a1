/* SPDX-License-Identifier: Apache-2.0 */
/* Authentication. GATE-1 to GATE-3 are in gate.h. */
#include "server/gate.h"

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/time.h"
#include "codec/sigv4.h"

#include <ctype.h>
#include <string.h>

struct gate_key {
    char *access_key;
    char *secret;
    char *token;
    char account[LBX__ACCOUNT_BYTES];
};

struct lbx__keys {
    const lbx_allocator *allocator;
    _Atomic(uint32_t) refs;
    size_t count;
    struct gate_key items[];
};

enum {
    KEYS_MAX = 10000,
    KEY_TOKEN_BYTES = 4096
};

static void
key_free_text(const lbx_allocator *allocator, char *text)
{
    if (!text)
        return;
    size_t size = strlen(text) + 1;

    explicit_bzero(text, size);
    lbx__free(allocator, text, size);
}

static void
keys_unref(lbx__keys *keys)
{
    // Acquire and release: the last user sees what the others did.
    if (!keys || lbx__sub(&keys->refs, 1u, acq_rel) > 1)
        return;
    for (size_t i = 0; i < keys->count; i++) {
        key_free_text(keys->allocator, keys->items[i].access_key);
        key_free_text(keys->allocator, keys->items[i].secret);
        key_free_text(keys->allocator, keys->items[i].token);
    }
    lbx__free(keys->allocator, keys,
              sizeof(*keys) + keys->count * sizeof(keys->items[0]));
}

static lbx__keys *
gate_keys(lbx__gate *gate)
{
    lbx__keys *keys;

    lbx__lock_take(&gate->lock);
    keys = gate->keys;
    if (keys)
        // Relaxed: the gate's own reference keeps it, under the lock.
        lbx__add(&keys->refs, 1u, relaxed);
    lbx__lock_give(&gate->lock);
    return keys;
}

static char *
key_copy_text(const lbx_allocator *allocator, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lbx__alloc(allocator, size, 1);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

static bool
key_is_access_key(const char *text)
{
    size_t size = strlen(text);

    for (size_t i = 0; i < size; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("_-.", text[i]))
            return false;
    }
    return size >= 3 && size <= 128;
}

static lbx_status
key_check(const lbx_server_key *key, size_t index, lbx_fault *fault)
{
    if (!key->access_key || !key_is_access_key(key->access_key))
        return lbx__fault_set(fault, LBX_INVALID,
                              "key %zu: an access key has 3 to 128 letters, "
                              "digits, and _ - .",
                              index + 1);
    if (!key->secret || strlen(key->secret) < 8 ||
        strlen(key->secret) > LBX__SIGV4_SECRET_MAX)
        return lbx__fault_set(
            fault, LBX_INVALID, "key %zu, %s: a secret has 8 to %d characters",
            index + 1, key->access_key, LBX__SIGV4_SECRET_MAX);
    if (key->account && !lbx__gate_is_account(lbx__slice_of(key->account)))
        return lbx__fault_set(fault, LBX_INVALID,
                              "key %zu, %s: an account has 12 digits",
                              index + 1, key->access_key);
    if (key->token && (!key->token[0] || strlen(key->token) >= KEY_TOKEN_BYTES))
        return lbx__fault_set(fault, LBX_INVALID,
                              "key %zu, %s: a token has 1 to %d characters",
                              index + 1, key->access_key, KEY_TOKEN_BYTES - 1);
    return LBX_OK;
}

static lbx_status
keys_fill(lbx__keys *copies, const lbx__world *home, const lbx_server_key *keys,
          size_t count)
{
    const lbx_allocator *allocator = copies->allocator;

    for (size_t i = 0; i < count; i++) {
        struct gate_key *copy = &copies->items[i];

        copy->access_key = key_copy_text(allocator, keys[i].access_key);
        copy->secret = key_copy_text(allocator, keys[i].secret);
        copy->token =
            keys[i].token ? key_copy_text(allocator, keys[i].token) : NULL;
        memcpy(copy->account, keys[i].account ? keys[i].account : home->account,
               LBX__ACCOUNT_BYTES);
        if (!copy->access_key || !copy->secret ||
            (keys[i].token && !copy->token))
            return LBX_NO_MEMORY;
    }
    return LBX_OK;
}

lbx_status
lbx__gate_check_keys(const lbx_server_key *keys, size_t count, lbx_fault *fault)
{
    lbx_status status = LBX_OK;

    if (count > KEYS_MAX)
        return lbx__fault_set(fault, LBX_INVALID,
                              "%zu keys; at most %d are allowed", count,
                              KEYS_MAX);
    for (size_t i = 0; i < count && status == LBX_OK; i++)
        status = key_check(&keys[i], i, fault);
    return status;
}

static lbx_status
keys_create(lbx__gate *gate, const lbx_server_key *keys, size_t count,
            lbx__keys **ret, lbx_fault *fault)
{
    lbx__keys *copies;
    lbx_status status = lbx__gate_check_keys(keys, count, fault);

    if (status != LBX_OK)
        return status;
    copies = lbx__zalloc(gate->allocator,
                         sizeof(*copies) + count * sizeof(copies->items[0]));
    if (!copies)
        return LBX_NO_MEMORY;
    copies->allocator = gate->allocator;
    copies->count = count;
    copies->refs = 1;
    status = keys_fill(copies, gate->home, keys, count);
    if (status != LBX_OK) {
        keys_unref(copies);
        return status;
    }
    *ret = copies;
    return LBX_OK;
}

lbx_status
lbx__gate_set_keys(lbx__gate *gate, const lbx_server_key *keys, size_t count,
                   lbx_fault *fault)
{
    lbx__keys *copies = NULL, *before;
    lbx_status status = LBX_OK;

    if (count > 0)
        status = keys_create(gate, keys, count, &copies, fault);
    if (status != LBX_OK)
        return lbx__fault_complete(fault, status, "keys", NULL);
    lbx__lock_take(&gate->lock);
    before = gate->keys;
    gate->keys = copies;
    lbx__lock_give(&gate->lock);
    keys_unref(before);
    return LBX_OK;
}

void
lbx__gate_init(lbx__gate *gate, const lbx_allocator *allocator,
               const lbx__world *home)
{
    *gate = (lbx__gate){.allocator = allocator, .home = home};
}

void
lbx__gate_fini(lbx__gate *gate)
{
    keys_unref(gate->keys);
    gate->keys = NULL;
}

bool
lbx__gate_is_open(lbx__gate *gate)
{
    lbx__keys *keys = gate_keys(gate);

    keys_unref(keys);
    return !keys;
}

bool
lbx__gate_is_account(lbx__slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (!isdigit((unsigned char)text.bytes[i]))
            return false;
    }
    return text.size == LBX__ACCOUNT_BYTES - 1;
}

bool
lbx__gate_is_region(lbx__slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.bytes[i];

        if (!islower(c) && !isdigit(c) && c != '-')
            return false;
    }
    return text.size > 0 && text.size < LBX__REGION_BYTES;
}

/* The set is searched to its end, so that the time does not tell which keys
 * there are. */
static const struct gate_key *
keys_find(const lbx__keys *keys, lbx__slice access_key)
{
    const struct gate_key *found = NULL;

    for (size_t i = 0; i < keys->count; i++) {
        if (lbx__slice_is(access_key, keys->items[i].access_key))
            found = &keys->items[i];
    }
    return found;
}

static const char gate_mismatch[] =
    "The request signature we calculated does not match the signature you "
    "provided. Check your AWS Secret Access Key and signing method. Consult "
    "the service documentation for details.";

static lbx__sqs_error
gate_error_of(lbx__sigv4_result result, const char *why, const char **ret_text)
{
    *ret_text = why;
    switch (result) {
    case LBX__SIGV4_OK:
        return LBX__SQS_OK;
    case LBX__SIGV4_ABSENT:
        *ret_text = "Request is missing Authentication Token";
        return LBX__SQS_MissingAuthenticationTokenException;
    case LBX__SIGV4_INCOMPLETE:
        return LBX__SQS_IncompleteSignatureException;
    case LBX__SIGV4_EXPIRED:
        return LBX__SQS_RequestExpired;
    case LBX__SIGV4_NO_MEMORY:
        return LBX__SQS_ServiceUnavailable;
    case LBX__SIGV4_MISMATCH:
    default:
        if (!why)
            *ret_text = gate_mismatch;
        return LBX__SQS_InvalidSignatureException;
    }
}

static lbx__sigv4_request
gate_signed_request(const lbx__http_request *request)
{
    _Static_assert(sizeof(lbx__sigv4_field) == sizeof(lbx__http_field) &&
                       offsetof(lbx__sigv4_field, value) ==
                           offsetof(lbx__http_field, value),
                   "fields of http and of signatures are the same struct");
    return (lbx__sigv4_request){
        .method = request->method_name,
        .path = request->path,
        .query = request->query,
        .fields = (const lbx__sigv4_field *)(const void *)request->fields,
        .field_count = request->field_count,
        .body = request->body,
    };
}

static lbx__sqs_error
gate_check(const lbx__keys *keys, const lbx__sigv4_request *request,
           const lbx__sigv4_claim *claim, lbx__world *ret,
           const char **ret_text)
{
    const struct gate_key *key = keys_find(keys, claim->access_key);
    const char *why = NULL;
    lbx__sigv4_result result;

    result =
        lbx__sigv4_check(request, claim, key ? key->secret : NULL,
                         lbx__clock_wall() / LBX_SECOND, keys->allocator, &why);
    if (!key || !lbx__sigv4_token_is(claim, key->token)) {
        *ret_text = "The security token included in the request is invalid.";
        return LBX__SQS_UnrecognizedClientException;
    }
    if (result == LBX__SIGV4_OK && !lbx__slice_is(claim->service, "sqs") &&
        !lbx__slice_is(claim->service, "sts")) {
        *ret_text = "Credential should be scoped to correct service: 'sqs'.";
        return LBX__SQS_InvalidSignatureException;
    }
    memcpy(ret->account, key->account, LBX__ACCOUNT_BYTES);
    return gate_error_of(result, why, ret_text);
}

lbx__sqs_error
lbx__gate_admit(lbx__gate *gate, const lbx__http_request *request,
                lbx__world *ret, const char **ret_text)
{
    lbx__sigv4_request signed_request = gate_signed_request(request);
    lbx__sigv4_claim claim = {.in_query = false};
    lbx__keys *keys = gate_keys(gate);
    const char *why = NULL;
    lbx__sigv4_result result = lbx__sigv4_read(&signed_request, &claim, &why);
    lbx__sqs_error error = LBX__SQS_OK;

    *ret = *gate->home;
    if (lbx__gate_is_region(claim.region)) {
        memcpy(ret->region, claim.region.bytes, claim.region.size);
        ret->region[claim.region.size] = '\0';
    }
    if (!keys) { // GATE-2
        if (lbx__gate_is_account(claim.access_key))
            memcpy(ret->account, claim.access_key.bytes, claim.access_key.size);
        return LBX__SQS_OK;
    }
    error = gate_error_of(result, why, ret_text);
    if (error == LBX__SQS_OK)
        error = gate_check(keys, &signed_request, &claim, ret, ret_text);
    keys_unref(keys);
    return error;
}

bool
lbx__gate_may_admit(lbx__gate *gate, const lbx__http_request *request)
{
    lbx__sigv4_request signed_request = gate_signed_request(request);
    lbx__sigv4_claim claim = {.in_query = false};
    lbx__keys *keys = gate_keys(gate);
    const char *why = NULL;
    bool may = !keys;

    if (keys && lbx__sigv4_read(&signed_request, &claim, &why) == LBX__SIGV4_OK)
        may = keys_find(keys, claim.access_key) != NULL;
    keys_unref(keys);
    return may;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules as a whole: opening and closing, the identity of the store, numbers
 * and hashes.
 *
 * Two rows of the meta table hold the identity. "store": format 4, era 4, uid
 * 16, key 32. "numbers": the next number 8 (RULES-5).
 */
#include "base/alloc.h"
#include "codec/random.h"
#include "post/rules/internal.h"

#include <string.h>

enum {
    STORE_FORMAT = 1,
    STORE_BYTES = 8 + LBX__STORE_UID_BYTES + LBX__STORE_KEY_BYTES
};

/* What the storage adds to the era of the row: both only grow, so does the
 * sum. */
static uint32_t
rules_lost_eras(const lbx__rules *rules)
{
    const lbx__storage *storage = rules->storage;

    return storage->ops->era ? storage->ops->era(storage) : 0;
}

static void
rules_write_store(lbx__rules *rules)
{
    const lbx__key key = lbx__key_text("store");
    uint8_t bytes[STORE_BYTES];
    uint8_t *at = lbx__put_le32(lbx__put_le32(bytes, STORE_FORMAT),
                                rules->era - rules_lost_eras(rules));

    memcpy(at, rules->uid, sizeof(rules->uid));
    memcpy(at + sizeof(rules->uid), rules->key, sizeof(rules->key));
    lbx__row_put(rules->storage, LBX__META, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
}

/* An empty storage becomes a store. */
static lbx_status
rules_create_store(lbx__rules *rules)
{
    const lbx__key numbers = lbx__key_text("numbers");
    lbx__need need = {.count = 0};
    lbx_status status;

    if (!lbx__random(rules->uid, sizeof(rules->uid)) ||
        !lbx__random(rules->key, sizeof(rules->key)))
        return LBX_IO;
    lbx__need_row(&need, 5, STORE_BYTES);
    lbx__need_row(&need, 7, 8);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__GROWS);
    if (status != LBX_OK)
        return status;
    rules->era = 1 + rules_lost_eras(rules);
    rules_write_store(rules);
    lbx__row_put_number(rules->storage, LBX__META, &numbers, 1);
    return LBX_OK;
}

static lbx_status
rules_read_store(lbx__rules *rules)
{
    const lbx__key key = lbx__key_text("store");
    const uint8_t *at;
    lbx__bytes value, first;
    lbx_status status = lbx__row_get(rules->storage, LBX__META, &key, &value);

    if (status == LBX_NOT_FOUND) {
        // RULES-6: a store that has boxes is not empty.
        status = lbx__storage_seek(rules->storage, LBX__BOX_RECORDS,
                                   (lbx__bytes){"", 0}, &first, &value);
        if (status == LBX_OK)
            return LBX_CORRUPT;
        return status == LBX_NOT_FOUND ? rules_create_store(rules) : status;
    }
    if (status != LBX_OK)
        return status;
    at = value.data;
    if (value.size < 4 || lbx__get_le32(at) < STORE_FORMAT)
        return LBX_CORRUPT;
    if (lbx__get_le32(at) > STORE_FORMAT)
        return LBX_NEWER;
    if (value.size != STORE_BYTES)
        return LBX_CORRUPT;
    rules->era = lbx__get_le32(at + 4) + rules_lost_eras(rules);
    memcpy(rules->uid, at + 8, sizeof(rules->uid));
    memcpy(rules->key, at + 8 + sizeof(rules->uid), sizeof(rules->key));
    return LBX_OK;
}

/* Runs a function in a batch of its own, and waits until it is durable. */
static lbx_status
rules_in_batch(lbx__rules *rules, lbx_status (*run)(lbx__rules *rules))
{
    lbx_status status = lbx__storage_begin(rules->storage);
    lbx_status flushed;

    if (status != LBX_OK)
        return status;
    status = run(rules);
    flushed = lbx__storage_flush(rules->storage, lbx__box_record_commit(rules));
    return status == LBX_OK ? flushed : status;
}

lbx_status
lbx__rules_open(lbx__storage *storage, const lbx__rules_options *options,
                lbx__rules **ret)
{
    const lbx_allocator *allocator = options->allocator;
    lbx__rules *rules = lbx__zalloc(allocator, sizeof(*rules));
    lbx_status status;

    if (!rules)
        return LBX_NO_MEMORY;
    rules->storage = storage;
    rules->options = *options;
    rules->attributes.allocator = allocator;
    lbx__buffer_init(&rules->encoded, allocator, LBX__ROW_VALUE_MAX);
    lbx__buffer_init(&rules->copied, allocator, LBX__ROW_VALUE_MAX);
    status = lbx__digest_create(allocator, &rules->digest);
    if (status == LBX_OK)
        status = rules_in_batch(rules, rules_read_store);
    if (status != LBX_OK) {
        lbx__rules_close(rules);
        return status;
    }
    *ret = rules;
    return LBX_OK;
}

void
lbx__rules_close(lbx__rules *rules)
{
    if (!rules)
        return;
    if (rules->kept_dirty && lbx__storage_begin(rules->storage) == LBX_OK) {
        lbx__box_record_write_all(rules);
        (void)lbx__storage_commit(rules->storage);
    }
    lbx__body_attributes_fini(&rules->attributes);
    lbx__buffer_fini(&rules->encoded);
    lbx__buffer_fini(&rules->copied);
    lbx__digest_destroy(rules->digest);
    lbx__free(rules->options.allocator, rules, sizeof(*rules));
}

const uint8_t *
lbx__rules_uid(const lbx__rules *rules)
{
    return rules->uid;
}

const uint8_t *
lbx__rules_key(const lbx__rules *rules)
{
    return rules->key;
}

static lbx_status
rules_bump_era(lbx__rules *rules)
{
    lbx_status status = rules_read_store(rules);

    if (status == LBX_OK) {
        rules->era++;
        rules_write_store(rules);
    }
    return status;
}

lbx_status
lbx__rules_new_era(lbx__rules *rules)
{
    return rules_in_batch(rules, rules_bump_era);
}

static lbx_status
rules_renew(lbx__rules *rules)
{
    lbx_status status = rules_read_store(rules);

    if (status != LBX_OK)
        return status;
    if (!lbx__random(rules->uid, sizeof(rules->uid)) ||
        !lbx__random(rules->key, sizeof(rules->key)))
        return LBX_IO;
    rules->era++;
    rules_write_store(rules);
    return LBX_OK;
}

lbx_status
lbx__rules_renew(lbx__rules *rules)
{
    return rules_in_batch(rules, rules_renew);
}

/* ---- Inside a rule ---- */

lbx_status
lbx__rules_number(lbx__rules *rules, uint64_t *ret)
{
    const lbx__key key = lbx__key_text("numbers");
    lbx__bytes value;
    lbx_status status = lbx__row_get(rules->storage, LBX__META, &key, &value);

    if (status != LBX_OK || value.size != 8)
        return status == LBX_OK || status == LBX_NOT_FOUND ? LBX_CORRUPT
                                                           : status;
    *ret = lbx__get_le64(value.data);
    lbx__row_put_number(rules->storage, LBX__META, &key, *ret + 1);
    return LBX_OK;
}

lbx_status
lbx__rules_hash(lbx__rules *rules, char kind, const char *a, const char *b,
                uint8_t hash[LBX__HASH_BYTES])
{
    uint8_t whole[LBX__SHA256_BYTES];
    lbx_status status;

    lbx__digest_start(rules->digest);
    lbx__digest_add(rules->digest, &kind, 1);
    lbx__digest_add(rules->digest, a, strlen(a) + 1); // with the NUL between
    if (b)
        lbx__digest_add(rules->digest, b, strlen(b) + 1);
    status = lbx__digest_finish(rules->digest, whole);
    if (status == LBX_OK)
        memcpy(hash, whole, LBX__HASH_BYTES);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules as a whole: who the store is, ids, and the background.
 *
 * Two rows of the meta table are theirs. "store": format 4, era 4, uid 16, key
 * 32. "numbers": the next number 8, one counter for row ids, uids and tasks.
 *
 * X1  A number is given once in the life of a store.
 */
#include "base/alloc.h"
#include "codec/random.h"
#include "codec/uuid.h"
#include "post/rules/internal.h"

#include <string.h>

enum {
    FORMAT = 1,
    STORE_BYTES = 8 + LBX__STORE_UID_BYTES + LBX__STORE_KEY_BYTES
};

/* What the storage adds to our era: both only grow, so does the sum. */
static uint32_t
lost_eras(const lbx__rules *rules)
{
    const lbx__storage *storage = rules->storage;

    return storage->ops->era ? storage->ops->era(storage) : 0;
}

static void
write_store(lbx__rules *rules)
{
    const lbx__key key = lbx__key_text("store");
    uint8_t bytes[STORE_BYTES];
    uint8_t *at = lbx__put_le32(lbx__put_le32(bytes, FORMAT),
                                rules->era - lost_eras(rules));

    memcpy(at, rules->uid, sizeof(rules->uid));
    memcpy(at + sizeof(rules->uid), rules->key, sizeof(rules->key));
    lbx__row_put(rules->storage, LBX__META, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
}

/* An empty storage becomes a store. */
static lbx_status
found_store(lbx__rules *rules)
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
    rules->era = 1 + lost_eras(rules);
    write_store(rules);
    lbx__row_put_number(rules->storage, LBX__META, &numbers, 1);
    return LBX_OK;
}

static lbx_status
read_store(lbx__rules *rules)
{
    const lbx__key key = lbx__key_text("store");
    const uint8_t *at;
    lbx__bytes value, first;
    lbx_status status = lbx__row_get(rules->storage, LBX__META, &key, &value);

    if (status == LBX_NOT_FOUND) {
        // D7: a store that has boxes is not empty, whatever its meta row says.
        status = lbx__storage_seek(rules->storage, LBX__BOX_RECORDS,
                                   (lbx__bytes){"", 0}, &first, &value);
        if (status == LBX_OK)
            return LBX_CORRUPT;
        return status == LBX_NOT_FOUND ? found_store(rules) : status;
    }
    if (status != LBX_OK)
        return status;
    at = value.data;
    if (value.size < 4 || lbx__get_le32(at) < FORMAT)
        return LBX_CORRUPT;
    if (lbx__get_le32(at) > FORMAT)
        return LBX_NEWER;
    if (value.size != STORE_BYTES)
        return LBX_CORRUPT;
    rules->era = lbx__get_le32(at + 4) + lost_eras(rules);
    memcpy(rules->uid, at + 8, sizeof(rules->uid));
    memcpy(rules->key, at + 8 + sizeof(rules->uid), sizeof(rules->key));
    return LBX_OK;
}

/* Runs something in a group of its own, and waits until it is durable. */
static lbx_status
in_group(lbx__rules *rules, lbx_status (*run)(lbx__rules *rules))
{
    lbx_status status = lbx__storage_begin(rules->storage);
    lbx_status flushed;

    if (status != LBX_OK)
        return status;
    status = run(rules);
    flushed = lbx__storage_flush(rules->storage, lbx__rules_commit(rules));
    return status == LBX_OK ? flushed : status;
}

lbx_status
lbx__rules_open(lbx__storage *storage, const lbx__rules_options *options,
                lbx__rules **ret)
{
    const lbx_allocator *allocator = options->allocator;
    lbx__rules *rules = lbx__zalloc(allocator, sizeof(*rules));
    lbx_status status;

    assert(options->wall_ms);
    if (!rules)
        return LBX_NO_MEMORY;
    rules->storage = storage;
    rules->options = *options;
    rules->attributes.allocator = allocator;
    lbx__buffer_init(&rules->encoded, allocator, LBX__ROW_VALUE_MAX);
    lbx__buffer_init(&rules->copied, allocator, LBX__ROW_VALUE_MAX);
    status = lbx__digest_create(allocator, &rules->digest);
    if (status == LBX_OK)
        status = in_group(rules, read_store);
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
bump_era(lbx__rules *rules)
{
    lbx_status status = read_store(rules);

    if (status == LBX_OK) {
        rules->era++;
        write_store(rules);
    }
    return status;
}

lbx_status
lbx__rules_new_era(lbx__rules *rules)
{
    return in_group(rules, bump_era);
}

static lbx_status
renew(lbx__rules *rules)
{
    lbx_status status = read_store(rules);

    if (status != LBX_OK)
        return status;
    if (!lbx__random(rules->uid, sizeof(rules->uid)) ||
        !lbx__random(rules->key, sizeof(rules->key)))
        return LBX_IO;
    rules->era++;
    write_store(rules);
    return LBX_OK;
}

lbx_status
lbx__rules_renew(lbx__rules *rules)
{
    return in_group(rules, renew);
}

void
lbx__rules_start(lbx__rules *rules)
{
    assert(rules->head_count == 0);
    // A group that was not ended by lbx__rules_commit() has lost its heads.
    assert(rules->kept_dirty == 0 || rules->storage->ops->is_private ||
           rules->group == rules->storage->groups);
    rules->group = rules->storage->groups;
    rules->now = lbx__storage_now(rules->storage);
    rules->wall = 0;
    rules->damaged = false;
}

int64_t
lbx__rules_wall(lbx__rules *rules)
{
    if (rules->wall == 0)
        rules->wall = rules->options.wall_ms(rules->options.wall_context);
    return rules->wall;
}

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

/* The kernel is asked for many ids at once: a call each would cost more than a
 * send. */
bool
lbx__rules_id(lbx__rules *rules, uint8_t id[16])
{
    uint8_t *from;

    if (rules->random_left == 0) {
        if (!lbx__random(rules->random, sizeof(rules->random)))
            return false;
        rules->random_left = sizeof(rules->random);
    }
    rules->random_left -= 16;
    from = rules->random + rules->random_left;
    memcpy(id, from, 16);
    lbx__uuid_mark_random(id);
    return true;
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

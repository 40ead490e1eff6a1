/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the rules: keys, values, and the sum that each value carries.
 *
 * Keys are big-endian, so that memcmp() is their order; values are little-endian
 * and begin with a CRC-32C of table, key and the rest. They are the file format:
 * docs/design/post.md has the table of them all.
 *
 * W1  A value that these functions hand out has been checked: its sum is right,
 *     and every size in it lies inside. In a `private` storage, whose rows are
 *     memory of this process and go with it, sums are 0 and not looked at.
 * W2  Rows of fixed size stay of that size, so that writing one again needs no
 *     reservation (G6 of storage.h).
 */
#ifndef LBX_POST_ROWS_H
#define LBX_POST_ROWS_H

#include "base/buffer.h"
#include "codec/endian.h"
#include "post/rules/storage.h"

#include <letterbox/store_driver.h>

enum {
    LBX__SUM_BYTES = 4,
    LBX__HASH_BYTES = 16,
    LBX__ROW_PARTS = 4 /* that a value is given in, at most */
};

/* ---- Keys ---- */

typedef struct lbx__key {
    uint8_t bytes[LBX__ROW_KEY_MAX];
    uint32_t size;
} lbx__key;

static inline lbx__bytes
lbx__key_bytes(const lbx__key *key)
{
    return (lbx__bytes){key->bytes, key->size};
}

lbx__key lbx__key_1(uint64_t a);
lbx__key lbx__key_2(uint64_t a, uint64_t b);
lbx__key lbx__key_3(uint64_t a, uint64_t b, uint64_t c);
lbx__key lbx__key_hash(uint64_t box, const uint8_t hash[LBX__HASH_BYTES]);
lbx__key lbx__key_due_hash(uint64_t box, int64_t due,
                           const uint8_t hash[LBX__HASH_BYTES]);
lbx__key lbx__key_text(const char *text);
/* The text may be the beginning of a name. */
lbx__key lbx__key_name(const char *space, const char *name);

/* The nth number of a key; times are numbers that are not negative. */
static inline uint64_t
lbx__key_number(lbx__bytes key, size_t n)
{
    return lbx__get_be64((const uint8_t *)key.data + 8 * n);
}

/* Whether a key has the size of those of its table. */
bool lbx__key_is_of(lbx__table table, lbx__bytes key);

/* ---- Values ---- */

/* W1: the value without its sum, if that is right: OK, CORRUPT. */
lbx_status lbx__row_check(lbx__table table, lbx__bytes key, lbx__bytes value,
                          lbx__bytes *ret);

/* The value without its sum: OK, NOT_FOUND, CORRUPT, IO. CORRUPT is of this row, or
 * of the storage, which lbx__row_damaged() tells apart; of this row, the key is
 * there as for OK. */
lbx_status lbx__row_get(lbx__storage *storage, lbx__table table,
                        const lbx__key *key, lbx__bytes *ret);

/* The first row at `from` or behind it whose key begins with the first `prefix`
 * bytes of `from`; the same. */
lbx_status lbx__row_seek(lbx__storage *storage, lbx__table table,
                         const lbx__key *from, size_t prefix,
                         lbx__bytes *ret_key, lbx__bytes *ret);

/* Whether a get or seek found a row, and that does not check: then those behind it
 * can be looked at. */
static inline bool
lbx__row_damaged(lbx_status status, lbx__bytes value)
{
    return status == LBX_CORRUPT && value.data;
}

/* The sum of a value that was handed out: it stands before it. */
static inline uint32_t
lbx__row_sum(lbx__bytes value)
{
    return lbx__get_le32((const uint8_t *)value.data - LBX__SUM_BYTES);
}

/* Writes a value in at most LBX__ROW_PARTS parts; answers its sum. */
uint32_t lbx__row_put(lbx__storage *storage, lbx__table table,
                      const lbx__key *key, const lbx__bytes *parts,
                      size_t count);

/* A row that says all by its key. */
void lbx__row_put_empty(lbx__storage *storage, lbx__table table,
                        const lbx__key *key);

/* A row whose value is a number. */
void lbx__row_put_number(lbx__storage *storage, lbx__table table,
                         const lbx__key *key, uint64_t number);

static inline void
lbx__row_drop(lbx__storage *storage, lbx__table table, const lbx__key *key)
{
    lbx__storage_remove(storage, table, lbx__key_bytes(key));
}

/* What a row adds to its box's sum of row hashes. */
uint64_t lbx__row_hash(lbx__table table, const lbx__key *key, uint32_t sum);

/* ---- What a write will take ---- */

typedef struct lbx__need {
    lbx__row_size sizes[48];
    size_t count;
} lbx__need;

/* A row with a value of this size, without its sum. */
static inline void
lbx__need_row(lbx__need *need, size_t key, size_t value)
{
    assert(need->count < sizeof(need->sizes) / sizeof(need->sizes[0]));
    need->sizes[need->count++] =
        (lbx__row_size){(uint32_t)key, (uint32_t)(value + LBX__SUM_BYTES)};
}

/* ---- Letters: the body, written once ---- */

enum {
    LBX__BODY_FIXED = 80
};

/* A letter as its row has it. Pointers lie in the row. */
typedef struct lbx__body {
    uint8_t id[16];
    int64_t sent_ns;        /* store time: its age counts from here */
    int64_t sent_ms;        /* wall time */
    uint64_t gid;           /* fifo; 0: none */
    uint32_t counted_bytes; /* body and attributes */
    const char *source;     /* dead letters: the box it died in */
    bool aged; /* it is older than its sequence says: a dead letter that is not
                  in a fifo box; decoded only */
    lbx_parcel parcel; /* without token and delay */
} lbx__body;

/* Appends texts and attributes as the row has them, between the fixed part and
 * the body. */
void lbx__body_encode(const lbx_parcel *parcel, const char *source,
                      lbx_buffer *out);
void lbx__body_fixed(const lbx__body *body, uint8_t fixed[LBX__BODY_FIXED]);

/* Where the attributes of a letter are decoded to. */
typedef struct lbx__attributes {
    const lbx_allocator *allocator;
    lbx_attribute *array;
    size_t room;
} lbx__attributes;

/* The fixed part; and, after that, what stands behind it. OK, CORRUPT,
 * NO_MEMORY. */
lbx_status lbx__body_decode_fixed(lbx__bytes value, lbx__body *ret);
lbx_status lbx__body_decode_rest(lbx__bytes value, lbx__attributes *attributes,
                                 lbx__body *ret);
lbx_status lbx__body_decode(lbx__bytes value, lbx__attributes *attributes,
                            lbx__body *ret); /* both */
void lbx__body_attributes_fini(lbx__attributes *attributes);

/* What counts against the limits of a box: the body, and the names, types and
 * values of the attributes. */
int64_t lbx__body_parcel_bytes(const lbx_parcel *parcel);

/* ---- Letters: their state, from the first lease or delay on ---- */

typedef enum lbx__kind {
    LBX__IS_READY = 0,
    LBX__IS_LEASED,
    LBX__IS_DELAYED,
} lbx__kind;

enum {
    LBX__STATE_BYTES = 64
};

typedef struct lbx__state {
    lbx__kind kind;
    bool stored;         /* there is a row */
    bool damaged;        /* and it does not check: nothing else is known */
    uint32_t epoch;      /* of the latest delivery; only ever grows */
    uint32_t deliveries; /* all */
    uint32_t carried;    /* of them, those before it died into this box */
    int64_t due;         /* with turn: its key in waits, or in ready */
    uint64_t turn;
    int64_t place_due; /* the same when it was claimed, or at first */
    uint64_t place_turn;
    int64_t first_ms;    /* wall time of the first delivery; 0: none */
    int64_t received_ns; /* of the latest */
    uint32_t sum;
} lbx__state;

void lbx__body_encode_state(const lbx__state *state,
                            uint8_t bytes[LBX__STATE_BYTES]);
lbx_status lbx__body_decode_state(lbx__bytes value, lbx__state *ret);

#endif

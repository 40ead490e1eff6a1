/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the rules share: the struct, and the functions that one
 * rule offers to another. Private to this room; rules.h is for the service.
 *
 * Every rule has the same shape: lbx__rules_start(), open the records it needs,
 * sweep what is due, decide, reserve, write, close the records. Between reserve
 * and close nothing can fail.
 *
 * Threads    one at a time, as the storage.
 */
#ifndef LBX_POST_RULES_INTERNAL_H
#define LBX_POST_RULES_INTERNAL_H

#include "base/clock.h"
#include "base/time.h"
#include "codec/digest.h"
#include "post/rules/letter_record.h"

enum {
    LBX__BOX_RECORDS_MAX = 24,  /* open in one rule: a settle of ten letters,
                                   each with a reply, and dead letters */
    LBX__BOX_RECORDS_KEPT = 64, /* between rules; a bit each in a word */
    LBX__FACTS_CACHED = 64,     /* boxes whose options are kept decoded */
    LBX__SEEN_BYTES = 32,       /* of a token or the id of a duplicate */
    LBX__SEEN_SWEPT = 4,        /* with each letter that is remembered: more
                                   than it adds */
    LBX__PASSED_KEPT = 16,
    LBX__CHANGES_MAX = 32,
};

/* How long tokens, duplicates and attempts are remembered. */
#define LBX__REMEMBERED_NS (300 * LBX_SECOND)

/* How far the search for fresh letters has come in a box whose `fresh` is held
 * by a damaged letter: no letter from `from` on and before `next` is fresh and
 * intact, nor will be. Memory of this process only. */
typedef struct lbx__passed {
    uint64_t box;
    uint64_t from;
    uint64_t next;
} lbx__passed;

struct lbx__rules {
    lbx__storage *storage;
    lbx__rules_options options;
    uint8_t uid[LBX__STORE_UID_BYTES];
    uint8_t key[LBX__STORE_KEY_BYTES];
    uint32_t era;
    lbx__digest *digest;

    /* Of the rule that runs. */
    int64_t now;
    int64_t wall; /* 0: not read yet */
    bool damaged; /* it has skipped a letter that is ready, or due */
    lbx__box_record *open[LBX__BOX_RECORDS_MAX];
    size_t open_count;

    lbx__passed passed[LBX__PASSED_KEPT]; /* by row id */

    /* RULES-3: what lbx__box_record_take_changes() returns next. */
    lbx__box_change changes[LBX__CHANGES_MAX];
    size_t change_count;

    /* Records by uid, also between rules: a bit for each that is used, and for
     * each that differs from its row. */
    lbx__box_record kept[LBX__BOX_RECORDS_KEPT];
    uint64_t kept_any;
    uint64_t kept_dirty;
    uint32_t batch; /* of the storage, in which they were read */
    lbx__box_record spare[LBX__BOX_RECORDS_MAX]; /* for a slot in use */

    /* Scratch. */
    lbx_buffer encoded;         /* texts and attributes of what is sent */
    lbx_buffer copied;          /* a row that is being moved */
    lbx__attributes attributes; /* of the letter at hand */

    uint32_t sends; /* since the last one that swept what is remembered */
    uint8_t random[4096];
    size_t random_left;
    lbx__facts facts[LBX__FACTS_CACHED];
    lbx__facts facts_spare[LBX__BOX_RECORDS_MAX]; /* for a slot in use */
};

/* ---- rules.c ---- */

/* Begins a rule: reads the time; no record is open. */
static inline void
lbx__rules_start(lbx__rules *rules)
{
    assert(rules->open_count == 0);
    // A batch that lbx__box_record_commit() did not end has lost its records.
    assert(rules->kept_dirty == 0 || rules->storage->ops->is_private ||
           rules->batch == rules->storage->batches);
    rules->batch = rules->storage->batches;
    rules->now = lbx__storage_now(rules->storage);
    rules->wall = 0;
    rules->damaged = false;
}

/* Wall time of the rule, in ms. */
static inline int64_t
lbx__rules_wall(lbx__rules *rules)
{
    const lbx__rules_options *options = &rules->options;

    if (rules->wall == 0)
        rules->wall = options->wall_ms ? options->wall_ms(options->wall_context)
                                       : lbx__clock_wall_ms();
    return rules->wall;
}

/* Draws the next number of the store (RULES-5). Needs no reservation. OK;
 * CORRUPT; IO. */
lbx_status lbx__rules_number(lbx__rules *rules, uint64_t *ret);

/* Hashes up to two texts under a kind: 16 of SHA-256's 32 bytes. */
lbx_status lbx__rules_hash(lbx__rules *rules, char kind, const char *a,
                           const char *b, uint8_t hash[LBX__HASH_BYTES]);

/* ---- sweep.c ---- */

/* Removes letters that are older than the retention, of which there may be
 * some; makes letters ready whose lease or delay is over. OK; NO_MEMORY;
 * CORRUPT; IO. */
lbx_status lbx__sweep_expired(lbx__rules *rules, lbx__box_record *box);
lbx_status lbx__sweep_waiting(lbx__rules *rules, lbx__box_record *box);

/* Removes letters that are older than the retention. */
static inline lbx_status
lbx__sweep_age(lbx__rules *rules, lbx__box_record *box)
{
    const int64_t retention = box->facts->options.retention_ns;

    if (box->letters == 0 || retention == LBX_UNLIMITED ||
        lbx__time_add(box->oldest, retention) > rules->now) // BOXREC-3
        return LBX_OK;
    return lbx__sweep_expired(rules, box);
}

/* The same, and makes letters ready whose lease or delay is over. */
static inline lbx_status
lbx__sweep_due(lbx__rules *rules, lbx__box_record *box)
{
    const lbx_status status = lbx__sweep_age(rules, box);

    return status == LBX_OK && box->leased + box->delayed > 0
               ? lbx__sweep_waiting(rules, box)
               : status;
}

/* Removes up to `budget` tokens, duplicates and attempts that are no longer
 * remembered. No result depends on it. */
void lbx__sweep_seen(lbx__rules *rules, const lbx__box_record *box, int budget);

/* ---- send.c ---- */

/* A parcel on its way into a box. The caller sets `box` and `sent`. */
typedef struct lbx__sending {
    lbx__box_record *box;
    lbx_sent_letter *sent;
    lbx__body body; /* its pointers are the request's */
    size_t encoded_at;
    size_t encoded_bytes;
    uint8_t hashes[2][LBX__HASH_BYTES]; /* under which it is remembered */
    size_t hash_count;
    uint8_t group_hash[LBX__HASH_BYTES]; /* if the parcel has a group */
    int64_t delay_ns;
    bool seen; /* it was sent before: `sent` is filled in, nothing is to do */
} lbx__sending;

/* Decides whether a parcel may be stored, beside `pending` others of the same
 * request, and adds what that needs. OK, also for one that was seen; FULL;
 * TOO_LARGE; NO_MEMORY; CORRUPT; IO. The texts of the parcel must stay valid
 * until lbx__send_write(). */
lbx_status lbx__send_prepare(lbx__rules *rules, lbx__sending *sending,
                             const lbx_parcel *parcel, uint64_t pending,
                             lbx__need *need);

/* The same for a letter that is moved: it counts as new, has no delay, and is
 * no duplicate. */
lbx_status lbx__send_prepare_moved(lbx__rules *rules, lbx__sending *sending,
                                   const lbx_parcel *parcel, lbx__need *need);

/* Writes it, after reserve. */
void lbx__send_write(lbx__rules *rules, lbx__sending *sending);

/* ---- receive.c ---- */

/* The next letter of a plain box, after a sweep: OK; NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__receive_next(lbx__rules *rules, lbx__box_record *box,
                             lbx__letter_record *ret);

/* A receive that is under way. */
typedef struct lbx__claim {
    const lbx_receive_request *request;
    const lbx__sink *sink;
    lbx__box_record *box;
    uint64_t tickets_end; /* a letter that died into this box during this claim
                             has a ticket of at least this (DEADLET-4) */
    int64_t claimed_due;  /* fifo: where its group was queued */
    uint64_t claimed_ticket;
    uint32_t max;
    uint32_t count;
    struct {
        uint64_t sequence, ticket;
        uint32_t epoch;
    } got[LBX_MAX_BATCH]; /* for the attempt */
    uint32_t stopped;     /* groups that damage has stopped */
} lbx__claim;

/* Leases a letter and delivers it, or moves it to the dead letters. OK; FULL:
 * as many are leased as may be; NO_MEMORY; NO_SPACE; CORRUPT; IO. */
lbx_status lbx__receive_claim(lbx__rules *rules, lbx__claim *claim,
                              lbx__letter_record *letter);

/* Passes a letter to the sink, as `state` describes it; with a receipt unless
 * `receipt` is false. */
lbx_status lbx__receive_deliver(lbx__rules *rules, const lbx__box_record *box,
                                lbx__letter_record *letter,
                                const lbx__state *state, const lbx__sink *sink,
                                bool receipt);

/* ---- dead_letter.c ---- */

/* Whether one more delivery would be one too many (DEADLET-2). */
static inline bool
lbx__dead_letter_is_due(const lbx__box_record *box, const lbx__state *state)
{
    return box->facts->dead && state->deliveries - state->carried >=
                                   box->facts->options.max_deliveries;
}

/* Finds the box such a letter must be moved to. OK, and `*ret` is NULL when it
 * stays; NO_MEMORY; CORRUPT; IO. Sweeps that box, and so may copy the
 * letter. */
lbx_status lbx__dead_letter_target(lbx__rules *rules, lbx__box_record *box,
                                   lbx__letter_record *letter,
                                   lbx__box_record **ret);

/* Moves a letter there: OK; NO_MEMORY; NO_SPACE. */
lbx_status lbx__dead_letter_move(lbx__rules *rules, lbx__box_record *from,
                                 lbx__letter_record *letter,
                                 lbx__box_record *to);

/* ---- group.c ---- */

lbx_status lbx__group_receive(lbx__rules *rules, lbx__claim *claim);

/* The next letter of a fifo box: OK; NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__group_next(lbx__rules *rules, lbx__box_record *box,
                           lbx__letter_record *ret);

/* When the first group is due: OK; NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__group_next_due(lbx__rules *rules, const lbx__box_record *box,
                               int64_t *ret_due);

/* The hash of the name of a group. */
lbx_status lbx__group_hash(lbx__rules *rules, const char *name,
                           uint8_t hash[LBX__HASH_BYTES]);

/* The number of a group or tenant that has letters: false: there is none. */
bool lbx__group_find(lbx__rules *rules, const lbx__box_record *box,
                     const uint8_t hash[LBX__HASH_BYTES], uint64_t *ret_gid);

/* What lbx__group_join() and lbx__group_requeue() need. */
void lbx__group_need_join(lbx__need *need);
void lbx__group_need_requeue(lbx__need *need);

/* Adds a letter at the end of its group's line; returns the group's number. */
uint64_t lbx__group_join(lbx__rules *rules, lbx__box_record *box,
                         const uint8_t hash[LBX__HASH_BYTES], uint64_t sequence,
                         int64_t due);

/* Removes a letter from its group's line. */
void lbx__group_leave(lbx__rules *rules, lbx__box_record *box,
                      const lbx__letter_record *letter);

/* Where a group is queued after a change to one of its letters. */
typedef enum lbx__group_position {
    LBX__GROUP_LAST,     /* after all others, unless its first letter waits */
    LBX__GROUP_RESTORED, /* where the letter was claimed from */
    LBX__GROUP_EXPIRED,  /* as if the change had happened at `at` */
} lbx__group_position;

/* Queues a group again, if the letter is, or was, its first; removes a group
 * that has become empty. `at` is for LBX__GROUP_EXPIRED. */
void lbx__group_requeue(lbx__rules *rules, lbx__box_record *box,
                        const lbx__letter_record *letter,
                        lbx__group_position position, int64_t at);

/* ---- fair.c ---- */

enum {
    LBX__FAIR_LINE_BYTES = 16 /* of a row in lines: sequence, due */
};

/* A key in group_due, after the row id. No ticket and no gid is 0. */
typedef struct lbx__fair_position {
    uint64_t due;
    uint64_t ticket;
} lbx__fair_position;

typedef struct lbx__tenant {
    uint64_t gid;
    uint8_t hash[LBX__HASH_BYTES];
    lbx__fair_position queued; /* {0, 0}: no letter is ready */
    uint64_t letters;
    uint64_t leased;
    int64_t until; /* when its noise ends at the latest; 0: quiet */
} lbx__tenant;

/* The row of a tenant in gids: OK; CORRUPT. */
lbx_status lbx__fair_decode(uint64_t gid, lbx__bytes value, lbx__tenant *ret);

/* The position of the second row of a noisy tenant; {0, 0}: it has none. */
lbx__fair_position lbx__fair_noise_end(const lbx__tenant *tenant);

/* The next letter of a tenant, if it comes before `single`, the next letter
 * without one, which may be NULL: OK; NOT_FOUND; NO_MEMORY; NO_SPACE; CORRUPT;
 * IO. After a sweep. */
lbx_status lbx__fair_next(lbx__rules *rules, lbx__box_record *box,
                          const lbx__letter_record *single,
                          lbx__letter_record *ret);

/* After a letter was taken from a box, by a receive or a move: its tenant is
 * quiet again when no letter of it is ready (FAIR-4). */
void lbx__fair_taken(lbx__rules *rules, lbx__box_record *box,
                     const lbx__letter_record *letter);

/* The number of a tenant, which is made if it had no letters. */
uint64_t lbx__fair_join(lbx__rules *rules, lbx__box_record *box,
                        const uint8_t hash[LBX__HASH_BYTES]);

/* Adds a ready letter to the line of its tenant, or removes it. */
void lbx__fair_line(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
                    uint64_t sequence, const lbx__state *state, bool in);

/* Adds to the counts of a tenant, after its line has changed; queues it again;
 * removes one that has no letters. */
void lbx__fair_count(lbx__rules *rules, lbx__box_record *box, uint64_t gid,
                     int letters, int leased);

/* What the change of a letter of a tenant needs beside its own rows, and an
 * insert with lbx__fair_join(). */
void lbx__fair_need(lbx__need *need);
void lbx__fair_need_join(lbx__need *need);

/* ---- attempt.c ---- */

/* A receive with the id of an attempt: returns the letters of the first receive
 * with that id while they are unchanged; else as lbx__group_receive(). */
lbx_status lbx__attempt_receive(lbx__rules *rules, lbx__claim *claim);

/* ---- catalog.c ---- */

/* The box of a request, by uid or by name: OK; NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__catalog_find(lbx__rules *rules, const lbx_box_request *request,
                             lbx__box_record **ret);

/* Fills in what a request asks for. */
lbx_status lbx__catalog_fill(lbx__rules *rules, lbx__box_record *box,
                             lbx_box_request *request);

/* ---- move.c, move_task.c ---- */

/* Moves at most `*budget` letters of the running tasks. */
lbx_status lbx__move_step(lbx__rules *rules, uint32_t *budget,
                          int64_t *ret_due);

/* Removes the tasks of a box. */
void lbx__move_forget(lbx__rules *rules, uint64_t uid);

#endif

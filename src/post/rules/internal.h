/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of boxes, and letters in them; private to the rules.
 *
 * A verb opens the heads it needs, changes rows and heads together, and closes
 * them all at its end:
 *
 *     status = lbx__box_record_open(rules, box, &head);
 *     ...
 *     return lbx__box_record_close_all(rules, status);
 *
 * A head that is opened twice in one verb is one head, so that a letter can be
 * settled and its reply sent in the same box. A head that was closed is kept for
 * the verbs that follow, and its row is written once for the group, before its
 * commit; in a `private` storage, when the rules are closed.
 *
 * H1  Between verbs, a head's counts are what a scan of its rows would count, and
 *     its sum is that of the hashes of its bodies and states.
 * H2  `next` only grows, also over purge and restart: a sequence, a turn or a
 *     group's number is given once in the life of a box.
 * H3  Every letter that was never leased nor delayed, of a plain box, has a
 *     sequence of at least `fresh`; none that is in the box was sent before
 *     `oldest`.
 * H4  A letter has one row in waits when it is leased or delayed, one in ready
 *     when it is ready, has a state, and its box is plain; else none. state.due
 *     and state.turn are that row's key.
 *
 * Damage. A letter whose own rows do not check is stepped over by those who look for
 * letters, so that it stands in nobody's way; it is not changed, and what is kept in
 * the head of it stays. So counts include it, `fresh` does not pass it, and who
 * finds no other letter knows that there is one, and says LBX_CORRUPT (D7: damage is
 * never read as empty). What is damaged below the rows cannot be stepped over.
 */
#ifndef LBX_POST_HEAD_H
#define LBX_POST_HEAD_H

#include "base/buffer.h"
#include "codec/digest.h"
#include "post/rules/row.h"
#include "post/rules/rules.h"

enum {
    LBX__BOX_RECORDS_MAX =
        24, /* open in one verb: a settle of ten with replies */
    LBX__BOX_RECORDS_KEPT = 64, /* between verbs; a bit each in a word */
    LBX__FACTS_CACHED = 64,     /* boxes whose options are kept decoded */
    LBX__BOX_RECORD_BYTES = 96,
    LBX__SEEN_BYTES = 32, /* of a token or the id of a duplicate */
    LBX__SKIPS_MAX = 64,  /* damaged letters, on the way to one that is not */
    LBX__PASSED_KEPT = 16,
};

/* So long are tokens, duplicates and attempts remembered. */
#define LBX__REMEMBERED_NS (300 * LBX_SECOND)

/* What the rules ask of a box's options, without their lists. */
typedef struct lbx__facts {
    uint64_t uid;        /* 0: an empty slot */
    uint32_t configured; /* which options of that box: see the head */
    bool dead;           /* it has dead letters; their box is named below */
    lbx_box_options options;
    char space[LBX_BOX_SPACE_BYTES];
    char name[LBX_BOX_NAME_BYTES];
    char dead_letters[LBX_BOX_NAME_BYTES];
} lbx__facts;

typedef struct lbx__box_record {
    uint64_t uid;
    uint64_t box; /* its row id: changes with a purge */
    uint64_t next;
    uint64_t fresh;
    uint64_t letters; /* all of them, */
    uint64_t leased;  /* and of these */
    uint64_t delayed;
    uint64_t bytes;
    uint64_t sum;
    uint64_t change; /* grows with each write of the head */
    int64_t oldest;
    uint32_t configured; /* grows with each change of the options */
    bool dirty;
    const lbx__facts *facts;
} lbx__box_record;

/* How far the fresh letters of a box have been looked through, when a damaged one
 * keeps `fresh` from moving on: of those from `from` on and before `next`, none is
 * fresh and intact, nor will be. Not kept in the store. */
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
    int64_t now;  /* of the verb */
    int64_t wall; /* the same; 0: nobody has asked yet */
    bool damaged; /* it has stepped over a letter that is ready, or due */
    lbx__passed passed[LBX__PASSED_KEPT]; /* by their row ids */

    lbx__box_record *heads[LBX__BOX_RECORDS_MAX]; /* open */
    size_t head_count;

    /* Where heads are, by uid, between verbs too: a bit for each that is one,
     * and for each whose row is not as it is. */
    lbx__box_record kept[LBX__BOX_RECORDS_KEPT];
    uint64_t kept_any;
    uint64_t kept_dirty;
    uint32_t group; /* of the storage, that they are of */
    lbx__box_record
        spare[LBX__BOX_RECORDS_MAX]; /* when the place is an open head's */

    /* Scratch. */
    lbx_buffer encoded;         /* texts and attributes of what is sent */
    lbx_buffer copied;          /* a row that is being moved */
    lbx__attributes attributes; /* of the letter that is looked at */

    uint8_t random[4096];
    size_t random_left;
    lbx__facts facts[LBX__FACTS_CACHED];
    lbx__facts
        own[LBX__BOX_RECORDS_MAX]; /* when the slot above is an open head's */
};

/* A letter that is looked at. */
typedef struct lbx__letter_record {
    uint64_t sequence;
    lbx__body
        body; /* the fixed part; lbx__letter_record_decode() has the rest */
    uint32_t body_sum;
    lbx__bytes value; /* of its body's row: until the next write of one */
    lbx__state state;
    bool damaged; /* with CORRUPT: its own rows do not check; there are only its
                     sequence and, unless that is damaged too, its state */
} lbx__letter_record;

/* Whether a damaged letter may be stepped over, of which `steps` were before. */
static inline bool
lbx__letter_record_skip(lbx_status status, const lbx__letter_record *letter,
                        uint32_t *steps)
{
    return status == LBX_CORRUPT && letter->damaged &&
           (*steps)++ < LBX__SKIPS_MAX;
}

/* ---- rules.c ---- */

/* Begins a verb: what time it is, and no head open. */
void lbx__rules_start(lbx__rules *rules);

/* Wall time of the verb, in ms. */
int64_t lbx__rules_wall(lbx__rules *rules);

/* Random bytes for an id. False when the kernel has none. */
bool lbx__rules_id(lbx__rules *rules, uint8_t id[16]);

/* The next number of the store: for row ids, uids and tasks (X1). Reserving is
 * not needed. OK; CORRUPT; IO. */
lbx_status lbx__rules_number(lbx__rules *rules, uint64_t *ret);

static inline int64_t
lbx__later(int64_t time, int64_t duration)
{
    return duration > LBX_FOREVER - time ? LBX_FOREVER : time + duration;
}

static inline void
lbx__tell_ready(lbx__rules *rules, const lbx__box_record *head, int64_t due)
{
    const lbx__rules_events *events = &rules->options.events;

    if (events->ready)
        events->ready(events->context, (lbx_box){head->uid}, due);
}

/* The hash of up to two texts under a kind; 16 of SHA-256's 32 bytes. */
lbx_status lbx__rules_hash(lbx__rules *rules, char kind, const char *a,
                           const char *b, uint8_t hash[LBX__HASH_BYTES]);

/* ---- head.c ---- */

/* OK; CLOSED when the life of the box is over; CORRUPT; IO. */
lbx_status lbx__box_record_open(lbx__rules *rules, lbx_box box,
                                lbx__box_record **ret);

/* By name: OK; NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__box_record_find(lbx__rules *rules, const char *space,
                                const char *name, lbx__box_record **ret);

/* What the row of a head says, without its uid and its facts: OK; CORRUPT. */
lbx_status lbx__box_record_decode(lbx__bytes value, lbx__box_record *head);

/* Keeps what changed; answers `status`. */
lbx_status lbx__box_record_close_all(lbx__rules *rules, lbx_status status);

/* Writes a head; its row must be there, or reserved. */
void lbx__box_record_write(lbx__rules *rules, lbx__box_record *head);

/* Forgets the one head that is open, whose row is gone. */
void lbx__box_record_forget(lbx__rules *rules, const lbx__box_record *head);

/* Writes all heads that changed. */
void lbx__box_record_write_all(lbx__rules *rules);

/* A letter by its sequence: OK; NOT_FOUND; CORRUPT, see `damaged`; IO;
 * NO_MEMORY. */
lbx_status lbx__letter_record_get(lbx__rules *rules,
                                  const lbx__box_record *head,
                                  uint64_t sequence, lbx__letter_record *ret);

/* The first letter at `from` or behind it; the same. */
lbx_status lbx__letter_record_seek(lbx__rules *rules,
                                   const lbx__box_record *head, uint64_t from,
                                   lbx__letter_record *ret);

/* Decodes the whole body: OK; CORRUPT; NO_MEMORY. */
static inline lbx_status
lbx__letter_record_decode(lbx__rules *rules, lbx__letter_record *letter)
{
    return lbx__body_decode_rest(letter->value, &rules->attributes,
                                 &letter->body);
}

/* The state alone; that of a fresh letter, with due and turn 0, when there is no
 * row. OK; CORRUPT; IO. */
lbx_status lbx__letter_record_state(lbx__rules *rules,
                                    const lbx__box_record *head,
                                    uint64_t sequence, lbx__state *ret);

/* What lbx__letter_record_change() needs. */
void lbx__letter_record_need_change(lbx__need *need, const lbx__state *state);

/* Gives a letter another state: its rows in states, ready and waits, and the
 * counts (H4). */
void lbx__letter_record_change(lbx__rules *rules, lbx__box_record *head,
                               lbx__letter_record *letter,
                               const lbx__state *to);

/* Takes a letter out, with all its rows but those of its group. */
void lbx__letter_record_remove(lbx__rules *rules, lbx__box_record *head,
                               lbx__letter_record *letter);

/* What lbx__letter_record_insert() needs. */
void lbx__letter_record_need_insert(lbx__need *need, const lbx__body *body,
                                    size_t encoded, bool state);

/* Puts a letter in: `encoded` is what lbx__body_encode() made of it, `state` is
 * NULL for a fresh one. A source makes it a letter that is older than its
 * sequence says, unless it has a group. */
void lbx__letter_record_insert(lbx__rules *rules, lbx__box_record *head,
                               uint64_t sequence, const lbx__body *body,
                               lbx__bytes encoded, const lbx__state *state);

/* ---- sweep.c ---- */

/* Letters that are too old. OK; NO_MEMORY; CORRUPT; IO. */
lbx_status lbx__sweep_age(lbx__rules *rules, lbx__box_record *head);

/* Those, and what is due: leases and delays that are over. The same. */
lbx_status lbx__sweep(lbx__rules *rules, lbx__box_record *head);

/* Forgets some tokens, duplicates and attempts that are over; no answer depends
 * on it. */
void lbx__sweep_seen(lbx__rules *rules, const lbx__box_record *head);

/* ---- posting.c ---- */

/* A parcel on its way into a box. The first two are set by who sends. */
typedef struct lbx__sending {
    lbx__box_record *head;
    lbx_sent_letter *sent;
    lbx__body body; /* pointers are the request's */
    size_t encoded_at;
    size_t encoded_bytes;
    uint8_t hashes[2][LBX__HASH_BYTES]; /* by which it will be known again */
    size_t hash_count;
    uint8_t group_hash[LBX__HASH_BYTES]; /* fifo */
    int64_t delay_ns;
    bool seen; /* was sent before: `sent` is filled in, nothing is to do */
} lbx__sending;

/* Decides: whether it may go in, among `pending` others, and what that takes.
 * OK, also for one that was seen; FULL, TOO_LARGE, NO_MEMORY, CORRUPT, IO.
 * The parcel's texts stay the caller's until it is written. */
lbx_status lbx__send_prepare(lbx__rules *rules, lbx__sending *posting,
                             const lbx_parcel *parcel, uint64_t pending,
                             lbx__need *need);

/* The same for a letter that moves: it counts as new, without delay, and is no
 * duplicate. */
lbx_status lbx__send_prepare_moved(lbx__rules *rules, lbx__sending *posting,
                                   const lbx_parcel *parcel, lbx__need *need);

/* Writes, after reserve. */
void lbx__send_write(lbx__rules *rules, lbx__sending *posting);

/* ---- claim.c ---- */

/* The letter of a plain box that is next, after a sweep: OK; NOT_FOUND; ... */
lbx_status lbx__receive_next(lbx__rules *rules, lbx__box_record *head,
                             lbx__letter_record *ret);

/* A receive that is going on. */
typedef struct lbx__claim {
    const lbx_receive_request *request;
    const lbx__sink *sink;
    lbx__box_record *head;
    uint64_t turns_end; /* what died into this box during this claim has a
                           turn of at least this (L4) */
    int64_t place_due;  /* fifo: the place of the group it is at */
    uint64_t place_turn;
    uint32_t most;
    uint32_t count;
    struct {
        uint64_t sequence, turn;
        uint32_t epoch;
    } got[LBX_MAX_BATCH]; /* for the attempt */
    uint32_t stopped;     /* groups, by damage */
} lbx__claim;

/* Leases a letter and delivers it, or moves it to the dead letters. OK; FULL: as
 * many are leased as may be; NO_MEMORY; NO_SPACE; CORRUPT; IO. */
lbx_status lbx__receive_claim(lbx__rules *rules, lbx__claim *claim,
                              lbx__letter_record *letter);

/* Delivers a letter under a state, with its receipt unless `receipt` is false. */
lbx_status lbx__receive_deliver(lbx__rules *rules, const lbx__box_record *head,
                                lbx__letter_record *letter,
                                const lbx__state *state, const lbx__sink *sink,
                                bool receipt);

/* ---- dead.c ---- */

/* Whether the next delivery would be one too many, and there is a box that takes
 * it. OK, and *ret is NULL if not; NO_MEMORY; CORRUPT; IO. What is too old there
 * goes, and so the letter may be copied. */
lbx_status lbx__dead_letter_target(lbx__rules *rules, lbx__box_record *head,
                                   lbx__letter_record *letter,
                                   lbx__box_record **ret);

/* Decodes a letter out of the way of writes: OK; CORRUPT; NO_MEMORY. */
lbx_status lbx__letter_record_copy(lbx__rules *rules,
                                   lbx__letter_record *letter);

/* Moves a letter to the dead letters: OK; NO_MEMORY; NO_SPACE. */
lbx_status lbx__dead_letter_move(lbx__rules *rules, lbx__box_record *from,
                                 lbx__letter_record *letter,
                                 lbx__box_record *to);

/* ---- fifo.c ---- */

lbx_status lbx__group_receive(lbx__rules *rules, lbx__claim *claim);

/* The letter that is next in a fifo box: OK; NOT_FOUND; ... */
lbx_status lbx__group_next(lbx__rules *rules, lbx__box_record *head,
                           lbx__letter_record *ret);

/* When the first group can be served: OK; NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__group_next_due(lbx__rules *rules, const lbx__box_record *head,
                               int64_t *ret_due);

/* The number of a group, 0 for one that is not there. */
lbx_status lbx__group_find(lbx__rules *rules, const lbx__box_record *head,
                           const uint8_t hash[LBX__HASH_BYTES], uint64_t *ret);

/* The hash of a group's name. */
lbx_status lbx__group_hash(lbx__rules *rules, const char *name,
                           uint8_t hash[LBX__HASH_BYTES]);

/* What joining a group takes, and placing it again. */
void lbx__group_need_join(lbx__need *need);
void lbx__group_need_requeue(lbx__need *need);

/* Puts a letter at the end of its group's line; answers the group's number. */
uint64_t lbx__group_join(lbx__rules *rules, lbx__box_record *head,
                         const uint8_t hash[LBX__HASH_BYTES], uint64_t sequence,
                         int64_t due);

/* Takes a letter out of its group's line. */
void lbx__group_leave(lbx__rules *rules, lbx__box_record *head,
                      const lbx__letter_record *letter);

/* Where a group stands after something happened to a letter of it. */
typedef enum lbx__group_position {
    LBX__GROUP_LAST,     /* behind all others, unless its first letter waits */
    LBX__GROUP_RESTORED, /* in the place that the letter was claimed from */
    LBX__GROUP_EXPIRED,  /* as if it had happened at a moment that is past */
} lbx__group_position;

/* Puts a group in its place, if the letter is, or was, its first; ends a group
 * that is empty. Needs lbx__group_need_requeue(). `at` is for LBX__GROUP_EXPIRED. */
void lbx__group_requeue(lbx__rules *rules, lbx__box_record *head,
                        const lbx__letter_record *letter,
                        lbx__group_position standing, int64_t at);

/* A receive with the id of an attempt: the letters of the first with that id, as
 * long as they are as it left them; else as lbx__group_receive(). */
lbx_status lbx__attempt_receive(lbx__rules *rules, lbx__claim *claim);

/* ---- move.c ---- */

/* A step of the moves that run, at most `budget` letters. */
lbx_status lbx__move_step(lbx__rules *rules, uint32_t *budget,
                          int64_t *ret_due);

/* Forgets the moves out of a box. */
void lbx__move_forget(lbx__rules *rules, uint64_t uid);

#endif

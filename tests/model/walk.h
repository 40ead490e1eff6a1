/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random walk of a store and the model, in step.
 *
 * Everything is drawn from the seed, the clock too: a walk that failed is
 * walked again by its seed. Times are whole seconds, so that many things fall
 * on the same moment; now and then the clock goes to the very moment something
 * is due, or one nanosecond before.
 */
#ifndef LBX_TEST_MODEL_WALK_H
#define LBX_TEST_MODEL_WALK_H

#include "model.h"

/* What is walked: a store of any kind, or what one is made of. */
typedef struct model_subject {
    const char *name;

    /* Runs a verb of the contract to its end, without waiting: a receive that
     * finds nothing is LBX_EMPTY. */
    lbx_status (*call)(void *context, lbx_call_kind verb, void *request,
                       void (*deliver)(void *context,
                                       const lbx_delivery *delivery),
                       void *deliver_context);

    /* Its clock, which begins anywhere, goes on. */
    void (*advance)(void *context, int64_t ns);

    /* Closes it and opens it again: what it kept must be there. NULL: it keeps
     * nothing. */
    void (*reopen)(void *context);

    /* Looks inside for what should be true; NULL: not looked at. Answers what
     * is wrong, or NULL. */
    const char *(*audit)(void *context);

    bool undoes; /* has undo, peek, purge, move: the optional verbs */
    void *context;
} model_subject;

/* Walks; answers true when there was no difference. What differs first is
 * written to `ret`: the seed, the step, and what was expected. */
bool model_walk(const model_subject *subject, uint64_t seed, unsigned steps,
                char *ret, size_t ret_bytes);

/* ---- Inside the walk ---- */

enum {
    WALK_TICKETS = 48,
    WALK_GOT_MOST = 4096
};

/* A receipt that a receive has given. */
struct walk_ticket {
    int box;
    model_receipt means;
    uint8_t bytes[LBX_MAX_RECEIPT_BYTES];
    size_t size;
};

/* A delivery. */
struct walk_got {
    unsigned number;
    lbx_id id;
    uint64_t sequence;
    uint32_t deliveries;
    char group[16];
    char source[16];
    uint8_t receipt[LBX_MAX_RECEIPT_BYTES];
    size_t receipt_bytes;
};

struct walk {
    const model_subject *subject;
    uint64_t seed, random;
    unsigned step;
    unsigned numbers; /* of letters */
    bool busy;        /* many letters, long leases: tenants become noisy */
    lbx_box uids[MODEL_BOXES];
    struct walk_ticket tickets[WALK_TICKETS];
    unsigned ticket_count;
    unsigned got_count;
    struct walk_got got[WALK_GOT_MOST]; /* by the last call */
    char *why;
    size_t why_bytes;
    bool failed;
    struct model model;
};

/* A parcel with its texts. */
struct walk_package {
    lbx_parcel parcel;
    char body[32], deduplication_id[16], token[16];
    unsigned group;
    unsigned number;
};

/* walk.c: chance; the first difference; calls. */
unsigned walk_below(struct walk *walk, unsigned end);
bool walk_chance(struct walk *walk, unsigned percent);
int64_t walk_seconds(struct walk *walk, unsigned most);
void walk_differ(struct walk *walk, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void walk_expect(struct walk *walk, const char *what, lbx_status expected,
                 lbx_status actual);
lbx_status walk_call(struct walk *walk, lbx_call_kind verb, void *request);

/* The kinds: three plain ones, three in order. */
const char *walk_box_name(int box);
const char *walk_group_name(unsigned group); /* "": none */
bool walk_is_fifo(int box);
int walk_box_like(struct walk *walk, int box); /* any of the same kind */

/* What was delivered is this letter; what the model could not know, it
 * learns. */
void walk_compare(struct walk *walk, const char *what,
                  const struct walk_got *got, model_letter *letter);

/* walk_boxes.c */
void walk_create_box(struct walk *walk, int box);
void walk_change_box(struct walk *walk, int box);
void walk_check_counts(struct walk *walk, int box);
void walk_move_letters(struct walk *walk, int from);

/* walk_letters.c */
void walk_draw_package(struct walk *walk, int box, struct walk_package *ret);
void walk_check_sent(struct walk *walk, int box,
                     const struct walk_package *package,
                     const lbx_sent_letter *sent);
void walk_send_letters(struct walk *walk, int box);
void walk_receive_letters(struct walk *walk, int box);
void walk_peek_letters(struct walk *walk, int box);

/* walk_settle.c */
void walk_settle_letters(struct walk *walk, int box);

#endif

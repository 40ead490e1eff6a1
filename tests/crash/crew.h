/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crew: senders and receivers on one store, through public headers only,
 * who tell a ledger what they do.
 *
 * Three boxes: "plain", whose letters die into "dead" when they were delivered
 * too often; "dead"; and "fifo", with a group for each sender. Receivers
 * acknowledge most, give some back, extend some, let some leases run out, and
 * try receipts that are not good any more.
 *
 * A sender whose predecessor in the same place was killed begins with what that
 * one was sending, with the same tokens: it must not be there twice.
 *
 * Children have no checks: what goes wrong is told to the ledger.
 */
#ifndef LBX_TEST_CRASH_CREW_H
#define LBX_TEST_CRASH_CREW_H

#include "ledger.h"

#include <pthread.h>

enum crew_box {
    CREW_PLAIN,
    CREW_FIFO,
    CREW_DEAD,
    CREW_BOXES
};

/* How a crew works. */
struct crew {
    const char *url; /* of the store */
    const lbx_store_options *options;
    struct ledger *ledger;

    /* Where events go; NULL: into the ledger. Called by any thread. */
    void (*tell)(void *context, const struct ledger_event *event);
    void *context;

    int64_t (*now_ns)(void *clock); /* NULL: monotonic */
    void *clock;

    unsigned senders, receivers;
    unsigned place;     /* the first of theirs in the ledger */
    uint64_t live_most; /* senders wait while there are more letters */
    int64_t lease_ns;   /* about as long as leases are, */
    int64_t wait_ns;    /* and waits */
    uint64_t seed;

    /* Controls: what is told is not what is done. */
    bool tells_sent_early;    /* before the send */
    bool tells_deleted_early; /* before the delete */
    bool tells_long_leases;   /* three times as long as they are */
    bool tells_good_as_stale; /* of receipts */
};

/* A store with its boxes open. */
struct desk {
    lbx_store *store;
    lbx_postbox *boxes[CREW_BOXES];
};

lbx_status desk_open(struct desk *desk, const struct crew *crew);
void desk_close(struct desk *desk);

/* One of a crew: a thread. */
struct hand {
    const struct crew *crew;
    struct desk *desk;
    struct ledger_place *place;
    unsigned index; /* of the place */
    uint64_t state; /* of its draws */
};

void hand_init(struct hand *hand, const struct crew *crew, struct desk *desk,
               unsigned index);
uint64_t hand_draw(struct hand *hand, uint64_t below);

/* What the last in this place was sending, again. */
void hand_send_again(struct hand *hand);

/* Once: some letters; some letters, and what becomes of them. False when there
 * was nothing to do, or it was not done. */
bool hand_send(struct hand *hand);
bool hand_receive(struct hand *hand);

/* A receive that is cancelled while it waits: it takes nothing. */
void hand_change_mind(struct hand *hand);

/* All receipts that the ledger keeps: those that are not good any more must do
 * nothing, those that surely are must work. Ends no lease. */
void hand_try_receipts(struct hand *hand);

/* Receives and deletes everything, until the boxes are empty; what is leased or
 * delayed has to be waited for, by `wait` (NULL: in the receives). */
void hand_drain(struct hand *hand, void (*wait)(void *context), void *context);

/* Opens, works for `work_ns` (0: until the ledger says stop), closes. */
lbx_status crew_work(const struct crew *crew, int64_t work_ns);

/* Opens, drains, closes. */
lbx_status crew_drain(const struct crew *crew);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: senders and receivers on one store, through public headers only,
 * that report to a ledger what they do.
 *
 * Three boxes: "plain", whose letters die into "dead" when they were delivered
 * too often; "dead"; and "fifo", with a group for each sender. Receivers
 * acknowledge most, give some back, extend some, let some leases run out, and
 * try receipts that are not good any more.
 *
 * With `wide` there are more boxes: "replies", for letters that are sent with
 * an acknowledgement; "purged", which is purged now and then; "here", whose
 * letters tasks move to "there", and are received there alone; and one of its
 * own for each sender, which makes and deletes it. Some bodies have up to
 * 1 MiB.
 *
 * A sender whose predecessor in the same place was killed begins with what that
 * one was sending, with the same tokens: it must not be there twice.
 *
 * Children have no checks: what goes wrong is reported to the ledger.
 */
#ifndef LBX_TEST_CRASH_WORKERS_H
#define LBX_TEST_CRASH_WORKERS_H

#include "ledger.h"

#include <pthread.h>

enum workers_box {
    BOX_PLAIN,
    BOX_FIFO,
    BOX_DEAD,
    BOX_NARROW, /* so many without `wide` */
    BOX_REPLIES = BOX_NARROW,
    BOX_PURGED,
    BOX_HERE,
    BOX_THERE,
    BOX_COUNT /* behind it: the box of a slot */
};

/* How they work. */
struct workers {
    const char *url; /* of the store */
    const lbx_store_options *options;
    struct ledger *ledger;

    /* Where events go; NULL: into the ledger. Called by any thread. */
    void (*tell)(void *context, const struct ledger_event *event);
    void *context;

    int64_t (*now_ns)(void *clock); /* NULL: monotonic */
    void *clock;

    unsigned senders, receivers;
    unsigned place;    /* the first of theirs in the ledger */
    uint64_t live_max; /* senders wait while there are more letters */
    int64_t lease_ns;  /* about as long as leases are, */
    int64_t wait_ns;   /* and waits */
    uint64_t seed;
    bool wide;
    const _Atomic(uint32_t) *wished; /* an enum ledger_call; NULL: none */

    /* Controls: what is reported is not what is done. */
    bool tells_sent_early;    /* before the send */
    bool tells_deleted_early; /* before the delete */
    bool tells_long_leases;   /* three times as long as they are */
    bool tells_good_as_stale; /* of receipts */
    bool tells_purged;        /* and does not purge */
    bool drops_attached;      /* acknowledges, and sends nothing with it */
};

/* A store with its boxes open. */
struct boxes {
    lbx_store *store;
    lbx_postbox *boxes[BOX_COUNT];
};

lbx_status boxes_open(struct boxes *boxes, const struct workers *workers);
void boxes_close(struct boxes *boxes);

/* One of them: a thread. */
struct worker {
    const struct workers *workers;
    struct boxes *boxes;
    struct ledger_slot *place;
    unsigned index;     /* of the place */
    uint64_t state;     /* of its draws */
    lbx_postbox *own;   /* wide: its own box, while it is open */
    lbx_routes *routes; /* wide: to "replies" */
};

void worker_init(struct worker *worker, const struct workers *workers,
                 struct boxes *boxes, unsigned index);
void worker_fini(struct worker *worker);

/* Notes what it is in the middle of; CALL_NONE: nothing. */
void worker_enter(const struct worker *worker, enum ledger_call call);
uint64_t worker_draw(struct worker *worker, uint64_t below);

/* What the last in this place was sending, again; what it was clearing has
 * ended. */
void worker_send_again(struct worker *worker);

/* Once: some letters; some letters, and what becomes of them. False when there
 * was nothing to do, or it was not done. */
bool worker_send(struct worker *worker);
bool worker_receive(struct worker *worker);

/* wide, each once: purges "purged"; starts or cancels a move; makes its own
 * box, uses it and deletes it. */
void worker_purge(struct worker *worker);
void worker_move(struct worker *worker);
void worker_use_own_box(struct worker *worker);

/* A receive that is cancelled while it waits: it takes nothing. */
void worker_cancel_receive(struct worker *worker);

/* Counts a box, and peeks into it; syncs the store. */
void worker_look(struct worker *worker);
void worker_sync(struct worker *worker);

/* All receipts that the ledger keeps: those that are not good any more must do
 * nothing, those that surely are must work. Ends no lease. */
void worker_try_receipts(struct worker *worker);

/* Receives and deletes everything, until the boxes are empty; what is leased or
 * delayed has to be waited for, by `wait` (NULL: in the receives). */
void worker_drain(struct worker *worker, void (*wait)(void *context),
                  void *context);

/* Opens, works for `work_ns` (0: until the ledger says stop), closes. */
lbx_status workers_run(const struct workers *workers, int64_t work_ns);

/* Opens, drains, closes. */
lbx_status workers_drain(const struct workers *workers);

#endif

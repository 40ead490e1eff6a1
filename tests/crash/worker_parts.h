/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a worker (worker.c, pile.c, find.c, look.c, own_box.c and
 * drain.c) share. */
#ifndef LBX_TEST_CRASH_WORKER_PARTS_H
#define LBX_TEST_CRASH_WORKER_PARTS_H

#include "workers.h"

/* The test wants this call to be made. */
bool worker_is_wished(const struct worker *worker, enum ledger_call call);

/* Ends what it was in the middle of, and counts it. */
void worker_leave(const struct worker *worker, lbx_status status);

/* Mostly as many as there may be. */
uint32_t worker_draw_batch(struct worker *worker);
int64_t worker_now(const struct worker *worker);
void worker_tell(const struct worker *worker, const struct ledger_event *event);

/* Clears of this place: LEDGER-2. */
void worker_tell_clear(const struct worker *worker, enum ledger_what what,
                       uint32_t box, int64_t begun, lbx_status status);
lbx_postbox *worker_postbox(const struct worker *worker, uint32_t box);

/* Whether letters of a box can be cleared, so that nothing is certain about
 * their receipts. */
bool box_is_cleared(uint32_t box);
unsigned worker_box_count(const struct worker *worker);

/* Drafts of letters, with what they point to. */
struct pile {
    uint32_t box;
    size_t count;
    uint64_t with; /* LEDGER-3 */
    uint64_t numbers[LBX_MAX_BATCH];
    uint64_t after;
    lbx_draft drafts[LBX_MAX_BATCH];
    uint8_t bodies[LBX_MAX_BATCH][LEDGER_SMALL_MAX];
    uint8_t *large[LBX_MAX_BATCH]; /* or here */
    char tokens[LBX_MAX_BATCH][24];
    char group[16];
};

void pile_add(struct worker *worker, struct pile *pile, uint64_t number);
void pile_tell(const struct worker *worker, const struct pile *pile,
               int64_t begun);
void pile_tell_sent(const struct worker *worker, uint64_t number,
                    lbx_status status, int64_t begun);
bool pile_send(struct worker *worker, struct pile *pile);
void pile_end(const struct worker *worker, struct pile *pile);

/* One that was received. */
struct find {
    uint32_t box;
    lbx_letter *letter;
    uint64_t number;
    uint32_t delivery;
    int64_t until_ns; /* leased for certain until then, */
    int64_t over_ns;  /* and for certain not after this */
    char receipt[LBX_RECEIPT_BYTES];
};

/* One receive: how many. */
size_t find_receive(struct worker *worker, uint32_t box, int64_t wait_ns,
                    struct find finds[LBX_MAX_BATCH]);
void find_delete_all(const struct worker *worker, uint32_t box,
                     struct find **finds, size_t count);
void worker_tell_stale(const struct worker *worker,
                       const struct ledger_receipt *old, lbx_status status);

/* How many letters are in a box: that can be received, and in all. */
uint64_t worker_count(const struct worker *worker, uint32_t box,
                      uint64_t *ret_ready);

/* Opens the box of a place, and makes it if need be. */
bool own_box_open(struct worker *worker, unsigned index);
void own_box_close(struct worker *worker);

/* One receive, and what it got deleted: how many. */
size_t worker_drain_some(struct worker *worker, uint32_t box, int64_t wait_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of a worker need; see workers.h. */
#include "worker_parts.h"

#include <stdlib.h>

void
worker_init(struct worker *worker, const struct workers *workers,
            struct boxes *boxes, unsigned index)
{
    *worker = (struct worker){
        .workers = workers,
        .boxes = boxes,
        .place = &workers->ledger->places[index],
        .index = index,
        .state = (workers->seed + index) * UINT64_C(0x9e3779b97f4a7c15),
    };
    if (workers->wide &&
        lbx_routes_single("replies", NULL, &worker->routes) != LBX_OK)
        abort();
}

void
worker_fini(struct worker *worker)
{
    lbx_postbox_unref(worker->own);
    lbx_routes_unref(worker->routes);
}

void
worker_enter(const struct worker *worker, enum ledger_call call)
{
    atomic_store(&worker->place->call, call);
}

bool
worker_is_wished(const struct worker *worker, enum ledger_call call)
{
    return worker->workers->wished &&
           atomic_load(worker->workers->wished) == (uint32_t)call;
}

/* Ends what it was in the middle of, and counts it. */
void
worker_leave(const struct worker *worker, lbx_status status)
{
    const uint32_t call = atomic_exchange(&worker->place->call, CALL_NONE);

    if (status == LBX_OK)
        atomic_fetch_add(&worker->workers->ledger->calls[call], 1);
}

uint64_t
worker_draw(struct worker *worker, uint64_t below)
{
    worker->state = worker->state * UINT64_C(6364136223846793005) +
                    UINT64_C(1442695040888963407);
    return (worker->state >> 33) % below;
}

/* Mostly as many as there may be. */
uint32_t
worker_draw_batch(struct worker *worker)
{
    return worker_draw(worker, 4)
               ? LBX_MAX_BATCH
               : 1 + (uint32_t)worker_draw(worker, LBX_MAX_BATCH);
}

int64_t
worker_now(const struct worker *worker)
{
    const struct workers *workers = worker->workers;

    return workers->now_ns ? workers->now_ns(workers->clock)
                           : lbx_clock_now(NULL);
}

void
worker_tell(const struct worker *worker, const struct ledger_event *event)
{
    if (worker->workers->tell)
        worker->workers->tell(worker->workers->context, event);
    else
        ledger_note(worker->workers->ledger, event);
}

lbx_postbox *
worker_postbox(const struct worker *worker, uint32_t box)
{
    return box < BOX_COUNT ? worker->boxes->boxes[box] : worker->own;
}

/* Whether letters of a box can be cleared, so that nothing is certain about
 * their receipts. */
bool
box_is_cleared(uint32_t box)
{
    return box == BOX_PURGED || box >= BOX_COUNT;
}

unsigned
worker_box_count(const struct worker *worker)
{
    return worker->workers->wide ? BOX_COUNT : BOX_NARROW;
}

/* Clears of this place: LEDGER-2. */
void
worker_tell_clear(const struct worker *worker, enum ledger_what what,
                  uint32_t box, int64_t begun, lbx_status status)
{
    worker_tell(worker, &(struct ledger_event){
                            .what = what,
                            .box = box,
                            .delivery = worker->index,
                            .begun_ns = begun,
                            .ended_ns = worker_now(worker),
                            .status = status,
                        });
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker does while there is something to do: D3, D4. */
#include "actor/worker.h"

#include "actor/turn.h"

enum {
    SLOT_TURNS = 32,
    FAIR_TURNS = 61,
    SPINS = LBX__SPINS(200),
};

void
lbx__worker_enqueue(lbx__worker *mine, lbx__cell *cell)
{
    if (lbx__runq_push(&mine->queue, cell))
        lbx__dispatcher_notify(mine->dispatcher);
    else
        lbx__dispatcher_give(mine->dispatcher, cell);
}

static lbx__cell *
steal(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    for (uint32_t i = 1; i < dispatcher->options.threads; i++) {
        lbx__worker *other =
            &dispatcher
                 ->workers[(mine->index + i) % dispatcher->options.threads];
        uint64_t stolen = 0;
        lbx__cell *cell = lbx__runq_steal(&other->queue, &mine->queue, &stolen);

        if (!cell)
            continue;
        lbx__count(&mine->steals, stolen);
        if (stolen > 1) // while they were moved, nobody saw them (D2)
            lbx__dispatcher_notify(dispatcher);
        return cell;
    }
    return NULL;
}

static lbx__cell *
take_slot(lbx__worker *mine)
{
    lbx__cell *cell = NULL;

    // Relaxed: only we put something there.
    if (lbx__load(&mine->slot.cell, relaxed))
        cell = lbx__runslot_swap(&mine->slot, NULL);
    if (!cell || mine->slot_turns++ < SLOT_TURNS)
        return cell;
    mine->slot_turns = 0;
    lbx__worker_enqueue(mine, cell); // D4
    return NULL;
}

/* The next cell to run, or NULL. */
static lbx__cell *
next_cell(lbx__worker *mine)
{
    lbx__cell *cell = NULL;

    if (++mine->turn % FAIR_TURNS == 0) // D4
        cell = lbx__dispatcher_take(mine->dispatcher);
    if (!cell)
        cell = take_slot(mine);
    if (cell)
        return cell;
    mine->slot_turns = 0;
    cell = lbx__runq_take(&mine->queue);
    if (!cell)
        cell = lbx__dispatcher_take(mine->dispatcher);
    if (!cell)
        cell = steal(mine);
    return cell;
}

/* D3: something was found. D5: slots that were used meanwhile. */
static void
end_search(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    mine->searching = false;
    if (lbx__sub(&dispatcher->searching, 1, seq_cst) == 1 &&
        (lbx__dispatcher_has_cells(dispatcher) ||
         lbx__dispatcher_lacks_watcher(dispatcher)))
        lbx__dispatcher_notify(dispatcher);
}

/* A little patience before sleeping: an answer is often on its way. */
static lbx__cell *
search(lbx__worker *mine)
{
    for (int i = 0; i < SPINS; i++) {
        lbx__cell *cell = NULL;

        if (lbx__dispatcher_has_cells(mine->dispatcher))
            cell = next_cell(mine);
        if (cell)
            return cell;
        lbx__pause();
    }
    return NULL;
}

void *
lbx__worker_main(void *argument)
{
    lbx__worker *mine = argument;
    lbx__dispatcher *dispatcher = mine->dispatcher;

    lbx__local(lbx__self) = mine;
    for (;;) {
        lbx__cell *cell = next_cell(mine);

        if (!cell)
            cell = search(mine);
        if (cell) {
            if (mine->searching)
                end_search(mine);
            lbx__count(&mine->turns, 1);
            lbx__count(&mine->handled, lbx__turn_run(cell));
            continue;
        }
        if (lbx__load(&dispatcher->stopping, seq_cst) != 0)
            return NULL;
        lbx__worker_sleep(mine);
    }
}

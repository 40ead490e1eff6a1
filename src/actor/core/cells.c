/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of a system: chunks, the first of them small, and a free list.
 *
 * A freed cell goes to the end of the list, so that generations last long; one
 * that has used up its generations is not used again.
 *
 * Threads: any; the lock guards the chunks and the list.
 */
#include "actor/core/cell.h"

#include "base/alloc.h"
#include <string.h>

enum {
    FIRST_CAPACITY = 16,
    MAX_CAPACITY = 512,
};

typedef struct cells_chunk {
    alignas(LBX__LINE) struct cells_chunk *next;
    uint32_t capacity;
    lbx__cell cells[];
} cells_chunk;

struct lbx__cells {
    lbx_system *system;
    const lbx_allocator *allocator;
    lbx__node_pool *pool;
    lbx__lock lock;
    cells_chunk *chunks;
    uint32_t unused;  /* cells of the newest chunk that were never used */
    lbx__cell *first; /* the free list */
    lbx__cell *last;
};

static size_t
cells_chunk_size(uint32_t capacity)
{
    return sizeof(cells_chunk) + capacity * sizeof(lbx__cell);
}

lbx_status
lbx__cells_create(lbx_system *system, const lbx_allocator *allocator,
                  lbx__node_pool *pool, lbx__cells **ret)
{
    lbx__cells *cells = lbx__zalloc(allocator, sizeof(*cells));

    if (!cells)
        return LBX_NO_MEMORY;
    cells->system = system;
    cells->allocator = allocator;
    cells->pool = pool;
    *ret = cells;
    return LBX_OK;
}

void
lbx__cells_destroy(lbx__cells *cells)
{
    if (!cells)
        return;
    while (cells->chunks) {
        cells_chunk *next = cells->chunks->next;

        lbx__free(cells->allocator, cells->chunks,
                  cells_chunk_size(cells->chunks->capacity));
        cells->chunks = next;
    }
    lbx__free(cells->allocator, cells, sizeof(*cells));
}

/* Whether a ref can hold the addresses of these cells: 48 bits, at the start of
 * a line. Most kernels give no others unless asked. */
static bool
cells_fit_refs(const lbx__cell *first, uint32_t capacity)
{
    const uint64_t low = (uint64_t)(uintptr_t)first;
    const uint64_t high = (uint64_t)(uintptr_t)&first[capacity - 1];

    return ((low | high) & ~LBX__CELL_MASK) == 0;
}

/* Each chunk has twice the capacity of the one before. Under the lock. */
static bool
cells_add_chunk(lbx__cells *cells)
{
    uint32_t capacity =
        cells->chunks ? 2 * cells->chunks->capacity : FIRST_CAPACITY;
    cells_chunk *fresh;

    if (capacity > MAX_CAPACITY)
        capacity = MAX_CAPACITY;
    fresh = lbx__alloc(cells->allocator, cells_chunk_size(capacity),
                       alignof(cells_chunk));
    if (!fresh)
        return false;
    if (!cells_fit_refs(fresh->cells, capacity)) {
        lbx__alloc_undo(cells->allocator, fresh, cells_chunk_size(capacity));
        return false;
    }
    fresh->capacity = capacity;
    fresh->next = cells->chunks;
    cells->chunks = fresh;
    cells->unused = capacity;
    return true;
}

/* A cell that was never used. Under the lock. */
static lbx__cell *
cells_take_fresh(lbx__cells *cells)
{
    lbx__cell *cell;
    lbx__node *stub;

    if (cells->unused == 0 && !cells_add_chunk(cells))
        return NULL;
    cell = &cells->chunks->cells[cells->chunks->capacity - cells->unused];
    stub = lbx__node_pool_get(cells->pool);
    if (!stub)
        return NULL;
    cells->unused--;
    memset(cell, 0, sizeof(*cell));
    lbx__init(&stub->next, NULL);
    lbx__init(&stub->number, 0);
    lbx__init(&cell->head, stub);
    lbx__init(&cell->tail, stub);
    lbx__init(&cell->scheduled, 1u);
    lbx__init(&cell->generation, 1u);
    cell->system = cells->system;
    return cell;
}

/* The first of the free list, unless it is owned (CELL-4). Under the lock. */
static lbx__cell *
cells_take_free(lbx__cells *cells)
{
    lbx__cell *cell = cells->first;
    uint32_t idle = 0;

    // Acquire: what its last owner did (CELL-1).
    if (!cell || !lbx__cas(&cell->scheduled, &idle, 1u, acquire))
        return NULL;
    cells->first = cell->next_sibling;
    if (!cells->first)
        cells->last = NULL;
    return cell;
}

lbx__cell *
lbx__cells_get(lbx__cells *cells)
{
    lbx__cell *cell;

    lbx__lock_take(&cells->lock);
    cell = cells_take_free(cells);
    if (!cell)
        cell = cells_take_fresh(cells);
    lbx__lock_give(&cells->lock);
    return cell;
}

void
lbx__cells_put(lbx__cells *cells, lbx__cell *cell)
{
    // Relaxed: its life has ended.
    if (lbx__load(&cell->generation, relaxed) >= LBX__GENERATIONS)
        return;
    lbx__lock_take(&cells->lock);
    cell->next_sibling = NULL;
    if (cells->last)
        cells->last->next_sibling = cell;
    else
        cells->first = cell;
    cells->last = cell;
    lbx__lock_give(&cells->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deque: a storage for the locked queue that can also be filled from the
 * front. Envelopes lie in a circular array that doubles when it is full and
 * halves when three quarters of it are unused; without memory to halve it, the
 * larger array stays.
 *
 * Threads    one at a time: the locked queue has a lock.
 */
#include "queue/deque.h"

#include "base/alloc.h"
#include <letterbox/mailbox/messages.h>

enum {
    MIN_SIZE = 16
};

struct deque {
    const lbx_allocator *allocator;
    lbx_envelope *slots;
    size_t size; /* a power of two */
    size_t first;
    size_t count;
};

static bool
deque_resize(struct deque *deque, size_t size)
{
    lbx_envelope *slots = lbx__alloc(deque->allocator, size * sizeof(*slots),
                                     _Alignof(lbx_envelope));

    if (!slots)
        return false;
    for (size_t i = 0; i < deque->count; i++)
        slots[i] = deque->slots[(deque->first + i) & (deque->size - 1)];
    lbx__free(deque->allocator, deque->slots, deque->size * sizeof(*slots));
    deque->slots = slots;
    deque->size = size;
    deque->first = 0;
    return true;
}

lbx_status
lbx__deque_create(const lbx_allocator *allocator, void **ret)
{
    struct deque *deque = lbx__zalloc(allocator, sizeof(*deque));

    if (!deque)
        return LBX_NO_MEMORY;
    deque->allocator = allocator;
    *ret = deque;
    return LBX_OK;
}

void
lbx__deque_destroy(void *storage)
{
    struct deque *deque = storage;

    lbx__free(deque->allocator, deque->slots,
              deque->size * sizeof(*deque->slots));
    lbx__free(deque->allocator, deque, sizeof(*deque));
}

static bool
deque_reserve(struct deque *deque)
{
    if (deque->count < deque->size)
        return true;
    return deque_resize(deque, deque->size ? deque->size * 2 : MIN_SIZE);
}

lbx_status
lbx__deque_push(void *storage, const lbx_envelope *envelope)
{
    struct deque *deque = storage;

    if (!deque_reserve(deque))
        return LBX_NO_MEMORY;
    deque->slots[(deque->first + deque->count++) & (deque->size - 1)] =
        *envelope;
    return LBX_OK;
}

lbx_status
lbx__deque_push_front(void *storage, const lbx_envelope *envelope)
{
    struct deque *deque = storage;

    if (!deque_reserve(deque))
        return LBX_NO_MEMORY;
    deque->first = (deque->first - 1) & (deque->size - 1);
    deque->slots[deque->first] = *envelope;
    deque->count++;
    return LBX_OK;
}

bool
lbx__deque_pop(void *storage, lbx_envelope *ret)
{
    struct deque *deque = storage;

    if (deque->count == 0)
        return false;
    *ret = deque->slots[deque->first];
    deque->first = (deque->first + 1) & (deque->size - 1);
    deque->count--;
    if (deque->size > MIN_SIZE && deque->count <= deque->size / 4)
        (void)deque_resize(deque, deque->size / 2); // without memory it stays
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in an order that looks random, and priorities to sort them by. */
#ifndef LBX_TEST_AKKA_SHUFFLE_H
#define LBX_TEST_AKKA_SHUFFLE_H

#include <stdbool.h>
#include <stdint.h>

/* 1..count in an order that depends on `seed`. */
static inline void
shuffle(int *numbers, int count, unsigned seed)
{
    for (int i = 0; i < count; i++)
        numbers[i] = i + 1;
    for (int i = count - 1; i > 0; i--) {
        int held = numbers[i];
        int j;

        seed = seed * 1103515245u + 12345u;
        j = (int)((seed >> 16) % (unsigned)(i + 1));
        numbers[i] = numbers[j];
        numbers[j] = held;
    }
}

/* Priorities of PriorityDispatcherSpec: the message itself is its priority. */
static inline bool
by_number(const void *message, void *context, int32_t *ret)
{
    (void)context;
    *ret = (int32_t)(intptr_t)message;
    return true;
}

/* Of StablePriorityDispatcherSpec: 1..100 by number, the rest are equal. */
static inline bool
first_hundred_by_number(const void *message, void *context, int32_t *ret)
{
    (void)context;
    *ret = (intptr_t)message <= 100 ? (int32_t)(intptr_t)message : 101;
    return true;
}

#endif

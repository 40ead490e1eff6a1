/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in an order that looks random, for tests of sorting. */
#ifndef LBX_TEST_AKKA_SHUFFLE_H
#define LBX_TEST_AKKA_SHUFFLE_H

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

#endif

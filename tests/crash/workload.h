/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of rows that follow from their number alone, so that what a store must
 * hold after group n is known to every process. */
#ifndef LBX_TEST_CRASH_WORKLOAD_H
#define LBX_TEST_CRASH_WORKLOAD_H

#include "post/rules/storage.h"

/* Runs group `number`, from 1, in an open group; the one before was the last.
 * Answers how many rows it changed. */
unsigned workload_group(lbx__storage *storage, uint64_t number);

/* Which group was the last, 0 for none; in an open group. */
uint64_t workload_last(lbx__storage *storage);

/* A sum over every row of every table; in an open group. */
uint64_t workload_sum(lbx__storage *storage);

/* The sums after groups 0 to `most`, in a malloc'ed array. */
uint64_t *workload_sums(uint64_t most);

#endif

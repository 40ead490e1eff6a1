/* SPDX-License-Identifier: Apache-2.0 */
/* Many walks in one test. */
#ifndef LBX_TEST_MODEL_WALKS_H
#define LBX_TEST_MODEL_WALKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One walk of a subject that was made for it, as model_walk() answers. */
typedef bool walk_one(void *context, uint64_t seed, unsigned steps, char *why,
                      size_t why_bytes);

/* Walks the seeds from 1 on, or the one that LBX_MODEL_SEED names, and prints
 * how many there were; a difference fails the test. */
void model_walks(const char *on, long seeds, unsigned steps, walk_one *one,
                 void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The bare queues behind our mailboxes, one call each, as a library would
 * offer them: internal headers are C11 only, and inline. */
#ifndef BENCH_MAILBOX_BARE_H
#define BENCH_MAILBOX_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Unbounded, words; one consumer or several. NULL: no memory. */
void *bare_segq_create(bool many);
void bare_segq_destroy(void *queue);
bool bare_segq_push(void *queue, uint64_t value);
size_t bare_segq_pop(void *queue, uint64_t *values, size_t most);

/* Bounded, words; several consumers. NULL: no memory. */
void *bare_ring_create(uint64_t capacity);
void bare_ring_destroy(void *ring);
size_t bare_ring_push(void *ring, const uint64_t *values, size_t count);
size_t bare_ring_pop(void *ring, uint64_t *values, size_t most);

#ifdef __cplusplus
}
#endif

#endif

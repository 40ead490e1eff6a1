/* SPDX-License-Identifier: Apache-2.0 */
/* A set of refs: whom an actor watches. Its owner alone touches it. */
#ifndef LBX_ACTOR_REFS_H
#define LBX_ACTOR_REFS_H

#include <letterbox/base.h>

typedef struct lbx__ref_set {
    uint64_t *slots; /* open addressing; 0: empty, 1: taken out */
    size_t room;     /* a power of two, or 0 */
    size_t used;     /* taken-out ones included */
    size_t count;
} lbx__ref_set;

/* Adds a ref that is not inside; false: no memory. */
bool lbx__ref_set_add(lbx__ref_set *refs, const lbx_allocator *allocator,
                      uint64_t ref);
bool lbx__ref_set_has(const lbx__ref_set *refs, uint64_t ref);

/* Takes a ref out; false when it was not inside. */
bool lbx__ref_set_remove(lbx__ref_set *refs, uint64_t ref);
void lbx__ref_set_fini(lbx__ref_set *refs, const lbx_allocator *allocator);

#endif

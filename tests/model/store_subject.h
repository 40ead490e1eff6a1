/* SPDX-License-Identifier: Apache-2.0 */
/* Any store as the subject of a walk, through <letterbox/store_driver.h>
 * alone. */
#ifndef LBX_TEST_MODEL_STORE_SUBJECT_H
#define LBX_TEST_MODEL_STORE_SUBJECT_H

#include "contract/backend.h"
#include "walk.h"

typedef struct store_subject {
    model_subject base;
    const struct backend *backend;
    lbx_store *store;
    void *store_context;
} store_subject;

/* Opens the store; and gives it up. */
void store_subject_init(store_subject *subject, const struct backend *backend);
void store_subject_fini(store_subject *subject);

/* Walks a store with so many seeds, or the one that LBX_MODEL_SEED names, each
 * from an empty store; a difference fails the test. */
void store_walks(const struct backend *backend, long seeds, unsigned steps);

#endif

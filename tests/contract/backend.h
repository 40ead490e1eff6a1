/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store to try. The author of a store describes once how to open one, and
 * runs the contract (contract.h) and the model (model/store_subject.h) on it:
 * see docs/writing-a-store.md.
 */
#ifndef LBX_TEST_CONTRACT_BACKEND_H
#define LBX_TEST_CONTRACT_BACKEND_H

#include <letterbox/store_driver.h>

struct backend {
    const char *name;

    /* An open store without boxes, whose time stands still if it can. */
    lbx_store *(*open)(void **ret_context);

    /* Moves time: returns when what has become due was done, and receives that
     * got something were finished. */
    void (*advance)(lbx_store *store, void *context, int64_t duration_ns);

    /* Closes the store. */
    void (*close)(lbx_store *store, void *context);

    /* Closes the store and opens it again, with all that it kept. NULL: it
     * keeps nothing. */
    lbx_store *(*reopen)(lbx_store *store, void *context);
};

/* Starts a call at the entry for its kind, as the library does. */
lbx_status backend_start(lbx_store *store, lbx_call *call);

/* What most backends share: options with a clock that stands still, and the
 * entries `advance`, which moves it, and `close`. No context. */
lbx_store_options backend_options(void);
void backend_advance(lbx_store *store, void *context, int64_t duration_ns);
void backend_close(lbx_store *store, void *context);

/* The stores that the tests have. `threaded` is the store in memory with a
 * thread that owns the letters, as the store in files has one; `quick` is the
 * one in files at level LBX_DURABILITY_PROCESS, `shared` when another process
 * has it open too; `relay` is written with the public headers alone. */
extern const struct backend memory_backend;
extern const struct backend threaded_backend;
extern const struct backend relay_backend;
extern const struct backend file_backend;
extern const struct backend quick_backend;
extern const struct backend shared_backend;

#endif

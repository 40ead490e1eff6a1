/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemes: how URLs that begin with a certain word become stores.
 *
 * A scheme has the address of a URL, in one spelling, and opens the store at an
 * address. The schemes that are built in are listed in scheme.c; others are
 * added before threads start, so that the list needs no lock.
 */
#ifndef LBX_POST_SCHEME_H
#define LBX_POST_SCHEME_H

#include <letterbox/store.h>

enum {
    LBX__ADDRESS_BYTES = 4096 /* with the NUL; PATH_MAX */
};

typedef struct lbx__scheme {
    const char *name; /* "memory" */

    /* Writes the address of a URL, given what follows "name:": URLs of one
     * store have the same address. LBX__ADDRESS_BYTES. OK; NOT_FOUND; INVALID;
     * any I/O failure. The fault is never NULL. */
    lbx_status (*address)(const char *rest, char *address, lbx_fault *fault);

    /* Opens the store at an address; one thread at a time for each.
     * options->fault is never NULL. */
    lbx_status (*open)(const char *address, const lbx_store_options *options,
                       lbx_store **ret);

    /* The option in which an open store differs from these; NULL: it suits
     * them. A NULL function: it always does. */
    const char *(*differs)(lbx_store *store, const lbx_store_options *options);

    /* Whether a store can have these options, before anything is opened; a NULL
     * function: it can. OK; INVALID; UNSUPPORTED. options->fault is never
     * NULL. */
    lbx_status (*check)(const lbx_store_options *options);
} lbx__scheme;

/* The scheme of a URL, and what follows its colon; NULL. */
const lbx__scheme *lbx__scheme_of(const char *url, const char **ret_rest);

/* The known schemes, for faults: "memory: and file:". */
void lbx__scheme_names(char *text, size_t bytes);

/* The forms of a postbox's URL, by the schemes that are built in; for
 * faults. */
extern const char lbx__scheme_forms[];

/* Adds a scheme, which must outlive its use; before threads. */
void lbx__scheme_add(const lbx__scheme *scheme);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How URLs that begin with a certain word become stores. */
#ifndef LBX_POST_SCHEME_H
#define LBX_POST_SCHEME_H

#include <letterbox/post/stores.h>

enum {
    LBX__PLACE_BYTES = 4096 /* with the NUL; PATH_MAX */
};

typedef struct lbx__scheme {
    const char *name; /* "memory" */

    /* Writes where a URL leads, given what is behind "name:", so that two that
     * lead to one store are one text; LBX__PLACE_BYTES. OK; NOT_FOUND; INVALID;
     * any I/O failure. The fault is never NULL. */
    lbx_status (*place)(const char *rest, char *place, lbx_fault *fault);

    /* Opens the store of a place. One at a time for each. options->fault is
     * never NULL. */
    lbx_status (*open)(const char *place, const lbx_store_options *options,
                       lbx_store **ret);

    /* Whether an open store can be given to one who asks with these options;
     * NULL: always. */
    bool (*suits)(lbx_store *store, const lbx_store_options *options);
} lbx__scheme;

/* schemes.c: the scheme of a URL, and what is behind its colon; NULL. */
const lbx__scheme *lbx__scheme_of(const char *url, const char **ret_rest);

/* All that are known, for people: "memory: and file:". */
void lbx__scheme_names(char *text, size_t bytes);

/* What a URL of a postbox is, by the schemes that are built in; for people. */
extern const char lbx__scheme_forms[];

/* One more, which must outlive the process's use of it; before threads. */
void lbx__scheme_add(const lbx__scheme *scheme);

#endif

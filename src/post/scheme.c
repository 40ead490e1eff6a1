/* SPDX-License-Identifier: Apache-2.0 */
/* The known schemes: those built in, and those added. See scheme.h. */
#include "post/scheme.h"

#include <stdio.h>
#include <string.h>

enum {
    SCHEMES_MAX = 16
};

/* The rooms of the stores define these. A new store has a line here. */
extern const lbx__scheme lbx__memory_scheme;
extern const lbx__scheme lbx__file_scheme;

static const lbx__scheme *schemes[SCHEMES_MAX] = {
    &lbx__memory_scheme,
#ifdef LBX__HAS_FILES
    &lbx__file_scheme,
#endif
};

const char lbx__scheme_forms[] = "memory:BOX"
#ifdef LBX__HAS_FILES
                                 ", memory:NAME/BOX or file:DIR/BOX";
#else
                                 " or memory:NAME/BOX";
#endif

const lbx__scheme *
lbx__scheme_of(const char *url, const char **ret_rest)
{
    const char *colon = strchr(url, ':');
    const size_t size = colon ? (size_t)(colon - url) : 0;

    for (size_t i = 0; size > 0 && i < SCHEMES_MAX && schemes[i]; i++) {
        if (strlen(schemes[i]->name) == size &&
            memcmp(schemes[i]->name, url, size) == 0) {
            *ret_rest = colon + 1;
            return schemes[i];
        }
    }
    return NULL;
}

void
lbx__scheme_names(char *text, size_t bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < SCHEMES_MAX && schemes[i] && used < bytes; i++) {
        const bool last = i + 1 == SCHEMES_MAX || !schemes[i + 1];

        used += (size_t)snprintf(text + used, bytes - used, "%s%s:",
                                 i == 0 ? ""
                                 : last ? " and "
                                        : ", ",
                                 schemes[i]->name);
    }
}

void
lbx__scheme_add(const lbx__scheme *scheme)
{
    for (size_t i = 0; i < SCHEMES_MAX; i++) {
        if (!schemes[i]) {
            schemes[i] = scheme;
            return;
        }
    }
}

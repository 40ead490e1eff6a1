/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that must fail and write the fault that they were given. */
#ifndef LBX_TEST_FAULT_EXPLAINED_H
#define LBX_TEST_FAULT_EXPLAINED_H

#include <string.h>

#include <letterbox/letterbox.h>

#include "support/test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A fault full of garbage, and what it is attached to. */
static lbx_fault fault;

static inline lbx_fault *
garbage(void)
{
    memset(&fault, 'G', sizeof(fault));
    return &fault;
}

/* The call failed, and the fault has its status and a sentence. */
static inline void
check_explained(lbx_status status, const char *what)
{
    if (status == LBX_OK)
        FAIL("%s: did not fail", what);
    if (fault.status != status)
        FAIL("%s: returned %s, the fault has %d", what, lbx_status_name(status),
             (int)fault.status);
    if (!memchr(fault.text, '\0', sizeof(fault.text)) || fault.text[0] == 'G' ||
        fault.text[0] == '\0')
        FAIL("%s: the fault was not written: \"%.40s\"", what, fault.text);
}

/* The call fails and is explained. */
#define EXPLAINED(call)                                                        \
    do {                                                                       \
        (void)garbage();                                                       \
        check_explained(call, #call);                                          \
    } while (0)

/* Each of `rows` becomes `good`, to be spoilt in one member. */
#define FILL(rows, good)                                                       \
    do {                                                                       \
        for (size_t row = 0; row < COUNT(rows); row++)                         \
            (rows)[row] = (good);                                              \
    } while (0)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A nest: a mailbox and the memory it lives in, for tests in which allocation k
 * fails, for k = 1, 2, ... until none is left to fail.
 */
#ifndef LBX_TEST_FAULT_NEST_H
#define LBX_TEST_FAULT_NEST_H

#include "mailbox/fixture.h"
#include "support/torture.h"

enum {
    MANY = 5000 // crosses segments, rings of blocks and heap doublings
};

struct nest {
    lbx_allocator allocator;
    struct torture *memory;
    struct box box;
};

/* Makes the mailbox, or returns false when that failed as it should. */
bool nest_make(struct nest *nest, struct torture *memory, const char *kind,
               lbx_mailbox_options options);

/* Messages 1 to `count` come out, then nothing; destroys the mailbox. */
void nest_end(struct nest *nest, int count);

/* From here on there is enough memory, or none. */
void nest_relent(struct torture *memory);
void nest_starve(struct torture *memory);

/* As torture_every_allocation(); the body's context is the kind. */
long nest_torture_kind(torture_body *body, const char *kind);

/* A promise for KIND_TEST: the body, which takes the kind, survives every
 * allocation's failure, and there are some. */
#define NEST_PROMISE(promise, body)                                            \
    static void promise(const char *kind)                                      \
    {                                                                          \
        CHECK(nest_torture_kind(body, kind) > 0);                              \
    }

#endif

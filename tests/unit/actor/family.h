/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family for the tests of supervision: "p" with the children "a" and "b".
 *
 *     struct family family;
 *
 *     family_init(&family, LBX_DIRECTIVE_RESUME); // p's strategy; change the parts
 *     family_begin(&family);
 *     lbx_tell(family.a.self, letter(FAILS));
 *     CHECK_DIARY(&family.world, "a:1000");
 *     family_end(&family);
 */
#ifndef LBX_TEST_ACTOR_FAMILY_H
#define LBX_TEST_ACTOR_FAMILY_H

#include "actor/fixture.h"

struct family {
    struct world world;
    struct part p;
    struct part a;
    struct part b;
};

void family_init(struct family *family, lbx_directive directive);

/* Spawns them: they have started. */
void family_begin(struct family *family);
void family_end(struct family *family);

/* Three generations: "g", its child "p", and p's child "c". */
struct line {
    struct world world;
    struct part g;
    struct part p;
    struct part c;
};

void line_init(struct line *line);
void line_begin(struct line *line);
void line_end(struct line *line);

/* For a part's `receive`: LBX_BUSY for its first letter. */
lbx_status busy_once(lbx_context *context, struct part *part, void *message);

/* For a part's `decide`: LBX_DIRECTIVE_RETRY after 100 ns for LBX_BUSY, else
 * LBX_DIRECTIVE_RESTART. */
lbx_directive retry_busy(lbx_context *context, struct part *part,
                         lbx_child_failure *failure);

#endif

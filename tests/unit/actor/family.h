/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family for the tests of supervision: "p" with the children "a" and "b".
 *
 *     FAMILY_TEST("", a_fails, LBX_DIRECTIVE_RESUME) // p's strategy
 *     {
 *         family_begin(family); // after changes to the parts
 *         lbx_tell(family->a.self, letter(FAILS));
 *         CHECK_DIARY(&family->world, "a:1000");
 *     }
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

/* The same, and then "a" is told to fail. */
void family_begin_failing(struct family *family);
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

/* Tests in a family with p's strategy, or in a line. */
#define FAMILY_TEST(behaviour, name, directive)                                \
    FIXTURE_TEST(family, behaviour, name, family_init(family, directive),      \
                 family_end(family))
#define LINE_TEST(behaviour, name)                                             \
    FIXTURE_TEST(line, behaviour, name, line_init(line), line_end(line))

/* For a part's `receive`: LBX_BUSY for its first letter. */
lbx_status busy_once(lbx_context *context, struct part *part, void *message);

/* For a part's `decide`: LBX_DIRECTIVE_RETRY after 100 ns for LBX_BUSY, else
 * LBX_DIRECTIVE_RESTART. */
lbx_directive retry_busy(lbx_context *context, struct part *part,
                         lbx_child_failure *failure);

#endif

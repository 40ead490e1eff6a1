/* SPDX-License-Identifier: Apache-2.0 */
/* A family for the tests of supervision. */
#include "actor/family.h"

void
family_init(struct family *family, lbx_directive directive)
{
    world_begin(&family->world);
    part_init(&family->p, &family->world, "p");
    part_init(&family->a, &family->world, "a");
    part_init(&family->b, &family->world, "b");
    family->p.children[0] = &family->a;
    family->p.children[1] = &family->b;
    family->p.strategy.directive = directive;
}

void
family_begin(struct family *family)
{
    part_spawn(&family->p);
    CHECK_DIARY(&family->world, "p+ a+ b+");
}

void
family_begin_failing(struct family *family)
{
    family_begin(family);
    lbx_tell(family->a.self, letter(FAILS));
}

void
family_end(struct family *family)
{
    world_end(&family->world);
}

void
line_init(struct line *line)
{
    world_begin(&line->world);
    part_init(&line->g, &line->world, "g");
    part_init(&line->p, &line->world, "p");
    part_init(&line->c, &line->world, "c");
    line->g.children[0] = &line->p;
    line->p.children[0] = &line->c;
}

void
line_begin(struct line *line)
{
    part_spawn(&line->g);
    CHECK_DIARY(&line->world, "g+ p+ c+");
}

void
line_end(struct line *line)
{
    world_end(&line->world);
}

lbx_status
busy_once(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    return atomic_load(&part->received) == 1 ? LBX_BUSY : LBX_OK;
}

lbx_directive
retry_busy(lbx_context *context, struct part *part, lbx_child_failure *failure)
{
    (void)context;
    (void)part;
    failure->retry_ns = 100;
    return failure->status == LBX_BUSY ? LBX_DIRECTIVE_RETRY
                                       : LBX_DIRECTIVE_RESTART;
}

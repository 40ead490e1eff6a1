/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See nest.h.
 */
#include "fault/nest.h"

#include <string.h>

bool
nest_make(struct nest *nest, struct torture *memory, const char *kind,
          lbx_mailbox_options options)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx_status status;

    *nest = (struct nest){torture_allocator(memory), memory, {0}};
    nest->box.in = letter(1);
    nest->box.out = letter(2);
    options.allocator = &nest->allocator;
    options.fault = &fault;
    status = lbx_mailbox_create(kind, &options, &nest->box.in, &nest->box.out);
    if (status == LBX_OK) {
        nest->box.mailbox = lbx_producer_mailbox(nest->box.in);
        return true;
    }
    CHECK_STATUS(LBX_NO_MEMORY, status);
    CHECK_STATUS(LBX_NO_MEMORY, fault.status);
    CHECK_PTR(letter(1), nest->box.in); // outputs are written on success only
    CHECK_PTR(letter(2), nest->box.out);
    CHECK_INT(0, memory->live_blocks);
    return false;
}

void
nest_relent(struct torture *memory)
{
    memory->allowed = LONG_MAX;
}

void
nest_starve(struct torture *memory)
{
    memory->allowed = 0;
    memory->once = false;
}

long
nest_torture_kind(torture_body *body, const char *kind)
{
    char name[64];

    CHECK(strlen(kind) < sizeof(name));
    memcpy(name, kind, strlen(kind) + 1);
    return torture_every_allocation(body, name);
}

void
nest_end(struct nest *nest, int count)
{
    for (int number = 1; number <= count; number++)
        CHECK_INT(number, box_next(&nest->box));
    CHECK_NOTHING(&nest->box);
    box_end(&nest->box);
}

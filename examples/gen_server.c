/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gen_server: a counter with casts, which return at once, and calls, which
 * wait for the reply. It fails below zero, and its supervisor restarts it.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call) ((call) == LBX_OK ? (void)0 : (puts(#call), exit(1)))

static lbx_status
init(lbx_context *self, void *count, void *argument)
{
    (void)self;
    *(intptr_t *)count = (intptr_t)argument;
    return LBX_OK;
}

static lbx_status
handle(lbx_context *self, void *count, void *amount)
{
    *(intptr_t *)count += (intptr_t)amount;
    if (lbx_ref_is_alive(lbx_context_sender(self))) // a call
        lbx_context_reply(self, (void *)*(intptr_t *)count);
    return *(intptr_t *)count < 0 ? LBX_INVALID : LBX_OK; // let it crash
}

static void
terminate(lbx_context *self, void *count)
{
    (void)self;
    printf("terminate at %d\n", (int)*(intptr_t *)count);
}

static const lbx_behaviour counter = {sizeof(counter),  "counter",
                                      sizeof(intptr_t), init,
                                      handle,           .stop = terminate};

static void
counter_add(lbx_ref server, intptr_t amount)
{
    lbx_tell(server, (void *)amount);
}

static int
counter_read(lbx_system *node, lbx_ref server)
{
    lbx_envelope question = lbx_envelope_of((void *)0, 0), answer;

    MUST(lbx_ask_until(node, server, &question, &answer, LBX_FOREVER));
    return (int)(intptr_t)answer.message;
}

int
main(void)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_system *node;
    lbx_ref server;

    MUST(lbx_system_create(NULL, &node));
    props.behaviour = &counter;
    props.argument = (void *)(intptr_t)40;
    MUST(lbx_system_spawn(node, &props, "counter", &server));
    counter_add(server, 2);
    printf("count %d\n", counter_read(node, server));
    counter_add(server, -100);
    printf("count %d\n", counter_read(node, server));
    MUST(lbx_system_terminate(node, LBX_FOREVER));
    lbx_system_destroy(node);
    return 0;
}

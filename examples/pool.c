/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A balancing pool: five workers, one mailbox, whoever is free takes the next.
 *
 * The jobs are numbers to be squared; the answers go to an actor that adds them
 * up and then ends the program.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    JOBS = 1000
};

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "pool: %s\n", lbx_status_text(status));
        exit(1);
    }
}

/* A job is a number in a pointer's clothes: nothing to allocate. */
static lbx_status
square(lbx_context *context, void *state, void *message)
{
    uintptr_t number = (uintptr_t)message;

    (void)state;
    lbx_context_reply(context, (void *)(number * number));
    return LBX_OK;
}

static const lbx_behaviour worker = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "worker",
    .receive = square,
};

struct sum {
    uint64_t total;
    int answers;
};

static lbx_status
hand_out(lbx_context *context, void *state, void *argument)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref workers;
    lbx_status status;

    (void)state;
    (void)argument;
    pool.routing = LBX_POOL_ROUTING_BALANCING;
    pool.routees = 5;
    props.behaviour = &worker;
    pool.props = &props;
    status = lbx_context_spawn_pool(context, &pool, "workers", &workers);
    if (status != LBX_OK)
        return status;
    for (uintptr_t i = 1; i <= JOBS; i++)
        lbx_tell(workers, (void *)i);
    return LBX_OK;
}

static lbx_status
add(lbx_context *context, void *state, void *message)
{
    struct sum *sum = state;

    sum->total += (uintptr_t)message;
    if (++sum->answers == JOBS) {
        printf("the squares of 1 to %d add up to %llu\n", JOBS,
               (unsigned long long)sum->total);
        lbx_context_stop(context);
    }
    return LBX_OK;
}

static const lbx_behaviour adder = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "adder",
    .state_bytes = sizeof(struct sum),
    .start = hand_out,
    .receive = add,
};

int
main(void)
{
    lbx_props props = LBX_PROPS_INIT;

    lbx_system *system;
    lbx_ref sum;

    must(lbx_system_create(NULL, &system));
    props.behaviour = &adder;
    must(lbx_system_spawn(system, &props, "sum", &sum));
    must(lbx_ref_ended_until(system, sum, LBX_FOREVER));

    lbx_system_destroy(system);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Select: the next message of either of two mailboxes.
 *
 * A select is an operation over operations. It is done when the first of them
 * is, and gives up the others in the same step, so that exactly one message
 * is taken. Where looking starts decides who wins when both are ready: always
 * 0 prefers the first mailbox, the last winner plus one takes turns.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ORDERS,
    ALARMS,
    BOXES
};

struct world {
    lbx_producer *in[BOXES];
    lbx_consumer *out[BOXES];
};

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "select: %s\n", lbx_status_text(status));
        exit(1);
    }
}

/* Waits for one message of any mailbox, looking first at number `first`. */
static lbx_status
receive_any(struct world *world, size_t first, int64_t deadline_ns,
            size_t *ret_index, void **ret_message)
{
    lbx_operation receives[BOXES], select;
    lbx_operation *each[BOXES];
    void *messages[BOXES];
    lbx_status status;

    for (int i = 0; i < BOXES; i++) {
        each[i] = &receives[i];
        must(lbx_consumer_receive_init(each[i], world->out[i], &messages[i],
                                       LBX_FOREVER));
    }
    must(lbx_select_init(&select, each, BOXES, first, deadline_ns, ret_index));
    status = lbx_operation_wait(&select);
    if (status == LBX_OK)
        *ret_message = messages[*ret_index];
    lbx_operation_fini(&select);
    for (int i = 0; i < BOXES; i++)
        lbx_operation_fini(each[i]);
    return status;
}

static void
fill(struct world *world)
{
    must(lbx_producer_send(world->in[ORDERS], "order 1"));
    must(lbx_producer_send(world->in[ORDERS], "order 2"));
    must(lbx_producer_send(world->in[ORDERS], "order 3"));
    must(lbx_producer_send(world->in[ALARMS], "alarm 1"));
    must(lbx_producer_send(world->in[ALARMS], "alarm 2"));
}

/* Receives until nothing has come for a while. */
static void
print_all(struct world *world, bool in_turn)
{
    size_t first = ALARMS, winner;
    void *message;

    while (receive_any(world, first, lbx_deadline_after(NULL, 5 * LBX_MS),
                       &winner, &message) == LBX_OK) {
        printf("  %s\n", (const char *)message);
        if (in_turn)
            first = (winner + 1) % BOXES;
    }
}

int
main(void)
{
    struct world world;

    for (int i = 0; i < BOXES; i++)
        must(lbx_mailbox_create(NULL, NULL, &world.in[i], &world.out[i]));

    printf("alarms first\n");
    fill(&world);
    print_all(&world, false);

    printf("in turn\n");
    fill(&world);
    print_all(&world, true);

    for (int i = 0; i < BOXES; i++) {
        lbx_producer_unref(world.in[i]);
        lbx_consumer_unref(world.out[i]);
    }
    return 0;
}

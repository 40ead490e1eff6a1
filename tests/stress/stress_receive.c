/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that receives in every way there is, and checks the order (MSG-3,
 * MSG-4); stress.h. */
#include "stress/stress.h"

#include <inttypes.h>

#include "support/test.h"

// One thread's messages of one rank arrive in order.
static void
note_receive(struct stress_worker *worker, void *message)
{
    struct stress *stress = worker->stress;
    size_t number = ledger_end(&stress->ledger, message);

    if (number == SIZE_MAX)
        FAIL("received %p, which was not sent; seed %" PRIu64, message,
             stress->seed);

    unsigned rank = stress->ledger.ranks[number];
    unsigned sender = (unsigned)(number / stress->sends);
    uint64_t *last = &worker->last[sender][rank];

    worker->counts->received++;
    if (rank == STRESS_RANK_FRONT)
        return;
    // In a plain mailbox batches are ordered with everything else.
    if (stress->how->box.ranks == BOX_PLAIN)
        last = &worker->last[sender][0];
    if (*last > number)
        FAIL("%s: number %zu of thread %u (rank %u) after %" PRIu64
             "; seed %" PRIu64,
             stress->how->box.name, number, sender, rank, *last - 1,
             stress->seed);
    *last = number + 1;
}

static bool
receive_operation(struct stress_worker *worker)
{
    lbx_operation operation;
    lbx_status status = LBX_PENDING;
    void *message;

    CHECK_OK(lbx_consumer_receive_init(
        &operation, worker->stress->box.consumer, &message,
        storm_deadline_us(storm_random_below(&worker->random, 30))));
    for (unsigned i = 0; i < 4 && status == LBX_PENDING; i++)
        status = lbx_operation_poll(&operation, NULL);
    if (status == LBX_PENDING)
        status = lbx_operation_cancel(&operation);
    lbx_operation_fini(&operation);
    CHECK(status == LBX_OK || status == LBX_TIMEOUT || status == LBX_CANCELLED);
    if (status == LBX_OK)
        note_receive(worker, message);
    return status == LBX_OK;
}

bool
stress_receive_some(struct stress_worker *worker)
{
    lbx_consumer *consumer = worker->stress->box.consumer;
    void *messages[STRESS_BATCH];
    lbx_envelope envelope;
    size_t count = 0;
    lbx_status status;

    worker->counts->calls++;
    switch (storm_random_below(&worker->random, 6)) {
    case 0:
        status = lbx_consumer_try_receive_batch(
            consumer, messages,
            1 + storm_random_below(&worker->random, STRESS_BATCH), &count);
        break;
    case 1:
        status = lbx_consumer_receive_until(
            consumer, &messages[0],
            storm_deadline_us(storm_random_below(&worker->random, 30)));
        count = status == LBX_OK;
        break;
    case 2:
        return receive_operation(worker);
    case 3:
        status = lbx_consumer_try_receive_envelope(consumer, &envelope);
        count = status == LBX_OK;
        if (count > 0)
            messages[0] = envelope.message;
        break;
    default:
        status = lbx_consumer_try_receive(consumer, &messages[0]);
        count = status == LBX_OK;
        break;
    }
    CHECK(status == LBX_OK || status == LBX_EMPTY || status == LBX_TIMEOUT);
    for (size_t i = 0; i < count; i++)
        note_receive(worker, messages[i]);
    return count > 0;
}

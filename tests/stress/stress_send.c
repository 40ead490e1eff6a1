/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that sends in every way there is, and what became of each message;
 * stress.h. */
#include "stress/stress.h"

#include "support/test.h"

// What became of the message with the next number.
static void
note_send(struct stress_worker *worker, lbx_status status)
{
    struct ledger *ledger = &worker->stress->ledger;

    switch (status) {
    case LBX_OK:
        ledger->fates[worker->next++] = STORM_IN;
        worker->counts->sent++;
        break;
    case LBX_FULL:
        worker->counts->full++;
        break;
    case LBX_TIMEOUT:
    case LBX_CANCELLED:
        worker->counts->timeouts++;
        break;
    default:
        FAIL("send: %s", lbx_status_name(status));
    }
}

static void
send_batch(struct stress_worker *worker)
{
    struct stress *stress = worker->stress;
    void *messages[STRESS_BATCH];
    size_t count = 1 + storm_random_below(&worker->random, STRESS_BATCH);
    size_t sent;
    lbx_status status;

    if (count > worker->limit - worker->next)
        count = (size_t)(worker->limit - worker->next);
    for (size_t i = 0; i < count; i++) {
        messages[i] = storm_message(worker->next + i);
        stress->ledger.ranks[worker->next + i] = STRESS_RANK_FRONT - 1;
    }
    status = lbx_producer_try_send_batch(stress->box.producer, messages, count,
                                         &sent);
    CHECK((status == LBX_OK) == (sent == count));
    for (size_t i = 0; i < sent; i++)
        note_send(worker, LBX_OK);
    if (status != LBX_OK)
        note_send(worker, status);
}

static lbx_status
send_operation(struct stress_worker *worker, const lbx_envelope *envelope,
               lbx_send_result *result)
{
    lbx_operation operation;
    lbx_status status = LBX_PENDING;

    CHECK_OK(lbx_producer_send_envelope_init(
        &operation, worker->stress->box.producer, envelope,
        storm_deadline_us(storm_random_below(&worker->random, 30)), result));
    for (unsigned i = 0; i < 4 && status == LBX_PENDING; i++)
        status = lbx_operation_poll(&operation, NULL);
    if (status == LBX_PENDING)
        status = lbx_operation_cancel(&operation);
    lbx_operation_fini(&operation);
    return status;
}

void
stress_send_some(struct stress_worker *worker)
{
    struct stress *stress = worker->stress;
    lbx_producer *producer = stress->box.producer;
    const struct stress_case *how = stress->how;
    void *message = storm_message(worker->next);
    lbx_envelope envelope = box_envelope(&stress->box, message);
    unsigned rank = box_rank(how->box.ranks, worker->next);
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    lbx_status status;
    int64_t soon = storm_deadline_us(storm_random_below(&worker->random, 30));
    bool plain = how->box.ranks == BOX_PLAIN;

    worker->counts->calls++;
    if (how->envelopes && storm_once_in(&worker->random, 16))
        envelope.deadline_ns =
            storm_deadline_us(storm_random_below(&worker->random, 20));
    stress->ledger.ranks[worker->next] = (uint8_t)rank;
    switch (storm_random_below(&worker->random, how->deque ? 8 : 7)) {
    case 0:
        status = plain ? lbx_producer_try_send(producer, message)
                       : lbx_producer_try_send_envelope(producer, &envelope,
                                                        &result);
        break;
    case 1:
        status = lbx_producer_send_envelope_until(producer, &envelope, soon,
                                                  &result);
        break;
    case 2:
        if (plain) {
            send_batch(worker);
            return;
        }
        // fall through
    case 3:
        status = send_operation(worker, &envelope, &result);
        break;
    case 4:
        status = plain ? lbx_producer_send_until(producer, message, soon)
                       : lbx_producer_send_envelope_until(producer, &envelope,
                                                          0, &result);
        break;
    case 7:
        stress->ledger.ranks[worker->next] = STRESS_RANK_FRONT;
        status = lbx_producer_try_send_front(producer, message);
        break;
    default:
        status = lbx_producer_try_send_envelope(producer, &envelope, &result);
        break;
    }
    worker->counts->swallowed +=
        status == LBX_OK && result.outcome == LBX_OUTCOME_DROPPED_NEWEST;
    note_send(worker, status);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: each runs the main loop: receive letters, handle each, repeat.
 *
 * When a receive fails because the store cannot be reached, the worker pauses
 * and tries again. The pause doubles up to ten seconds, and is short again
 * after the first receive that succeeds. A stop ends a pause and a long poll at
 * once.
 */
#include "courier/courier.h"

#include "base/op.h"
#include "courier/policy.h"

#include <string.h>

void
lbx__courier_worker_wake(lbx__courier_worker *worker)
{
    // Release: a thread that reads the word sees what was set before (COUR-3).
    (void)lbx__add(&worker->word, 1u, release);
    lbx__futex_wake(&worker->word, 1);
}

static void
courier_worker_waker(void *context)
{
    lbx__courier_worker_wake(context);
}

static uint32_t
courier_worker_read_word(const lbx__courier_worker *worker)
{
    // Acquire: the checks that follow see what was set before the word
    // (COUR-3).
    return lbx__load(&worker->word, acquire);
}

/* Parks until the operation may be polled again, or its deadline. */
static void
courier_worker_park(lbx__courier_worker *worker, uint32_t seen,
                    lbx_operation *operation)
{
    const lbx_clock *clock = lbx__op_of(operation)->clock;
    const int64_t deadline_ns = lbx_operation_deadline(operation);
    int64_t left = -1;

    if (deadline_ns != LBX_FOREVER) {
        left = deadline_ns - lbx_clock_now(clock);
        if (left <= 0)
            return;
    }
    lbx__futex_wait(&worker->word, seen, left);
}

/* Polls a receive to its end, or cancels it when the courier is stopped. */
static lbx_status
courier_worker_finish_receive(lbx__courier_worker *worker,
                              lbx_operation *operation)
{
    const lbx_waker waker = {courier_worker_waker, worker};

    for (;;) {
        const uint32_t seen = courier_worker_read_word(worker);
        lbx_status status = lbx_operation_poll(operation, &waker);

        if (status != LBX_PENDING)
            return status;
        if (lbx__courier_is_stopping(worker->courier))
            return lbx_operation_cancel(operation);
        courier_worker_park(worker, seen, operation);
    }
}

static lbx_status
courier_worker_receive(lbx__courier_worker *worker)
{
    const lbx_courier_options *options = &worker->courier->options;
    lbx_receive_options receive = LBX_RECEIVE_OPTIONS_INIT;
    lbx_operation operation;
    lbx_status status;

    receive.max_letters = options->max_letters;
    receive.lease_ns = options->lease_ns;
    receive.wait_ns = options->wait_ns;
    worker->next = 0;
    worker->count = 0;
    memset(worker->lost, 0, sizeof(worker->lost));
    status = lbx_postbox_receive_init(&operation, options->postbox, &receive,
                                      worker->letters, &worker->count);
    if (status != LBX_OK)
        return status;
    status = courier_worker_finish_receive(worker, &operation);
    lbx_operation_fini(&operation);
    if (status != LBX_OK)
        worker->count = 0;
    return status;
}

/* When the leases of the received letters end. */
static int64_t
courier_worker_leased_until(const lbx__courier_worker *worker)
{
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;

    if (lbx_letter_info_read(worker->letters[0], &facts) != LBX_OK)
        return LBX_FOREVER;
    return lbx_deadline_after(worker->courier->options.clock, facts.lease_ns);
}

/* Returns the letters that were not begun; they can be received at once. */
static void
courier_worker_give_back(lbx__courier_worker *worker)
{
    lbx_courier *courier = worker->courier;
    lbx_settle_item settles[LBX_MAX_BATCH];
    const size_t count = worker->count - worker->next;
    lbx_status status;

    for (size_t i = 0; i < count; i++)
        settles[i] =
            (lbx_settle_item){.action = LBX_SETTLE_NACK,
                              .letter = worker->letters[worker->next + i]};
    if (count == 0)
        return;
    status = lbx_postbox_settle_batch(courier->options.postbox, settles, count);
    if (status != LBX_OK)
        lbx__courier_log(courier, "giving letters back failed: %s",
                         lbx_status_text(status));
    for (size_t i = 0; i < count; i++) {
        if (settles[i].status == LBX_OK)
            lbx__courier_count(courier, LBX__TALLY_GIVEN_BACK, 1);
        else if (lbx__lease_is_lost(settles[i].status))
            lbx__courier_count(courier, LBX__TALLY_LOST_LEASES, 1);
        else
            lbx__courier_count(courier, LBX__TALLY_UNSETTLED, 1);
        lbx_letter_destroy(settles[i].letter);
    }
    worker->next = worker->count;
}

/* Destroys a letter whose lease ended before it was begun. */
static void
courier_worker_drop_lost(lbx__courier_worker *worker, lbx_letter *letter)
{
    lbx__courier_log(worker->courier,
                     "%s: the lease was lost before it was begun",
                     lbx_letter_id(letter));
    lbx__courier_count(worker->courier, LBX__TALLY_LOST_LEASES, 1);
    lbx_letter_destroy(letter);
}

static void
courier_worker_handle_all(lbx__courier_worker *worker)
{
    lbx__courier_count(worker->courier, LBX__TALLY_RECEIVED, worker->count);
    worker->leased_ns = courier_worker_leased_until(worker);
    while (worker->next < worker->count) {
        const size_t index = worker->next;

        if (lbx__courier_is_stopping(worker->courier)) {
            courier_worker_give_back(worker);
            return;
        }
        worker->next++;
        // The first was just received, even if its lease is 0.
        if (index > 0 && !lbx__lease_holds(worker, index))
            courier_worker_drop_lost(worker, worker->letters[index]);
        else
            lbx__job_run(worker, worker->letters[index]);
        lbx__lease_mark_alive(worker);
    }
}

static void
courier_worker_pause(lbx__courier_worker *worker, lbx_status why,
                     int64_t *pause_ns)
{
    const uint32_t seen = courier_worker_read_word(worker);

    *pause_ns = lbx__policy_pause(*pause_ns);
    lbx__courier_log(
        worker->courier, "receiving from %s failed: %s%s; next try in %d ms",
        lbx_postbox_name(worker->courier->options.postbox),
        lbx_status_text(why),
        why == LBX_CORRUPT ? "; lbx_file_store_check() lists the letters" : "",
        (int)(*pause_ns / LBX_MS));
    if (!lbx__courier_is_stopping(worker->courier))
        lbx__futex_wait(&worker->word, seen, *pause_ns);
}

/* Whether trying again cannot help. */
static bool
courier_worker_is_final(lbx_status status)
{
    return status == LBX_CLOSED || status == LBX_UNSUPPORTED ||
           status == LBX_INVALID;
}

lbx_status
lbx__courier_worker_run(lbx__courier_worker *worker, int64_t max_receives)
{
    lbx_status status = LBX_OK;
    int64_t pause_ns = 0; // the last one

    for (int64_t i = 0; max_receives < 0 || i < max_receives; i++) {
        if (lbx__courier_is_stopping(worker->courier))
            break;
        lbx__lease_mark_alive(worker);
        status = courier_worker_receive(worker);
        lbx__lease_mark_alive(worker);
        if (status == LBX_OK)
            courier_worker_handle_all(worker);
        if (status == LBX_OK || status == LBX_EMPTY)
            pause_ns = 0;
        else if (courier_worker_is_final(status) || status == LBX_CANCELLED)
            break;
        else
            courier_worker_pause(worker, status, &pause_ns);
    }
    // Relaxed: a time only. The watchdog ignores workers that have left.
    lbx__store(&worker->alive_ns, 0, relaxed);
    if (courier_worker_is_final(status) && status != LBX_CLOSED)
        lbx__courier_log(worker->courier, "cannot receive from %s: %s",
                         lbx_postbox_name(worker->courier->options.postbox),
                         lbx_status_text(status));
    return courier_worker_is_final(status) ? status : LBX_OK;
}

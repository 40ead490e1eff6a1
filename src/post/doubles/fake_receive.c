/* SPDX-License-Identifier: Apache-2.0 */
/* The fake postbox: receiving. FAKE-1 to FAKE-3 are in fake.h. */
#include "post/doubles/fake.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/time.h"

#include <inttypes.h>
#include <stdio.h>

/* The letter that is delivered next; NULL. Under the lock. */
static lbx__fake_letter *
fake_first_due(const lbx__fake *fake, int64_t now)
{
    lbx__fake_letter *first = NULL;

    for (lbx__link *link = fake->letters.next; link != &fake->letters;
         link = link->next) {
        lbx__fake_letter *each = lbx__member(link, lbx__fake_letter, link);

        if (each->due_ns <= now &&
            (!first || each->due_ns < first->due_ns ||
             (each->due_ns == first->due_ns && each->ticket < first->ticket)))
            first = each;
    }
    return first;
}

static uint32_t
fake_count_due(const lbx__fake *fake, int64_t now)
{
    uint32_t count = 0;

    for (lbx__link *link = fake->letters.next; link != &fake->letters;
         link = link->next)
        count += lbx__member(link, lbx__fake_letter, link)->due_ns <= now;
    return count;
}

static void
fake_lease(lbx__fake *fake, lbx__fake_letter *letter, int64_t until_ns)
{
    letter->old_due_ns = letter->due_ns;
    letter->old_ticket = letter->ticket;
    letter->due_ns = until_ns;
    letter->ticket = ++fake->tickets;
    letter->receipt = ++fake->receipts;
    letter->deliveries++;
    letter->uses++;
    if (letter->first_received_ms == 0)
        letter->first_received_ms = lbx__clock_wall_ms();
}

/* A letter that was leased for a call and not delivered yet. */
struct fake_claim {
    lbx__fake_letter *letter;
    uint64_t receipt;
    uint32_t deliveries;
};

/* Leases as many letters as the call wants, or all; returns how many. Under the
 * lock. */
static size_t
fake_claim_letters(lbx__fake *fake, const lbx_receive_request *request,
                   struct fake_claim *taken)
{
    const int64_t now = lbx__fake_now(fake);
    lbx__fake_letter *letter;
    size_t count = 0;

    while (count < request->max_letters) {
        letter = fake_first_due(fake, now);
        // A lease of 0 ends at once: the same letter must not come twice.
        for (size_t i = 0; letter && i < count; i++) {
            if (taken[i].letter == letter)
                letter = NULL;
        }
        if (!letter)
            break;
        fake_lease(fake, letter, lbx__time_add(now, request->lease_ns));
        taken[count++] =
            (struct fake_claim){letter, letter->receipt, letter->deliveries};
    }
    return count;
}

/* Ends a delivery, which was made or failed. Under the lock. */
static void
fake_claim_end(lbx__fake *fake, const struct fake_claim *taken, bool delivered)
{
    lbx__fake_letter *letter = taken->letter;

    if (!delivered && letter->receipt == taken->receipt) {
        letter->due_ns = letter->old_due_ns;
        letter->ticket = letter->old_ticket;
        letter->receipt = 0;
        letter->deliveries--;
    }
    if (--letter->uses == 0) { // removed during the delivery
        lbx__double_store_free_parcel(fake->base.allocator, letter->copy);
        lbx__free(fake->base.allocator, letter, sizeof(*letter));
    }
}

static lbx_status
fake_deliver_one(lbx_call *call, const struct fake_claim *taken)
{
    const lbx__fake_letter *letter = taken->letter;
    char receipt[64];
    const int size = snprintf(receipt, sizeof(receipt), "%" PRIu64 ".%" PRIu64,
                              letter->sequence, taken->receipt);
    const lbx_delivery delivery = {
        .parcel = letter->copy->parcel,
        .id = letter->id,
        .receipt = receipt,
        .receipt_bytes = (size_t)size,
        .sequence = letter->sequence,
        .delivery_count = taken->deliveries,
        .sent_ms = letter->sent_ms,
        .first_received_ms = letter->first_received_ms,
    };

    return lbx_call_deliver(call, &delivery);
}

/* Delivers what was claimed. OK when at least one was. Without the lock. */
static lbx_status
fake_deliver(lbx__fake *fake, lbx_call *call, const struct fake_claim *taken,
             size_t count)
{
    lbx_status status = LBX_OK;
    size_t delivered = 0;

    while (delivered < count && status == LBX_OK) {
        status = fake_deliver_one(call, &taken[delivered]);
        delivered += status == LBX_OK;
    }
    lbx__lock_take(&fake->lock);
    for (size_t i = 0; i < count; i++)
        fake_claim_end(fake, &taken[i], i < delivered);
    lbx__lock_give(&fake->lock);
    return delivered > 0 ? LBX_OK : status;
}

/* ---- FAKE-3: waiting calls, linked by words[0]; words[1] is set while waiting
 * ---- */

static void
fake_wait(lbx__fake *fake, lbx_call *call)
{
    call->words[0] = NULL;
    call->words[1] = fake;
    if (fake->waiting_last)
        fake->waiting_last->words[0] = call;
    else
        fake->waiting = call;
    fake->waiting_last = call;
}

static void
fake_unwait(lbx__fake *fake, lbx_call *call)
{
    lbx_call *before = NULL;

    for (lbx_call *each = fake->waiting; each != call; each = each->words[0])
        before = each;
    if (before)
        before->words[0] = call->words[0];
    else
        fake->waiting = call->words[0];
    if (fake->waiting_last == call)
        fake->waiting_last = before;
    call->words[1] = NULL;
}

lbx_status
lbx__fake_receive(lbx_store *store, lbx_call *call,
                  lbx_receive_request *request)
{
    lbx__fake *fake = (lbx__fake *)store;
    struct fake_claim taken[LBX_MAX_BATCH];
    lbx_status status;
    size_t count = 0;

    lbx__lock_take(&fake->lock);
    status = fake->error;
    if (status == LBX_OK &&
        (request->wait_ns == 0 ||
         (!fake->waiting &&
          fake_count_due(fake, lbx__fake_now(fake)) >= request->min_letters)))
        count = fake_claim_letters(fake, request, taken);
    if (status == LBX_OK && count == 0) {
        status = request->wait_ns == 0 ? LBX_EMPTY : LBX_PENDING;
        if (status == LBX_PENDING)
            fake_wait(fake, call);
    }
    lbx__lock_give(&fake->lock);
    return count > 0 ? fake_deliver(fake, call, taken, count) : status;
}

void
lbx__fake_receive_serve(lbx__fake *fake)
{
    struct fake_claim taken[LBX_MAX_BATCH];

    for (;;) {
        lbx_call *call;
        lbx_status status;
        size_t count = 0;

        lbx__lock_take(&fake->lock);
        call = fake->waiting;
        status = fake->error;
        if (call && status == LBX_OK) {
            const lbx_receive_request *request = call->request;

            if (fake_count_due(fake, lbx__fake_now(fake)) >=
                request->min_letters)
                count = fake_claim_letters(fake, request, taken);
        }
        if (call && (status != LBX_OK || count > 0))
            fake_unwait(fake, call);
        else
            call = NULL;
        lbx__lock_give(&fake->lock);
        if (!call)
            return;
        if (count > 0)
            status = fake_deliver(fake, call, taken, count);
        lbx_call_finish(call, status); // FAKE-2
    }
}

void
lbx__fake_receive_cancel(lbx_store *store, lbx_call *call)
{
    lbx__fake *fake = (lbx__fake *)store;
    struct fake_claim taken[LBX_MAX_BATCH];
    lbx_status status = LBX_CANCELLED;
    size_t count = 0;
    bool waits;

    lbx__lock_take(&fake->lock);
    waits = call->words[1] != NULL;
    if (waits) {
        fake_unwait(fake, call);
        count = fake_claim_letters(fake, call->request,
                                   taken); // fewer than min_letters
    }
    lbx__lock_give(&fake->lock);
    if (count > 0)
        status = fake_deliver(fake, call, taken, count);
    if (waits)
        lbx_call_finish(call, status);
}

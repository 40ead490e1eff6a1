/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake postbox: a box in memory that fails when a test sets an error.
 * FAKE-1 to FAKE-3 are in fake.h.
 */
#include "post/doubles/fake.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/park.h"
#include "base/time.h"
#include "post/store.h"

#include <string.h>

/* Set by lbx_fake_postbox_inject() during the send it makes in this thread. */
static LBX__LOCAL(const lbx__injection *, fake_injecting);

static bool
fake_id_taken(const lbx__fake *fake, const char *id)
{
    for (lbx__link *link = fake->letters.next; link != &fake->letters;
         link = link->next) {
        if (strcmp(lbx__member(link, lbx__fake_letter, link)->id.text, id) == 0)
            return true;
    }
    return false;
}

lbx_status
lbx__fake_put(lbx__fake *fake, const lbx_parcel *parcel,
              const lbx__injection *injection, lbx_sent_letter *sent)
{
    const lbx_allocator *allocator = fake->base.allocator;
    lbx__fake_letter *letter;

    if ((int64_t)fake->count >= fake->base.rules.capacity_letters)
        return LBX_FULL;
    if (injection && injection->id && fake_id_taken(fake, injection->id))
        return LBX_EXISTS;
    letter = lbx__zalloc(allocator, sizeof(*letter));
    if (!letter)
        return LBX_NO_MEMORY;
    letter->copy = lbx__double_store_copy_parcel(allocator, parcel);
    if (!letter->copy) {
        lbx__free(allocator, letter, sizeof(*letter));
        return LBX_NO_MEMORY;
    }
    letter->uses = 1;
    letter->sequence = ++fake->next;
    letter->id = lbx__double_store_id("fake", letter->sequence);
    if (injection) {
        letter->deliveries = injection->delivery_count;
        if (injection->id)
            memcpy(letter->id.text, injection->id, strlen(injection->id) + 1);
    }
    letter->sent_ns = lbx__fake_now(fake);
    letter->sent_ms = lbx__clock_wall_ms();
    letter->due_ns = lbx__time_add(letter->sent_ns, parcel->delay_ns);
    letter->ticket = ++fake->tickets;
    lbx__list_append(&fake->letters, &letter->link);
    fake->count++;
    *sent = (lbx_sent_letter){
        .status = LBX_OK, .id = letter->id, .sequence = letter->sequence};
    return LBX_OK;
}

void
lbx__fake_remove(lbx__fake *fake, lbx__fake_letter *letter)
{
    lbx__list_remove(&letter->link);
    fake->count--;
    letter->receipt = 0;
    if (--letter->uses > 0)
        return; // it is being delivered
    lbx__double_store_free_parcel(fake->base.allocator, letter->copy);
    lbx__free(fake->base.allocator, letter, sizeof(*letter));
}

static lbx_status
fake_send(lbx_store *store, lbx_call *call, lbx_send_request *request)
{
    lbx__fake *fake = (lbx__fake *)store;
    const lbx__injection *injection = lbx__local(fake_injecting);
    lbx_status first = LBX_OK;

    (void)call;
    lbx__lock_take(&fake->lock);
    for (size_t i = 0; i < request->count; i++) {
        lbx_sent_letter *sent = &request->sent[i];

        sent->status = injection ? LBX_OK : fake->error;
        if (sent->status == LBX_OK)
            sent->status =
                lbx__fake_put(fake, &request->parcels[i], injection, sent);
        if (first == LBX_OK)
            first = sent->status;
    }
    lbx__lock_give(&fake->lock);
    lbx__fake_receive_serve(fake);
    return first;
}

/* "sequence.receipt". */
static bool
fake_read_receipt(const char *text, size_t size, uint64_t numbers[2])
{
    size_t which = 0, digits = 0;

    numbers[0] = 0;
    numbers[1] = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '.' && which == 0 && digits > 0) {
            which = 1;
            digits = 0;
        } else if (text[i] >= '0' && text[i] <= '9' && digits < 19) {
            numbers[which] = numbers[which] * 10 + (uint64_t)(text[i] - '0');
            digits++;
        } else {
            return false;
        }
    }
    return which == 1 && digits > 0;
}

lbx_status
lbx__fake_find(lbx__fake *fake, const void *receipt, size_t bytes,
               lbx__fake_letter **ret)
{
    uint64_t numbers[2];

    if (!fake_read_receipt(receipt, bytes, numbers) ||
        numbers[0] > fake->next || numbers[0] <= fake->purged ||
        numbers[1] > fake->receipts || numbers[1] == 0)
        return LBX_INVALID;
    for (lbx__link *link = fake->letters.next; link != &fake->letters;
         link = link->next) {
        lbx__fake_letter *letter = lbx__member(link, lbx__fake_letter, link);

        if (letter->sequence != numbers[0])
            continue;
        if (letter->receipt != numbers[1] ||
            (fake->base.rules.strict && letter->due_ns <= lbx__fake_now(fake)))
            return LBX_EXPIRED;
        *ret = letter;
        return LBX_OK;
    }
    return LBX_GONE;
}

/* Sends the attachments and settles the letter, or neither. */
static lbx_status
fake_settle_one(lbx__fake *fake, lbx_settle_request_entry *entry)
{
    lbx__fake_letter *letter;
    lbx_status status =
        lbx__fake_find(fake, entry->receipt, entry->receipt_bytes, &letter);

    for (size_t i = 0; status == LBX_OK && i < entry->attachment_count; i++) {
        const lbx_attachment *attached = &entry->attachments[i];

        status = lbx__fake_put(fake, attached->parcel, NULL, attached->sent);
        if (status != LBX_OK && i > 0)
            lbx__fake_remove(
                fake, lbx__member(fake->letters.prev, lbx__fake_letter, link));
    }
    if (status != LBX_OK)
        return status;
    switch (entry->action) {
    case LBX_SETTLE_ACKNOWLEDGE:
        lbx__fake_remove(fake, letter);
        break;
    case LBX_SETTLE_NACK:
        letter->receipt = 0;
        letter->due_ns = lbx__time_add(lbx__fake_now(fake), entry->time_ns);
        letter->ticket = ++fake->tickets;
        break;
    case LBX_SETTLE_EXTEND:
        letter->due_ns = lbx__time_add(lbx__fake_now(fake), entry->time_ns);
        letter->ticket = ++fake->tickets;
        break;
    }
    return LBX_OK;
}

static lbx_status
fake_settle(lbx_store *store, lbx_call *call, lbx_settle_request *request)
{
    lbx__fake *fake = (lbx__fake *)store;
    lbx_status first = LBX_OK;

    (void)call;
    lbx__lock_take(&fake->lock);
    for (size_t i = 0; i < request->count; i++) {
        lbx_settle_request_entry *entry = &request->entries[i];

        entry->status = fake_settle_one(fake, entry);
        if (first == LBX_OK)
            first = entry->status;
    }
    lbx__lock_give(&fake->lock);
    lbx__fake_receive_serve(fake);
    return first;
}

static lbx_status
fake_undo(lbx_store *store, lbx_call *call, lbx_settle_request *request)
{
    lbx__fake *fake = (lbx__fake *)store;
    lbx__fake_letter *letter;

    (void)call;
    lbx__lock_take(&fake->lock);
    for (size_t i = 0; i < request->count; i++) {
        lbx_settle_request_entry *entry = &request->entries[i];

        entry->status =
            lbx__fake_find(fake, entry->receipt, entry->receipt_bytes, &letter);
        if (entry->status != LBX_OK)
            continue;
        letter->due_ns = letter->old_due_ns;
        letter->ticket = letter->old_ticket;
        letter->receipt = 0;
        letter->deliveries--;
    }
    lbx__lock_give(&fake->lock);
    lbx__fake_receive_serve(fake);
    return LBX_OK;
}

static lbx_status
fake_purge(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    lbx__fake *fake = (lbx__fake *)store;
    lbx_status status;

    (void)call;
    lbx__lock_take(&fake->lock);
    status = fake->error;
    if (status == LBX_OK) {
        request->ret_purged = fake->count;
        fake->purged = fake->next;
        while (!lbx__list_empty(&fake->letters))
            lbx__fake_remove(
                fake, lbx__member(fake->letters.next, lbx__fake_letter, link));
    }
    lbx__lock_give(&fake->lock);
    return status;
}

static lbx_status
fake_count(lbx__double_store *base, lbx_box_counts *ret)
{
    lbx__fake *fake = (lbx__fake *)base;
    const int64_t now = lbx__fake_now(fake);
    lbx_box_counts counts = {.oldest_ns = -1};
    lbx_status status;

    lbx__lock_take(&fake->lock);
    status = fake->error;
    for (lbx__link *link = fake->letters.next; link != &fake->letters;
         link = link->next) {
        const lbx__fake_letter *letter =
            lbx__member(link, lbx__fake_letter, link);

        counts.ready += letter->due_ns <= now;
        counts.leased += letter->due_ns > now && letter->receipt > 0;
        counts.delayed += letter->due_ns > now && letter->receipt == 0;
        counts.bytes += letter->copy->parcel.body_bytes;
        if (now - letter->sent_ns > counts.oldest_ns)
            counts.oldest_ns = now - letter->sent_ns;
    }
    lbx__lock_give(&fake->lock);
    if (status == LBX_OK)
        *ret = counts;
    return status;
}

static void
fake_tick(lbx_store *store)
{
    lbx__fake_receive_serve((lbx__fake *)store);
}

static void
fake_close(lbx_store *store)
{
    lbx__fake *fake = (lbx__fake *)store;

    while (!lbx__list_empty(&fake->letters))
        lbx__fake_remove(
            fake, lbx__member(fake->letters.next, lbx__fake_letter, link));
    lbx__double_store_free(store);
}

const lbx_store_ops lbx__fake_ops = {
    .size_bytes = sizeof(lbx_store_ops),
    .scheme = "fake",
    .durability = lbx__double_store_durability,
    .create = lbx__double_store_create,
    .configure = lbx__double_store_unsupported,
    .remove = lbx__double_store_unsupported,
    .describe = lbx__double_store_describe,
    .list = lbx__double_store_list,
    .send = fake_send,
    .receive = lbx__fake_receive,
    .settle = fake_settle,
    .undo = fake_undo,
    .purge = fake_purge,
    .cancel = lbx__fake_receive_cancel,
    .tick = fake_tick,
    .close = fake_close,
};

static lbx_status
fake_init(lbx__double_store *self, const lbx_postbox_options *options)
{
    lbx__fake *fake = (lbx__fake *)self;
    lbx_status status = LBX_OK;

    lbx__list_init(&fake->letters);
    self->count = fake_count;
    if (options->box) {
        status = lbx_box_options_check(options->box, options->fault);
        if (status == LBX_OK &&
            (options->box->fifo || options->box->dead_letters ||
             options->box->dead_letter_box_count > 0))
            status = lbx__fault_set(options->fault, LBX_INVALID,
                                    "a fake has no fifo, dead_letters and "
                                    "dead_letter_boxes");
        self->rules = *options->box;
    }
    if (options->store)
        fake->clock = options->store->clock;
    lbx__store_set_clock(&self->base, fake->clock);
    return status;
}

lbx_status
lbx_fake_postbox_create(const lbx_postbox_options *options, lbx_postbox **ret)
{
    return lbx__double_store_open(&lbx__fake_ops, sizeof(lbx__fake), options,
                                  fake_init, ret);
}

lbx_status
lbx_fake_postbox_expire(lbx_postbox *postbox, const lbx_letter *letter)
{
    lbx__fake *fake =
        (lbx__fake *)lbx__double_store_of(postbox, &lbx__fake_ops);
    char receipt[LBX_RECEIPT_BYTES];
    lbx__fake_letter *found;
    lbx_status status;

    if (!fake || !letter)
        return LBX_INVALID;
    if (lbx_letter_receipt(letter, receipt, sizeof(receipt)) != LBX_OK)
        return LBX_NOT_FOUND;
    lbx__lock_take(&fake->lock);
    status = lbx__fake_find(fake, receipt, strlen(receipt), &found);
    if (status == LBX_OK)
        found->receipt =
            ++fake->receipts; // as if another consumer had leased it
    lbx__lock_give(&fake->lock);
    return status == LBX_OK ? LBX_OK : LBX_NOT_FOUND;
}

lbx_status
lbx_fake_postbox_set_error(lbx_postbox *postbox, lbx_status error)
{
    lbx__fake *fake =
        (lbx__fake *)lbx__double_store_of(postbox, &lbx__fake_ops);

    if (!fake || error > LBX_OK || error == LBX_PENDING)
        return LBX_INVALID;
    lbx__lock_take(&fake->lock);
    fake->error = error;
    lbx__lock_give(&fake->lock);
    lbx__fake_receive_serve(fake);
    return LBX_OK;
}

lbx_status
lbx_fake_postbox_inject(lbx_postbox *postbox, const lbx_draft *draft,
                        const char *id, uint32_t delivery_count)
{
    const lbx__injection injection = {id, delivery_count};
    lbx_status status;

    if (!lbx__double_store_of(postbox, &lbx__fake_ops) || !draft ||
        (id && (!id[0] || strlen(id) >= sizeof(((lbx_id *)0)->text))))
        return LBX_INVALID;
    lbx__local(fake_injecting) = &injection;
    status = lbx_postbox_send_draft(postbox, draft, NULL);
    lbx__local(fake_injecting) = NULL;
    return status;
}

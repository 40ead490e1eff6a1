/* SPDX-License-Identifier: Apache-2.0 */
/* The rules over storage in memory; see fixture.h. */
#include "fixture.h"

#include "stores/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t
wall(void *context)
{
    // Ten years ahead of store time: the two must never be taken for each
    // other.
    return test_clock_now(&((struct rig *)context)->time) / LBX_MS +
           315576000000;
}

static lbx_status
open_rules(struct rig *rig, const lbx_allocator *allocator, lbx__rules **ret)
{
    const lbx__rules_options options = {
        .allocator = allocator,
        .wall_ms = wall,
        .wall_context = rig,
    };

    return lbx__rules_open(rig->storage, &options, ret);
}

struct rig *
rig_new_in(const lbx_allocator *allocator)
{
    struct rig *rig = malloc(sizeof(*rig));

    CHECK(rig);
    *rig = (struct rig){.time = TEST_CLOCK_INIT};
    rig->clock = test_clock_interface(&rig->time);
    CHECK_OK(lbx__memory_open(allocator, &rig->clock, &rig->storage));
    rig->ops = *rig->storage->ops;
    rig->ops.is_private = false; // rows as they are in files: summed
    rig->storage->ops = &rig->ops;
    CHECK_OK(open_rules(rig, allocator, &rig->rules));
    return rig;
}

void
rig_reopen(struct rig *rig)
{
    lbx__rules_close(rig->rules);
    CHECK_OK(open_rules(rig, NULL, &rig->rules));
}

lbx_status
rig_open_again(struct rig *rig)
{
    lbx__rules *rules = NULL;
    lbx_status status = open_rules(rig, NULL, &rules);

    lbx__rules_close(rules);
    return status;
}

void
rig_free(struct rig **rig)
{
    lbx__rules_close((*rig)->rules);
    lbx__storage_close((*rig)->storage);
    free(*rig);
}

void
rig_pass(struct rig *rig, int64_t ns)
{
    test_clock_advance(&rig->time, ns);
}

void
rig_begin(struct rig *rig)
{
    rig->count = 0;
    CHECK_OK(lbx__storage_begin(rig->storage));
}

lbx_status
rig_end(struct rig *rig, lbx_status status)
{
    const lbx__box_change *changes;
    const size_t count = lbx__box_record_take_changes(rig->rules, &changes);

    if (count > 0)
        rig->change = changes[count - 1];
    rig->changes += (unsigned)count;
    CHECK_OK(
        lbx__storage_flush(rig->storage, lbx__box_record_commit(rig->rules)));
    return status;
}

lbx_box
rig_create(struct rig *rig, const char *name, const lbx_box_options *options)
{
    lbx_box_request request = {.name = name, .options = options};

    if (options)
        CHECK_OK(lbx_box_options_check(options, NULL));
    CHECK_OK(RIG_CALL(rig, lbx__box_admin_create(rig->rules, &request)));
    return request.ret_box;
}

lbx_status
rig_delete(struct rig *rig, lbx_box box)
{
    lbx_box_request request = {.box = box};

    return RIG_CALL(rig, lbx__box_admin_delete(rig->rules, &request));
}

lbx_status
rig_configure(struct rig *rig, lbx_box box, const lbx_box_options *options)
{
    lbx_box_request request = {.box = box, .options = options};

    return RIG_CALL(rig, lbx__box_admin_configure(rig->rules, &request));
}

uint64_t
rig_purge(struct rig *rig, lbx_box box)
{
    lbx_box_request request = {.box = box};

    CHECK_OK(RIG_CALL(rig, lbx__box_admin_purge(rig->rules, &request)));
    return request.ret_purged;
}

lbx_box_counts
rig_counts(struct rig *rig, lbx_box box)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_box_request request = {.box = box, .ret_counts = &counts};

    CHECK_OK(RIG_CALL(rig, lbx__catalog_describe(rig->rules, &request)));
    return counts;
}

void
rig_work(struct rig *rig)
{
    int64_t due;

    do {
        CHECK_OK(RIG_CALL(rig, lbx__background_work(rig->rules, 3, &due)));
    } while (due <= test_clock_now(&rig->time));
}

lbx_status
rig_send_parcel(struct rig *rig, lbx_box box, const lbx_parcel *parcel)
{
    lbx_send_request request = {
        .box = box, .parcels = parcel, .count = 1, .sent = &rig->sent};
    lbx_status status = RIG_CALL(rig, lbx__send_apply(rig->rules, &request));

    CHECK_STATUS(status, rig->sent.status);
    return status;
}

lbx_status
rig_send_in(struct rig *rig, lbx_box box, const char *body, const char *group,
            const char *deduplication_id)
{
    const lbx_parcel parcel = {.body = body,
                               .body_bytes = strlen(body),
                               .group = group,
                               .deduplication_id = deduplication_id};

    return rig_send_parcel(rig, box, &parcel);
}

lbx_status
rig_send(struct rig *rig, lbx_box box, const char *body)
{
    return rig_send_in(rig, box, body, NULL, NULL);
}

void
rig_send_each(struct rig *rig, lbx_box box, const char *bodies)
{
    for (; *bodies; bodies++)
        CHECK_OK(rig_send(rig, box, (char[]){*bodies, '\0'}));
}

static lbx_status
collect(void *context, const lbx_delivery *delivery)
{
    struct rig *rig = context;
    struct rig_got *got = &rig->got[rig->count];
    const lbx_parcel *parcel = &delivery->parcel;

    if (rig->refuse > 0 && rig->count == rig->refuse - 1)
        return LBX_NO_MEMORY;
    CHECK(rig->count < sizeof(rig->got) / sizeof(rig->got[0]));
    CHECK(parcel->body_bytes < sizeof(got->body));
    memset(got, 0, sizeof(*got));
    memcpy(got->body, parcel->body, parcel->body_bytes);
    snprintf(got->id, sizeof(got->id), "%s", delivery->id.text);
    snprintf(got->group, sizeof(got->group), "%s",
             parcel->group ? parcel->group : "");
    snprintf(got->deduplication_id, sizeof(got->deduplication_id), "%s",
             parcel->deduplication_id ? parcel->deduplication_id : "");
    snprintf(got->source, sizeof(got->source), "%s",
             delivery->dead_letter_source ? delivery->dead_letter_source : "");
    got->receipt_bytes = delivery->receipt_bytes;
    if (delivery->receipt_bytes > 0)
        memcpy(got->receipt, delivery->receipt, sizeof(got->receipt));
    got->sequence = delivery->sequence;
    got->deliveries = delivery->delivery_count;
    got->state = delivery->state;
    got->sent_ms = delivery->sent_ms;
    got->first_received_ms = delivery->first_received_ms;
    got->attributes = parcel->attribute_count;
    rig->count++;
    return LBX_OK;
}

int
rig_attempt(struct rig *rig, lbx_box box, uint32_t max, int64_t lease,
            const char *attempt_id)
{
    const lbx_receive_request request = {.box = box,
                                         .max_letters = max,
                                         .min_letters = 1,
                                         .lease_ns = lease,
                                         .attempt_id = attempt_id};
    const lbx__sink sink = {collect, rig};
    uint32_t count;

    rig->status = RIG_CALL(rig, lbx__receive_apply(rig->rules, &request,
                                                   rig->before, &sink, &count));
    CHECK_INT(count, rig->count);
    CHECK((rig->status == LBX_OK) == (count > 0));
    return (int)count;
}

int
rig_receive(struct rig *rig, lbx_box box, uint32_t max, int64_t lease)
{
    return rig_attempt(rig, box, max, lease, NULL);
}

int
rig_peek(struct rig *rig, lbx_box box)
{
    const lbx_peek_request request = {.box = box, .max_letters = 60};
    const lbx__sink sink = {collect, rig};

    rig->status = RIG_CALL(rig, lbx__receive_peek(rig->rules, &request, &sink));
    return (int)rig->count;
}

static lbx_settle_request_entry
entry_of(const struct rig_got *got, lbx_settle_action what, int64_t time)
{
    return (lbx_settle_request_entry){.action = what,
                                      .time_ns = time,
                                      .receipt = got->receipt,
                                      .receipt_bytes = got->receipt_bytes};
}

static lbx_status
settle(struct rig *rig, lbx_box box, const struct rig_got *got,
       lbx_settle_action what, int64_t time)
{
    lbx_settle_request_entry entry = entry_of(got, what, time);
    lbx_settle_request request = {.box = box, .entries = &entry, .count = 1};
    lbx_status status = RIG_CALL(rig, lbx__settle_apply(rig->rules, &request));

    CHECK_STATUS(status, entry.status);
    return status;
}

lbx_status
rig_ack(struct rig *rig, lbx_box box, const struct rig_got *got)
{
    return settle(rig, box, got, LBX_SETTLE_ACKNOWLEDGE, 0);
}

lbx_status
rig_nack(struct rig *rig, lbx_box box, const struct rig_got *got, int64_t delay)
{
    return settle(rig, box, got, LBX_SETTLE_NACK, delay);
}

lbx_status
rig_extend(struct rig *rig, lbx_box box, const struct rig_got *got,
           int64_t lease)
{
    return settle(rig, box, got, LBX_SETTLE_EXTEND, lease);
}

lbx_status
rig_undo(struct rig *rig, lbx_box box, const struct rig_got *got)
{
    lbx_settle_request_entry entry = entry_of(got, LBX_SETTLE_NACK, 0);
    lbx_settle_request request = {.box = box, .entries = &entry, .count = 1};

    return RIG_CALL(rig, lbx__settle_undo(rig->rules, &request));
}

const char *
rig_bodies(const struct rig *rig)
{
    static char text[1024];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < rig->count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                 i > 0 ? " " : "", rig->got[i].body);
    return text;
}

const char *
rig_received(struct rig *rig, lbx_box box, uint32_t max, int64_t lease)
{
    (void)rig_receive(rig, box, max, lease);
    return rig_bodies(rig);
}

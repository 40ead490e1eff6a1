/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GetQueueAttributes, SetQueueAttributes and PurgeQueue.
 *
 * A change is made to what was just read: the store has no change of a single
 * option. So changes of one queue are made one after the other (CHLOCK-1).
 */
#include "base/clock.h"
#include "server/sqs/change.h"
#include "server/sqs/fault_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PURGE_MS ((int64_t)60000)

/* ---- GetQueueAttributes ---- */

struct get_attributes {
    lbx_box_counts counts;
    bool *wanted; /* for each row of the table */
    bool needs_counts;
};

/* Marks the rows that are asked for. False: one does not exist, and the
 * request was answered. */
static bool
get_mark(lbx__request *request, struct get_attributes *get)
{
    const lbx__sqs_texts *names = &request->input.attribute_names;

    for (size_t i = 0; i < names->count; i++) {
        const bool all = lbx__slice_is(names->items[i], "All");
        bool found = all;

        for (size_t j = 0; j < lbx__attribute_count; j++) {
            const lbx__attribute *row = &lbx__attributes[j];

            if (!all && !lbx__slice_is(names->items[i], row->name))
                continue;
            found = get->wanted[j] = true;
            get->needs_counts |= (row->use & LBX__ATTRIBUTE_COUNTS) != 0;
        }
        if (!found) {
            lbx__request_fail(request, LBX__SQS_InvalidAttributeName,
                              "Unknown Attribute %.*s.",
                              LBX__QUOTED(names->items[i]));
            return false;
        }
    }
    return true;
}

static void
get_read(lbx__request *request, lbx_status status)
{
    const struct get_attributes *get = request->state;
    char buffer[LBX__REDRIVE_BYTES];
    lbx__attribute_view view;
    bool some = false;

    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    view = lbx__attributes_view(request->queue, &get->counts);
    for (size_t i = 0; i < lbx__attribute_count; i++) {
        const lbx__attribute *row = &lbx__attributes[i];
        const lbx__slice none = {NULL, 0};
        const lbx__slice value =
            get->wanted[i] ? lbx__attributes_get(row, &view, buffer) : none;

        if (!value.bytes)
            continue;
        if (!some)
            lbx__reply_map(&request->reply, "Attributes", "Attribute", "Name",
                           "Value");
        some = true;
        lbx__reply_map_text(&request->reply, lbx__slice_of(row->name), value);
    }
    if (some)
        lbx__reply_map_end(&request->reply);
    lbx__request_done(request);
}

void
lbx__action_get_queue_attributes(lbx__request *request)
{
    struct get_attributes *get = lbx__arena_take(&request->arena, sizeof(*get));

    if (get)
        get->wanted = lbx__arena_take(
            &request->arena, lbx__attribute_count * sizeof(*get->wanted));
    if (!get || !get->wanted) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    get->counts = (lbx_box_counts)LBX_BOX_COUNTS_INIT;
    request->state = get;
    if (get_mark(request, get))
        lbx__change_refresh(request, get->needs_counts ? &get->counts : NULL,
                            get_read);
}

/* ---- SetQueueAttributes ---- */

struct set_attributes {
    lbx__queue_draft draft;
    lbx__texts below;
};

static void
set_changed(lbx__request *request, lbx_status status)
{
    const struct set_attributes *set = request->state;

    if (status == LBX_OK || !set->draft.redrive.bytes) {
        lbx__change_done(request, status);
        return;
    }
    lbx__change_fail_status(request, &set->draft, status);
}

static void
set_read(lbx__request *request, lbx_status status)
{
    struct set_attributes *set = request->state;
    lbx__queue_draft *draft = &set->draft;
    const char *now = lbx__change_time(request);

    if (status == LBX_OK && !now)
        status = LBX_NO_MEMORY;
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    set->below = (lbx__texts){.items = request->queue->texts,
                              .count = request->queue->text_count};
    *draft = (lbx__queue_draft){
        .arena = &request->arena,
        .allocator = request->sqs->allocator,
        .world = &request->world,
        .name = request->queue->name,
        .below = &set->below,
        .options = request->queue->options,
    };
    if (!lbx__attributes_set_all(draft, &request->input.attributes)) {
        lbx__request_fail_fault(request, &draft->fault);
        return;
    }
    lbx__attributes_draft_text(draft, LBX__TEXT_MODIFIED, now);
    lbx__change_configure(request, &draft->options, draft->texts,
                          draft->text_count, set_changed);
}

void
lbx__action_set_queue_attributes(lbx__request *request)
{
    if (!request->input.has_attributes &&
        request->input.attributes.count == 0) {
        lbx__change_fail_missing(request, "Attributes");
        return;
    }
    request->state =
        lbx__arena_take(&request->arena, sizeof(struct set_attributes));
    if (!request->state) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    lbx__change_begin(request, set_read);
}

/* ---- PurgeQueue ---- */

/* The purge has happened, whether or not its time could be noted. */
static void
purge_noted(lbx__request *request, lbx_status status)
{
    (void)status;
    lbx__queues_forget(request->sqs->queues, &request->world,
                       request->queue->name);
    lbx__request_done(request);
}

static void
purge_purged(lbx__request *request, lbx_status status)
{
    lbx_box_text *text = lbx__arena_take(&request->arena, sizeof(*text));
    char now[24];
    const int size =
        snprintf(now, sizeof(now), "%" PRId64, lbx__clock_wall_ms());

    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    if (request->sqs->allows_quick_purge || !text) {
        lbx__request_done(request);
        return;
    }
    text->name = LBX__TEXT_PURGED;
    text->value = lbx__arena_copy(&request->arena, now, (size_t)size);
    if (!text->value) {
        lbx__request_done(request);
        return;
    }
    lbx__change_configure(request, NULL, text, 1, purge_noted);
}

static void
purge_read(lbx__request *request, lbx_status status)
{
    lbx_box_request *purge = lbx__arena_take(&request->arena, sizeof(*purge));
    const char *last;

    if (status == LBX_OK && !purge)
        status = LBX_NO_MEMORY;
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    last = lbx__queue_text(request->queue, LBX__TEXT_PURGED);
    if (last && !request->sqs->allows_quick_purge) {
        const int64_t since = lbx__clock_wall_ms() - strtoll(last, NULL, 10);

        // It is negative when the clock was set back.
        if (since >= 0 && since < PURGE_MS) {
            lbx__request_fail(
                request, LBX__SQS_PurgeQueueInProgress,
                "Only one PurgeQueue operation on %s is allowed every 60 "
                "seconds.",
                request->queue->name);
            return;
        }
    }
    purge->box = request->queue->box;
    lbx__request_call(request, LBX_CALL_PURGE, purge, purge_purged);
}

void
lbx__action_purge_queue(lbx__request *request)
{
    lbx__change_begin(request, purge_read);
}

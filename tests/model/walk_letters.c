/* SPDX-License-Identifier: Apache-2.0 */
/* Sending, receiving and peeking in a walk; see walk.h. */
#include "walk.h"

#include <stdio.h>
#include <string.h>

void
walk_draw_package(struct walk *walk, int box, struct walk_package *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->number = ++walk->numbers;
    snprintf(ret->body, sizeof(ret->body), "%u", ret->number);
    ret->parcel.body = ret->body;
    ret->parcel.body_bytes = strlen(ret->body);
    ret->group = walk_below(walk, MODEL_GROUPS);
    if (walk_is_fifo(box)) {
        // A tenth of all ids come again.
        snprintf(ret->deduplication_id, sizeof(ret->deduplication_id), "d%u",
                 walk_chance(walk, 10) ? walk_below(walk, 20) : ret->number);
        ret->parcel.deduplication_id = ret->deduplication_id;
        ret->parcel.group = walk_group_name(ret->group);
    } else if (walk_chance(walk, walk->busy ? 90 : 40)) {
        // A tenant; the first is the busiest.
        if (walk_chance(walk, 50))
            ret->group = 0;
        ret->parcel.group = walk_group_name(ret->group);
    }
    if (walk_chance(walk, 10)) {
        snprintf(ret->token, sizeof(ret->token), "t%u", walk_below(walk, 5));
        ret->parcel.token = ret->token;
    }
    if (walk_chance(walk, 30))
        ret->parcel.delay_ns = walk_seconds(walk, 6);
}

/* What was sent: as the first time, or a new letter. */
void
walk_check_sent(struct walk *walk, int box, const struct walk_package *package,
                const lbx_sent_letter *sent)
{
    model_box *there = &walk->model.boxes[box];
    const model_seen *seen;

    (void)model_may_send(&walk->model, box, &package->parcel, package->group, 0,
                         &seen);
    if (sent->duplicate != (seen != NULL)) {
        walk_differ(walk, "send: letter %u %s a duplicate", package->number,
                    seen ? "should be" : "should not be");
    } else if (seen) {
        if (strcmp(seen->sent.id.text, sent->id.text) != 0 ||
            seen->sent.sequence != sent->sequence)
            walk_differ(walk,
                        "send: a duplicate answered other than the first");
    } else {
        if (sent->sequence <= there->last_sequence)
            walk_differ(walk, "send: sequence %llu after %llu",
                        (unsigned long long)sent->sequence,
                        (unsigned long long)there->last_sequence);
        model_add(&walk->model, box, &package->parcel, package->group,
                  package->number, sent);
    }
}

void
walk_send_letters(struct walk *walk, int box)
{
    struct walk_package packages[LBX_MAX_BATCH];
    lbx_parcel parcels[LBX_MAX_BATCH];
    lbx_sent_letter sent[LBX_MAX_BATCH];
    lbx_send_request request = {.box = walk->uids[box],
                                .parcels = parcels,
                                .count =
                                    1 + walk_below(walk, walk->busy ? 10 : 3),
                                .sent = sent};

    for (size_t i = 0; i < request.count; i++) {
        walk_draw_package(walk, box, &packages[i]);
        parcels[i] = packages[i].parcel;
    }
    (void)walk_call(walk, LBX_CALL_SEND, &request);
    for (size_t i = 0; i < request.count && !walk->failed; i++) {
        const model_seen *seen;
        lbx_status status = LBX_CLOSED;

        if (walk->model.boxes[box].there)
            status = model_may_send(&walk->model, box, &packages[i].parcel,
                                    packages[i].group, 0, &seen);
        walk_expect(walk, "send", status, sent[i].status);
        if (status == LBX_OK && !walk->failed)
            walk_check_sent(walk, box, &packages[i], &sent[i]);
    }
}

static void
keep_ticket(struct walk *walk, int box, const model_letter *letter,
            const struct walk_got *got)
{
    struct walk_ticket *ticket =
        &walk->tickets[walk->ticket_count++ % WALK_TICKETS];

    ticket->box = box;
    ticket->means = (model_receipt){walk->model.boxes[box].life,
                                    letter->sequence, letter->epoch};
    ticket->size = got->receipt_bytes;
    memcpy(ticket->bytes, got->receipt, got->receipt_bytes);
}

void
walk_receive_letters(struct walk *walk, int box)
{
    static const char *const attempts[] = {NULL, NULL, "first", "second"};
    lbx_receive_request request = {
        .box = walk->uids[box],
        .max_letters =
            1 + walk_below(walk, walk_chance(walk, 50) ? 2 : LBX_MAX_BATCH),
        .min_letters = 1,
        .lease_ns = walk_seconds(walk, walk->busy ? 120 : 6),
        .attempt_id = walk_is_fifo(box) ? attempts[walk_below(walk, 4)] : NULL,
    };
    lbx_status status = walk_call(walk, LBX_CALL_RECEIVE, &request);
    model_letter *letters[LBX_MAX_BATCH];
    uint32_t count;

    if (!walk->model.boxes[box].there) {
        walk_expect(walk, "receive", LBX_CLOSED, status);
        return;
    }
    walk_expect(walk, "receive",
                model_receive(&walk->model, box, &request, letters, &count),
                status);
    if (count != walk->got_count)
        walk_differ(walk, "receive from %s: expected %u letters, got %u",
                    walk_box_name(box), count, walk->got_count);
    for (uint32_t i = 0; i < count && !walk->failed; i++) {
        walk_compare(walk, "receive", &walk->got[i], letters[i]);
        keep_ticket(walk, box, letters[i], &walk->got[i]);
    }
}

void
walk_peek_letters(struct walk *walk, int box)
{
    lbx_peek_request request = {.box = walk->uids[box],
                                .max_letters = WALK_GOT_MOST};
    lbx_status status = walk_call(walk, LBX_CALL_PEEK, &request);
    model_letter *letter = NULL;
    unsigned at = 0;

    if (!walk->model.boxes[box].there) {
        walk_expect(walk, "peek", LBX_CLOSED, status);
        return;
    }
    walk_expect(walk, "peek", LBX_OK, status);
    model_expire(&walk->model, box);
    while (!walk->failed && (letter = model_next(&walk->model, box, letter))) {
        if (at == walk->got_count)
            walk_differ(walk, "peek: letter %u is missing", letter->number);
        else
            walk_compare(walk, "peek", &walk->got[at++], letter);
    }
    if (at != walk->got_count)
        walk_differ(walk, "peek: there is a letter too many");
}

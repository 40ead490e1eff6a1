/* SPDX-License-Identifier: Apache-2.0 */
/* Settling in a walk, with what is attached; see walk.h. */
#include "walk.h"

struct settling {
    const struct walk_ticket *ticket;
    struct walk_package packages[LBX_MAX_ATTACHMENTS];
    int boxes[LBX_MAX_ATTACHMENTS];
    lbx_attachment attachments[LBX_MAX_ATTACHMENTS];
    lbx_sent_letter sent[LBX_MAX_ATTACHMENTS];
};

static void
draw_settling(struct walk *walk, int box, struct settling *settling,
              lbx_settle_request_entry *ret)
{
    const unsigned known =
        walk->ticket_count < WALK_TICKETS ? walk->ticket_count : WALK_TICKETS;
    const struct walk_ticket *ticket = &walk->tickets[walk_below(walk, known)];

    // Mostly of this box, and mostly one of the latest.
    for (unsigned i = 0; i < 8 && (ticket->box != box || i < 2); i++)
        ticket =
            &walk->tickets[(walk->ticket_count - 1 - walk_below(walk, known)) %
                           WALK_TICKETS];
    settling->ticket = ticket;
    *ret = (lbx_settle_request_entry){
        .action = (lbx_settle_action)walk_below(walk, 3),
        .time_ns = walk_seconds(walk, 10),
        .receipt = ticket->bytes,
        .receipt_bytes = ticket->size,
        .attachments = settling->attachments,
        .attachment_count = walk_chance(walk, 30)
                                ? 1 + walk_below(walk, LBX_MAX_ATTACHMENTS)
                                : 0,
    };
    for (size_t i = 0; i < ret->attachment_count; i++) {
        const int to = (int)walk_below(walk, MODEL_BOXES);

        settling->boxes[i] = to;
        walk_draw_package(walk, to, &settling->packages[i]);
        settling->attachments[i] =
            (lbx_attachment){.box = walk->uids[to],
                             .parcel = &settling->packages[i].parcel,
                             .sent = &settling->sent[i]};
    }
}

/* Whether all that is attached can be sent. */
static lbx_status
may_attach(struct walk *walk, const struct settling *settling, size_t count)
{
    unsigned more[MODEL_BOXES] = {0};

    for (size_t i = 0; i < count; i++) {
        const int box = settling->boxes[i];
        const model_seen *seen;
        lbx_status status = LBX_CLOSED;

        if (walk->model.boxes[box].there)
            status =
                model_may_send(&walk->model, box, &settling->packages[i].parcel,
                               settling->packages[i].group, more[box], &seen);
        if (status != LBX_OK)
            return status;
        more[box] += !seen;
    }
    return LBX_OK;
}

static void
check_settled(struct walk *walk, int box, const struct settling *settling,
              const lbx_settle_request_entry *entry, bool undo)
{
    model_letter *letter = NULL;
    lbx_status expected = model_judge(
        &walk->model, box, &settling->ticket->means,
        undo ? LBX_SETTLE_ACKNOWLEDGE : entry->action, entry->time_ns, &letter);

    if (expected == LBX_OK && !undo)
        expected = may_attach(walk, settling, entry->attachment_count);
    walk_expect(walk,
                undo                                      ? "undo"
                : entry->action == LBX_SETTLE_ACKNOWLEDGE ? "acknowledge"
                : entry->action == LBX_SETTLE_NACK        ? "nack"
                                                          : "extend",
                expected, entry->status);
    if (expected != LBX_OK || walk->failed)
        return;
    if (undo) {
        model_undo(letter);
        return;
    }
    model_settle(&walk->model, box, letter, entry->action, entry->time_ns);
    for (size_t i = 0; i < entry->attachment_count && !walk->failed; i++) {
        walk_expect(walk, "attached", LBX_OK, settling->sent[i].status);
        walk_check_sent(walk, settling->boxes[i], &settling->packages[i],
                        &settling->sent[i]);
    }
}

void
walk_settle_letters(struct walk *walk, int box)
{
    struct settling settlings[LBX_MAX_BATCH];
    lbx_settle_request_entry entries[LBX_MAX_BATCH];
    lbx_settle_request request = {.box = walk->uids[box],
                                  .entries = entries,
                                  .count = 1 + walk_below(walk, 3)};
    const bool undo = walk->subject->undoes && walk_chance(walk, 15);

    if (walk->ticket_count == 0)
        return;
    for (size_t i = 0; i < request.count; i++) {
        draw_settling(walk, box, &settlings[i], &entries[i]);
        if (undo)
            entries[i].attachment_count = 0;
    }
    (void)walk_call(walk, undo ? LBX_CALL_UNDO : LBX_CALL_SETTLE, &request);
    for (size_t i = 0; i < request.count && !walk->failed; i++)
        check_settled(walk, box, &settlings[i], &entries[i], undo);
}

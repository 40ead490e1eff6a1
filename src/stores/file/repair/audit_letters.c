/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The letters of a store, compared with their other rows and with the counts of
 * their box.
 *
 * What belongs to a letter is looked up when its body is met. Rows that belong
 * to no letter show by their number, which is counted for each box.
 *
 * Threads    one at a time.
 */
#include "post/rules/internal.h"
#include "stores/file/repair/audit.h"

/* Whether there is a row with that value. */
static bool
audit_has_row(lbx__audit *audit, lbx__table table, const lbx__key *key,
              const uint64_t *number)
{
    lbx__bytes value;

    if (lbx__view_get(audit->view, table, key, &value) != LBX_OK)
        return false;
    return !number || (value.size >= 8 && lbx__get_le64(value.data) == *number);
}

/* The table that has the index row of a letter; LBX__STATES: none has. `gid` is
 * that of its body. */
static lbx__table
audit_index_table(const lbx__audit_box *box, uint64_t gid,
                  const lbx__state *state)
{
    if (state->kind != LBX__IS_READY)
        return LBX__WAITS;
    if (box->fifo)
        return LBX__STATES;
    return gid != 0 ? LBX__LINES : LBX__READY; // FAIR-2
}

/* A letter has the index row of its state. */
static bool
audit_check_state(lbx__audit *audit, lbx__audit_box *box, uint64_t sequence,
                  uint64_t gid, const lbx__state *state, lbx__bytes value)
{
    const lbx__key key = lbx__key_2(box->box, sequence);
    const lbx__table table = audit_index_table(box, gid, state);
    const lbx__key due =
        lbx__key_3(box->box, table == LBX__LINES ? gid : (uint64_t)state->due,
                   state->ticket);

    box->found.sum += lbx__row_hash(LBX__STATES, &key, lbx__row_sum(value));
    box->found.leased += state->kind == LBX__IS_LEASED;
    box->found.delayed += state->kind == LBX__IS_DELAYED;
    box->want[LBX__STATES]++;
    if (table == LBX__STATES)
        return true;
    box->want[table]++;
    return audit_has_row(audit, table, &due, &sequence);
}

/* The rows that a letter must have beside its body. */
static lbx_status
audit_check_letter(lbx__audit *audit, lbx__audit_box *box, uint64_t sequence,
                   const lbx__body *body)
{
    const lbx__key key = lbx__key_2(box->box, sequence);
    const lbx__key line = lbx__key_3(box->box, body->gid, sequence);
    const lbx__key age =
        lbx__key_3(box->box, (uint64_t)body->sent_ns, sequence);
    lbx__state state;
    lbx__bytes value;
    lbx_status status = lbx__view_get(audit->view, LBX__STATES, &key, &value);

    if (status == LBX_NO_MEMORY)
        return status;
    if (status == LBX_OK && lbx__body_decode_state(value, &state) != LBX_OK)
        status = LBX_CORRUPT;
    if (status == LBX_OK &&
        !audit_check_state(audit, box, sequence, body->gid, &state, value))
        lbx__audit_report_box(
            audit, box->uid,
            lbx__audit_report_word(audit_index_table(box, body->gid, &state)),
            sequence, sequence);
    if (sequence >= box->next || body->sent_ns < box->oldest ||
        (status == LBX_NOT_FOUND && box->has_facts && !box->fifo &&
         (sequence < box->fresh ||
          (box->stated != 0 && sequence >= box->stated))))
        lbx__audit_report_box(audit, box->uid, "state", sequence,
                              sequence); // beyond the bounds of the record
    if (body->gid != 0 && !box->fifo) {
        box->tenants_found.letters++;
        box->tenants_found.leased +=
            status == LBX_OK && state.kind == LBX__IS_LEASED;
    } else if (body->gid != 0) {
        box->want[LBX__LINES]++;
        if (!audit_has_row(audit, LBX__LINES, &line, NULL))
            lbx__audit_report_box(audit, box->uid, "line", sequence, sequence);
    }
    if (body->aged && !box->fifo) {
        box->want[LBX__AGE]++;
        if (!audit_has_row(audit, LBX__AGE, &age, NULL))
            lbx__audit_report_box(audit, box->uid, "age", sequence, sequence);
    }
    return LBX_OK;
}

lbx_status
lbx__audit_letters_row(lbx__audit *audit, const lbx__view_row *row)
{
    lbx__audit_box *box =
        lbx__audit_report_find(audit, lbx__key_number(row->key, 0));
    const uint64_t sequence = lbx__key_number(row->key, 1);
    const lbx__key key = lbx__key_2(lbx__key_number(row->key, 0), sequence);
    lbx__body body;
    lbx_status status;

    if (box && box->is_old)
        return LBX_OK;
    status = lbx__body_decode(row->value, &audit->attributes, &body);
    if (status == LBX_NO_MEMORY)
        return status;
    if (!box || status != LBX_OK) {
        audit->log->report.damaged++;
        lbx__audit_report_box(audit, box ? box->uid : 0, box ? "body" : "head",
                              sequence, sequence);
        return LBX_OK;
    }
    audit->log->report.letters++;
    box->found.letters++;
    box->found.bytes += body.counted_bytes;
    box->found.sum += lbx__row_hash(LBX__BODIES, &key, row->sum);
    return audit_check_letter(audit, box, sequence, &body);
}

/* A tenant is queued as its row says (FAIR-3). */
static bool
audit_check_tenant(lbx__audit *audit, lbx__audit_box *box,
                   const lbx__tenant *tenant)
{
    const lbx__fair_position rows[] = {tenant->queued,
                                       lbx__fair_noise_end(tenant)};
    const lbx__key group = lbx__key_hash(box->box, tenant->hash);
    bool good = audit_has_row(audit, LBX__GROUPS, &group, &tenant->gid);

    box->tenants_said.tenants++;
    box->tenants_said.letters += tenant->letters;
    box->tenants_said.leased += tenant->leased;
    for (int i = 0; i < 2; i++) {
        const lbx__key key = lbx__key_3(box->box, rows[i].due, rows[i].ticket);

        if (rows[i].ticket == 0)
            continue;
        box->want[LBX__GROUP_DUE]++;
        good &= audit_has_row(audit, LBX__GROUP_DUE, &key, &tenant->gid);
    }
    return good;
}

lbx_status
lbx__audit_letters_group(lbx__audit *audit, const lbx__view_row *row)
{
    lbx__audit_box *box =
        lbx__audit_report_find(audit, lbx__key_number(row->key, 0));
    lbx__tenant tenant;

    if (!box) {
        lbx__audit_report_range(audit, LBX__GIDS, row->key, row->key);
        return LBX_OK;
    }
    box->rows[LBX__GIDS]++;
    if (box->fifo || box->is_old || !box->has_facts)
        box->want[LBX__GROUP_DUE]++;
    else if (lbx__fair_decode(lbx__key_number(row->key, 1), row->value,
                              &tenant) != LBX_OK ||
             !audit_check_tenant(audit, box, &tenant))
        lbx__audit_report_box(audit, box->uid, "group", 0, 0);
    return LBX_OK;
}

/* Groups of a fifo box have letters; those of a plain one count them. */
static bool
audit_groups_match(const lbx__audit_box *box)
{
    const uint64_t groups = box->rows[LBX__GROUPS];

    if (box->rows[LBX__GIDS] != groups ||
        box->rows[LBX__GROUP_DUE] != box->want[LBX__GROUP_DUE])
        return false;
    if (!box->fifo && box->has_facts)
        return memcmp(&box->tenants_said, &box->tenants_found,
                      sizeof(box->tenants_said)) == 0;
    return (groups == 0) == (box->want[LBX__LINES] == 0);
}

void
lbx__audit_letters_counts(lbx__audit *audit, const lbx__audit_box *box)
{
    static const lbx__table of_letters[] = {
        LBX__STATES, LBX__READY, LBX__WAITS, LBX__LINES, LBX__AGE,
    };
    const lbx__audit_counts *said = &box->said, *found = &box->found;

    if (said->letters > found->letters)
        audit->log->report.missing += said->letters - found->letters;
    if (memcmp(said, found, sizeof(*said)) != 0)
        lbx__audit_report_box(audit, box->uid, "count", 0, 0);
    for (size_t i = 0; i < sizeof(of_letters) / sizeof(of_letters[0]); i++) {
        if (box->rows[of_letters[i]] != box->want[of_letters[i]])
            lbx__audit_report_box(audit, box->uid,
                                  lbx__audit_report_word(of_letters[i]), 0, 0);
    }
    if (!audit_groups_match(box) ||
        box->rows[LBX__SEEN] > box->rows[LBX__SEEN_DUE])
        lbx__audit_report_box(audit, box->uid, "group", 0, 0);
}

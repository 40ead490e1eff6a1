/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair receives: in a plain box, a group is a tenant, and one that is noisy
 * does not hold up the others. Unlike in a fifo box, the letters of a group
 * have no order, and one that is leased does not keep the others back.
 *
 * A tenant is noisy when it has 30 or more letters leased and these are more
 * than a tenth of all that are leased in the box. A receive takes the letters
 * of quiet tenants first, by (due, ticket), together with those that have no
 * tenant; then those of the noisy tenant that has the fewest leased. While no
 * tenant is noisy, and no letter was received and came back, letters are
 * received in the same order as without tenants.
 *
 * A tenant has one row in gids, with its counts. Its ready letters are a line
 * by ticket, with the rows of lines; a tenant with ready letters is queued in
 * group_due, so that a receive finds the next letter by two searches, however
 * many letters a noisy tenant has before it:
 *
 *   quiet   due and ticket of its first ready letter
 *   noisy   behind all that are quiet: the top bit with its leased letters, gid
 *           and a second row: when its noise ends, gid
 *
 * FAIR-1  A tenant has rows in groups and gids exactly while it has letters.
 *         The row in gids has the number of them, and of those that are leased.
 * FAIR-2  A letter of a tenant has a state from the beginning. While it is
 *         ready, it has a row in lines, under its ticket, and none in ready.
 * FAIR-3  A tenant is queued exactly while it has ready letters.
 * FAIR-4  Noise begins when a search for the next letter finds a quiet tenant
 *         at the front that has too many leased. It ends when a receive or a
 *         move has taken its last ready letter; when a search finds its second
 *         row, five minutes after the noise began or the tenant has last sent;
 *         and with its last letter. All of these come after a sweep, or do not
 *         depend on one (SWEEP-1).
 * FAIR-5  A tenant whose rows are damaged is skipped, as a letter is (RECV-3).
 *
 * A letter in a plain box whose group is stored but has no number is of a store
 * that had no tenants yet: it is treated as one without a group.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/internal.h"

#include <string.h>

#define FAIR_NOISE_NS (300 * LBX_SECOND)
#define FAIR_NOISY    ((uint64_t)1 << 63) /* beyond every time */

enum {
    FAIR_LEASED_MIN = 30,
    FAIR_SHARE = 10, /* one part of so many */
    TENANT_BYTES = LBX__HASH_BYTES + 5 * 8
};

/* ---- The rows of a tenant ---- */

static void
tenant_put(lbx__rules *rules, const lbx__box_record *box,
           const lbx__tenant *tenant)
{
    const lbx__key key = lbx__key_2(box->row_id, tenant->gid);
    uint8_t bytes[TENANT_BYTES];
    uint8_t *at = bytes + LBX__HASH_BYTES;

    memcpy(bytes, tenant->hash, LBX__HASH_BYTES);
    at = lbx__put_le64(at, tenant->queued.due);
    at = lbx__put_le64(at, tenant->queued.ticket);
    at = lbx__put_le64(at, tenant->letters);
    at = lbx__put_le64(at, tenant->leased);
    lbx__put_le64(at, (uint64_t)tenant->until);
    lbx__row_put(rules->storage, LBX__GIDS, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
}

lbx_status
lbx__fair_decode(uint64_t gid, lbx__bytes value, lbx__tenant *ret)
{
    const uint8_t *at = value.data;

    if (value.size != TENANT_BYTES)
        return LBX_CORRUPT;
    ret->gid = gid;
    memcpy(ret->hash, at, LBX__HASH_BYTES);
    at += LBX__HASH_BYTES;
    ret->queued.due = lbx__get_le64(at);
    ret->queued.ticket = lbx__get_le64(at + 8);
    ret->letters = lbx__get_le64(at + 16);
    ret->leased = lbx__get_le64(at + 24);
    ret->until = (int64_t)lbx__get_le64(at + 32);
    return LBX_OK;
}

/* OK; NOT_FOUND; CORRUPT; IO. */
static lbx_status
tenant_get(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
           lbx__tenant *ret)
{
    const lbx__key key = lbx__key_2(box->row_id, gid);
    lbx__bytes value;
    lbx_status status = lbx__row_get(rules->storage, LBX__GIDS, &key, &value);

    return status == LBX_OK ? lbx__fair_decode(gid, value, ret) : status;
}

lbx__fair_position
lbx__fair_noise_end(const lbx__tenant *tenant)
{
    if (tenant->until == 0 || tenant->queued.ticket == 0)
        return (lbx__fair_position){0, 0};
    return (lbx__fair_position){(uint64_t)tenant->until, tenant->gid};
}

static bool
position_is(lbx__fair_position a, lbx__fair_position b)
{
    return a.due == b.due && a.ticket == b.ticket;
}

/* Moves a row in group_due. */
static void
tenant_move_row(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
                lbx__fair_position from, lbx__fair_position to)
{
    const lbx__key old = lbx__key_3(box->row_id, from.due, from.ticket);
    const lbx__key key = lbx__key_3(box->row_id, to.due, to.ticket);

    if (position_is(from, to))
        return;
    if (from.ticket != 0)
        lbx__row_drop(rules->storage, LBX__GROUP_DUE, &old);
    if (to.ticket != 0)
        lbx__row_put_number(rules->storage, LBX__GROUP_DUE, &key, gid);
}

/* The position of the first ready letter whose row is intact; {0, 0}: there is
 * none. */
static lbx__fair_position
tenant_first_ready(lbx__rules *rules, const lbx__box_record *box, uint64_t gid)
{
    lbx__key from = lbx__key_3(box->row_id, gid, 0);
    lbx__bytes at, value;

    for (int skips = 0; skips < LBX__SKIPS_MAX; skips++) {
        lbx_status status =
            lbx__row_seek(rules->storage, LBX__LINES, &from, 16, &at, &value);

        if (status == LBX_OK && value.size == LBX__FAIR_LINE_BYTES)
            return (lbx__fair_position){
                lbx__get_le64((const uint8_t *)value.data + 8),
                lbx__key_number(at, 2)};
        if (status != LBX_OK && !lbx__row_damaged(status, value))
            break;
        from = lbx__key_3(box->row_id, gid, lbx__key_number(at, 2) + 1);
    }
    return (lbx__fair_position){0, 0};
}

/* Queues a tenant by what it has become (FAIR-3), and writes it. `was` is the
 * tenant as its rows have it. */
static void
tenant_requeue(lbx__rules *rules, const lbx__box_record *box,
               const lbx__tenant *was, lbx__tenant *tenant)
{
    tenant->queued = tenant_first_ready(rules, box, tenant->gid);
    if (tenant->queued.ticket != 0 && tenant->until != 0)
        tenant->queued =
            (lbx__fair_position){FAIR_NOISY | tenant->leased, tenant->gid};
    tenant_move_row(rules, box, tenant->gid, was->queued, tenant->queued);
    tenant_move_row(rules, box, tenant->gid, lbx__fair_noise_end(was),
                    lbx__fair_noise_end(tenant));
    tenant_put(rules, box, tenant);
}

/* ---- Letters of tenants ---- */

void
lbx__fair_need(lbx__need *need)
{
    lbx__need_row(need, 24, LBX__FAIR_LINE_BYTES);
    lbx__need_row(need, 24, 8);
    lbx__need_row(need, 24, 8);
}

void
lbx__fair_need_join(lbx__need *need)
{
    lbx__need_row(need, 24, 8);
    lbx__need_row(need, 16, TENANT_BYTES);
    lbx__fair_need(need);
}

uint64_t
lbx__fair_join(lbx__rules *rules, lbx__box_record *box,
               const uint8_t hash[LBX__HASH_BYTES])
{
    const lbx__key key = lbx__key_hash(box->row_id, hash);
    lbx__tenant tenant = {.gid = 0};

    if (lbx__group_find(rules, box, hash, &tenant.gid))
        return tenant.gid;
    tenant.gid = box->next++;
    memcpy(tenant.hash, hash, LBX__HASH_BYTES);
    lbx__row_put_number(rules->storage, LBX__GROUPS, &key, tenant.gid);
    tenant_put(rules, box, &tenant);
    box->tenants++;
    return tenant.gid;
}

void
lbx__fair_line(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
               uint64_t sequence, const lbx__state *state, bool in)
{
    const lbx__key key = lbx__key_3(box->row_id, gid, state->ticket);
    uint8_t bytes[LBX__FAIR_LINE_BYTES];

    lbx__put_le64(lbx__put_le64(bytes, sequence), (uint64_t)state->due);
    if (in)
        lbx__row_put(rules->storage, LBX__LINES, &key,
                     &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    else
        lbx__row_drop(rules->storage, LBX__LINES, &key);
}

/*
 * Reads between writes, as lbx__group_requeue() does. A tenant whose row is
 * damaged stays as it is.
 */
void
lbx__fair_count(lbx__rules *rules, lbx__box_record *box, uint64_t gid,
                int letters, int leased)
{
    lbx__tenant was, tenant;

    if (tenant_get(rules, box, gid, &was) != LBX_OK)
        return;
    tenant = was;
    tenant.letters += (uint64_t)(int64_t)letters;
    tenant.leased += (uint64_t)(int64_t)leased;
    if (tenant.until != 0 && letters > 0)
        tenant.until = lbx__time_add(rules->now, FAIR_NOISE_NS);
    if (tenant.letters == 0) {
        const lbx__key group = lbx__key_hash(box->row_id, tenant.hash);
        const lbx__key number = lbx__key_2(box->row_id, gid);
        const lbx__fair_position none = {0, 0};

        tenant_move_row(rules, box, gid, was.queued, none);
        tenant_move_row(rules, box, gid, lbx__fair_noise_end(&was), none);
        lbx__row_drop(rules->storage, LBX__GROUPS, &group);
        lbx__row_drop(rules->storage, LBX__GIDS, &number);
        box->tenants--;
    } else
        tenant_requeue(rules, box, &was, &tenant);
    box->dirty = true;
}

void
lbx__fair_taken(lbx__rules *rules, lbx__box_record *box,
                const lbx__letter_record *letter)
{
    lbx__tenant tenant;

    if (!lbx__letter_record_has_tenant(box, letter) ||
        tenant_get(rules, box, letter->body.gid, &tenant) != LBX_OK ||
        tenant.until == 0 || tenant.queued.ticket != 0)
        return;
    tenant.until = 0; // FAIR-4
    tenant_put(rules, box, &tenant);
}

/* ---- The next letter ---- */

static bool
tenant_has_too_many(const lbx__box_record *box, const lbx__tenant *tenant)
{
    return tenant->leased >= FAIR_LEASED_MIN &&
           tenant->leased > box->leased / FAIR_SHARE;
}

/* Makes a tenant noisy, or quiet (FAIR-4): OK; NO_MEMORY; NO_SPACE. */
static lbx_status
tenant_set_noise(lbx__rules *rules, lbx__box_record *box,
                 const lbx__tenant *was, int64_t until)
{
    lbx__tenant tenant = *was;
    lbx__need need;
    lbx_status status;

    need.count = 0; // not the whole struct: it is large
    lbx__fair_need(&need);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status != LBX_OK)
        return status;
    tenant.until = until;
    tenant_requeue(rules, box, was, &tenant);
    box->dirty = true;
    return LBX_OK;
}

/*
 * The first tenant that is queued at `*from` or after it and may be served: OK,
 * and `*from` is its position; NOT_FOUND; others. Tenants at the front of the
 * quiet ones become noisy or quiet on the way, each at most once: noise that
 * begins now ends later.
 */
static lbx_status
fair_next_tenant(lbx__rules *rules, lbx__box_record *box,
                 lbx__fair_position *from, lbx__tenant *ret)
{
    uint32_t skips = 0;

    for (;;) {
        const lbx__key key = lbx__key_3(box->row_id, from->due, from->ticket);
        lbx__bytes at, value;
        lbx_status status =
            lbx__row_seek(rules->storage, LBX__GROUP_DUE, &key, 8, &at, &value);
        const bool damaged = lbx__row_damaged(status, value);

        if (status != LBX_OK && !damaged)
            return status;
        *from = (lbx__fair_position){lbx__key_number(at, 1),
                                     lbx__key_number(at, 2)};
        if (from->due < FAIR_NOISY && from->due > (uint64_t)rules->now) {
            *from = (lbx__fair_position){FAIR_NOISY, 0}; // no quiet one is left
            continue;
        }
        if (!damaged)
            status =
                value.size == 8
                    ? tenant_get(rules, box, lbx__get_le64(value.data), ret)
                    : LBX_CORRUPT;
        if (status == LBX_IO)
            return status;
        if (status == LBX_OK && position_is(*from, ret->queued) &&
            (ret->until != 0 || !tenant_has_too_many(box, ret)))
            return LBX_OK;
        if (status == LBX_OK && position_is(*from, ret->queued)) {
            status = tenant_set_noise(rules, box, ret,
                                      lbx__time_add(rules->now, FAIR_NOISE_NS));
        } else if (status == LBX_OK &&
                   position_is(*from, lbx__fair_noise_end(ret))) {
            status = tenant_set_noise(rules, box, ret, 0);
            // Its letters may be due before those that were passed over.
            *from = (lbx__fair_position){0, 0};
        } else if (skips++ < LBX__SKIPS_MAX) {
            rules->damaged = true; // FAIR-5
            from->ticket++;
            continue;
        } else
            status = LBX_CORRUPT;
        if (status != LBX_OK)
            return status;
    }
}

/* The first ready letter of a tenant that is intact: OK; NOT_FOUND; CORRUPT;
 * IO. */
static lbx_status
fair_first_letter(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
                  lbx__letter_record *ret)
{
    lbx__key from = lbx__key_3(box->row_id, gid, 0);
    uint32_t skips = 0;

    for (;;) {
        lbx__bytes at, value;
        uint64_t ticket;
        lbx_status status =
            lbx__row_seek(rules->storage, LBX__LINES, &from, 16, &at, &value);

        ret->damaged = lbx__row_damaged(status, value);
        if (status != LBX_OK && !ret->damaged)
            return status;
        ticket = lbx__key_number(at, 2);
        if (status == LBX_OK)
            status = lbx__letter_record_get(rules, box,
                                            value.size == LBX__FAIR_LINE_BYTES
                                                ? lbx__get_le64(value.data)
                                                : 0,
                                            ret);
        if (status == LBX_NOT_FOUND ||
            (status == LBX_OK &&
             (ret->state.kind != LBX__IS_READY || ret->body.gid != gid ||
              ret->state.ticket != ticket))) {
            ret->damaged = true; // FAIR-2
            status = LBX_CORRUPT;
        }
        if (!lbx__letter_record_skip(status, ret, &skips))
            return status;
        rules->damaged = true;
        from = lbx__key_3(box->row_id, gid, ticket + 1);
    }
}

/* True when a quiet tenant is served before a letter without one. */
static bool
fair_is_before(lbx__fair_position tenant, const lbx__letter_record *single)
{
    const uint64_t due = (uint64_t)single->state.due;

    return tenant.due < due ||
           (tenant.due == due && tenant.ticket < single->state.ticket);
}

lbx_status
lbx__fair_next(lbx__rules *rules, lbx__box_record *box,
               const lbx__letter_record *single, lbx__letter_record *ret)
{
    lbx__fair_position from = {0, 0};
    lbx__tenant tenant;

    for (;; from.ticket++) {
        lbx_status status = fair_next_tenant(rules, box, &from, &tenant);

        if (status != LBX_OK)
            return status;
        if (single && !fair_is_before(from, single))
            return LBX_NOT_FOUND; // noisy ones are behind every letter
        status = fair_first_letter(rules, box, tenant.gid, ret);
        if (status != LBX_NOT_FOUND)
            return status;
        rules->damaged = true; // FAIR-5: all its letters are damaged
    }
}

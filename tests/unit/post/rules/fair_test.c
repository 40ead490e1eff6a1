/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants of plain boxes: a noisy one does not hold up the others. */
#include "fixture.h"

#include "post/rules/internal.h"
#include "stores/memory/memory.h"

#include <stdio.h>
#include <string.h>

static void
put(struct rig *rig, lbx_box box, const char *group, const char *body)
{
    CHECK_OK(rig_send_in(rig, box, body, group, NULL));
}

static void
put_many(struct rig *rig, lbx_box box, const char *group, int count)
{
    for (int i = 0; i < count; i++)
        put(rig, box, group, group ? group : "none");
}

/* Leases so many letters of a box, which must all have this body. */
static void
lease_many(struct rig *rig, lbx_box box, int count, const char *body)
{
    while (count > 0) {
        const int max = count < 10 ? count : 10;

        CHECK_INT(max, rig_receive(rig, box, (uint32_t)max, 600 * S));
        for (int i = 0; i < max; i++)
            CHECK_STR(body, rig->got[i].body);
        count -= max;
    }
}

/* A box in which a tenant, "loud", has so many letters, and some leased. */
static lbx_box
crowded(struct rig *rig, int letters, int leased)
{
    lbx_box box = rig_create(rig, "box", NULL);

    put_many(rig, box, "loud", letters);
    lease_many(rig, box, leased, "loud");
    return box;
}

RIG_TEST("FAIR-3 FAIR-4", a_quiet_tenant_is_served_before_a_noisy_backlog)
{
    lbx_box box = crowded(rig, 1000, 40);

    put(rig, box, "quiet", "q");
    CHECK_STR("q loud loud", rig_received(rig, box, 3, 30 * S));
    put(rig, box, NULL, "single"); // is a tenant of its own
    CHECK_STR("single loud", rig_received(rig, box, 2, 30 * S));
    CHECK_INT(957, rig_counts(rig, box).ready);
}

RIG_TEST("FAIR-4", a_tenant_with_thirty_leased_is_noisy)
{
    lbx_box box = crowded(rig, 100, 29);

    put(rig, box, "quiet", "q");
    CHECK_STR("loud q", rig_received(rig, box, 2, 600 * S));
}

/* 30 of 300 are a tenth; 30 of 299 are more. */
RIG_TEST("FAIR-4", a_tenth_is_not_noisy_and_more_is)
{
    lbx_box box = rig_create(rig, "box", NULL);
    struct rig_got one;

    put_many(rig, box, NULL, 270);
    lease_many(rig, box, 270, "none");
    one = rig->got[0];
    put_many(rig, box, "loud", 100);
    lease_many(rig, box, 30, "loud");
    put(rig, box, "quiet", "q");
    CHECK_STR("loud", rig_received(rig, box, 1, 0)); // in the order they came
    CHECK_OK(rig_ack(rig, box, &one));
    CHECK_STR("q loud", rig_received(rig, box, 2, 0));
}

RIG_TEST("FAIR-4", among_noisy_tenants_the_one_with_the_fewest_leased_is_next)
{
    lbx_box box = rig_create(rig, "box", NULL);

    put_many(rig, box, "a", 35);
    lease_many(rig, box, 35, "a");
    put_many(rig, box, "b", 33);
    lease_many(rig, box, 33, "b");
    put_many(rig, box, "a", 5);
    put_many(rig, box, "b", 5);
    CHECK_STR("b b a b a b a b a a", rig_received(rig, box, 10, 30 * S));
}

RIG_TEST("FAIR-4", noise_ends_with_the_last_ready_letter)
{
    lbx_box box = crowded(rig, 41, 40);

    // It has 40 leased, and is noisy. Others lease so many that it is no more
    // than a tenth; still, it is noisy while it has a backlog.
    put_many(rig, box, NULL, 400);
    lease_many(rig, box, 400, "none");
    put(rig, box, "quiet", "q");
    CHECK_STR("q loud", rig_received(rig, box, 2, 600 * S));
    put(rig, box, "loud", "again");
    put(rig, box, "quiet", "q");
    CHECK_STR("again q", rig_received(rig, box, 2, 600 * S));
}

RIG_TEST("FAIR-4", noise_ends_when_nothing_was_sent_for_five_minutes)
{
    lbx_box box = crowded(rig, 200, 40);

    put(rig, box, "quiet", "q");
    CHECK_STR("q", rig_received(rig, box, 1, 600 * S)); // noisy from now on
    put_many(rig, box, NULL, 500);
    lease_many(rig, box, 500, "none"); // too few of all to be noisy again
    rig_pass(rig, 200 * S);
    put(rig, box, "loud", "more");
    rig_pass(rig, 299 * S);
    put(rig, box, "quiet", "q");
    CHECK_STR("q", rig_received(rig, box, 1, 600 * S));
    rig_pass(rig, S);
    put(rig, box, "quiet", "q");
    CHECK_STR("loud", rig_received(rig, box, 1, 600 * S));
}

RIG_TEST("FAIR-4", letters_without_a_group_are_never_noisy)
{
    lbx_box box = rig_create(rig, "box", NULL);

    put_many(rig, box, NULL, 100);
    lease_many(rig, box, 50, "none");
    put(rig, box, "quiet", "q");
    lease_many(rig, box, 50, "none");
    CHECK_STR("q", rig_received(rig, box, 1, 30 * S));
}

RIG_TEST("FAIR-1 SWEEP-1", leases_that_are_over_make_no_noise)
{
    lbx_box box = rig_create(rig, "box", NULL);

    put_many(rig, box, "loud", 100);
    for (int i = 0; i < 3; i++)
        CHECK_INT(10, rig_receive(rig, box, 10, 30 * S));
    put(rig, box, "quiet", "q");
    rig_pass(rig, 30 * S);
    CHECK_STR("loud", rig_received(rig, box, 1, 30 * S));
}

RIG_TEST("FAIR-1", tenants_leave_no_rows_behind)
{
    static const lbx__table tables[] = {
        LBX__BODIES, LBX__STATES, LBX__READY,     LBX__WAITS,
        LBX__LINES,  LBX__GROUPS, LBX__GROUP_DUE, LBX__GIDS,
    };
    lbx_box box = crowded(rig, 50, 40);

    put(rig, box, "quiet", "q");
    CHECK_STR("q", rig_received(rig, box, 1, 0)); // the other is noisy
    rig_pass(rig, 600 * S);
    for (int count; (count = rig_receive(rig, box, 10, 30 * S)) > 0;)
        for (int i = 0; i < count; i++)
            CHECK_OK(rig_ack(rig, box, &rig->got[i]));
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        CHECK_INT(0, lbx__memory_rows(rig->storage, tables[i]));
    put_many(rig, box, "loud", 50);
    lease_many(rig, box, 40, "loud");
    CHECK_INT(50, rig_purge(rig, box));
    rig_work(rig);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        CHECK_INT(0, lbx__memory_rows(rig->storage, tables[i]));
    put_many(rig, box, "loud", 1);
    CHECK_STR("loud", rig_received(rig, box, 10, 30 * S));
}

RIG_TEST("FAIR-2 BOXREC-3", letters_without_a_group_need_no_rows_of_tenants)
{
    lbx_box box = rig_create(rig, "box", NULL);

    put_many(rig, box, NULL, 10);
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__STATES));
    put(rig, box, "g", "g");
    put_many(rig, box, NULL, 1); // behind a tenant: with a state
    CHECK_INT(2, lbx__memory_rows(rig->storage, LBX__STATES));
    CHECK_INT(10, rig_receive(rig, box, 10, 0));
    CHECK_INT(2, rig_receive(rig, box, 2, 600 * S));
    CHECK_INT(12, lbx__memory_rows(rig->storage, LBX__STATES));
    put_many(rig, box, NULL, 5); // no letter is fresh: as in the beginning
    CHECK_INT(12, lbx__memory_rows(rig->storage, LBX__STATES));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__LINES));
}

/* ---- What a receive costs ---- */

static lbx__storage_ops counted_ops;
static unsigned reads;

static lbx_status
counted_get(lbx__storage *storage, lbx__table table, lbx__bytes key,
            lbx__bytes *ret)
{
    reads++;
    return counted_ops.get(storage, table, key, ret);
}

static lbx_status
counted_seek(lbx__storage *storage, lbx__table table, lbx__bytes key,
             lbx__bytes *ret_key, lbx__bytes *ret)
{
    reads++;
    return counted_ops.seek(storage, table, key, ret_key, ret);
}

/* The rows that a receive reads of a box with such a backlog of a noisy tenant,
 * and letters without a group among them, to find a quiet one's letter. */
static unsigned
reads_beside(int backlog)
{
    RIG(rig);
    lbx_box box = crowded(rig, backlog, 40);

    put(rig, box, NULL, "none");
    put_many(rig, box, "loud", backlog);
    put(rig, box, NULL, "none");
    put(rig, box, "quiet", "q");
    CHECK_STR("none", rig_received(rig, box, 1, 30 * S)); // noise begins
    counted_ops = rig->ops;
    rig->ops.get = counted_get;
    rig->ops.seek = counted_seek;
    reads = 0;
    CHECK_STR("none q loud", rig_received(rig, box, 3, 30 * S));
    return reads;
}

TEST_CITING("FAIR-3", a_receive_reads_no_more_beside_a_longer_backlog)
{
    const unsigned few = reads_beside(100), many = reads_beside(20000);

    test_note("%u rows are read beside 100, %u beside 20,000", few, many);
    CHECK_INT(few, many);
}

/* ---- Letters of earlier stores, and damage ---- */

/* A letter as earlier versions have stored it: with a group, without a number.
 */
static void
put_old(struct rig *rig, lbx_box id, const char *text)
{
    lbx__rules *rules = rig->rules;
    lbx__body body = {
        .parcel = {.body = text, .body_bytes = 1, .group = "old"}};
    lbx__need need = {.count = 0};
    lbx__box_record *box;

    rig_begin(rig);
    lbx__rules_start(rules);
    CHECK_OK(lbx__box_record_open(rules, id, &box));
    body.sent_ns = rules->now;
    lbx__buffer_reset(&rules->encoded);
    lbx__body_encode(&body.parcel, NULL, &rules->encoded);
    lbx__letter_record_need_insert(&need, &body, rules->encoded.size, false);
    CHECK_OK(lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__GROWS));
    lbx__letter_record_insert(
        rules, box, box->next++, &body,
        (lbx__bytes){rules->encoded.bytes, rules->encoded.size}, NULL);
    CHECK_OK(rig_end(rig, lbx__box_record_close_all(rules, LBX_OK)));
}

RIG_TEST("FAIR-2", letters_that_were_stored_before_there_were_tenants_come)
{
    lbx_box box = rig_create(rig, "box", NULL);

    put_old(rig, box, "a");
    put_old(rig, box, "b");
    put(rig, box, "old", "c");
    CHECK_STR("a", rig_received(rig, box, 1, 0));
    CHECK_STR("old", rig->got[0].group);
    CHECK_STR("b c a", rig_received(rig, box, 10, 30 * S));
    for (int i = 0; i < 3; i++)
        CHECK_OK(rig_ack(rig, box, &rig->got[i]));
    CHECK_INT(0, rig_receive(rig, box, 10, S));
    CHECK_STATUS(LBX_EMPTY, rig->status);
}

/* Changes a bit in the first row of a table. */
static void
flip_first(struct rig *rig, lbx__table table)
{
    uint8_t key[LBX__ROW_KEY_MAX], copy[4096];
    lbx__bytes at = {key, 0}, value;

    CHECK_OK(lbx__storage_begin(rig->storage));
    CHECK_OK(lbx__storage_seek(rig->storage, table, at, &at, &value));
    CHECK(value.size <= sizeof(copy));
    memcpy(key, at.data, at.size);
    memcpy(copy, value.data, value.size);
    copy[value.size - 1] ^= 1;
    lbx__storage_put(rig->storage, table, (lbx__bytes){key, at.size},
                     &(lbx__bytes){copy, value.size}, 1);
    (void)lbx__storage_commit(rig->storage);
}

TEST_CITING("FAIR-5 RULES-6", damage_to_a_tenant_stops_no_other)
{
    static const lbx__table tables[] = {LBX__GIDS, LBX__GROUP_DUE, LBX__LINES,
                                        LBX__STATES, LBX__BODIES};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        RIG(rig);
        lbx_box box = rig_create(rig, "box", NULL);

        put(rig, box, "first", "a");
        put(rig, box, "second", "b");
        put(rig, box, NULL, "c");
        flip_first(rig, tables[i]);
        CHECK_STR("b c", rig_received(rig, box, 10, 600 * S));
        CHECK_INT(0, rig_receive(rig, box, 10, S));
        CHECK_STATUS(LBX_CORRUPT, rig->status); // never EMPTY
        CHECK_INT(1, rig_counts(rig, box).ready);
        flip_first(rig, tables[i]);
        CHECK_STR("a", rig_received(rig, box, 10, 600 * S));
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: create, change, describe, list, purge, delete; damage; lack of
 * memory. */
#include "codec/endian.h"
#include "fixture.h"

#include "post/rules/row.h"
#include "stores/memory/memory.h"

#include <stdio.h>
#include <string.h>

/* SQS: idempotent with the same options, as they are now. */
RIG_TEST("", creating_twice_is_one_box_if_the_options_agree)
{
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    lbx_box_request request = {.name = "box", .options = &options};
    lbx_box box = rig_create(rig, "box", &options);

    CHECK_INT(box.uid, rig_create(rig, "box", &options).uid);
    CHECK_INT(box.uid, rig_create(rig, "box", NULL).uid);
    options.lease_ns++;
    CHECK_STATUS(LBX_EXISTS,
                 RIG_CALL(rig, lbx__box_admin_create(rig->rules, &request)));
    CHECK_OK(rig_configure(rig, box, &options));
    CHECK_INT(box.uid, rig_create(rig, "box", &options).uid);
    rig_reopen(rig);
    CHECK_INT(box.uid, rig_create(rig, "box", &options).uid);
    options.fifo = options.strict = true;
    CHECK_STATUS(LBX_INVALID, rig_configure(rig, box, &options));
}

static void
join_text(void *context, const lbx_box_text *text)
{
    char *all = context;

    sprintf(all + strlen(all), "%s=%s;", text->name, text->value);
}

RIG_TEST("", options_and_texts_are_described_as_they_were_given)
{
    static const char *const friends[] = {"one", "two"};
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS), told;
    const lbx_box_text texts[] = {{"tag:team", "red"}, {"sqs:Policy", "{}"}};
    const lbx_box_text changes[] = {{"tag:team", NULL}, {"tag:new", "1"}};
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES + 1], all[200] = "";
    lbx_box_request request = {.name = "box",
                               .options = &options,
                               .texts = texts,
                               .text_count = 2,
                               .buffer = buffer + 1, // on no boundary
                               .ret_options = &told,
                               .each_text = join_text,
                               .context = all};

    options.dead_letters = "box";
    options.max_deliveries = 7;
    options.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED;
    options.dead_letter_boxes = friends;
    options.dead_letter_box_count = 2;
    CHECK_STATUS(LBX_DENIED,
                 RIG_CALL(rig, lbx__box_admin_create(rig->rules, &request)));
    options.dead_letters = NULL;
    options.max_deliveries = 0;
    CHECK_OK(RIG_CALL(rig, lbx__box_admin_create(rig->rules, &request)));
    CHECK_STR("tag:team=red;sqs:Policy={};", all);
    CHECK_INT(options.limits.max_leased, told.limits.max_leased);
    CHECK_INT(options.retention_ns, told.retention_ns);
    CHECK(told.limits.text_only && !told.strict && !told.dead_letters);
    CHECK_INT(2, told.dead_letter_box_count);
    CHECK_STR("one", told.dead_letter_boxes[0]);
    CHECK_STR("two", told.dead_letter_boxes[1]);
    request.options = NULL;
    request.texts = changes;
    CHECK_OK(RIG_CALL(rig, lbx__box_admin_configure(rig->rules, &request)));
    all[0] = '\0';
    CHECK_OK(RIG_CALL(rig, lbx__catalog_describe(rig->rules, &request)));
    CHECK_STR("sqs:Policy={};tag:new=1;", all);
    CHECK_INT(2, told.dead_letter_box_count);
}

struct names {
    char all[200];
    int max;
};

static bool
join_name(void *context, const char *name)
{
    struct names *names = context;

    sprintf(names->all + strlen(names->all), "%s ", name);
    return --names->max > 0;
}

static const char *
list(struct rig *rig, const char *space, const char *prefix, const char *after,
     int max, lbx_box dead)
{
    static struct names names;
    const lbx_list_request request = {.space = space,
                                      .dead_letters = dead,
                                      .prefix = prefix,
                                      .after = after,
                                      .each = join_name,
                                      .context = &names};

    names = (struct names){.max = max};
    CHECK_OK(RIG_CALL(rig, lbx__catalog_list(rig->rules, &request)));
    return names.all;
}

RIG_TEST("", boxes_are_listed_by_name_and_space)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_request elsewhere = {.space = "eu", .name = "b"};
    const lbx_box none = {0};
    lbx_box dead;

    dead = rig_create(rig, "b", NULL);
    options.dead_letters = "b";
    options.max_deliveries = 1;
    rig_create(rig, "aa", &options);
    rig_create(rig, "ab", NULL);
    rig_create(rig, "a", &options);
    CHECK_OK(RIG_CALL(rig, lbx__box_admin_create(rig->rules, &elsewhere)));
    CHECK_STR("a aa ab b ", list(rig, NULL, NULL, NULL, 9, none));
    CHECK_STR("a aa ab ", list(rig, NULL, "a", NULL, 9, none));
    CHECK_STR("ab ", list(rig, NULL, "a", "aa", 9, none));
    CHECK_STR("", list(rig, NULL, "a", "ab", 9, none));
    CHECK_STR("", list(rig, NULL, "a", "b", 9, none));
    CHECK_STR("a aa ", list(rig, NULL, NULL, NULL, 2, none));
    CHECK_STR("b ", list(rig, "eu", NULL, NULL, 9, none));
    CHECK_STR("a aa ", list(rig, NULL, NULL, NULL, 9, dead));
}

/* None is created; listing from behind it would find it again, for ever. */
RIG_TEST("", a_name_with_a_nul_inside_is_damage)
{
    struct names names = {.max = 9};
    const lbx_list_request request = {.each = join_name, .context = &names};
    lbx__key key = lbx__key_name(NULL, "a");
    lbx__row_size size;

    key.bytes[key.size++] = 0;
    key.bytes[key.size++] = 'b';
    size = (lbx__row_size){key.size, LBX__SUM_BYTES + 8};
    rig_begin(rig);
    CHECK_OK(lbx__storage_reserve(rig->storage, &size, 1, LBX__GROWS));
    lbx__row_put_number(rig->storage, LBX__NAMES, &key, 1);
    CHECK_OK(rig_end(rig, LBX_OK));
    CHECK_STATUS(LBX_CORRUPT,
                 RIG_CALL(rig, lbx__catalog_list(rig->rules, &request)));
}

/* Otherwise no option of a box could be changed after its dead-letter box was
 * deleted, or has stopped to allow others. */
RIG_TEST("", dead_letters_that_stay_are_not_checked_again)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_options deny = LBX_BOX_OPTIONS_INIT;
    lbx_box dead = rig_create(rig, "dead", NULL);
    lbx_box box;

    options.dead_letters = "dead";
    options.max_deliveries = 2;
    box = rig_create(rig, "box", &options);
    deny.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_NONE;
    CHECK_OK(rig_configure(rig, dead, &deny));
    options.max_deliveries = 3;
    CHECK_OK(rig_configure(rig, box, &options));
    CHECK_OK(rig_delete(rig, dead));
    options.lease_ns = S;
    CHECK_OK(rig_configure(rig, box, &options));
    options.dead_letters = "others";
    CHECK_STATUS(LBX_NOT_FOUND, rig_configure(rig, box, &options));
    options.dead_letters = NULL;
    options.max_deliveries = 0;
    CHECK_OK(rig_configure(rig, box, &options));
    options.dead_letters = "dead";
    options.max_deliveries = 3;
    CHECK_STATUS(LBX_NOT_FOUND, rig_configure(rig, box, &options));
}

RIG_TEST("DRIVER-6", a_deleted_box_is_closed_and_its_name_is_free)
{
    int64_t due;
    lbx_box box = rig_create(rig, "box", NULL);
    lbx_box again;

    CHECK_OK(rig_send(rig, box, "a"));
    CHECK_OK(rig_delete(rig, box));
    CHECK_INT(box.uid, rig->change.uid);
    CHECK_STATUS(LBX_CLOSED, rig_send(rig, box, "b"));
    CHECK_INT(0, rig_receive(rig, box, 1, S));
    CHECK_STATUS(LBX_CLOSED, rig->status);
    CHECK_STATUS(LBX_CLOSED,
                 RIG_CALL(rig, lbx__receive_next_due(rig->rules, box, &due)));
    CHECK_STATUS(LBX_NOT_FOUND, rig_delete(rig, box));
    again = rig_create(rig, "box", NULL);
    CHECK(again.uid != box.uid);
    CHECK_INT(0, rig_receive(rig, again, 1, S));
    CHECK_STATUS(LBX_EMPTY, rig->status);
}

/* BOXADM-1: whatever is inside, a purge is a few rows; the rest goes in
 * budgets. */
RIG_TEST("", a_purge_is_one_step_and_its_rows_go_later)
{
    const lbx_parcel remembered = {.body = "", .token = "t"};
    lbx_box box = rig_create(rig, "box", NULL);
    int64_t due;
    uint64_t last;

    for (int i = 0; i < 49; i++)
        CHECK_OK(rig_send(rig, box, "x"));
    CHECK_OK(rig_send_parcel(rig, box, &remembered));
    last = rig->sent.sequence;
    CHECK_INT(10, rig_receive(rig, box, 10, 30 * S));
    CHECK_INT(50, rig_purge(rig, box));
    CHECK_INT(0, rig_counts(rig, box).ready);
    CHECK_INT(0, rig_counts(rig, box).bytes);
    CHECK_INT(0, rig_peek(rig, box));
    CHECK_INT(50, lbx__memory_rows(rig->storage, LBX__BODIES));
    CHECK_OK(rig_send(rig, box, "new"));
    CHECK(rig->sent.sequence > last); // BOXREC-2
    CHECK_OK(RIG_CALL(rig, lbx__background_work(rig->rules, 20, &due)));
    CHECK_INT(31, lbx__memory_rows(rig->storage, LBX__BODIES));
    CHECK(due <= test_clock_now(&rig->time));
    rig_work(rig);
    CHECK_INT(1, lbx__memory_rows(rig->storage, LBX__BODIES));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__STATES));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__WAITS));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__SEEN));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__SEEN_DUE));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__GARBAGE));
    CHECK_OK(RIG_CALL(rig, lbx__background_work(rig->rules, 20, &due)));
    CHECK(due == LBX_FOREVER);
    CHECK_INT(1, rig_receive(rig, box, 10, S));
}

/* STORAGE-4: as two processes do, one batch at a time. */
TEST(two_that_use_a_storage_by_turns_see_each_others_letters)
{
    RIG(rig);
    const lbx__rules_options options = {.allocator = NULL};
    lbx_box box = rig_create(rig, "box", NULL);
    lbx__rules *mine = rig->rules, *others;

    CHECK_OK(lbx__rules_open(rig->storage, &options, &others));
    for (int i = 0; i < 3; i++) {
        rig->rules = others;
        CHECK_OK(rig_send(rig, box, "a"));
        rig->rules = mine;
        CHECK_OK(rig_send(rig, box, "b"));
    }
    CHECK_STR("a b a b a b", rig_received(rig, box, 10, S));
    lbx__rules_close(others);
}

/* ---- Damage ---- */

/* Changes one bit of the value of the first row of a table. */
static void
flip(struct rig *rig, lbx__table table, size_t byte)
{
    lbx__bytes at, value;
    uint8_t key[LBX__ROW_KEY_MAX], copy[4096];

    CHECK_OK(lbx__storage_begin(rig->storage));
    CHECK_OK(lbx__storage_seek(rig->storage, table, (lbx__bytes){"", 0}, &at,
                               &value));
    CHECK(value.size <= sizeof(copy) && byte < value.size);
    memcpy(key, at.data, at.size);
    memcpy(copy, value.data, value.size);
    copy[byte] ^= 1;
    lbx__storage_put(rig->storage, table, (lbx__bytes){key, at.size},
                     &(lbx__bytes){copy, value.size}, 1);
    (void)lbx__storage_commit(rig->storage);
}

TEST_CITING("RULES-2 RULES-6", damage_is_reported_and_never_read_as_empty)
{
    static const lbx__table tables[] = {LBX__BODIES, LBX__STATES, LBX__READY,
                                        LBX__BOX_RECORDS, LBX__BOXES};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        RIG(rig);
        lbx_box box = rig_create(rig, "box", NULL);

        CHECK_OK(rig_send(rig, box, "a"));
        CHECK_INT(1, rig_receive(rig, box, 1, S));
        CHECK_OK(rig_nack(rig, box, &rig->got[0], 0));
        rig_reopen(rig); // nothing is cached
        flip(rig, tables[i], 5);
        CHECK_INT(0, rig_receive(rig, box, 1, S));
        CHECK_STATUS(LBX_CORRUPT, rig->status);
        flip(rig, tables[i], 5);
        CHECK_INT(1, rig_receive(rig, box, 1, S));
    }
}

RIG_TEST("RULES-6", a_store_with_boxes_and_no_identity_is_damaged)
{
    rig_create(rig, "box", NULL);
    CHECK_OK(lbx__storage_begin(rig->storage));
    lbx__storage_remove(rig->storage, LBX__META, (lbx__bytes){"store", 5});
    (void)lbx__storage_commit(rig->storage);
    CHECK_STATUS(LBX_CORRUPT, rig_open_again(rig));
}

/* ---- Lack of memory ---- */

/* A life of letters in fifo and plain boxes; the first failure. */
static lbx_status
live(struct rig *rig, lbx_box plain, lbx_box fifo)
{
    const lbx_attribute attribute = {"n", LBX_ATTRIBUTE_STRING, NULL, "v", 1};
    const lbx_parcel parcel = {.body = "a",
                               .body_bytes = 1,
                               .attributes = &attribute,
                               .attribute_count = 1,
                               .token = "t"};
    lbx_status status = rig_send_parcel(rig, plain, &parcel);

    if (status == LBX_OK)
        status = rig_send_in(rig, fifo, "b", "g", "d");
    if (status == LBX_OK && rig_receive(rig, plain, 1, S) != 1)
        status = rig->status;
    if (status == LBX_OK)
        status = rig_nack(rig, plain, &rig->got[0], S);
    if (status == LBX_OK && rig_attempt(rig, fifo, 1, S, "try") != 1)
        status = rig->status;
    if (status == LBX_OK)
        status = rig_ack(rig, fifo, &rig->got[0]);
    return status;
}

/* RULES-1: a refusal leaves nothing behind. */
TEST(every_failing_allocation_is_a_refusal_without_a_trace)
{
    const lbx_box_options options =
        lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);

    for (int allowed = 0;; allowed++) {
        TORTURE(memory, allocator);
        struct rig *rig = rig_new_in(&allocator);
        lbx_box plain, fifo;
        lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
        lbx_status status;

        plain = rig_create(rig, "plain", NULL);
        fifo = rig_create(rig, "fifo", &options);
        memory.allowed = memory.allocations + allowed;
        status = live(rig, plain, fifo);
        memory.allowed = LONG_MAX;
        counts = rig_counts(rig, plain);
        CHECK_INT(counts.ready + counts.leased + counts.delayed,
                  rig_peek(rig, plain));
        CHECK_INT(lbx__memory_rows(rig->storage, LBX__STATES),
                  lbx__memory_rows(rig->storage, LBX__READY) +
                      lbx__memory_rows(rig->storage, LBX__WAITS));
        CHECK_INT(lbx__memory_rows(rig->storage, LBX__SEEN),
                  lbx__memory_rows(rig->storage, LBX__SEEN_DUE));
        CHECK_INT(lbx__memory_rows(rig->storage, LBX__GIDS),
                  lbx__memory_rows(rig->storage, LBX__GROUP_DUE));
        rig_free(&rig);
        CHECK_INT(0, memory.live_blocks);
        if (status == LBX_OK)
            return;
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK(allowed < 200);
    }
}

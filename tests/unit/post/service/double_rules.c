/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of a few lines: letters in an array, found by looking at each. They
 * keep what post/rules/rules.h says of changes and lbx__receive_next_due().
 */
#include "double.h"

#include "post/rules/rules.h"

#include <stdio.h>
#include <string.h>

enum {
    LETTERS = 4096,
    NAMES = 1000
};

struct letter {
    uint64_t box;
    int64_t due_ns;
};

struct lbx__rules {
    lbx__storage *storage;
    lbx__box_change changes[LBX_MAX_BATCH * 2];
    size_t change_count;
    bool deleted[BOXES + 1];
    struct letter letters[LETTERS]; /* box 0: free; the index is the sequence */
    size_t count;
};

static lbx__rules the_rules;

lbx_status
lbx__rules_open(lbx__storage *storage, const lbx__rules_options *options,
                lbx__rules **ret)
{
    memset(&the_rules, 0, sizeof(the_rules));
    the_rules.storage = storage;
    CHECK(!options->wall_ms); // the system's
    *ret = &the_rules;
    return LBX_OK;
}

void
lbx__rules_close(lbx__rules *rules)
{
    (void)rules;
}

uint64_t
lbx__box_record_commit(lbx__rules *rules)
{
    return lbx__storage_commit(rules->storage);
}

size_t
lbx__box_record_take_changes(lbx__rules *rules, const lbx__box_change **ret)
{
    const size_t count = rules->change_count;

    *ret = rules->changes;
    rules->change_count = 0;
    return count;
}

const uint8_t *
lbx__rules_key(const lbx__rules *rules)
{
    static const uint8_t key[LBX__STORE_KEY_BYTES] = {1};

    (void)rules;
    return key;
}

static void
note_change(lbx__rules *rules, uint64_t box, int64_t due_ns)
{
    CHECK(rules->change_count < LBX_MAX_BATCH * 2);
    rules->changes[rules->change_count++] = (lbx__box_change){box, due_ns};
}

static void
add(lbx__rules *rules, uint64_t box, int64_t due_ns)
{
    CHECK(rules->count < LETTERS);
    rules->letters[rules->count++] = (struct letter){box, due_ns};
    note_change(rules, box, due_ns);
}

lbx_status
lbx__send_apply(lbx__rules *rules, lbx_send_request *request)
{
    const int64_t now_ns = lbx__storage_now(rules->storage);

    CHECK(rules->storage->begun);
    for (size_t i = 0; i < request->count; i++) {
        if (request->box.uid > BOXES || rules->deleted[request->box.uid])
            return request->sent[i].status = LBX_CLOSED;
        request->sent[i].status = LBX_OK;
        request->sent[i].sequence = rules->count;
        add(rules, request->box.uid, now_ns + request->parcels[i].delay_ns);
    }
    return LBX_OK;
}

lbx_status
lbx__receive_apply(lbx__rules *rules, const lbx_receive_request *request,
                   uint32_t before, const lbx__sink *sink, uint32_t *ret_count)
{
    const int64_t now_ns = lbx__storage_now(rules->storage);
    const uint64_t box = request->box.uid;

    CHECK(rules->storage->begun);
    gate_pass(&world.at_receive);
    *ret_count = 0;
    if (rules->deleted[box])
        return LBX_CLOSED;
    for (size_t i = 0;
         i < rules->count && before + *ret_count < request->max_letters; i++) {
        struct letter *letter = &rules->letters[i];

        if (letter->box != box ||
            (letter->due_ns > now_ns && !request->attempt_id))
            continue;
        letter->due_ns = now_ns + request->lease_ns;
        CHECK_OK(sink->deliver(sink->context, &(lbx_delivery){.sequence = i}));
        ++*ret_count;
        if (world.moves && box == 1)
            add(rules, 2, now_ns);
    }
    return *ret_count > 0 ? LBX_OK : LBX_EMPTY;
}

lbx_status
lbx__receive_next_due(lbx__rules *rules, lbx_box box, int64_t *ret_due_ns)
{
    if (atomic_load(&world.next_due) != LBX_OK)
        return (lbx_status)atomic_load(&world.next_due);
    *ret_due_ns = LBX_FOREVER;
    for (size_t i = 0; i < rules->count; i++)
        if (rules->letters[i].box == box.uid &&
            rules->letters[i].due_ns < *ret_due_ns)
            *ret_due_ns = rules->letters[i].due_ns;
    if (atomic_load(&world.due_ns) != 0)
        *ret_due_ns = atomic_load(&world.due_ns);
    return LBX_OK;
}

lbx_status
lbx__box_admin_delete(lbx__rules *rules, lbx_box_request *request)
{
    rules->deleted[request->box.uid] = true;
    note_change(rules, request->box.uid, 0);
    return LBX_OK;
}

lbx_status
lbx__box_admin_purge(lbx__rules *rules, lbx_box_request *request)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->letters[i].box == request->box.uid) {
            rules->letters[i].box = 0;
            request->ret_purged++;
        }
    return LBX_OK;
}

lbx_status
lbx__catalog_list(lbx__rules *rules, const lbx_list_request *request)
{
    char name[16];

    (void)rules;
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "%04d", i);
        if ((!request->after || strcmp(name, request->after) > 0) &&
            !request->each(request->context, name))
            break;
    }
    return LBX_OK;
}

lbx_status
lbx__catalog_describe(lbx__rules *rules, lbx_box_request *request)
{
    (void)rules;
    request->each_text(request->context, &(lbx_box_text){"tag:a", "b"});
    request->each_text(request->context, &(lbx_box_text){"tag:c", ""});
    request->ret_box.uid = 1;
    return LBX_OK;
}

lbx_status
lbx__background_work(lbx__rules *rules, uint32_t budget, int64_t *ret_due_ns)
{
    const int left = atomic_load(&world.work_left);
    const int part = left < (int)budget ? left : (int)budget;

    if (atomic_load(&world.work) != LBX_OK)
        return (lbx_status)atomic_load(&world.work);
    if (world.moves && part > 0)
        add(rules, 2, lbx__storage_now(rules->storage));
    *ret_due_ns =
        atomic_fetch_sub(&world.work_left, part) > part ? 1 : LBX_FOREVER;
    return LBX_OK;
}

/* Not asked for by these tests. */

#define UNUSED(name, type)                                                     \
    lbx_status name(lbx__rules *rules, type *request)                          \
    {                                                                          \
        (void)rules;                                                           \
        (void)request;                                                         \
        return LBX_UNSUPPORTED;                                                \
    }

UNUSED(lbx__box_admin_create, lbx_box_request)
UNUSED(lbx__box_admin_configure, lbx_box_request)
UNUSED(lbx__settle_apply, lbx_settle_request)
UNUSED(lbx__settle_undo, lbx_settle_request)
UNUSED(lbx__move_apply, lbx_move_request)

lbx_status
lbx__receive_peek(lbx__rules *rules, const lbx_peek_request *request,
                  const lbx__sink *sink)
{
    (void)rules;
    (void)request;
    (void)sink;
    return LBX_UNSUPPORTED;
}

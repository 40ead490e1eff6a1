/* SPDX-License-Identifier: Apache-2.0 */
/* The rules as a subject; see rules_subject.h. */
#include "rules_subject.h"

#include "post/rules/internal.h"
#include "stores/memory/memory.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* ---- A storage with a fault: all goes through to another, nearly ---- */

struct faulty {
    lbx__storage base; /* first */
    lbx__storage_ops ops;
    lbx__storage *real;
    rules_fault fault;
    int64_t ahead;
    struct shown *shown[LBX__TABLES];
};

/* A row that was shown, as a copy. */
struct shown {
    struct shown *next;
    size_t size;
    uint8_t bytes[];
};

static struct faulty *
faulty_of(lbx__storage *storage)
{
    return (struct faulty *)storage;
}

static lbx__bytes
show(struct faulty *faulty, lbx__table table, lbx__bytes bytes)
{
    struct shown *shown;

    if (faulty->fault != SCRIBBLES)
        return bytes;
    shown = malloc(sizeof(*shown) + bytes.size);
    shown->next = faulty->shown[table];
    shown->size = bytes.size;
    if (bytes.size > 0)
        memcpy(shown->bytes, bytes.data, bytes.size);
    faulty->shown[table] = shown;
    return (lbx__bytes){shown->bytes, bytes.size};
}

static void
scribble(struct faulty *faulty, lbx__table table)
{
    while (faulty->shown[table]) {
        struct shown *shown = faulty->shown[table];

        faulty->shown[table] = shown->next;
        memset(shown->bytes, 0xee, shown->size);
        free(shown);
    }
}

static lbx_status
begin(lbx__storage *storage)
{
    return lbx__storage_begin(faulty_of(storage)->real);
}

static lbx_status
get(lbx__storage *storage, lbx__table table, lbx__bytes key, lbx__bytes *ret)
{
    const lbx_status status =
        lbx__storage_get(faulty_of(storage)->real, table, key, ret);

    if (status == LBX_OK)
        *ret = show(faulty_of(storage), table, *ret);
    return status;
}

static lbx_status
seek(lbx__storage *storage, lbx__table table, lbx__bytes key,
     lbx__bytes *ret_key, lbx__bytes *ret)
{
    const lbx_status status =
        lbx__storage_seek(faulty_of(storage)->real, table, key, ret_key, ret);

    if (status == LBX_OK) {
        *ret_key = show(faulty_of(storage), table, *ret_key);
        *ret = show(faulty_of(storage), table, *ret);
    }
    return status;
}

static lbx_status
reserve(lbx__storage *storage, const lbx__row_size *sizes, size_t count,
        lbx__growth growth)
{
    return lbx__storage_reserve(faulty_of(storage)->real, sizes, count, growth);
}

static void
put(lbx__storage *storage, lbx__table table, lbx__bytes key,
    const lbx__bytes *parts, size_t count)
{
    const rules_fault fault = faulty_of(storage)->fault;

    if ((fault == FORGETS_SEEN && table == LBX__SEEN) ||
        (fault == LOSES_READY && table == LBX__READY))
        return;
    scribble(faulty_of(storage), table);
    lbx__storage_put(faulty_of(storage)->real, table, key, parts, count);
}

static void
remove_row(lbx__storage *storage, lbx__table table, lbx__bytes key)
{
    const rules_fault fault = faulty_of(storage)->fault;

    if ((fault == KEEPS_LINES && table == LBX__LINES) ||
        (fault == KEEPS_WAITS && table == LBX__WAITS) ||
        (fault == FORGETS_PLACE && table == LBX__GROUP_DUE))
        return;
    scribble(faulty_of(storage), table);
    lbx__storage_remove(faulty_of(storage)->real, table, key);
}

static uint64_t
commit(lbx__storage *storage)
{
    for (lbx__table table = 0; table < LBX__TABLES; table++)
        scribble(faulty_of(storage), table);
    return lbx__storage_commit(faulty_of(storage)->real);
}

static lbx_status
flush(lbx__storage *storage, uint64_t ticket)
{
    return lbx__storage_flush(faulty_of(storage)->real, ticket);
}

static int64_t
now(lbx__storage *storage)
{
    struct faulty *faulty = faulty_of(storage);

    if (faulty->fault == CLOCK_FAST)
        faulty->ahead += LBX_MS;
    return lbx__storage_now(faulty->real) + faulty->ahead;
}

static void
close_faulty(lbx__storage *storage)
{
    lbx__storage_close(faulty_of(storage)->real);
    free(storage);
}

static lbx__storage *
make_faulty(lbx__storage *real, rules_fault fault)
{
    struct faulty *faulty = calloc(1, sizeof(*faulty));

    faulty->real = real;
    faulty->fault = fault;
    faulty->ops = (lbx__storage_ops){
        .scheme = "faulty",
        .begin = begin,
        .get = get,
        .seek = seek,
        .reserve = reserve,
        .put = put,
        .remove = remove_row,
        .commit = commit,
        .flush = flush,
        .now = now,
        .close = close_faulty,
    };
    faulty->base.ops = &faulty->ops;
    return &faulty->base;
}

/* ---- The subject ---- */

static int64_t
read_clock(void *context)
{
    return ((rules_subject *)context)->now;
}

static int64_t
read_wall(void *context)
{
    return ((rules_subject *)context)->now / LBX_MS + 1;
}

struct sink {
    void (*deliver)(void *context, const lbx_delivery *delivery);
    void *context;
};

static lbx_status
deliver(void *context, const lbx_delivery *delivery)
{
    const struct sink *sink = context;

    sink->deliver(sink->context, delivery);
    return LBX_OK;
}

static lbx_status
run(lbx__rules *rules, lbx_call_kind verb, void *request, const lbx__sink *sink)
{
    uint32_t count;

    switch (verb) {
    case LBX_CALL_CREATE:
        return lbx__box_admin_create(rules, request);
    case LBX_CALL_CONFIGURE:
        return lbx__box_admin_configure(rules, request);
    case LBX_CALL_DELETE:
        return lbx__box_admin_delete(rules, request);
    case LBX_CALL_DESCRIBE:
        return lbx__catalog_describe(rules, request);
    case LBX_CALL_LIST:
        return lbx__catalog_list(rules, request);
    case LBX_CALL_SEND:
        return lbx__send_apply(rules, request);
    case LBX_CALL_RECEIVE:
        return lbx__receive_apply(rules, request, 0, sink, &count);
    case LBX_CALL_SETTLE:
        return lbx__settle_apply(rules, request);
    case LBX_CALL_UNDO:
        return lbx__settle_undo(rules, request);
    case LBX_CALL_PEEK:
        return lbx__receive_peek(rules, request, sink);
    case LBX_CALL_PURGE:
        return lbx__box_admin_purge(rules, request);
    case LBX_CALL_MOVE:
        return lbx__move_apply(rules, request);
    case LBX_CALL_SYNC:
        break;
    }
    return LBX_UNSUPPORTED;
}

/* Each call is a group of its own; some background goes before it, in budgets
 * that are never the same for long. */
static lbx_status
call(void *context, lbx_call_kind verb, void *request,
     void (*each)(void *context, const lbx_delivery *delivery),
     void *each_context)
{
    rules_subject *subject = context;
    struct sink sink = {each, each_context};
    const lbx__sink rules_sink = {deliver, &sink};
    int64_t due;
    lbx_status status;

    CHECK_OK(lbx__storage_begin(subject->storage));
    CHECK_OK(
        lbx__background_work(subject->rules, 1 + subject->budget++ % 7, &due));
    status = run(subject->rules, verb, request, &rules_sink);
    CHECK_OK(lbx__storage_flush(subject->storage,
                                lbx__box_record_commit(subject->rules)));
    return status;
}

static void
advance(void *context, int64_t ns)
{
    ((rules_subject *)context)->now += ns;
}

static const char *
audit(void *context)
{
    rules_subject *subject = context;
    const char *wrong;

    CHECK_OK(lbx__storage_begin(subject->storage));
    lbx__box_record_write_all(
        subject->rules); // a private storage may be without
    wrong =
        rules_audit(subject->storage, subject->wrong, sizeof(subject->wrong));
    (void)lbx__storage_commit(subject->storage);
    return wrong;
}

void
rules_subject_init(rules_subject *subject, rules_fault fault, bool is_private)
{
    const lbx__rules_options options = {.wall_ms = read_wall,
                                        .wall_context = subject};

    *subject = (rules_subject){
        .base = {.name = "rules",
                 .call = call,
                 .advance = advance,
                 .audit = fault == NO_FAULT ? audit : NULL,
                 .undoes = true,
                 .context = subject},
        .clock = {read_clock, subject},
        .now = 77 * LBX_SECOND,
    };
    CHECK_OK(lbx__memory_open(NULL, &subject->clock, &subject->memory));
    subject->storage =
        is_private ? subject->memory : make_faulty(subject->memory, fault);
    CHECK_OK(lbx__rules_open(subject->storage, &options, &subject->rules));
}

void
rules_subject_fini(rules_subject *subject)
{
    lbx__rules_close(subject->rules);
    lbx__storage_close(subject->storage);
}

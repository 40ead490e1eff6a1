/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call: which rule runs it, what a failure of the whole means for its
 * entries, and how answers that call back wait until the lock is free.
 *
 * A page is what `each` and `each_text` are to be told (E2): copied while the
 * rules run, told afterwards. A list is run again, from behind the last name,
 * until it is told whole: no page is larger than PAGE_NAMES.
 */
#include "post/service/internal.h"

#include "base/alloc.h"
#include "base/buffer.h"

enum {
    PAGE_NAMES = 256,
    PAGE_BYTES = 1 << 20
};

typedef struct page {
    const lbx_allocator *allocator;
    lbx__calls *list; /* when the call is done */
    lbx_buffer texts; /* each with its NUL */
    size_t count;
    bool full;
    char after[LBX_BOX_NAME_BYTES]; /* "": what the request says */
} page;

/* ---- Pages ---- */

static bool
calls_back(const lbx_call *call)
{
    const lbx_box_request *request = call->request;

    if (call->kind == LBX_CALL_CREATE || call->kind == LBX_CALL_DESCRIBE)
        return request->each_text != NULL;
    return call->kind == LBX_CALL_LIST;
}

static page *
page_of(const lbx_call *call)
{
    return calls_back(call) ? call->words[LBX__WORD_OF] : NULL;
}

bool
lbx__page_begin(lbx__service *service, lbx_call *call)
{
    const lbx_allocator *allocator = service->options.allocator;
    page *made;

    if (!calls_back(call))
        return true;
    made = lbx__zalloc(allocator, sizeof(*made));
    if (!made)
        return false;
    made->allocator = allocator;
    lbx__buffer_init(&made->texts, allocator, PAGE_BYTES);
    call->words[LBX__WORD_OF] = made;
    return true;
}

void
lbx__page_end(lbx_call *call)
{
    page *mine = page_of(call);

    if (!mine)
        return;
    call->words[LBX__WORD_OF] = NULL;
    lbx__buffer_fini(&mine->texts);
    lbx__free(mine->allocator, mine, sizeof(*mine));
}

void
lbx__call_set_list(lbx_call *call, lbx__calls *list)
{
    page *mine = page_of(call);

    if (mine)
        mine->list = list;
    else
        call->words[LBX__WORD_OF] = list;
}

lbx__calls *
lbx__call_list(const lbx_call *call)
{
    const page *mine = page_of(call);

    return mine ? mine->list : call->words[LBX__WORD_OF];
}

static void
keep(page *mine, const char *text)
{
    lbx__buffer_add(&mine->texts, text, strlen(text) + 1);
}

static bool
keep_name(void *context, const char *name)
{
    page *mine = context;

    keep(mine, name);
    mine->full = ++mine->count == PAGE_NAMES;
    return !mine->full && mine->texts.status == LBX_OK;
}

static void
keep_text(void *context, const lbx_box_text *text)
{
    page *mine = context;

    keep(mine, text->name);
    keep(mine, text->value ? text->value : "");
    mine->count++;
}

/* True when all were wanted. */
static bool
tell_names(page *mine, const lbx_list_request *request)
{
    const char *name = lbx__buffer_text(&mine->texts);

    for (size_t i = 0; i < mine->count; i++) {
        const size_t size = strlen(name) + 1;

        if (!request->each(request->context, name))
            return false;
        if (i + 1 == mine->count && size <= sizeof(mine->after))
            memcpy(mine->after, name, size);
        name += size;
    }
    return true;
}

static void
tell_texts(const page *mine, const lbx_box_request *request)
{
    const char *name = lbx__buffer_text(&mine->texts);

    for (size_t i = 0; i < mine->count; i++) {
        const char *value = name + strlen(name) + 1;

        request->each_text(request->context, &(lbx_box_text){name, value});
        name = value + strlen(value) + 1;
    }
}

bool
lbx__page_tell(lbx_call *call, lbx_status status)
{
    page *mine = page_of(call);
    bool more = false;

    if (!mine || status != LBX_OK)
        return false;
    if (call->kind == LBX_CALL_LIST)
        more = tell_names(mine, call->request) && mine->full;
    else
        tell_texts(mine, call->request);
    lbx__buffer_reset(&mine->texts);
    mine->count = 0;
    mine->full = false;
    return more;
}

/* ---- Running ---- */

static lbx_status
run_list(lbx__service *service, lbx_call *call)
{
    page *mine = page_of(call);
    lbx_list_request request = *(const lbx_list_request *)call->request;
    lbx_status status;

    request.each = keep_name;
    request.context = mine;
    if (mine->after[0])
        request.after = mine->after;
    status = lbx__catalog_list(service->rules, &request);
    return status == LBX_OK ? mine->texts.status : status;
}

static lbx_status
run_box(lbx__service *service, lbx_call *call,
        lbx_status (*rule)(lbx__rules *rules, lbx_box_request *request))
{
    page *mine = page_of(call);
    lbx_box_request *request = call->request;
    lbx_box_request kept = *request;
    lbx_status status;

    if (!mine)
        return rule(service->rules, request);
    kept.each_text = keep_text;
    kept.context = mine;
    status = rule(service->rules, &kept);
    request->ret_box = kept.ret_box;
    // A box that was created is there, though its texts cannot be told.
    return status == LBX_OK && call->kind == LBX_CALL_DESCRIBE
               ? mine->texts.status
               : status;
}

lbx_status
lbx__dispatch_deliver(void *context, const lbx_delivery *delivery)
{
    return lbx_call_deliver(context, delivery);
}

lbx_status
lbx__dispatch_run(lbx__service *service, lbx_call *call)
{
    lbx__rules *rules = service->rules;
    const lbx__sink sink = {lbx__dispatch_deliver, call};

    switch (call->kind) {
    case LBX_CALL_CREATE:
        return run_box(service, call, lbx__box_admin_create);
    case LBX_CALL_CONFIGURE:
        return run_box(service, call, lbx__box_admin_configure);
    case LBX_CALL_DELETE:
        return run_box(service, call, lbx__box_admin_delete);
    case LBX_CALL_DESCRIBE:
        return run_box(service, call, lbx__catalog_describe);
    case LBX_CALL_PURGE:
        return run_box(service, call, lbx__box_admin_purge);
    case LBX_CALL_LIST:
        return run_list(service, call);
    case LBX_CALL_SEND:
        return lbx__send_apply(rules, call->request);
    case LBX_CALL_SETTLE:
        return lbx__settle_apply(rules, call->request);
    case LBX_CALL_UNDO:
        return lbx__settle_undo(rules, call->request);
    case LBX_CALL_PEEK:
        return lbx__receive_peek(rules, call->request, &sink);
    case LBX_CALL_MOVE:
        return lbx__move_apply(rules, call->request);
    case LBX_CALL_SYNC: // after the flush
        return LBX_OK;
    case LBX_CALL_RECEIVE: // service_turn.c: it may wait
        break;
    }
    assert(false);
    return LBX_INVALID;
}

/* ---- Failures of the whole ---- */

static lbx_status *
status_of(const lbx_call *call, size_t index)
{
    const lbx_send_request *send = call->request;
    const lbx_settle_request *settle = call->request;

    switch (call->kind) {
    case LBX_CALL_SEND:
        return index < send->count ? &send->sent[index].status : NULL;
    case LBX_CALL_SETTLE:
    case LBX_CALL_UNDO:
        return index < settle->count ? &settle->entries[index].status : NULL;
    default:
        return NULL;
    }
}

lbx_status
lbx__dispatch_fail(const lbx_call *call, lbx_status status)
{
    lbx_status *entry;

    for (size_t i = 0; (entry = status_of(call, i)) != NULL; i++)
        *entry = status;
    return status;
}

/* What was refused was refused; all else may or may not have happened. */
lbx_status
lbx__dispatch_doubt(const lbx_call *call, lbx_status status)
{
    lbx_status *entry;
    lbx_status first = LBX_OK;

    for (size_t i = 0; (entry = status_of(call, i)) != NULL; i++) {
        if (*entry == LBX_OK)
            *entry = LBX_UNKNOWN;
        if (first == LBX_OK)
            first = *entry;
    }
    if (first != LBX_OK)
        return first;
    return status == LBX_OK ? LBX_UNKNOWN : status;
}

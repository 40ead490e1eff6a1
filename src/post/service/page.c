/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages: results that go to functions of the caller, `each` and `each_text`.
 * They are copied while the rules run, and passed on without the lock (SVC-2).
 *
 * A list is run again, from after the last name, until all of it was passed on:
 * no page has more than PAGE_NAMES names.
 *
 * Threads    the one that uses the rules fills a page (SVC-5); the one that
 *            finishes the call flushes it.
 */
#include "post/service/internal.h"

#include "base/alloc.h"
#include "base/buffer.h"

enum {
    PAGE_NAMES = 256,
    PAGE_BYTES = 1 << 20
};

typedef struct call_page {
    const lbx_allocator *allocator;
    lbx__calls *list; /* of a done call */
    lbx_buffer texts; /* each with its NUL */
    size_t count;
    bool full;
    char after[LBX_BOX_NAME_BYTES]; /* "": as in the request */
} call_page;

static call_page *
page_of(const lbx_call *call)
{
    return lbx__page_is_needed(call) ? call->words[LBX__CALL_OWNER] : NULL;
}

bool
lbx__page_create(lbx__service *service, lbx_call *call)
{
    const lbx_allocator *allocator = service->options.allocator;
    call_page *made;

    made = lbx__zalloc(allocator, sizeof(*made));
    if (!made)
        return false;
    made->allocator = allocator;
    lbx__buffer_init(&made->texts, allocator, PAGE_BYTES);
    call->words[LBX__CALL_OWNER] = made;
    return true;
}

void
lbx__page_destroy(lbx_call *call)
{
    call_page *mine = page_of(call);

    call->words[LBX__CALL_OWNER] = NULL;
    lbx__buffer_fini(&mine->texts);
    lbx__free(mine->allocator, mine, sizeof(*mine));
}

lbx__calls **
lbx__page_list(const lbx_call *call)
{
    return &page_of(call)->list;
}

static void
page_keep(call_page *mine, const char *text)
{
    lbx__buffer_add(&mine->texts, text, strlen(text) + 1);
}

static bool
page_keep_name(void *context, const char *name)
{
    call_page *mine = context;

    page_keep(mine, name);
    mine->full = ++mine->count == PAGE_NAMES;
    return !mine->full && mine->texts.status == LBX_OK;
}

static void
page_keep_text(void *context, const lbx_box_text *text)
{
    call_page *mine = context;

    page_keep(mine, text->name);
    page_keep(mine, text->value ? text->value : "");
    mine->count++;
}

/* True when the caller wanted all of them. */
static bool
page_flush_names(call_page *mine, const lbx_list_request *request)
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
page_flush_texts(const call_page *mine, const lbx_box_request *request)
{
    const char *name = lbx__buffer_text(&mine->texts);

    for (size_t i = 0; i < mine->count; i++) {
        const char *value = name + strlen(name) + 1;

        request->each_text(request->context, &(lbx_box_text){name, value});
        name = value + strlen(value) + 1;
    }
}

bool
lbx__page_flush(lbx_call *call, lbx_status status)
{
    call_page *mine = page_of(call);
    bool more = false;

    if (status != LBX_OK)
        return false;
    if (call->kind == LBX_CALL_LIST)
        more = page_flush_names(mine, call->request) && mine->full;
    else
        page_flush_texts(mine, call->request);
    lbx__buffer_reset(&mine->texts);
    mine->count = 0;
    mine->full = false;
    return more;
}

lbx_status
lbx__page_run_list(lbx__service *service, lbx_call *call)
{
    call_page *mine = page_of(call);
    lbx_list_request request = *(const lbx_list_request *)call->request;
    lbx_status status;

    request.each = page_keep_name;
    request.context = mine;
    if (mine->after[0])
        request.after = mine->after;
    status = lbx__catalog_list(service->rules, &request);
    return status == LBX_OK ? mine->texts.status : status;
}

lbx_status
lbx__page_run_box(lbx__service *service, lbx_call *call,
                  lbx_status (*rule)(lbx__rules *rules,
                                     lbx_box_request *request))
{
    call_page *mine = page_of(call);
    lbx_box_request *request = call->request;
    lbx_box_request kept = *request;
    lbx_status status;

    if (!mine)
        return rule(service->rules, request);
    kept.each_text = page_keep_text;
    kept.context = mine;
    status = rule(service->rules, &kept);
    request->ret_box = kept.ret_box;
    // A created box exists, although there was no memory for its texts.
    return status == LBX_OK && call->kind == LBX_CALL_DESCRIBE
               ? mine->texts.status
               : status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching: a notice when another actor has ended.
 *
 * The watched actor keeps the node that asks, and the node comes back with the
 * notice that the watcher has allocated, so that there is always memory for it:
 * exactly one for each watch, also when the watched actor had ended before. The
 * watcher keeps the set of refs that it watches, and handles only notices that
 * it awaits: none after an unwatch, and one where it has watched the same life
 * twice.
 *
 * Threads: the owner of the cell that a function is given.
 */
#include "actor/core/system.h"

#include "base/alloc.h"

lbx_ref
lbx_terminated_ref(const void *message)
{
    const lbx__notice *notice = message;

    return notice ? notice->why.ref : lbx_ref_nobody();
}

const lbx_termination *
lbx_terminated_why(const void *message)
{
    return message;
}

void
lbx__watch_destroy_notice(void *message, void *context)
{
    lbx__notice *notice = message;

    (void)context;
    if (!notice)
        return;
    lbx__reason_unref(notice->reason);
    lbx__free(notice->system->options.allocator, notice, sizeof(*notice));
}

void
lbx__watch_notify(lbx_system *system, lbx__node *node, const lbx__notice *why)
{
    uint64_t ended = node->recipient;
    uint64_t watcher = node->sender;
    lbx__notice *notice = node->message; // NULL: a promise, which needs none

    if (notice) {
        *notice = *why;
        notice->why.size_bytes = sizeof(notice->why);
        notice->why.ref.word = ended;
        notice->why.text = lbx__reason_text(why->reason);
        notice->system = system;
        notice->reason = lbx__reason_ref(why->reason);
    }
    node->type = lbx_terminated_type();
    node->sender = ended;
    node->recipient = watcher;
    node->deadline_ns = 0;
    node->priority = LBX_PRIORITY_DEFAULT;
    node->channel = LBX_CHANNEL_REGULAR;
    node->code = 0;
    node->notice = true;
    node->plain = false;
    lbx__cell_push(lbx__cell_of(watcher), node);
}

void
lbx__watch_notify_gone(lbx_system *system, lbx__node *node)
{
    static const lbx__notice gone = {
        .why = {.reason = LBX_TERMINATION_GONE},
    };

    lbx__watch_notify(system, node, &gone);
}

/* The end of a WATCH that needs no notice. */
static void
watch_free_node(lbx_system *system, lbx__node *node)
{
    if (node->message)
        lbx__free(system->options.allocator, node->message,
                  sizeof(lbx__notice));
    lbx__node_pool_put(system->pool, node);
}

/* The node of a watcher, or NULL. */
static lbx__node *
watch_find(const lbx__node_list *watchers, uint64_t watcher,
           lbx__node **ret_before)
{
    lbx__node *before = NULL;

    for (lbx__node *node = watchers->first; node;
         node = lbx__peek(&node->next)) {
        if (node->sender == watcher) {
            *ret_before = before;
            return node;
        }
        before = node;
    }
    return NULL;
}

void
lbx__watch_add(lbx__cell *cell, lbx__node *node)
{
    lbx__facilities *facilities = lbx__facilities_of(cell);
    lbx__node *before;

    if (!facilities) {
        // There is no memory to keep it: a notice too early is better than
        // none, and the watcher can check and watch again.
        lbx__watch_notify_gone(cell->system, node);
        return;
    }
    if (watch_find(&facilities->watchers, node->sender, &before))
        watch_free_node(cell->system, node);
    else
        lbx__node_list_append(&facilities->watchers, node);
}

void
lbx__watch_remove(lbx__cell *cell, lbx__node *node)
{
    lbx__node_list *watchers;
    lbx__node *before;
    lbx__node *kept;

    if (!cell->facilities)
        return;
    watchers = &cell->facilities->watchers;
    kept = watch_find(watchers, node->sender, &before);
    if (!kept)
        return;
    if (before)
        lbx__init(&before->next, lbx__peek(&kept->next));
    else
        watchers->first = lbx__peek(&kept->next);
    if (watchers->last == kept)
        watchers->last = before;
    watchers->count--;
    watch_free_node(cell->system, kept);
}

/* Sends a system message to `ref` from the context's actor. */
static lbx_status
watch_send(lbx_context *context, lbx_ref ref, uint8_t code, lbx__notice *notice)
{
    lbx_system *system = context->cell->system;
    lbx__cell *other = lbx__cell_of(ref.word);
    lbx__node *node;

    if (other->system != system)
        return LBX_INVALID; // the node would be returned to another pool
    node = lbx__node_pool_get(system->pool);
    if (!node)
        return LBX_NO_MEMORY;
    node->sender = lbx__cell_ref(context->cell);
    node->recipient = ref.word;
    node->code = code;
    node->message = notice;
    lbx__cell_push_system(other, node);
    return LBX_OK;
}

static bool
watch_has(const lbx__facilities *facilities, uint64_t ref)
{
    return lbx__map_find(&facilities->watching, lbx__map_hash_word(ref), NULL,
                         (void *)(uintptr_t)ref) != NULL;
}

/* False when it was not watched. */
static bool
watch_forget(lbx__facilities *facilities, uint64_t ref)
{
    return lbx__map_remove(&facilities->watching, lbx__map_hash_word(ref), NULL,
                           (void *)(uintptr_t)ref) != NULL;
}

lbx_status
lbx_context_watch(lbx_context *context, lbx_ref ref)
{
    const lbx_allocator *allocator;
    lbx__facilities *facilities;
    lbx__notice *notice;
    lbx_status status;

    if (!context || !ref.word || ref.word == lbx__cell_ref(context->cell))
        return LBX_INVALID;
    allocator = context->cell->system->options.allocator;
    facilities = lbx__facilities_of(context->cell);
    if (!facilities)
        return LBX_NO_MEMORY;
    if (watch_has(facilities, ref.word))
        return LBX_OK;
    if (!lbx__map_reserve(&facilities->watching, allocator))
        return LBX_NO_MEMORY;
    notice = lbx__zalloc(allocator, sizeof(*notice));
    if (!notice)
        return LBX_NO_MEMORY;
    status = watch_send(context, ref, LBX__CODE_WATCH, notice);
    if (status == LBX_OK)
        lbx__map_add(&facilities->watching, lbx__map_hash_word(ref.word),
                     (void *)(uintptr_t)ref.word);
    else
        lbx__free(allocator, notice, sizeof(*notice));
    return status;
}

void
lbx_context_unwatch(lbx_context *context, lbx_ref ref)
{
    // Without memory a notice comes, and is not awaited.
    if (context && ref.word && context->cell->facilities &&
        watch_forget(context->cell->facilities, ref.word))
        (void)watch_send(context, ref, LBX__CODE_UNWATCH, NULL);
}

bool
lbx__watch_expects(lbx__cell *cell, lbx__node *notice)
{
    notice->notice = false; // a stashed one is not checked again
    if (cell->facilities && watch_forget(cell->facilities, notice->sender))
        return true;
    lbx__watch_destroy_notice(notice->message, NULL);
    return false;
}

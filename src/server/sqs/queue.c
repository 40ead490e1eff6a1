/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of queues. QUEUE-1 to QUEUE-3 are in queue.h.
 *
 * A read takes the number of changes before its call of the store, and keeps
 * what it read only if there was no change since (QUEUE-3). So a change must be
 * done before it is noted by lbx__queues_forget().
 *
 * QDIR-1  The directory has at most QUEUES_MAX queues: before one more is added
 *         all are forgotten.
 *
 * Locks      one, for the map and what was deleted; no call is made under it.
 */
#include "server/sqs/queue.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/map.h"
#include "codec/hash64.h"
#include "codec/random.h"
#include "server/sqs/queue_copy.h"
#include "server/sqs/request.h"

#include <stdio.h>

enum {
    QUEUES_MAX = 8192,
    DELETIONS_MAX = 512
};

#define DELETION_NS (60 * LBX_SECOND)

/* The name of a queue that was deleted, and when. */
struct deletion {
    char space[LBX_BOX_SPACE_BYTES]; /* "": that of programs */
    char name[LBX_BOX_NAME_BYTES];   /* "": none */
    int64_t at_ns;
};

struct lbx__queues {
    const lbx_allocator *allocator;
    lbx__world home;
    uint64_t seed; /* of hashes: clients choose the names */

    lbx__lock lock;
    lbx__map map; /* of lbx__queue, one reference each */
    uint64_t changes;
    struct deletion deletions[DELETIONS_MAX]; /* a ring */
    size_t next_deletion;
};

struct queue_key {
    const char *space; // "": that of programs
    const char *name;
};

lbx_status
lbx__queues_create(const lbx_allocator *allocator, const lbx__world *home,
                   lbx__queues **ret)
{
    lbx__queues *queues = lbx__zalloc(allocator, sizeof(*queues));

    if (!queues)
        return LBX_NO_MEMORY;
    queues->allocator = allocator;
    queues->home = *home;
    if (!lbx__random(&queues->seed, sizeof(queues->seed))) {
        lbx__free(allocator, queues, sizeof(*queues));
        return LBX_IO;
    }
    *ret = queues;
    return LBX_OK;
}

/* Under the lock, except at the end. */
static void
queues_clear(lbx__queues *queues)
{
    size_t position = 0;
    lbx__queue *queue;

    while ((queue = lbx__map_next(&queues->map, &position)) != NULL)
        lbx__queue_unref(queue);
    lbx__map_fini(&queues->map, queues->allocator);
    queues->map = (lbx__map){.slots = NULL};
}

void
lbx__queues_destroy(lbx__queues *queues)
{
    if (!queues)
        return;
    queues_clear(queues);
    lbx__free(queues->allocator, queues, sizeof(*queues));
}

const char *
lbx__queues_space(const lbx__queues *queues, const lbx__world *world,
                  char buffer[LBX_BOX_SPACE_BYTES])
{
    _Static_assert(LBX__ACCOUNT_BYTES + LBX__REGION_BYTES <=
                       LBX_BOX_SPACE_BYTES,
                   "an account, a slash and a region");
    if (strcmp(world->account, queues->home.account) == 0 &&
        strcmp(world->region, queues->home.region) == 0)
        return NULL;
    (void)snprintf(buffer, LBX_BOX_SPACE_BYTES, "%s/%s", world->account,
                   world->region);
    return buffer;
}

/* ---- The map ---- */

static bool
queues_equal(const void *item, const void *key)
{
    const lbx__queue *queue = item;
    const struct queue_key *wanted = key;

    return strcmp(queue->name, wanted->name) == 0 &&
           strcmp(queue->space ? queue->space : "", wanted->space) == 0;
}

static uint64_t
queues_hash(const lbx__queues *queues, const struct queue_key *key)
{
    const uint64_t space =
        lbx__hash64(queues->seed, key->space, strlen(key->space));

    return lbx__hash64(space, key->name, strlen(key->name));
}

/* A reference to what the directory has, if that is fresh (QUEUE-2). */
static lbx__queue *
queues_lookup(lbx__queues *queues, const struct queue_key *key)
{
    const uint64_t hash = queues_hash(queues, key);
    const int64_t now = lbx_clock_now(NULL);
    lbx__queue *queue;

    lbx__lock_take(&queues->lock);
    queue = lbx__map_find(&queues->map, hash, queues_equal, key);
    if (queue && now - queue->read_ns < LBX__QUEUE_FRESH_NS)
        lbx__queue_ref(queue);
    else
        queue = NULL;
    lbx__lock_give(&queues->lock);
    return queue;
}

/* Keeps a queue that was read when there were so many changes. Without memory
 * it is not kept, and is read again next time. */
static void
queues_keep(lbx__queues *queues, lbx__queue *queue, uint64_t changes)
{
    const struct queue_key key = {queue->space ? queue->space : "",
                                  queue->name};
    const uint64_t hash = queues_hash(queues, &key);
    lbx__queue *old = NULL;

    lbx__lock_take(&queues->lock);
    if (queues->changes == changes) { // QUEUE-3
        old = lbx__map_remove(&queues->map, hash, queues_equal, &key);
        if (queues->map.count >= QUEUES_MAX)
            queues_clear(queues); // QDIR-1
        if (lbx__map_reserve(&queues->map, queues->allocator))
            lbx__map_add(&queues->map, hash, lbx__queue_ref(queue));
    }
    lbx__lock_give(&queues->lock);
    lbx__queue_unref(old);
}

void
lbx__queues_forget(lbx__queues *queues, const lbx__world *world,
                   const char *name)
{
    char buffer[LBX_BOX_SPACE_BYTES];
    const char *space = lbx__queues_space(queues, world, buffer);
    const struct queue_key key = {space ? space : "", name};
    const uint64_t hash = queues_hash(queues, &key);
    lbx__queue *old;

    lbx__lock_take(&queues->lock);
    queues->changes++;
    old = lbx__map_remove(&queues->map, hash, queues_equal, &key);
    lbx__lock_give(&queues->lock);
    lbx__queue_unref(old);
}

/* A name that the store does not know. What the directory has of it is over,
 * and that is a change. If the directory has nothing of it, nothing changes:
 * otherwise a client could keep the directory empty by asking for names that do
 * not exist. */
static void
queues_forget_lost(lbx__queues *queues, const struct queue_key *key)
{
    const uint64_t hash = queues_hash(queues, key);
    lbx__queue *old;

    lbx__lock_take(&queues->lock);
    old = lbx__map_remove(&queues->map, hash, queues_equal, key);
    if (old)
        queues->changes++;
    lbx__lock_give(&queues->lock);
    lbx__queue_unref(old);
}

/* ---- What was deleted ---- */

void
lbx__queues_note_deleted(lbx__queues *queues, const lbx__world *world,
                         const char *name)
{
    struct deletion made = {.at_ns = lbx_clock_now(NULL)};
    char buffer[LBX_BOX_SPACE_BYTES];
    const char *space = lbx__queues_space(queues, world, buffer);

    (void)snprintf(made.space, sizeof(made.space), "%s", space ? space : "");
    (void)snprintf(made.name, sizeof(made.name), "%s", name);
    lbx__lock_take(&queues->lock);
    queues->deletions[queues->next_deletion] = made;
    queues->next_deletion = (queues->next_deletion + 1) % DELETIONS_MAX;
    lbx__lock_give(&queues->lock);
}

bool
lbx__queues_deleted_recently(lbx__queues *queues, const lbx__world *world,
                             const char *name)
{
    const int64_t now = lbx_clock_now(NULL);
    char buffer[LBX_BOX_SPACE_BYTES];
    const char *space = lbx__queues_space(queues, world, buffer);
    bool found = false;

    lbx__lock_take(&queues->lock);
    for (size_t i = 0; i < DELETIONS_MAX && !found; i++) {
        const struct deletion *one = &queues->deletions[i];

        found = strcmp(one->name, name) == 0 &&
                strcmp(one->space, space ? space : "") == 0 &&
                now - one->at_ns < DELETION_NS;
    }
    lbx__lock_give(&queues->lock);
    return found;
}

/* ---- Reading ---- */

/* A text of the box, in the request's arena. */
struct read_text {
    struct read_text *next;
    lbx_box_text text;
};

/* A read under way, in the request's arena. */
struct queue_read {
    lbx_box_request call; // the call's request
    lbx__request_step *step;
    lbx__request *request;
    lbx__queue model;
    uint64_t changes;
    struct read_text *first, **last;
    bool failed; /* no memory for a text */
    char space[LBX_BOX_SPACE_BYTES];
    char name[LBX_BOX_NAME_BYTES];
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
};

/* A thread of the store's; it alone uses the arena while the call runs
 * (REQ-2). */
static void
read_keep_text(void *context, const lbx_box_text *text)
{
    struct queue_read *read = context;
    lbx__arena *arena = &read->request->arena;
    struct read_text *one = lbx__arena_take(arena, sizeof(*one));

    if (one) {
        one->text.name = lbx__arena_copy(arena, text->name, strlen(text->name));
        one->text.value =
            lbx__arena_copy(arena, text->value, strlen(text->value));
    }
    if (!one || !one->text.name || !one->text.value) {
        read->failed = true;
        return;
    }
    *read->last = one;
    read->last = &one->next;
    read->model.text_count++;
}

static lbx_status
read_make_queue(struct queue_read *read)
{
    lbx__request *request = read->request;
    lbx__queues *queues = request->sqs->queues;
    const size_t count = read->model.text_count;
    lbx_box_text *texts =
        lbx__arena_take(&request->arena, (count + 1) * sizeof(*texts));
    size_t i = 0;
    lbx__queue *queue;

    if (!texts || read->failed)
        return LBX_NO_MEMORY;
    for (const struct read_text *one = read->first; one; one = one->next)
        texts[i++] = one->text;
    read->model.texts = texts;
    read->model.box = read->call.ret_box;
    queue = lbx__queue_copy(queues->allocator, &read->model);
    if (!queue)
        return LBX_NO_MEMORY;
    queues_keep(queues, queue, read->changes);
    lbx__queue_unref(request->queue);
    request->queue = queue;
    return LBX_OK;
}

static void
read_done(lbx__request *request, lbx_status status)
{
    struct queue_read *read =
        lbx__member(request->call.request, struct queue_read, call);

    if (status == LBX_OK)
        status = read_make_queue(read);
    else if (status == LBX_NOT_FOUND)
        queues_forget_lost(
            request->sqs->queues,
            &(struct queue_key){read->model.space ? read->model.space : "",
                                read->name});
    read->step(request, status);
}

/* The name as a text; false: no box has such a name. */
static bool
queues_take_name(lbx__slice name, char buffer[LBX_BOX_NAME_BYTES])
{
    if (!name.bytes || name.size < 1 || name.size >= LBX_BOX_NAME_BYTES ||
        memchr(name.bytes, '\0', name.size))
        return false;
    memcpy(buffer, name.bytes, name.size);
    buffer[name.size] = '\0';
    return true;
}

static uint64_t
queues_changes(lbx__queues *queues)
{
    uint64_t changes;

    lbx__lock_take(&queues->lock);
    changes = queues->changes;
    lbx__lock_give(&queues->lock);
    return changes;
}

void
lbx__queues_read(lbx__request *request, const lbx__world *world,
                 lbx__slice name, lbx_box_counts *counts,
                 lbx__request_step *step)
{
    lbx__queues *queues = request->sqs->queues;
    struct queue_read *read = lbx__arena_take(&request->arena, sizeof(*read));

    if (!read) {
        step(request, LBX_NO_MEMORY);
        return;
    }
    if (!queues_take_name(name, read->name)) {
        step(request, LBX_NOT_FOUND);
        return;
    }
    read->step = step;
    read->request = request;
    read->last = &read->first;
    read->changes = queues_changes(queues);
    read->model = (lbx__queue){
        .world = *world,
        .space = lbx__queues_space(queues, world, read->space),
        .name = read->name,
        .options = LBX_BOX_OPTIONS_INIT,
        .read_ns = lbx_clock_now(NULL),
    };
    read->call = (lbx_box_request){
        .space = read->model.space,
        .name = read->name,
        .buffer = read->buffer,
        .ret_options = &read->model.options,
        .ret_counts = counts,
        .each_text = read_keep_text,
        .context = read,
    };
    lbx__request_call(request, LBX_CALL_DESCRIBE, &read->call, read_done);
}

void
lbx__queues_find(lbx__request *request, const lbx__world *world,
                 lbx__slice name, lbx__request_step *step)
{
    lbx__queues *queues = request->sqs->queues;
    char buffer[LBX_BOX_SPACE_BYTES], text[LBX_BOX_NAME_BYTES];
    const char *space = lbx__queues_space(queues, world, buffer);
    lbx__queue *queue;

    if (!queues_take_name(name, text)) {
        step(request, LBX_NOT_FOUND);
        return;
    }
    queue =
        queues_lookup(queues, &(struct queue_key){space ? space : "", text});
    if (!queue) {
        lbx__queues_read(request, world, name, NULL, step);
        return;
    }
    lbx__queue_unref(request->queue);
    request->queue = queue;
    step(request, LBX_OK);
}

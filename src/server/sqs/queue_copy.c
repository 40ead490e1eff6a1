/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue in memory: one block, in which the struct, its lists and then its
 * texts lie.
 */
#include "server/sqs/queue_copy.h"

#include "base/alloc.h"
#include "base/refs.h"

struct queue_block {
    lbx__queue queue; // first: an lbx__queue * is a block
    const lbx_allocator *allocator;
    size_t size_bytes;
};

static size_t
queue_text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Texts of a box are at most a few hundred kilobytes: no sum overflows. */
static size_t
queue_bytes(const lbx__queue *model)
{
    const lbx_box_options *options = &model->options;
    size_t size = sizeof(struct queue_block);

    size += model->text_count * sizeof(lbx_box_text);
    size += options->dead_letter_box_count * sizeof(const char *);
    size += queue_text_bytes(model->space) + queue_text_bytes(model->name);
    size += queue_text_bytes(options->dead_letters);
    for (size_t i = 0; i < options->dead_letter_box_count; i++)
        size += queue_text_bytes(options->dead_letter_boxes[i]);
    for (size_t i = 0; i < model->text_count; i++)
        size += queue_text_bytes(model->texts[i].name) +
                queue_text_bytes(model->texts[i].value);
    return size;
}

/* Copies a text to the free bytes at *at; NULL stays NULL. */
static const char *
queue_keep_text(char **at, const char *text)
{
    const size_t size = queue_text_bytes(text);
    char *copy = *at;

    if (size == 0)
        return NULL;
    memcpy(copy, text, size);
    *at += size;
    return copy;
}

lbx__queue *
lbx__queue_copy(const lbx_allocator *allocator, const lbx__queue *model)
{
    const size_t size = queue_bytes(model);
    const size_t boxes = model->options.dead_letter_box_count;
    struct queue_block *block = lbx__zalloc(allocator, size);
    lbx_box_text *texts;
    const char **names;
    char *at;

    if (!block)
        return NULL;
    block->allocator = allocator;
    block->size_bytes = size;
    texts = (lbx_box_text *)(block + 1);
    names = (const char **)(texts + model->text_count);
    at = (char *)(names + boxes);
    block->queue = (lbx__queue){
        .refs = 1,
        .world = model->world,
        .space = queue_keep_text(&at, model->space),
        .name = queue_keep_text(&at, model->name),
        .box = model->box,
        .options = model->options,
        .texts = texts,
        .text_count = model->text_count,
        .read_ns = model->read_ns,
    };
    block->queue.options.dead_letters =
        queue_keep_text(&at, model->options.dead_letters);
    block->queue.options.dead_letter_boxes = boxes > 0 ? names : NULL;
    for (size_t i = 0; i < boxes; i++)
        names[i] = queue_keep_text(&at, model->options.dead_letter_boxes[i]);
    for (size_t i = 0; i < model->text_count; i++) {
        texts[i].name = queue_keep_text(&at, model->texts[i].name);
        texts[i].value = queue_keep_text(&at, model->texts[i].value);
    }
    return &block->queue;
}

lbx__queue *
lbx__queue_ref(lbx__queue *queue)
{
    lbx__refs_add(&queue->refs);
    return queue;
}

void
lbx__queue_unref(lbx__queue *queue)
{
    struct queue_block *block = (struct queue_block *)queue;

    if (queue && lbx__refs_drop(&queue->refs))
        lbx__free(block->allocator, block, block->size_bytes);
}

const char *
lbx__queue_text(const lbx__queue *queue, const char *name)
{
    for (size_t i = 0; i < queue->text_count; i++) {
        if (strcmp(queue->texts[i].name, name) == 0)
            return queue->texts[i].value;
    }
    return NULL;
}

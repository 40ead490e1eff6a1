/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths, and the tree of a system for people.
 *
 * A living actor's ancestors live too (E1); going up holds the lock of the
 * names. Going down holds the lock of the actor whose children are looked at,
 * one above the other, so that none of them leaves meanwhile. Numbers are read
 * when all locks have been given back: to read those of a mailbox may end it,
 * and then somebody is told of what was in it.
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/system.h"
#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 1024,
    LINE_BYTES = PATH_BYTES + 128,
    NUMBERS_BYTES = 512,
    MOST_DEPTH = 64,
};

static size_t
name_of(const lbx__cell *cell, char *text, size_t size_bytes)
{
    int length;

    if (cell == cell->system->user)
        length = snprintf(text, size_bytes, "user");
    else if (cell->name)
        length = snprintf(text, size_bytes, "%s", cell->name);
    else
        length = snprintf(text, size_bytes, "$%llx",
                          (unsigned long long)cell->serial);
    return (size_t)length;
}

static size_t
path_length(const lbx__cell *cell)
{
    size_t length = 0;
    char name[256];

    for (; cell; cell = cell->parent)
        length += 1 + name_of(cell, name, sizeof(name));
    return length;
}

/* Writes what fits of a path, from its end on. */
static void
write_path(const lbx__cell *cell, size_t end, char *text, size_t size_bytes)
{
    for (; cell; cell = cell->parent) {
        char name[257] = "/";
        size_t length = 1 + name_of(cell, name + 1, sizeof(name) - 1);

        end -= length;
        for (size_t i = 0; i < length && end + i + 1 < size_bytes; i++)
            text[end + i] = name[i];
    }
}

/* Where a path goes. */
struct target {
    char *text;
    size_t size_bytes;
};

static lbx_status
copy_path(const lbx__cell *cell, void *context)
{
    const struct target *target = context;
    size_t length = path_length(cell);
    bool fits = length < target->size_bytes;

    write_path(cell, length, target->text, target->size_bytes);
    target->text[fits ? length : target->size_bytes - 1] = 0;
    return fits ? LBX_OK : LBX_FULL;
}

lbx_status
lbx_ref_path(lbx_ref ref, char *ret_path, size_t size_bytes)
{
    struct target target = {ret_path, size_bytes};

    if (!ret_path || size_bytes == 0)
        return LBX_INVALID;
    if (!ref.word)
        return LBX_NOT_FOUND;
    return lbx__names_path(lbx__cell_of(ref.word)->system->names, ref.word,
                           copy_path, &target);
}

/* Lines that were written under locks, to be printed without. */
struct page {
    const lbx_allocator *allocator;
    char *text; /* for each line whom it is about, and then itself, with its
                   final 0 */
    size_t used;
    size_t room;
    bool cut; /* there was no memory for all */
};

static void
write_line(struct page *page, lbx_ref whom, const char *line)
{
    size_t size_bytes = sizeof(whom) + strlen(line) + 1;

    if (page->used + size_bytes > page->room) {
        size_t room = (page->room + size_bytes) * 2 + 1024;
        char *text = lbx__alloc(page->allocator, room, 1);

        if (!text) {
            page->cut = true;
            return;
        }
        if (page->used > 0)
            memcpy(text, page->text, page->used);
        lbx__free(page->allocator, page->text, page->room);
        page->text = text;
        page->room = room;
    }
    memcpy(page->text + page->used, &whom, sizeof(whom));
    memcpy(page->text + page->used + sizeof(whom), line,
           size_bytes - sizeof(whom));
    page->used += size_bytes;
}

static void
write_cell(struct page *page, lbx__cell *cell, const char *above, int depth)
{
    lbx_ref ref = {lbx__cell_ref(cell)};
    char line[LINE_BYTES];
    char path[PATH_BYTES];
    char name[256];

    (void)name_of(cell, name, sizeof(name));
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", above, name) >=
        sizeof(path))
        page->cut = true;
    (void)snprintf(line, sizeof(line), "%s (%s)", path,
                   cell->behaviour->name ? cell->behaviour->name : "?");
    write_line(page, ref, line);
    if (depth >= MOST_DEPTH)
        return;
    lbx__lock_take(&cell->lock);
    for (lbx__cell *child = cell->children; child; child = child->next_sibling)
        write_cell(page, child, path, depth + 1);
    lbx__lock_give(&cell->lock);
}

/* Adds an actor's numbers to its line. */
static void
write_numbers(lbx_ref ref, char *line, size_t size_bytes)
{
    lbx_actor_stats stats;
    size_t used = strlen(line);

    if (lbx_ref_stats(ref, &stats) != LBX_OK) {
        (void)snprintf(line + used, size_bytes - used, " ended");
        return;
    }
    (void)snprintf(line + used, size_bytes - used,
                   " handled %llu, failed %llu, waiting %llu, %s",
                   (unsigned long long)stats.handled,
                   (unsigned long long)stats.failures,
                   (unsigned long long)stats.depth,
                   stats.mailbox ? stats.mailbox : "in the cell");
    used = strlen(line);
    if (stats.timed_messages > 0)
        (void)snprintf(line + used, size_bytes - used,
                       ", waited %lld us, at most %lld us",
                       (long long)stats.waited_total_ns /
                           (long long)stats.timed_messages / 1000,
                       (long long)stats.waited_max_ns / 1000);
}

lbx_status
lbx_system_print(lbx_system *system,
                 void (*print)(void *context, const char *line), void *context)
{
    struct page page = {.text = NULL};

    if (!system || !print)
        return LBX_INVALID;
    page.allocator = system->options.allocator;
    write_cell(&page, system->user, "", 0);
    for (size_t at = 0; at < page.used;) {
        char line[LINE_BYTES + NUMBERS_BYTES];
        lbx_ref whom;

        memcpy(&whom, page.text + at, sizeof(whom));
        at += sizeof(whom);
        (void)snprintf(line, sizeof(line), "%s", page.text + at);
        at += strlen(page.text + at) + 1;
        write_numbers(whom, line, sizeof(line));
        print(context, line);
    }
    lbx__free(page.allocator, page.text, page.room);
    return page.cut ? LBX_NO_MEMORY : LBX_OK;
}

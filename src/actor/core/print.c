/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing: paths of actors, and the tree of a system.
 *
 * The ancestors of a living actor live too (LIFE-1); going up holds the lock of
 * the names. Going down holds the lock of each actor on the way, so that no
 * child leaves meanwhile. Statistics are read when all locks have been
 * released: reading those of a mailbox may release its last reference, which
 * calls listeners for dead letters.
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
    MAX_DEPTH = 64,
};

static size_t
print_name(const lbx__cell *cell, char *text, size_t size_bytes)
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
print_path_length(const lbx__cell *cell)
{
    size_t length = 0;
    char name[256];

    for (; cell; cell = cell->parent)
        length += 1 + print_name(cell, name, sizeof(name));
    return length;
}

/* Writes what fits of a path, from its end on. */
static void
print_path(const lbx__cell *cell, size_t end, char *text, size_t size_bytes)
{
    for (; cell; cell = cell->parent) {
        char name[257] = "/";
        size_t length = 1 + print_name(cell, name + 1, sizeof(name) - 1);

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

lbx_status
lbx__print_path(const lbx__cell *cell, char *ret_path, size_t size_bytes)
{
    size_t length = print_path_length(cell);
    bool fits = length < size_bytes;

    print_path(cell, length, ret_path, size_bytes);
    ret_path[fits ? length : size_bytes - 1] = 0;
    return fits ? LBX_OK : LBX_FULL;
}

static lbx_status
print_copy_path(const lbx__cell *cell, void *context)
{
    const struct target *target = context;

    return lbx__print_path(cell, target->text, target->size_bytes);
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
                           print_copy_path, &target);
}

/* Lines that were written under locks, to be printed without. */
struct page {
    const lbx_allocator *allocator;
    lbx__array(char) text; /* for each line the ref of its actor, and then the
                              line with its final 0 */
    bool cut;              /* there was no memory for all */
};

static void
print_add_line(struct page *page, lbx_ref ref, const char *line)
{
    size_t size_bytes = strlen(line) + 1;
    char *end;

    if (!lbx__array_reserve(&page->text, page->allocator,
                            sizeof(ref) + size_bytes)) {
        page->cut = true;
        return;
    }
    end = page->text.items + page->text.count;
    memcpy(end, &ref, sizeof(ref));
    memcpy(end + sizeof(ref), line, size_bytes);
    page->text.count += sizeof(ref) + size_bytes;
}

static void
print_add_cell(struct page *page, lbx__cell *cell, const char *above, int depth)
{
    lbx_ref ref = {lbx__cell_ref(cell)};
    char line[LINE_BYTES];
    char path[PATH_BYTES];
    char name[256];

    (void)print_name(cell, name, sizeof(name));
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", above, name) >=
        sizeof(path))
        page->cut = true;
    (void)snprintf(line, sizeof(line), "%s (%s)", path,
                   cell->behaviour->name ? cell->behaviour->name : "?");
    print_add_line(page, ref, line);
    if (depth >= MAX_DEPTH)
        return;
    lbx__lock_take(&cell->lock);
    for (lbx__cell *child = cell->children; child; child = child->next_sibling)
        print_add_cell(page, child, path, depth + 1);
    lbx__lock_give(&cell->lock);
}

/* Adds an actor's numbers to its line. */
static void
print_add_numbers(lbx_ref ref, char *line, size_t size_bytes)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;
    size_t used = strlen(line);

    if (lbx_ref_stats_read(ref, &stats) != LBX_OK) {
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
                       (long long)stats.max_waited_ns / 1000);
}

lbx_status
lbx_system_print(lbx_system *system,
                 void (*print)(void *context, const char *line), void *context)
{
    struct page page = {.cut = false};

    if (!system || !print)
        return LBX_INVALID;
    page.allocator = system->options.allocator;
    print_add_cell(&page, system->user, "", 0);
    for (size_t at = 0; at < page.text.count;) {
        char line[LINE_BYTES + NUMBERS_BYTES];
        lbx_ref ref;

        memcpy(&ref, page.text.items + at, sizeof(ref));
        at += sizeof(ref);
        (void)snprintf(line, sizeof(line), "%s", page.text.items + at);
        at += strlen(page.text.items + at) + 1;
        print_add_numbers(ref, line, sizeof(line));
        print(context, line);
    }
    lbx__array_fini(&page.text, page.allocator);
    return page.cut ? LBX_NO_MEMORY : LBX_OK;
}

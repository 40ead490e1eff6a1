/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths, and the tree of a system for people.
 *
 * A living actor's ancestors live too (E1); going up needs no lock. Going down
 * holds the lock of the actor whose children are looked at, one above the
 * other, so that none of them leaves meanwhile.
 */
#include "actor/system.h"

#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES = 320,
    MOST_DEPTH = 64,
};

static size_t
name_of(const lbx__cell *cell, char *text, size_t size_bytes)
{
    int length;

    if (cell->role == LBX__GUARDIAN)
        length = snprintf(text, size_bytes, "user");
    else if (cell->name)
        length = snprintf(text, size_bytes, "%s", cell->name);
    else
        length = snprintf(text, size_bytes, "$%llx",
                          (unsigned long long)cell->serial);
    return (size_t)length;
}

/* Writes a path from the end of the buffer on; where it begins, or NULL. */
static char *
write_path(const lbx__cell *cell, char *buffer, size_t size_bytes)
{
    char *at = buffer + size_bytes - 1;

    *at = 0;
    for (; cell; cell = cell->parent) {
        char name[256];
        size_t length = name_of(cell, name, sizeof(name));

        if ((size_t)(at - buffer) < length + 1)
            return NULL;
        at -= length;
        memcpy(at, name, length);
        *--at = '/';
    }
    return at;
}

lbx_status
lbx_ref_path(lbx_ref ref, char *ret_path, size_t size_bytes)
{
    char buffer[1024];
    char *path;

    if (!ret_path || size_bytes == 0)
        return LBX_INVALID;
    if (!lbx_ref_is_alive(ref))
        return LBX_NOT_FOUND;
    path = write_path(lbx__cell_of(ref.word), buffer, sizeof(buffer));
    if (!path)
        return LBX_FULL;
    (void)snprintf(ret_path, size_bytes, "%s", path);
    return strlen(path) < size_bytes ? LBX_OK : LBX_FULL;
}

/* What printing needs. */
struct printer {
    void (*print)(void *context, const char *line);
    void *context;
};

static void
print_cell(const struct printer *printer, lbx__cell *cell, int depth)
{
    char line[LINE_BYTES];
    char name[256];

    (void)name_of(cell, name, sizeof(name));
    (void)snprintf(line, sizeof(line), "%*s%s (%s)", depth * 2, "", name,
                   cell->behaviour->name ? cell->behaviour->name : "?");
    printer->print(printer->context, line);
    if (depth >= MOST_DEPTH)
        return;
    lbx__lock_take(&cell->lock);
    for (lbx__cell *child = cell->children; child; child = child->next_sibling)
        print_cell(printer, child, depth + 1);
    lbx__lock_give(&cell->lock);
}

lbx_status
lbx_system_print(lbx_system *system,
                 void (*print)(void *context, const char *line), void *context)
{
    struct printer printer = {print, context};

    if (!system || !print)
        return LBX_INVALID;
    print_cell(&printer, system->user, 0);
    return LBX_OK;
}

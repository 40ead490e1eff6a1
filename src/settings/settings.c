/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree that users hold: references, paths, children, faults about values.
 * The tree does not change (TREE-1), so readers need no lock.
 */
#include "settings/settings.h"

#include "base/alloc.h"
#include "settings/loader.h"
#include "settings/path.h"
#include "settings/printer.h"

#include <assert.h>
#include <stdio.h>

enum {
    PATH_SHOWN = 96 // bytes of a path in a fault
};

void
lbx__settings_tree_destroy(lbx__settings_tree *tree)
{
    const lbx_allocator *allocator;

    if (!tree)
        return;
    allocator = tree->arena.allocator;
    lbx__arena_fini(&tree->arena);
    lbx__free(allocator, tree, sizeof(*tree));
}

lbx_settings *
lbx_settings_ref(const lbx_settings *settings)
{
    if (!settings)
        return NULL;
    // Relaxed: the caller has a reference already.
    (void)lbx__add(&settings->tree->references, 1, relaxed);
    return (lbx_settings *)(uintptr_t)settings;
}

void
lbx_settings_unref(lbx_settings *settings)
{
    lbx__settings_tree *tree;
    size_t references;

    if (!settings)
        return;
    tree = settings->tree;
    // Release: our reads happen before the tree is destroyed. Acquire: so do
    // those of threads that dropped their references before.
    references = lbx__sub(&tree->references, 1, acq_rel);
    assert(references > 0);
    if (references == 1)
        lbx__settings_tree_destroy(tree);
}

/* Whether the first key of a path may be another name for "letterbox". */
static bool
settings_is_document_root(const lbx_settings *settings)
{
    return !settings->parent && settings->tree->is_document;
}

const lbx_settings *
lbx_settings_at(const lbx_settings *settings, const char *path)
{
    char key[LBX__LOADER_KEY_BYTES];
    lbx__path_step step = LBX__PATH_END;

    while (settings && (step = lbx__path_next(&path, key)) == LBX__PATH_KEY) {
        const char *name = key;

        if (settings_is_document_root(settings))
            name = lbx__loader_root_name(name);
        // The table of a value that is not a section is empty.
        settings = lbx__key_table_get(&settings->fields, name);
    }
    return step == LBX__PATH_BAD ? NULL : settings;
}

bool
lbx_settings_has(const lbx_settings *settings, const char *path)
{
    return lbx_settings_kind_of(lbx_settings_at(settings, path)) !=
           LBX_SETTINGS_KIND_NULL;
}

lbx_settings_kind
lbx_settings_kind_of(const lbx_settings *settings)
{
    return settings ? settings->kind : LBX_SETTINGS_KIND_NULL;
}

size_t
lbx_settings_count(const lbx_settings *settings)
{
    return settings ? settings->count : 0;
}

const lbx_settings *
lbx_settings_child(const lbx_settings *settings, size_t index)
{
    if (!settings || index >= settings->count)
        return NULL;
    return settings->children ? &settings->children[index]
                              : settings->fields.entries[index].value;
}

const char *
lbx_settings_key(const lbx_settings *settings)
{
    return settings ? settings->key : "";
}

const char *
lbx_settings_text(const lbx_settings *settings)
{
    return settings ? settings->text : "";
}

const char *
lbx_settings_file(const lbx_settings *settings)
{
    return settings ? settings->origin.file : "";
}

uint32_t
lbx_settings_line(const lbx_settings *settings)
{
    return settings ? settings->origin.line : 0;
}

/* Writes the path of the parent, then the key; recursive to the tree's
 * depth. */
static void
settings_write_path(lbx__printer *out, const lbx_settings *settings)
{
    if (!settings->parent) {
        lbx__printer_text(out, settings->tree->prefix);
        return;
    }
    settings_write_path(out, settings->parent);
    if (settings->parent->kind == LBX_SETTINGS_KIND_LIST)
        return; // members have the path of their list
    if (out->length > 0)
        lbx__printer_text(out, ".");
    lbx__printer_key(out, settings->key);
}

size_t
lbx_settings_path(const lbx_settings *settings, char *buffer, size_t size_bytes)
{
    lbx__printer out = {buffer, buffer ? size_bytes : 0, 0};

    if (settings)
        settings_write_path(&out, settings);
    lbx__printer_end(&out);
    return out.length;
}

lbx_status
lbx__settings_fault(const lbx_settings *settings, lbx_fault *fault,
                    lbx_status status, const char *format, ...)
{
    const lbx__fault_line origin = settings->origin;
    char path[PATH_SHOWN], text[sizeof(fault->text)];
    va_list arguments;

    if (!fault)
        return status;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (lbx_settings_path(settings, path, sizeof(path)) == 0)
        (void)snprintf(path, sizeof(path), "the settings");
    return lbx__fault_set_at(
        fault, status, origin.file[0] ? origin : (lbx__fault_line){NULL, 0},
        "%s: %s", path, text);
}

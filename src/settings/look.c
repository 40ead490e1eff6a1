/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a tree, and how long it lives. */
#include "settings/tree.h"

#include "settings/out.h"
#include "settings/path.h"

#include <assert.h>

lbx_settings *
lbx_settings_ref(const lbx_settings *settings)
{
    if (!settings)
        return NULL;
    // Relaxed: whoever takes a reference has one already.
    (void)lbx__add(&settings->tree->references, 1, relaxed);
    return (lbx_settings *)(uintptr_t)settings;
}

void
lbx_settings_unref(lbx_settings *settings)
{
    lbx__tree *tree;
    size_t references;

    if (!settings)
        return;
    tree = settings->tree;
    // Release: our last look comes before the end of the tree. Acquire: and
    // so do those of the others, who released here before us.
    references = lbx__sub(&tree->references, 1, acq_rel);
    assert(references > 0);
    if (references == 1)
        lbx__tree_destroy(tree);
}

/* Whether the first key of a path may be another name for "letterbox". */
static bool
is_document_root(const lbx_settings *settings)
{
    return !settings->parent && settings->tree->is_document;
}

const lbx_settings *
lbx_settings_at(const lbx_settings *settings, const char *path)
{
    char key[LBX__KEY_MAX];
    lbx__step step = LBX__STEP_END;

    while (settings && (step = lbx__path_next(&path, key)) == LBX__STEP_KEY) {
        const char *name = key;

        if (is_document_root(settings))
            name = lbx__root_name(name);
        // The table of what is no section is empty.
        settings = lbx__table_get(&settings->fields, name);
    }
    return step == LBX__STEP_BAD ? NULL : settings;
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
    return settings ? settings->place.file : "";
}

uint32_t
lbx_settings_line(const lbx_settings *settings)
{
    return settings ? settings->place.line : 0;
}

/* Writes the path of the parent, then the key. Recursion is as deep as the
 * tree. */
static void
write_path(lbx__out *out, const lbx_settings *settings)
{
    if (!settings->parent) {
        lbx__out_text(out, settings->tree->prefix);
        return;
    }
    write_path(out, settings->parent);
    if (settings->parent->kind == LBX_SETTINGS_KIND_LIST)
        return; // members have the path of their list
    if (out->length > 0)
        lbx__out_text(out, ".");
    lbx__out_key(out, settings->key);
}

size_t
lbx_settings_path(const lbx_settings *settings, char *buffer, size_t size_bytes)
{
    lbx__out out = {buffer, buffer ? size_bytes : 0, 0};

    if (settings)
        write_path(&out, settings);
    lbx__out_end(&out);
    return out.length;
}

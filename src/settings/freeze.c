/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freezing: every value is resolved and copied into a tree.
 *
 * A value that several members share is copied for each, so that each copy has
 * its own path. This is where a small text can become a large tree, so values
 * are counted here.
 */
#include "settings/freeze.h"

#include "base/alloc.h"
#include "settings/resolver.h"

#include <string.h>

/* A tree that is being made. */
struct freeze {
    lbx__resolver resolver;
    lbx__loader *load;
    lbx__settings_tree *tree;
};

static bool
freeze_no_memory(struct freeze *freeze)
{
    freeze->load->arena.full = freeze->tree->arena.full;
    return lbx__loader_no_memory(freeze->load);
}

static const char *
freeze_keep_text(struct freeze *freeze, const char *text)
{
    const char *copy = "";

    if (text[0])
        copy = lbx__arena_copy(&freeze->tree->arena, text, strlen(text));
    if (!copy)
        (void)freeze_no_memory(freeze);
    return copy;
}

/* The tree's copy of a file name, made once. */
static const char *
freeze_keep_file(struct freeze *freeze, const char *file)
{
    const char *copy;
    lbx__key_entry *entry;

    if (!file)
        return "";
    copy = lbx__key_table_get(&freeze->tree->files, file);
    if (copy)
        return copy;
    copy = freeze_keep_text(freeze, file);
    if (!copy)
        return NULL;
    entry =
        lbx__key_table_put(&freeze->tree->files, &freeze->tree->arena, copy);
    if (!entry) {
        (void)freeze_no_memory(freeze);
        return NULL;
    }
    entry->value = (void *)(uintptr_t)copy;
    return copy;
}

static bool freeze_copy_value(struct freeze *freeze, lbx__resolver_value *value,
                              lbx_settings *settings, uint32_t depth);

static bool
freeze_copy_list(struct freeze *freeze, const lbx__resolver_value *value,
                 lbx_settings *settings, uint32_t depth)
{
    if (value->member_count == 0)
        return true;
    settings->children =
        lbx__arena_take(&freeze->tree->arena,
                        value->member_count * sizeof(*settings->children));
    if (!settings->children)
        return freeze_no_memory(freeze);
    for (size_t i = 0; i < value->member_count; i++) {
        lbx_settings *child = &settings->children[i];

        child->parent = settings;
        child->key = "";
        if (!freeze_copy_value(freeze, value->members[i], child, depth + 1))
            return false;
        settings->count++;
    }
    return true;
}

static bool
freeze_copy_field(struct freeze *freeze, const char *key,
                  lbx__resolver_value *value, lbx_settings *settings,
                  uint32_t depth)
{
    lbx__arena *arena = &freeze->tree->arena;
    lbx_settings *child = lbx__arena_take(arena, sizeof(*child));
    lbx__key_entry *entry;

    if (!child)
        return freeze_no_memory(freeze);
    child->parent = settings;
    child->key = freeze_keep_text(freeze, key);
    if (!child->key || !freeze_copy_value(freeze, value, child, depth + 1))
        return false;
    entry = lbx__key_table_put(&settings->fields, arena, child->key);
    if (!entry)
        return freeze_no_memory(freeze);
    entry->value = child;
    settings->count++;
    return true;
}

static bool
freeze_copy_section(struct freeze *freeze, lbx__resolver_value *value,
                    lbx_settings *settings, uint32_t depth)
{
    for (uint32_t i = 0; i < value->symbols->count; i++) {
        const lbx__key_entry *entry = &value->symbols->entries[i];
        lbx__resolver_value *member;

        if (!lbx__resolver_symbol_value(&freeze->resolver, entry->value,
                                        &member))
            return false;
        if (member && // ${?x} may be undefined
            !freeze_copy_field(freeze, entry->key, member, settings, depth))
            return false;
    }
    return true;
}

static bool
freeze_copy_value(struct freeze *freeze, lbx__resolver_value *value,
                  lbx_settings *settings, uint32_t depth)
{
    bool done = true;

    if (value->freezing)
        return lbx__loader_fail(freeze->load, LBX_INVALID, value->origin,
                                "this value contains itself");
    if (!lbx__loader_count_value(freeze->load, value->origin) ||
        !lbx__loader_check_depth(freeze->load, value->origin, depth))
        return false;
    settings->tree = freeze->tree;
    settings->kind = value->kind;
    settings->origin.line = value->origin.line;
    settings->origin.file = freeze_keep_file(freeze, value->origin.file);
    settings->text = value->kind == LBX_SETTINGS_KIND_NULL
                         ? ""
                         : freeze_keep_text(freeze, value->text);
    if (!settings->origin.file || !settings->text)
        return false;
    value->freezing = true;
    if (value->kind == LBX_SETTINGS_KIND_LIST)
        done = freeze_copy_list(freeze, value, settings, depth);
    else if (value->kind == LBX_SETTINGS_KIND_SECTION)
        done = freeze_copy_section(freeze, value, settings, depth);
    value->freezing = false;
    return done;
}

/* Keeps the path of the section that the tree was made of. */
static bool
freeze_keep_prefix(struct freeze *freeze, const lbx_settings *model)
{
    const size_t length = model ? lbx_settings_path(model, NULL, 0) : 0;
    char *prefix;

    freeze->tree->prefix = "";
    if (length == 0)
        return true;
    prefix = lbx__arena_take(&freeze->tree->arena, length + 1);
    if (!prefix)
        return freeze_no_memory(freeze);
    (void)lbx_settings_path(model, prefix, length + 1);
    freeze->tree->prefix = prefix;
    return true;
}

bool
lbx__freeze_tree(lbx__loader *load, const lbx__expr *root,
                 const lbx_settings *model, lbx__settings_tree **ret)
{
    const lbx_allocator *allocator = load->options.allocator;
    struct freeze freeze = {.load = load};

    load->values = 0;
    if (!lbx__resolver_init(&freeze.resolver, load, root))
        return false;
    freeze.tree = lbx__zalloc(allocator, sizeof(*freeze.tree));
    if (!freeze.tree) {
        load->arena.full = false;
        return lbx__loader_no_memory(load);
    }
    lbx__arena_init(&freeze.tree->arena, allocator,
                    load->options.max_memory_bytes);
    lbx__init(&freeze.tree->references, 1);
    freeze.tree->is_document =
        !model || (!model->parent && model->tree->is_document);
    freeze.tree->root.key = "";
    load->values = 0;
    if (!freeze_keep_prefix(&freeze, model) ||
        !freeze_copy_value(&freeze, freeze.resolver.root, &freeze.tree->root,
                           0)) {
        lbx__settings_tree_destroy(freeze.tree);
        return false;
    }
    *ret = freeze.tree;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading: from sources to a tree.
 *
 * Sources are parsed one after the other into the same section, so that later
 * ones override earlier ones. A tree that is made of other trees is loaded the
 * same way: the trees are turned back into expressions first.
 */
#include "settings/loader.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "settings/freeze.h"
#include "settings/path.h"
#include "settings/settings.h"
#include "settings/source.h"

#include <stdlib.h>
#include <string.h>

static const char *
settings_load_environment(const char *name, void *context)
{
    (void)context;
    return getenv(name);
}

LBX__SIZED(settings_options_sized, lbx_settings_options, max_memory_bytes,
           LBX_SETTINGS_OPTIONS_INIT);

/* Copies the caller's options into `load`; false when they are invalid. The
 * fault has the reason. */
static bool
settings_load_take_options(lbx__loader *load,
                           const lbx_settings_options *options)
{
    const lbx__fault_line nowhere = {NULL, 0};

    memset(load, 0, sizeof(*load));
    load->status =
        lbx__sized_read(&load->options, options, &settings_options_sized,
                        options ? options->fault : NULL);
    if (load->status != LBX_OK)
        return false;
    if (!lbx__allocator_usable(load->options.allocator))
        return lbx__loader_fail(load, LBX_INVALID, nowhere,
                                "an allocator needs both its functions");
    if (load->options.max_depth < 1 ||
        load->options.max_depth > LBX__LOADER_DEPTH_CAP)
        return lbx__loader_fail(
            load, LBX_INVALID, nowhere, "max_depth is %u; 1 to %d is allowed",
            (unsigned)load->options.max_depth, LBX__LOADER_DEPTH_CAP);
    if (load->options.fallback &&
        load->options.fallback->kind != LBX_SETTINGS_KIND_SECTION)
        return lbx__loader_fail(load, LBX_INVALID, nowhere,
                                "the fallback is no section");
    if (!load->options.environment)
        load->options.environment = settings_load_environment;
    return true;
}

/* Allocates the trail, and an empty section to parse into. */
static lbx__expr *
settings_load_begin(lbx__loader *load)
{
    const lbx__fault_line nowhere = {NULL, 0};

    lbx__arena_init(&load->arena, load->options.allocator,
                    load->options.max_memory_bytes);
    load->trail =
        lbx__loader_take(load, load->options.max_depth * sizeof(*load->trail));
    return load->trail ? lbx__expr_create(load, LBX__EXPR_SECTION, nowhere)
                       : NULL;
}

static bool
settings_load_sources_usable(lbx__loader *load,
                             const lbx_settings_source *sources, size_t count)
{
    const lbx__fault_line nowhere = {NULL, 0};
    bool usable = count == 0 || sources;

    for (size_t i = 0; usable && i < count; i++)
        usable =
            sources[i].file || sources[i].text || sources[i].length_bytes == 0;
    return usable || lbx__loader_fail(load, LBX_INVALID, nowhere,
                                      "a source needs a file or a text");
}

lbx_status
lbx__settings_load(const lbx_settings_source *sources, size_t count,
                   const lbx_settings_options *options, uint64_t *ret_steps,
                   lbx_settings **ret)
{
    lbx__settings_tree *tree = NULL;
    lbx__loader load;
    lbx__expr *root;
    bool done;

    if (!ret)
        return lbx__fault_set(options ? options->fault : NULL, LBX_INVALID,
                              "there is no pointer for the tree: ret is NULL");
    if (!settings_load_take_options(&load, options) ||
        !settings_load_sources_usable(&load, sources, count))
        return load.status;
    root = settings_load_begin(&load);
    done = root && (!load.options.fallback ||
                    lbx__expr_add_tree(&load, root, load.options.fallback));
    for (size_t i = 0; done && i < count; i++)
        done = lbx__source_read(&load, &sources[i], root);
    done = done && lbx__freeze_tree(&load, root, NULL, &tree);
    lbx__arena_fini(&load.arena);
    *ret_steps = load.steps;
    if (!done)
        return load.status;
    *ret = &tree->root;
    return LBX_OK;
}

lbx_status
lbx_settings_load(const lbx_settings_source *sources, size_t count,
                  const lbx_settings_options *options, lbx_settings **ret)
{
    uint64_t steps;

    return lbx__settings_load(sources, count, options, &steps, ret);
}

lbx_status
lbx_settings_load_file(const char *file, const lbx_settings_options *options,
                       lbx_settings **ret)
{
    const lbx_settings_source source = {.file = file};

    if (!file)
        return lbx__fault_set(options ? options->fault : NULL, LBX_INVALID,
                              "the path of the file is NULL");
    return lbx_settings_load(&source, 1, options, ret);
}

lbx_status
lbx_settings_load_text(const char *text, const lbx_settings_options *options,
                       lbx_settings **ret)
{
    const lbx_settings_source source = {
        .text = text,
        .length_bytes = text ? strlen(text) : 0,
    };

    if (!text)
        return lbx__fault_set(options ? options->fault : NULL, LBX_INVALID,
                              "the text is NULL");
    return lbx_settings_load(&source, 1, options, ret);
}

/* ---- Trees made of other trees ---- */

/* A load that reads trees only. They were within the limits when they were
 * made, so there are no limits here. */
static lbx__expr *
settings_load_begin_merge(lbx__loader *load, const lbx_allocator *allocator)
{
    const lbx_settings_options defaults = LBX_SETTINGS_OPTIONS_INIT;

    *load = (lbx__loader){.options = defaults};
    load->options.allocator = allocator;
    load->options.allow_duplicates = true; // trees have no braces
    load->options.max_depth = LBX__LOADER_DEPTH_CAP;
    load->options.max_values = SIZE_MAX;
    load->options.max_memory_bytes = SIZE_MAX / 2;
    return settings_load_begin(load);
}

/* Freezes the result of such a load, and frees its arena. */
static lbx_status
settings_load_end_merge(lbx__loader *load, const lbx_settings *settings,
                        lbx__expr *root, lbx_settings **ret)
{
    lbx__settings_tree *tree = NULL;

    if (root && load->status == LBX_OK &&
        lbx__freeze_tree(load, root, settings, &tree))
        *ret = &tree->root;
    lbx__arena_fini(&load->arena);
    return load->status;
}

static bool
settings_load_is_section(const lbx_settings *settings)
{
    return settings && settings->kind == LBX_SETTINGS_KIND_SECTION;
}

lbx_status
lbx_settings_merge(const lbx_settings *settings, const lbx_settings *fallback,
                   const lbx_allocator *allocator, lbx_settings **ret)
{
    lbx__loader load;
    lbx__expr *root;

    if (!settings_load_is_section(settings) ||
        !settings_load_is_section(fallback) || !ret ||
        !lbx__allocator_usable(allocator))
        return LBX_INVALID;
    root = settings_load_begin_merge(&load, allocator);
    if (root && lbx__expr_add_tree(&load, root, fallback))
        (void)lbx__expr_add_tree(&load, root, settings);
    return settings_load_end_merge(&load, settings, root, ret);
}

lbx_status
lbx_settings_with_fallback(const lbx_settings *settings,
                           const lbx_settings *fallback, lbx_settings **ret)
{
    if (!settings)
        return LBX_INVALID;
    return lbx_settings_merge(settings, fallback,
                              settings->tree->arena.allocator, ret);
}

/* Copies the keys of a path into the trail; false for an invalid path. */
static bool
settings_load_split_path(lbx__loader *load, const lbx_settings *settings,
                         const char *path, uint32_t *ret_count)
{
    const lbx__fault_line nowhere = {NULL, 0};
    char key[LBX__LOADER_KEY_BYTES];
    lbx__path_step step;

    *ret_count = 0;
    while ((step = lbx__path_next(&path, key)) == LBX__PATH_KEY) {
        const char *name = key;

        if (!lbx__loader_check_depth(load, nowhere, *ret_count + 1))
            return false;
        if (*ret_count == 0 && !settings->parent && settings->tree->is_document)
            name = lbx__loader_root_name(name);
        name = lbx__loader_copy(load, name, strlen(name));
        load->trail[(*ret_count)++] = name;
        if (!name)
            return false;
    }
    if (step != LBX__PATH_END || *ret_count == 0)
        load->status = LBX_INVALID;
    return load->status == LBX_OK;
}

lbx_status
lbx_settings_with_string(const lbx_settings *settings, const char *path,
                         const char *text, lbx_settings **ret)
{
    const lbx__fault_line nowhere = {NULL, 0};
    lbx__expr_assignment assignment = {0};
    uint32_t count;
    lbx__loader load;
    lbx__expr *root;

    if (!settings_load_is_section(settings) || !path || !text || !ret ||
        !lbx__utf8_valid(text))
        return LBX_INVALID;
    root = settings_load_begin_merge(&load, settings->tree->arena.allocator);
    if (root && lbx__expr_add_tree(&load, root, settings) &&
        settings_load_split_path(&load, settings, path, &count)) {
        assignment.expr = lbx__expr_create(&load, LBX__EXPR_STRING, nowhere);
        if (assignment.expr) {
            assignment.expr->text = text;
            (void)lbx__expr_assign(&load, root, load.trail, count, assignment);
        }
    }
    return settings_load_end_merge(&load, settings, root, ret);
}

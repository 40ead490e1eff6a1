/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of a load share, and the load itself: sources in, tree out. */
#include "settings/load.h"

#include "base/alloc.h"
#include "settings/path.h"
#include "settings/source.h"
#include "settings/tree.h"
#include "settings/utf8.h"

#include <stdlib.h>
#include <string.h>

bool
lbx__load_fail(lbx__load *load, lbx_status status, lbx__place place,
               const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)lbx__fault_write(load->options.fault, status, place, format,
                           arguments);
    va_end(arguments);
    load->status = status;
    return false;
}

bool
lbx__load_no_room(lbx__load *load)
{
    const lbx__place place = {load->reading ? load->reading->origin : NULL, 0};

    if (load->arena.full)
        return lbx__load_fail(load, LBX_INVALID, place,
                              "the settings take more than %zu bytes",
                              load->options.memory_max_bytes);
    return lbx__load_fail(load, LBX_NO_MEMORY, place, "out of memory");
}

void *
lbx__load_take(lbx__load *load, size_t size_bytes)
{
    void *memory = lbx__arena_take(&load->arena, size_bytes);

    if (!memory)
        (void)lbx__load_no_room(load);
    return memory;
}

char *
lbx__load_copy(lbx__load *load, const char *text, size_t length_bytes)
{
    char *copy = lbx__arena_copy(&load->arena, text, length_bytes);

    if (!copy)
        (void)lbx__load_no_room(load);
    return copy;
}

bool
lbx__load_count(lbx__load *load, lbx__place place)
{
    load->steps++;
    if (load->values++ < load->options.values_max)
        return true;
    return lbx__load_fail(load, LBX_INVALID, place,
                          "more than %zu values, substitutions included",
                          load->options.values_max);
}

bool
lbx__load_depth(lbx__load *load, lbx__place place, uint32_t depth)
{
    if (depth <= load->options.depth_max)
        return true;
    return lbx__load_fail(load, LBX_INVALID, place,
                          "nested deeper than %u, substitutions and includes "
                          "included",
                          (unsigned)load->options.depth_max);
}

const char *
lbx__root_name(const char *key)
{
    if (strcmp(key, "akka") == 0 || strcmp(key, "pekko") == 0)
        return "letterbox";
    return key;
}

/* ---- The load ---- */

static const char *
process_environment(const char *name, void *context)
{
    (void)context;
    return getenv(name);
}

/* Puts the caller's options into `load`; false when they make no sense, and
 * then the fault is filled in if it can be. */
static bool
take_options(lbx__load *load, const lbx_settings_options *options)
{
    const lbx_settings_options defaults = LBX_SETTINGS_OPTIONS_INIT;
    const lbx__place nowhere = {NULL, 0};

    *load = (lbx__load){.options = options ? *options : defaults};
    if (load->options.version != LBX_SETTINGS_OPTIONS_VERSION) {
        load->status = LBX_INVALID; // not our struct: nor is its fault
        return false;
    }
    if (!lbx__allocator_usable(load->options.allocator))
        return lbx__load_fail(load, LBX_INVALID, nowhere,
                              "an allocator needs both its functions");
    if (load->options.depth_max < 1 || load->options.depth_max > LBX__DEPTH_CAP)
        return lbx__load_fail(
            load, LBX_INVALID, nowhere, "depth_max is %u; 1 to %d is allowed",
            (unsigned)load->options.depth_max, LBX__DEPTH_CAP);
    if (load->options.fallback &&
        load->options.fallback->kind != LBX_SETTINGS_KIND_SECTION)
        return lbx__load_fail(load, LBX_INVALID, nowhere,
                              "the fallback is no section");
    if (!load->options.environment)
        load->options.environment = process_environment;
    return true;
}

/* An empty section to read into, and the trail that leads there. */
static lbx__raw *
begin(lbx__load *load)
{
    const lbx__place nowhere = {NULL, 0};

    lbx__arena_init(&load->arena, load->options.allocator,
                    load->options.memory_max_bytes);
    load->trail =
        lbx__load_take(load, load->options.depth_max * sizeof(*load->trail));
    return load->trail ? lbx__raw_create(load, LBX__RAW_SECTION, nowhere)
                       : NULL;
}

static bool
sources_usable(lbx__load *load, const lbx_settings_source *sources,
               size_t count)
{
    const lbx__place nowhere = {NULL, 0};
    bool usable = count == 0 || sources;

    for (size_t i = 0; usable && i < count; i++)
        usable =
            sources[i].file || sources[i].text || sources[i].length_bytes == 0;
    return usable || lbx__load_fail(load, LBX_INVALID, nowhere,
                                    "a source needs a file or a text");
}

lbx_status
lbx__settings_load(const lbx_settings_source *sources, size_t count,
                   const lbx_settings_options *options, uint64_t *ret_steps,
                   lbx_settings **ret)
{
    lbx__tree *tree = NULL;
    lbx__load load;
    lbx__raw *root;
    bool done;

    if (!ret)
        return LBX_INVALID;
    if (!take_options(&load, options) || !sources_usable(&load, sources, count))
        return load.status;
    root = begin(&load);
    done = root && (!load.options.fallback ||
                    lbx__raw_add_tree(&load, root, load.options.fallback));
    for (size_t i = 0; done && i < count; i++)
        done = lbx__source_read(&load, &sources[i], root);
    done = done && lbx__tree_create(&load, root, NULL, &tree);
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

    return file ? lbx_settings_load(&source, 1, options, ret) : LBX_INVALID;
}

lbx_status
lbx_settings_load_text(const char *text, const lbx_settings_options *options,
                       lbx_settings **ret)
{
    const lbx_settings_source source = {
        .text = text,
        .length_bytes = text ? strlen(text) : 0,
    };

    return text ? lbx_settings_load(&source, 1, options, ret) : LBX_INVALID;
}

/* ---- Trees made of others ---- */

/* A load that reads from trees only: they kept to limits when they were made,
 * so that there are none here. */
static lbx__raw *
begin_from(lbx__load *load, const lbx_allocator *allocator)
{
    const lbx_settings_options defaults = LBX_SETTINGS_OPTIONS_INIT;

    *load = (lbx__load){.options = defaults};
    load->options.allocator = allocator;
    load->options.allow_duplicates = true; // there is nothing to tell them by
    load->options.depth_max = LBX__DEPTH_CAP;
    load->options.values_max = SIZE_MAX;
    load->options.memory_max_bytes = SIZE_MAX / 2;
    return begin(load);
}

/* Ends such a load. */
static lbx_status
end_from(lbx__load *load, const lbx_settings *settings, lbx__raw *root,
         lbx_settings **ret)
{
    lbx__tree *tree = NULL;

    if (root && load->status == LBX_OK &&
        lbx__tree_create(load, root, settings, &tree))
        *ret = &tree->root;
    lbx__arena_fini(&load->arena);
    return load->status;
}

static bool
is_section(const lbx_settings *settings)
{
    return settings && settings->kind == LBX_SETTINGS_KIND_SECTION;
}

lbx_status
lbx__settings_merge(const lbx_settings *settings, const lbx_settings *fallback,
                    const lbx_allocator *allocator, lbx_settings **ret)
{
    lbx__load load;
    lbx__raw *root;

    root = begin_from(&load, allocator);
    if (root && lbx__raw_add_tree(&load, root, fallback))
        (void)lbx__raw_add_tree(&load, root, settings);
    return end_from(&load, settings, root, ret);
}

lbx_status
lbx_settings_with_fallback(const lbx_settings *settings,
                           const lbx_settings *fallback, lbx_settings **ret)
{
    if (!is_section(settings) || !is_section(fallback) || !ret)
        return LBX_INVALID;
    return lbx__settings_merge(settings, fallback,
                               settings->tree->arena.allocator, ret);
}

/* The keys of a path in the load's memory; false for a path that is none. */
static bool
split_path(lbx__load *load, const lbx_settings *settings, const char *path,
           uint32_t *ret_count)
{
    const lbx__place nowhere = {NULL, 0};
    char key[LBX__KEY_MAX];
    lbx__step step;

    *ret_count = 0;
    while ((step = lbx__path_next(&path, key)) == LBX__STEP_KEY) {
        const char *name = key;

        if (!lbx__load_depth(load, nowhere, *ret_count + 1))
            return false;
        if (*ret_count == 0 && !settings->parent && settings->tree->is_document)
            name = lbx__root_name(name);
        name = lbx__load_copy(load, name, strlen(name));
        load->trail[(*ret_count)++] = name;
        if (!name)
            return false;
    }
    if (step != LBX__STEP_END || *ret_count == 0)
        load->status = LBX_INVALID;
    return load->status == LBX_OK;
}

lbx_status
lbx_settings_with_string(const lbx_settings *settings, const char *path,
                         const char *text, lbx_settings **ret)
{
    const lbx__place nowhere = {NULL, 0};
    lbx__assignment assignment = {0};
    uint32_t count;
    lbx__load load;
    lbx__raw *root;

    if (!is_section(settings) || !path || !text || !ret ||
        !lbx__utf8_valid(text))
        return LBX_INVALID;
    root = begin_from(&load, settings->tree->arena.allocator);
    if (root && lbx__raw_add_tree(&load, root, settings) &&
        split_path(&load, settings, path, &count)) {
        assignment.raw = lbx__raw_create(&load, LBX__RAW_STRING, nowhere);
        if (assignment.raw) {
            assignment.raw->text = text;
            (void)lbx__raw_put(&load, root, load.trail, count, assignment);
        }
    }
    return end_from(&load, settings, root, ret);
}

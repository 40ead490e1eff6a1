/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is settings or a fault: no crash, no leak, no endless work. What
 * loads can be printed, and what was printed loads as the same tree. Texts
 * include each other by number: the input is cut at each 0x01, the first part
 * is the file, include "1" is the next.
 */
#include <letterbox/settings.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct parts {
    const char *text;
    size_t size;
};

/* Part number `index` of the input. */
static lbx_settings_source
part(const struct parts *parts, size_t index)
{
    lbx_settings_source source = {.text = parts->text,
                                  .length_bytes = parts->size};
    const char *end;

    for (;;) {
        end = memchr(source.text, '\x01', source.length_bytes);
        if (index-- == 0)
            break;
        if (!end) {
            source.text = NULL;
            return source;
        }
        source.length_bytes -= (size_t)(end + 1 - source.text);
        source.text = end + 1;
    }
    if (end)
        source.length_bytes = (size_t)(end - source.text);
    return source;
}

static lbx_status
include_part(const char *name, const char *origin, void *context,
             lbx_settings_source *ret)
{
    (void)origin;
    if (name[0] < '1' || name[0] > '9' || name[1])
        return LBX_NOT_FOUND;
    *ret = part(context, (size_t)(name[0] - '0'));
    ret->origin = name;
    return ret->text ? LBX_OK : LBX_NOT_FOUND;
}

static const char *
environment(const char *name, void *context)
{
    (void)context;
    return name[0] == 'E' ? "from outside" : NULL;
}

static char *
print(const lbx_settings *settings, lbx_settings_format format)
{
    const size_t length = lbx_settings_render(settings, format, NULL, 0);
    char *text = malloc(length + 1);

    if (!text ||
        lbx_settings_render(settings, format, text, length + 1) != length)
        abort();
    return text;
}

/* What is printed in `format` is the same tree. */
static void
check_again(const lbx_settings *settings, lbx_settings_format format,
            const char *json)
{
    char *text = print(settings, format);
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;
    lbx_fault fault = {LBX_OK, ""};
    lbx_settings *again;
    char *json_again;

    options.fault = &fault;
    options.max_depth = 500;
    if (lbx_settings_load_text(text, &options, &again) != LBX_OK) {
        fprintf(stderr, "%s\n%s\n", fault.text, text);
        abort();
    }
    json_again = print(again, LBX_SETTINGS_FORMAT_JSON);
    if (strcmp(json, json_again) != 0) {
        fprintf(stderr, "%s\n%s\n", json, json_again);
        abort();
    }
    lbx_settings_unref(again);
    free(json_again);
    free(text);
}

/* Reads every value as everything, and finds it again by its path. */
static void
read_all(const lbx_settings *root, const lbx_settings *settings)
{
    char path[2000];
    lbx_fault fault;
    int64_t integer;
    double number;
    bool flag;

    (void)!lbx_settings_read_integer(settings, NULL, &integer, &fault);
    (void)!lbx_settings_read_number(settings, NULL, &number, &fault);
    (void)!lbx_settings_read_boolean(settings, NULL, &flag, &fault);
    (void)!lbx_settings_read_duration(settings, NULL, &integer, &fault);
    (void)!lbx_settings_read_size(settings, NULL, &integer, &fault);
    (void)!lbx_settings_check(settings, NULL, 0, &fault);
    for (size_t i = 0; i < lbx_settings_count(settings); i++) {
        const lbx_settings *child = lbx_settings_child(settings, i);

        if (lbx_settings_kind_of(settings) == LBX_SETTINGS_KIND_SECTION &&
            lbx_settings_path(child, path, sizeof(path)) < sizeof(path) &&
            root && lbx_settings_at(root, path) != child)
            abort();
        // No path leads into a list.
        read_all(lbx_settings_kind_of(child) == LBX_SETTINGS_KIND_LIST ? NULL
                                                                       : root,
                 child);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parts parts = {(const char *)data, size};
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;
    const lbx_settings_source source = part(&parts, 0);
    lbx_fault fault = {LBX_OK, ""};
    lbx_settings *settings;
    lbx_status status;
    char *json;

    options.fault = &fault;
    options.include = include_part;
    options.environment = environment;
    options.context = &parts;
    options.max_values = 5000;
    options.max_memory_bytes = 4 << 20;
    options.allow_duplicates = size % 2 == 0;
    status = lbx_settings_load(&source, 1, &options, &settings);
    if (status != LBX_OK) {
        if (fault.status != status || !fault.text[0])
            abort();
        return 0;
    }
    json = print(settings, LBX_SETTINGS_FORMAT_JSON);
    check_again(settings, LBX_SETTINGS_FORMAT_JSON, json);
    check_again(settings, LBX_SETTINGS_FORMAT_LINES, json);
    check_again(settings, LBX_SETTINGS_FORMAT_EXPLAIN, json);
    read_all(settings, settings);
    lbx_settings_unref(settings);
    free(json);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing. JSON is one line; lines are the leaves, one each, with the path
 * that leads there. Both can be loaded again: strings are always in quotes, so
 * that "10" stays a string.
 */
#include "settings/settings.h"

#include "settings/printer.h"

#include <stdio.h>

static void
write_plain(lbx__printer *out, const lbx_settings *settings)
{
    if (settings->kind == LBX_SETTINGS_KIND_NULL)
        lbx__printer_text(out, "null");
    else if (settings->kind == LBX_SETTINGS_KIND_STRING)
        lbx__printer_quoted(out, settings->text);
    else
        lbx__printer_text(out, settings->text);
}

static void
write_json(lbx__printer *out, const lbx_settings *settings)
{
    const bool is_section = settings->kind == LBX_SETTINGS_KIND_SECTION;

    if (!is_section && settings->kind != LBX_SETTINGS_KIND_LIST) {
        write_plain(out, settings);
        return;
    }
    lbx__printer_text(out, is_section ? "{" : "[");
    for (size_t i = 0; i < settings->count; i++) {
        const lbx_settings *child = lbx_settings_child(settings, i);

        lbx__printer_text(out, i > 0 ? "," : "");
        if (is_section) {
            lbx__printer_quoted(out, child->key);
            lbx__printer_text(out, ":");
        }
        write_json(out, child);
    }
    lbx__printer_text(out, is_section ? "}" : "]");
}

/* The keys from `top`, which is not named, down to `settings`. */
static void
write_keys(lbx__printer *out, const lbx_settings *top,
           const lbx_settings *settings)
{
    if (settings->parent != top) {
        write_keys(out, top, settings->parent);
        lbx__printer_text(out, ".");
    }
    lbx__printer_key(out, settings->key);
}

static void
write_origin(lbx__printer *out, const lbx_settings *settings)
{
    char line[20] = "";

    if (!settings->origin.file[0])
        return;
    if (settings->origin.line > 0)
        (void)snprintf(line, sizeof(line), ":%u",
                       (unsigned)settings->origin.line);
    lbx__printer_text(out, " # ");
    for (const char *at = settings->origin.file; *at; at++) {
        char shown[2] = {*at, '\0'};

        if (*at == '\n')
            shown[0] = ' ';
        lbx__printer_text(out, shown); // a comment ends with its line
    }
    lbx__printer_text(out, line);
}

static void
write_lines(lbx__printer *out, const lbx_settings *top,
            const lbx_settings *settings, bool explain)
{
    if (settings->kind == LBX_SETTINGS_KIND_SECTION &&
        (settings->count > 0 || settings == top)) {
        for (size_t i = 0; i < settings->count; i++)
            write_lines(out, top, lbx_settings_child(settings, i), explain);
        return;
    }
    if (settings != top) {
        write_keys(out, top, settings);
        lbx__printer_text(out, " = ");
    }
    write_json(out, settings);
    if (explain)
        write_origin(out, settings);
    lbx__printer_text(out, "\n");
}

size_t
lbx_settings_render(const lbx_settings *settings, lbx_settings_format format,
                    char *buffer, size_t size_bytes)
{
    lbx__printer out = {buffer, buffer ? size_bytes : 0, 0};

    if (settings && format == LBX_SETTINGS_FORMAT_JSON)
        write_json(&out, settings);
    else if (settings)
        write_lines(&out, settings, settings,
                    format == LBX_SETTINGS_FORMAT_EXPLAIN);
    lbx__printer_end(&out);
    return out.length;
}

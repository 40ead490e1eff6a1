/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing a tree: JSON on one line, or one line per leaf with its path. Both
 * can be loaded again. Strings are always quoted, so that "10" stays a string.
 */
#include "settings/settings.h"

#include "settings/printer.h"

#include <stdio.h>

static void
settings_render_plain(lbx__printer *out, const lbx_settings *settings)
{
    if (settings->kind == LBX_SETTINGS_KIND_NULL)
        lbx__printer_text(out, "null");
    else if (settings->kind == LBX_SETTINGS_KIND_STRING)
        lbx__printer_quoted(out, settings->text);
    else
        lbx__printer_text(out, settings->text);
}

static void
settings_render_json(lbx__printer *out, const lbx_settings *settings)
{
    const bool is_section = settings->kind == LBX_SETTINGS_KIND_SECTION;

    if (!is_section && settings->kind != LBX_SETTINGS_KIND_LIST) {
        settings_render_plain(out, settings);
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
        settings_render_json(out, child);
    }
    lbx__printer_text(out, is_section ? "}" : "]");
}

/* The keys from below `top` down to `settings`. */
static void
settings_render_keys(lbx__printer *out, const lbx_settings *top,
                     const lbx_settings *settings)
{
    if (settings->parent != top) {
        settings_render_keys(out, top, settings->parent);
        lbx__printer_text(out, ".");
    }
    lbx__printer_key(out, settings->key);
}

static void
settings_render_origin(lbx__printer *out, const lbx_settings *settings)
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
settings_render_lines(lbx__printer *out, const lbx_settings *top,
                      const lbx_settings *settings, bool explain)
{
    if (settings->kind == LBX_SETTINGS_KIND_SECTION &&
        (settings->count > 0 || settings == top)) {
        for (size_t i = 0; i < settings->count; i++)
            settings_render_lines(out, top, lbx_settings_child(settings, i),
                                  explain);
        return;
    }
    if (settings != top) {
        settings_render_keys(out, top, settings);
        lbx__printer_text(out, " = ");
    }
    settings_render_json(out, settings);
    if (explain)
        settings_render_origin(out, settings);
    lbx__printer_text(out, "\n");
}

size_t
lbx_settings_render(const lbx_settings *settings, lbx_settings_format format,
                    char *buffer, size_t size_bytes)
{
    lbx__printer out = {buffer, buffer ? size_bytes : 0, 0};

    if (settings && format == LBX_SETTINGS_FORMAT_JSON)
        settings_render_json(&out, settings);
    else if (settings)
        settings_render_lines(&out, settings, settings,
                              format == LBX_SETTINGS_FORMAT_EXPLAIN);
    lbx__printer_end(&out);
    return out.length;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings for tests: loaded from a text, compared as JSON, refused with a
 * fault.
 *
 *     CHECK_JSON("a.b = 1", "{\"a\":{\"b\":1}}");
 *     CHECK_REFUSED("a = [1", "text:1: expected");
 */
#ifndef LBX_TEST_SETTINGS_FIXTURE_H
#define LBX_TEST_SETTINGS_FIXTURE_H

#include <letterbox/settings.h>

#include "support/test.h"

/* The default options, with a fault in a static struct and an environment that
 * has NAME ("value"), EMPTY ("") and BROKEN (no UTF-8) in it. */
lbx_settings_options test_options(void);
const lbx_fault *last_fault(void);

/* A tree, or NULL, that is released at the end of its scope. */
#define SETTINGS(name) __attribute__((cleanup(settings_end))) lbx_settings *name

void settings_end(lbx_settings **settings);

/* Loads or fails the test. */
lbx_settings *load_text(const char *text);
lbx_settings *load_text_with(const char *text,
                             const lbx_settings_options *options);
lbx_settings *load_fixture(const char *name);

/* The value as JSON, or in another format, in memory that the next call uses
 * again. */
const char *json_of(const lbx_settings *settings);
const char *rendered(const lbx_settings *settings, lbx_settings_format format);

/* The text loads and is this JSON, with and without HOCON's duplicates. */
#define CHECK_JSON(text, json) check_json(__FILE__, __LINE__, text, json, false)
#define CHECK_HOCON_JSON(text, json)                                           \
    check_json(__FILE__, __LINE__, text, json, true)

/* The text is refused with LBX_INVALID and a fault that has this in it. */
#define CHECK_REFUSED(text, part)                                              \
    check_refused(__FILE__, __LINE__, text, LBX_INVALID, part)

/* The last fault has that status and begins with, or has in it, that text. */
#define CHECK_FAULT(status, part)                                              \
    check_fault(__FILE__, __LINE__, last_fault(), status, part)

void check_json(const char *file, int line, const char *text, const char *json,
                bool allow_duplicates);
void check_refused(const char *file, int line, const char *text,
                   lbx_status status, const char *part);
void check_fault(const char *file, int line, const lbx_fault *fault,
                 lbx_status status, const char *part);

/* A folder that is removed, with all in it, at the end of its scope. */
#define FOLDER(name)                                                           \
    __attribute__((cleanup(folder_end))) struct folder name = folder_make()

struct folder {
    char path[64];
};

struct folder folder_make(void);
void folder_write(const struct folder *folder, const char *name,
                  const char *text);

/* Loads a file of the folder. */
lbx_status folder_load(const struct folder *folder, const char *name,
                       lbx_settings **ret);
void folder_end(struct folder *folder);

#endif

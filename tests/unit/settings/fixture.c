/* SPDX-License-Identifier: Apache-2.0 */
/* Settings for tests; see fixture.h. */
#include "settings/fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static lbx_fault fault;

const lbx_fault *
last_fault(void)
{
    return &fault;
}

static const char *
test_environment(const char *name, void *context)
{
    (void)context;
    if (strcmp(name, "NAME") == 0)
        return "value";
    if (strcmp(name, "EMPTY") == 0)
        return "";
    return strcmp(name, "BROKEN") == 0 ? "\xff" : NULL;
}

lbx_settings_options
test_options(void)
{
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;

    fault = (lbx_fault){LBX_OK, ""};
    options.fault = &fault;
    options.environment = test_environment;
    return options;
}

lbx_settings *
load_text_with(const char *text, const lbx_settings_options *options)
{
    lbx_settings *settings = NULL;
    lbx_status status = lbx_settings_load_text(text, options, &settings);

    if (status != LBX_OK)
        FAIL("%s for: %.200s", fault.text, text);
    return settings;
}

lbx_settings *
load_text(const char *text)
{
    lbx_settings_options options = test_options();

    return load_text_with(text, &options);
}

lbx_settings *
load_fixture(const char *name)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings = NULL;
    char path[400];

    snprintf(path, sizeof(path), "%s/%s", TEST_FIXTURES, name);
    if (lbx_settings_load_file(path, &options, &settings) != LBX_OK)
        FAIL("%s", fault.text);
    return settings;
}

const char *
rendered(const lbx_settings *settings, lbx_settings_format format)
{
    static char *text;
    const size_t length = lbx_settings_render(settings, format, NULL, 0);

    free(text);
    text = malloc(length + 1);
    CHECK(text);
    CHECK_INT(length, lbx_settings_render(settings, format, text, length + 1));
    CHECK_INT(length, strlen(text));
    return text;
}

const char *
json_of(const lbx_settings *settings)
{
    return rendered(settings, LBX_SETTINGS_FORMAT_JSON);
}

void
check_json(const char *file, int line, const char *text, const char *json,
           bool allow_duplicates)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings = NULL;

    options.allow_duplicates = allow_duplicates;
    if (lbx_settings_load_text(text, &options, &settings) != LBX_OK)
        test_fail(file, line, "%s for: %s", fault.text, text);
    if (strcmp(json, json_of(settings)) != 0)
        test_fail(file, line, "%s is %s, not %s", text, json_of(settings),
                  json);
    lbx_settings_unref(settings);
}

void
check_refused(const char *file, int line, const char *text, lbx_status status,
              const char *part)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings = NULL;

    if (lbx_settings_load_text(text, &options, &settings) == LBX_OK)
        test_fail(file, line, "%s is accepted: %s", text, json_of(settings));
    CHECK_PTR(NULL, settings);
    check_fault(file, line, &fault, status, part);
}

void
check_fault(const char *file, int line, const lbx_fault *given,
            lbx_status status, const char *part)
{
    if (given->status != status)
        test_fail(file, line, "%s, not %s: %s", lbx_status_name(given->status),
                  lbx_status_name(status), given->text);
    if (!strstr(given->text, part))
        test_fail(file, line, "\"%s\" has no \"%s\" in it", given->text, part);
}

void
settings_end(lbx_settings **settings)
{
    lbx_settings_unref(*settings);
}

struct folder
folder_make(void)
{
    struct folder folder = {"/tmp/lbx-settings-XXXXXX"};

    CHECK(mkdtemp(folder.path));
    return folder;
}

static void
path_in(const struct folder *folder, const char *name, char *path, size_t size)
{
    CHECK((size_t)snprintf(path, size, "%s/%s", folder->path, name) < size);
}

void
folder_write(const struct folder *folder, const char *name, const char *text)
{
    char path[200];
    FILE *file;

    path_in(folder, name, path, sizeof(path));
    file = fopen(path, "w");
    CHECK(file);
    CHECK(fputs(text, file) >= 0);
    CHECK(fclose(file) == 0);
}

lbx_status
folder_load(const struct folder *folder, const char *name, lbx_settings **ret)
{
    lbx_settings_options options = test_options();
    char path[200];

    path_in(folder, name, path, sizeof(path));
    return lbx_settings_load_file(path, &options, ret);
}

static void
remove_all(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        char inner[400];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        if (unlink(inner) != 0)
            remove_all(inner);
    }
    if (directory)
        closedir(directory);
    CHECK(rmdir(path) == 0);
}

void
folder_end(struct folder *folder)
{
    remove_all(folder->path);
}

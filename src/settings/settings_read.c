/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed reads. A value has no type until it is read: the reader decides whether
 * "10" is a string, a number or a duration; scalar.c converts.
 */
#include "settings/settings.h"

#include "settings/path.h"
#include "settings/scalar.h"

/* The fault of a call with NULL where a pointer is needed. */
static lbx_status
settings_read_missing(lbx_fault *fault)
{
    (void)lbx__fault_set(fault, LBX_INVALID,
                         "the settings, or a pointer for the result, is NULL");
    return LBX_INVALID;
}

lbx_status
lbx_settings_write_fault(const lbx_settings *settings, const char *what,
                         lbx_fault *fault)
{
    if (!settings || !what)
        return settings_read_missing(fault);
    return lbx__settings_fault(settings, fault, LBX_INVALID, "%s", what);
}

/* Finds a value; null counts as absent. */
static lbx_status
settings_read_find(const lbx_settings *settings, const char *path,
                   lbx_fault *fault, const lbx_settings **ret)
{
    const lbx_settings *value = lbx_settings_at(settings, path);

    if (!settings)
        return settings_read_missing(fault);
    if (value && value->kind != LBX_SETTINGS_KIND_NULL) {
        *ret = value;
        return LBX_OK;
    }
    (void)lbx__settings_fault(value ? value : settings, fault, LBX_NOT_FOUND,
                              value ? "is null, but a value is needed"
                                    : "there is no %.80s in it",
                              path ? path : "value");
    return LBX_NOT_FOUND;
}

static const char *
settings_read_kind_name(const lbx_settings *settings)
{
    static const char *const names[] = {
        [LBX_SETTINGS_KIND_NULL] = "a null",
        [LBX_SETTINGS_KIND_BOOLEAN] = "a boolean",
        [LBX_SETTINGS_KIND_NUMBER] = "a number",
        [LBX_SETTINGS_KIND_STRING] = "a string",
        [LBX_SETTINGS_KIND_LIST] = "a list",
        [LBX_SETTINGS_KIND_SECTION] = "a section",
    };

    return names[settings->kind];
}

static bool
settings_read_is_plain(const lbx_settings *settings)
{
    return settings->kind == LBX_SETTINGS_KIND_BOOLEAN ||
           settings->kind == LBX_SETTINGS_KIND_NUMBER ||
           settings->kind == LBX_SETTINGS_KIND_STRING;
}

/* Finds the text of a plain value; `needed` is what it should be. */
static lbx_status
settings_read_find_text(const lbx_settings *settings, const char *path,
                        const char *needed, lbx_fault *fault,
                        const lbx_settings **ret)
{
    lbx_status status = settings_read_find(settings, path, fault, ret);

    if (status == LBX_OK && !settings_read_is_plain(*ret))
        status = lbx__settings_fault(*ret, fault, LBX_INVALID,
                                     "is %s, but %s is needed",
                                     settings_read_kind_name(*ret), needed);
    return status;
}

static lbx_status
settings_read_bad_text(const lbx_settings *value, lbx_fault *fault,
                       const char *why)
{
    return lbx__settings_fault(value, fault, LBX_INVALID, "'%.40s' %s",
                               value->text, why);
}

/* The type that each read returns. */
typedef const char *string_value;
typedef int64_t integer_value;
typedef double number_value;
typedef bool boolean_value;
typedef int64_t duration_value;
typedef int64_t size_value;

/* A read, and the same read with a default; they differ in types only. */
#define READ(name, needed, convert)                                            \
    lbx_status lbx_settings_read_##name(const lbx_settings *settings,          \
                                        const char *path, name##_value *ret,   \
                                        lbx_fault *fault)                      \
    {                                                                          \
        const char *why = NULL;                                                \
        const lbx_settings *value;                                             \
        lbx_status status;                                                     \
                                                                               \
        if (!ret)                                                              \
            return settings_read_missing(fault);                               \
        status =                                                               \
            settings_read_find_text(settings, path, needed, fault, &value);    \
        if (status != LBX_OK)                                                  \
            return status;                                                     \
        return convert(value->text, ret, &why)                                 \
                   ? LBX_OK                                                    \
                   : settings_read_bad_text(value, fault, why);                \
    }                                                                          \
                                                                               \
    lbx_status lbx_settings_read_##name##_or(                                  \
        const lbx_settings *settings, const char *path,                        \
        name##_value otherwise, name##_value *ret, lbx_fault *fault)           \
    {                                                                          \
        if (!settings || !ret)                                                 \
            return settings_read_missing(fault);                               \
        if (lbx_settings_has(settings, path))                                  \
            return lbx_settings_read_##name(settings, path, ret, fault);       \
        *ret = otherwise;                                                      \
        return LBX_OK;                                                         \
    }

static bool
settings_read_text(const char *text, const char **ret, const char **why)
{
    (void)why;
    *ret = text;
    return true;
}

READ(string, "a string", settings_read_text)
READ(integer, "a whole number", lbx__scalar_to_integer)
READ(number, "a number", lbx__scalar_to_number)
READ(boolean, "a boolean", lbx__scalar_to_boolean)
READ(duration, "a duration", lbx__scalar_to_duration)
READ(size, "a size", lbx__scalar_to_size)

lbx_status
lbx_settings_read_strings(const lbx_settings *settings, const char *path,
                          const lbx_settings **ret, lbx_fault *fault)
{
    const lbx_settings *value = NULL;
    lbx_status status;

    if (!ret)
        return settings_read_missing(fault);
    status = settings_read_find(settings, path, fault, &value);
    if (status != LBX_OK)
        return status;
    if (value->kind != LBX_SETTINGS_KIND_LIST)
        return lbx__settings_fault(value, fault, LBX_INVALID,
                                   "is %s, but a list of strings is needed",
                                   settings_read_kind_name(value));
    for (size_t i = 0; i < value->count; i++) {
        const lbx_settings *member = &value->children[i];

        if (!settings_read_is_plain(member))
            return lbx__settings_fault(
                member, fault, LBX_INVALID,
                "member %zu is %s, but a list of strings is needed", i + 1,
                settings_read_kind_name(member));
    }
    *ret = value;
    return LBX_OK;
}

lbx_status
lbx_settings_read_section(const lbx_settings *settings, const char *path,
                          const lbx_settings **ret, lbx_fault *fault)
{
    const lbx_settings *value = NULL;
    lbx_status status;

    if (!ret)
        return settings_read_missing(fault);
    status = settings_read_find(settings, path, fault, &value);
    if (status != LBX_OK)
        return status;
    if (value->kind != LBX_SETTINGS_KIND_SECTION)
        return lbx__settings_fault(value, fault, LBX_INVALID,
                                   "is %s, but a section is needed",
                                   settings_read_kind_name(value));
    *ret = value;
    return LBX_OK;
}

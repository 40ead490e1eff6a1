/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_SETTINGS_H
#define LETTERBOX_SETTINGS_H
#include <letterbox/base.h>
LBX_BEGIN
typedef struct lbx_settings lbx_settings;
typedef enum lbx_settings_kind {
    LBX_SETTINGS_KIND_NULL,
    LBX_SETTINGS_KIND_BOOLEAN,
    LBX_SETTINGS_KIND_NUMBER,
    LBX_SETTINGS_KIND_STRING,
    LBX_SETTINGS_KIND_LIST,
    LBX_SETTINGS_KIND_SECTION,
} lbx_settings_kind;
typedef struct lbx_settings_source {
    const char *file;
    const char *text;
    size_t length_bytes;
    const char *origin;
} lbx_settings_source;
typedef struct lbx_settings_options {
    size_t size_bytes;
    const lbx_allocator *allocator;
    lbx_fault *fault;
    const lbx_settings *fallback;
    bool allow_duplicates;
    bool no_environment;
    const char *(*environment)(const char *name, void *context);
    const char *include_folder;
    lbx_status (*include)(const char *name, const char *origin, void *context,
                          lbx_settings_source *ret);
    void *context;
    uint32_t max_depth;
    size_t max_values;
    size_t max_file_bytes;
    size_t max_memory_bytes;
} lbx_settings_options;
#define LBX_SETTINGS_OPTIONS_INIT                                              \
    {                                                                          \
        .size_bytes = sizeof(lbx_settings_options), .max_depth = 100,          \
        .max_values = 1000000, .max_file_bytes = (size_t)16 << 20,             \
        .max_memory_bytes = (size_t)256 << 20                                  \
    }
LBX_API LBX_MUST_USE lbx_status
lbx_settings_load(const lbx_settings_source *sources, size_t count,
                  const lbx_settings_options *options, lbx_settings **ret);
LBX_API LBX_MUST_USE lbx_status lbx_settings_load_file(
    const char *file, const lbx_settings_options *options, lbx_settings **ret);
LBX_API LBX_MUST_USE lbx_status lbx_settings_load_text(
    const char *text, const lbx_settings_options *options, lbx_settings **ret);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_with_fallback(const lbx_settings *settings,
                           const lbx_settings *fallback, lbx_settings **ret);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_merge(const lbx_settings *settings, const lbx_settings *fallback,
                   const lbx_allocator *allocator, lbx_settings **ret);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_with_string(const lbx_settings *settings, const char *path,
                         const char *text, lbx_settings **ret);
LBX_API lbx_settings *lbx_settings_ref(const lbx_settings *settings);
LBX_API void lbx_settings_unref(lbx_settings *settings);
LBX_API const lbx_settings *lbx_settings_at(const lbx_settings *settings,
                                            const char *path);
LBX_API bool lbx_settings_has(const lbx_settings *settings, const char *path);
LBX_API lbx_settings_kind lbx_settings_kind_of(const lbx_settings *settings);
LBX_API size_t lbx_settings_count(const lbx_settings *settings);
LBX_API const lbx_settings *lbx_settings_child(const lbx_settings *settings,
                                               size_t index);
LBX_API const char *lbx_settings_key(const lbx_settings *settings);
LBX_API const char *lbx_settings_text(const lbx_settings *settings);
LBX_API const char *lbx_settings_file(const lbx_settings *settings);
LBX_API uint32_t lbx_settings_line(const lbx_settings *settings);
LBX_API size_t lbx_settings_path(const lbx_settings *settings, char *buffer,
                                 size_t size_bytes);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_string(const lbx_settings *settings, const char *path,
                         const char **ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_settings_read_string_or(
    const lbx_settings *settings, const char *path, const char *otherwise,
    const char **ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_integer(const lbx_settings *settings, const char *path,
                          int64_t *ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_integer_or(const lbx_settings *settings, const char *path,
                             int64_t otherwise, int64_t *ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_number(const lbx_settings *settings, const char *path,
                         double *ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_number_or(const lbx_settings *settings, const char *path,
                            double otherwise, double *ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_boolean(const lbx_settings *settings, const char *path,
                          bool *ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_boolean_or(const lbx_settings *settings, const char *path,
                             bool otherwise, bool *ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_duration(const lbx_settings *settings, const char *path,
                           int64_t *ret_ns, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_settings_read_duration_or(
    const lbx_settings *settings, const char *path, int64_t otherwise_ns,
    int64_t *ret_ns, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_size(const lbx_settings *settings, const char *path,
                       int64_t *ret_bytes, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_settings_read_size_or(
    const lbx_settings *settings, const char *path, int64_t otherwise_bytes,
    int64_t *ret_bytes, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_strings(const lbx_settings *settings, const char *path,
                          const lbx_settings **ret, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_section(const lbx_settings *settings, const char *path,
                          const lbx_settings **ret, lbx_fault *fault);
typedef enum lbx_settings_type {
    LBX_SETTINGS_TYPE_ANY,
    LBX_SETTINGS_TYPE_STRING,
    LBX_SETTINGS_TYPE_INTEGER,
    LBX_SETTINGS_TYPE_NUMBER,
    LBX_SETTINGS_TYPE_BOOLEAN,
    LBX_SETTINGS_TYPE_DURATION,
    LBX_SETTINGS_TYPE_SIZE,
    LBX_SETTINGS_TYPE_STRINGS,
    LBX_SETTINGS_TYPE_SECTION,
} lbx_settings_type;
typedef struct lbx_settings_rule {
    const char *key;
    lbx_settings_type type;
    bool required;
    int64_t min;
    int64_t max;
    const char *const *words;
} lbx_settings_rule;
LBX_API LBX_MUST_USE lbx_status
lbx_settings_check(const lbx_settings *section, const lbx_settings_rule *rules,
                   size_t count, lbx_fault *fault);
LBX_API lbx_status lbx_settings_write_fault(const lbx_settings *settings,
                                            const char *what, lbx_fault *fault);
typedef enum lbx_settings_format {
    LBX_SETTINGS_FORMAT_JSON,
    LBX_SETTINGS_FORMAT_LINES,
    LBX_SETTINGS_FORMAT_EXPLAIN,
} lbx_settings_format;
LBX_API size_t lbx_settings_render(const lbx_settings *settings,
                                   lbx_settings_format format, char *buffer,
                                   size_t size_bytes);
LBX_END
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One load under way: what all its steps share.
 *
 *     text --parser--> expr fields --resolver--> values --freeze--> tree
 *
 * The steps answer bool; false means that the load has failed, and `status`
 * and the caller's fault say why. Everything until the tree lives in the
 * load's own arena and goes with it.
 *
 * I1  status is LBX_OK exactly as long as no step has answered false.
 */
#ifndef LBX_SETTINGS_LOAD_H
#define LBX_SETTINGS_LOAD_H

#include <letterbox/settings.h>

#include "base/fault.h"
#include "settings/arena.h"

enum {
    LBX__LOADER_DEPTH_CAP = 500, /* the most that depth_max may be */
    LBX__LOADER_KEY_BYTES = 1024 /* bytes of a key, with its NUL */
};

/* What is being read, from the innermost include outwards. */
typedef struct lbx__loader_reading {
    struct lbx__loader_reading *outer;
    const char *name; /* for faults: the file, or what the caller calls it */
    const char *file; /* NULL: from memory */
    uint64_t device, inode; /* of the file */
} lbx__loader_reading;

typedef struct lbx__loader {
    lbx_settings_options options;
    lbx__arena arena;
    lbx_status status;
    size_t values;   /* made in the present step */
    uint64_t steps;  /* bytes and values looked at: what a load costs */
    uint32_t braces; /* the last pair of braces; each has its number */
    lbx__loader_reading *reading;
    const char *
        *trail; /* keys that lead to where the parser is; NULL: a list */
    uint32_t trail_count;
} lbx__loader;

/* lbx_settings_load(), which also tells how many steps it took. */
lbx_status lbx__settings_load(const lbx_settings_source *sources, size_t count,
                              const lbx_settings_options *options,
                              uint64_t *ret_steps, lbx_settings **ret);

/* Fails the load with a sentence; returns false. */
bool lbx__loader_fail(lbx__loader *load, lbx_status status,
                      lbx__fault_line origin, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fails the load because the arena gave no memory; returns false. */
bool lbx__loader_no_memory(lbx__loader *load);

/* Memory of the load; fails it and returns NULL when there is none. */
void *lbx__loader_take(lbx__loader *load, size_t size_bytes);
char *lbx__loader_copy(lbx__loader *load, const char *text,
                       size_t length_bytes);

/* One more value; false when that is too many. */
bool lbx__loader_count_value(lbx__loader *load, lbx__fault_line origin);

/* Whether `depth` is allowed. */
bool lbx__loader_check_depth(lbx__loader *load, lbx__fault_line origin,
                             uint32_t depth);

/* "letterbox" for each of its names; any other key itself. For the first key
 * of a path from the top of a document. */
const char *lbx__loader_root_name(const char *key);

#endif

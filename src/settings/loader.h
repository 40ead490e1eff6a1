/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One load: what all its steps share.
 *
 *     text --parser--> expressions --resolver--> values --freeze--> tree
 *
 * The steps return bool. False means that the load has failed; `status` and the
 * caller's fault have the reason. All objects before the tree live in the
 * loader's arena and are freed with it.
 *
 * LOADER-1  status is LBX_OK exactly as long as no step has returned false.
 */
#ifndef LBX_SETTINGS_LOADER_H
#define LBX_SETTINGS_LOADER_H

#include <letterbox/settings.h>

#include "base/arena.h"
#include "base/fault.h"

enum {
    LBX__LOADER_DEPTH_CAP = 500, /* the largest max_depth */
    LBX__LOADER_KEY_BYTES = 1024 /* bytes of a key, with its NUL */
};

/* A text that is being parsed; a chain from the innermost include outwards. */
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
    size_t values;   /* created in the current step */
    uint64_t steps;  /* bytes and values visited: the cost of a load */
    uint32_t braces; /* number of the last pair of braces */
    lbx__loader_reading *reading;
    const char *
        *trail; /* keys from the root to the current field; NULL: a list */
    uint32_t trail_count;
} lbx__loader;

/* lbx_settings_load(), and how many steps it took. */
lbx_status lbx__settings_load(const lbx_settings_source *sources, size_t count,
                              const lbx_settings_options *options,
                              uint64_t *ret_steps, lbx_settings **ret);

/* Fails the load with a sentence; returns false. */
bool lbx__loader_fail(lbx__loader *load, lbx_status status,
                      lbx__fault_line origin, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fails the load because the arena is full or has no memory; returns false. */
bool lbx__loader_no_memory(lbx__loader *load);

/* Memory of the arena; on failure, fails the load and returns NULL. */
void *lbx__loader_take(lbx__loader *load, size_t size_bytes);
char *lbx__loader_copy(lbx__loader *load, const char *text,
                       size_t length_bytes);

/* Counts one more value; false, and a failed load, when there are too many. */
bool lbx__loader_count_value(lbx__loader *load, lbx__fault_line origin);

/* False, and a failed load, when `depth` is more than is allowed. */
bool lbx__loader_check_depth(lbx__loader *load, lbx__fault_line origin,
                             uint32_t depth);

/* Replaces an alias of the top section "letterbox" by that name; returns any
 * other key unchanged. For the first key of a path from the root of a
 * document. */
const char *lbx__loader_root_name(const char *key);

#endif

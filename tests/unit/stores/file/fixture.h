/* SPDX-License-Identifier: Apache-2.0 */
/* Storages in fresh folders, rows by text, and system calls that fail. */
#ifndef LBX_TEST_STORES_FILE_FIXTURE_H
#define LBX_TEST_STORES_FILE_FIXTURE_H

#include "stores/file/file.h"
#include "support/folder.h"
#include "support/test.h"

#include <stdatomic.h>
#include <string.h>

/* Small: 64 KiB of journal, 256 MiB of map. */
lbx_store_options fixture_options(void);

/* Opens with the options given; NULL: fixture_options(). */
lbx__storage *fixture_open(const char *path, const lbx_store_options *options,
                           const lbx__io *io);

/* Opens with the options given, NULL: fixture_options(), and closes again. */
lbx_status fixture_try_open(const char *path, const lbx_store_options *options,
                            lbx_fault *ret_fault);

static inline lbx__bytes
text(const char *content)
{
    return (lbx__bytes){content, strlen(content)};
}

/* Reserves and puts, in an open batch. */
void put_text(lbx__storage *storage, lbx__table table, const char *key,
              const char *value);

/* A batch of one row, flushed; returns the status of the flush. */
lbx_status store_text(lbx__storage *storage, const char *key,
                      const char *value);

/* Checks the value of a key of LBX__BODIES; NULL: the key is absent. */
void check_text(lbx__storage *storage, const char *key, const char *value);

/* The system's calls, one of which fails; from any thread. A count n >= 0 lets
 * n calls pass: the call after them fails, and so do all later ones if
 * `for_ever` is set. */
struct faulty_io {
    lbx__io io; /* first */
    _Atomic(long) writes_left, syncs_left, allocates_left;
    int error; /* as errno */
    bool for_ever;
    _Atomic(long) writes, syncs, allocates; /* how many there were */
    int64_t boot_ns, wall_ns;               /* 0: the system's */
    uint8_t boot[16];                       /* used when boot_ns is */
};

void faulty_init(struct faulty_io *faulty);

/* The bytes of a file in a store's folder. */
size_t fixture_size(const char *path, const char *name);
void fixture_read(const char *path, const char *name, void *bytes, size_t size,
                  size_t offset);
void fixture_write(const char *path, const char *name, const void *bytes,
                   size_t size, size_t offset);
void fixture_copy(const char *from, const char *to, const char *name);

/* Both files, as a kill leaves them. */
void fixture_copy_store(const char *from, const char *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public structs that may grow in later versions.
 *
 * Structs that users fill in (options, tables of functions) and structs that the
 * library fills in (statistics, reports) begin with a size_t, `size_bytes`: what
 * the struct measured when the program was compiled. Their _INIT macros set it.
 * New members come at the end, and 0 (or what _INIT says) means what was before,
 * so that a program and a library of different versions understand each other:
 *
 * - An older program has a shorter struct: the missing members have their
 *   defaults.
 * - A newer program has a longer one: the unknown members must be 0, or the
 *   struct asks for something that this library does not have, and is refused.
 *
 * SIZED-1  Only members below the struct's own size are read or written.
 * SIZED-2  A size below the first version's is no struct of ours (most often one
 *          that was not started with its _INIT) and is refused.
 */
#ifndef LBX_BASE_SIZED_H
#define LBX_BASE_SIZED_H

#include <letterbox/base.h>

/* The size of a struct that ends with `member`: what its first version was. */
#define LBX__SIZED_MIN(type, member)                                           \
    (offsetof(type, member) + sizeof(((type *)0)->member))

/* Reads a user's struct into one of this library's, `size_bytes` long. `ret`
 * holds the defaults and keeps them where the user's is shorter. `init` is the
 * name of its macro, for the fault.
 *
 * Returns LBX_OK, or LBX_INVALID: not started with its _INIT, or with members
 * set that this library does not know. */
lbx_status lbx__sized_read(void *ret, size_t size_bytes, const void *from,
                           size_t min_bytes, const char *init,
                           lbx_fault *fault);

/* Writes a struct of this library's, `size_bytes` long, into a user's: as much of
 * it as the user's has, and 0 behind. The user's size stays as it is.
 *
 * Returns LBX_OK, or LBX_INVALID: not started with its _INIT. */
lbx_status lbx__sized_write(void *to, const void *from, size_t size_bytes,
                            size_t min_bytes);

#endif

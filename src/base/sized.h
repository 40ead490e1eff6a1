/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public structs that may grow in later versions.
 *
 * Structs that users fill in (options, tables of functions) and structs that
 * the library fills in (statistics, reports) begin with a size_t, `size_bytes`:
 * what the struct measured when the program was compiled. Their _INIT macros
 * set it. New members come at the end, and 0 (or what _INIT says) means what
 * was before, so that a program and a library of different versions understand
 * each other:
 *
 * - An older program has a shorter struct: the missing members have their
 *   defaults.
 * - A newer program has a longer one: the unknown members must be 0, or the
 *   struct asks for something that this library does not have, and is refused.
 *
 * Structs of today's size, the usual case, are used where they are; only the
 * others are copied.
 *
 * SIZED-1  Only members below the struct's own size are read or written.
 * SIZED-2  A size below the first version's is no struct of ours (most often
 *          one that was not started with its _INIT) and is refused.
 * SIZED-3  Tables of functions stay where they are, as their addresses are
 *          kept. Entries that the first version did not have are read through
 *          LBX__SIZED_HAS().
 */
#ifndef LBX_BASE_SIZED_H
#define LBX_BASE_SIZED_H

#include <letterbox/base.h>

/* The size of a struct that ends with `member`: what its first version was. */
#define LBX__SIZED_MIN(type, member)                                           \
    (offsetof(type, member) + sizeof(((type *)0)->member))

/* How many times its size of today a struct of a newer program may have. A
 * larger size is that of a struct that was not started with its _INIT. */
enum {
    LBX__SIZED_GROWTH = 4
};

/* Reports whether a user's struct is long enough to have `member`. */
#define LBX__SIZED_HAS(sized, type, member)                                    \
    ((sized)->size_bytes >= LBX__SIZED_MIN(type, member))

/* What is known about a public struct. */
typedef struct lbx__sized {
    size_t size_bytes; /* today's */
    size_t min_bytes;  /* the first version's */
    const char *init;  /* the name of its macro, for faults */
    const void *defaults;
} lbx__sized;

/* Defines the lbx__sized `name` of a struct whose first version ended with
 * `member`. */
#define LBX__SIZED(name, type, member, macro)                                  \
    static const type name##_defaults = macro;                                 \
    static const lbx__sized name = {                                           \
        sizeof(type), LBX__SIZED_MIN(type, member), #macro, &name##_defaults}

/* Checks a user's struct.
 *
 * Returns LBX_OK, or LBX_INVALID: not started with its _INIT, or with members
 * set that this library does not know. */
lbx_status lbx__sized_check(const void *from, const lbx__sized *sized,
                            lbx_fault *fault);

/* Reads a user's struct into `ret`, one of this library's: where the user's is
 * shorter, `ret` gets the defaults. NULL stands for the defaults.
 *
 * Returns as lbx__sized_check(). */
lbx_status lbx__sized_read(void *ret, const void *from, const lbx__sized *sized,
                           lbx_fault *fault);

/* The same without a copy if one can be avoided: returns `from` when it has
 * today's size, the defaults for NULL, otherwise `own`, which was read into;
 * NULL instead of LBX_INVALID. */
const void *lbx__sized_view(const void *from, void *own,
                            const lbx__sized *sized, lbx_fault *fault);

/* The element `index` of a user's array. All have the size of the first. */
static inline const void *
lbx__sized_at(const void *first, size_t index)
{
    const size_t *size_bytes = (const size_t *)first;

    return (const unsigned char *)first + index * *size_bytes;
}

/* Writes a struct of this library's, `size_bytes` long, into a user's: as much
 * of it as the user's has, and 0 behind. The user's size stays as it is.
 *
 * Returns LBX_OK, or LBX_INVALID: not started with its _INIT. */
lbx_status lbx__sized_write(void *to, const void *from, size_t size_bytes,
                            size_t min_bytes);

/* The same for a struct `from`, whose first version ended with `member`. */
#define LBX__SIZED_WRITE(to, from, type, member)                               \
    lbx__sized_write(to, from, sizeof(type), LBX__SIZED_MIN(type, member))

/* Reports whether lbx__sized_write() would refuse: to be known before there is
 * an effect. */
#define LBX__SIZED_IS_WRITABLE(to, type, member)                               \
    (LBX__SIZED_HAS(to, type, member) &&                                       \
     (to)->size_bytes <= LBX__SIZED_GROWTH * sizeof(type))

#endif

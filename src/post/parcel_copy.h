/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of parcels, each in one block of memory.
 *
 * A copy is the attributes, then the texts with their NULs, then the body with
 * a NUL after it. Letters put it after their own struct; the doubles keep it in
 * a block of its own.
 */
#ifndef LBX_POST_PARCEL_COPY_H
#define LBX_POST_PARCEL_COPY_H

#include <letterbox/store_driver.h>

/* The bytes that lbx__parcel_copy_to() writes for a parcel. */
size_t lbx__parcel_copy_bytes(const lbx_parcel *parcel);

/* Copies a parcel to `memory`, which is aligned for an lbx_attribute, and
 * points `ret` there. Returns the first byte after the copy. `ret` may be
 * `from`. */
char *lbx__parcel_copy_to(void *memory, const lbx_parcel *from,
                          lbx_parcel *ret);

/* Copies bytes to *to, and advances it; returns the copy. */
void *lbx__parcel_copy_keep(char **to, const void *bytes, size_t size);

/* The same for a text with its NUL; NULL stays NULL. */
const char *lbx__parcel_copy_text(char **to, const char *text);

/* A text's size with its NUL; 0 for NULL. */
size_t lbx__parcel_copy_text_bytes(const char *text);

/* A copy in a block of its own. */
typedef struct lbx__parcel_copy {
    size_t size;
    lbx_parcel parcel;
} lbx__parcel_copy;

/* NULL: no memory. */
lbx__parcel_copy *lbx__parcel_copy_create(const lbx_allocator *allocator,
                                          const lbx_parcel *from);
void lbx__parcel_copy_destroy(const lbx_allocator *allocator,
                              lbx__parcel_copy *copy);

#endif

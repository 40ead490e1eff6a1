/* SPDX-License-Identifier: Apache-2.0 */
/* What the other rooms ask about a type. */
#ifndef LBX_BASE_TYPE_H
#define LBX_BASE_TYPE_H

#include <letterbox/type.h>
#include <stdalign.h>

/* Reports whether its messages can be copied; have to be destroyed. False for
 * NULL. */
bool lbx__type_clones(const lbx_type *type);
bool lbx__type_destroys(const lbx_type *type);

/* Static memory for one type of the library's own, without bases. */
typedef struct lbx__type_storage {
    lbx_allocator allocator;
    size_t used;
    alignas(64) unsigned char bytes[512];
} lbx__type_storage;

/* Makes a type in it, with these options except the allocator: nothing can fail
 * and nothing is freed. Once for each storage. */
const lbx_type *lbx__type_init_static(lbx__type_storage *storage,
                                      lbx_type_options options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the other rooms ask about a type. */
#ifndef LBX_BASE_TYPE_H
#define LBX_BASE_TYPE_H

#include <letterbox/type.h>
#include <stdalign.h>

/* Its messages can be copied; they have to be ended. False for NULL. */
bool lbx__type_clones(const lbx_type *type);
bool lbx__type_ends(const lbx_type *type);

/* Static memory for one type of the library's own, without bases. */
typedef struct lbx__type_room {
    lbx_allocator allocator;
    size_t used;
    alignas(64) unsigned char bytes[512];
} lbx__type_room;

/* Makes a type in it, with these options but the allocator: nothing to fail and
 * nothing to free. Once for each room. */
const lbx_type *lbx__type_make_static(lbx__type_room *room,
                                      lbx_type_options options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of letters: UUIDs as text. */
#include "post/parcel.h"

#include "codec/random.h"
#include "codec/uuid.h"

_Static_assert(sizeof(((lbx_id *)0)->text) >= LBX__UUID_TEXT_BYTES,
               "an id has room for a UUID");

void
lbx__id_of(const uint8_t bytes[16], lbx_id *ret)
{
    *ret = (lbx_id){{0}};
    lbx__uuid_format(bytes, ret->text);
}

bool
lbx__id_random(lbx_id *ret)
{
    uint8_t bytes[LBX__UUID_BYTES];

    if (!lbx__random(bytes, sizeof(bytes)))
        return false;
    lbx__uuid_mark_random(bytes);
    lbx__id_of(bytes, ret);
    return true;
}

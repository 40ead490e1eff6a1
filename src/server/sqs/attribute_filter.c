/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of attributes; see attribute_filter.h. */
#include "server/sqs/attribute_filter.h"

static bool
filter_is_all(lbx__slice wanted)
{
    return lbx__slice_is(wanted, "All") || lbx__slice_is(wanted, ".*") ||
           lbx__slice_is(wanted, "*");
}

/* "Hel.*" wants Hello and Help.Me: what precedes the last two characters is a
 * plain beginning, and no dot has to follow. */
static bool
filter_begins(lbx__slice wanted, lbx__slice name)
{
    return wanted.size > 2 &&
           memcmp(wanted.bytes + wanted.size - 2, ".*", 2) == 0 &&
           name.size >= wanted.size - 2 &&
           memcmp(name.bytes, wanted.bytes, wanted.size - 2) == 0;
}

bool
lbx__attribute_filter_matches(const lbx__sqs_texts *names, lbx__slice name)
{
    for (size_t i = 0; i < names->count; i++) {
        const lbx__slice wanted = names->items[i];

        if (filter_is_all(wanted) || lbx__slice_equal(wanted, name) ||
            filter_begins(wanted, name))
            return true;
    }
    return false;
}

static uint32_t
filter_system_list(const lbx__sqs_texts *names)
{
    static const char *const known[] = {
#define XX(name) #name,
        LBX__SYSTEM_ATTRIBUTES(XX)
#undef XX
    };
    uint32_t wanted = 0;

    for (size_t i = 0; i < names->count; i++) {
        if (lbx__slice_is(names->items[i], "All"))
            return (1U << LBX__SYSTEM_ATTRIBUTE_COUNT) - 1;
        for (uint32_t j = 0; j < LBX__SYSTEM_ATTRIBUTE_COUNT; j++) {
            if (lbx__slice_is(names->items[i], known[j]))
                wanted |= 1U << j;
        }
    }
    return wanted;
}

uint32_t
lbx__attribute_filter_system(const lbx__sqs_texts *names,
                             const lbx__sqs_texts *more)
{
    return filter_system_list(names) | filter_system_list(more);
}

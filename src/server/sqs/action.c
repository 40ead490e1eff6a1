/* SPDX-License-Identifier: Apache-2.0 */
/* The table of actions, in the order of their names. */
#include "server/sqs/action.h"

const lbx__action lbx__actions[] = {
#define XX(name, function, queue, empty)                                       \
    {#name, lbx__action_##function, queue, empty},
    LBX__ACTIONS(XX)
#undef XX
};

const size_t lbx__action_count = sizeof(lbx__actions) / sizeof(lbx__actions[0]);

/* As strcmp() orders them. */
static int
action_compare(lbx__slice name, const char *other)
{
    const size_t size = strlen(other);
    const size_t common = name.size < size ? name.size : size;
    const int order = memcmp(name.bytes, other, common);

    if (order != 0)
        return order;
    return (name.size > size) - (name.size < size);
}

const lbx__action *
lbx__action_find(lbx__slice name)
{
    size_t from = 0, to = lbx__action_count;

    if (!name.bytes)
        return NULL;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const int order = action_compare(name, lbx__actions[middle].name);

        if (order == 0)
            return &lbx__actions[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of a load share: faults, memory, limits; see loader.h. */
#include "settings/loader.h"

#include <string.h>

bool
lbx__loader_fail(lbx__loader *load, lbx_status status, lbx__fault_line origin,
                 const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)lbx__fault_set_list(load->options.fault, status, origin, format,
                              arguments);
    va_end(arguments);
    load->status = status;
    return false;
}

bool
lbx__loader_no_memory(lbx__loader *load)
{
    const lbx__fault_line origin = {load->reading ? load->reading->name : NULL,
                                    0};

    if (load->arena.full)
        return lbx__loader_fail(load, LBX_INVALID, origin,
                                "the settings take more than %zu bytes",
                                load->options.max_memory_bytes);
    return lbx__loader_fail(load, LBX_NO_MEMORY, origin, "out of memory");
}

void *
lbx__loader_take(lbx__loader *load, size_t size_bytes)
{
    void *memory = lbx__arena_take(&load->arena, size_bytes);

    if (!memory)
        (void)lbx__loader_no_memory(load);
    return memory;
}

char *
lbx__loader_copy(lbx__loader *load, const char *text, size_t length_bytes)
{
    char *copy = lbx__arena_copy(&load->arena, text, length_bytes);

    if (!copy)
        (void)lbx__loader_no_memory(load);
    return copy;
}

bool
lbx__loader_count_value(lbx__loader *load, lbx__fault_line origin)
{
    load->steps++;
    if (load->values++ < load->options.max_values)
        return true;
    return lbx__loader_fail(load, LBX_INVALID, origin,
                            "more than %zu values, substitutions included",
                            load->options.max_values);
}

bool
lbx__loader_check_depth(lbx__loader *load, lbx__fault_line origin,
                        uint32_t depth)
{
    if (depth <= load->options.max_depth)
        return true;
    return lbx__loader_fail(load, LBX_INVALID, origin,
                            "nested deeper than %u, substitutions and includes "
                            "included",
                            (unsigned)load->options.max_depth);
}

const char *
lbx__loader_root_name(const char *key)
{
    if (strcmp(key, "akka") == 0 || strcmp(key, "pekko") == 0)
        return "letterbox";
    return key;
}

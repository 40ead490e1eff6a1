/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes: see attributes.h. */
#include "attributes.h"

#include <stdio.h>
#include <string.h>

/* Reads "Number.float" into the kind and the label. */
static bool
attribute_read_type(const char *type, lbx_attribute *attribute, char *label)
{
    static const char *const kinds[] = {"String", "Number", "Binary"};
    const size_t size = strcspn(type, ".");

    for (int i = 0; i < 3; i++) {
        if (strlen(kinds[i]) != size || memcmp(kinds[i], type, size) != 0)
            continue;
        attribute->kind = (lbx_attribute_kind)i;
        if (type[size] == '\0')
            return true;
        snprintf(label, CLI_ATTRIBUTE_BYTES, "%s", type + size + 1);
        attribute->label = label;
        return *label != '\0';
    }
    return false;
}

static int
attribute_read(const struct cli_call *call, const char *text,
               struct cli_attributes *ret)
{
    const size_t index = ret->count;
    lbx_attribute *attribute = &ret->items[index];
    char *name = ret->names[index];
    const char *equals = strchr(text, '=');
    char *colon;

    if (!equals || equals == text || equals - text >= CLI_ATTRIBUTE_BYTES)
        return cli_complain_usage(
            call, "--attribute %s: write NAME=VALUE or NAME:Number=VALUE",
            text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    *attribute = (lbx_attribute){
        .name = name,
        .value = equals + 1,
        .value_bytes = strlen(equals + 1),
    };
    colon = strchr(name, ':');
    if (colon) {
        *colon = '\0';
        if (!attribute_read_type(colon + 1, attribute, ret->labels[index]))
            return cli_complain_usage(
                call,
                "--attribute %s: '%s' is no type; allowed are String, Number "
                "and Binary, also with a label, as Number.float",
                text, colon + 1);
    }
    ret->count++;
    // "String" has six bytes, as all kinds have, and '=' stands for the dot.
    ret->bytes += (int64_t)strlen(text) + (colon ? 0 : 6);
    return CLI_OK;
}

int
cli_attributes_read(const struct cli_call *call, const struct cli_list *list,
                    struct cli_attributes *ret)
{
    int code = CLI_OK;

    ret->count = 0;
    ret->bytes = 0;
    for (size_t i = 0; i < list->count && code == CLI_OK; i++)
        code = attribute_read(call, list->texts[i], ret);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object with a type of mailbox in it: odd numbers first. */
#include <letterbox/actor/selection.h>

static bool
rank(const void *message, void *context, int32_t *ret)
{
    (void)context;
    *ret = (intptr_t)message % 2 ? 0 : 1;
    return true;
}

static lbx_status
configure(void *context, const lbx_settings *section,
          lbx_mailbox_options *options, lbx_fault *fault)
{
    (void)context;
    (void)section;
    (void)fault;
    options->priority = rank;
    return LBX_OK;
}

static const lbx_mailbox_type odd_first = {
    .size_bytes = sizeof(lbx_mailbox_type),
    .name = "org.example.OddFirst",
    .kind = LBX_KIND_UNBOUNDED_PRIORITY,
    .configure = configure,
};

LBX_API extern const lbx_mailbox_library lbx_exported_mailbox_types;

const lbx_mailbox_library lbx_exported_mailbox_types = {
    .size_bytes = sizeof(lbx_mailbox_library),
    .types = &odd_first,
    .type_count = 1,
};

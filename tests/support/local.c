/* SPDX-License-Identifier: Apache-2.0 */
/* Things of the library that are released at the end of their block. */
#include "support/local.h"

#include "support/test.h"

lbx_type *
test_type(const char *name, const lbx_type *base)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *type;

    options.name = name;
    options.bases = &base;
    options.base_count = base ? 1 : 0;
    CHECK_OK(lbx_type_create(&options, &type));
    return type;
}

void
test_type_release(lbx_type **type)
{
    lbx_type_destroy(*type);
}

void
test_signal_release(lbx_signal **signal)
{
    lbx_signal_unref(*signal);
}

void
test_system_release(lbx_system **system)
{
    lbx_system_destroy(*system);
}

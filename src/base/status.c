/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of the one status table; the version. */
#include <letterbox/base.h>
#include <letterbox/version.h>

const char *
lbx_status_name(lbx_status status)
{
    switch (status) {
#define NAME(name, value, text)                                                \
    case LBX_##name:                                                           \
        return "LBX_" #name;
        LBX_STATUS_MAP(NAME)
#undef NAME
    }
    return "LBX_?";
}

const char *
lbx_status_text(lbx_status status)
{
    switch (status) {
#define TEXT(name, value, text)                                                \
    case LBX_##name:                                                           \
        return text;
        LBX_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "no such status";
}

const char *
lbx_version(void)
{
    return LBX_VERSION;
}

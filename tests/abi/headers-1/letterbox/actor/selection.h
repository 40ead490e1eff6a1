/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_SELECTION_H
#define LETTERBOX_ACTOR_SELECTION_H
#include <letterbox/actor/props.h>
#include <letterbox/actor/system.h>
#include <letterbox/mailbox/factory.h>
#include <letterbox/settings.h>
LBX_BEGIN
struct lbx_mailbox_type {
    size_t size_bytes;
    const char *name;
    const char *kind;
    const lbx_kind_ops *storage;
    void *storage_context;
    const char *const *semantics;
    const lbx_settings_rule *rules;
    size_t rule_count;
    lbx_status (*configure)(void *context, const lbx_settings *section,
                            lbx_mailbox_options *options, lbx_fault *fault);
    void (*release)(void *context, const lbx_mailbox_options *options);
    void *context;
};
#define LBX_MAILBOX_TYPE_INIT                                                  \
    {                                                                          \
        .size_bytes = sizeof(lbx_mailbox_type)                                 \
    }
typedef struct lbx_mailbox_library {
    size_t size_bytes;
    const lbx_mailbox_type *types;
    size_t type_count;
} lbx_mailbox_library;
#define LBX_MAILBOX_LIBRARY_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_mailbox_library)                              \
    }
#define LBX_MAILBOX_LIBRARY_SYMBOL "lbx_exported_mailbox_types"
LBX_API const char *lbx_system_reference_settings(void);
LBX_API LBX_MUST_USE lbx_status lbx_system_explain(
    lbx_system *system, const lbx_props *props, const char *path,
    void (*print)(void *context, const char *line), void *context);
LBX_API LBX_MUST_USE lbx_status lbx_ref_explain(
    lbx_ref ref, void (*print)(void *context, const char *line), void *context);
LBX_END
#endif

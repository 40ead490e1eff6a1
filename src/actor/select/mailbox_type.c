/* SPDX-License-Identifier: Apache-2.0 */
/* Types of mailboxes. T1 is in mailbox_types.h. */
#include "actor/select/mailbox_type.h"

#include "actor/select/blame.h"
#include "actor/select/requirement.h"
#include "base/alloc.h"
#include "mailbox/kinds.h"
#include <string.h>

/* Akka's class names; equals are always in order of arrival, so that the stable
 * ones are the same. */
static const struct alias {
    const char *name;
    const char *kind;
    bool never_waits;
} aliases[] = {
    {"dispatch.UnboundedMailbox", LBX_KIND_UNBOUNDED, false},
    {"dispatch.SingleConsumerOnlyUnboundedMailbox",
     LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, false},
    {"dispatch.BoundedMailbox", LBX_KIND_BOUNDED, false},
    {"dispatch.NonBlockingBoundedMailbox", LBX_KIND_BOUNDED, true},
    {"dispatch.UnboundedPriorityMailbox", LBX_KIND_UNBOUNDED_PRIORITY, false},
    {"dispatch.UnboundedStablePriorityMailbox", LBX_KIND_UNBOUNDED_PRIORITY,
     false},
    {"dispatch.BoundedPriorityMailbox", LBX_KIND_BOUNDED_PRIORITY, false},
    {"dispatch.BoundedStablePriorityMailbox", LBX_KIND_BOUNDED_PRIORITY, false},
    {"dispatch.UnboundedControlAwareMailbox", LBX_KIND_UNBOUNDED_CONTROL_AWARE,
     false},
    {"dispatch.BoundedControlAwareMailbox", LBX_KIND_BOUNDED_CONTROL_AWARE,
     false},
    {"dispatch.UnboundedDequeBasedMailbox", LBX_KIND_UNBOUNDED_DEQUE, false},
    {"dispatch.BoundedDequeBasedMailbox", LBX_KIND_BOUNDED_DEQUE, false},
    {"non-blocking-bounded", LBX_KIND_BOUNDED, true},
};

struct lbx__mailbox_types {
    const lbx_allocator *allocator;
    const lbx_kinds *kinds; /* the user's */
    lbx_kinds *storages;    /* for types with a storage of their own */
    const lbx_mailbox_type **list;
    size_t count;
    size_t room;
    lbx__library *libraries;
    size_t library_count;
    size_t library_room;
};

static const lbx_mailbox_type *
find_user(const lbx__mailbox_types *types, const char *name)
{
    for (size_t i = 0; i < types->count; i++)
        if (strcmp(types->list[i]->name, name) == 0)
            return types->list[i];
    return NULL;
}

static bool
stays_in_cell(const lbx__mailbox_kind *kind)
{
    return strcmp(kind->name, LBX_KIND_UNBOUNDED) == 0 ||
           strcmp(kind->name, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER) == 0;
}

bool
lbx__mailbox_types_find(const lbx__mailbox_types *types, const char *name,
                        lbx__mailbox_type *ret)
{
    lbx__mailbox_type found = {.name = name, .kinds = types->kinds};
    const lbx__mailbox_kind *kind;

    found.user = find_user(types, name);
    found.kind = found.user ? found.user->kind : name;
    if (found.user && found.user->storage) {
        found.kinds = types->storages;
        found.kind = name;
    }
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (!found.user && lbx__class_name_equal(aliases[i].name, name)) {
            found.kind = aliases[i].kind;
            found.never_waits = aliases[i].never_waits;
        }
    kind = lbx__kinds_find(found.kinds, found.kind);
    if (!kind)
        return false;
    if (found.user)
        found.name = found.user->name; // these live as long as we do
    found.kind = kind->name;
    found.capabilities = lbx_kinds_capabilities(found.kinds, kind->name);
    found.is_limited = kind->limited;
    found.is_unlimited = kind->unlimited;
    found.in_cell = !found.user && stays_in_cell(kind);
    *ret = found;
    return true;
}

bool
lbx__mailbox_types_declare(const lbx__mailbox_types *types,
                           const char *semantics)
{
    for (size_t i = 0; i < types->count; i++) {
        const char *const *name = types->list[i]->semantics;

        for (; name && *name; name++)
            if (lbx__class_name_equal(*name, semantics))
                return true;
    }
    return false;
}

/* Checks one type, and puts it on the list. `at`: the library, or NULL. */
static lbx_status
add(lbx__mailbox_types *types, const lbx_mailbox_type *type,
    const lbx_settings *at, lbx_fault *fault)
{
    lbx__mailbox_type taken;
    const char *name = type->name ? type->name : "";

    if (type->version != LBX_MAILBOX_TYPE_VERSION || !*name)
        return lbx__blame(fault, LBX_INVALID, at,
                          "mailbox type '%s' has no name, or is not of version "
                          "LBX_MAILBOX_TYPE_VERSION",
                          name);
    if (lbx__mailbox_types_find(types, name, &taken))
        return lbx__blame(fault, LBX_EXISTS, at,
                          "mailbox type %s: there is one of that name already",
                          name);
    if (!type->kind == !type->storage)
        return lbx__blame(fault, LBX_INVALID, at,
                          "mailbox type %s must have a kind or a storage, and "
                          "not both",
                          name);
    if (type->kind && !lbx__kinds_find(types->kinds, type->kind))
        return lbx__blame(fault, LBX_NOT_FOUND, at,
                          "mailbox type %s is of kind %s, which there is not",
                          name, type->kind);
    if (type->storage) {
        lbx_status status = lbx_kinds_add(types->storages, name, type->storage,
                                          type->storage_context);

        if (status != LBX_OK)
            return lbx__blame(fault, status, at,
                              "mailbox type %s: its storage is incomplete, or "
                              "of another version",
                              name);
    }
    types->list[types->count++] = type;
    return LBX_OK;
}

static lbx_status
add_all(lbx__mailbox_types *types, const lbx_system_options *options,
        const lbx_settings *libraries, lbx_fault *fault)
{
    lbx_status status = LBX_OK;

    for (size_t i = 0; status == LBX_OK && i < options->mailbox_type_count; i++)
        status = add(types, &options->mailbox_types[i], NULL, fault);
    for (size_t i = 0; status == LBX_OK && i < types->library_count; i++) {
        const lbx_mailbox_library *library = types->libraries[i].library;

        for (size_t j = 0; status == LBX_OK && j < library->type_count; j++)
            status = add(types, &library->types[j],
                         lbx_settings_child(libraries, i), fault);
    }
    return status;
}

static lbx_status
open_libraries(lbx__mailbox_types *types, const lbx_settings *list,
               lbx_fault *fault)
{
    types->library_room = lbx_settings_count(list);
    if (types->library_room == 0)
        return LBX_OK;
    types->libraries = lbx__zalloc(
        types->allocator, types->library_room * sizeof(types->libraries[0]));
    if (!types->libraries)
        return LBX_NO_MEMORY;
    while (types->library_count < types->library_room) {
        lbx__library *library = &types->libraries[types->library_count];
        lbx_status status = lbx__library_open(
            lbx_settings_child(list, types->library_count), fault, library);

        if (status != LBX_OK)
            return status;
        types->library_count++;
        types->room += library->library->type_count;
    }
    return LBX_OK;
}

lbx_status
lbx__mailbox_types_create(const lbx_system_options *options,
                          const lbx_settings *settings, lbx_fault *fault,
                          lbx__mailbox_types **ret)
{
    const lbx_settings *libraries;
    lbx__mailbox_types *types = lbx__zalloc(options->allocator, sizeof(*types));
    lbx_status status;

    if (!types)
        return LBX_NO_MEMORY;
    types->allocator = options->allocator;
    types->kinds = options->kinds;
    types->room = options->mailbox_type_count;
    status = lbx_settings_read_strings(
        settings, "letterbox.actor.mailbox-libraries", fault, &libraries);
    if (status == LBX_OK)
        status = open_libraries(types, libraries, fault);
    if (status == LBX_OK)
        status = lbx_kinds_create(types->allocator, &types->storages);
    if (status == LBX_OK && types->room > 0) {
        types->list =
            lbx__zalloc(types->allocator, types->room * sizeof(types->list[0]));
        status = types->list ? add_all(types, options, libraries, fault)
                             : LBX_NO_MEMORY;
    }
    if (status != LBX_OK) {
        lbx__mailbox_types_destroy(types);
        return status;
    }
    *ret = types;
    return LBX_OK;
}

void
lbx__mailbox_types_destroy(lbx__mailbox_types *types)
{
    if (!types)
        return;
    lbx_kinds_destroy(types->storages);
    if (types->list)
        lbx__free(types->allocator, types->list,
                  types->room * sizeof(types->list[0]));
    for (size_t i = types->library_count; i > 0; i--)
        lbx__library_close(&types->libraries[i - 1]);
    if (types->libraries)
        lbx__free(types->allocator, types->libraries,
                  types->library_room * sizeof(types->libraries[0]));
    lbx__free(types->allocator, types, sizeof(*types));
}

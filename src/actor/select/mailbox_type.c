/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of mailboxes. MBTYPE-1 is in mailbox_type.h.
 *
 * Users' types are found first, by their exact name, then class names, then the
 * names of kinds. Libraries are opened with the set and closed with it: their
 * types are in their memory.
 */
#include "actor/select/mailbox_type.h"

#include "actor/select/class_name.h"
#include "actor/select/section.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/sized.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum {
    TYPE_LINE_BYTES = 320
};

static const char non_blocking[] = "non-blocking-bounded";

struct mailbox_library {
    void *handle;
    const lbx_mailbox_library *library;
};

struct lbx__mailbox_types {
    const lbx_allocator *allocator;
    const lbx_kind_registry *kinds; /* the user's */
    lbx_kind_registry *storages;    /* for types with a storage of their own */
    lbx__array(const lbx_mailbox_type *) list;
    lbx__array(struct mailbox_library) libraries;
};

static const lbx_mailbox_type *
types_find_user(const lbx__mailbox_types *types, const char *name)
{
    for (size_t i = 0; i < types->list.count; i++)
        if (strcmp(types->list.items[i]->name, name) == 0)
            return types->list.items[i];
    return NULL;
}

/* Fills in the kind of a type that is none of the users'. */
static void
type_set_kind(lbx__mailbox_type *type, const char *name)
{
    const char *own = lbx__class_name_translate(name);

    type->kind = own;
    if (lbx__class_name_equal(own, non_blocking)) {
        type->kind = LBX_KIND_BOUNDED;
        type->never_waits = true;
    }
}

static bool
kind_is_in_cell(const char *kind)
{
    return strcmp(kind, LBX_KIND_UNBOUNDED) == 0 ||
           strcmp(kind, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER) == 0;
}

bool
lbx__mailbox_types_find(const lbx__mailbox_types *types, const char *name,
                        lbx__mailbox_type *ret)
{
    lbx__mailbox_type found = {.name = name, .kinds = types->kinds};

    found.user = types_find_user(types, name);
    if (!found.user) {
        type_set_kind(&found, name);
    } else if (found.user->storage) {
        found.kinds = types->storages;
        found.kind = name;
    } else {
        found.kind = found.user->kind;
    }
    found.kind = lbx_kinds_find(found.kinds, found.kind, &found.capacity);
    if (!found.kind)
        return false;
    if (found.user)
        found.name = found.user->name; // these live as long as the set
    found.capabilities =
        lbx_kind_registry_capabilities(found.kinds, found.kind);
    found.in_cell = !found.user && kind_is_in_cell(found.kind);
    *ret = found;
    return true;
}

bool
lbx__mailbox_types_declare(const lbx__mailbox_types *types,
                           const char *semantics)
{
    for (size_t i = 0; i < types->list.count; i++) {
        const char *const *name = types->list.items[i]->semantics;

        for (; name && *name; name++)
            if (lbx__class_name_equal(*name, semantics))
                return true;
    }
    return false;
}

LBX__SIZED(mailbox_type_sized, lbx_mailbox_type, context,
           LBX_MAILBOX_TYPE_INIT);

/* Checks one type and adds it. `at`: the library, or NULL. */
static lbx_status
types_add(lbx__mailbox_types *types, const lbx_mailbox_type *type,
          const lbx_settings *at, lbx_fault *fault)
{
    lbx__mailbox_type taken;
    const lbx_mailbox_type **slot;
    const char *name;
    lbx_fault why;

    if (lbx__sized_check(type, &mailbox_type_sized, &why) != LBX_OK)
        return lbx__section_fault(fault, LBX_INVALID, at, "a mailbox type: %s",
                                  why.text);
    name = type->name ? type->name : "";
    if (!*name)
        return lbx__section_fault(fault, LBX_INVALID, at,
                                  "a mailbox type has no name");
    if (lbx__mailbox_types_find(types, name, &taken))
        return lbx__section_fault(
            fault, LBX_EXISTS, at,
            "mailbox type %s: there is one of that name already", name);
    if (!type->kind == !type->storage)
        return lbx__section_fault(
            fault, LBX_INVALID, at,
            "mailbox type %s must have a kind or a storage, and "
            "not both",
            name);
    if (type->kind && !lbx_kinds_find(types->kinds, type->kind, NULL))
        return lbx__section_fault(
            fault, LBX_NOT_FOUND, at,
            "mailbox type %s is of kind %s, which there is not", name,
            type->kind);
    if (type->storage) {
        lbx_status status = lbx_kind_registry_add(
            types->storages, name, type->storage, type->storage_context);

        if (status != LBX_OK)
            return lbx__section_fault(
                fault, status, at,
                "mailbox type %s: its storage is incomplete, or "
                "of another version",
                name);
    }
    slot = lbx__array_add(&types->list, types->allocator);
    if (!slot)
        return LBX_NO_MEMORY;
    *slot = type;
    return LBX_OK;
}

static lbx_status
types_add_all(lbx__mailbox_types *types, const lbx_system_options *options,
              const lbx_settings *libraries, lbx_fault *fault)
{
    lbx_status status = LBX_OK;

    for (size_t i = 0; status == LBX_OK && i < options->mailbox_type_count; i++)
        status = types_add(types, lbx__sized_at(options->mailbox_types, i),
                           NULL, fault);
    for (size_t i = 0; status == LBX_OK && i < types->libraries.count; i++) {
        const lbx_mailbox_library *library = types->libraries.items[i].library;

        for (size_t j = 0; status == LBX_OK && j < library->type_count; j++)
            status = types_add(types, lbx__sized_at(library->types, j),
                               lbx_settings_child(libraries, i), fault);
    }
    return status;
}

LBX__SIZED(mailbox_library_sized, lbx_mailbox_library, type_count,
           LBX_MAILBOX_LIBRARY_INIT);

static lbx_status
library_open(const lbx_settings *path, lbx_fault *fault,
             struct mailbox_library *ret)
{
    const char *name = lbx_settings_text(path);
    const lbx_mailbox_library *library;
    lbx_fault why;
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        return lbx__section_fault(fault, LBX_NOT_FOUND, path, "%s",
                                  dlerror()); // it names the file
    library = dlsym(handle, LBX_MAILBOX_LIBRARY_SYMBOL);
    if (!library) {
        (void)dlclose(handle);
        return lbx__section_fault(
            fault, LBX_INVALID, path,
            "%s has no symbol " LBX_MAILBOX_LIBRARY_SYMBOL, name);
    }
    if (lbx__sized_check(library, &mailbox_library_sized, &why) != LBX_OK) {
        (void)dlclose(handle);
        return lbx__section_fault(fault, LBX_INVALID, path,
                                  "%s: " LBX_MAILBOX_LIBRARY_SYMBOL ": %s",
                                  name, why.text);
    }
    ret->handle = handle;
    ret->library = library;
    return LBX_OK;
}

static void
library_close(struct mailbox_library *library)
{
    (void)dlclose(library->handle);
}

static lbx_status
types_open_libraries(lbx__mailbox_types *types, const lbx_settings *list,
                     lbx_fault *fault)
{
    for (size_t i = 0; i < lbx_settings_count(list); i++) {
        struct mailbox_library library;
        lbx_status status;

        if (!lbx__array_reserve(&types->libraries, types->allocator, 1))
            return LBX_NO_MEMORY;
        status = library_open(lbx_settings_child(list, i), fault, &library);
        if (status != LBX_OK)
            return status;
        types->libraries.items[types->libraries.count++] = library;
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
    status = lbx_settings_read_strings(
        settings, "letterbox.actor.mailbox-libraries", &libraries, fault);
    if (status == LBX_OK)
        status = types_open_libraries(types, libraries, fault);
    if (status == LBX_OK)
        status = lbx_kind_registry_create(types->allocator, &types->storages);
    if (status == LBX_OK)
        status = types_add_all(types, options, libraries, fault);
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
    lbx_kind_registry_destroy(types->storages);
    lbx__array_fini(&types->list, types->allocator);
    for (size_t i = types->libraries.count; i > 0; i--)
        library_close(&types->libraries.items[i - 1]);
    lbx__array_fini(&types->libraries, types->allocator);
    lbx__free(types->allocator, types, sizeof(*types));
}

/* ---- Description ---- */

static const struct {
    uint32_t capability;
    const char *word;
} capability_words[] = {
    {LBX_CAPABILITY_BOUND, "bounded"},
    {LBX_CAPABILITY_BLOCK, "blocking"},
    {LBX_CAPABILITY_MULTI_CONSUME, "multi-consumer"},
    {LBX_CAPABILITY_SEND_FRONT, "deque"},
    {LBX_CAPABILITY_CONTROL, "control-aware"},
    {LBX_CAPABILITY_PRIORITIZE, "priority"},
};

/* What happens to a message that does not fit. */
static void
type_describe_limit(const lbx_mailbox_options *options, char *text,
                    size_t size_bytes)
{
    long long capacity = (long long)lbx_mailbox_options_limit(
        options->capacity_messages, LBX_MAILBOX_DEFAULT_CAPACITY);

    static const char *const overflows[] = {
        [LBX_OVERFLOW_REJECT] = "the rest is refused",
        [LBX_OVERFLOW_DROP_NEWEST] = "the rest to dead letters",
        [LBX_OVERFLOW_DROP_OLDEST] = "the oldest to dead letters",
        [LBX_OVERFLOW_GROW] = "and it grows",
    };

    if (options->overflow != LBX_OVERFLOW_BLOCK)
        (void)snprintf(text, size_bytes, ", capacity %lld, %s", capacity,
                       (unsigned)options->overflow < LBX_OVERFLOW_BLOCK
                           ? overflows[options->overflow]
                           : "by its overflow policy");
    else if (options->wait_ns < 0)
        (void)snprintf(text, size_bytes,
                       ", capacity %lld, senders wait for ever", capacity);
    else
        (void)snprintf(text, size_bytes,
                       ", capacity %lld, senders wait %lld ms", capacity,
                       (long long)(options->wait_ns / LBX_MS));
}

void
lbx__mailbox_type_describe(const lbx__mailbox_type *type, uint32_t capabilities,
                           const lbx_mailbox_options *options, char *line,
                           size_t size_bytes)
{
    char able[TYPE_LINE_BYTES] = "";
    char limit[TYPE_LINE_BYTES] = "";
    size_t used = 0;

    for (size_t i = 0;
         i < sizeof(capability_words) / sizeof(capability_words[0]); i++)
        if (capabilities & capability_words[i].capability)
            used += (size_t)snprintf(able + used, sizeof(able) - used, " %s",
                                     capability_words[i].word);
    if (!(capabilities & LBX_CAPABILITY_MULTI_CONSUME))
        (void)snprintf(able + used, sizeof(able) - used, " single-consumer");
    if (options && (capabilities & LBX_CAPABILITY_BOUND))
        type_describe_limit(options, limit, sizeof(limit));
    (void)snprintf(line, size_bytes, "type %s, kind %s%s:%s%s", type->name,
                   type->kind, options ? "" : ", in the cell", able, limit);
}

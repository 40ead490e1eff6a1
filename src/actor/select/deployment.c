/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deployment: a list of patterns, in the order of the settings. It is short and
 * searched when an actor is spawned: every pattern is compared with the path.
 */
#include "actor/select/deployment.h"

#include "actor/select/class_name.h"
#include "actor/select/foreign_key.h"
#include "actor/select/section.h"
#include "base/alloc.h"
#include <string.h>

struct lbx__deployment {
    const lbx_allocator *allocator;
    bool has_routers;
    size_t capacity;
    size_t count;
    lbx__deployment_entry list[];
};

static const lbx_settings_rule deployment_rules[] = {
    {.key = "mailbox", .type = LBX_SETTINGS_TYPE_STRING},
    {.key = "dispatcher", .type = LBX_SETTINGS_TYPE_STRING},
    {.key = "router", .type = LBX_SETTINGS_TYPE_STRING},
    {.key = "nr-of-instances",
     .type = LBX_SETTINGS_TYPE_INTEGER,
     .min = 1,
     .max = INT32_MAX},
};

static const struct {
    const char *name;
    lbx_pool_routing routing;
} router_names[] = {
    {"round-robin-pool", LBX_POOL_ROUTING_ROUND_ROBIN},
    {"smallest-mailbox-pool", LBX_POOL_ROUTING_SMALLEST_MAILBOX},
    {"broadcast-pool", LBX_POOL_ROUTING_BROADCAST},
    {"balancing-pool", LBX_POOL_ROUTING_BALANCING},
};

/* Names between slashes, with "**" only as the last. */
static bool
pattern_is_valid(const char *text)
{
    if (*text != '/')
        return false;
    while (*text) {
        size_t length = strcspn(++text, "/");

        if (length == 0)
            return false;
        if (length == 2 && strncmp(text, "**", 2) == 0 && text[2])
            return false;
        text += length;
    }
    return true;
}

/* NULL for an empty text, which counts as absent. */
static const char *
deployment_text(const lbx_settings *section, const char *key)
{
    const char *text = lbx_settings_text(lbx_settings_at(section, key));

    return *text ? text : NULL;
}

static lbx_status
deployment_read_routing(const lbx_settings *section, lbx_fault *fault,
                        lbx__deployment_entry *ret)
{
    const char *name = lbx__class_name_translate(ret->router);

    for (size_t i = 0; i < sizeof(router_names) / sizeof(router_names[0]); i++)
        if (strcmp(router_names[i].name, name) == 0) {
            ret->router = router_names[i].name;
            ret->routing = router_names[i].routing;
            return LBX_OK;
        }
    return lbx__section_fault(
        fault, LBX_NOT_FOUND, lbx_settings_at(section, "router"),
        "there is no router '%s'; allowed: balancing-pool, "
        "round-robin-pool, smallest-mailbox-pool, "
        "broadcast-pool, from-code",
        ret->router);
}

/* "from-code" counts as absent. */
static lbx_status
deployment_read_router(const lbx_settings *section, lbx_fault *fault,
                       lbx__deployment_entry *ret)
{
    const lbx_settings *instances = lbx_settings_at(section, "nr-of-instances");
    int64_t routees;
    lbx_status status;

    ret->router = deployment_text(section, "router");
    if (!ret->router && instances)
        return lbx__section_fault(fault, LBX_INVALID, instances,
                                  "says nothing without a router");
    if (!ret->router || strcmp(ret->router, "from-code") == 0) {
        ret->router = NULL;
        return LBX_OK;
    }
    status = deployment_read_routing(section, fault, ret);
    if (status == LBX_OK)
        status = lbx_settings_read_integer_or(section, "nr-of-instances", 1,
                                              &routees, fault);
    if (status == LBX_OK)
        ret->routees = (uint32_t)routees;
    return status;
}

static lbx_status
deployment_read_entry(const lbx_settings *section, lbx_fault *fault,
                      lbx__deployment_entry *ret)
{
    lbx_status status;

    if (!pattern_is_valid(lbx_settings_key(section)))
        return lbx__section_fault(
            fault, LBX_INVALID, section,
            "a path begins with '/' and has names between "
            "slashes; '*' is any name, '**' at the end all below");
    if (lbx_settings_kind_of(section) != LBX_SETTINGS_KIND_SECTION)
        return lbx__section_fault(fault, LBX_INVALID, section,
                                  "a deployment is a section");
    status = lbx__foreign_key_check(
        LBX__FOREIGN_DEPLOYMENT, section, deployment_rules,
        sizeof(deployment_rules) / sizeof(deployment_rules[0]), fault);
    if (status != LBX_OK)
        return status;
    ret->pattern = lbx_settings_key(section);
    ret->section = section;
    ret->mailbox = deployment_text(section, "mailbox");
    ret->dispatcher = deployment_text(section, "dispatcher");
    return deployment_read_router(section, fault, ret);
}

static size_t
deployment_size(size_t count)
{
    return sizeof(lbx__deployment) + count * sizeof(lbx__deployment_entry);
}

/* Adds one entry. Akka's "default", which has the defaults of all others, has
 * no effect. */
static lbx_status
deployment_add(lbx__deployment *deployment, const lbx_settings *section,
               const lbx_system_options *options, lbx_fault *fault)
{
    lbx__deployment_entry *entry = &deployment->list[deployment->count];
    lbx_status status;

    if (strcmp(lbx_settings_key(section), "default") == 0) {
        lbx__foreign_key_warn_at(section, options);
        return LBX_OK;
    }
    status = deployment_read_entry(section, fault, entry);
    if (status != LBX_OK)
        return status;
    lbx__foreign_key_warn(LBX__FOREIGN_DEPLOYMENT, section, options);
    deployment->has_routers |= entry->router != NULL;
    deployment->count++;
    return LBX_OK;
}

lbx_status
lbx__deployment_create(const lbx_system_options *options,
                       const lbx_settings *settings, lbx_fault *fault,
                       lbx__deployment **ret)
{
    const lbx_allocator *allocator = options->allocator;
    const lbx_settings *section;
    lbx__deployment *deployment;
    lbx_status status = lbx_settings_read_section(
        settings, "letterbox.actor.deployment", &section, fault);

    if (status != LBX_OK)
        return status;
    deployment =
        lbx__zalloc(allocator, deployment_size(lbx_settings_count(section)));
    if (!deployment)
        return LBX_NO_MEMORY;
    deployment->allocator = allocator;
    deployment->capacity = lbx_settings_count(section);
    for (size_t i = 0; status == LBX_OK && i < deployment->capacity; i++)
        status = deployment_add(deployment, lbx_settings_child(section, i),
                                options, fault);
    if (status != LBX_OK) {
        lbx__deployment_destroy(deployment);
        return status;
    }
    *ret = deployment;
    return LBX_OK;
}

void
lbx__deployment_destroy(lbx__deployment *deployment)
{
    if (deployment)
        lbx__free(deployment->allocator, deployment,
                  deployment_size(deployment->capacity));
}

bool
lbx__deployment_is_empty(const lbx__deployment *deployment)
{
    return deployment->count == 0;
}

bool
lbx__deployment_has_routers(const lbx__deployment *deployment)
{
    return deployment->has_routers;
}

/* One name of a pattern: 0 is "**", 1 is "*", 2 a name. */
static int
pattern_rank(const char *name, size_t length)
{
    if (length == 2 && strncmp(name, "**", 2) == 0)
        return 0;
    return length == 1 && *name == '*' ? 1 : 2;
}

static bool
pattern_matches(const char *pattern, const char *path)
{
    while (*pattern && *path) {
        size_t length = strcspn(++pattern, "/");
        size_t path_length = strcspn(++path, "/");
        int ranked = pattern_rank(pattern, length);

        if (ranked == 0)
            return true;
        if (ranked == 2 &&
            (length != path_length || strncmp(pattern, path, length) != 0))
            return false;
        pattern += length;
        path += path_length;
    }
    return *pattern == *path; // both at their ends
}

/* Two patterns that match the same path: is the first more specific? */
static bool
pattern_is_better(const char *a, const char *b)
{
    while (*a && *b) {
        size_t a_length = strcspn(++a, "/");
        size_t b_length = strcspn(++b, "/");
        int difference = pattern_rank(a, a_length) - pattern_rank(b, b_length);

        if (difference != 0)
            return difference > 0;
        a += a_length;
        b += b_length;
    }
    return false;
}

const lbx__deployment_entry *
lbx__deployment_find(const lbx__deployment *deployment, const char *path)
{
    const lbx__deployment_entry *best = NULL;

    for (size_t i = 0; i < deployment->count; i++) {
        const lbx__deployment_entry *deploy = &deployment->list[i];

        if (pattern_matches(deploy->pattern, path) &&
            (!best || pattern_is_better(deploy->pattern, best->pattern)))
            best = deploy;
    }
    return best;
}

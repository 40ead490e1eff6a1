/* SPDX-License-Identifier: Apache-2.0 */
/* Deployment. */
#include "actor/select/deployment.h"

#include "actor/select/blame.h"
#include "actor/select/requirement.h"
#include "base/alloc.h"
#include <string.h>

struct lbx__deployment {
    const lbx_allocator *allocator;
    bool has_routers;
    size_t count;
    lbx__deploy list[];
};

static const lbx_settings_rule rules[] = {
    {.key = "mailbox", .type = LBX_SETTINGS_TYPE_STRING},
    {.key = "dispatcher", .type = LBX_SETTINGS_TYPE_STRING},
    {.key = "router", .type = LBX_SETTINGS_TYPE_STRING},
    {.key = "nr-of-instances",
     .type = LBX_SETTINGS_TYPE_INTEGER,
     .least = 1,
     .most = INT32_MAX},
};

/* Akka's words and class names for pools. */
static const struct {
    const char *word;
    const char *name;
    lbx_routing routing;
} routers[] = {
    {"round-robin-pool", "routing.RoundRobinPool", LBX_ROUND_ROBIN},
    {"smallest-mailbox-pool", "routing.SmallestMailboxPool",
     LBX_SMALLEST_MAILBOX},
    {"broadcast-pool", "routing.BroadcastPool", LBX_BROADCAST},
    {"balancing-pool", "routing.BalancingPool", LBX_BALANCING},
};

/* Names between slashes, with "**" only as the last. */
static bool
is_pattern(const char *text)
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

/* An empty text says nothing, as in Akka. */
static const char *
text_at(const lbx_settings *section, const char *key)
{
    const char *text = lbx_settings_text(lbx_settings_at(section, key));

    return *text ? text : NULL;
}

static lbx_status
find_routing(const lbx_settings *section, lbx_fault *fault, lbx__deploy *ret)
{
    for (size_t i = 0; i < sizeof(routers) / sizeof(routers[0]); i++)
        if (strcmp(routers[i].word, ret->router) == 0 ||
            lbx__class_name_equal(routers[i].name, ret->router)) {
            ret->router = routers[i].word;
            ret->routing = routers[i].routing;
            return LBX_OK;
        }
    return lbx__blame(fault, LBX_NOT_FOUND, lbx_settings_at(section, "router"),
                      "there is no router '%s'; allowed: balancing-pool, "
                      "round-robin-pool, smallest-mailbox-pool, "
                      "broadcast-pool, from-code",
                      ret->router);
}

/* Akka's "from-code" is to say nothing. */
static lbx_status
read_router(const lbx_settings *section, lbx_fault *fault, lbx__deploy *ret)
{
    const lbx_settings *instances = lbx_settings_at(section, "nr-of-instances");
    int64_t routees;
    lbx_status status;

    ret->router = text_at(section, "router");
    if (!ret->router && instances)
        return lbx__blame(fault, LBX_INVALID, instances,
                          "says nothing without a router");
    if (!ret->router || strcmp(ret->router, "from-code") == 0) {
        ret->router = NULL;
        return LBX_OK;
    }
    status = find_routing(section, fault, ret);
    if (status == LBX_OK)
        status = lbx_settings_read_integer_or(section, "nr-of-instances", 1,
                                              fault, &routees);
    if (status == LBX_OK)
        ret->routees = (uint32_t)routees;
    return status;
}

static lbx_status
read_row(const lbx_settings *section, lbx_fault *fault, lbx__deploy *ret)
{
    lbx_status status;

    if (!is_pattern(lbx_settings_key(section)))
        return lbx__blame(
            fault, LBX_INVALID, section,
            "a path begins with '/' and has names between "
            "slashes; '*' is any name, '**' at the end all below");
    if (lbx_settings_kind_of(section) != LBX_SETTINGS_KIND_SECTION)
        return lbx__blame(fault, LBX_INVALID, section,
                          "a deployment is a section");
    status = lbx_settings_check(section, rules,
                                sizeof(rules) / sizeof(rules[0]), fault);
    if (status != LBX_OK)
        return status;
    ret->pattern = lbx_settings_key(section);
    ret->section = section;
    ret->mailbox = text_at(section, "mailbox");
    ret->dispatcher = text_at(section, "dispatcher");
    return read_router(section, fault, ret);
}

static size_t
size_for(size_t count)
{
    return sizeof(lbx__deployment) + count * sizeof(lbx__deploy);
}

lbx_status
lbx__deployment_create(const lbx_allocator *allocator,
                       const lbx_settings *settings, lbx_fault *fault,
                       lbx__deployment **ret)
{
    const lbx_settings *section;
    lbx__deployment *deployment;
    lbx_status status = lbx_settings_read_section(
        settings, "letterbox.actor.deployment", fault, &section);

    if (status != LBX_OK)
        return status;
    deployment = lbx__zalloc(allocator, size_for(lbx_settings_count(section)));
    if (!deployment)
        return LBX_NO_MEMORY;
    deployment->allocator = allocator;
    deployment->count = lbx_settings_count(section);
    for (size_t i = 0; status == LBX_OK && i < deployment->count; i++) {
        status = read_row(lbx_settings_child(section, i), fault,
                          &deployment->list[i]);
        deployment->has_routers |= deployment->list[i].router != NULL;
    }
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
                  size_for(deployment->count));
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
rank(const char *name, size_t length)
{
    if (length == 2 && strncmp(name, "**", 2) == 0)
        return 0;
    return length == 1 && *name == '*' ? 1 : 2;
}

static bool
matches(const char *pattern, const char *path)
{
    while (*pattern && *path) {
        size_t length = strcspn(++pattern, "/");
        size_t path_length = strcspn(++path, "/");
        int ranked = rank(pattern, length);

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
is_better(const char *a, const char *b)
{
    while (*a && *b) {
        size_t a_length = strcspn(++a, "/");
        size_t b_length = strcspn(++b, "/");
        int difference = rank(a, a_length) - rank(b, b_length);

        if (difference != 0)
            return difference > 0;
        a += a_length;
        b += b_length;
    }
    return false;
}

const lbx__deploy *
lbx__deployment_find(const lbx__deployment *deployment, const char *path)
{
    const lbx__deploy *best = NULL;

    for (size_t i = 0; i < deployment->count; i++) {
        const lbx__deploy *deploy = &deployment->list[i];

        if (matches(deploy->pattern, path) &&
            (!best || is_better(deploy->pattern, best->pattern)))
            best = deploy;
    }
    return best;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ported: WINK's test_mailbox_resolvers.py (docs/origins.md, W-40). Its
 * resolve() is an lbx_resolver_resolve() that must not fail, its
 * resolve_optional() one for which LBX_NOT_FOUND, and nothing else, means that
 * there is none. */
#include <letterbox/post.h>
#include <letterbox/testing.h>

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    int made;
    lbx_status status;
};

static lbx_status
make(void *context, const char *place, lbx_postbox **ret, lbx_fault *fault)
{
    struct maker *maker = context;

    (void)fault;
    maker->made++;
    if (strcmp(place, "refused") == 0)
        return maker->status;
    return lbx_null_postbox_create(NULL, ret);
}

struct composite {
    struct maker maker;
    lbx_postbox_registry *registry;
    lbx_postbox *known;
    lbx_resolver_chain *chain;
};

/* A composite that is destroyed at the end of its scope. */
#define COMPOSITE(name, with_factory)                                          \
    __attribute__((cleanup(composite_end))) struct composite *name =           \
        composite_begin(with_factory)

static struct composite *
composite_begin(bool with_factory)
{
    lbx_resolver_chain_options options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    struct composite *test = malloc(sizeof(*test));

    CHECK(test);
    test->maker = (struct maker){0, LBX_NOT_FOUND};
    CHECK_OK(lbx_null_postbox_create(NULL, &test->known));
    CHECK_OK(lbx_postbox_registry_create(NULL, &test->registry));
    CHECK_OK(lbx_postbox_registry_add(test->registry, "known", test->known));
    options.first = lbx_postbox_registry_as_resolver(test->registry);
    if (with_factory)
        options.factory = (lbx_resolver){make, &test->maker};
    CHECK_OK(lbx_resolver_chain_create(&options, &test->chain));
    return test;
}

static void
composite_end(struct composite **test)
{
    lbx_resolver_chain_destroy((*test)->chain);
    lbx_postbox_registry_destroy((*test)->registry);
    lbx_postbox_unref((*test)->known);
    free(*test);
}

static lbx_status
resolve(struct composite *test, const char *place, lbx_postbox **ret)
{
    return lbx_resolver_resolve(lbx_resolver_chain_as_resolver(test->chain),
                                place, ret, NULL);
}

TEST_CITING("W-40", registry_resolves_what_it_knows_and_nothing_else)
{
    COMPOSITE(test, false);
    lbx_postbox *found;
    lbx_fault fault;

    CHECK_OK(
        lbx_resolver_resolve(lbx_postbox_registry_as_resolver(test->registry),
                             "known", &found, NULL));
    CHECK_PTR(test->known, found);
    lbx_postbox_unref(found);
    CHECK_STATUS(
        LBX_NOT_FOUND,
        lbx_resolver_resolve(lbx_postbox_registry_as_resolver(test->registry),
                             "unknown", &found, &fault));
    CHECK(strstr(fault.text, "unknown")); // with the identifier (W-14)
}

TEST_CITING("W-40", composite_asks_the_registry_first)
{
    COMPOSITE(test, true);
    lbx_postbox *found;

    CHECK_OK(resolve(test, "known", &found));
    CHECK_PTR(test->known, found);
    CHECK_INT(0, test->maker.made);
    lbx_postbox_unref(found);
}

TEST_CITING("W-40", composite_without_a_factory_does_not_resolve)
{
    COMPOSITE(test, false);
    lbx_postbox *found;

    CHECK_STATUS(LBX_NOT_FOUND, resolve(test, "unknown", &found));
}

TEST_CITING("W-40 R-23", composite_uses_the_factory_and_keeps_what_it_made)
{
    COMPOSITE(test, true);
    lbx_postbox *first, *second;

    CHECK_OK(resolve(test, "new", &first));
    CHECK_OK(resolve(test, "new", &second));
    CHECK_PTR(first, second);
    CHECK_INT(1, test->maker.made);
    lbx_postbox_unref(first);
    lbx_postbox_unref(second);
}

TEST_CITING("W-40", optional_swallows_only_resolution_errors)
{
    COMPOSITE(test, true);
    lbx_postbox *found;

    CHECK_STATUS(LBX_NOT_FOUND, resolve(test, "refused", &found));
    test->maker.status = LBX_UNREACHABLE;
    CHECK_STATUS(LBX_UNREACHABLE, resolve(test, "refused", &found));
}

TEST_CITING("W-40", composites_share_what_their_registry_is_given)
{
    COMPOSITE(test, true);
    lbx_resolver_chain_options options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    lbx_resolver_chain *other;
    lbx_postbox *made, *found;

    options.first = lbx_postbox_registry_as_resolver(test->registry);
    CHECK_OK(lbx_resolver_chain_create(&options, &other));
    CHECK_OK(resolve(test, "new", &made));
    CHECK_OK(lbx_postbox_registry_add(test->registry, "new", made));
    CHECK_OK(lbx_resolver_resolve(lbx_resolver_chain_as_resolver(other), "new",
                                  &found, NULL));
    CHECK_PTR(made, found);
    CHECK_INT(1, test->maker.made);
    lbx_postbox_unref(found);
    lbx_postbox_unref(made);
    lbx_resolver_chain_destroy(other);
}

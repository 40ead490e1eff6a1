/* SPDX-License-Identifier: Apache-2.0 */
/* Where replies go: WINK's rules and its JSON. */
#include <letterbox/post/routes.h>

#include "support/local.h"
#include "support/local_post.h"
#include "support/test.h"
#include "support/torture.h"

#include <stdio.h>
#include <string.h>

TEST_CITING("W-01 W-02 W-21", routes_go_by_type_then_ancestors_then_default)
{
    static const lbx_routes_entry table[] = {{"t.Base", "base"},
                                             {"t.Exact", "exact"}};
    LOCAL_TYPE(base) = test_type("t.Base", NULL);
    LOCAL_TYPE(middle) = test_type("t.Middle", base);
    LOCAL_TYPE(exact) = test_type("t.Exact", middle);
    LOCAL_TYPE(leaf) = test_type("t.Leaf", exact);
    LOCAL_TYPE(stranger) = test_type("t.Stranger", NULL);
    LOCAL_ROUTES(routes);

    CHECK_OK(lbx_routes_create(table, 2, "rest", NULL, &routes));
    CHECK_STR("base", lbx_routes_address(routes, base));
    CHECK_STR("base", lbx_routes_address(routes, middle));
    CHECK_STR("exact", lbx_routes_address(routes, exact));
    CHECK_STR("exact", lbx_routes_address(routes, leaf)); // the nearest
    CHECK_STR("rest", lbx_routes_address(routes, stranger));
    CHECK_STR("exact", lbx_routes_address_by_name(routes, "t.Exact"));
    CHECK_STR("rest", lbx_routes_address_by_name(routes, "t.Leaf"));
}

TEST_CITING("W-02 W-04", routes_without_a_default_may_lead_nowhere)
{
    static const lbx_routes_entry table[] = {{"t.Only", "only"}};
    LOCAL_TYPE(other) = test_type("t.Other", NULL);
    lbx_routes *routes;

    CHECK_OK(lbx_routes_create(table, 1, NULL, NULL, &routes));
    CHECK_PTR(NULL, lbx_routes_address(routes, other));
    CHECK_PTR(NULL, lbx_routes_address(routes, NULL)); // the root
    CHECK_PTR(NULL, lbx_routes_address_by_name(routes, NULL));
    CHECK_PTR(NULL, lbx_routes_default(routes));
    CHECK_STR("only", lbx_routes_address_by_name(routes, "t.Only"));
    lbx_routes_unref(routes);
    CHECK_PTR(NULL, lbx_routes_address(NULL, other));
}

TEST_CITING("W-03 W-04", single_routes_lead_everything_to_one_place)
{
    LOCAL_TYPE(type) = test_type("t.Any", NULL);
    lbx_routes *routes;

    CHECK_OK(lbx_routes_single("client-123", NULL, &routes));
    CHECK_STR("client-123", lbx_routes_address(routes, type));
    CHECK_STR("client-123", lbx_routes_address(routes, NULL));
    CHECK_STR("client-123", lbx_routes_default(routes));
    CHECK_PTR(NULL, lbx_routes_at(routes, 0).type_name);
    CHECK_PTR(routes, lbx_routes_ref(routes));
    lbx_routes_unref(routes);
    CHECK_STR("client-123", lbx_routes_default(routes));
    lbx_routes_unref(routes);
    lbx_routes_unref(NULL);
}

/* The seed's own example; names that were not registered here are kept.
 * */
TEST_CITING("W-28 R-22", routes_read_and_write_the_seeds_json)
{
    static const char text[] =
        "{\n    \"default\": \"client-123\",\n    \"routes\": {\n"
        "        \"myapp.models.SuccessResult\": \"client-123:success\",\n"
        "        \"myapp.models.ErrorResult\": \"client-123:errors\"\n    }\n}";
    lbx_routes *routes, *again;

    CHECK_OK(lbx_routes_from_json(text, strlen(text), NULL, &routes, NULL));
    CHECK_STR("client-123", lbx_routes_default(routes));
    CHECK_STR("myapp.models.ErrorResult", lbx_routes_at(routes, 1).type_name);
    CHECK_STR("client-123:errors", lbx_routes_at(routes, 1).address);
    CHECK_PTR(NULL, lbx_routes_at(routes, 2).address);
    CHECK_STR("{\"default\":\"client-123\",\"routes\":{"
              "\"myapp.models.SuccessResult\":\"client-123:success\","
              "\"myapp.models.ErrorResult\":\"client-123:errors\"}}",
              lbx_routes_json(routes));
    CHECK_OK(lbx_routes_from_json(lbx_routes_json(routes),
                                  strlen(lbx_routes_json(routes)), NULL, &again,
                                  NULL));
    CHECK_STR(lbx_routes_json(routes), lbx_routes_json(again));
    lbx_routes_unref(again);
    lbx_routes_unref(routes);
}

TEST(routes_json_may_leave_members_out_and_have_others)
{
    static const char *const texts[] = {
        "{}",
        "{\"default\":null}",
        "{\"routes\":{}}",
        "{\"version\":[1,{\"default\":\"x\"}],\"default\":null,\"routes\":{}}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        lbx_routes *routes;

        CHECK_OK(lbx_routes_from_json(texts[i], strlen(texts[i]), NULL, &routes,
                                      NULL));
        CHECK_STR("{\"default\":null,\"routes\":{}}", lbx_routes_json(routes));
        CHECK_PTR(NULL, lbx_routes_address(routes, NULL));
        lbx_routes_unref(routes);
    }
}

/* A letter's routes come from strangers. */
TEST(routes_json_that_is_wrong_is_refused_with_a_reason)
{
    static const char *const texts[] = {
        "",
        "[]",
        "null",
        "{\"default\":1}",
        "{\"default\":\"\"}",
        "{\"routes\":[]}",
        "{\"routes\":{\"a\":null}}",
        "{\"routes\":{\"a\":\"x\",\"\\u0061\":\"y\"}}",
        "{\"routes\":{\"\":\"x\"}}",
        "{\"routes\":{\"a\":\"\"}}",
        "{\"default\":\"x\"} x",
        "{\"default\":\"\xff\"}",
        "{\"routes\":{\"a\":\"x\"}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        lbx_fault fault = {LBX_OK, ""};
        lbx_routes *routes = NULL;

        CHECK_STATUS(LBX_ENCODING,
                     lbx_routes_from_json(texts[i], strlen(texts[i]), NULL,
                                          &routes, &fault));
        CHECK_STATUS(LBX_ENCODING, fault.status);
        CHECK(strncmp(fault.text, "JSON, byte ", 11) == 0);
        CHECK_PTR(NULL, routes);
    }
}

TEST(routes_have_limits)
{
    char names[LBX_MAX_ROUTES + 1][16], json[8192] = "{\"routes\":{";
    static char wide[LBX_MAX_ROUTES_BYTES + 1];
    lbx_routes_entry table[LBX_MAX_ROUTES + 1];
    lbx_routes *routes;

    for (size_t i = 0; i <= LBX_MAX_ROUTES; i++) {
        snprintf(names[i], sizeof(names[i]), "type.N%zu", i);
        table[i] = (lbx_routes_entry){names[i], "place"};
        snprintf(json + strlen(json), 64, "%s\"%s\":\"p\"", i ? "," : "",
                 names[i]);
    }
    strncat(json, "}}", 3);
    CHECK_OK(lbx_routes_create(table, LBX_MAX_ROUTES, NULL, NULL, &routes));
    lbx_routes_unref(routes);
    CHECK_STATUS(LBX_TOO_LARGE, lbx_routes_create(table, LBX_MAX_ROUTES + 1,
                                                  NULL, NULL, &routes));
    CHECK_STATUS(LBX_TOO_LARGE,
                 lbx_routes_from_json(json, strlen(json), NULL, &routes, NULL));
    memset(wide, 'x', sizeof(wide) - 1);
    CHECK_STATUS(LBX_TOO_LARGE, lbx_routes_single(wide, NULL, &routes));
    CHECK_STATUS(LBX_TOO_LARGE,
                 lbx_routes_from_json(wide, sizeof(wide), NULL, &routes, NULL));
    table[1].type_name = table[0].type_name;
    CHECK_STATUS(LBX_INVALID, lbx_routes_create(table, 2, NULL, NULL, &routes));
    table[1] = (lbx_routes_entry){"", "place"};
    CHECK_STATUS(LBX_INVALID, lbx_routes_create(table, 2, NULL, NULL, &routes));
    table[1] = (lbx_routes_entry){"a", NULL};
    CHECK_STATUS(LBX_INVALID, lbx_routes_create(table, 2, NULL, NULL, &routes));
    CHECK_STATUS(LBX_INVALID, lbx_routes_create(NULL, 1, "x", NULL, &routes));
    CHECK_STATUS(LBX_INVALID, lbx_routes_single(NULL, NULL, &routes));
    CHECK_STATUS(LBX_INVALID, lbx_routes_single("\xff", NULL, &routes));
    CHECK_STATUS(LBX_INVALID, lbx_routes_single("x", NULL, NULL));
}

static void
make_both_ways(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    static const char text[] =
        "{\"default\":\"d\",\"routes\":{\"a\":\"\\u0062\"}}";
    static const lbx_routes_entry table[] = {{"t.A", "a"}};
    lbx_routes *routes = NULL;
    lbx_status status = lbx_routes_create(table, 1, "d", &allocator, &routes);

    (void)context;
    CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
    lbx_routes_unref(routes);
    routes = NULL;
    status =
        lbx_routes_from_json(text, sizeof(text) - 1, &allocator, &routes, NULL);
    CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
    CHECK((status == LBX_OK) == (routes != NULL));
    lbx_routes_unref(routes);
}

TEST(routes_survive_every_failing_allocation)
{
    CHECK(torture_every_allocation(make_both_ways, NULL) > 3);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Registries of types, and drafts. */
#include <letterbox/post/draft.h>
#include <letterbox/post/type_registry.h>

#include "support/test.h"
#include "support/torture.h"

#include <stdio.h>
#include <string.h>

enum {
    TYPES = 50
};

static void
fill(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_type *const *made = context;
    lbx_type_registry *types = NULL;
    lbx_status status = lbx_type_registry_create(&allocator, &types);

    // In an order of its own: 7 and 50 have no divisor in common.
    for (int i = 0; i < TYPES && status == LBX_OK; i++) {
        const lbx_type *type = made[i * 7 % TYPES];

        CHECK_PTR(NULL, lbx_type_registry_find(types, lbx_type_name(type)));
        status = lbx_type_registry_add(types, type);
        CHECK((lbx_type_registry_find(types, lbx_type_name(type)) == type) ==
              (status == LBX_OK));
    }
    if (status == LBX_OK) {
        for (int i = 0; i < TYPES; i++)
            CHECK_PTR(made[i],
                      lbx_type_registry_find(types, lbx_type_name(made[i])));
    } else {
        CHECK_STATUS(LBX_NO_MEMORY, status);
    }
    lbx_type_registry_destroy(types);
}

TEST(types_are_found_by_name_under_failing_allocation_too)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *made[TYPES];
    char name[16];

    options.name = name;
    for (int i = 0; i < TYPES; i++) {
        snprintf(name, sizeof(name), "t.T%d", i);
        CHECK_OK(lbx_type_create(&options, &made[i]));
    }
    CHECK(torture_every_allocation(fill, made) > 2);
    for (int i = 0; i < TYPES; i++)
        lbx_type_destroy(made[i]);
}

TEST(types_have_each_name_once)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *one, *two;
    lbx_type_registry *types;

    options.name = "t.Same";
    CHECK_OK(lbx_type_create(&options, &one));
    CHECK_OK(lbx_type_create(&options, &two));
    CHECK_OK(lbx_type_registry_create(NULL, &types));
    CHECK_OK(lbx_type_registry_add(types, one));
    CHECK_OK(lbx_type_registry_add(types, one));
    CHECK_STATUS(LBX_EXISTS, lbx_type_registry_add(types, two));
    CHECK_PTR(one, lbx_type_registry_find(types, "t.Same"));
    CHECK_PTR(NULL, lbx_type_registry_find(types, "t.Sam"));
    CHECK_PTR(NULL, lbx_type_registry_find(types, NULL));
    CHECK_PTR(NULL, lbx_type_registry_find(NULL, "t.Same"));
    CHECK_STATUS(LBX_INVALID, lbx_type_registry_add(types, NULL));
    lbx_type_registry_destroy(types);
    lbx_type_registry_destroy(NULL);
    lbx_type_destroy(one);
    lbx_type_destroy(two);
}

TEST(drafts_begin_with_defaults)
{
    lbx_draft draft = lbx_draft_of_text("hello");
    int message = 1;

    CHECK_INT(sizeof(lbx_draft), draft.size_bytes);
    CHECK_INT(5, draft.body_bytes);
    CHECK(memcmp("hello", draft.body, 5) == 0);
    CHECK(draft.delay_ns == LBX_DEFAULT);
    CHECK_PTR(NULL, draft.type);
    draft = lbx_draft_of_text(NULL);
    CHECK_INT(0, draft.body_bytes);
    draft = lbx_draft_of_message(NULL, &message);
    CHECK_PTR(&message, draft.message);
    CHECK_PTR(NULL, draft.body);
}

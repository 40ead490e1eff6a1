/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores, walked beside the model: letters in memory under either form of the
 * service, and a stranger's store.
 */
#include "store_subject.h"
#include "support/test.h"

TEST_CITING("DRIVER-1 DRIVER-2 DRIVER-3 DRIVER-5 DRIVER-7",
            memory_walks_with_the_model)
{
    store_walks(&memory_backend, test_rounds(100, 5000), 400);
}

TEST_CITING("DRIVER-1 DRIVER-2 DRIVER-3 DRIVER-5 DRIVER-7",
            threaded_walks_with_the_model)
{
    store_walks(&threaded_backend, test_rounds(30, 2000), 400);
}

TEST_CITING("DRIVER-1 DRIVER-2 DRIVER-3 DRIVER-5 DRIVER-7",
            relay_walks_with_the_model)
{
    store_walks(&relay_backend, test_rounds(30, 2000), 400);
}

static lbx_store *
forget(lbx_store *store, void *context)
{
    memory_backend.close(store, context);
    return memory_backend.open(&context);
}

/* That the walk opens a store again, and would notice. */
TEST(a_store_that_forgets_is_found)
{
    struct backend forgetful = memory_backend;
    store_subject subject;
    char why[400];
    bool passed;

    forgetful.name = "forgetful";
    forgetful.reopen = forget;
    store_subject_init(&subject, &forgetful);
    passed = model_walk(&subject.base, 1, 400, why, sizeof(why));
    store_subject_fini(&subject);
    CHECK(!passed);
    test_note("%s", why);
}

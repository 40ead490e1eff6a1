/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract and the model over a store that is not in this tree: the sources
 * named by -Dtry_store have to define `tried_backend`.
 */
#include "contract/contract.h"
#include "store_subject.h"

extern const struct backend tried_backend;

#define STAMP(name, numbers) CONTRACT_TEST(tried, name, numbers)
CONTRACT(STAMP)

TEST_CITING_LIMIT("DRIVER-1 DRIVER-2 DRIVER-3 DRIVER-5 DRIVER-7",
                  tried_walks_with_the_model, 600)
{
    store_walks(&tried_backend, test_rounds(30, 2000), 400);
}

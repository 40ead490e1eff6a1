/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store in files, walked beside the model; it is closed and opened again on
 * the way, and time goes on meanwhile as before. A flush of the disk takes as
 * long as a hundred steps, so that most walks are at the level that does
 * without.
 */
#include "store_subject.h"

#include "support/folder.h"
#include "support/test.h"

TEST_CITING("DRIVER-1 DRIVER-2 DRIVER-3 DRIVER-5 DRIVER-7",
            files_walk_with_the_model)
{
    test_paths_in_memory();
    store_walks(&quick_backend, test_rounds(60, 3000), 400);
}

TEST_CITING("DRIVER-1 DRIVER-2 DRIVER-3 DRIVER-5 DRIVER-7",
            files_walk_on_the_disk)
{
    store_walks(&file_backend, test_rounds(3, 50), 200);
}

/* Every step is a synced commit; the other process does nothing. */
TEST_CITING("DRIVER-1 DRIVER-2 DRIVER-3 DRIVER-5 DRIVER-7",
            files_walk_in_company)
{
    test_paths_in_memory();
    store_walks(&shared_backend, test_rounds(10, 200), 400);
}

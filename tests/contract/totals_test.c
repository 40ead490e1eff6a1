/* SPDX-License-Identifier: Apache-2.0 */
/* What there was to promise; listed last. */
#include "contract.h"

TEST(promises_are_counted)
{
    enum {
        STORES = 2 /* as many as there are *_test.c beside this one */
    };

    test_figure("contract: promises=%d stores=%d tests=%d", CONTRACT_PROMISES,
                STORES, CONTRACT_PROMISES * STORES);
    CHECK(CONTRACT_PROMISES >= 70);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What there was to promise; listed last. */
#include "contract.h"

TEST(promises_are_counted)
{
#ifdef HAS_FILES
    enum {
        STORES = 5 /* memory, threaded, relay, file, shared */
    };
#else
    enum {
        STORES = 3
    };
#endif

    test_figure("contract: promises=%d stores=%d tests=%d", CONTRACT_PROMISES,
                STORES, CONTRACT_PROMISES * STORES);
    CHECK(CONTRACT_PROMISES >= 70);
}

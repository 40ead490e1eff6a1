/* SPDX-License-Identifier: Apache-2.0 */
/* Many walks; see walks.h. */
#include "walks.h"

#include "support/test.h"

#include <stdlib.h>

void
model_walks(const char *on, long seeds, unsigned steps, walk_one *one,
            void *context)
{
    const char *given = getenv("LBX_MODEL_SEED");
    const uint64_t first = given ? strtoull(given, NULL, 0) : 1;
    char why[400];

    if (given)
        seeds = 1;
    for (long i = 0; i < seeds; i++) {
        if (!one(context, first + (uint64_t)i, steps, why, sizeof(why)))
            FAIL("%s", why);
    }
    test_figure("model: %ld seeds x %u steps on %s, no difference", seeds,
                steps, on);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, walked beside the model; and faults that the walk must find. */
#include "rules_subject.h"
#include "support/test.h"

#include <stdlib.h>

/* Seeds that found something once. */
static const uint64_t regressions[] = {0x28};

static bool
walk(uint64_t seed, unsigned steps, rules_fault fault, char why[400])
{
    rules_subject subject;
    bool passed;

    rules_subject_init(&subject, fault);
    passed = model_walk(&subject.base, seed, steps, why, 400);
    rules_subject_fini(&subject);
    return passed;
}

/* LBX_MODEL_SEED walks one seed, printed by a walk that failed. */
TEST_CITING_LIMIT("R-29 R-30 R-31 R-44", rules_walk_with_the_model, 120)
{
    const char *given = getenv("LBX_MODEL_SEED");
    const uint64_t first = given ? strtoull(given, NULL, 0) : 1;
    const long seeds = given ? 1 : test_rounds(200, 20000);
    const unsigned steps = 400;
    char why[400];

    for (long i = 0; i < seeds; i++) {
        if (!walk(first + (uint64_t)i, steps, NO_FAULT, why))
            FAIL("%s", why);
    }
    test_figure("model: %ld seeds x %u steps on the rules, no difference",
                seeds, steps);
}

TEST(seeds_that_found_something_once_find_nothing)
{
    char why[400];

    for (size_t i = 0; i < sizeof(regressions) / sizeof(regressions[0]); i++) {
        if (!walk(regressions[i], 2000, NO_FAULT, why))
            FAIL("%s", why);
    }
}

/* A walk that cannot fail would prove nothing. */
TEST_LIMIT(every_seeded_fault_is_found, 60)
{
    for (int fault = NO_FAULT + 1; fault < FAULTS; fault++) {
        uint64_t seed = 1;
        char why[400];

        while (walk(seed, 400, (rules_fault)fault, why)) {
            if (++seed > 50)
                FAIL("fault %d was not found in 50 walks", fault);
        }
        test_note("fault %d: %s", fault, why);
    }
}

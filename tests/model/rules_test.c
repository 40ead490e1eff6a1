/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, walked beside the model; and faults that the walk must find. */
#include "rules_subject.h"
#include "support/test.h"
#include "walks.h"

/* Seeds that found something once. */
static const struct {
    uint64_t seed;
    rules_fault as;
} regressions[] = {{0x28, NO_FAULT}, {0x11, SCRIBBLES}};

static bool
walk(void *context, uint64_t seed, unsigned steps, char *why, size_t why_bytes)
{
    const rules_fault *fault = context;
    rules_subject subject;
    bool passed;

    // Every other walk without a fault is over a private storage.
    rules_subject_init(&subject, *fault, *fault == NO_FAULT && seed % 2 == 0);
    passed = model_walk(&subject.base, seed, steps, why, why_bytes);
    rules_subject_fini(&subject);
    return passed;
}

TEST_CITING("R-29 R-30 R-31 R-44", rules_walk_with_the_model)
{
    rules_fault fault = NO_FAULT;

    model_walks("the rules", test_rounds(200, 20000), 400, walk, &fault);
}

/* Over LMDB a row may move when another is written; in memory it never does. */
TEST(rules_hold_no_row_longer_than_they_may)
{
    rules_fault fault = SCRIBBLES;

    model_walks("the rules, with rows that vanish", test_rounds(100, 5000), 400,
                walk, &fault);
}

TEST(seeds_that_found_something_once_find_nothing)
{
    char why[400];

    for (size_t i = 0; i < sizeof(regressions) / sizeof(regressions[0]); i++) {
        rules_fault fault = regressions[i].as;

        if (!walk(&fault, regressions[i].seed, 2000, why, sizeof(why)))
            FAIL("%s", why);
    }
}

/* A walk that cannot fail would prove nothing. */
TEST(every_seeded_fault_is_found)
{
    for (rules_fault fault = NO_FAULT + 1; fault < FAULTS; fault++) {
        uint64_t seed = 1;
        char why[400];

        while (walk(&fault, seed, 400, why, sizeof(why))) {
            if (++seed > 50)
                FAIL("fault %d was not found in 50 walks", fault);
        }
        test_note("fault %d: %s", fault, why);
    }
}

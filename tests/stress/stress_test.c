/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of mailbox with every policy, under stress; what must hold is in
 * stress.h. */
#include "stress/slices.h"
#include "stress/stress.h"
#include "support/test.h"

static void
stress_storm(const struct stress_case *cases, size_t count, uint64_t plain)
{
    uint64_t seed = storm_begin();
    uint64_t calls = storm_count(plain, plain / 4, plain / 4, 1);
    uint64_t runs = storm_count(1, 1, 1, 100);

    for (uint64_t run = 0; run < runs; run++) {
        for (size_t i = 0; i < count; i++) {
            struct slices slices = slices_begin(calls, (unsigned)count);

            // Every slice ends in another way than the one before.
            for (uint64_t some; (some = slices_next(&slices)) > 0;) {
                uint64_t how = seed + run + i + slices.made / some;

                storm_add(
                    STORM_OPERATIONS,
                    stress_run(&cases[i],
                               (enum stress_leftovers)(how % STRESS_LEFTOVERS),
                               seed + run + slices.made, some));
            }
            storm_add(STORM_RUNS, 1);
        }
    }
}

#define STORM(cases, calls)                                                    \
    stress_storm(cases, sizeof(cases) / sizeof((cases)[0]), calls)

TEST(unbounded_kinds_keep_their_promises)
{
    static const struct stress_case cases[] = {
        {.box = {.name = "unbounded", .kind = LBX_KIND_UNBOUNDED}},
        {.box = {.name = "unbounded, envelopes", .kind = LBX_KIND_UNBOUNDED},
         .envelopes = true},
        {.box = {.name = "single consumer",
                 .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
                 .one_consumer = true}},
        {.box = {.name = "single consumer, envelopes",
                 .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
                 .one_consumer = true},
         .envelopes = true},
        {.box = {.name = "deque", .kind = LBX_KIND_UNBOUNDED_DEQUE},
         .deque = true},
        {.box = {.name = "priority",
                 .kind = LBX_KIND_UNBOUNDED_PRIORITY,
                 .ranks = BOX_PRIORITIES}},
        {.box = {.name = "control-aware",
                 .kind = LBX_KIND_UNBOUNDED_CONTROL_AWARE,
                 .ranks = BOX_LANES}},
    };

    STORM(cases, 300000);
}

#define POLICIES(title, kind_name, limit, ...)                                 \
    {.box = {.name = title " REJECT",                                          \
             .kind = (kind_name),                                              \
             .capacity = (limit),                                              \
             .overflow = LBX_OVERFLOW_REJECT,                                  \
             __VA_ARGS__}},                                                    \
        {.box = {.name = title " DROP_NEWEST",                                 \
                 .kind = (kind_name),                                          \
                 .capacity = (limit),                                          \
                 .overflow = LBX_OVERFLOW_DROP_NEWEST,                         \
                 __VA_ARGS__}},                                                \
        {.box = {.name = title " DROP_OLDEST",                                 \
                 .kind = (kind_name),                                          \
                 .capacity = (limit),                                          \
                 .overflow = LBX_OVERFLOW_DROP_OLDEST,                         \
                 __VA_ARGS__}},                                                \
        {.box = {.name = title " GROW",                                        \
                 .kind = (kind_name),                                          \
                 .capacity = (limit),                                          \
                 .overflow = LBX_OVERFLOW_GROW,                                \
                 __VA_ARGS__}},                                                \
    {                                                                          \
        .box = {                                                               \
            .name = title " BLOCK",                                            \
            .kind = (kind_name),                                               \
            .capacity = (limit),                                               \
            .overflow = LBX_OVERFLOW_BLOCK,                                    \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

TEST(bounded_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded 16", LBX_KIND_BOUNDED, 16, .ranks = BOX_PLAIN),
        {.box = {.name = "bounded 5 DROP_OLDEST, envelopes",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 5,
                 .overflow = LBX_OVERFLOW_DROP_OLDEST},
         .envelopes = true},
        {.box = {.name = "bounded 5 BLOCK, envelopes",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 5,
                 .overflow = LBX_OVERFLOW_BLOCK},
         .envelopes = true},
    };

    STORM(cases, 200000);
}

// One place: everyone meets everyone.
TEST(tightly_bounded_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded 1", LBX_KIND_BOUNDED, 1, .ranks = BOX_PLAIN),
    };

    STORM(cases, 50000);
}

TEST(bounded_priority_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded priority 16", LBX_KIND_BOUNDED_PRIORITY, 16,
                 .ranks = BOX_PRIORITIES),
    };

    STORM(cases, 200000);
}

TEST(bounded_control_aware_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded control-aware 16", LBX_KIND_BOUNDED_CONTROL_AWARE, 16,
                 .ranks = BOX_LANES),
    };

    STORM(cases, 200000);
}

TEST(bounded_deque_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded deque 16", LBX_KIND_BOUNDED_DEQUE, 16,
                 .ranks = BOX_PLAIN),
        {.box = {.name = "bounded deque 8 REJECT, fronts",
                 .kind = LBX_KIND_BOUNDED_DEQUE,
                 .capacity = 8},
         .deque = true},
    };

    STORM(cases, 200000);
}

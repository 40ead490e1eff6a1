/* SPDX-License-Identifier: Apache-2.0 */
#include "post/service/waiters.h"

#include "support/test.h"
#include "support/torture.h"

enum {
    MANY = 300
};

static lbx_call calls[MANY];

/* WAITERS-1 to WAITERS-3 through every operation, with few boxes and with
 * many. */
TEST(waiters_stay_valid_whatever_happens)
{
    for (uint64_t boxes = 1; boxes <= MANY; boxes *= 7) {
        struct torture memory = TORTURE_INIT;
        const lbx_allocator allocator = torture_allocator(&memory);
        lbx__waiters waiters;
        lbx__waited_box *wanted;
        uint32_t dice = 1;

        memset(calls, 0, sizeof(calls));
        for (int i = 0; i < MANY; i++)
            lbx__call_set_phase(&calls[i], LBX__CALL_FINISHING);
        lbx__waiters_init(&waiters, &allocator);
        for (int round = 0; round < 20000; round++) {
            lbx_call *call;
            uint64_t uid;

            dice = dice * 1664525 + 1013904223;
            call = &calls[(dice >> 8) % MANY];
            uid = 1 + (dice >> 17) % boxes;
            if (lbx__call_get_note(call).phase == LBX__CALL_WAITING) {
                lbx__waiters_remove(&waiters, call);
                lbx__call_set_phase(call, LBX__CALL_FINISHING);
            } else {
                wanted = lbx__waiters_add_box(&waiters, uid);
                CHECK(wanted && wanted->uid == uid);
                lbx__waiters_append(wanted, call);
                lbx__waiters_set_due(&waiters, wanted, (dice >> 4) % 1000);
            }
            if (dice % 5 == 0)
                lbx__waiters_advance_due(&waiters, uid, (dice >> 4) % 500);
            if (dice % 7 == 0)
                lbx__waiters_mark_due(&waiters, (dice >> 4) % 100);
            if (dice % 11 == 0)
                while ((wanted = lbx__waiters_take_marked(&waiters)) != NULL)
                    if (!wanted->calls.first)
                        lbx__waiters_remove_box(&waiters, wanted);
            CHECK(lbx__waiters_valid(&waiters));
        }
        for (int i = 0; i < MANY; i++)
            if (lbx__call_get_note(&calls[i]).phase == LBX__CALL_WAITING)
                lbx__waiters_remove(&waiters, &calls[i]);
        lbx__waiters_fini(&waiters);
        CHECK_INT(0, memory.live_bytes);
    }
}

/* Of many boxes, those that are due are marked, and no others. */
TEST(due_boxes_are_marked_once)
{
    lbx__waiters waiters;
    lbx__waited_box *wanted;
    int marked = 0;

    lbx__waiters_init(&waiters, NULL);
    for (int i = 0; i < MANY; i++) {
        wanted = lbx__waiters_add_box(&waiters, (uint64_t)i + 1);
        CHECK(wanted);
        CHECK_PTR(wanted, lbx__waiters_take_marked(&waiters)); // new ones are
        lbx__waiters_append(wanted, &calls[i]);
        lbx__waiters_set_due(&waiters, wanted, (i * 37) % MANY);
    }
    CHECK_INT(0, lbx__waiters_due(&waiters));
    lbx__waiters_mark_due(&waiters, 99);
    lbx__waiters_mark_due(&waiters, 99);
    CHECK_INT(100, lbx__waiters_due(&waiters));
    while ((wanted = lbx__waiters_take_marked(&waiters)) != NULL) {
        CHECK(((int)(wanted->uid - 1) * 37) % MANY <= 99);
        marked++;
    }
    CHECK_INT(100, marked);
    lbx__waiters_mark(&waiters, 7);
    lbx__waiters_mark(&waiters, MANY + 7); // has no waiters
    CHECK_INT(7, lbx__waiters_take_marked(&waiters)->uid);
    CHECK(!lbx__waiters_take_marked(&waiters));
    for (int i = 0; i < MANY; i++)
        lbx__waiters_remove(&waiters, &calls[i]);
    lbx__waiters_fini(&waiters);
}

static void
want_some(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx__waiters waiters;
    uint64_t wanted = 0;

    (void)context;
    lbx__waiters_init(&waiters, &allocator);
    while (wanted < 40 && lbx__waiters_add_box(&waiters, wanted + 1))
        wanted++;
    CHECK(lbx__waiters_valid(&waiters));
    CHECK_INT(wanted, lbx__waiters_count(&waiters));
    for (uint64_t i = 1; i <= wanted; i++)
        CHECK(lbx__waiters_find(&waiters, i));
    lbx__waiters_fini(&waiters);
}

TEST(wanting_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(want_some, NULL) > 40);
}

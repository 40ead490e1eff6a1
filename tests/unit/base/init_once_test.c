/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation that is done once. */
#include "base/init_once.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    THREADS = 4,
    SLEEPING = 3 /* the state of init_once.h */
};

struct world {
    lbx__init_once once;
    int tries; /* by the thread that has begun */
};

/* Fails the first time. Ends only when another thread sleeps: that one must be
 * woken. */
static void
try_once(unsigned index, void *context)
{
    struct world *world = context;

    (void)index;
    if (!lbx__init_once_begin(&world->once)) {
        CHECK_INT(2, world->tries);
        return;
    }
    world->tries++;
    EVENTUALLY(lbx__load(&world->once.state, relaxed) == SLEEPING);
    lbx__init_once_end(&world->once, world->tries == 2);
}

TEST(init_once_is_tried_until_it_succeeds_and_all_wait_for_that)
{
    for (long round = test_rounds(100, 10000); round > 0; round--) {
        struct world world = {.tries = 0};

        CHECK(!lbx__init_once_is_done(&world.once));
        threads_run(THREADS, try_once, &world);
        CHECK(lbx__init_once_is_done(&world.once));
        CHECK_INT(2, world.tries);
        lbx__init_once_end(&world.once, false); // undone: it is made again
        CHECK(lbx__init_once_begin(&world.once));
    }
}

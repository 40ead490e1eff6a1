/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A postbox, "box", over a scripted store: what the tests of postboxes stand
 * on.
 *
 *     LOCAL_WORLD(world);
 *
 *     world_begin(&world, &options);           // NULL: the defaults
 *     CHECK_OK(lbx_postbox_send(world.postbox, "one", 3, NULL));
 *     CHECK_STR("send 1 one; ", world.script.log);
 */
#ifndef LBX_TEST_POST_WORLD_H
#define LBX_TEST_POST_WORLD_H

#include "post/script.h"

#include "support/test.h"

struct world {
    struct script script;
    lbx_postbox *postbox;
};

static inline void
world_begin(struct world *world, const lbx_postbox_options *options)
{
    script_init(&world->script);
    CHECK_OK(lbx_postbox_open_in(&world->script.base, "box", options,
                                 &world->postbox));
}

static inline void
world_end(struct world *world)
{
    lbx_postbox_unref(world->postbox);
    script_fini(&world->script);
}

/* Declares one that is ended with its block. */
#define LOCAL_WORLD(name) __attribute__((cleanup(world_end))) struct world name

/* A test with a postbox without options. */
#define POSTBOX_TEST(behaviours, name)                                         \
    static void name##_in(struct world *world);                                \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        LOCAL_WORLD(world);                                                    \
                                                                               \
        world_begin(&world, NULL);                                             \
        name##_in(&world);                                                     \
    }                                                                          \
    static void name##_in(struct world *world)

#endif

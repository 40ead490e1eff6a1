/* SPDX-License-Identifier: Apache-2.0 */
/* Match tables: handlers by type, by base, by predicate; and the unhandled. */
#include "actor/fixture.h"

static struct world *stage; // one test, one process

// Fruit, with apples and pears derived from it; and stones.
static lbx_type *fruit;
static lbx_type *apple;
static lbx_type *pear;
static lbx_type *stone;
static const lbx_type *const *const fruit_slot =
    (const lbx_type *const *)&fruit;
static _Atomic long destroyed;

static void
count_destroyed(void *message, void *context)
{
    (void)message;
    (void)context;
    atomic_fetch_add(&destroyed, 1);
}

static lbx_type *
make_type(const char *name, const lbx_type *base)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *type;

    options.name = name;
    options.bases = base ? &base : NULL;
    options.base_count = base ? 1 : 0;
    options.destroy = count_destroyed;
    CHECK_OK(lbx_type_create(&options, &type));
    return type;
}

static void
types_begin(struct world *world)
{
    world_begin(world);
    stage = world;
    fruit = make_type("test.Fruit", NULL);
    apple = make_type("test.Apple", fruit);
    pear = make_type("test.Pear", fruit);
    stone = make_type("test.Stone", NULL);
}

static void
types_end(struct world *world)
{
    world_end(world);
    lbx_type_destroy(apple);
    lbx_type_destroy(pear);
    lbx_type_destroy(fruit);
    lbx_type_destroy(stone);
}

#define DEFINE_HANDLER(name)                                                   \
    static lbx_status name(lbx_context *context, void *state, void *message)   \
    {                                                                          \
        (void)context;                                                         \
        (void)state;                                                           \
        world_write(stage, #name ":%d", number_of(message));                   \
        return LBX_OK;                                                         \
    }

DEFINE_HANDLER(on_apple)
DEFINE_HANDLER(on_fruit)
DEFINE_HANDLER(on_ripe)
DEFINE_HANDLER(on_rest)
DEFINE_HANDLER(on_any)

static bool
is_ripe(const void *message)
{
    return number_of(message) > 10;
}

/* An actor with these rows and, if it is not NULL, this handler for the
 * rest. */
static lbx_ref
spawn_matching(struct world *world, const lbx_match *rows, size_t count,
               lbx_actor_handler *receive)
{
    static lbx_behaviour behaviour;

    behaviour = (lbx_behaviour){
        .size_bytes = sizeof(lbx_behaviour),
        .name = "eater",
        .receive = receive,
        .matches = rows,
        .match_count = count,
    };
    return behaviour_spawn(world, &behaviour, NULL);
}

#define MATCH_TEST(name)                                                       \
    FIXTURE_TEST(world, "", name, types_begin(world), types_end(world))

MATCH_TEST(first_row_that_fits_is_called)
{
    const lbx_match rows[] = {
        LBX_MATCH_IF(pear, is_ripe, on_ripe),
        LBX_MATCH(apple, on_apple),
        {fruit_slot, NULL, on_fruit},
    };
    lbx_ref ref = spawn_matching(world, rows, 3, on_rest);

    lbx_tell_typed(ref, apple, letter(1));
    lbx_tell_typed(ref, pear, letter(2)); // not ripe: a fruit all the same
    lbx_tell_typed(ref, pear, letter(12));
    lbx_tell_typed(ref, fruit, letter(3));
    lbx_tell_typed(ref, stone, letter(4));
    lbx_tell(ref, letter(5));
    CHECK_DIARY(world, "on_apple:1 on_fruit:2 on_ripe:12 on_fruit:3 "
                       "on_rest:4 on_rest:5");
    CHECK_INT(5, atomic_load(&destroyed)); // by their types
    CHECK_INT(1, atomic_load(&world->ended));
}

MATCH_TEST(unhandled_message_is_a_dead_letter)
{
    const lbx_match rows[] = {{fruit_slot, NULL, on_fruit}};
    lbx_ref ref = spawn_matching(world, rows, 1, NULL);

    lbx_tell_typed(ref, stone, letter(1));
    lbx_tell(ref, letter(2));
    lbx_tell_typed(ref, apple, letter(3));
    CHECK_DIARY(world, "on_fruit:3");
    CHECK_INT(2, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 1, LBX_LOSS_UNHANDLED);
    world_check_dead(world, 1, 2, LBX_LOSS_UNHANDLED);
    CHECK_PTR(stone, world->dead[0].envelope.type);
    CHECK(lbx_ref_equal(ref, world->dead[0].recipient));
    CHECK_INT(2, atomic_load(&destroyed));
    CHECK_INT(1, atomic_load(&world->ended));
    CHECK_INT(1, world_stats(world).handled);
}

MATCH_TEST(row_without_a_type_fits_any_message)
{
    const lbx_match rows[] = {
        {NULL, is_ripe, on_ripe},
        {fruit_slot, NULL, on_fruit},
        {NULL, NULL, on_any},
    };
    lbx_ref ref = spawn_matching(world, rows, 3, on_rest);

    lbx_tell(ref, letter(1));
    lbx_tell(ref, letter(11));
    lbx_tell_typed(ref, stone, letter(2));
    lbx_tell_typed(ref, apple, letter(3));
    CHECK_DIARY(world, "on_any:1 on_ripe:11 on_any:2 on_fruit:3");
}

static lbx_status
say_type(lbx_context *context, void *state, void *message)
{
    const lbx_type *type = lbx_context_type(context);

    (void)state;
    (void)message;
    world_write(stage, "%s", type ? lbx_type_name(type) : "none");
    return LBX_OK;
}

MATCH_TEST(handler_sees_the_type)
{
    lbx_ref ref = spawn_matching(world, NULL, 0, say_type);

    lbx_tell_typed(ref, apple, letter(1));
    lbx_tell(ref, letter(1));
    CHECK_DIARY(world, "test.Apple none");
}

// Notices are found by their type as well.
MATCH_TEST(notices_can_be_matched)
{
    static const lbx_type *terminated;
    static const lbx_match rows[] = {{&terminated, NULL, say_type}};
    lbx_ref ref;

    terminated = lbx_terminated_type();
    ref = spawn_matching(world, rows, 1, NULL);
    lbx_tell_typed(ref, terminated, NULL);
    lbx_tell_typed(ref, lbx_receive_timeout_type(), NULL); // unhandled
    CHECK_DIARY(world, "letterbox.Terminated");
    CHECK_INT(0, atomic_load(&world->dead_count));
    CHECK_INT(1, atomic_load(&world->suppressed_count));
}

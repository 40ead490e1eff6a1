/* SPDX-License-Identifier: Apache-2.0 */
/* What the actor tests have in common. */
#include "actor/fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- The world ---- */

void *
letter(int number)
{
    return (void *)(intptr_t)number;
}

int
number_of(const void *message)
{
    return (int)(intptr_t)message;
}

static void
hear(void *context, const lbx_dead_letter_event *dead)
{
    struct world *world = context;
    unsigned count;

    CHECK_PTR(world->system, dead->system);
    CHECK(dead->envelope->lost != LBX_LOSS_NONE);
    if (dead->suppressed) {
        atomic_fetch_add(&world->suppressed_count, 1);
        return;
    }
    pthread_mutex_lock(&world->lock);
    count = atomic_load(&world->dead_count);
    if (count < LETTERS_KEPT)
        world->dead[count] = (struct dead){*dead->envelope, dead->sender,
                                           dead->recipient, dead->suppressed};
    atomic_store(&world->dead_count, count + 1);
    pthread_mutex_unlock(&world->lock);
}

static void
count_end(void *message, void *context)
{
    struct world *world = context;

    (void)message;
    atomic_fetch_add(&world->ended, 1);
}

lbx_system_options
world_options(struct world *world)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;

    *world = (struct world){
        .time = TEST_CLOCK_INIT,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    world->clock = test_clock_interface(&world->time);
    options.clock = &world->clock;
    options.threads = 0;
    options.dead_letters = (lbx_dead_letter_listener){hear, world};
    options.destroy = count_end;
    options.destroy_context = world;
    return options;
}

void
world_begin_with(struct world *world, const lbx_system_options *options)
{
    world->threads = options->threads;
    CHECK_OK(lbx_system_create(options, &world->system));
}

void
world_begin(struct world *world)
{
    lbx_system_options options = world_options(world);

    world_begin_with(world, &options);
}

void
world_begin_threads(struct world *world, int64_t threads)
{
    lbx_system_options options = world_options(world);

    options.clock = NULL;
    options.threads = threads;
    world_begin_with(world, &options);
}

void
world_end(struct world *world)
{
    if (!world->system)
        return;
    CHECK_OK(lbx_system_terminate(world->system, LBX_FOREVER));
    lbx_system_destroy(world->system);
    world->system = NULL;
}

long
world_end_count(struct world *world)
{
    world_end(world);
    return atomic_load(&world->ended);
}

uint64_t
world_run_most(struct world *world, uint64_t most)
{
    uint64_t turns = 12345;

    CHECK_OK(lbx_system_run(world->system, most, &turns));
    CHECK(turns <= most);
    return turns;
}

uint64_t
world_run(struct world *world)
{
    return world_run_most(world, UINT64_MAX);
}

void
world_advance(struct world *world, int64_t duration_ns)
{
    test_clock_advance(&world->time, duration_ns);
    (void)world_run(world);
}

lbx_system_stats
world_stats(struct world *world)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    CHECK_OK(lbx_system_stats_read(world->system, &stats));
    return stats;
}

void
world_write(struct world *world, const char *format, ...)
{
    size_t length;
    va_list arguments;

    pthread_mutex_lock(&world->lock);
    length = strlen(world->diary);
    if (length > 0 && length + 1 < DIARY_BYTES)
        world->diary[length++] = ' ';
    va_start(arguments, format);
    vsnprintf(world->diary + length, DIARY_BYTES - length, format, arguments);
    va_end(arguments);
    pthread_mutex_unlock(&world->lock);
}

static bool
is_long_enough(struct world *world, size_t length)
{
    bool is;

    pthread_mutex_lock(&world->lock);
    is = strlen(world->diary) >= length;
    pthread_mutex_unlock(&world->lock);
    return is;
}

void
world_check_diary(const char *file, int line, struct world *world,
                  const char *expected)
{
    if (world->threads == 0)
        (void)world_run(world);
    else
        EVENTUALLY(is_long_enough(world, strlen(expected)));
    pthread_mutex_lock(&world->lock);
    test_check_str(file, line, "the diary", expected, world->diary);
    world->diary[0] = 0;
    pthread_mutex_unlock(&world->lock);
}

void
world_check_dead(const struct world *world, unsigned index, int number,
                 lbx_loss_reason reason)
{
    CHECK(index < atomic_load(&world->dead_count));
    CHECK_INT(number, number_of(world->dead[index].envelope.message));
    CHECK_INT(reason, world->dead[index].envelope.lost);
}

/* ---- Parts ---- */

struct role {
    struct part *part;
    bool stashes;
};

static bool
is_order(const struct world *world, const void *message)
{
    const struct order *order = message;

    return order >= world->orders && order < world->orders + DEEDS_KEPT;
}

static lbx_status
start(lbx_context *context, void *state, void *argument)
{
    struct role *role = state;
    struct part *part = argument;

    CHECK_PTR(NULL, role->part); // the state is fresh
    CHECK(!role->stashes);
    CHECK_PTR(part->world->system, lbx_context_system(context));
    CHECK(lbx_ref_is_alive(lbx_context_self(context)));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_context_sender(context)));
    role->part = part;
    atomic_fetch_add(&part->starts, 1);
    if (!part->silent)
        world_write(part->world, "%s+", part->name);
    for (int i = 0; i < PART_CHILDREN; i++)
        if (part->children[i])
            CHECK_OK(part_spawn_in(context, part->children[i]));
    return part->start ? part->start(context, part) : LBX_OK;
}

static void
stop(lbx_context *context, void *state)
{
    struct part *part = ((struct role *)state)->part;

    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_context_sender(context)));
    atomic_fetch_add(&part->stops, 1);
    if (!part->silent)
        world_write(part->world, "%s-", part->name);
    if (part->stop)
        part->stop(context, part);
}

static lbx_status
receive_letter(lbx_context *context, struct role *role, void *message)
{
    struct part *part = role->part;

    if (role->stashes)
        return lbx_context_stash(context);
    atomic_fetch_add(&part->received, 1);
    if (part->receive)
        return part->receive(context, part, message);
    if (!part->silent)
        world_write(part->world, "%s:%d", part->name, number_of(message));
    return number_of(message) >= FAILS ? LBX_REFUSED : LBX_OK;
}

static lbx_status
receive(lbx_context *context, void *state, void *message)
{
    struct role *role = state;
    struct part *part = role->part;

    if (lbx_context_type(context) == lbx_terminated_type()) {
        part->ended = lbx_terminated_ref(message);
        CHECK(!lbx_ref_is_alive(part->ended));
        world_write(part->world, "%s!", part->name);
        return LBX_OK;
    }
    if (lbx_context_type(context) == lbx_receive_timeout_type()) {
        world_write(part->world, "%s?", part->name);
        return LBX_OK;
    }
    if (is_order(part->world, message)) {
        const struct order *order = message;

        if (order->deed == do_stash || order->deed == do_unstash)
            role->stashes = order->deed == do_stash;
        return order->deed(context, part, order->argument);
    }
    return receive_letter(context, role, message);
}

static lbx_status
handle_error(lbx_context *context, void *state, lbx_status status,
             void *message)
{
    struct part *part = ((struct role *)state)->part;

    return part->mend ? part->mend(context, part, status, message) : status;
}

static lbx_directive
supervise(lbx_context *context, void *state, lbx_child_failure *failure)
{
    struct part *part = ((struct role *)state)->part;

    return part->decide(context, part, failure);
}

static const lbx_behaviour player = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "player",
    .state_bytes = sizeof(struct role),
    .start = start,
    .receive = receive,
    .stop = stop,
    .handle_error = handle_error,
};

static const lbx_behaviour warden = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "warden",
    .state_bytes = sizeof(struct role),
    .start = start,
    .receive = receive,
    .stop = stop,
    .handle_error = handle_error,
    .supervise = supervise,
};

void
part_init(struct part *part, struct world *world, const char *name)
{
    static const lbx_strategy strategy = LBX_STRATEGY_INIT;

    *part = (struct part){
        .name = name,
        .world = world,
        .strategy = strategy,
        .stash_capacity = LBX_DEFAULT,
    };
}

lbx_props
part_props(struct part *part)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = part->decide ? &warden : &player;
    props.argument = part;
    props.strategy = part->strategy;
    props.stash_capacity = part->stash_capacity;
    return props;
}

lbx_ref
part_spawn(struct part *part)
{
    return part_spawn_boxed(part, NULL, NULL);
}

lbx_ref
part_spawn_boxed(struct part *part, const char *kind,
                 const lbx_mailbox_options *options)
{
    lbx_props props = part_props(part);
    lbx_ref self;

    props.mailbox = kind;
    props.mailbox_options = options;
    CHECK_OK(lbx_system_spawn(part->world->system, &props, part->name, &self));
    part->self = self;
    return self;
}

lbx_ref
behaviour_spawn(struct world *world, const lbx_behaviour *behaviour,
                void *argument)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref ref;

    props.behaviour = behaviour;
    props.argument = argument;
    CHECK_OK(lbx_system_spawn(world->system, &props, NULL, &ref));
    return ref;
}

lbx_status
part_spawn_in(lbx_context *context, struct part *part)
{
    lbx_props props = part_props(part);

    return lbx_context_spawn(context, &props, part->name, &part->self);
}

void
bid(struct part *part, deed *what, void *argument)
{
    struct world *world = part->world;
    unsigned index = atomic_fetch_add(&world->order_count, 1);

    CHECK(index < DEEDS_KEPT);
    world->orders[index] = (struct order){what, argument};
    lbx_tell(part->self, &world->orders[index]);
}

/* ---- Orders ---- */

lbx_status
do_stop(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    (void)argument;
    lbx_context_stop(context);
    return LBX_OK;
}

lbx_status
do_fail(lbx_context *context, struct part *part, void *argument)
{
    (void)context;
    (void)part;
    return *(const lbx_status *)argument;
}

lbx_status
do_watch(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    CHECK_OK(lbx_context_watch(context, ((struct part *)argument)->self));
    return LBX_OK;
}

lbx_status
do_unwatch(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    lbx_context_unwatch(context, ((struct part *)argument)->self);
    return LBX_OK;
}

lbx_status
do_spawn(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    CHECK_OK(part_spawn_in(context, argument));
    return LBX_OK;
}

lbx_status
do_stash(lbx_context *context, struct part *part, void *argument)
{
    (void)context; // the fixture remembers it
    (void)part;
    (void)argument;
    return LBX_OK;
}

lbx_status
do_unstash(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    (void)argument;
    lbx_context_unstash_all(context);
    return LBX_OK;
}

lbx_status
do_block(lbx_context *context, struct part *part, void *argument)
{
    struct gate *gate = argument;

    (void)context;
    (void)part;
    atomic_store(&gate->reached, true);
    EVENTUALLY(atomic_load(&gate->is_open));
    return LBX_OK;
}

static void
cast_init(struct cast *cast)
{
    part_init(&cast->a, &cast->world, "a");
    part_init(&cast->b, &cast->world, "b");
    part_init(&cast->c, &cast->world, "c");
    part_init(&cast->d, &cast->world, "d");
}

void
cast_begin(struct cast *cast, int64_t threads)
{
    if (threads > 0)
        world_begin_threads(&cast->world, threads);
    else
        world_begin(&cast->world);
    cast_init(cast);
}

void
cast_begin_with(struct cast *cast, const lbx_system_options *options)
{
    world_begin_with(&cast->world, options);
    cast_init(cast);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call that takes an lbx_fault writes it when it fails: no user prints
 * what was in the memory before. A sweep over the public headers.
 */
#include "fault/explained.h"

#include <letterbox/compat/vela.h>

#include "support/local.h"
#include "support/torture.h"

static lbx_allocator
lame_allocator(void)
{
    return (lbx_allocator){NULL, NULL, NULL};
}

/* ---- Mailboxes ---- */

static lbx_status
create_mailbox(const char *kind, const lbx_mailbox_options *options)
{
    lbx_producer *in;
    lbx_consumer *out;

    return lbx_mailbox_create(kind, options, &in, &out);
}

TEST(failed_mailboxes_write_their_fault)
{
    const lbx_allocator lame = lame_allocator();
    const lbx_clock stopped = {NULL, NULL};
    lbx_mailbox_options good = LBX_MAILBOX_OPTIONS_INIT;
    lbx_mailbox_options bad[9];
    lbx_producer *in;

    good.fault = &fault;
    FILL(bad, good);
    bad[0].size_bytes = 0;
    bad[1].size_bytes = 5 * sizeof(good);
    bad[2].capacity_messages = 0;
    bad[3].capacity_messages = LBX_UNLIMITED;
    bad[4].overflow = (lbx_overflow)77;
    bad[5].after_wait = LBX_OVERFLOW_GROW;
    bad[6].allocator = &lame;
    bad[7].clock = &stopped;
    bad[8].pressure_messages = 0;
    for (size_t i = 0; i < COUNT(bad); i++)
        EXPLAINED(create_mailbox(LBX_KIND_BOUNDED, &bad[i]));
    EXPLAINED(create_mailbox("no such kind", &good));
    EXPLAINED(lbx_mailbox_create(LBX_KIND_BOUNDED, &good, NULL, NULL));
    EXPLAINED(lbx_mailbox_create(LBX_KIND_BOUNDED, &good, &in, NULL));
    bad[0] = good;
    bad[0].system_reservation = -5;
    EXPLAINED(create_mailbox(LBX_KIND_UNBOUNDED, &bad[0]));
    bad[0] = good;
    bad[0].control_capacity = 0;
    EXPLAINED(create_mailbox(LBX_KIND_UNBOUNDED, &bad[0]));
    bad[0] = good;
    bad[0].capacity_messages = 5;
    EXPLAINED(create_mailbox(LBX_KIND_UNBOUNDED, &bad[0]));
}

/* ---- Without memory ---- */

static void
create_without_memory(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_status (*create)(const lbx_allocator *) =
        *(lbx_status(**)(const lbx_allocator *))context;
    lbx_status status;

    (void)garbage();
    status = create(&allocator);
    if (status != LBX_OK)
        check_explained(status, "without memory");
}

static lbx_status
mailbox_once(const lbx_allocator *allocator)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_producer *in = NULL;
    lbx_consumer *out = NULL;
    lbx_status status;

    options.allocator = allocator;
    options.fault = &fault;
    status = lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out);
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
    return status;
}

static lbx_status
handle_nothing(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    return LBX_OK;
}

static const lbx_behaviour idle = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "idle",
    .state_bytes = 64,
    .receive = handle_nothing,
};

/* A system without threads, one actor and one pool. */
static lbx_status
system_once(const lbx_allocator *allocator)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    lbx_system *system = NULL;
    lbx_ref ref;
    lbx_status status;

    options.allocator = allocator;
    options.threads = 0;
    options.fault = &fault;
    props.behaviour = &idle;
    props.stash_capacity = 5;
    props.fault = &fault;
    pool.props = &props;
    status = lbx_system_create(&options, &system);
    if (status == LBX_OK) {
        (void)garbage();
        status = lbx_system_spawn(system, &props, "one", &ref);
    }
    if (status == LBX_OK) {
        (void)garbage();
        status = lbx_system_spawn_pool(system, &pool, "many", &ref);
    }
    lbx_system_destroy(system);
    return status;
}

static lbx_status
settings_once(const lbx_allocator *allocator)
{
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;
    lbx_settings *settings = NULL;
    lbx_status status;

    options.allocator = allocator;
    options.fault = &fault;
    status = lbx_settings_load_text("a = 1, b = ${a}", &options, &settings);
    lbx_settings_unref(settings);
    return status;
}

static lbx_status
loop_once(const lbx_allocator *allocator)
{
    lbx_system_options system_options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_vela_loop_options options = LBX_VELA_LOOP_OPTIONS_INIT;
    lbx_vela_loop *loop = NULL;
    lbx_system *system;
    lbx_status status;

    system_options.threads = 0;
    CHECK_OK(lbx_system_create(&system_options, &system));
    options.allocator = allocator;
    options.fault = &fault;
    status = lbx_vela_loop_create(system, &options, &loop);
    lbx_vela_loop_destroy(loop);
    lbx_system_destroy(system);
    return status;
}

TEST(failing_without_memory_writes_the_fault)
{
    static lbx_status (*creates[])(const lbx_allocator *) = {
        mailbox_once, system_once, settings_once, loop_once};

    for (size_t i = 0; i < COUNT(creates); i++)
        CHECK(torture_every_allocation(create_without_memory, &creates[i]) > 0);
}

/* ---- Actors ---- */

TEST(failed_systems_write_their_fault)
{
    const lbx_allocator lame = lame_allocator();
    const lbx_clock stopped = {NULL, NULL};
    lbx_system_options good = LBX_SYSTEM_OPTIONS_INIT;
    lbx_system_options bad[7];
    lbx_system *system;

    good.fault = &fault;
    FILL(bad, good);
    bad[0].size_bytes = 0;
    bad[1].threads = -1;
    bad[2].throughput = 0;
    bad[3].allocator = &lame;
    bad[4].clock = &stopped;
    bad[5].seed = 1;
    bad[6].mailbox_type_count = 1;
    for (size_t i = 0; i < COUNT(bad); i++)
        EXPLAINED(lbx_system_create(&bad[i], &system));
    EXPLAINED(lbx_system_create(&good, NULL));
}

/* What fails for an actor fails for a pool of them. */
static void
check_spawns(lbx_system *system, const lbx_props *props, const char *name)
{
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref ref;

    pool.props = props;
    EXPLAINED(lbx_system_spawn(system, props, name, &ref));
    EXPLAINED(lbx_system_spawn_pool(system, &pool, name, &ref));
}

static void
check_pools(lbx_system *system, const lbx_props *props)
{
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref ref;

    pool.props = props;
    EXPLAINED(lbx_system_spawn_pool(system, &pool, NULL, NULL));
    pool.routees = 0;
    EXPLAINED(lbx_system_spawn_pool(system, &pool, NULL, &ref));
    pool.routees = 1;
    pool.routing = (lbx_pool_routing)77;
    EXPLAINED(lbx_system_spawn_pool(system, &pool, NULL, &ref));
    pool.size_bytes = 0;
    EXPLAINED(lbx_system_spawn_pool(system, &pool, NULL, &ref));
}

TEST(failed_spawns_write_their_fault)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_behaviour deaf = LBX_BEHAVIOUR_INIT;
    lbx_behaviour wrong = idle;
    lbx_props good = LBX_PROPS_INIT;
    lbx_props bad[8];
    lbx_ref ref;
    LOCAL_SYSTEM(system);

    options.threads = 0;
    CHECK_OK(lbx_system_create(&options, &system));
    wrong.size_bytes = 1;
    good.behaviour = &idle;
    good.fault = &fault;
    FILL(bad, good);
    bad[0].size_bytes = 1;
    bad[1].behaviour = NULL;
    bad[2].behaviour = &deaf;
    bad[3].behaviour = &wrong;
    bad[4].stash_capacity = 0;
    bad[5].stash_capacity = -7;
    for (size_t i = 0; i < 6; i++)
        check_spawns(system, &bad[i], "name");
    bad[6].mailbox = "no such mailbox";
    bad[7].dispatcher = "no such dispatcher";
    for (size_t i = 6; i < COUNT(bad); i++)
        EXPLAINED(lbx_system_spawn(system, &bad[i], NULL, &ref));
    check_spawns(system, &good, "a/b");
    check_spawns(system, &good, "$a");
    CHECK_OK(lbx_system_spawn(system, &good, "taken", &ref));
    check_spawns(system, &good, "taken");
    EXPLAINED(lbx_system_spawn(system, &good, NULL, NULL));
    check_pools(system, &good);
    CHECK_OK(lbx_system_terminate(system, LBX_FOREVER));
    check_spawns(system, &good, "late");
}

/* A spawn that succeeds leaves it: several threads may share props. */
TEST(spawns_that_succeed_leave_the_fault)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref ref;
    LOCAL_SYSTEM(system);

    options.threads = 0;
    CHECK_OK(lbx_system_create(&options, &system));
    props.behaviour = &idle;
    props.fault = garbage();
    CHECK_OK(lbx_system_spawn(system, &props, NULL, &ref));
    CHECK(fault.text[0] == 'G');
}

/* ---- Loops as in Vela ---- */

TEST(failed_loops_write_their_fault)
{
    const lbx_allocator lame = lame_allocator();
    lbx_system_options system_options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_mailbox_options mailbox = LBX_MAILBOX_OPTIONS_INIT;
    lbx_vela_loop_options good = LBX_VELA_LOOP_OPTIONS_INIT;
    lbx_vela_loop_options bad[6];
    lbx_vela_loop *loop;
    LOCAL_SYSTEM(system);

    system_options.threads = 0;
    CHECK_OK(lbx_system_create(&system_options, &system));
    mailbox.overflow = (lbx_overflow)77;
    good.fault = &fault;
    FILL(bad, good);
    bad[0].size_bytes = 0;
    bad[1].allocator = &lame;
    bad[2].max_throughput = 0;
    bad[3].idle_sleep_ms = -1;
    bad[4].mailbox = "no such kind";
    bad[5].mailbox_options = &mailbox;
    for (size_t i = 0; i < COUNT(bad); i++)
        EXPLAINED(lbx_vela_loop_create(system, &bad[i], &loop));
    EXPLAINED(lbx_vela_loop_create(NULL, &good, &loop));
    EXPLAINED(lbx_vela_loop_create(system, &good, NULL));
    CHECK_OK(lbx_vela_loop_create(system, &good, &loop));
    EXPLAINED(lbx_vela_loop_pause(loop, &fault));
    EXPLAINED(lbx_vela_loop_resume(loop, &fault));
    EXPLAINED(lbx_vela_loop_stop(loop, LBX_FOREVER, &fault));
    EXPLAINED(lbx_vela_loop_deliver(loop, NULL, &fault));
    EXPLAINED(lbx_vela_loop_start(NULL, &fault));
    EXPLAINED(lbx_vela_loop_pause(NULL, &fault));
    EXPLAINED(lbx_vela_loop_resume(NULL, &fault));
    EXPLAINED(lbx_vela_loop_stop(NULL, LBX_FOREVER, &fault));
    EXPLAINED(lbx_vela_loop_process_next(NULL, &fault));
    EXPLAINED(lbx_vela_loop_deliver(NULL, NULL, &fault));
    lbx_vela_loop_destroy(loop);
}

/* ---- Settings ---- */

TEST(failed_loads_write_their_fault)
{
    const lbx_allocator lame = lame_allocator();
    const lbx_settings_source nothing = {.length_bytes = 1};
    lbx_settings_options good = LBX_SETTINGS_OPTIONS_INIT;
    lbx_settings_options bad[3];
    lbx_settings *tree;

    good.fault = &fault;
    FILL(bad, good);
    bad[0].size_bytes = 0;
    bad[1].allocator = &lame;
    bad[2].max_depth = 0;
    for (size_t i = 0; i < COUNT(bad); i++)
        EXPLAINED(lbx_settings_load_text("", &bad[i], &tree));
    EXPLAINED(lbx_settings_load_text("", &good, NULL));
    EXPLAINED(lbx_settings_load_text(NULL, &good, &tree));
    EXPLAINED(lbx_settings_load_text("a = {", &good, &tree));
    EXPLAINED(lbx_settings_load_file(NULL, &good, &tree));
    EXPLAINED(lbx_settings_load_file("/no/such/file", &good, &tree));
    EXPLAINED(lbx_settings_load(NULL, 1, &good, &tree));
    EXPLAINED(lbx_settings_load(&nothing, 1, &good, &tree));
}

TEST(failed_reads_write_their_fault)
{
    static const lbx_settings_rule known[] = {{.key = "other"}};
    static const lbx_settings_rule nameless[] = {{.key = NULL}};
    const lbx_settings *part;
    lbx_settings *tree;
    const char *text;
    int64_t number;
    double real;
    bool flag;

    CHECK_OK(lbx_settings_load_text("s = { x = word }, l = [{}]", NULL, &tree));
    for (int i = 0; i < 3; i++) {
        const lbx_settings *from = i == 2 ? NULL : tree;
        const char *path = i == 0 ? "s" : "none";

        EXPLAINED(lbx_settings_read_string(from, path, &text, &fault));
        EXPLAINED(lbx_settings_read_integer(from, path, &number, &fault));
        EXPLAINED(lbx_settings_read_number(from, path, &real, &fault));
        EXPLAINED(lbx_settings_read_boolean(from, path, &flag, &fault));
        EXPLAINED(lbx_settings_read_duration(from, path, &number, &fault));
        EXPLAINED(lbx_settings_read_size(from, path, &number, &fault));
        EXPLAINED(lbx_settings_read_strings(from, path, &part, &fault));
        EXPLAINED(lbx_settings_read_section(from, i == 0 ? "l" : path, &part,
                                            &fault));
    }
    EXPLAINED(lbx_settings_read_string(tree, "s.x", NULL, &fault));
    EXPLAINED(lbx_settings_read_string_or(NULL, "s.x", "", &text, &fault));
    EXPLAINED(lbx_settings_read_integer(tree, "s.x", NULL, &fault));
    EXPLAINED(lbx_settings_read_integer(tree, "s.x", &number, &fault));
    EXPLAINED(lbx_settings_read_integer_or(NULL, "s.x", 1, &number, &fault));
    EXPLAINED(lbx_settings_read_integer_or(tree, "s.x", 1, &number, &fault));
    EXPLAINED(lbx_settings_read_number(tree, "s.x", &real, &fault));
    EXPLAINED(lbx_settings_read_boolean(tree, "s.x", &flag, &fault));
    EXPLAINED(lbx_settings_read_duration(tree, "s.x", &number, &fault));
    EXPLAINED(lbx_settings_read_size(tree, "s.x", &number, &fault));
    EXPLAINED(lbx_settings_read_strings(tree, "l", &part, &fault));
    EXPLAINED(lbx_settings_read_strings(tree, "l", NULL, &fault));
    EXPLAINED(lbx_settings_read_section(tree, "s", NULL, &fault));
    EXPLAINED(lbx_settings_check(tree, known, 1, &fault));
    EXPLAINED(lbx_settings_check(tree, nameless, 1, &fault));
    EXPLAINED(lbx_settings_check(NULL, known, 1, &fault));
    EXPLAINED(lbx_settings_write_fault(tree, "is wrong", &fault));
    EXPLAINED(lbx_settings_write_fault(NULL, "is wrong", &fault));
    lbx_settings_unref(tree);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deployment and dispatchers: paths and wildcards, dispatchers that are made
 * when they are used, and what an explanation says.
 */
#include "stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Deployments that give each pattern a capacity of its own. */
static const char patterns[] =
    "m1 { mailbox-type = bounded, mailbox-capacity = 1 }\n"
    "m2 { mailbox-type = bounded, mailbox-capacity = 2 }\n"
    "m3 { mailbox-type = bounded, mailbox-capacity = 3 }\n"
    "m4 { mailbox-type = bounded, mailbox-capacity = 4 }\n"
    "m5 { mailbox-type = bounded, mailbox-capacity = 5 }\n"
    "akka.actor.deployment {\n"
    "  \"/shop/**\" { mailbox = m1 }\n"
    "  \"/shop/*\" { mailbox = m2 }\n"
    "  /shop/till { mailbox = m3 }\n"
    "  \"/*/till\" { mailbox = m4 }\n"
    "  \"/*\" { mailbox = m5 }\n"
    "}\n";

static void
is_deployed(struct stage *stage, const char *path, const char *mailbox)
{
    lbx_props props = stage_props(stage, ANY);
    const char *at;

    stage->said[0] = 0;
    CHECK_OK(stage_foretell(stage, &props, path));
    at = strstr(stage->said, "decides: mailbox ");
    CHECK(at);
    if (strncmp(at + 17, mailbox, strlen(mailbox)) != 0)
        FAIL("%s: expected %s:\n%s", path, mailbox, stage->said);
}

STAGE_TEST("A-06", most_specific_deployment_wins)
{
    stage_begin(stage, patterns);
    is_deployed(stage, "/shop/till", "m3");
    is_deployed(stage, "/shop/door", "m2");
    is_deployed(stage, "/shop/door/bell", "m1");
    is_deployed(stage, "/shop/door/bell/rope", "m1");
    is_deployed(stage, "/bar/till", "m4");
    is_deployed(stage, "/bar", "m5");
    is_deployed(stage, "/shop", "m5");
    is_deployed(stage, "/bar/stool", "letterbox.actor.default-mailbox");
    is_deployed(stage, "/bar/till/key", "letterbox.actor.default-mailbox");
}

// Children are found by their whole path; the unnamed by '*' alone.
STAGE_TEST("A-06", deployment_knows_children_and_the_unnamed)
{
    lbx_ref shop;

    stage_begin(stage, patterns);
    shop = stage_spawn(stage, ANY, "shop");
    CHECK_OK(stage_spawn_child(stage, shop, ANY, "till"));
    CHECK(strstr(stage_explain(stage, stage->child), "mailbox m3"));
    CHECK_OK(stage_spawn_child(stage, shop, ANY, NULL));
    CHECK(strstr(stage_explain(stage, stage->child), "mailbox m2"));
    CHECK(strstr(stage_explain(stage, stage_spawn(stage, ANY, NULL)),
                 "mailbox m5"));
}

/* ---- Dispatchers ---- */

// Deployment's dispatcher beats that of the props.
STAGE_TEST("A-06", deployed_dispatcher_beats_props)
{
    stage_begin(stage, "d1 {}, d2 {}\n"
                       "akka.actor.deployment { /a { dispatcher = d1 } }");
    CHECK_GETS(stage, DISPATCHER("d2"), "a", 6, "multi-consumer");
    CHECK(strstr(stage->said, "dispatcher: d1\n"));
    CHECK_GETS(stage, DISPATCHER("d2"), "b", 6, "multi-consumer");
    CHECK(strstr(stage->said, "dispatcher: d2\n"));
}

// The default dispatcher's section does not give mailboxes, nor does the
// parent's: it was not placed there by name.
STAGE_TEST("A-07", only_a_chosen_dispatchers_section_gives_a_mailbox)
{
    lbx_ref parent;

    stage_begin(stage,
                "akka.actor.default-dispatcher { mailbox-type = bounded }\n"
                "d { mailbox-type = bounded }");
    CHECK_GETS(stage, ANY, "a", 6, "multi-consumer");
    CHECK(
        strstr(stage->said, "dispatcher: letterbox.actor.default-dispatcher"));
    parent = CHECK_GETS(stage, DISPATCHER("d"), "b", 3,
                        "bounded blocking multi-consumer");
    CHECK_OK(stage_spawn_child(stage, parent, DISPATCHER(".."), "c"));
    CHECK(strstr(stage_explain(stage, stage->child), "dispatcher: d\n"));
    CHECK(strstr(stage->said, "6 default mailbox: decided"));
    CHECK_OK(stage_spawn_child(stage, parent, ANY, "e"));
    CHECK(strstr(stage_explain(stage, stage->child),
                 "dispatcher: letterbox.actor.default-dispatcher"));
}

// A text in place of a section is another name for a dispatcher.
STAGE_TEST("Stash", dispatchers_may_have_other_names)
{
    lbx_ref ref;

    stage_begin(stage, "d { throughput = 3 }, also = d, again = also");
    ref = stage_spawn(stage, DISPATCHER("again"), "a");
    CHECK(strstr(stage_explain(stage, ref), "dispatcher: d\n"));
}

// How many messages an actor handles before others run.
STAGE_TEST("A-12 A-22", throughput_is_the_dispatchers)
{
    lbx_ref a, b;

    stage_begin(stage, "d { throughput = 2 }");
    a = stage_spawn(stage, DISPATCHER("d"), "a");
    b = stage_spawn(stage, DISPATCHER("d"), "b");
    stage_run(stage);
    for (int i = 1; i <= 3; i++) {
        stage_tell(a, i);
        stage_tell(b, 10 + i);
    }
    CHECK_RECEIVED(stage, 1, 2, 11, 12, 3, 13);
}

TEST_CITING("A-12", throughput_of_the_default_is_5_or_as_the_settings_say)
{
    static const struct {
        const char *settings;
        uint64_t runs; /* for ten messages */
    } cases[] = {
        {NULL, 2},
        {"akka.actor.default-dispatcher.throughput = 10", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stage stage;
        lbx_system_stats before = LBX_SYSTEM_STATS_INIT,
                         after = LBX_SYSTEM_STATS_INIT;
        lbx_ref a;

        test_note("settings: %s",
                  cases[i].settings ? cases[i].settings : "none");
        stage_begin(&stage, cases[i].settings);
        a = stage_spawn(&stage, ANY, "a");
        stage_run(&stage);
        CHECK_OK(lbx_system_stats_read(stage.system, &before));
        for (int message = 0; message < 10; message++)
            stage_tell(a, message);
        stage_run(&stage);
        CHECK_OK(lbx_system_stats_read(stage.system, &after));
        CHECK_INT(cases[i].runs, after.runs - before.runs);
        stage_end(&stage);
    }
}

/* Where handlers ran. */
static struct where {
    _Atomic int count;
    pthread_t thread;
} where[3];

static lbx_status
note_thread(lbx_context *context, void *state, void *message)
{
    struct where *mine = &where[(intptr_t)message];

    (void)context;
    (void)state;
    mine->thread = pthread_self();
    mine->count++;
    return LBX_OK;
}

// Threads start when the first actor comes, and each dispatcher has its own.
STAGE_TEST("A-06", named_dispatchers_have_threads_of_their_own)
{
    static const lbx_behaviour noting = {sizeof(lbx_behaviour), "noting",
                                         .receive = note_thread};
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref refs[3];
    const char *const dispatchers[] = {NULL, "pinned", "pool"};

    stage_prepare(stage,
                  "pinned { type = akka.dispatch.PinnedDispatcherConfigurator }"
                  "\npool { executor = thread-pool-executor\n"
                  "  thread-pool-executor.fixed-pool-size = 1 }");
    stage->options.threads = 1;
    stage_open(stage);
    props.behaviour = &noting;
    for (intptr_t i = 0; i < 3; i++) {
        props.dispatcher = dispatchers[i];
        CHECK_OK(lbx_system_spawn(stage->system, &props, NULL, &refs[i]));
        lbx_tell(refs[i], (void *)i);
    }
    for (int i = 0; i < 3; i++)
        EVENTUALLY(where[i].count == 1);
    CHECK(!pthread_equal(where[0].thread, where[1].thread));
    CHECK(!pthread_equal(where[0].thread, where[2].thread));
    CHECK(!pthread_equal(where[1].thread, where[2].thread));
}

// Actors of several dispatchers talk, and all end: nothing is left behind.
STAGE_TEST("", systems_end_with_all_their_dispatchers)
{
    lbx_ref refs[4];
    const char *const dispatchers[] = {NULL, "a", "b", "a"};

    stage_prepare(stage, "a { type = PinnedDispatcher }\n"
                         "b { fork-join-executor { parallelism-max = 2 } }");
    stage->options.threads = 2;
    stage_open(stage);
    for (int i = 0; i < 4; i++)
        refs[i] = stage_spawn(
            stage, (struct wish){.dispatcher = dispatchers[i]}, NULL);
    for (int i = 0; i < 4; i++)
        lbx_tell(refs[i], lbx_poison_pill());
    CHECK_OK(lbx_system_terminate(stage->system, LBX_FOREVER));
}

TEST(calling_thread_needs_a_system_without_threads)
{
    static const char text[] =
        "c {\n  type = akka.testkit.CallingThreadDispatcherConfigurator\n}";
    struct stage stage;

    stage_begin(&stage, text);
    CHECK_GETS(&stage, DISPATCHER("c"), "a", 6, "multi-consumer");
    stage_end(&stage);

    stage_prepare(&stage, text);
    stage.options.threads = 1;
    stage_open(&stage);
    CHECK_REFUSED(&stage, DISPATCHER("c"), "a", LBX_UNSUPPORTED,
                  "my.conf:2: c.type: the calling thread");
    stage_end(&stage);
}

STAGE_TEST("A-12", executors_are_checked)
{
    stage_begin(stage, "a { executor = odd }\n"
                       "b { fork-join-executor { parallelism-min = 5\n"
                       "  parallelism-max = 4 } }\n"
                       "c { executor = thread-pool-executor\n"
                       "  thread-pool-executor.fixed-pool-size = 0 }\n"
                       "d { executor = thread-pool-executor\n"
                       "  thread-pool-executor.fixed-pool-size = some }\n"
                       "e { fork-join-executor { parallelism-min = 2\n"
                       "  parallelism-factor = 0.5, parallelism-max = 9 } }");
    CHECK_REFUSED(stage, DISPATCHER("a"), "x", LBX_INVALID,
                  "my.conf:1: a.executor: ");
    CHECK_REFUSED(stage, DISPATCHER("b"), "x", LBX_INVALID,
                  "parallelism-min is above parallelism-max");
    CHECK_REFUSED(stage, DISPATCHER("c"), "x", LBX_INVALID,
                  "'off' or 1 to 1024 threads are allowed");
    CHECK_REFUSED(stage, DISPATCHER("d"), "x", LBX_INVALID,
                  "my.conf:7: d.thread-pool-executor.fixed-pool-size: ");
    CHECK_GETS(stage, DISPATCHER("e"), "x", 6, "multi-consumer");
}

/* ---- The stash ---- */

static _Atomic int stashed;

static lbx_status
stash(lbx_context *context, void *state, void *message)
{
    (void)state;
    (void)message;
    if (lbx_context_stash(context) == LBX_OK)
        stashed++;
    return LBX_OK;
}

static int
stash_capacity_of(const char *text, struct wish wish, int64_t own)
{
    static const lbx_behaviour stashing = {sizeof(lbx_behaviour), "stashing",
                                           .receive = stash};
    struct stage stage;
    lbx_props props;
    lbx_ref ref;

    stage_begin(&stage, text);
    props = stage_props(&stage, wish);
    props.behaviour = &stashing;
    props.stash_capacity = own;
    CHECK_OK(lbx_system_spawn(stage.system, &props, "a", &ref));
    stashed = 0;
    for (int i = 0; i < 20; i++)
        stage_tell(ref, i);
    stage_run(&stage);
    stage_end(&stage);
    return stashed;
}

// The mailbox's section, then the dispatcher's, then the default; the props
// before all.
TEST_CITING("A-12", stash_capacity_is_looked_up_in_three_places)
{
    static const char text[] =
        "m { mailbox-type = unbounded, stash-capacity = 3 }\n"
        "plain { mailbox-type = unbounded }\n"
        "d { stash-capacity = 4 }, alias = d\n"
        "zero { stash-capacity = 0 }\n"
        "akka.actor.default-mailbox.stash-capacity = 5";
    const struct wish both = {.mailbox = "m", .dispatcher = "d"};
    const struct wish dispatcher = {.dispatcher = "d"};
    const struct wish alias = {.mailbox = "plain", .dispatcher = "alias"};
    const struct wish zero = {.dispatcher = "zero"};

    CHECK_INT(3, stash_capacity_of(text, both, LBX_DEFAULT));
    CHECK_INT(4, stash_capacity_of(text, dispatcher, LBX_DEFAULT));
    CHECK_INT(4, stash_capacity_of(text, alias, LBX_DEFAULT));
    CHECK_INT(5, stash_capacity_of(text, ANY, LBX_DEFAULT));
    CHECK_INT(20, stash_capacity_of(text, zero, LBX_DEFAULT));
    CHECK_INT(2, stash_capacity_of(text, both, 2));
    CHECK_INT(20, stash_capacity_of(text, both, LBX_UNLIMITED));
    CHECK_INT(20, stash_capacity_of(NULL, ANY, LBX_DEFAULT));
}

/* ---- Props' own options ---- */

STAGE_TEST("A-06", props_options_replace_what_the_settings_say)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.capacity_messages = 6;
    options.overflow = LBX_OVERFLOW_DROP_NEWEST;
    stage_begin(stage, "m { mailbox-type = bounded }\n"
                       "akka.actor.deployment { /d { mailbox = m } }");
    CHECK_GETS(stage, ((struct wish){.mailbox = "m", .options = &options}), "a",
               2, "bounded multi-consumer");
    CHECK(strstr(stage->said, "capacity 6, the rest to dead letters"));
    // They belong to the mailbox of the props; deployment chose another.
    CHECK_GETS(stage, ((struct wish){.mailbox = "m", .options = &options}), "d",
               1, "bounded blocking multi-consumer");
}

/* ---- Explanations ---- */

STAGE_TEST("R-27", explanation_says_every_step)
{
    lbx_props props;
    lbx_ref ref;

    stage_begin(stage, "m { mailbox-type = bounded\n"
                       "  mailbox-push-timeout-time = 250ms }\n"
                       "d { throughput = 3 }\n"
                       "akka.actor.deployment {\n"
                       "  /a { dispatcher = d }\n"
                       "}\n"
                       "akka.actor.mailbox.requirements {\n"
                       "  \"akka.dispatch.BoundedMessageQueueSemantics\" = m\n"
                       "}");
    props = stage_props(stage, NEEDS(LBX_CAPABILITY_BOUND));
    CHECK_OK(stage_foretell(stage, &props, "/a"));
    CHECK_STR("deployment: /a (my.conf:5)\n"
              "dispatcher: d, by deployment\n"
              "1 deployment: names no mailbox\n"
              "2 props: name no mailbox\n"
              "3 dispatcher section: has no mailbox-type\n"
              "4 behaviour's requirement: decides: mailbox m (my.conf:1)\n"
              "type bounded, kind bounded: bounded blocking multi-consumer, "
              "capacity 1000, senders wait 250 ms\n",
              stage->said);
    CHECK_OK(lbx_system_spawn(stage->system, &props, "a", &ref));
    CHECK_STR("dispatcher: d\n"
              "1 deployment: did not decide\n"
              "2 props: did not decide\n"
              "3 dispatcher section: did not decide\n"
              "4 behaviour's requirement: decided: mailbox m\n"
              "type bounded, kind bounded: bounded blocking multi-consumer, "
              "capacity 1000, senders wait 250 ms\n",
              stage_explain(stage, ref));
}

static void
ignore(void *context, const char *line)
{
    (void)context;
    (void)line;
}

STAGE_TEST("R-27", explanation_refuses_nonsense)
{
    lbx_props props;
    lbx_ref ref;

    stage_begin(stage, NULL);
    props = stage_props(stage, ANY);
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_explain(NULL, &props, "/a", ignore, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_explain(stage->system, NULL, "/a", ignore, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_explain(stage->system, &props, "a", ignore, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_explain(stage->system, &props, NULL, ignore, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_explain(stage->system, &props, "/a", NULL, NULL));
    ref = stage_spawn(stage, ANY, "a");
    CHECK_STATUS(LBX_INVALID, lbx_ref_explain(ref, NULL, NULL));
    lbx_ref_stop(ref);
    stage_run(stage);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_ref_explain(ref, ignore, NULL));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_ref_explain(lbx_ref_nobody(), ignore, NULL));
}

// The reference is settings like any other: it loads, and can be built upon.
STAGE_TEST("A-12", reference_can_be_the_first_source)
{
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;
    lbx_settings_source sources[2] = {{.origin = "reference"},
                                      {.origin = "mine"}};
    lbx_fault fault;

    sources[0].text = lbx_system_reference_settings();
    sources[0].length_bytes = strlen(sources[0].text);
    sources[1].text = "m = ${akka.actor.default-mailbox} { mailbox-type = "
                      "bounded }";
    sources[1].length_bytes = strlen(sources[1].text);
    options.fault = &fault;
    stage_prepare(stage, NULL);
    CHECK_OK(lbx_settings_load(sources, 2, &options, &stage->settings));
    stage->options.settings = stage->settings;
    stage_open(stage);
    CHECK_GETS(stage, MAILBOX("m"), "a", 2, "bounded blocking multi-consumer");
}

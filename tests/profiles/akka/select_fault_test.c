/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with settings is said, where it stands, before it matters: each
 * mistake has its own words, and nothing is replaced silently.
 */
#include "stage.h"

#include <string.h>

#include "support/torture.h"

STAGE_TEST("A-30", unknown_mailbox_is_refused)
{
    stage_begin(stage, "akka.actor.deployment {\n"
                       "  /a { mailbox = nowhere }\n"
                       "}\n"
                       "text = some");
    CHECK_REFUSED(stage, ANY, "a", LBX_NOT_FOUND,
                  "my.conf:2: letterbox.actor.deployment.");
    CHECK_REFUSED(stage, ANY, "a", LBX_NOT_FOUND,
                  "mailbox 'nowhere' is not configured");
    CHECK_REFUSED(stage, MAILBOX("text"), "b", LBX_NOT_FOUND,
                  "mailbox 'text' is not configured");
    CHECK_REFUSED(stage, MAILBOX(""), "b", LBX_NOT_FOUND,
                  "mailbox '' is not configured");
}

STAGE_TEST("A-30", unknown_dispatcher_is_refused)
{
    stage_begin(stage, "akka.actor.deployment {\n"
                       "  /a { dispatcher = nowhere }\n"
                       "}\n"
                       "loop = loop2, loop2 = loop");
    CHECK_REFUSED(stage, ANY, "a", LBX_NOT_FOUND, "my.conf:2: ");
    CHECK_REFUSED(stage, DISPATCHER("somewhere"), "b", LBX_NOT_FOUND,
                  "dispatcher 'somewhere' is not configured");
    CHECK_REFUSED(stage, DISPATCHER("loop"), "b", LBX_NOT_FOUND,
                  "dispatcher 'loop' is not configured");
    CHECK_REFUSED(stage, DISPATCHER(""), "b", LBX_NOT_FOUND,
                  "dispatcher '' is not configured");
}

STAGE_TEST("A-30", empty_mailbox_type_is_refused)
{
    stage_begin(stage, "m {\n  mailbox-type = \"\"\n}");
    CHECK_REFUSED(stage, MAILBOX("m"), "a", LBX_INVALID,
                  "my.conf:2: m.mailbox-type: the mailbox-type of m is empty");
}

STAGE_TEST("A-30", wildcard_requirement_is_refused)
{
    stage_begin(stage, "d {\n  mailbox-requirement = \"*\"\n}");
    CHECK_REFUSED(stage, SEMANTICS("*"), "a", LBX_INVALID,
                  "needs_semantics is the name of something, not '*'");
    CHECK_REFUSED(stage, SEMANTICS(""), "a", LBX_INVALID,
                  "needs_semantics is the name of something, not ''");
    CHECK_REFUSED(stage, DISPATCHER("d"), "a", LBX_INVALID,
                  "my.conf:2: d.mailbox-requirement: ");
}

STAGE_TEST("A-07 A-30", requirement_without_a_mapping_is_refused)
{
    stage_begin(stage, NULL);
    CHECK_REFUSED(stage, SEMANTICS("org.example.Odd"), "a", LBX_NOT_FOUND,
                  "step 4 (behaviour's requirement): no mailbox is mapped to "
                  "org.example.Odd, which reporter requires");
}

// Names with dots are one key only in quotes.
TEST_CITING("A-30", requirement_without_quotes_is_refused)
{
    stage_refuses("akka.actor.mailbox.requirements {\n"
                  "  org.example.Odd = bounded\n}",
                  LBX_INVALID, "names with dots need quotes");
    stage_refuses("akka.actor.mailbox.requirements {\n"
                  "  \"org.example.Odd\" = bounded\n}",
                  LBX_NOT_FOUND, "no mailbox type declares org.example.Odd");
}

STAGE_TEST("A-28", capacity_must_be_positive)
{
    stage_begin(stage, "a {\n  mailbox-type = bounded\n"
                       "  mailbox-capacity = -1\n}\n"
                       "b {\n  mailbox-type = bounded-priority\n"
                       "  mailbox-capacity = 0\n}\n"
                       "c {\n  mailbox-type = bounded\n"
                       "  mailbox-capacity = many\n}\n"
                       "d { mailbox-type = unbounded, mailbox-capacity = 0 }");
    CHECK_REFUSED(stage, MAILBOX("a"), "x", LBX_INVALID,
                  "my.conf:3: a.mailbox-capacity: -1 is too small");
    CHECK_REFUSED(stage, MAILBOX("b"), "x", LBX_INVALID,
                  "my.conf:7: b.mailbox-capacity: 0 is too small; at least 1");
    CHECK_REFUSED(stage, MAILBOX("c"), "x", LBX_INVALID,
                  "my.conf:11: c.mailbox-capacity: ");
    CHECK_GETS(stage, MAILBOX("d"), "y", 2, "multi-consumer");
}

TEST_CITING("A-11", unknown_keys_are_refused_where_they_stand)
{
    struct stage stage;

    stage_begin(&stage, "m {\n  mailbox-type = bounded\n"
                        "  mailbox-capasity = 3\n}\n"
                        "d {\n  thruput = 3\n}\n"
                        "e { executor = fork-join-executor\n"
                        "  fork-join-executor { paralelism-min = 3 }\n}\n");
    CHECK_REFUSED(&stage, MAILBOX("m"), "x", LBX_INVALID,
                  "my.conf:3: m.mailbox-capasity: unknown key; did you mean "
                  "mailbox-capacity?");
    CHECK_REFUSED(&stage, DISPATCHER("d"), "x", LBX_INVALID,
                  "my.conf:6: d.thruput: unknown key");
    CHECK_REFUSED(&stage, DISPATCHER("e"), "x", LBX_INVALID,
                  "my.conf:9: e.fork-join-executor.paralelism-min: unknown");
    stage_end(&stage);
    stage_check_refused(&stage, "akka.actor {\n  default-mailbocks {}\n}",
                        LBX_INVALID,
                        "my.conf:2: letterbox.actor.default-mailbocks: "
                        "unknown key");
    stage_check_refused(&stage,
                        "akka.actor.deployment {\n"
                        "  /a {\n  mailboxes = m }\n}",
                        LBX_INVALID, "my.conf:3: ");
    stage_check_refused(&stage, "akka.actor.deployment {\n  a {}\n}",
                        LBX_INVALID,
                        "my.conf:2: letterbox.actor.deployment.a: "
                        "a path begins with '/'");
    stage_check_refused(&stage, "akka.actor.deployment {\n  /a = b\n}",
                        LBX_INVALID, "a deployment is a section");
    stage_check_refused(&stage, "akka.actor.deployment {\n  \"/**/b\" {}\n}",
                        LBX_INVALID, "a path begins with '/'");
}

// What every actor would trip over is found when the system is made.
TEST_CITING("A-30", defaults_are_checked_with_the_system)
{
    stage_refuses("akka.actor.default-mailbox {\n  mailbox-type = round\n}",
                  LBX_NOT_FOUND, "my.conf:2: ");
    stage_refuses("akka.actor.default-mailbox {\n  stash-capacity = lots\n}",
                  LBX_INVALID, "my.conf:2: ");
    stage_refuses("akka.actor.default-dispatcher {\n  throughput = 0\n}",
                  LBX_INVALID, "my.conf:2: ");
    stage_refuses("akka.actor.default-dispatcher {\n  type = Odd\n}",
                  LBX_NOT_FOUND,
                  "my.conf:2: letterbox.actor.default-dispatcher.type: "
                  "there is no dispatcher type 'Odd'");
    stage_refuses(
        "akka.actor.default-dispatcher {\n  mailbox-requirement = org.odd\n}",
        LBX_NOT_FOUND, "no mailbox is mapped to org.odd");
}

// A failed spawn leaves no trace: the name is free, the count unchanged.
STAGE_TEST("A-04 R-26", refused_actor_leaves_no_trace)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    stage_begin(stage, NULL);
    CHECK_REFUSED(
        stage,
        ((struct wish){.mailbox = "unbounded", .needs = LBX_CAPABILITY_BOUND}),
        "a", LBX_UNSUPPORTED,
        "unbounded: it is not bounded, but behaviour reporter "
        "requires akka.dispatch.BoundedMessageQueueSemantics (by "
        "step 2, props)");
    CHECK_OK(lbx_system_stats_read(stage->system, &stats));
    CHECK_INT(0, stats.actors);
    CHECK_GETS(stage, ANY, "a", 6, "multi-consumer");
}

// A fault is for those who ask; without one the status is all.
STAGE_TEST("R-26", fault_may_be_left_out)
{
    lbx_props props;
    lbx_ref ref;

    stage_begin(stage, NULL);
    props = stage_props(stage, MAILBOX("nowhere"));
    props.fault = NULL;
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_system_spawn(stage->system, &props, "a", &ref));
}

/* ---- Masks ---- */

STAGE_TEST("R-26", mask_alone_is_looked_up_and_verified)
{
    stage_begin(stage, NULL);
    CHECK_GETS(stage, NEEDS(LBX_CAPABILITY_BOUND), "a", 4,
               "bounded blocking multi-consumer");
    CHECK_GETS(stage, NEEDS(LBX_CAPABILITY_BOUND | LBX_CAPABILITY_SEND_FRONT),
               "b", 4, "bounded blocking multi-consumer deque");
    CHECK_GETS(stage, NEEDS(LBX_CAPABILITY_PRIORITIZE), "c", 4,
               "multi-consumer priority");
    CHECK_GETS(stage, NEEDS(LBX_CAPABILITY_CONTROL), "d", 4,
               "multi-consumer control-aware");
    CHECK_GETS(stage, NEEDS(LBX_CAPABILITY_MULTI_PRODUCE), "e", 6,
               "multi-consumer");
    // No name stands for just these: the default is tried, and is not enough.
    CHECK_REFUSED(stage,
                  NEEDS(LBX_CAPABILITY_CONTROL | LBX_CAPABILITY_SEND_FRONT),
                  "f", LBX_UNSUPPORTED, "(by step 6, default mailbox)");
}

// A name and a mask: both must hold.
STAGE_TEST("R-26", mask_and_name_are_both_verified)
{
    stage_begin(stage, NULL);
    CHECK_REFUSED(
        stage,
        ((struct wish){.needs = LBX_CAPABILITY_PRIORITIZE,
                       .semantics =
                           "akka.dispatch.UnboundedMessageQueueSemantics"}),
        "a", LBX_UNSUPPORTED, "it has no priorities");
    CHECK_REFUSED(
        stage,
        ((struct wish){.mailbox = "bounded",
                       .semantics =
                           "akka.dispatch.UnboundedMessageQueueSemantics"}),
        "a", LBX_UNSUPPORTED, "bounded: it is bounded, but behaviour");
}

// Step 4's second chance: what the dispatcher requires.
STAGE_TEST("A-06", dispatchers_requirement_helps_when_the_behaviours_fails)
{
    const char *const both =
        "both { mailbox-type = bounded-deque }\n"
        "d { mailbox-requirement = "
        "akka.dispatch.BoundedMessageQueueSemantics }\n"
        "akka.actor.mailbox.requirements {\n"
        "  \"akka.dispatch.BoundedMessageQueueSemantics\" = both\n}";

    stage_begin(stage, both);
    CHECK_GETS(stage,
               ((struct wish){.dispatcher = "d",
                              .semantics = "akka.dispatch."
                                           "DequeBasedMessageQueueSemantics"}),
               "a", 5, "bounded blocking multi-consumer deque");
    // Nothing failed in the end: nothing is said of the first try.
    CHECK_STATUS(LBX_OK, stage->fault.status);
    CHECK_STR("", stage->fault.text);
}

// A user's mapping under Pekko's name goes before the reference's under Akka's.
STAGE_TEST("A-02", users_mapping_beats_the_reference_under_any_name)
{
    stage_begin(stage,
                "mine { mailbox-type = bounded, mailbox-capacity = 5 }\n"
                "pekko.actor.mailbox.requirements {\n"
                "  \"org.apache.pekko.dispatch.BoundedMessageQueueSemantics\""
                " = mine\n}");
    CHECK_GETS(stage, SEMANTICS("akka.dispatch.BoundedMessageQueueSemantics"),
               "a", 4, "bounded blocking multi-consumer");
    CHECK(strstr(stage->said, "mailbox mine"));
}

/* ---- Memory ---- */

static lbx_status
select_with(struct torture *memory, const char *text, int64_t threads)
{
    const lbx_allocator allocator = torture_allocator(memory);
    struct stage stage;
    lbx_props props;
    lbx_ref ref;
    lbx_status status;

    stage_prepare(&stage, text);
    stage.options.allocator = &allocator;
    stage.options.threads = threads;
    status = lbx_system_create(&stage.options, &stage.system);
    if (status == LBX_OK) {
        props = stage_props(&stage, ANY);
        status = lbx_system_spawn(stage.system, &props, "a", &ref);
        if (status == LBX_OK) // the same once more
            status = lbx_system_spawn(stage.system, &props, "b", &ref);
        lbx_system_destroy(stage.system);
    }
    lbx_settings_unref(stage.settings);
    return status;
}

static void
survive_every_failing_allocation(const char *text, int64_t threads)
{
    for (int allowed = 0;; allowed++) {
        struct torture memory = {.allowed = allowed};
        lbx_status status = select_with(&memory, text, threads);

        CHECK_INT(0, memory.live_bytes);
        if (status == LBX_OK)
            return;
        CHECK_STATUS(LBX_NO_MEMORY, status);
    }
}

TEST(selection_survives_every_failing_allocation)
{
    survive_every_failing_allocation(
        "d { mailbox-type = bounded, stash-capacity = 3 }\n"
        "akka.actor.deployment { \"/*\" { dispatcher = d } }",
        0);
}

TEST(teams_survive_every_failing_allocation)
{
    survive_every_failing_allocation(
        "d { type = BalancingDispatcher }\n"
        "akka.actor.deployment { \"/*\" { dispatcher = d } }",
        0);
}

TEST(deployed_pools_survive_every_failing_allocation)
{
    survive_every_failing_allocation("akka.actor.deployment { \"/*\" {\n"
                                     "  router = balancing-pool\n"
                                     "  nr-of-instances = 3 } }",
                                     0);
}

TEST(pinned_threads_survive_every_failing_allocation)
{
    survive_every_failing_allocation(
        "d { type = PinnedDispatcher, shutdown-timeout = 0 }\n"
        "akka.actor.deployment { \"/*\" { dispatcher = d } }",
        1);
}

/* ---- What is allowed, and deserves a word ---- */

static void
hear(void *context, const char *line)
{
    char *heard = context;

    strcat(heard, line);
    strcat(heard, "\n");
}

TEST_CITING("A-26", waiting_senders_are_warned_of_once)
{
    static const char text[] =
        "zero { mailbox-type = bounded, mailbox-push-timeout-time = 0 }\n"
        "waits { mailbox-type = bounded }\n"
        "too { mailbox-type = bounded-deque, mailbox-push-timeout-time = -1 }";
    char heard[1024] = "";
    struct stage stage;
    lbx_props props;

    stage_prepare(&stage, text);
    stage.options.warn = hear;
    stage.options.warn_context = heard;
    stage_open(&stage);
    (void)stage_spawn(&stage, ANY, "a");
    (void)stage_spawn(&stage, MAILBOX("zero"), "b");
    (void)stage_spawn(&stage, MAILBOX("bounded-capacity:3"), "c");
    props = stage_props(&stage, MAILBOX("waits"));
    CHECK_OK(stage_foretell(&stage, &props, "/d")); // nothing is made
    CHECK_STR("", heard);
    (void)stage_spawn(&stage, MAILBOX("waits"), "d");
    (void)stage_spawn(&stage, MAILBOX("waits"), "e");
    (void)stage_spawn(&stage, MAILBOX("too"), "f");
    CHECK_STR("my.conf:2: mailbox waits: senders wait when it is full; with "
              "mailbox-push-timeout-time = 0 what does not fit is a dead "
              "letter at once (said of the first such mailbox only)\n",
              heard);
    stage_end(&stage);
    // Once per system, not per process; for ever is long, too.
    heard[0] = 0;
    stage_prepare(&stage, text);
    stage.options.warn = hear;
    stage.options.warn_context = heard;
    stage_open(&stage);
    (void)stage_spawn(&stage, MAILBOX("too"), "f");
    CHECK(strstr(heard, "my.conf:3: mailbox too: "));
    stage_end(&stage);
}

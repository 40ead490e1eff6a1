/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ActorMailboxSpec, all 33, under its own numbers: who gets
 * which mailbox, from deployment, props, dispatchers and requirements.
 *
 * Akka's words in ours: an actor with RequiresMessageQueue is a behaviour with
 * needs_semantics; one with Stash needs a deque.
 */
#include "stage.h"

static const char conf[] =
    "unbounded-mailbox { mailbox-type = akka.dispatch.UnboundedMailbox }\n"
    "bounded-mailbox {\n"
    "  mailbox-type = akka.dispatch.BoundedMailbox\n"
    "  mailbox-capacity = 1000\n"
    "  mailbox-push-timeout-time = 10s\n"
    "}\n"
    "zero-mailbox = ${bounded-mailbox} { mailbox-push-timeout-time = 0s }\n"
    "bounded-control = ${bounded-mailbox} {\n"
    "  mailbox-type = akka.dispatch.BoundedControlAwareMailbox\n"
    "}\n"
    "unbounded-control {\n"
    "  mailbox-type = akka.dispatch.UnboundedControlAwareMailbox\n"
    "}\n"
    "counted-mailbox = ${bounded-mailbox} {\n"
    "  mailbox-type = org.example.CountedMailbox\n"
    "}\n"
    "on-unbounded = ${unbounded-mailbox}\n"
    "on-bounded = ${bounded-mailbox}\n"
    "requires-bounded = ${bounded-mailbox} {\n"
    "  mailbox-requirement = akka.dispatch.BoundedMessageQueueSemantics\n"
    "}\n"
    "balancing { type = akka.dispatch.BalancingDispatcherConfigurator }\n"
    "balancing-bounded = ${balancing} ${bounded-mailbox}\n"
    "balancing-requiring = ${balancing} {\n"
    "  mailbox-requirement = org.example.Counted\n"
    "}\n"
    "akka.actor.deployment {\n"
    "  /plain {}\n"
    "  /bounded { mailbox = bounded-mailbox }\n"
    "  /zero { mailbox = zero-mailbox }\n"
    "  /bounded-control { mailbox = bounded-control }\n"
    "  /unbounded-control { mailbox = unbounded-control }\n"
    "  /deque { mailbox = akka.actor.mailbox.unbounded-deque-based }\n"
    "  /on-unbounded { dispatcher = on-unbounded }\n"
    "  /on-unbounded-bounded {\n"
    "    dispatcher = on-unbounded, mailbox = bounded-mailbox\n"
    "  }\n"
    "  /on-bounded { dispatcher = on-bounded }\n"
    "  /on-bounded-unbounded {\n"
    "    dispatcher = on-bounded, mailbox = unbounded-mailbox\n"
    "  }\n"
    "  /requires { dispatcher = requires-bounded }\n"
    "  /requires-bounded-deque {\n"
    "    dispatcher = requires-bounded\n"
    "    mailbox = akka.actor.mailbox.bounded-deque-based\n"
    "  }\n"
    "  /requires-deque {\n"
    "    dispatcher = requires-bounded\n"
    "    mailbox = akka.actor.mailbox.unbounded-deque-based\n"
    "  }\n"
    "  /bounded-deque { mailbox = akka.actor.mailbox.bounded-deque-based }\n"
    "}\n"
    "akka.actor.mailbox.requirements {\n"
    "  \"org.example.Counted\" = counted-mailbox\n"
    "}\n";

#define BOUNDED               "bounded blocking multi-consumer"
#define UNBOUNDED             "multi-consumer"
#define DEQUE                 "multi-consumer deque"
#define QUEUE(x)              "akka.dispatch." x "MessageQueueSemantics"
#define BOUNDED_MQ            QUEUE("Bounded")
#define STASH                 QUEUE("DequeBased")
#define ON_REQUIRING          .dispatcher = "requires-bounded"
#define BOUNDED_DEQUE_BASED   "akka.actor.mailbox.bounded-deque-based"
#define UNBOUNDED_DEQUE_BASED "akka.actor.mailbox.unbounded-deque-based"

static const char *const counted_semantics[] = {"org.example.Counted", NULL};

static const lbx_mailbox_type counted = {
    .size_bytes = sizeof(lbx_mailbox_type),
    .name = "org.example.CountedMailbox",
    .kind = LBX_KIND_BOUNDED,
    .semantics = counted_semantics,
};

static void
begin(struct stage *stage)
{
    stage_prepare(stage, conf);
    stage->options.mailbox_types = &counted;
    stage->options.mailbox_type_count = 1;
    stage_open(stage);
}

// One row of the specification: who gets what.
static void
gets(struct wish wish, const char *name, int step, const char *able)
{
    struct stage stage;

    begin(&stage);
    CHECK_GETS(&stage, wish, name, step, able);
    stage_end(&stage);
}

static void
fails(struct wish wish, const char *name, const char *words)
{
    struct stage stage;

    begin(&stage);
    CHECK_REFUSED(&stage, wish, name, LBX_UNSUPPORTED, words);
    stage_end(&stage);
}

#define GETS(number, cited, name, step, able, actor, ...)                      \
    TEST_CITING("ActorMailboxSpec " number " " cited, name)                    \
    {                                                                          \
        gets((struct wish){__VA_ARGS__}, actor, step, able);                   \
    }

#define FAILS(number, cited, name, words, actor, ...)                          \
    TEST_CITING("ActorMailboxSpec " number " " cited, name)                    \
    {                                                                          \
        fails((struct wish){__VA_ARGS__}, actor, words);                       \
    }

GETS("1", "A-08", default_mailbox_is_unbounded, 6, UNBOUNDED, "plain",
     .mailbox = NULL)

GETS("2", "A-06", deque_when_only_props_say_so, 2, DEQUE, "plain",
     .mailbox = UNBOUNDED_DEQUE_BASED)

GETS("3", "A-02", bounded_when_only_the_behaviour_needs_it, 4, BOUNDED, "plain",
     .semantics = BOUNDED_MQ)

// However the behaviour was made: Akka's four ways are, here, with and without
// an argument, by name and by mask.
STAGE_TEST("ActorMailboxSpec 4 A-02", deque_when_only_stash_needs_it)
{
    int argument = 17;

    begin(stage);
    CHECK_GETS(stage, ((struct wish){.semantics = STASH}), "s1", 4, DEQUE);
    CHECK_GETS(stage,
               ((struct wish){.semantics = STASH, .argument = &argument}), "s2",
               4, DEQUE);
    CHECK_GETS(stage, NEEDS(LBX_CAPABILITY_SEND_FRONT), "s3", 4, DEQUE);
    CHECK_GETS(stage,
               ((struct wish){.needs = LBX_CAPABILITY_SEND_FRONT,
                              .argument = &argument}),
               "s4", 4, DEQUE);
}

GETS("5", "A-06", bounded_by_deployment, 1, BOUNDED, "bounded", .mailbox = NULL)
GETS("6", "A-06", deque_by_deployment, 1, DEQUE, "deque", .mailbox = NULL)
GETS("7", "A-06", bounded_control_aware_by_deployment, 1,
     BOUNDED " control-aware", "bounded-control", .mailbox = NULL)
GETS("8", "A-06", unbounded_control_aware_by_deployment, 1,
     UNBOUNDED " control-aware", "unbounded-control", .mailbox = NULL)
GETS("9", "A-02", bounded_control_aware_by_requirement, 4,
     BOUNDED " control-aware", "plain",
     .semantics = QUEUE("BoundedControlAware"))
GETS("10", "A-02", unbounded_control_aware_by_requirement, 4,
     UNBOUNDED " control-aware", "plain",
     .semantics = QUEUE("UnboundedControlAware"))

FAILS("11", "A-04", deployed_deque_that_contradicts_the_behaviour_fails,
      "it is not bounded, but behaviour reporter requires " BOUNDED_MQ
      " (by step 1, deployment)",
      "deque", .semantics = BOUNDED_MQ)

GETS("12", "A-06", unbounded_by_dispatcher, 3, UNBOUNDED, "on-unbounded",
     .mailbox = NULL)

FAILS("13", "A-04", dispatcher_that_contradicts_the_behaviour_fails,
      BOUNDED_MQ " (by step 3, dispatcher section)", "on-unbounded",
      .semantics = BOUNDED_MQ)

GETS("14", "A-03", deployed_bounded_beats_unbounded_dispatcher, 1, BOUNDED,
     "on-unbounded-bounded", .mailbox = NULL)
GETS("15", "A-06", bounded_by_dispatcher, 3, BOUNDED, "on-bounded",
     .mailbox = NULL)

// 16: the push timeout is read: 0 does not block.
GETS("16", "A-25", zero_push_timeout_never_blocks, 1, "bounded multi-consumer",
     "zero", .mailbox = NULL)

GETS("17", "A-03", deployed_unbounded_beats_bounded_dispatcher, 1, UNBOUNDED,
     "on-bounded-unbounded", .mailbox = NULL)
GETS("18", "A-06", deployment_beats_props, 1, UNBOUNDED, "on-bounded-unbounded",
     .mailbox = UNBOUNDED_DEQUE_BASED)

GETS("19", "A-05", bounded_deque_when_configured_and_required, 1,
     BOUNDED " deque", "requires-bounded-deque", .semantics = STASH)
FAILS("20", "A-05", unbounded_deque_when_bounded_is_required_fails,
      "it is not bounded, but dispatcher requires-bounded requires ",
      "requires-deque", .semantics = STASH)
FAILS("21", "A-05", no_deque_configured_though_required_fails,
      "it is no deque, but behaviour reporter requires ", "requires",
      .semantics = STASH)

GETS("22", "A-05", bounded_deque_by_props, 2, BOUNDED " deque", "free",
     ON_REQUIRING, .mailbox = BOUNDED_DEQUE_BASED, .semantics = STASH)
FAILS("23", "A-05", unbounded_deque_by_props_fails,
      BOUNDED_MQ " (by step 2, props)", "free", ON_REQUIRING,
      .mailbox = UNBOUNDED_DEQUE_BASED, .semantics = STASH)
FAILS("24", "A-05", no_deque_in_props_though_required_fails, "it is no deque",
      "free", ON_REQUIRING, .semantics = STASH)

GETS("25", "A-05", bounded_deque_with_dispatcher_by_props, 1, BOUNDED " deque",
     "bounded-deque", ON_REQUIRING, .semantics = STASH)
FAILS("26", "A-05", unbounded_deque_with_dispatcher_by_props_fails,
      "it is not bounded, but dispatcher requires-bounded requires ", "deque",
      ON_REQUIRING, .semantics = STASH)
FAILS("27", "A-05", no_deque_with_dispatcher_by_props_fails, "it is no deque",
      "plain", ON_REQUIRING, .semantics = STASH)

GETS("28", "A-05", bounded_deque_with_mailbox_by_props, 2, BOUNDED " deque",
     "requires", .mailbox = BOUNDED_DEQUE_BASED, .semantics = STASH)
FAILS("29", "A-05", unbounded_deque_with_mailbox_by_props_fails,
      "it is not bounded, but dispatcher requires-bounded requires ",
      "requires", .mailbox = UNBOUNDED_DEQUE_BASED, .semantics = STASH)
FAILS("30", "A-05", no_deque_with_dispatcher_deployed_fails, "it is no deque",
      "requires", .semantics = STASH)

GETS("31", "A-05 R-37", balancing_dispatcher_gets_unbounded, 5, UNBOUNDED,
     "free", .dispatcher = "balancing")
GETS("32", "A-05 R-37", balancing_dispatcher_with_its_mailbox_gets_it, 3,
     BOUNDED, "free", .dispatcher = "balancing-bounded")
GETS("33", "A-05 A-17 R-37", balancing_dispatcher_with_its_requirement_gets_it,
     5, BOUNDED, "free", .dispatcher = "balancing-requiring")

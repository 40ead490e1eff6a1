/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every configuration of the manual's chapter on mailboxes, as it is printed
 * there, in a system that is used: what the manual promises happens.
 */
#include "stage.h"

#include <string.h>

#define BOUNDED   "bounded blocking multi-consumer"
#define UNBOUNDED "multi-consumer"

// "Every time you create an actor of that class it gets a bounded mailbox."
STAGE_TEST("A-02 A-11", manual_bounded_requirement_gives_a_bounded_mailbox)
{
    lbx_ref ref;

    stage_prepare_file(stage, "akka/01-bounded-requirement.conf");
    stage_open(stage);
    ref = CHECK_GETS(stage,
                     SEMANTICS("akka.dispatch.BoundedMessageQueueSemantics"),
                     "a", 4, BOUNDED);
    CHECK(strstr(stage_explain(stage, ref),
                 "capacity 1000, senders wait 10000 ms"));
    CHECK(strstr(stage->said, "mailbox bounded-mailbox"));
    CHECK_GETS(stage, ANY, "b", 6, UNBOUNDED);
}

// The same mapping serves a behaviour that speaks Pekko.
STAGE_TEST("A-02", manual_bounded_requirement_knows_pekko_names)
{
    stage_prepare_file(stage, "akka/01-bounded-requirement.conf");
    stage_open(stage);
    CHECK_GETS(
        stage,
        SEMANTICS("org.apache.pekko.dispatch.BoundedMessageQueueSemantics"),
        "a", 4, BOUNDED);
    CHECK(strstr(stage->said, "mailbox bounded-mailbox"));
}

static const char *const interface[] = {"org.example.MyInterface", NULL};

// "If the mailbox does not meet the requirement, creation fails."
STAGE_TEST("A-05 A-30", manual_dispatcher_requirement_is_enforced)
{
    static const lbx_mailbox_type type = {
        .size_bytes = sizeof(lbx_mailbox_type),
        .name = "org.example.MyMailbox",
        .kind = LBX_KIND_UNBOUNDED,
        .semantics = interface,
    };

    stage_prepare_file(stage, "akka/02-dispatcher-requirement.conf");
    stage->options.mailbox_types = &type;
    stage->options.mailbox_type_count = 1;
    stage_open(stage);
    CHECK_REFUSED(stage, DISPATCHER("my-dispatcher"), "a", LBX_NOT_FOUND,
                  "no mailbox is mapped to org.example.MyInterface, which "
                  "my-dispatcher requires");
    CHECK_REFUSED(
        stage,
        ((struct wish){.dispatcher = "my-dispatcher", .mailbox = "unbounded"}),
        "a", LBX_UNSUPPORTED,
        "unbounded: its type does not declare that, but dispatcher "
        "my-dispatcher requires org.example.MyInterface");
    CHECK_GETS(stage,
               ((struct wish){.dispatcher = "my-dispatcher",
                              .mailbox = "org.example.MyMailbox"}),
               "a", 2, UNBOUNDED);
}

// "More efficient, but cannot be used with a BalancingDispatcher."
TEST_CITING("A-08", manual_single_consumer_default_is_used_but_not_balanced)
{
    struct stage stage;

    stage_prepare_file(&stage, "akka/03-default-mailbox.conf");
    stage_open(&stage);
    CHECK_GETS(&stage, ANY, "a", 6, "single-consumer");
    CHECK(strstr(stage.said, "kind unbounded-single-consumer, in the cell"));
    stage_end(&stage);

    stage_begin(&stage, "b { type = BalancingDispatcher, mailbox-type = "
                        "akka.dispatch.SingleConsumerOnlyUnboundedMailbox }");
    CHECK_REFUSED(&stage, DISPATCHER("b"), "a", LBX_UNSUPPORTED,
                  "it is for one consumer only, but dispatcher b requires "
                  "akka.dispatch.MultipleConsumerSemantics");
    stage_end(&stage);
}

/* The manual's MyPrioMailbox: 1 is 'highpriority, 3 is 'lowpriority, the rest
 * lies between; the pill goes last. */
static bool
rank(const void *message, void *context, int32_t *ret)
{
    (void)context;
    if (message == lbx_poison_pill())
        *ret = 3;
    else if ((intptr_t)message == 1)
        *ret = 0;
    else
        *ret = (intptr_t)message == 3 ? 2 : 1;
    return true;
}

static lbx_status
configure_priority(void *context, const lbx_settings *section,
                   lbx_mailbox_options *options, lbx_fault *fault)
{
    (void)context;
    (void)section;
    (void)fault;
    options->priority = rank;
    return LBX_OK;
}

static const lbx_mailbox_type my_prio = {
    .size_bytes = sizeof(lbx_mailbox_type),
    .name = "docs.dispatcher.DispatcherDocSpec$MyPrioMailbox",
    .kind = LBX_KIND_UNBOUNDED_PRIORITY,
    .configure = configure_priority,
};

static void
begin_priority(struct stage *stage, const char *fixture)
{
    stage_prepare_file(stage, fixture);
    stage->options.mailbox_types = &my_prio;
    stage->options.mailbox_type_count = 1;
    stage_open(stage);
}

// The manual's Logger: its messages, and the order that it logs.
static void
tell_as_the_manual(struct stage *stage, lbx_ref logger)
{
    const int numbers[] = {3, 3, 1, 11, 12, 13, 1};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        stage_tell(logger, numbers[i]);
    lbx_tell(logger, lbx_poison_pill());
    CHECK_RECEIVED(stage, 1, 1, 11, 12, 13, 3, 3);
    CHECK(!lbx_ref_is_alive(logger));
}

STAGE_TEST("A-13 A-14", manual_prio_dispatcher_sorts_as_printed)
{
    begin_priority(stage, "akka/04-prio-dispatcher.conf");
    tell_as_the_manual(stage,
                       CHECK_GETS(stage, DISPATCHER("prio-dispatcher"),
                                  "logger", 3, "multi-consumer priority"));
}

STAGE_TEST("A-13 A-14", manual_prio_mailbox_by_deployment_sorts_as_printed)
{
    begin_priority(stage, "akka/05-prio-mailbox-deployment.conf");
    tell_as_the_manual(stage, CHECK_GETS(stage, ANY, "priomailboxactor", 1,
                                         "multi-consumer priority"));
}

STAGE_TEST("A-13 A-14", manual_prio_mailbox_by_props_sorts_as_printed)
{
    begin_priority(stage, "akka/05-prio-mailbox-deployment.conf");
    tell_as_the_manual(stage,
                       CHECK_GETS(stage, MAILBOX("prio-mailbox"), "another", 2,
                                  "multi-consumer priority"));
}

// Without its type the same configuration is refused, not ignored.
STAGE_TEST("A-30", manual_prio_mailbox_without_its_type_is_refused)
{
    stage_prepare_file(stage, "akka/05-prio-mailbox-deployment.conf");
    stage_open(stage);
    CHECK_REFUSED(stage, ANY, "priomailboxactor", LBX_NOT_FOUND,
                  "05-prio-mailbox-deployment.conf:2: ");
    CHECK_REFUSED(stage, ANY, "priomailboxactor", LBX_NOT_FOUND,
                  "there is no mailbox type "
                  "'docs.dispatcher.DispatcherDocSpec$MyPrioMailbox'");
}

static const char *const my_semantics[] = {
    "docs.dispatcher.MyUnboundedJMessageQueueSemantics", NULL};

static const lbx_mailbox_type my_unbounded = {
    .size_bytes = sizeof(lbx_mailbox_type),
    .name = "docs.dispatcher.MyUnboundedJMailbox",
    .kind = LBX_KIND_UNBOUNDED,
    .semantics = my_semantics,
};

// As the dispatcher's requirement, and as the behaviour's.
STAGE_TEST("A-17", manual_custom_dispatcher_finds_the_custom_mailbox)
{
    stage_prepare_file(stage, "akka/06-custom-dispatcher.conf");
    stage->options.mailbox_types = &my_unbounded;
    stage->options.mailbox_type_count = 1;
    stage_open(stage);
    CHECK_GETS(stage, DISPATCHER("custom-dispatcher"), "a", 5, UNBOUNDED);
    CHECK(strstr(stage->said, "mailbox custom-dispatcher-mailbox"));
    CHECK_GETS(stage, ((struct wish){.semantics = my_semantics[0]}), "b", 4,
               UNBOUNDED);
}

// "Requirement type not loadable" is found when the system is made.
TEST_CITING("A-30", manual_custom_requirement_that_no_type_declares_is_refused)
{
    struct stage stage;

    stage_prepare_file(&stage, "akka/06-custom-dispatcher.conf");
    stage_check_refused(&stage, NULL, LBX_NOT_FOUND,
                        "no mailbox type declares docs.dispatcher."
                        "MyUnboundedJMessageQueueSemantics");
}

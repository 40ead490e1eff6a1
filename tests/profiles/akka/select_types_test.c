/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of mailboxes: Akka's names for the built-in ones, one's own, and those
 * in shared objects. CustomMailboxSpec and the typed selectors are
 * here.
 */
#include "stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define BOUNDED_NOW "bounded multi-consumer"
#define BOUNDED     "bounded blocking multi-consumer"
#define UNBOUNDED   "multi-consumer"

// Each class, under Akka's, Pekko's old and Pekko's new name.
static const struct row {
    const char *name;
    const char *able;
} classes[] = {
    {"UnboundedMailbox", UNBOUNDED},
    {"SingleConsumerOnlyUnboundedMailbox", "single-consumer"},
    {"BoundedMailbox", BOUNDED},
    {"NonBlockingBoundedMailbox", BOUNDED_NOW},
    {"UnboundedPriorityMailbox", UNBOUNDED " priority"},
    {"BoundedPriorityMailbox", BOUNDED " priority"},
    {"UnboundedStablePriorityMailbox", UNBOUNDED " priority"},
    {"BoundedStablePriorityMailbox", BOUNDED " priority"},
    {"UnboundedControlAwareMailbox", UNBOUNDED " control-aware"},
    {"BoundedControlAwareMailbox", BOUNDED " control-aware"},
    {"UnboundedDequeBasedMailbox", UNBOUNDED " deque"},
    {"BoundedDequeBasedMailbox", BOUNDED " deque"},
};

static void
knows_classes_of(const char *package)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        struct stage stage;
        char text[200];

        snprintf(text, sizeof(text), "m { mailbox-type = \"%s%s\" }", package,
                 classes[i].name);
        stage_begin(&stage, text);
        CHECK_GETS(&stage, MAILBOX("m"), "a", 2, classes[i].able);
        stage_end(&stage);
    }
}

TEST_CITING("A-10", akka_class_names_are_types)
{
    knows_classes_of("akka.dispatch.");
}

TEST_CITING("A-10", pekko_class_names_are_types)
{
    knows_classes_of("org.apache.pekko.dispatch.");
    knows_classes_of("pekko.dispatch.");
}

// The manual's misprint is not a name.
STAGE_TEST("A-10", misprinted_class_name_is_refused)
{
    stage_begin(stage, "m { mailbox-type = kka.dispatch.BoundedPriorityMailbox"
                       " }");
    CHECK_REFUSED(stage, MAILBOX("m"), "a", LBX_NOT_FOUND,
                  "my.conf:1: m.mailbox-type: there is no mailbox type "
                  "'kka.dispatch.BoundedPriorityMailbox'");
}

// Kinds are types under their own names, with the default mailbox's numbers.
STAGE_TEST("A-09", kinds_are_types_and_ids)
{
    lbx_ref ref;

    stage_begin(stage, "akka.actor.default-mailbox { mailbox-capacity = 7\n"
                       "mailbox-push-timeout-time = 20ms }");
    ref = CHECK_GETS(stage, MAILBOX("bounded-deque"), "a", 2, BOUNDED " deque");
    CHECK(strstr(stage_explain(stage, ref), "capacity 7, senders wait 20 ms"));
    CHECK_GETS(stage, MAILBOX("unbounded"), "b", 2, UNBOUNDED);
    CHECK(strstr(stage->said, "in the cell"));
}

// What is only an id in Akka's source: capacity N, never waits.
STAGE_TEST("A-27", bounded_capacity_id_makes_a_bounded_mailbox)
{
    static const char *const wrong[] = {
        "bounded-capacity:", "bounded-capacity:0", "bounded-capacity:2x",
        "bounded-capacity:9999999999999"};
    lbx_ref ref;

    stage_begin(stage, NULL);
    ref = stage_spawn(stage, MAILBOX("bounded-capacity:2"), "a");
    CHECK(strstr(stage_explain(stage, ref),
                 "bounded multi-consumer, capacity 2, the rest to dead"));
    for (int i = 1; i <= 5; i++)
        stage_tell(ref, i);
    CHECK_INT(3, stage->dead);
    CHECK(lbx_ref_equal(ref, stage->dead_recipient));
    CHECK_RECEIVED(stage, 1, 2);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK_REFUSED(stage, MAILBOX(wrong[i]), "b", LBX_INVALID,
                      "the capacity must be a whole number");
}

/* ---- The push timeout ---- */

STAGE_TEST("A-25 A-12", push_timeout_decides_what_a_full_mailbox_does)
{
    static const struct {
        const char *mailbox;
        const char *words;
    } rows[] = {
        {"now", "capacity 1000, the rest to dead letters"},
        {"soon", "capacity 1000, senders wait 3000 ms"},
        {"ever", "capacity 1000, senders wait for ever"},
    };

    stage_begin(stage, "now { mailbox-type = bounded, "
                       "mailbox-push-timeout-time = 0 }\n"
                       "soon { mailbox-type = bounded, "
                       "mailbox-push-timeout-time = 3s }\n"
                       "ever { mailbox-type = bounded, "
                       "mailbox-push-timeout-time = -1s }\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lbx_ref ref = stage_spawn(stage, MAILBOX(rows[i].mailbox), NULL);

        CHECK(strstr(stage_explain(stage, ref), rows[i].words));
    }
}

/* ---- Typed selectors ---- */

// 1: the typed default is the single-consumer mailbox, unbounded.
STAGE_TEST("Typed selectors 1 A-27", typed_default_is_single_consumer)
{
    stage_begin(stage, NULL);
    CHECK_GETS(stage, MAILBOX("akka.actor.typed.default-mailbox"), "a", 2,
               "single-consumer");
    CHECK(strstr(stage->said, "in the cell"));
}

// 2: bounded(3).
STAGE_TEST("Typed selectors 2 A-27", typed_bounded_selector_is_bounded)
{
    stage_begin(stage, NULL);
    CHECK_GETS(stage, MAILBOX("bounded-capacity:3"), "a", 2, BOUNDED_NOW);
    CHECK(strstr(stage->said, "capacity 3,"));
}

// 3: bounded(2): one being handled, two waiting, the next is a dead letter.
static struct gate {
    _Atomic bool reached;
    _Atomic bool is_open;
    _Atomic int handled;
} gate;

static lbx_status
block(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    gate.reached = true;
    EVENTUALLY(gate.is_open);
    gate.handled++;
    return LBX_OK;
}

STAGE_TEST("Typed selectors 3 A-25", typed_bounded_selector_sheds_the_rest)
{
    static const lbx_behaviour blocked = {sizeof(lbx_behaviour), "blocked",
                                          .receive = block};
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref ref;

    stage_prepare(stage, NULL);
    stage->options.threads = 1;
    stage_open(stage);
    props.behaviour = &blocked;
    props.mailbox = "bounded-capacity:2";
    CHECK_OK(lbx_system_spawn(stage->system, &props, "a", &ref));
    stage_tell(ref, 1);
    EVENTUALLY(gate.reached);
    stage_tell(ref, 2);
    stage_tell(ref, 3);
    CHECK_INT(0, stage->dead);
    stage_tell(ref, 4);
    CHECK_INT(1, stage->dead);
    gate.is_open = true;
    EVENTUALLY(gate.handled == 3);
}

// 4: from config, capacity 4.
STAGE_TEST("Typed selectors 4", typed_selector_from_settings)
{
    stage_begin(stage, "specific { mailbox-capacity = 4, mailbox-type = "
                       "akka.dispatch.NonBlockingBoundedMailbox }");
    CHECK_GETS(stage, MAILBOX("specific"), "a", 2, BOUNDED_NOW);
    CHECK(strstr(stage->said, "capacity 4,"));
}

// 5: a mailbox that is set only in the dispatcher section is ignored.
STAGE_TEST("Typed selectors 5", typed_actors_ignore_the_dispatchers_mailbox)
{
    stage_begin(stage, "d { mailbox-type = bounded }");
    CHECK_GETS(stage,
               ((struct wish){.mailbox = "akka.actor.typed.default-mailbox",
                              .dispatcher = "d"}),
               "a", 2, "single-consumer");
}

/* ---- One's own ---- */

/* A storage that remembers for whom it was made: newest first. */
struct pile {
    lbx_envelope envelopes[16];
    unsigned count;
};

static struct pile pile;
static void *pile_owner;
static unsigned piles;

static lbx_status
pile_create(void *context, const lbx_mailbox_options *options, void **ret)
{
    (void)context;
    pile_owner = options->owner;
    piles++;
    *ret = &pile;
    return LBX_OK;
}

static void
pile_destroy(void *storage)
{
    (void)storage;
}

static lbx_status
pile_push(void *storage, const lbx_envelope *envelope)
{
    struct pile *p = storage;

    p->envelopes[p->count++] = *envelope;
    return LBX_OK;
}

static bool
pile_pop(void *storage, lbx_envelope *ret)
{
    struct pile *p = storage;

    if (p->count == 0)
        return false;
    *ret = p->envelopes[--p->count];
    return true;
}

static const lbx_kind_ops pile_ops = {
    .size_bytes = sizeof(lbx_kind_ops),
    .create = pile_create,
    .destroy = pile_destroy,
    .push = pile_push,
    .pop = pile_pop,
};

static const lbx_mailbox_type my_mailbox = {
    .size_bytes = sizeof(lbx_mailbox_type),
    .name = "org.example.MyMailbox",
    .storage = &pile_ops,
};

// CustomMailboxSpec: the custom type is used, and receives its owner.
STAGE_TEST("CustomMailboxSpec A-15 A-16", custom_type_receives_its_owner)
{
    lbx_ref ref;

    stage_prepare(stage, "d { mailbox-type = org.example.MyMailbox }\n"
                         "akka.actor.deployment { /p { mailbox = d } }");
    stage->options.mailbox_types = &my_mailbox;
    stage->options.mailbox_type_count = 1;
    stage_open(stage);
    ref = CHECK_GETS(stage, DISPATCHER("d"), "a", 3, UNBOUNDED);
    CHECK_INT(1, piles);
    CHECK(lbx_ref_equal(ref, lbx_ref_of_sender(pile_owner)));
    stage_tell(ref, 1);
    stage_tell(ref, 2);
    CHECK_RECEIVED(stage, 2, 1);
    ref = CHECK_GETS(stage, ANY, "p", 1, UNBOUNDED);
    CHECK(lbx_ref_equal(ref, lbx_ref_of_sender(pile_owner)));
}

// Left in a custom mailbox, messages become its owner's dead letters.
STAGE_TEST("A-15", custom_type_leaves_its_rest_to_dead_letters)
{
    lbx_ref ref;

    stage_prepare(stage, NULL);
    stage->options.mailbox_types = &my_mailbox;
    stage->options.mailbox_type_count = 1;
    stage_open(stage);
    ref = stage_spawn(stage, MAILBOX("org.example.MyMailbox"), "a");
    stage_tell(ref, 1);
    stage_tell(ref, 2);
    lbx_ref_stop(ref);
    stage_run(stage);
    CHECK_INT(2, stage->dead);
    CHECK(lbx_ref_equal(ref, stage->dead_recipient));
}

/* A type that writes down what it was given. */
static struct log {
    _Atomic int configured;
    _Atomic int released;
    char id[100];
    char type[100];
    int64_t urgency;
    int64_t capacity;
    int64_t stash;
} log_;

static lbx_status
configure(void *context, const lbx_settings *section,
          lbx_mailbox_options *options, lbx_fault *fault)
{
    struct log *log = context;
    const char *id = NULL, *type = NULL;
    lbx_status status;

    CHECK(fault);
    CHECK_OK(lbx_settings_read_string(section, "id", &id, fault));
    CHECK_OK(lbx_settings_read_string(section, "mailbox-type", &type, fault));
    snprintf(log->id, sizeof(log->id), "%s", id);
    snprintf(log->type, sizeof(log->type), "%s", type);
    CHECK_OK(lbx_settings_read_integer(section, "mailbox-capacity",
                                       &log->capacity, fault));
    CHECK_OK(lbx_settings_read_integer(section, "stash-capacity", &log->stash,
                                       fault));
    status = lbx_settings_read_integer_or(section, "urgency", 0, &log->urgency,
                                          fault);
    if (status != LBX_OK)
        return status;
    if (log->urgency > 9)
        return lbx_settings_write_fault(lbx_settings_at(section, "urgency"),
                                        "calm down", fault);
    if (log->urgency == 8)
        return LBX_REFUSED;
    options->capacity_messages = 3;
    log->configured++;
    return LBX_OK;
}

static void
release(void *context, const lbx_mailbox_options *options)
{
    struct log *log = context;

    CHECK_INT(3, options->capacity_messages);
    log->released++;
}

static const lbx_settings_rule urgent_rules[] = {
    {.key = "urgency", .type = LBX_SETTINGS_TYPE_INTEGER},
};

static const lbx_mailbox_type urgent = {
    .size_bytes = sizeof(lbx_mailbox_type),
    .name = "org.example.Urgent",
    .kind = LBX_KIND_BOUNDED,
    .rules = urgent_rules,
    .rule_count = 1,
    .configure = configure,
    .release = release,
    .context = &log_,
};

static void
begin_urgent(struct stage *stage, const char *text)
{
    stage_prepare(stage, text);
    stage->options.mailbox_types = &urgent;
    stage->options.mailbox_type_count = 1;
    stage_open(stage);
}

// The section with its id, and the default mailbox's below it; once for each
// id, however the id is spelt.
TEST_CITING("A-09", own_type_is_configured_once_per_id_from_its_section)
{
    struct stage stage;

    begin_urgent(&stage, "akka.my.box { mailbox-type = org.example.Urgent\n"
                         "  urgency = 4, id = something-else }\n"
                         "other { mailbox-type = org.example.Urgent }\n"
                         "akka.actor.default-mailbox.mailbox-capacity = 77");
    CHECK_GETS(&stage, MAILBOX("akka.my.box"), "a", 2, BOUNDED);
    CHECK(strstr(stage.said, "capacity 3,"));
    CHECK_STR("letterbox.my.box", log_.id);
    CHECK_STR("org.example.Urgent", log_.type);
    CHECK_INT(4, log_.urgency);
    CHECK_INT(77, log_.capacity);
    CHECK_INT(-1, log_.stash);
    CHECK_GETS(&stage, MAILBOX("letterbox.my.box"), "b", 2, BOUNDED);
    CHECK_INT(1, log_.configured);
    CHECK_GETS(&stage, MAILBOX("other"), "c", 2, BOUNDED);
    CHECK_INT(2, log_.configured);
    CHECK_INT(0, log_.released);
    stage_end(&stage);
    CHECK_INT(2, log_.released);
}

TEST_CITING("A-30", own_type_can_refuse_its_section)
{
    struct stage stage;

    begin_urgent(&stage, "a { mailbox-type = org.example.Urgent\n"
                         "  urgency = 10 }\n"
                         "b { mailbox-type = org.example.Urgent\n"
                         "  urgency = 8 }\n"
                         "c { mailbox-type = org.example.Urgent\n"
                         "  urgencies = 1 }\n"
                         "d { mailbox-type = org.example.Urgent\n"
                         "  urgency = much }\n"
                         "e { mailbox-type = bounded, urgency = 1 }");
    CHECK_REFUSED(&stage, MAILBOX("a"), "x", LBX_INVALID,
                  "mailbox a: my.conf:2: a.urgency: calm down");
    CHECK_REFUSED(&stage, MAILBOX("b"), "x", LBX_REFUSED,
                  "my.conf:3: b: mailbox type org.example.Urgent does not take "
                  "this");
    CHECK_REFUSED(&stage, MAILBOX("c"), "x", LBX_INVALID,
                  "my.conf:6: c.urgencies: unknown key");
    CHECK_REFUSED(&stage, MAILBOX("d"), "x", LBX_INVALID,
                  "my.conf:8: d.urgency: ");
    CHECK_REFUSED(&stage, MAILBOX("e"), "x", LBX_INVALID,
                  "my.conf:9: e.urgency: unknown key");
    CHECK_INT(0, log_.configured);
    stage_end(&stage);
    CHECK_INT(0, log_.released);
}

// Its keys are allowed in a dispatcher's section that names it.
STAGE_TEST("A-09 A-14", own_type_has_its_keys_in_a_dispatchers_section)
{
    begin_urgent(stage, "d { mailbox-type = org.example.Urgent, urgency = 2\n"
                        "  throughput = 9 }");
    CHECK_GETS(stage, DISPATCHER("d"), "a", 3, BOUNDED);
    CHECK_INT(2, log_.urgency);
}

/* ---- Once, in many threads ---- */

enum {
    THREADS = 4,
    SPAWNS = 50
};

static struct stage *crowd;

static void *
spawn_many(void *argument)
{
    lbx_props props = *(const lbx_props *)argument;
    lbx_fault fault;
    lbx_ref ref;

    props.fault = &fault;
    for (int i = 0; i < SPAWNS; i++)
        CHECK_OK(lbx_system_spawn(crowd->system, &props, NULL, &ref));
    return NULL;
}

TEST_CITING("A-09", own_type_is_configured_once_in_many_threads)
{
    struct stage stage;
    lbx_props props;
    pthread_t threads[THREADS];
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    stage_prepare(&stage, "m { mailbox-type = org.example.Urgent }\n"
                          "d { type = PinnedDispatcher }");
    stage.options.mailbox_types = &urgent;
    stage.options.mailbox_type_count = 1;
    stage.options.threads = 2;
    stage_open(&stage);
    props =
        stage_props(&stage, (struct wish){.mailbox = "m", .dispatcher = "d"});
    crowd = &stage;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, spawn_many, &props) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_INT(1, log_.configured);
    CHECK_OK(lbx_system_stats_read(stage.system, &stats));
    CHECK_INT(THREADS * SPAWNS, stats.actors);
    stage_end(&stage);
    CHECK_INT(1, log_.released);
}

/* ---- Registration ---- */

static void
refuse_type(lbx_mailbox_type type, lbx_status status, const char *words)
{
    struct stage stage;

    stage_prepare(&stage, NULL);
    stage.options.mailbox_types = &type;
    stage.options.mailbox_type_count = 1;
    stage_check_refused(&stage, NULL, status, words);
}

TEST_CITING("A-16 A-30", types_that_cannot_be_used_are_refused)
{
    const lbx_kind_ops hollow = {.size_bytes = sizeof(lbx_kind_ops)};
    lbx_mailbox_type type = urgent;

    type.name = "akka.dispatch.BoundedMailbox";
    refuse_type(type, LBX_EXISTS, "there is one of that name already");
    type.name = "unbounded-deque";
    refuse_type(type, LBX_EXISTS, "there is one of that name already");
    type.name = "";
    refuse_type(type, LBX_INVALID, "has no name");
    type = urgent;
    type.size_bytes = 9;
    refuse_type(type, LBX_INVALID, "LBX_MAILBOX_TYPE_INIT");
    type = urgent;
    type.kind = "round";
    refuse_type(type, LBX_NOT_FOUND, "is of kind round, which there is not");
    type.kind = NULL;
    refuse_type(type, LBX_INVALID, "must have a kind or a storage");
    type.storage = &hollow;
    refuse_type(type, LBX_INVALID, "its storage is incomplete");
}

/* ---- Shared objects ---- */

// The plug-in's mailbox: odd numbers first.
STAGE_TEST("A-16", library_types_are_loaded_from_the_settings)
{
    lbx_ref ref;

    stage_begin(stage, "letterbox.actor.mailbox-libraries = "
                       "[\"" TEST_PLUGIN "\"]\n"
                       "m { mailbox-type = org.example.OddFirst }");
    ref = CHECK_GETS(stage, MAILBOX("m"), "a", 2, "multi-consumer priority");
    for (int i = 1; i <= 6; i++)
        stage_tell(ref, i);
    CHECK_RECEIVED(stage, 1, 3, 5, 2, 4, 6);
}

TEST_CITING("A-30", library_that_is_no_library_is_refused)
{
    stage_refuses("akka.actor.mailbox-libraries = [\n\"/no/such.so\"]",
                  LBX_NOT_FOUND, "my.conf:2: ");
    stage_refuses("akka.actor.mailbox-libraries = [\n\"libc.so.6\"]",
                  LBX_INVALID,
                  "libc.so.6 has no symbol lbx_exported_mailbox_types");
    stage_refuses("akka.actor.mailbox-libraries = "
                  "[\"" TEST_PLUGIN "\",\n\"" TEST_PLUGIN "\"]",
                  LBX_EXISTS, "my.conf:2: ");
}

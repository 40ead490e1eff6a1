/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that were written for Akka: keys that mean nothing here are accepted,
 * each with a warning; and the keys of our own beside them.
 */
#include "stage.h"

#include <letterbox/mailbox.h>
#include <stdio.h>
#include <string.h>

struct warnings {
    unsigned count;
    char text[16384];
};

static void
note_warning(void *context, const char *line)
{
    struct warnings *warnings = context;
    size_t used = strlen(warnings->text);

    warnings->count++;
    (void)snprintf(warnings->text + used, sizeof(warnings->text) - used, "%s\n",
                   line);
}

static bool
warned_once_of(const struct warnings *warnings, const char *path)
{
    char words[256];
    const char *found;

    (void)snprintf(words, sizeof(words), ": %s: accepted, without effect\n",
                   path);
    found = strstr(warnings->text, words);
    return found && !strstr(found + 1, words);
}

static void
stage_open_warned(struct stage *stage, struct warnings *warnings)
{
    *warnings = (struct warnings){.count = 0};
    stage->options.warn = note_warning;
    stage->options.warn_context = warnings;
    stage_open(stage);
}

STAGE_TEST("A-12", file_of_akkas_works_as_it_is)
{
    static const char *const paths[] = {
        "letterbox.actor.provider",
        "letterbox.actor.guardian-supervisor-strategy",
        "letterbox.actor.creation-timeout",
        "letterbox.actor.serialize-messages",
        "letterbox.actor.serialize-creators",
        "letterbox.actor.no-serialization-verification-needed-class-prefix",
        "letterbox.actor.unstarted-push-timeout",
        "letterbox.actor.router",
        "letterbox.actor.debug",
        "letterbox.actor.serializers",
        "letterbox.actor.serialization-bindings",
        "letterbox.actor.serialization-identifiers",
        "letterbox.actor.allow-java-serialization",
        "letterbox.actor.warn-about-java-serializer-usage",
        "letterbox.actor.warn-on-no-serialization-verification",
        "letterbox.actor.deployment.default",
        "letterbox.actor.deployment./workers.resizer",
        "letterbox.actor.mailbox.requirements."
        "\"akka.event.LoggerMessageQueueSemantics\"",
        "letterbox.actor.default-dispatcher.default-executor",
        "letterbox.actor.default-dispatcher.affinity-pool-executor",
        "letterbox.actor.default-dispatcher.attempt-teamwork",
        "letterbox.actor.default-dispatcher.fork-join-executor."
        "task-peeking-mode",
        "letterbox.actor.default-dispatcher.thread-pool-executor."
        "keep-alive-time",
        "letterbox.actor.default-dispatcher.thread-pool-executor."
        "max-pool-size-min",
        "letterbox.actor.default-dispatcher.thread-pool-executor."
        "max-pool-size-factor",
        "letterbox.actor.default-dispatcher.thread-pool-executor."
        "max-pool-size-max",
        "letterbox.actor.default-dispatcher.thread-pool-executor."
        "task-queue-size",
        "letterbox.actor.default-dispatcher.thread-pool-executor."
        "task-queue-type",
        "letterbox.actor.default-dispatcher.thread-pool-executor."
        "allow-core-timeout",
    };
    const size_t count = sizeof(paths) / sizeof(paths[0]);
    struct warnings warnings;

    stage_prepare_file(stage, "akka/reference-extract.conf");
    stage_open_warned(stage, &warnings);
    for (size_t i = 0; i < count; i++)
        if (!warned_once_of(&warnings, paths[i]))
            FAIL("not one warning of %s in:\n%s", paths[i], warnings.text);
    CHECK_INT(count, warnings.count);
    CHECK(strstr(warnings.text, "reference-extract.conf:15: "
                                "letterbox.actor.provider: "));
    CHECK_GETS(stage, ANY, "a", 6, "multi-consumer");
    CHECK_GETS(stage, SEMANTICS("akka.dispatch.BoundedMessageQueueSemantics"),
               "b", 4, "bounded blocking multi-consumer");
    CHECK_GETS(stage,
               DISPATCHER("letterbox.actor.default-blocking-io-dispatcher"),
               "c", 6, "multi-consumer");
}

TEST_CITING("A-30", key_that_akka_does_not_have_is_refused_as_before)
{
    stage_refuses("akka.actor {\n  provided = local\n}", LBX_INVALID,
                  "my.conf:2: letterbox.actor.provided: unknown key");
    stage_refuses("akka.actor.deployment {\n  /a { resize = on }\n}",
                  LBX_INVALID, "unknown key");
}

/* ---- Keys of our own: what a full mailbox does ---- */

static uint64_t
depth_of(lbx_ref ref)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    CHECK_OK(lbx_ref_stats_read(ref, &stats));
    return stats.depth;
}

STAGE_TEST("", overflow_can_be_set_from_settings)
{
    static const struct {
        const char *overflow;
        const char *said;
        unsigned kept; // of three messages, with a capacity of two
        int first;
        lbx_status tried; // the third
    } rows[] = {
        {"reject", "capacity 2, the rest is refused", 2, 1, LBX_FULL},
        {"drop-newest", "capacity 2, the rest to dead letters", 2, 1, LBX_OK},
        {"drop-oldest", "capacity 2, the oldest to dead letters", 2, 2, LBX_OK},
        {"grow", "capacity 2, and it grows", 3, 1, LBX_OK},
    };

    stage_begin(stage, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lbx_envelope third = lbx_envelope_of((void *)3, 10);
        char text[256];
        lbx_ref ref;

        stage_end(stage);
        (void)snprintf(text, sizeof(text),
                       "m { mailbox-type = bounded, mailbox-capacity = 2\n"
                       "mailbox-overflow = %s }",
                       rows[i].overflow);
        stage_begin(stage, text);
        ref = stage_spawn(stage, MAILBOX("m"), "a");
        CHECK(strstr(stage_explain(stage, ref), rows[i].said));
        stage_tell(ref, 1);
        stage_tell(ref, 2);
        CHECK_STATUS(rows[i].tried, lbx_try_tell(ref, &third));
        CHECK_INT(rows[i].kept, depth_of(ref));
        stage_run(stage);
        CHECK_INT(rows[i].kept, stage->received_count);
        CHECK_INT(rows[i].first, stage->received[0]);
    }
}

STAGE_TEST("", overflow_of_the_default_mailbox_is_for_all_bounded_ones)
{
    lbx_ref ref;

    stage_begin(stage, "akka.actor.default-mailbox.mailbox-overflow = reject\n"
                       "m { mailbox-type = bounded, mailbox-capacity = 2 }");
    ref = stage_spawn(stage, MAILBOX("m"), "a");
    CHECK(strstr(stage_explain(stage, ref), "the rest is refused"));
    CHECK_GETS(stage, ANY, "b", 6, "multi-consumer");
}

STAGE_TEST("A-30", overflow_that_does_not_exist_is_refused)
{
    stage_begin(stage, "m {\n mailbox-type = bounded\n"
                       " mailbox-overflow = shrink\n}");
    CHECK_REFUSED(stage, MAILBOX("m"), "a", LBX_INVALID,
                  "my.conf:3: m.mailbox-overflow: ");
}

STAGE_TEST("", capacity_for_control_messages_can_be_set_from_settings)
{
    static const int accepted[] = {1, 3};

    stage_begin(stage, "one { mailbox-type = bounded-control-aware\n"
                       "mailbox-capacity = 2, mailbox-overflow = reject\n"
                       "mailbox-control-capacity = 1 }\n"
                       "all = ${one} { mailbox-control-capacity = -1 }");
    for (int i = 0; i < 2; i++) {
        lbx_envelope urgent = lbx_envelope_control(NULL, 10);
        lbx_ref ref = stage_spawn(stage, MAILBOX(i == 0 ? "one" : "all"), NULL);
        int count = 0;

        for (int sent = 0; sent < 3; sent++)
            count += lbx_try_tell(ref, &urgent) == LBX_OK;
        CHECK_INT(accepted[i], count);
    }
}

/* ---- Defaults ---- */

static void
check_explained(struct stage *stage, const char *text, const char *words)
{
    lbx_ref ref;

    stage_begin(stage, text);
    ref = stage_spawn(stage, MAILBOX("m"), "m");
    if (!strstr(stage_explain(stage, ref), words))
        FAIL("no '%s' in: %s", words, stage->said);
    stage_end(stage);
}

/* The numbers as they are written, and what they do. */
TEST_CITING("A-12", defaults_are_akkas)
{
    static const struct {
        const char *path;
        const char *value;
    } rows[] = {
        {"default-mailbox.mailbox-type", "unbounded"},
        {"default-mailbox.mailbox-capacity", "1000"},
        {"default-mailbox.mailbox-push-timeout-time", "10s"},
        {"default-mailbox.stash-capacity", "-1"},
        {"default-dispatcher.throughput", "5"},
        {"default-dispatcher.throughput-deadline-time", "0ms"},
        {"default-dispatcher.mailbox-requirement", ""},
        {"unstarted-push-timeout", "10s"},
    };
    struct stage stage;
    const lbx_settings *actor;

    stage_prepare(&stage, lbx_system_reference_settings());
    actor = lbx_settings_at(stage.settings, "letterbox.actor");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_STR(rows[i].value,
                  lbx_settings_text(lbx_settings_at(actor, rows[i].path)));
    stage_open(&stage);
    CHECK_GETS(&stage, ANY, "a", 6, "multi-consumer");
    stage_end(&stage);
    check_explained(&stage, "m.mailbox-type = bounded",
                    "capacity 1000, senders wait 10000 ms");
    check_explained(&stage,
                    "m { mailbox-type = bounded\n"
                    "mailbox-push-timeout-time = -1 }",
                    "capacity 1000, senders wait for ever");
}

static void
count_threads(void *context, const lbx_dispatcher_stats *stats)
{
    *(uint64_t *)context += stats->threads;
}

STAGE_TEST("A-12", default_dispatcher_has_the_threads_of_the_settings)
{
    uint64_t threads = 0;

    stage_prepare(stage, "akka.actor.default-dispatcher {\n"
                         "  executor = thread-pool-executor\n"
                         "  thread-pool-executor { fixed-pool-size = 3 }\n}");
    stage->options.threads = LBX_DEFAULT;
    stage_open(stage);
    CHECK_OK(
        lbx_system_each_dispatcher(stage->system, count_threads, &threads));
    CHECK_INT(3, threads);
}

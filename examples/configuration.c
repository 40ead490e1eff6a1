/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tour of configuration: which mailbox does an actor get, and why?
 *
 * The file below says it in Akka's words; keys may as well begin with
 * `letterbox.`. Four actors are asked about, none of them changed for it.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

static const char configuration[] =
    "bounded-mailbox {\n"
    "  mailbox-type = \"akka.dispatch.BoundedMailbox\"\n"
    "  mailbox-capacity = 1000\n"
    "  mailbox-push-timeout-time = 10s\n"
    "}\n"
    "akka.actor.mailbox.requirements {\n"
    "  \"akka.dispatch.BoundedMessageQueueSemantics\" = bounded-mailbox\n"
    "}\n"
    "small-mailbox = ${bounded-mailbox} { mailbox-capacity = 10 }\n"
    "akka.actor.deployment {\n"
    "  /deployed { mailbox = small-mailbox }\n"
    "}\n";

static void
must(lbx_status status, const lbx_fault *fault)
{
    if (status != LBX_OK) {
        fprintf(stderr, "configuration: %s: %s\n", lbx_status_text(status),
                fault->text);
        exit(1);
    }
}

static lbx_status
receive(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    return LBX_OK;
}

static const lbx_behaviour plain = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "plain",
    .receive = receive,
};

/* A class that must not be flooded. */
static const lbx_behaviour careful = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "careful",
    .receive = receive,
    .needs_semantics = "akka.dispatch.BoundedMessageQueueSemantics",
};

static void
print(void *context, const char *line)
{
    (void)context;
    printf("    %s\n", line);
}

static void
ask_about(lbx_system *system, const lbx_behaviour *behaviour, const char *path,
          const char *mailbox)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_status status;

    props.behaviour = behaviour;
    props.mailbox = mailbox;
    printf("%s, a %s actor:\n", path, behaviour->name);
    status = lbx_system_explain(system, &props, path, print, NULL);
    printf("  %s\n", lbx_status_name(status));
}

int
main(void)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx_settings_options reading = LBX_SETTINGS_OPTIONS_INIT;
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_settings *settings;
    lbx_system *system;

    reading.fault = &fault;
    must(lbx_settings_load_text(configuration, &reading, &settings), &fault);
    options.settings = settings;
    options.fault = &fault;
    options.threads = 0;
    must(lbx_system_create(&options, &system), &fault);
    ask_about(system, &plain, "/any", NULL);
    ask_about(system, &careful, "/guarded", NULL);
    ask_about(system, &careful, "/deployed", NULL);
    ask_about(system, &careful, "/mistaken", "unbounded");
    lbx_system_destroy(system);
    lbx_settings_unref(settings);
    return 0;
}

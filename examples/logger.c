/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The priority logger of the Akka documentation, its configuration as printed
 * there.
 *
 * An actor tells itself eight messages, in the order low, low, high, three
 * others, high, poison pill; its mailbox sorts them by a rank of its own. So it
 * logs seven lines, and then it stops.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char configuration[] =
    "prio-dispatcher {\n"
    "  mailbox-type = \"docs.dispatcher.DispatcherDocSpec$MyPrioMailbox\"\n"
    "  //Other dispatcher configuration goes here\n"
    "}\n";

static void
must(lbx_status status, const lbx_fault *fault)
{
    if (status != LBX_OK) {
        fprintf(stderr, "logger: %s: %s\n", lbx_status_text(status),
                fault->text);
        exit(1);
    }
}

/* Lower is more important. */
static bool
rank(const void *message, void *context, int32_t *ret)
{
    (void)context;
    if (message == lbx_poison_pill())
        *ret = 3; // when nothing else is left
    else if (strcmp(message, "highpriority") == 0)
        *ret = 0;
    else if (strcmp(message, "lowpriority") == 0)
        *ret = 2;
    else
        *ret = 1;
    return true;
}

static lbx_status
configure(void *context, const lbx_settings *section,
          lbx_mailbox_options *options, lbx_fault *fault)
{
    (void)context;
    (void)section;
    (void)fault;
    options->priority = rank;
    return LBX_OK;
}

static const lbx_mailbox_type my_prio_mailbox = {
    .size_bytes = sizeof(lbx_mailbox_type),
    .name = "docs.dispatcher.DispatcherDocSpec$MyPrioMailbox",
    .kind = LBX_KIND_UNBOUNDED_PRIORITY,
    .configure = configure,
};

static lbx_status
tell_itself(lbx_context *context, void *state, void *argument)
{
    lbx_ref self = lbx_context_self(context);

    (void)state;
    (void)argument;
    lbx_tell(self, "lowpriority");
    lbx_tell(self, "lowpriority");
    lbx_tell(self, "highpriority");
    lbx_tell(self, "pigdog");
    lbx_tell(self, "pigdog2");
    lbx_tell(self, "pigdog3");
    lbx_tell(self, "highpriority");
    lbx_tell(self, lbx_poison_pill());
    return LBX_OK;
}

static lbx_status
print(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    printf("\xe2\x80\x99%s\n", (const char *)message);
    return LBX_OK;
}

static const lbx_behaviour logger = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "Logger",
    .start = tell_itself,
    .receive = print,
};

int
main(void)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx_settings_options reading = LBX_SETTINGS_OPTIONS_INIT;
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_settings *settings;
    lbx_system *system;
    lbx_ref a;

    reading.fault = &fault;
    must(lbx_settings_load_text(configuration, &reading, &settings), &fault);
    options.settings = settings;
    options.mailbox_types = &my_prio_mailbox;
    options.mailbox_type_count = 1;
    options.fault = &fault;
    must(lbx_system_create(&options, &system), &fault);
    lbx_settings_unref(settings);
    props.behaviour = &logger;
    props.dispatcher = "prio-dispatcher";
    props.fault = &fault;
    must(lbx_system_spawn(system, &props, "logger", &a), &fault);
    must(lbx_ref_ended_until(system, a, LBX_FOREVER), &fault);
    lbx_system_destroy(system);
    return 0;
}

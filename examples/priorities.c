/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities: the urgent first, equals in order of arrival.
 *
 * Two ways to be urgent. A priority mailbox sorts: a function of yours gives
 * each message a number when it is sent, and lower numbers leave first. A
 * control-aware mailbox does not sort: it has a second lane, and what is sent
 * there passes everything in the first.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "priorities: %s\n", lbx_status_text(status));
        exit(1);
    }
}

/* Called once per message, when it is sent. */
static bool
urgency(const void *message, void *context, int32_t *ret)
{
    const char *text = message;

    (void)context;
    if (strncmp(text, "CRITICAL", 8) == 0)
        *ret = 0;
    else if (strncmp(text, "HIGH", 4) == 0)
        *ret = 5;
    else if (strncmp(text, "NORMAL", 6) == 0)
        *ret = 10;
    else
        *ret = 15;
    return true;
}

/* Prints what is inside, in the order in which it leaves. */
static void
print_all(lbx_consumer *out)
{
    void *message;

    while (lbx_consumer_try_receive(out, &message) == LBX_OK)
        printf("  %s\n", (const char *)message);
}

static void
show_sorting(void)
{
    static char *const arrivals[] = {
        "NORMAL: first report",   "LOW: tidy up",
        "CRITICAL: disk is full", "NORMAL: second report",
        "HIGH: customer waits",
    };
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_producer *in;
    lbx_consumer *out;

    printf("a priority mailbox\n");
    options.priority = urgency;
    must(lbx_mailbox_create(LBX_KIND_UNBOUNDED_PRIORITY, &options, &in, &out));
    for (size_t i = 0; i < sizeof(arrivals) / sizeof(arrivals[0]); i++)
        must(lbx_producer_send(in, arrivals[i]));
    print_all(out);
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
}

static void
show_control(void)
{
    lbx_envelope pause =
        lbx_envelope_control("please pause", LBX_PRIORITY_DEFAULT);
    lbx_producer *in;
    lbx_consumer *out;

    printf("a control-aware mailbox\n");
    must(lbx_mailbox_create(LBX_KIND_UNBOUNDED_CONTROL_AWARE, NULL, &in, &out));
    must(lbx_producer_send(in, "work 1"));
    must(lbx_producer_send(in, "work 2"));
    must(lbx_producer_try_send_envelope(in, &pause, NULL));
    print_all(out);
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
}

int
main(void)
{
    show_sorting();
    show_control();
    return 0;
}

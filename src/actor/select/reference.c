/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference: every default of the settings that the actor rooms read, in
 * one file. docs/settings.md explains the keys.
 *
 * It is the same for every system. The first thread that makes a system reads
 * it, into static memory: it belongs to no system, so that no user's allocator
 * could provide for it, and with a constant text and constant memory reading it
 * cannot fail.
 */
#include "actor/select/reference.h"

#include <assert.h>
#include <letterbox/actor/selection.h>
#include <pthread.h>
#include <stdalign.h>

#define MAILBOX "letterbox.actor.mailbox."

static const char reference_text[] =
    "letterbox.actor {\n"
    "  mailbox-libraries = []\n"
    "  unstarted-push-timeout = 10s\n"
    "  default-mailbox {\n"
    "    mailbox-type = unbounded\n"
    "    mailbox-capacity = 1000\n"
    "    mailbox-push-timeout-time = 10s\n"
    "    mailbox-timestamps = off\n"
    "    stash-capacity = -1\n"
    "  }\n"
    "  typed {\n"
    "    default-mailbox { mailbox-type = unbounded-single-consumer }\n"
    "  }\n"
    "  default-dispatcher {\n"
    "    type = Dispatcher\n"
    "    executor = default-executor\n"
    "    fork-join-executor {\n"
    "      parallelism-min = 1\n"
    "      parallelism-factor = 1.0\n"
    "      parallelism-max = 1024\n"
    "    }\n"
    "    thread-pool-executor {\n"
    "      fixed-pool-size = off\n"
    "      core-pool-size-min = 1\n"
    "      core-pool-size-factor = 1.0\n"
    "      core-pool-size-max = 1024\n"
    "    }\n"
    "    shutdown-timeout = 1s\n"
    "    throughput = 5\n"
    "    throughput-deadline-time = 0ms\n"
    "    mailbox-requirement = \"\"\n"
    "  }\n"
    "  deployment {}\n"
    "  mailbox {\n"
    "    unbounded-queue-based { mailbox-type = unbounded }\n"
    "    bounded-queue-based { mailbox-type = bounded }\n"
    "    unbounded-deque-based { mailbox-type = unbounded-deque }\n"
    "    bounded-deque-based { mailbox-type = bounded-deque }\n"
    "    unbounded-control-aware-queue-based {\n"
    "      mailbox-type = unbounded-control-aware\n"
    "    }\n"
    "    bounded-control-aware-queue-based {\n"
    "      mailbox-type = bounded-control-aware\n"
    "    }\n"
    "    unbounded-priority-queue-based {\n"
    "      mailbox-type = unbounded-priority\n"
    "    }\n"
    "    bounded-priority-queue-based { mailbox-type = bounded-priority }\n"
    "    requirements {\n"
    "      \"akka.dispatch.UnboundedMessageQueueSemantics\" =\n"
    "        " MAILBOX "unbounded-queue-based\n"
    "      \"akka.dispatch.BoundedMessageQueueSemantics\" =\n"
    "        " MAILBOX "bounded-queue-based\n"
    "      \"akka.dispatch.MultipleConsumerSemantics\" =\n"
    "        " MAILBOX "unbounded-queue-based\n"
    "      \"akka.dispatch.DequeBasedMessageQueueSemantics\" =\n"
    "        " MAILBOX "unbounded-deque-based\n"
    "      \"akka.dispatch.UnboundedDequeBasedMessageQueueSemantics\" =\n"
    "        " MAILBOX "unbounded-deque-based\n"
    "      \"akka.dispatch.BoundedDequeBasedMessageQueueSemantics\" =\n"
    "        " MAILBOX "bounded-deque-based\n"
    "      \"akka.dispatch.ControlAwareMessageQueueSemantics\" =\n"
    "        " MAILBOX "unbounded-control-aware-queue-based\n"
    "      \"akka.dispatch.UnboundedControlAwareMessageQueueSemantics\" =\n"
    "        " MAILBOX "unbounded-control-aware-queue-based\n"
    "      \"akka.dispatch.BoundedControlAwareMessageQueueSemantics\" =\n"
    "        " MAILBOX "bounded-control-aware-queue-based\n"
    "      \"letterbox.PriorityMessageQueueSemantics\" =\n"
    "        " MAILBOX "unbounded-priority-queue-based\n"
    "      \"letterbox.BoundedPriorityMessageQueueSemantics\" =\n"
    "        " MAILBOX "bounded-priority-queue-based\n"
    "    }\n"
    "  }\n"
    "}\n";

const char *
lbx_system_reference_settings(void)
{
    return reference_text;
}

/* ---- The same, read ---- */

enum {
    REFERENCE_BYTES = 64 << 10 /* the tree, and what reading it takes */
};

static alignas(max_align_t) char reference_memory[REFERENCE_BYTES];
static size_t reference_used_bytes;
static lbx_settings *reference_tree;

static void *
reference_allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    const size_t start =
        (reference_used_bytes + align_bytes - 1) & ~(align_bytes - 1);

    (void)context;
    if (start > REFERENCE_BYTES || size_bytes > REFERENCE_BYTES - start)
        return NULL;
    reference_used_bytes = start + size_bytes;
    return reference_memory + start;
}

static void
reference_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)memory;
    (void)size_bytes;
}

static void
reference_read(void)
{
    static const lbx_allocator own = {.allocate = reference_allocate,
                                      .release = reference_release};
    const lbx_settings_source source = {.text = reference_text,
                                        .length_bytes =
                                            sizeof(reference_text) - 1,
                                        .origin = "reference"};
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;
    lbx_status status;

    options.allocator = &own;
    options.no_environment = true;
    status = lbx_settings_load(&source, 1, &options, &reference_tree);
    assert(status == LBX_OK);
    (void)status;
}

const lbx_settings *
lbx__reference_settings(void)
{
    // Not lbx__init_once: the explorer must not see that the first execution
    // does more than the others.
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, reference_read);
    return reference_tree;
}

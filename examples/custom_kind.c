/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kind of your own: a mailbox that is fair between its senders.
 *
 * Each sender has a line of its own, and the lines are served in turn: one
 * noisy sender cannot keep the others waiting. When there is no room, the
 * longest line gives up its oldest message, so that the noisy one pays.
 *
 * The kind is storage, forty lines of it: keep an envelope, give the next one
 * back. It is called under the mailbox's lock and needs none of its own.
 * Capacity, policies, waiting, closing and counting are the mailbox's; this
 * program uses LBX_OVERFLOW_DROP_OLDEST and a loss sink without the kind
 * knowing.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
    struct item *next;
    lbx_envelope envelope;
};

struct line {
    struct line *next;
    void *sender;
    int length;
    struct item *first;
    struct item **end;
};

struct fair {
    struct line *first; /* whose turn it is; only lines with messages */
};

static lbx_status
fair_create(void *context, const lbx_mailbox_options *options,
            void **ret_storage)
{
    struct fair *fair = calloc(1, sizeof(*fair));

    (void)context;
    (void)options;
    if (!fair)
        return LBX_NO_MEMORY;
    *ret_storage = fair;
    return LBX_OK;
}

static void
fair_destroy(void *storage)
{
    free(storage);
}

/* The line of `sender`, made at the end of the round if there is none. */
static struct line *
find_line(struct fair *fair, void *sender)
{
    struct line **at;

    for (at = &fair->first; *at; at = &(*at)->next) {
        if ((*at)->sender == sender)
            return *at;
    }
    *at = calloc(1, sizeof(**at));
    if (*at) {
        (*at)->sender = sender;
        (*at)->end = &(*at)->first;
    }
    return *at;
}

static lbx_status
fair_push(void *storage, const lbx_envelope *envelope)
{
    struct item *item = malloc(sizeof(*item));
    struct line *line;

    if (!item)
        return LBX_NO_MEMORY;
    line = find_line(storage, envelope->sender);
    if (!line) {
        free(item);
        return LBX_NO_MEMORY;
    }
    item->envelope = *envelope;
    item->next = NULL;
    *line->end = item;
    line->end = &item->next;
    line->length++;
    return LBX_OK;
}

/* Takes the oldest message of the line at `at`; the line goes to the end of
 * the round if it has more, and away if it has not. */
static void
take(struct line **at, lbx_envelope *ret)
{
    struct line *line = *at;
    struct item *item = line->first;

    *ret = item->envelope;
    line->first = item->next;
    free(item);
    *at = line->next;
    if (--line->length == 0) {
        free(line);
        return;
    }
    while (*at)
        at = &(*at)->next;
    line->next = NULL;
    *at = line;
}

static bool
fair_pop(void *storage, lbx_envelope *ret)
{
    struct fair *fair = storage;

    if (!fair->first)
        return false;
    take(&fair->first, ret);
    return true;
}

static bool
fair_evict(void *storage, lbx_envelope *ret)
{
    struct fair *fair = storage;
    struct line **longest = &fair->first;

    if (!fair->first)
        return false;
    for (struct line **at = &fair->first; *at; at = &(*at)->next) {
        if ((*at)->length > (*longest)->length)
            longest = at;
    }
    take(longest, ret);
    return true;
}

static const lbx_kind_ops fair_ops = {
    .size_bytes = sizeof(lbx_kind_ops),
    .create = fair_create,
    .destroy = fair_destroy,
    .push = fair_push,
    .pop = fair_pop,
    .evict = fair_evict,
};

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "custom_kind: %s\n", lbx_status_text(status));
        exit(1);
    }
}

static void
lost(void *context, const lbx_loss *loss)
{
    (void)context;
    printf("no room: %s had to go\n", (const char *)loss->envelope->message);
}

static void
send_from(lbx_producer *in, char *sender, char *message)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(message);

    envelope.sender = sender;
    must(lbx_producer_try_send_envelope(in, &envelope, NULL));
}

int
main(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    char noisy[] = "noisy", quiet[] = "quiet";
    lbx_kind_registry *kinds;
    lbx_producer *in;
    lbx_consumer *out;
    void *message;

    must(lbx_kind_registry_create(NULL, &kinds));
    must(lbx_kind_registry_add(kinds, "fair", &fair_ops, NULL));

    options.kinds = kinds;
    options.capacity_messages = 4;
    options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    options.loss_sink.lost = lost;
    must(lbx_mailbox_create("fair", &options, &in, &out));

    send_from(in, noisy, "noisy 1");
    send_from(in, noisy, "noisy 2");
    send_from(in, noisy, "noisy 3");
    send_from(in, quiet, "quiet 1");
    send_from(in, quiet, "quiet 2"); // the fifth: room for four
    while (lbx_consumer_try_receive(out, &message) == LBX_OK)
        printf("received %s\n", (const char *)message);

    lbx_producer_unref(in);
    lbx_consumer_unref(out);
    lbx_kind_registry_destroy(kinds);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of tomorrow: its structs have a member that today's library does
 * not know. While that is 0 the library does what it can; otherwise the program
 * asks for something that the library does not have, and is refused.
 */
#include <letterbox/courier.h>
#include <letterbox/letterbox.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition)                                                        \
    do {                                                                       \
        if (!(condition)) {                                                    \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,           \
                          #condition);                                         \
            exit(1);                                                           \
        }                                                                      \
    } while (0)
#define MUST_OK(call) MUST((call) == LBX_OK)

static void
use_mailbox(void)
{
    struct {
        lbx_mailbox_options is;
        uint64_t unknown;
    } options = {.is = LBX_MAILBOX_OPTIONS_INIT};
    struct {
        lbx_mailbox_stats is;
        uint64_t unknown;
    } stats = {.is = LBX_MAILBOX_STATS_INIT, .unknown = 77};
    lbx_fault fault = {.status = LBX_OK};
    lbx_producer *in;
    lbx_consumer *out;

    options.is.size_bytes = sizeof(options);
    options.is.fault = &fault;
    MUST_OK(lbx_mailbox_create(NULL, &options.is, &in, &out));
    stats.is.size_bytes = sizeof(stats);
    MUST_OK(lbx_mailbox_stats_read(lbx_producer_mailbox(in), &stats.is));
    MUST(stats.unknown == 0 && stats.is.size_bytes == sizeof(stats));
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
    options.unknown = 1;
    MUST(lbx_mailbox_create(NULL, &options.is, &in, &out) == LBX_INVALID);
    MUST(strstr(fault.text, "LBX_MAILBOX_OPTIONS_INIT"));
    MUST(strstr(fault.text, "does not know"));
}

static void
use_drafts(void)
{
    struct {
        lbx_draft is;
        const char *unknown;
    } drafts[2] = {{.is = LBX_DRAFT_INIT}, {.is = LBX_DRAFT_INIT}};
    lbx_sent_letter sent[2];
    lbx_postbox *postbox;
    lbx_letter *letter;
    size_t size;

    MUST_OK(lbx_postbox_open("memory:newer/box", NULL, &postbox));
    for (size_t i = 0; i < 2; i++) {
        drafts[i].is.size_bytes = sizeof(drafts[i]);
        drafts[i].is.body = i == 0 ? "one" : "two";
        drafts[i].is.body_bytes = 3;
    }
    MUST_OK(lbx_postbox_send_batch(postbox, &drafts[0].is, 2, sent));
    for (size_t i = 0; i < 2; i++) {
        MUST_OK(lbx_postbox_receive(postbox, 0, &letter));
        MUST(memcmp(lbx_letter_body(letter, &size), i == 0 ? "one" : "two",
                    3) == 0);
        MUST_OK(lbx_letter_acknowledge(letter));
        lbx_letter_destroy(letter);
    }
    drafts[1].unknown = "set";
    MUST(lbx_postbox_send_batch(postbox, &drafts[0].is, 2, sent) ==
         LBX_INVALID);
    MUST(sent[0].status == LBX_OK && sent[1].status == LBX_INVALID);
    lbx_postbox_unref(postbox);
}

static void
use_courier(void)
{
    struct {
        lbx_courier_options is;
        uint64_t unknown;
    } options = {.is = LBX_COURIER_OPTIONS_INIT, .unknown = 1};
    lbx_fault fault = {.status = LBX_OK};
    lbx_courier *courier;

    options.is.size_bytes = sizeof(options);
    options.is.fault = &fault;
    MUST(lbx_courier_create(&options.is, &courier) == LBX_INVALID);
    MUST(strstr(fault.text, "does not know"));
}

int
main(void)
{
    use_mailbox();
    use_drafts();
    use_courier();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/wink/wink.h"

#include "support/test.h"

#include "support/folder.h"
#include <letterbox/compat/wink.h>

#include <stdio.h>
#include <string.h>

enum wink_store wink_store;

void
mailbox_init(struct mailbox *mailbox)
{
    static const lbx_test_clock start = LBX_TEST_CLOCK_INIT;
    static const lbx_store_options store = LBX_STORE_OPTIONS_INIT;

    mailbox->letter_count = 0;
    mailbox->time = start;
    mailbox->clock = lbx_test_clock_as_clock(&mailbox->time);
    mailbox->store = store;
    mailbox->store.clock = &mailbox->clock;
    mailbox->box = lbx_wink_box_options();
    mailbox->options = lbx_wink_postbox_options();
    mailbox->options.box = &mailbox->box;
    mailbox->options.store = &mailbox->store;
    if (wink_store == WINK_FILE)
        (void)snprintf(mailbox->url, sizeof(mailbox->url), "file:%s/requests",
                       test_path());
    else
        (void)snprintf(mailbox->url, sizeof(mailbox->url), "memory:requests");
}

void
mailbox_open(struct mailbox *mailbox)
{
    if (wink_store == WINK_FAKE)
        CHECK_OK(lbx_fake_postbox_create(&mailbox->options, &mailbox->postbox));
    else
        CHECK_OK(lbx_postbox_open(mailbox->url, &mailbox->options,
                                  &mailbox->postbox));
}

void
mailbox_close(struct mailbox *mailbox)
{
    while (mailbox->letter_count > 0)
        lbx_letter_destroy(mailbox->letters[--mailbox->letter_count]);
    lbx_postbox_unref(mailbox->postbox);
}

void
mailbox_run(void (*test)(struct mailbox *mailbox))
{
    struct mailbox mailbox;

    mailbox_init(&mailbox);
    mailbox_open(&mailbox);
    test(&mailbox);
    mailbox_close(&mailbox);
}

void
mailbox_pass(struct mailbox *mailbox, int64_t duration_ns)
{
    lbx_test_clock_advance(&mailbox->time, duration_ns,
                           lbx_postbox_store(mailbox->postbox));
}

void
mailbox_send(struct mailbox *mailbox, const char *text)
{
    CHECK_OK(lbx_postbox_send(mailbox->postbox, text, strlen(text), NULL));
}

lbx_letter *
mailbox_take(struct mailbox *mailbox)
{
    lbx_letter *letter;
    lbx_status status = lbx_postbox_receive(mailbox->postbox, 0, &letter);

    if (status != LBX_OK)
        CHECK_STATUS(LBX_EMPTY, status);
    return status == LBX_OK ? letter : NULL;
}

lbx_letter *
mailbox_receive(struct mailbox *mailbox)
{
    lbx_letter *letter = mailbox_take(mailbox);

    if (letter) {
        CHECK(mailbox->letter_count <
              sizeof(mailbox->letters) / sizeof(mailbox->letters[0]));
        mailbox->letters[mailbox->letter_count++] = letter;
    }
    return letter;
}

lbx_letter *
mailbox_deliver(struct mailbox *mailbox, const char *text)
{
    mailbox_send(mailbox, text);
    return mailbox_receive(mailbox);
}

uint64_t
mailbox_count(struct mailbox *mailbox)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    CHECK_OK(lbx_postbox_count(mailbox->postbox, &counts));
    return counts.ready + counts.leased + counts.delayed;
}

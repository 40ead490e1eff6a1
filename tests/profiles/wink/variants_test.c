/* SPDX-License-Identifier: Apache-2.0 */
/* Ported: WINK's test_mailbox_variants.py (docs/origins.md, W-29). */
#include "profiles/wink/wink.h"

#include "support/test.h"

#include <string.h>

TEST_CITING("W-29", the_null_mailbox_accepts_and_discards)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_postbox *null;
    lbx_letter *letter;
    uint64_t purged = 9;
    lbx_id first, second;

    CHECK_OK(lbx_null_postbox_create(NULL, &null));
    CHECK_OK(lbx_postbox_send(null, "x", 1, &first));
    CHECK_OK(lbx_postbox_send(null, "x", 1, &second));
    CHECK(first.text[0] && strcmp(first.text, second.text) != 0);
    CHECK_STATUS(LBX_EMPTY, lbx_postbox_receive(null, 0, &letter));
    CHECK_OK(lbx_postbox_purge(null, &purged));
    CHECK_INT(0, purged);
    CHECK_OK(lbx_postbox_count(null, &counts));
    CHECK_INT(0, counts.ready + counts.leased + counts.delayed);
    lbx_postbox_unref(null);
}

TEST_CITING("W-29", the_collecting_mailbox_keeps_what_was_sent_in_order)
{
    lbx_postbox *outbox;
    lbx_letter *letter;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    uint64_t purged;

    CHECK_OK(lbx_collecting_postbox_create(NULL, &outbox));
    CHECK_OK(lbx_postbox_send(outbox, "one", 3, NULL));
    CHECK_OK(lbx_postbox_send(outbox, "two", 3, NULL));
    CHECK_INT(2, lbx_collecting_postbox_count(outbox));
    CHECK_STR("one", lbx_collecting_postbox_at(outbox, 0)->body);
    CHECK_STR("two", lbx_collecting_postbox_at(outbox, 1)->body);
    CHECK_STATUS(LBX_EMPTY, lbx_postbox_receive(outbox, 0, &letter));
    CHECK_OK(lbx_postbox_count(outbox, &counts));
    CHECK_INT(2, counts.ready);
    CHECK_OK(lbx_postbox_purge(outbox, &purged));
    CHECK_INT(2, purged);
    CHECK_INT(0, lbx_collecting_postbox_count(outbox));
    lbx_postbox_unref(outbox);
}

WINK_FAKE_TEST("W-29", an_expired_handle_affects_all_settling)
{
    lbx_letter *letter = mailbox_deliver(mailbox, "x");

    CHECK_OK(lbx_fake_postbox_expire(mailbox->postbox, letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_nack(letter, 0));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_extend(letter, LBX_SECOND));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_fake_postbox_expire(mailbox->postbox, letter));
    CHECK_PTR(NULL, mailbox_receive(mailbox)); // leased elsewhere
    mailbox_pass(mailbox, 30 * LBX_SECOND);
    letter = mailbox_receive(mailbox);
    CHECK_OK(lbx_letter_acknowledge(letter));
}

WINK_FAKE_TEST("W-14 W-29", a_connection_error_affects_all_but_settling)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    uint64_t purged;
    lbx_letter *letter = mailbox_deliver(mailbox, "x"), *other;

    CHECK_OK(lbx_fake_postbox_set_error(mailbox->postbox, LBX_UNREACHABLE));
    CHECK_STATUS(LBX_UNREACHABLE,
                 lbx_postbox_send(mailbox->postbox, "y", 1, NULL));
    CHECK_STATUS(LBX_UNREACHABLE,
                 lbx_postbox_receive(mailbox->postbox, 0, &other));
    CHECK_STATUS(LBX_UNREACHABLE, lbx_postbox_purge(mailbox->postbox, &purged));
    CHECK_STATUS(LBX_UNREACHABLE, lbx_postbox_count(mailbox->postbox, &counts));
    CHECK_OK(lbx_letter_acknowledge(letter));
    CHECK_OK(lbx_fake_postbox_set_error(mailbox->postbox, LBX_OK)); // cleared
    mailbox_send(mailbox, "y");
    CHECK_INT(1, mailbox_count(mailbox));
}

WINK_FAKE_TEST("W-29", letters_are_injected_with_id_count_and_routes)
{
    lbx_draft draft = lbx_draft_of_text("planted");
    lbx_routes *routes;
    lbx_letter *letter;

    CHECK_OK(lbx_routes_single("there", NULL, &routes));
    draft.routes = routes;
    CHECK_OK(lbx_fake_postbox_set_error(mailbox->postbox, LBX_UNREACHABLE));
    CHECK_OK(lbx_fake_postbox_inject(mailbox->postbox, &draft, "my-id", 4));
    CHECK_STATUS(LBX_EXISTS,
                 lbx_fake_postbox_inject(mailbox->postbox, &draft, "my-id", 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_fake_postbox_inject(mailbox->postbox, &draft, "", 0));
    CHECK_OK(lbx_fake_postbox_set_error(mailbox->postbox, LBX_OK));
    letter = mailbox_receive(mailbox);
    CHECK_STR("my-id", lbx_letter_id(letter));
    CHECK_INT(5, lbx_letter_delivery_count(letter));
    CHECK_STR("there", lbx_routes_default(lbx_letter_routes(letter)));
    CHECK_OK(lbx_fake_postbox_inject(mailbox->postbox, &draft, NULL, 0));
    letter = mailbox_receive(mailbox);
    CHECK_INT(1, lbx_letter_delivery_count(letter));
    lbx_routes_unref(routes);
}

WINK_FAKE_TEST("W-29 W-17", an_unknown_handle_is_an_error)
{
    static const char *const texts[] = {"", "1", "1.", "x.1", "99.1", "1.99"};
    static const lbx_settle_action actions[] = {
        LBX_SETTLE_ACKNOWLEDGE, LBX_SETTLE_NACK, LBX_SETTLE_EXTEND};
    lbx_settle_item settle = {.time_ns = LBX_SECOND};

    mailbox_send(mailbox, "x");
    for (size_t i = 0; i < 3 * sizeof(texts) / sizeof(texts[0]); i++) {
        settle.receipt = texts[i / 3];
        settle.action = actions[i % 3];
        CHECK_STATUS(LBX_INVALID,
                     lbx_postbox_settle_batch(mailbox->postbox, &settle, 1));
    }
    CHECK_INT(1, mailbox_count(mailbox));
}

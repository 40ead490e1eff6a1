/* SPDX-License-Identifier: Apache-2.0 */
/* Block: the other policies behave exactly as before (B-11). */
#include "profiles/block/block.h"

static lbx_envelope
plain(intptr_t number)
{
    return lbx_envelope_with_default_priority(message_of(number));
}

/* [1, 2] in a mailbox for two, after an offer of 3 that did not wait. */
static struct box
offered_box(struct waiter *offer, lbx_overflow overflow)
{
    struct box box = box_bounded(2, overflow);

    box_fill(&box, 1, 2);
    waiter_post(offer, &box, plain(3), LBX_FOREVER);
    CHECK_OK(waiter_poll(offer));
    return box;
}

/* [1, 2] with offer 3 leaves [2, 3] and reports one dropped. */
TEST_CITING("B-15 B-11", drop_oldest_is_unchanged)
{
    struct waiter offer;
    LOCAL_BOX(box) = offered_box(&offer, LBX_OVERFLOW_DROP_OLDEST);

    CHECK_INT(LBX_OUTCOME_DROPPED_OLDEST, offer.result.outcome);
    CHECK_INT(1, offer.result.dropped_messages);
    CHECK_TAKES(&box, 2, 3);
    CHECK_NOTHING(&box);
    waiter_fini(&offer);
}

TEST_CITING("B-11", drop_newest_is_unchanged)
{
    struct waiter offer;
    LOCAL_BOX(box) = offered_box(&offer, LBX_OVERFLOW_DROP_NEWEST);

    CHECK_INT(LBX_OUTCOME_DROPPED_NEWEST, offer.result.outcome);
    CHECK_TAKES(&box, 1, 2);
    CHECK_NOTHING(&box);
    waiter_fini(&offer);
}

TEST_CITING("B-11", grow_is_unchanged)
{
    struct waiter offer;
    LOCAL_BOX(box) = offered_box(&offer, LBX_OVERFLOW_GROW);

    CHECK_INT(LBX_OUTCOME_GREW, offer.result.outcome);
    CHECK_INT(4, offer.result.capacity_messages);
    CHECK_TAKES(&box, 1, 2, 3);
    waiter_fini(&offer);
}

/* "Block = immediate error" was rejected; that is REJECT's, by name. */
BOX_TEST("B-16 B-11", reject_answers_full_at_once,
         box_bounded(1, LBX_OVERFLOW_REJECT))
{
    struct waiter offer;

    CHECK_OK(box_send(box, 1));
    waiter_send(&offer, box, 2, LBX_FOREVER);
    CHECK_STATUS(LBX_FULL, waiter_poll(&offer));
    waiter_fini(&offer);
    CHECK_STATUS(LBX_FULL, lbx_producer_send(box->in, message_of(2)));
    CHECK(!(lbx_mailbox_capabilities(box->mailbox) & LBX_CAPABILITY_BLOCK));
}

/* The blocking fronts of the other policies never park: a deadline for ever
 * comes back at once. */
TEST_CITING("B-11 C-27", other_policies_never_park_a_thread)
{
    static const lbx_overflow policies[] = {
        LBX_OVERFLOW_DROP_OLDEST, LBX_OVERFLOW_DROP_NEWEST, LBX_OVERFLOW_GROW};

    for (size_t i = 0; i < 3; i++) {
        struct box box = box_bounded(1, policies[i]);

        for (int number = 1; number <= 4; number++)
            CHECK_OK(lbx_producer_send_until(box.in, message_of(number),
                                             LBX_FOREVER));
        box_destroy(&box);
    }
}

/* Two sends wait, and are served in order. */
static void
check_blocks(struct box *box)
{
    struct waiter second, third;

    CHECK_OK(box_send(box, 1));
    waiter_send_pending(&second, box, 2);
    waiter_send_pending(&third, box, 3);
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&second));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&third));
    CHECK_TAKES(box, 2, 3);
    waiter_fini(&second);
    waiter_fini(&third);
}

/* All implementations change together: every kind that can be limited waits. */
TEST_CITING("B-05 B-02", every_bounded_kind_blocks)
{
    static const char *const kinds[] = {
        LBX_KIND_BOUNDED,
        LBX_KIND_BOUNDED_PRIORITY,
        LBX_KIND_BOUNDED_CONTROL_AWARE,
        LBX_KIND_BOUNDED_DEQUE,
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct box box =
            BOX(kinds[i], plain_options(), with.capacity_messages = 1,
                with.overflow = LBX_OVERFLOW_BLOCK);

        check_blocks(&box);
        box_destroy(&box);
    }
}

/* A kind of one's own supplies storage only; waiting works over it as it is. */
TEST_CITING("B-05 B-02", kind_of_ones_own_blocks)
{
    struct fussy fussy;
    struct box box = fussy_create(&fussy, 1, LBX_OVERFLOW_BLOCK);

    check_blocks(&box);
    fussy_destroy(&fussy, &box);
}

/* The storage fails for the waiting message, when its turn has come: it is
 * told so, keeps the message, and the next one is served. */
TEST_CITING("B-05 B-08 R-12", storage_that_fails_ends_one_wait_only)
{
    struct fussy fussy;
    struct box box = fussy_create(&fussy, 1, LBX_OVERFLOW_BLOCK);
    struct waiter second, third;

    CHECK_OK(box_send(&box, 1));
    waiter_send_pending(&second, &box, 2);
    fussy.answer = LBX_NO_MEMORY;
    CHECK_TAKES(&box, 1);
    CHECK_STATUS(LBX_NO_MEMORY, waiter_poll(&second));
    fussy.answer = LBX_OK;
    CHECK_INT(0, box_depth(&box));
    waiter_send(&third, &box, 3, LBX_FOREVER);
    CHECK_OK(waiter_poll(&third));
    CHECK_TAKES(&box, 3);
    CHECK_NOTHING(&box);
    waiter_fini(&second);
    waiter_fini(&third);
    fussy_destroy(&fussy, &box);
}

/* Queues that can always answer complete immediately. */
TEST_CITING("B-05", unlimited_kinds_complete_immediately)
{
    static const char *const kinds[] = {
        LBX_KIND_UNBOUNDED,
        LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
        LBX_KIND_UNBOUNDED_DEQUE,
        LBX_KIND_UNBOUNDED_PRIORITY,
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct waiter offer;
        struct box box =
            BOX(kinds[i], plain_options(), with.overflow = LBX_OVERFLOW_BLOCK);

        for (int number = 1; number <= 100; number++) {
            waiter_send(&offer, &box, number, LBX_FOREVER);
            CHECK_OK(waiter_poll(&offer));
            waiter_fini(&offer);
        }
        CHECK_INT(100, box_depth(&box));
        box_destroy(&box);
    }
}

/* A storage that fails for a reason of its own is not waited for: the sender
 * hears of it and keeps the message. */
TEST_CITING("B-08 C-33", errors_are_mapped_unchanged)
{
    static const lbx_status failures[] = {LBX_NO_MEMORY, LBX_REFUSED};

    for (size_t i = 0; i < 2; i++) {
        struct fussy fussy;
        struct box box = fussy_create(&fussy, 2, LBX_OVERFLOW_BLOCK);
        struct waiter offer;

        fussy.answer = failures[i];
        waiter_send(&offer, &box, 1, LBX_FOREVER);
        CHECK_STATUS(failures[i], waiter_poll(&offer));
        CHECK(!lbx_mailbox_is_closed(box.mailbox));
        fussy.answer = LBX_OK;
        waiter_fini(&offer);
        CHECK_OK(box_send(&box, 1));
        CHECK_TAKES(&box, 1);
        fussy_destroy(&fussy, &box);
    }
}

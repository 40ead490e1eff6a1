/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the front of post, of the doubles and of the resolvers
 * fails in turn; so does every one after it. */
#include <letterbox/post.h>
#include <letterbox/testing.h>

#include "support/test.h"
#include "support/torture.h"

#include <string.h>

/* OK, or for want of memory not. */
static bool
worked(lbx_status status)
{
    if (status != LBX_OK)
        CHECK_STATUS(LBX_NO_MEMORY, status);
    return status == LBX_OK;
}

/* Sends one with everything it may have; true when it is there. */
static bool
send_one(lbx_postbox *postbox, const lbx_routes *routes)
{
    static const lbx_attribute attribute = {"a", LBX_ATTRIBUTE_STRING, "l", "v",
                                            1};
    lbx_draft draft = lbx_draft_of_text("body");
    lbx_operation operation;
    lbx_status status;
    lbx_sent_letter sent;

    draft.routes = routes;
    draft.attributes = &attribute;
    draft.attribute_count = 1;
    CHECK_OK(lbx_postbox_send_init(&operation, postbox, &draft, 1, &sent,
                                   LBX_FOREVER));
    status = lbx_operation_wait(&operation);
    CHECK_STATUS(status, sent.status);
    lbx_operation_fini(&operation);
    return worked(status);
}

/* Answers a letter and settles it, in every way there is. */
static void
answer(lbx_postbox *postbox, lbx_letter *letter)
{
    lbx_draft reply = lbx_draft_of_text("reply");
    char receipt[LBX_RECEIPT_BYTES];
    lbx_settle_item settle = {.action = LBX_SETTLE_EXTEND,
                              .time_ns = LBX_SECOND};
    lbx_operation operation;
    lbx_status status;
    lbx_sent_letter sent;

    CHECK_OK(lbx_letter_receipt(letter, receipt, sizeof(receipt)));
    settle.receipt = receipt;
    (void)worked(lbx_postbox_settle_batch(postbox, &settle, 1));
    CHECK_OK(lbx_letter_reply_init(&operation, letter, &reply, &sent, NULL));
    (void)worked(lbx_operation_wait(&operation));
    lbx_operation_fini(&operation);
    status = lbx_letter_reply_and_acknowledge(letter, &reply, &sent, NULL);
    CHECK_INT(status == LBX_OK, lbx_letter_is_finalized(letter));
    (void)worked(status);
}

static void
use_fake(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *postbox = NULL, *outbox = NULL;
    lbx_postbox_registry *registry = NULL;
    lbx_routes *routes = NULL;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_letter *letter;
    lbx_status status;

    (void)context;
    options.allocator = &allocator;
    if (!worked(lbx_collecting_postbox_create(&options, &outbox)) ||
        !worked(lbx_postbox_registry_create(&allocator, &registry)) ||
        !worked(lbx_postbox_registry_add(registry, "there", outbox)) ||
        !worked(lbx_routes_single("there", &allocator, &routes)))
        goto out;
    options.resolver = lbx_postbox_registry_as_resolver(registry);
    if (!worked(lbx_fake_postbox_create(&options, &postbox)))
        goto out;
    if (send_one(postbox, routes)) {
        status = lbx_postbox_receive(postbox, 0, &letter);
        if (worked(status)) {
            CHECK_INT(1, lbx_letter_delivery_count(letter));
            answer(postbox, letter);
            lbx_letter_destroy(letter);
        } else { // it was put back: nothing is lost
            CHECK_OK(lbx_postbox_count(postbox, &counts));
            CHECK_INT(1, counts.ready);
        }
    }
    (void)worked(lbx_postbox_purge(postbox, NULL));

out:
    lbx_postbox_unref(postbox);
    lbx_routes_unref(routes);
    lbx_postbox_registry_destroy(registry);
    lbx_postbox_unref(outbox);
}

TEST(postboxes_survive_every_failing_allocation)
{
    CHECK(torture_every_allocation(use_fake, NULL) > 10);
}

/* A letter that is passed on: it is there once, here or there. */
static void
pass_on(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    const lbx_draft draft = lbx_draft_of_text("on");
    lbx_postbox *postbox;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_letter *letter;
    lbx_status status;
    lbx_sent_letter sent;

    (void)context;
    options.allocator = &allocator;
    if (!worked(lbx_fake_postbox_create(&options, &postbox)))
        return;
    if (send_one(postbox, NULL) &&
        worked(lbx_postbox_receive(postbox, 0, &letter))) {
        status =
            lbx_letter_send_and_acknowledge(letter, postbox, &draft, &sent);
        CHECK_STATUS(status, sent.status);
        CHECK_INT(worked(status), lbx_letter_is_finalized(letter));
        CHECK_OK(lbx_postbox_count(postbox, &counts));
        CHECK_INT(status == LBX_OK, counts.ready);
        CHECK_INT(status != LBX_OK, counts.leased);
        lbx_letter_destroy(letter);
    }
    lbx_postbox_unref(postbox);
}

TEST(a_letter_that_is_passed_on_is_there_once_without_memory)
{
    CHECK(torture_every_allocation(pass_on, NULL) > 4);
}

/* A receive that is cancelled with a letter in its hands: with memory it goes
 * back, without it stays leased; it is never lost. */
static void
cancel_receive(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_receive_options wait = LBX_RECEIVE_OPTIONS_INIT;
    lbx_postbox *postbox;
    lbx_operation operation;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_letter *letter;
    lbx_status status;
    size_t count;

    (void)context;
    options.allocator = &allocator;
    wait.wait_ns = -1;
    if (!worked(lbx_fake_postbox_create(&options, &postbox)))
        return;
    CHECK_OK(
        lbx_postbox_receive_init(&operation, postbox, &wait, &letter, &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    status = lbx_postbox_send(postbox, "x", 1, NULL);
    lbx_operation_fini(&operation);
    if (worked(status)) {
        CHECK_OK(lbx_postbox_count(postbox, &counts));
        CHECK_INT(1, counts.ready + counts.leased);
    }
    lbx_postbox_unref(postbox);
}

TEST(a_cancelled_receive_loses_nothing_without_memory)
{
    CHECK(torture_every_allocation(cancel_receive, NULL) > 4);
}

static lbx_status
make_null(void *context, const char *place, lbx_postbox **ret, lbx_fault *fault)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;

    (void)place;
    (void)fault;
    options.allocator = context;
    return lbx_null_postbox_create(&options, ret);
}

static void
use_chain(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_resolver_chain_options options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    lbx_postbox *found;
    lbx_resolver_chain *chain;

    (void)context;
    options.allocator = &allocator;
    options.factory = (lbx_resolver){make_null, &allocator};
    options.max_kept = 1;
    if (!worked(lbx_resolver_chain_create(&options, &chain)))
        return;
    for (int i = 0; i < 3; i++) {
        if (worked(lbx_resolver_resolve(lbx_resolver_chain_as_resolver(chain),
                                        i % 2 ? "a" : "b", &found, NULL)))
            lbx_postbox_unref(found);
    }
    lbx_resolver_chain_destroy(chain);
}

TEST(chains_survive_every_failing_allocation)
{
    CHECK(torture_every_allocation(use_chain, NULL) > 4);
}

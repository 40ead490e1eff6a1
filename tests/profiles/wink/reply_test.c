/* SPDX-License-Identifier: Apache-2.0 */
/* Ported: WINK's message and route tests, the five scenarios of its testing
 * page, and its resolvers (docs/origins.md, W-30). */
#include "profiles/wink/wink.h"

#include "support/local.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* A worker's mailbox whose replies go to two collecting ones. */
struct worker {
    struct mailbox requests;
    lbx_postbox_registry *registry;
    lbx_postbox *success;
    lbx_postbox *errors;
    lbx_type_registry *types;
    lbx_type *result;
    lbx_type *detailed; /* derived from result */
    lbx_type *summary;  /* derived from result */
    lbx_type *error;
    lbx_letter *letter;
};

/* A worker that is destroyed at the end of its scope, with a letter whose
 * replies go by this table. */
#define WORKER(name, table, count, rest)                                       \
    __attribute__((cleanup(worker_end))) struct worker *name =                 \
        worker_begin(table, count, rest)

static struct worker *
worker_begin(const lbx_routes_entry *table, size_t count, const char *rest)
{
    lbx_draft draft = lbx_draft_of_text("do it");
    struct worker *worker = malloc(sizeof(*worker));
    lbx_routes *routes;

    CHECK(worker);
    worker->result = test_type("t.Result", NULL);
    worker->detailed = test_type("t.Detailed", worker->result);
    worker->summary = test_type("t.Summary", worker->result);
    worker->error = test_type("t.Error", NULL);
    CHECK_OK(lbx_type_registry_create(NULL, &worker->types));
    CHECK_OK(lbx_type_registry_add(worker->types, worker->result));
    CHECK_OK(lbx_type_registry_add(worker->types, worker->detailed));
    CHECK_OK(lbx_type_registry_add(worker->types, worker->summary));
    CHECK_OK(lbx_type_registry_add(worker->types, worker->error));
    CHECK_OK(lbx_collecting_postbox_create(NULL, &worker->success));
    CHECK_OK(lbx_collecting_postbox_create(NULL, &worker->errors));
    CHECK_OK(lbx_postbox_registry_create(NULL, &worker->registry));
    CHECK_OK(lbx_postbox_registry_add(worker->registry, "c:success",
                                      worker->success));
    CHECK_OK(
        lbx_postbox_registry_add(worker->registry, "c:errors", worker->errors));
    mailbox_init(&worker->requests);
    worker->requests.options.resolver =
        lbx_postbox_registry_as_resolver(worker->registry);
    worker->requests.options.types = worker->types;
    mailbox_open(&worker->requests);
    CHECK_OK(lbx_routes_create(table, count, rest, NULL, &routes));
    draft.routes = routes;
    CHECK_OK(lbx_postbox_send_draft(worker->requests.postbox, &draft, NULL));
    lbx_routes_unref(routes);
    worker->letter = mailbox_receive(&worker->requests);
    return worker;
}

static void
worker_end(struct worker **ret)
{
    struct worker *worker = *ret;

    mailbox_close(&worker->requests);
    lbx_postbox_registry_destroy(worker->registry);
    lbx_postbox_unref(worker->errors);
    lbx_postbox_unref(worker->success);
    lbx_type_registry_destroy(worker->types);
    lbx_type_destroy(worker->error);
    lbx_type_destroy(worker->summary);
    lbx_type_destroy(worker->detailed);
    lbx_type_destroy(worker->result);
    free(worker);
}

static lbx_status
reply(struct worker *worker, const char *type_name, const char *text)
{
    lbx_draft draft = lbx_draft_of_text(text);
    lbx_sent_letter sent;
    lbx_status status;

    draft.type_name = type_name;
    status = lbx_letter_reply(worker->letter, &draft, &sent, NULL);
    CHECK_STATUS(status, sent.status);
    CHECK_INT(status == LBX_OK, sent.id.text[0] != '\0');
    return status;
}

static const lbx_routes_entry both[] = {{"t.Result", "c:success"},
                                        {"t.Error", "c:errors"}};

WINK_TEST_UNOPENED("W-02 W-11 W-30", typed_routing_to_two_mailboxes)
{
    WORKER(worker, both, 2, NULL);

    CHECK_OK(reply(worker, "t.Result", "done"));
    CHECK_OK(reply(worker, "t.Error", "failed"));
    CHECK_INT(1, lbx_collecting_postbox_count(worker->success));
    CHECK_STR("done", lbx_collecting_postbox_at(worker->success, 0)->body);
    CHECK_STR(lbx_letter_id(worker->letter),
              lbx_collecting_postbox_at(worker->success, 0)->in_reply_to);
    CHECK_STR("failed", lbx_collecting_postbox_at(worker->errors, 0)->body);
    CHECK(!lbx_letter_is_finalized(worker->letter));
    CHECK_OK(lbx_letter_acknowledge(worker->letter));
}

WINK_TEST_UNOPENED("W-02 W-21 W-30", inheritance_routing)
{
    WORKER(worker, both, 2, NULL);

    CHECK_OK(reply(worker, "t.Detailed", "1"));
    CHECK_OK(reply(worker, "t.Summary", "2"));
    CHECK_INT(2, lbx_collecting_postbox_count(worker->success));
}

WINK_TEST_UNOPENED("W-02 W-04 W-30", no_route_raises_with_the_type)
{
    WORKER(worker, both, 1, NULL);
    lbx_draft draft = lbx_draft_of_text("x");
    lbx_fault fault;

    draft.type_name = "t.Error";
    CHECK_STATUS(LBX_NO_ROUTE,
                 lbx_letter_reply(worker->letter, &draft, NULL, &fault));
    CHECK_STATUS(LBX_NO_ROUTE, fault.status);
    CHECK(strstr(fault.text, "t.Error"));
    draft.type_name = NULL; // the root itself, and no default
    CHECK_STATUS(LBX_NO_ROUTE,
                 lbx_letter_reply(worker->letter, &draft, NULL, &fault));
}

WINK_TEST_UNOPENED("W-02 W-03 W-04 W-30", default_fallback)
{
    WORKER(worker, both, 1, "c:errors");

    CHECK_OK(reply(worker, "t.Error", "1"));
    CHECK_OK(reply(worker, NULL, "2")); // the root goes to the default
    CHECK_OK(reply(worker, "t.Unknown", "3"));
    CHECK_INT(3, lbx_collecting_postbox_count(worker->errors));
    CHECK_OK(reply(worker, "t.Result", "4"));
    CHECK_INT(1, lbx_collecting_postbox_count(worker->success));
}

WINK_TEST_UNOPENED("W-11 W-13 W-30", reply_after_acknowledge_is_finalized)
{
    WORKER(worker, NULL, 0, "c:success");

    CHECK_OK(lbx_letter_acknowledge(worker->letter));
    CHECK_STATUS(LBX_FINALIZED, reply(worker, NULL, "late"));
    CHECK_INT(0, lbx_collecting_postbox_count(worker->success));
}

WINK_TEST_UNOPENED("W-11 W-13", reply_after_nack_is_finalized)
{
    WORKER(worker, NULL, 0, "c:success");

    CHECK_OK(lbx_letter_nack(worker->letter, 0));
    CHECK_STATUS(LBX_FINALIZED, reply(worker, NULL, "late"));
}

WINK_TEST_UNOPENED("W-11 W-40", an_unknown_route_is_not_available)
{
    WORKER(worker, NULL, 0, "c:unknown");

    CHECK_STATUS(LBX_NO_REPLY, reply(worker, NULL, "x"));
    CHECK(!lbx_letter_is_finalized(worker->letter));
}

WINK_TEST("W-11", reply_without_routes_is_not_available)
{
    const lbx_draft draft = lbx_draft_of_text("x");
    lbx_letter *letter = mailbox_deliver(mailbox, "x");

    CHECK_STATUS(LBX_NO_REPLY, lbx_letter_reply(letter, &draft, NULL, NULL));
}

TEST_CITING("W-35", a_failed_acknowledge_leaves_replies_possible)
{
    WORKER(worker, NULL, 0, "c:success");

    CHECK_OK(lbx_fake_postbox_expire(worker->requests.postbox, worker->letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(worker->letter));
    CHECK_OK(reply(worker, NULL, "still"));
    CHECK_INT(1, lbx_collecting_postbox_count(worker->success));
}

/* Without a resolver, routes without a default make the mailboxes they name,
 * once; a reply and its receive are a round trip in one store. */
WINK_BOXES_TEST("W-11 W-41", typed_routes_make_their_mailboxes_for_replies)
{
    static const lbx_routes_entry table[] = {{"t.Result", "results"}};
    lbx_draft draft = lbx_draft_of_text("do it");
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;
    lbx_postbox *results;
    lbx_routes *routes;
    lbx_letter *request, *result;

    CHECK_OK(lbx_routes_create(table, 1, NULL, NULL, &routes));
    draft.routes = routes;
    for (int i = 0; i < 2; i++) // the second finds what the first made
        CHECK_OK(lbx_postbox_send_draft(mailbox->postbox, &draft, NULL));
    options.must_exist = true;
    CHECK_OK(lbx_postbox_open_in(lbx_postbox_store(mailbox->postbox), "results",
                                 &options, &results));
    draft = lbx_draft_of_text("done");
    draft.type_name = "t.Result";
    for (int i = 0; i < 2; i++) {
        request = mailbox_receive(mailbox);
        CHECK_OK(lbx_letter_reply(request, &draft, NULL, NULL));
        CHECK_OK(lbx_letter_acknowledge(request));
        CHECK_OK(lbx_postbox_receive(results, 0, &result));
        CHECK_STR("done", lbx_letter_body(result, NULL));
        CHECK_OK(lbx_letter_info_read(result, &facts));
        CHECK_STR(lbx_letter_id(request), facts.in_reply_to);
        CHECK_OK(lbx_letter_acknowledge(result));
        lbx_letter_destroy(result);
    }
    lbx_postbox_unref(results);
    lbx_routes_unref(routes);
}

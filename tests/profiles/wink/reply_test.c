/* SPDX-License-Identifier: Apache-2.0 */
/* Ported: WINK's message and route tests, the five scenarios of its testing page,
 * and its resolvers (docs/origins.md, W-30). */
#include "profiles/wink/wink.h"

#include "support/test.h"

#include <string.h>

static lbx_type *
make_type(const char *name, const lbx_type *base)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *type;

    options.name = name;
    options.bases = &base;
    options.base_count = base ? 1 : 0;
    CHECK_OK(lbx_type_create(&options, &type));
    return type;
}

/* A worker's mailbox whose replies go to two collecting ones. */
struct office {
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

static void
office_open(struct office *office, const lbx_routes_entry *table, size_t count,
            const char *rest)
{
    lbx_draft draft = lbx_draft_of_text("do it");
    lbx_routes *routes;

    office->result = make_type("t.Result", NULL);
    office->detailed = make_type("t.Detailed", office->result);
    office->summary = make_type("t.Summary", office->result);
    office->error = make_type("t.Error", NULL);
    CHECK_OK(lbx_type_registry_create(NULL, &office->types));
    CHECK_OK(lbx_type_registry_add(office->types, office->result));
    CHECK_OK(lbx_type_registry_add(office->types, office->detailed));
    CHECK_OK(lbx_type_registry_add(office->types, office->summary));
    CHECK_OK(lbx_type_registry_add(office->types, office->error));
    CHECK_OK(lbx_collecting_postbox_create(NULL, &office->success));
    CHECK_OK(lbx_collecting_postbox_create(NULL, &office->errors));
    CHECK_OK(lbx_postbox_registry_create(NULL, &office->registry));
    CHECK_OK(lbx_postbox_registry_add(office->registry, "c:success",
                                      office->success));
    CHECK_OK(
        lbx_postbox_registry_add(office->registry, "c:errors", office->errors));
    mailbox_init(&office->requests);
    office->requests.options.resolver =
        lbx_postbox_registry_as_resolver(office->registry);
    office->requests.options.types = office->types;
    mailbox_open(&office->requests);
    CHECK_OK(lbx_routes_create(table, count, rest, NULL, &routes));
    draft.routes = routes;
    CHECK_OK(lbx_postbox_send_draft(office->requests.postbox, &draft, NULL));
    lbx_routes_unref(routes);
    office->letter = mailbox_receive(&office->requests);
}

static void
office_close(struct office *office)
{
    lbx_letter_destroy(office->letter);
    mailbox_close(&office->requests);
    lbx_postbox_registry_destroy(office->registry);
    lbx_postbox_unref(office->errors);
    lbx_postbox_unref(office->success);
    lbx_type_registry_destroy(office->types);
    lbx_type_destroy(office->error);
    lbx_type_destroy(office->summary);
    lbx_type_destroy(office->detailed);
    lbx_type_destroy(office->result);
}

static lbx_status
reply(struct office *office, const char *type_name, const char *text)
{
    lbx_draft draft = lbx_draft_of_text(text);
    lbx_sent_letter sent;
    lbx_status status;

    draft.type_name = type_name;
    status = lbx_letter_reply(office->letter, &draft, &sent, NULL);
    CHECK_STATUS(status, sent.status);
    CHECK_INT(status == LBX_OK, sent.id.text[0] != '\0');
    return status;
}

static const lbx_routes_entry both[] = {{"t.Result", "c:success"},
                                        {"t.Error", "c:errors"}};

WINK_TEST_UNOPENED("W-02 W-11 W-30", typed_routing_to_two_mailboxes)
{
    struct office office;

    office_open(&office, both, 2, NULL);
    CHECK_OK(reply(&office, "t.Result", "done"));
    CHECK_OK(reply(&office, "t.Error", "failed"));
    CHECK_INT(1, lbx_collecting_postbox_count(office.success));
    CHECK_STR("done", lbx_collecting_postbox_at(office.success, 0)->bytes);
    CHECK_STR(lbx_letter_id(office.letter),
              lbx_collecting_postbox_at(office.success, 0)->in_reply_to);
    CHECK_STR("failed", lbx_collecting_postbox_at(office.errors, 0)->bytes);
    CHECK(!lbx_letter_is_finalized(office.letter));
    CHECK_OK(lbx_letter_acknowledge(office.letter));
    office_close(&office);
}

WINK_TEST_UNOPENED("W-02 W-21 W-30", inheritance_routing)
{
    struct office office;

    office_open(&office, both, 2, NULL);
    CHECK_OK(reply(&office, "t.Detailed", "1"));
    CHECK_OK(reply(&office, "t.Summary", "2"));
    CHECK_INT(2, lbx_collecting_postbox_count(office.success));
    office_close(&office);
}

WINK_TEST_UNOPENED("W-02 W-04 W-30", no_route_raises_with_the_type)
{
    lbx_draft draft = lbx_draft_of_text("x");
    struct office office;
    lbx_fault fault;

    office_open(&office, both, 1, NULL);
    draft.type_name = "t.Error";
    CHECK_STATUS(LBX_NO_ROUTE,
                 lbx_letter_reply(office.letter, &draft, NULL, &fault));
    CHECK_STATUS(LBX_NO_ROUTE, fault.status);
    CHECK(strstr(fault.text, "t.Error"));
    draft.type_name = NULL; // the root itself, and no default
    CHECK_STATUS(LBX_NO_ROUTE,
                 lbx_letter_reply(office.letter, &draft, NULL, &fault));
    office_close(&office);
}

WINK_TEST_UNOPENED("W-02 W-03 W-04 W-30", default_fallback)
{
    struct office office;

    office_open(&office, both, 1, "c:errors");
    CHECK_OK(reply(&office, "t.Error", "1"));
    CHECK_OK(reply(&office, NULL, "2")); // the root goes to the default
    CHECK_OK(reply(&office, "t.NobodyKnows", "3"));
    CHECK_INT(3, lbx_collecting_postbox_count(office.errors));
    CHECK_OK(reply(&office, "t.Result", "4"));
    CHECK_INT(1, lbx_collecting_postbox_count(office.success));
    office_close(&office);
}

WINK_TEST_UNOPENED("W-11 W-13 W-30", reply_after_acknowledge_is_finalized)
{
    struct office office;

    office_open(&office, NULL, 0, "c:success");
    CHECK_OK(lbx_letter_acknowledge(office.letter));
    CHECK_STATUS(LBX_FINALIZED, reply(&office, NULL, "late"));
    CHECK_INT(0, lbx_collecting_postbox_count(office.success));
    office_close(&office);
}

WINK_TEST_UNOPENED("W-11 W-13", reply_after_nack_is_finalized)
{
    struct office office;

    office_open(&office, NULL, 0, "c:success");
    CHECK_OK(lbx_letter_nack(office.letter, 0));
    CHECK_STATUS(LBX_FINALIZED, reply(&office, NULL, "late"));
    office_close(&office);
}

WINK_TEST_UNOPENED("W-11 W-40", an_unknown_route_is_not_available)
{
    struct office office;

    office_open(&office, NULL, 0, "c:nobody");
    CHECK_STATUS(LBX_NO_REPLY, reply(&office, NULL, "x"));
    CHECK(!lbx_letter_is_finalized(office.letter));
    office_close(&office);
}

WINK_TEST("W-11", reply_without_routes_is_not_available)
{
    const lbx_draft draft = lbx_draft_of_text("x");
    lbx_letter *letter;

    mailbox_send(mailbox, "x");
    letter = mailbox_receive(mailbox);
    CHECK_STATUS(LBX_NO_REPLY, lbx_letter_reply(letter, &draft, NULL, NULL));
    lbx_letter_destroy(letter);
}

TEST_CITING("W-35", a_failed_acknowledge_leaves_replies_possible)
{
    struct office office;

    office_open(&office, NULL, 0, "c:success");
    CHECK_OK(lbx_fake_postbox_expire(office.requests.postbox, office.letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(office.letter));
    CHECK_OK(reply(&office, NULL, "still"));
    CHECK_INT(1, lbx_collecting_postbox_count(office.success));
    office_close(&office);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Error replies: the failure as the answer, in the library's type and in one of
 * the program's own. */
#include "failing.h"

#include <letterbox/compat/wink.h>

#include <stdio.h>

COURIER_TEST("R-44", without_a_policy_the_error_can_be_the_answer,
             fixture_open_with(fx, fail_badly, NULL))
{
    const lbx_wink_result *result;
    lbx_letter *letter;
    void *message;

    fx->options.reply_on_failure = true;
    fixture_send(fx, "a book");
    fixture_send_draft(fx, lbx_draft_of_text("without routes"));
    fixture_run(fx, 2);
    CHECK_COUNTS(fx, "requests", 0, 0, 0);
    letter = fixture_take(fx->answers);
    CHECK_OK(lbx_letter_message(letter, &message));
    result = message;
    CHECK_STR("no address", result->error);
    CHECK_STR("requests-1", result->request_id.text); // no request: its own id
    lbx_letter_destroy(letter);
    CHECK_COUNTS(fx, "answers", 0, 0, 0);
}

TEST_CITING("R-44", an_error_that_cannot_be_answered_comes_again)
{
    struct diary diary = {.fail_at = 1, .status = LBX_UNREACHABLE};
    FIXTURE(fx);

    fixture_open_with(&fx, fail_badly, NULL);
    fx.options.reply_on_failure = true;
    fixture_send(&fx, "a book");
    fixture_before(&fx, write_down, &diary);
    fixture_run(&fx, 1);
    CHECK_STR("RN", diary.text);
    CHECK_COUNTS(&fx, "requests", 0, 0, 1);
}

/* ---- In a type of the program's own ---- */

struct own_reply {
    bool settles;      /* against the rules */
    const char *type;  /* of the reply */
    lbx_status status; /* of reply_error */
};

static lbx_status
fail_with_own_reply(lbx_job *job, void *context)
{
    (void)context;
    return fail_badly(job, NULL);
}

static lbx_status
reply_in_own_type(lbx_job *job, const lbx_job_failure *failure, void *context)
{
    struct own_reply *own = context;
    char text[64];
    lbx_draft draft;

    snprintf(text, sizeof(text), "%s: %s", failure->error_type,
             failure->error_text);
    draft = lbx_draft_of_text(text);
    draft.type_name = own->type;
    own->status = lbx_letter_reply(lbx_job_letter(job), &draft, NULL, NULL);
    if (own->settles)
        CHECK_OK(lbx_letter_nack(lbx_job_letter(job), 0));
    return own->status;
}

static void
open_with_own_reply(struct fixture *fx, struct own_reply *own, bool policy)
{
    open_with_policy(fx, 1);
    if (!policy)
        fx->options.dead_letters.postbox = NULL;
    fx->options.reply_on_failure = true;
    fx->options.handle = fail_with_own_reply;
    fx->options.reply_error = reply_in_own_type;
    fx->options.context = own;
}

TEST(the_error_reply_is_what_the_program_makes_of_the_failure)
{
    for (int policy = 0; policy <= 1; policy++) {
        struct own_reply own = {.type = "shop.Failed"};
        lbx_letter *letter;
        FIXTURE(fx);

        open_with_own_reply(&fx, &own, policy);
        fixture_deliver(&fx, "a book", 1);
        CHECK_OK(own.status);
        CHECK_COUNTS(&fx, "requests", 0, 0, 0);
        CHECK_COUNTS(&fx, "dead", (size_t)policy, 0, 0);
        CHECK_COUNTS(&fx, "answers", 1, 0, 0); // and no letterbox.Result
        letter = fixture_take(fx.answers);
        CHECK_STR("shop.Failed", lbx_letter_type_name(letter));
        CHECK_STR("shop.BadOrder: no address", lbx_letter_body(letter, NULL));
        lbx_letter_destroy(letter);
    }
}

/* A reply that has no route is logged; the letter is settled all the same. */
TEST(an_own_error_reply_without_a_route_is_logged_with_the_routes)
{
    static const lbx_routes_entry table[] = {{"shop.Done", "answers"}};

    for (int policy = 0; policy <= 1; policy++) {
        struct own_reply own = {.type = "shop.Failed"};
        lbx_draft draft = lbx_draft_of_text("a book");
        lbx_routes *routes;
        FIXTURE(fx);

        CHECK_OK(lbx_routes_create(table, 1, NULL, NULL, &routes));
        open_with_own_reply(&fx, &own, policy);
        draft.routes = routes;
        fixture_send_draft(&fx, draft);
        fixture_run(&fx, 1);
        CHECK_STATUS(LBX_NO_ROUTE, own.status);
        CHECK(fixture_has_logged(&fx, "no error reply: no route"));
        CHECK(fixture_has_logged(&fx, "shop.Done"));
        CHECK_COUNTS(&fx, "requests", 0, 0, 0);
        CHECK_COUNTS(&fx, "dead", (size_t)policy, 0, 0);
        lbx_routes_unref(routes);
    }
}

/* JOB-1 holds for reply_error too. */
TEST(a_letter_that_reply_error_has_settled_is_left_as_it_is)
{
    for (int policy = 0; policy <= 1; policy++) {
        struct own_reply own = {.type = "shop.Failed", .settles = true};
        FIXTURE(fx);

        open_with_own_reply(&fx, &own, policy);
        fixture_deliver(&fx, "a book", 1);
        CHECK_COUNTS(&fx, "requests", 1, 0, 0);
        CHECK_COUNTS(&fx, "dead", 0, 0, 0);
        CHECK_INT(0, fixture_stats(&fx)->unsettled);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A failed letter that is put aside: at which delivery, and all that its dead
 * letter says about it. The order of the steps is in put_aside_test.c, error
 * replies are in error_reply_test.c. */
#include "failing.h"

#include <letterbox/compat/wink.h>

#include "base/clock.h"
#include "support/local_post.h"

#include <string.h>

COURIER_TEST("W-25 R-44", the_fifth_failure_puts_a_letter_aside_with_all_of_it,
             open_with_policy(fx, 5))
{
    lbx_wink_request request = lbx_wink_request_of("{\"order\":1}");
    lbx_draft draft = lbx_draft_of_message(lbx_wink_request_type(), &request);
    const lbx_dead_letter_record *record;
    const lbx_wink_result *result;
    const int64_t before = lbx__clock_wall_ms();
    lbx_letter *letter;
    int64_t first_ms;
    void *message;

    first_ms = test_clock_now(&fx->time) / LBX_MS;
    draft.routes = fx->routes;
    draft.trace = "trace-1";
    fixture_send_draft(fx, draft);
    for (int i = 1; i <= 4; i++) {
        fixture_run(fx, 1);
        CHECK_COUNTS(fx, "requests", 0, 0, 1);
        CHECK_COUNTS(fx, "dead", 0, 0, 0);
        CHECK_COUNTS(fx, "answers", 0, 0, 0); // no error reply yet
        fixture_advance(fx, 900 * LBX_SECOND);
    }
    fixture_run(fx, 1);
    CHECK_COUNTS(fx, "requests", 0, 0, 0);
    CHECK_COUNTS(fx, "dead", 1, 0, 0);
    CHECK_INT(1, fixture_stats(fx)->dead_letters);
    CHECK_INT(4, fixture_stats(fx)->returned);
    CHECK_INT(1, fixture_stats(fx)->acknowledged);

    letter = fixture_take(fx->dead);
    record = record_in(letter);
    CHECK_STR("requests-1", record->message_id.text);
    CHECK(strstr(record->body, "\"payload\":{\"order\":1}") != NULL);
    CHECK_STR("letterbox.Request", record->body_type);
    CHECK_STR("requests", record->source_mailbox);
    CHECK_INT(5, record->delivery_count);
    CHECK_STR("no address", record->last_error);
    CHECK_STR("shop.BadOrder", record->last_error_type);
    CHECK(record->dead_lettered_ms >= before &&
          record->dead_lettered_ms <= lbx__clock_wall_ms());
    CHECK_INT(first_ms, record->first_received_ms);
    CHECK_STR(request.request_id.text, record->request_id.text);
    CHECK_STR("answers", record->reply_mailbox);
    CHECK_STR("trace-1", record->trace_id);
    lbx_letter_destroy(letter);

    letter = fixture_take(fx->answers); // the waiting program gets a reply
    CHECK_OK(lbx_letter_message(letter, &message));
    result = message;
    CHECK_STR(request.request_id.text, result->request_id.text);
    CHECK_STR("no address", result->error);
    CHECK_PTR(NULL, result->output);
    lbx_letter_destroy(letter);
}

COURIER_TEST("R-44", a_letter_of_any_bytes_can_be_put_aside,
             open_with_policy(fx, 1))
{
    static const char bytes[] = {0, (char)0xff, 'x', 0};
    const lbx_dead_letter_record *record;
    LOCAL_LETTER(letter);

    fixture_send_draft(fx, lbx_draft_of_bytes(bytes, sizeof(bytes)));
    fixture_run(fx, 1);
    letter = fixture_take(fx->dead);
    record = record_in(letter);
    CHECK_INT(sizeof(bytes), record->body_bytes);
    CHECK(memcmp(bytes, record->body, sizeof(bytes)) == 0);
    CHECK_PTR(NULL, record->body_type);
    CHECK_PTR(NULL, record->reply_mailbox);
    CHECK_PTR(NULL, record->trace_id);
    CHECK_STR("", record->request_id.text);
}

static lbx_status
fail_plainly(lbx_job *job, void *context)
{
    (void)job;
    return *(const lbx_status *)context;
}

TEST(a_failure_without_words_has_those_of_its_status)
{
    lbx_status status = LBX_DENIED;
    const lbx_dead_letter_record *record;
    FIXTURE(fx);
    LOCAL_LETTER(letter);

    open_with_policy(&fx, 1);
    fx.options.handle = fail_plainly;
    fx.options.context = &status;
    fixture_deliver(&fx, "a book", 1);
    letter = fixture_take(fx.dead);
    record = record_in(letter);
    CHECK_STR("LBX_DENIED", record->last_error_type);
    CHECK_STR(lbx_status_text(LBX_DENIED), record->last_error);
}

static lbx_status
fail_with_words_once(lbx_job *job, void *context)
{
    int *failures = context;

    return ++*failures == 1 ? lbx_job_fail(job, LBX_INVALID, "shop.Bad", "bad")
                            : LBX_DENIED;
}

TEST(the_words_of_one_failure_are_not_those_of_the_next)
{
    int failures = 0;
    FIXTURE(fx);

    open_with_policy(&fx, 1);
    fx.options.handle = fail_with_words_once;
    fx.options.context = &failures;
    for (int i = 0; i < 2; i++) {
        const lbx_dead_letter_record *record;
        lbx_letter *letter;

        fixture_deliver(&fx, "a book", 1);
        letter = fixture_take(fx.dead);
        record = record_in(letter);
        CHECK_STR(i == 0 ? "shop.Bad" : "LBX_DENIED", record->last_error_type);
        CHECK_STR(i == 0 ? "bad" : lbx_status_text(LBX_DENIED),
                  record->last_error);
        lbx_letter_destroy(letter);
    }
}

/* Any text of a handler can be part of a dead letter. */
static lbx_status
fail_noisily(lbx_job *job, void *context)
{
    char text[4000];

    (void)context;
    memset(text, 'x', sizeof(text));
    memcpy(text,
           "a\xff"
           "b",
           3);
    memcpy(text + 1022, "\xc3\xa4", 2); // cut in the middle of a character
    text[sizeof(text) - 1] = '\0';
    return lbx_job_fail(job, LBX_REFUSED, "\xfe", text);
}

COURIER_TEST("", words_that_are_no_text_or_too_long_are_mended,
             open_with_policy(fx, 1))
{
    const lbx_dead_letter_record *record;
    LOCAL_LETTER(letter);

    fx->options.handle = fail_noisily;
    fixture_deliver(fx, "a book", 1);
    letter = fixture_take(fx->dead);
    record = record_in(letter);
    CHECK_STR("?", record->last_error_type);
    CHECK_INT(1022, strlen(record->last_error));
    CHECK(strncmp(record->last_error, "a?bxx", 5) == 0);
}

TEST_CITING("R-44", error_types_decide_whole_letters)
{
    static const char *const include[] = {"shop.BadOrder"};
    struct fixture fx;

    open_with_policy(&fx, 5);
    fx.options.dead_letters.include = include;
    fx.options.dead_letters.include_count = 1;
    fixture_deliver(&fx, "a book", 1);
    CHECK_COUNTS(&fx, "dead", 1, 0, 0); // at once
    fixture_close(&fx);

    open_with_policy(&fx, 1);
    fx.options.dead_letters.exclude = include;
    fx.options.dead_letters.exclude_count = 1;
    fixture_deliver(&fx, "a book", 1);
    CHECK_COUNTS(&fx, "dead", 0, 0, 0); // never
    CHECK_COUNTS(&fx, "requests", 0, 0, 1);
    fixture_close(&fx);
}

static lbx_status
refuse(lbx_job *job, void *context)
{
    (void)job;
    (void)context;
    return LBX_REFUSED;
}

/* What the record says is about the handler, and a letter without routes lacks
 * no answer. */
COURIER_TEST("", a_refused_letter_names_the_handler_as_refusing_it,
             open_with_policy(fx, 1))
{
    const lbx_dead_letter_record *record;
    lbx_letter *letter;

    fx->options.handle = refuse;
    fixture_send_draft(fx, lbx_draft_of_text("a book"));
    fixture_run(fx, 1);
    letter = fixture_take(fx->dead);
    record = record_in(letter);
    CHECK_STR("LBX_REFUSED", record->last_error_type);
    CHECK_STR("the handler refused the letter", record->last_error);
    lbx_letter_destroy(letter);
    CHECK(fixture_has_logged(fx, "the handler refused the letter"));
    CHECK(!fixture_has_logged(fx, "no error reply"));
}

COURIER_TEST("", a_courier_with_a_name_writes_it_before_its_lines,
             open_with_policy(fx, 1))
{
    fx->options.handle = refuse;
    fx->options.name = "billing";
    fixture_send_draft(fx, lbx_draft_of_text("a book"));
    fixture_run(fx, 1);
    CHECK(fixture_has_logged(fx, "billing: "));
}

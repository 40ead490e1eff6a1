/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters: what is put aside, in which order, and what is in it. */
#include "shelf.h"

#include <letterbox/compat/wink.h>

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static lbx_status
fail_badly(lbx_job *job, void *context)
{
    (void)context;
    return lbx_job_fail(job, LBX_INVALID, "shop.BadOrder", "no address");
}

static void
open_with_policy(struct desk *desk, uint32_t deliveries)
{
    desk_open(desk);
    desk->options.handle = fail_badly;
    desk->options.dead_letters.postbox = desk->dead;
    desk->options.dead_letters.deliveries = deliveries;
}

static lbx_dead_letter_record *
record_in(lbx_letter *letter)
{
    void *record;

    CHECK_STR("letterbox.DeadLetter", lbx_letter_type_name(letter));
    CHECK_OK(lbx_letter_message(letter, &record));
    return record;
}

TEST_CITING("W-25 R-44", the_fifth_failure_puts_a_letter_aside_with_all_of_it)
{
    lbx_wink_request request = lbx_wink_request_of("{\"order\":1}");
    lbx_draft draft = lbx_draft_of_message(lbx_wink_request_type(), &request);
    const lbx_dead_letter_record *record;
    const lbx_wink_result *result;
    const int64_t before = lbx__clock_wall_ms();
    lbx_letter *letter;
    struct desk desk;
    int64_t first_ms;
    void *message;

    open_with_policy(&desk, 5);
    first_ms = test_clock_now(&desk.time) / LBX_MS;
    draft.routes = desk.routes;
    draft.trace = "trace-1";
    desk_send_draft(&desk, draft);
    for (int i = 1; i <= 4; i++) {
        desk_run(&desk, 1);
        CHECK_COUNTS(&desk, "requests", 0, 0, 1);
        CHECK_COUNTS(&desk, "dead", 0, 0, 0);
        CHECK_COUNTS(&desk, "answers", 0, 0, 0); // no error reply yet
        shelf_advance(&desk.shelf, 900 * LBX_SECOND);
    }
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    CHECK_COUNTS(&desk, "dead", 1, 0, 0);
    CHECK_INT(1, desk_stats(&desk)->dead);
    CHECK_INT(4, desk_stats(&desk)->returned);
    CHECK_INT(1, desk_stats(&desk)->acknowledged);

    letter = desk_take(desk.dead);
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

    letter = desk_take(desk.answers); // who waits for an answer gets one
    CHECK_OK(lbx_letter_message(letter, &message));
    result = message;
    CHECK_STR(request.request_id.text, result->request_id.text);
    CHECK_STR("no address", result->error);
    CHECK_PTR(NULL, result->output);
    lbx_letter_destroy(letter);
    desk_close(&desk);
}

TEST_CITING("R-44", a_letter_of_any_bytes_can_be_put_aside)
{
    static const char bytes[] = {0, (char)0xff, 'x', 0};
    const lbx_dead_letter_record *record;
    lbx_letter *letter;
    struct desk desk;

    open_with_policy(&desk, 1);
    desk_send_draft(&desk, lbx_draft_of_bytes(bytes, sizeof(bytes)));
    desk_run(&desk, 1);
    letter = desk_take(desk.dead);
    record = record_in(letter);
    CHECK_INT(sizeof(bytes), record->body_bytes);
    CHECK(memcmp(bytes, record->body, sizeof(bytes)) == 0);
    CHECK_PTR(NULL, record->body_type);
    CHECK_PTR(NULL, record->reply_mailbox);
    CHECK_PTR(NULL, record->trace_id);
    CHECK_STR("", record->request_id.text);
    lbx_letter_destroy(letter);
    desk_close(&desk);
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
    lbx_letter *letter;
    struct desk desk;

    open_with_policy(&desk, 1);
    desk.options.handle = fail_plainly;
    desk.options.context = &status;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    letter = desk_take(desk.dead);
    record = record_in(letter);
    CHECK_STR("LBX_DENIED", record->last_error_type);
    CHECK_STR(lbx_status_text(LBX_DENIED), record->last_error);
    lbx_letter_destroy(letter);
    desk_close(&desk);
}

/* Whatever a handler says, it can stand in a dead letter. */
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

TEST(words_that_are_no_text_or_too_long_are_mended)
{
    const lbx_dead_letter_record *record;
    lbx_letter *letter;
    struct desk desk;

    open_with_policy(&desk, 1);
    desk.options.handle = fail_noisily;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    letter = desk_take(desk.dead);
    record = record_in(letter);
    CHECK_STR("?", record->last_error_type);
    CHECK_INT(1022, strlen(record->last_error));
    CHECK(strncmp(record->last_error, "a?bxx", 5) == 0);
    lbx_letter_destroy(letter);
    desk_close(&desk);
}

/* ---- Order, and what may go wrong in between ---- */

/* Writes down what was done to the stores: R a reply, D a dead letter, A an
 * acknowledgement, B both in one step, N a nack; fails at the given one. */
struct diary {
    char text[32];
    int fail_at; /* from 1; 0: never */
    lbx_status status;
};

static lbx_status
write_down(void *context, lbx_verb verb, const void *request)
{
    struct diary *diary = context;
    const lbx_send_request *send = request;
    const lbx_settle_request *settle = request;
    const size_t used = strlen(diary->text);

    if (verb == LBX_VERB_SEND)
        diary->text[used] =
            strcmp(send->parcels[0].type_name, "letterbox.DeadLetter") == 0
                ? 'D'
                : 'R';
    else if (verb == LBX_VERB_SETTLE)
        diary->text[used] = settle->entries[0].what != LBX_ACKNOWLEDGE ? 'N'
                            : settle->entries[0].attachment_count > 0  ? 'B'
                                                                       : 'A';
    else
        return LBX_OK;
    return diary->fail_at == (int)used + 1 ? diary->status : LBX_OK;
}

static void
put_aside(struct desk *desk, struct diary *diary)
{
    open_with_policy(desk, 1);
    desk_send(desk, "a book");
    desk->shelf.before = write_down;
    desk->shelf.context = diary;
    desk_run(desk, 1);
    desk->shelf.before = NULL;
}

TEST_CITING("R-44", first_the_reply_then_the_dead_letter_with_the_end)
{
    struct diary diary = {.fail_at = 0};
    struct desk desk;

    put_aside(&desk, &diary);
    CHECK_STR("RB", diary.text);
    desk_close(&desk);
}

TEST_CITING("R-44", an_error_reply_may_fail)
{
    struct diary diary = {.fail_at = 1, .status = LBX_UNREACHABLE};
    struct desk desk;

    put_aside(&desk, &diary);
    CHECK_STR("RB", diary.text);
    CHECK_COUNTS(&desk, "answers", 0, 0, 0);
    CHECK_COUNTS(&desk, "dead", 1, 0, 0);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    desk_close(&desk);
}

TEST_CITING("R-44", what_cannot_be_put_aside_is_not_lost)
{
    static const lbx_status failures[] = {LBX_FULL, LBX_UNREACHABLE,
                                          LBX_NO_SPACE, LBX_UNKNOWN};

    for (size_t i = 0; i < 4; i++) {
        struct diary diary = {.fail_at = 2, .status = failures[i]};
        struct desk desk;

        put_aside(&desk, &diary);
        CHECK_STR("RBN", diary.text);
        CHECK_COUNTS(&desk, "dead", 0, 0, 0);
        CHECK_COUNTS(&desk, "requests", 0, 0, 1);
        CHECK_INT(0, desk_stats(&desk)->dead);
        CHECK_INT(1, desk_stats(&desk)->returned);
        CHECK(desk_has_logged(&desk, "not put aside"));
        desk_close(&desk);
    }
}

static lbx_status
expire(lbx_job *job, void *context)
{
    struct desk *desk = context;

    shelf_advance(&desk->shelf, 301 * LBX_SECOND);
    return lbx_job_fail(job, LBX_REFUSED, "slow", "too slow");
}

/* Somebody else has it meanwhile, who may do better: it is never in both. */
TEST_CITING("R-44", a_letter_that_is_not_ours_any_more_is_not_put_aside)
{
    struct desk desk;

    open_with_policy(&desk, 1);
    desk.options.handle = expire;
    desk.options.context = &desk;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "dead", 0, 0, 0);
    CHECK_COUNTS(&desk, "requests", 1, 0, 0);
    CHECK_INT(1, desk_stats(&desk)->lost_leases);
    CHECK_INT(0, desk_stats(&desk)->dead);
    desk_close(&desk);
}

/* ---- Dead letters in another store ---- */

struct apart {
    struct desk desk;
    struct shelf other;
    lbx_postbox *dead;
};

static void
open_apart(struct apart *apart, struct diary *diary)
{
    open_with_policy(&apart->desk, 1);
    shelf_open(&apart->other, &apart->desk.time);
    CHECK_OK(
        lbx_postbox_open_in(&apart->other.base, "dead", NULL, &apart->dead));
    apart->desk.options.dead_letters.postbox = apart->dead;
    desk_send(&apart->desk, "a book");
    apart->desk.shelf.before = apart->other.before = write_down;
    apart->desk.shelf.context = apart->other.context = diary;
}

static void
check_dead_apart(struct apart *apart, size_t count)
{
    size_t ready, leased, delayed;

    shelf_count(&apart->other, "dead", &ready, &leased, &delayed);
    CHECK_INT(count, ready);
    CHECK_INT(0, leased + delayed);
}

static void
close_apart(struct apart *apart)
{
    lbx_postbox_unref(apart->dead);
    desk_close(&apart->desk);
    lbx_store_unref(&apart->other.base);
}

TEST_CITING("R-44", in_another_store_the_dead_letter_comes_before_the_end)
{
    struct diary diary = {.fail_at = 0};
    struct apart apart;

    open_apart(&apart, &diary);
    desk_run(&apart.desk, 1);
    CHECK_STR("RDA", diary.text);
    check_dead_apart(&apart, 1);
    CHECK_COUNTS(&apart.desk, "requests", 0, 0, 0);
    CHECK_INT(1, desk_stats(&apart.desk)->dead);
    CHECK_INT(1, desk_stats(&apart.desk)->acknowledged);
    close_apart(&apart);
}

TEST_CITING("R-44", what_another_store_does_not_take_is_not_lost)
{
    struct diary diary = {.fail_at = 2, .status = LBX_UNREACHABLE};
    struct apart apart;

    open_apart(&apart, &diary);
    desk_run(&apart.desk, 1);
    CHECK_STR("RDN", diary.text);
    check_dead_apart(&apart, 0);
    CHECK_COUNTS(&apart.desk, "requests", 0, 0, 1);
    CHECK_INT(0, desk_stats(&apart.desk)->dead);
    close_apart(&apart);
}

/* A crash between the dead letter and the acknowledgement: it is put aside again,
 * and is there once. */
TEST_CITING("R-44", a_letter_that_dies_twice_is_aside_once)
{
    struct diary diary = {.fail_at = 3, .status = LBX_UNREACHABLE};
    struct apart apart;

    open_apart(&apart, &diary);
    desk_run(&apart.desk, 1);
    CHECK_STR("RDA", diary.text);
    check_dead_apart(&apart, 1);
    CHECK_COUNTS(&apart.desk, "requests", 0, 1, 0); // still leased
    CHECK_INT(1, desk_stats(&apart.desk)->unsettled);
    shelf_advance(&apart.desk.shelf, 300 * LBX_SECOND);
    desk_run(&apart.desk, 1);
    CHECK_COUNTS(&apart.desk, "requests", 0, 0, 0);
    check_dead_apart(&apart, 1);
    close_apart(&apart);
}

/* Somebody else has it meanwhile: our acknowledgement is too late, and no harm. */
TEST_CITING("R-44",
            in_another_store_an_expired_lease_does_not_stop_a_dead_letter)
{
    struct diary diary = {.fail_at = 0};
    struct apart apart;

    open_apart(&apart, &diary);
    apart.desk.options.handle = expire;
    apart.desk.options.context = &apart.desk;
    desk_run(&apart.desk, 1);
    check_dead_apart(&apart, 1);
    CHECK_COUNTS(&apart.desk, "requests", 1, 0, 0);
    CHECK_INT(1, desk_stats(&apart.desk)->lost_leases);
    close_apart(&apart);
}

/* ---- The other branches ---- */

TEST_CITING("R-44", without_a_policy_the_error_can_be_the_answer)
{
    const lbx_wink_result *result;
    lbx_letter *letter;
    struct desk desk;
    void *message;

    desk_open(&desk);
    desk.options.handle = fail_badly;
    desk.options.answer_failures = true;
    desk_send(&desk, "a book");
    desk_send_draft(&desk, lbx_draft_of_text("without routes"));
    desk_run(&desk, 2);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    letter = desk_take(desk.answers);
    CHECK_OK(lbx_letter_message(letter, &message));
    result = message;
    CHECK_STR("no address", result->error);
    CHECK_STR("requests-1", result->request_id.text); // no request: its own id
    lbx_letter_destroy(letter);
    CHECK_COUNTS(&desk, "answers", 0, 0, 0);
    desk_close(&desk);
}

TEST_CITING("R-44", an_error_that_cannot_be_answered_comes_again)
{
    struct diary diary = {.fail_at = 1, .status = LBX_UNREACHABLE};
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = fail_badly;
    desk.options.answer_failures = true;
    desk_send(&desk, "a book");
    desk.shelf.before = write_down;
    desk.shelf.context = &diary;
    desk_run(&desk, 1);
    CHECK_STR("RN", diary.text);
    CHECK_COUNTS(&desk, "requests", 0, 0, 1);
    desk_close(&desk);
}

TEST_CITING("R-44", error_types_decide_whole_letters)
{
    static const char *const include[] = {"shop.BadOrder"};
    struct desk desk;

    open_with_policy(&desk, 5);
    desk.options.dead_letters.include = include;
    desk.options.dead_letters.include_count = 1;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "dead", 1, 0, 0); // at once
    desk_close(&desk);

    open_with_policy(&desk, 1);
    desk.options.dead_letters.exclude = include;
    desk.options.dead_letters.exclude_count = 1;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "dead", 0, 0, 0); // never
    CHECK_COUNTS(&desk, "requests", 0, 0, 1);
    desk_close(&desk);
}

/* ---- The consumer of dead letters ---- */

static lbx_status
inspect(lbx_job *job, void *context)
{
    int *seen = context;

    CHECK_STR("no address", record_in(lbx_job_letter(job))->last_error);
    ++*seen;
    return *seen == 1 ? LBX_REFUSED : LBX_OK;
}

TEST_CITING("R-44", dead_letters_are_consumed_by_the_hour)
{
    lbx_courier *consumer;
    lbx_courier_options options = lbx_courier_options_dead_letters();
    struct desk desk;
    int seen = 0;

    open_with_policy(&desk, 1);
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    options.clock = &desk.clock;
    options.postbox = desk.dead;
    options.handle = inspect;
    options.context = &seen;
    options.wait_ns = 0;
    CHECK_OK(lbx_courier_create(&options, &consumer));
    CHECK_OK(lbx_courier_run(consumer, 1));
    CHECK_COUNTS(&desk, "dead", 0, 0, 1);
    shelf_advance(&desk.shelf, 3600 * LBX_SECOND - 1);
    CHECK_OK(lbx_courier_run(consumer, 1));
    CHECK_INT(1, seen);
    shelf_advance(&desk.shelf, 1);
    CHECK_OK(lbx_courier_run(consumer, 1));
    CHECK_INT(2, seen);
    CHECK_COUNTS(&desk, "dead", 0, 0, 0);
    lbx_courier_destroy(consumer);
    desk_close(&desk);
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
TEST(a_refused_letter_says_who_refused_it)
{
    const lbx_dead_letter_record *record;
    lbx_letter *letter;
    struct desk desk;

    open_with_policy(&desk, 1);
    desk.options.handle = refuse;
    desk_send_draft(&desk, lbx_draft_of_text("a book"));
    desk_run(&desk, 1);
    letter = desk_take(desk.dead);
    record = record_in(letter);
    CHECK_STR("LBX_REFUSED", record->last_error_type);
    CHECK_STR("the handler refused the letter", record->last_error);
    lbx_letter_destroy(letter);
    CHECK(desk_has_logged(&desk, "the handler refused the letter"));
    CHECK(!desk_has_logged(&desk, "no error reply"));
    desk_close(&desk);
}

static void
run_on(struct desk *desk, lbx_postbox *postbox, int64_t receives)
{
    lbx_courier_destroy(desk->courier);
    desk->courier = NULL;
    desk->options.postbox = postbox;
    desk_run(desk, receives);
}

/* It was moved into a box of work, where nobody can handle it. */
TEST_CITING("R-44", a_dead_letter_among_work_is_put_aside_as_it_is)
{
    lbx_letter *letter;
    struct desk desk;
    lbx_draft draft;
    char record[1024];

    open_with_policy(&desk, 1);
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    lbx_letter_destroy(desk_take(desk.answers)); // its error
    letter = desk_take(desk.dead);
    snprintf(record, sizeof(record), "%s",
             (const char *)lbx_letter_body(letter, NULL));
    draft = lbx_draft_of_text(record);
    draft.type_name = lbx_letter_type_name(letter);
    draft.routes = lbx_letter_routes(letter);
    desk_send_draft(&desk, draft);
    lbx_letter_destroy(letter);

    desk.options.dead_letters.deliveries = 2;
    run_on(&desk, desk.requests, 1);
    CHECK_COUNTS(&desk, "requests", 0, 0, 1);
    CHECK_COUNTS(&desk, "dead", 0, 0, 0);
    shelf_advance(&desk.shelf, 900 * LBX_SECOND);
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    CHECK_COUNTS(&desk, "answers", 0, 0, 0); // who waits knows it already
    letter = desk_take(desk.dead);
    CHECK_STR(record, lbx_letter_body(letter, NULL));
    CHECK_STR("requests-1", record_in(letter)->message_id.text);
    lbx_letter_destroy(letter);
    desk_close(&desk);
}

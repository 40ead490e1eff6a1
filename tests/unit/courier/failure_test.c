/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters: what is put aside, in which order, and what is in it. */
#include "fixture.h"

#include <letterbox/compat/wink.h>

#include "base/clock.h"
#include "support/local_post.h"

#include <stdio.h>
#include <string.h>

static lbx_status
fail_badly(lbx_job *job, void *context)
{
    (void)context;
    return lbx_job_fail(job, LBX_INVALID, "shop.BadOrder", "no address");
}

static void
open_with_policy(struct fixture *fx, uint32_t deliveries)
{
    fixture_open(fx);
    fx->options.handle = fail_badly;
    fx->options.dead_letters.postbox = fx->dead;
    fx->options.dead_letters.deliveries = deliveries;
}

static lbx_dead_letter_record *
record_in(lbx_letter *letter)
{
    void *record;

    CHECK_STR("letterbox.DeadLetter", lbx_letter_type_name(letter));
    CHECK_OK(lbx_letter_message(letter, &record));
    return record;
}

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

/* ---- Order, and what may go wrong in between ---- */

/* Writes down what was done to the stores: R a reply, D a dead letter, A an
 * acknowledgement, B both in one step, N a nack; fails at the given one. */
struct diary {
    char text[32];
    int fail_at; /* from 1; 0: never */
    lbx_status status;
};

static lbx_status
write_down(void *context, lbx_call_kind verb, const void *request)
{
    struct diary *diary = context;
    const lbx_send_request *send = request;
    const lbx_settle_request *settle = request;
    const size_t used = strlen(diary->text);

    if (verb == LBX_CALL_SEND)
        diary->text[used] =
            strcmp(send->parcels[0].type_name, "letterbox.DeadLetter") == 0
                ? 'D'
                : 'R';
    else if (verb == LBX_CALL_SETTLE)
        diary->text[used] = settle->entries[0].action != LBX_SETTLE_ACKNOWLEDGE
                                ? 'N'
                            : settle->entries[0].attachment_count > 0 ? 'B'
                                                                      : 'A';
    else
        return LBX_OK;
    return diary->fail_at == (int)used + 1 ? diary->status : LBX_OK;
}

static void
put_aside(struct fixture *fx, struct diary *diary)
{
    open_with_policy(fx, 1);
    fixture_send(fx, "a book");
    fx->store.before = write_down;
    fx->store.context = diary;
    fixture_run(fx, 1);
    fx->store.before = NULL;
}

TEST_CITING("R-44", first_the_reply_then_the_dead_letter_with_the_end)
{
    struct diary diary = {.fail_at = 0};
    FIXTURE(fx);

    put_aside(&fx, &diary);
    CHECK_STR("RB", diary.text);
}

TEST_CITING("R-44", an_error_reply_may_fail)
{
    struct diary diary = {.fail_at = 1, .status = LBX_UNREACHABLE};
    FIXTURE(fx);

    put_aside(&fx, &diary);
    CHECK_STR("RB", diary.text);
    CHECK_COUNTS(&fx, "answers", 0, 0, 0);
    CHECK_COUNTS(&fx, "dead", 1, 0, 0);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
}

TEST_CITING("R-44", what_cannot_be_put_aside_is_not_lost)
{
    static const lbx_status failures[] = {LBX_FULL, LBX_UNREACHABLE,
                                          LBX_NO_SPACE, LBX_UNKNOWN};

    for (size_t i = 0; i < 4; i++) {
        struct diary diary = {.fail_at = 2, .status = failures[i]};
        FIXTURE(fx);

        put_aside(&fx, &diary);
        CHECK_STR("RBN", diary.text);
        CHECK_COUNTS(&fx, "dead", 0, 0, 0);
        CHECK_COUNTS(&fx, "requests", 0, 0, 1);
        CHECK_INT(0, fixture_stats(&fx)->dead_letters);
        CHECK_INT(1, fixture_stats(&fx)->returned);
        CHECK(fixture_has_logged(&fx, "not put aside"));
    }
}

static lbx_status
expire(lbx_job *job, void *context)
{
    struct fixture *fx = context;

    fixture_advance(fx, 301 * LBX_SECOND);
    return lbx_job_fail(job, LBX_REFUSED, "slow", "too slow");
}

/* Another consumer has it meanwhile: it is never in both boxes. */
COURIER_TEST("R-44", a_letter_that_is_not_ours_any_more_is_not_put_aside,
             open_with_policy(fx, 1))
{
    fx->options.handle = expire;
    fx->options.context = fx;
    fixture_deliver(fx, "a book", 1);
    CHECK_COUNTS(fx, "dead", 0, 0, 0);
    CHECK_COUNTS(fx, "requests", 1, 0, 0);
    CHECK_INT(1, fixture_stats(fx)->lost_leases);
    CHECK_INT(0, fixture_stats(fx)->dead_letters);
    CHECK(!fixture_has_logged(fx, "it is tried again")); // by another
}

/* ---- Dead letters in another store ---- */

struct apart {
    struct fixture fx;
    struct fake_store other;
    lbx_postbox *dead;
};

static void
open_apart(struct apart *apart, struct diary *diary)
{
    open_with_policy(&apart->fx, 1);
    fake_store_open(&apart->other, &apart->fx.time);
    CHECK_OK(
        lbx_postbox_open_in(&apart->other.base, "dead", NULL, &apart->dead));
    apart->fx.options.dead_letters.postbox = apart->dead;
    fixture_send(&apart->fx, "a book");
    apart->fx.store.before = apart->other.before = write_down;
    apart->fx.store.context = apart->other.context = diary;
}

static void
check_dead_apart(struct apart *apart, size_t count)
{
    size_t ready, leased, delayed;

    fake_store_count(&apart->other, "dead", &ready, &leased, &delayed);
    CHECK_INT(count, ready);
    CHECK_INT(0, leased + delayed);
}

static void
close_apart(struct apart *apart)
{
    lbx_postbox_unref(apart->dead);
    fixture_close(&apart->fx);
    lbx_store_unref(&apart->other.base);
}

/* Runs with a store that fails at one step: the steps that were made, the dead
 * letters, and the requests that are leased and delayed then. */
static void
run_apart(struct apart *apart, struct diary *diary, const char *steps,
          size_t dead, size_t leased, size_t delayed)
{
    open_apart(apart, diary);
    fixture_run(&apart->fx, 1);
    CHECK_STR(steps, diary->text);
    check_dead_apart(apart, dead);
    CHECK_COUNTS(&apart->fx, "requests", 0, leased, delayed);
}

TEST_CITING("R-44", in_another_store_the_dead_letter_comes_before_the_end)
{
    struct diary diary = {.fail_at = 0};
    struct apart apart;

    run_apart(&apart, &diary, "RDA", 1, 0, 0);
    CHECK_INT(1, fixture_stats(&apart.fx)->dead_letters);
    CHECK_INT(1, fixture_stats(&apart.fx)->acknowledged);
    close_apart(&apart);
}

TEST_CITING("R-44", what_another_store_does_not_take_is_not_lost)
{
    struct diary diary = {.fail_at = 2, .status = LBX_UNREACHABLE};
    struct apart apart;

    run_apart(&apart, &diary, "RDN", 0, 0, 1);
    CHECK_INT(0, fixture_stats(&apart.fx)->dead_letters);
    close_apart(&apart);
}

/* A crash between the dead letter and the acknowledgement: it is put aside
 * again, and is there once. */
TEST_CITING("R-44", a_letter_that_dies_twice_is_aside_once)
{
    struct diary diary = {.fail_at = 3, .status = LBX_UNREACHABLE};
    struct apart apart;

    run_apart(&apart, &diary, "RDA", 1, 1, 0); // still leased
    CHECK_INT(1, fixture_stats(&apart.fx)->unsettled);
    fixture_advance(&apart.fx, 300 * LBX_SECOND);
    fixture_run(&apart.fx, 1);
    CHECK_COUNTS(&apart.fx, "requests", 0, 0, 0);
    check_dead_apart(&apart, 1);
    close_apart(&apart);
}

/* Another consumer has it meanwhile: the acknowledgement is too late, and
 * harmless. */
TEST_CITING("R-44",
            in_another_store_an_expired_lease_does_not_stop_a_dead_letter)
{
    struct diary diary = {.fail_at = 0};
    struct apart apart;

    open_apart(&apart, &diary);
    apart.fx.options.handle = expire;
    apart.fx.options.context = &apart.fx;
    fixture_run(&apart.fx, 1);
    check_dead_apart(&apart, 1);
    CHECK_COUNTS(&apart.fx, "requests", 1, 0, 0);
    CHECK_INT(1, fixture_stats(&apart.fx)->lost_leases);
    close_apart(&apart);
}

/* ---- The other branches ---- */

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
    lbx_courier_options options = lbx_courier_options_for_dead_letters();
    FIXTURE(fx);
    int seen = 0;

    open_with_policy(&fx, 1);
    fixture_deliver(&fx, "a book", 1);
    options.clock = &fx.clock;
    options.postbox = fx.dead;
    options.handle = inspect;
    options.context = &seen;
    options.wait_ns = 0;
    CHECK_OK(lbx_courier_create(&options, &consumer));
    CHECK_OK(lbx_courier_run(consumer, 1));
    CHECK_COUNTS(&fx, "dead", 0, 0, 1);
    fixture_advance(&fx, 3600 * LBX_SECOND - 1);
    CHECK_OK(lbx_courier_run(consumer, 1));
    CHECK_INT(1, seen);
    fixture_advance(&fx, 1);
    CHECK_OK(lbx_courier_run(consumer, 1));
    CHECK_INT(2, seen);
    CHECK_COUNTS(&fx, "dead", 0, 0, 0);
    lbx_courier_destroy(consumer);
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

static void
run_on(struct fixture *fx, lbx_postbox *postbox, int64_t receives)
{
    lbx_courier_destroy(fx->courier);
    fx->courier = NULL;
    fx->options.postbox = postbox;
    fixture_run(fx, receives);
}

/* It was moved into a box of work, where no handler understands it. */
COURIER_TEST("R-44", a_dead_letter_among_work_is_put_aside_as_it_is,
             open_with_policy(fx, 1))
{
    lbx_letter *letter;
    lbx_draft draft;
    char record[1024];

    fixture_deliver(fx, "a book", 1);
    lbx_letter_destroy(fixture_take(fx->answers)); // its error
    letter = fixture_take(fx->dead);
    snprintf(record, sizeof(record), "%s",
             (const char *)lbx_letter_body(letter, NULL));
    draft = lbx_draft_of_text(record);
    draft.type_name = lbx_letter_type_name(letter);
    draft.routes = lbx_letter_routes(letter);
    fixture_send_draft(fx, draft);
    lbx_letter_destroy(letter);

    fx->options.dead_letters.deliveries = 2;
    run_on(fx, fx->requests, 1);
    CHECK_COUNTS(fx, "requests", 0, 0, 1);
    CHECK_COUNTS(fx, "dead", 0, 0, 0);
    fixture_advance(fx, 900 * LBX_SECOND);
    fixture_run(fx, 1);
    CHECK_COUNTS(fx, "requests", 0, 0, 0);
    CHECK_COUNTS(fx, "answers", 0, 0, 0); // the error reply was sent before
    letter = fixture_take(fx->dead);
    CHECK_STR(record, lbx_letter_body(letter, NULL));
    CHECK_STR("requests-1", record_in(letter)->message_id.text);
    lbx_letter_destroy(letter);
}

/* A fifo box takes no letter without a group, nor one that is a duplicate. */
TEST(letters_of_a_plain_box_can_be_put_aside_into_a_fifo_box)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    FIXTURE(fx);
    LOCAL_POSTBOX(dead);

    box.fifo = true;
    options.box = &box;
    CHECK_OK(lbx_postbox_open("memory:aside", &options, &dead));
    open_with_policy(&fx, 1);
    fx.options.dead_letters.postbox = dead;
    fixture_send_many(&fx, "a book", 2); // the same body twice
    fixture_run(&fx, 2);
    CHECK_INT(2, fixture_stats(&fx)->dead_letters);
    CHECK_OK(lbx_postbox_count(dead, &counts));
    CHECK_INT(2, counts.ready);
}

/* ---- Error replies in a type of the program's own ---- */

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

/* SPDX-License-Identifier: Apache-2.0 */
/* The box of dead letters: consuming what is in it, what is moved back among
 * work by mistake, and boxes with rules of their own. */
#include "failing.h"

#include "support/local_post.h"

#include <stdio.h>

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

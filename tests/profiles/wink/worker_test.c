/* SPDX-License-Identifier: Apache-2.0 */
/* Ported: WINK's loop with dead letters (test_dlq.py, test_dlq_consumer.py,
 * test_loop_dlq.py), its leases (test_lease_extender.py) and its worker, on
 * every store (docs/origins.md, W-25 and R-44). */
#include "profiles/wink/wink.h"

#include <letterbox/courier.h>

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A worker's loop in the test's thread; replies and dead letters are kept. */
struct loop {
    struct mailbox requests;
    lbx_postbox_registry *registry;
    lbx_postbox *replies; /* "c:replies" */
    lbx_postbox *dead;
    lbx_courier_options options; /* to be changed between runs */
    lbx_courier_stats stats;     /* of the last run */
    lbx_courier *courier;        /* while it runs */
    int64_t step_ns;             /* what handlers go by */
    int steps;
    lbx_status status;
    int jobs;
};

/* A loop that is closed at the end of its scope. */
#define LOOP(name, handler)                                                    \
    __attribute__((cleanup(loop_end))) struct loop *name = loop_begin(handler)

static struct loop *
loop_begin(lbx_status (*handle)(lbx_job *job, void *context))
{
    static const lbx_courier_options defaults = LBX_COURIER_OPTIONS_INIT;
    struct loop *loop = calloc(1, sizeof(*loop));

    CHECK(loop);
    CHECK_OK(lbx_collecting_postbox_create(NULL, &loop->replies));
    CHECK_OK(lbx_collecting_postbox_create(NULL, &loop->dead));
    CHECK_OK(lbx_postbox_registry_create(NULL, &loop->registry));
    CHECK_OK(
        lbx_postbox_registry_add(loop->registry, "c:replies", loop->replies));
    mailbox_init(&loop->requests);
    loop->requests.options.resolver =
        lbx_postbox_registry_as_resolver(loop->registry);
    mailbox_open(&loop->requests);
    loop->options = defaults;
    loop->options.clock = &loop->requests.clock;
    loop->options.postbox = loop->requests.postbox;
    loop->options.wait_ns = 0;
    loop->options.handle = handle;
    loop->options.context = loop;
    return loop;
}

static void
loop_end(struct loop **ret)
{
    struct loop *loop = *ret;

    mailbox_close(&loop->requests);
    lbx_postbox_registry_destroy(loop->registry);
    lbx_postbox_unref(loop->dead);
    lbx_postbox_unref(loop->replies);
    free(loop);
}

/* So many receives by a courier with the options as they are now. */
static lbx_status
loop_run(struct loop *loop, int64_t receives)
{
    static const lbx_courier_stats none = LBX_COURIER_STATS_INIT;
    lbx_status status;

    loop->stats = none;
    CHECK_OK(lbx_courier_create(&loop->options, &loop->courier));
    status = lbx_courier_run(loop->courier, receives);
    CHECK(!lbx_courier_is_running(loop->courier));
    CHECK_OK(lbx_courier_stats_read(loop->courier, &loop->stats));
    lbx_courier_destroy(loop->courier);
    return status;
}

/* A letter whose replies go to this place; NULL: it has no routes. */
static void
loop_send(struct loop *loop, const char *place)
{
    lbx_draft draft = lbx_draft_of_text("do it");
    lbx_routes *routes = NULL;

    if (place)
        CHECK_OK(lbx_routes_single(place, NULL, &routes));
    draft.routes = routes;
    CHECK_OK(lbx_postbox_send_draft(loop->requests.postbox, &draft, NULL));
    lbx_routes_unref(routes);
}

TEST_CITING("W-25 R-44", the_defaults_of_workers_are_winks)
{
    const lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    const lbx_courier_options aside = lbx_courier_options_for_dead_letters();
    const lbx_dead_letter_record record = LBX_DEAD_LETTER_RECORD_INIT;

    CHECK_INT(60 * LBX_SECOND, options.extend_every_ns);
    CHECK_INT(300 * LBX_SECOND, options.extend_to_ns);
    CHECK_INT(300 * LBX_SECOND, options.lease_ns);
    CHECK_INT(5, options.dead_letters.deliveries);
    CHECK_PTR(NULL, options.dead_letters.postbox);
    CHECK_INT(0, options.dead_letters.include_count);
    CHECK_INT(0, options.dead_letters.exclude_count);
    CHECK_PTR(NULL, aside.dead_letters.postbox);
    CHECK_INT(3600 * LBX_SECOND, aside.retry_ns);
    CHECK_STR("", record.request_id.text);
    CHECK_PTR(NULL, record.reply_mailbox);
    CHECK_PTR(NULL, record.trace_id);
}

/* ---- Leases ---- */

static lbx_status
beat_and_beat(lbx_job *job, void *context)
{
    struct loop *loop = context;

    for (int i = 0; i < loop->steps; i++) {
        mailbox_pass(&loop->requests, loop->step_ns);
        CHECK_OK(lbx_job_heartbeat(job));
    }
    return LBX_OK;
}

/* WINK's interval 0 extends at each beat; here it switches extending off. */
WINK_TEST_UNOPENED("W-25", four_beats_extend_by_their_interval)
{
    static const struct {
        int64_t every_ns, step_ns;
        uint64_t extended;
    } rows[] = {
        {1, 10 * LBX_SECOND, 4}, // at each beat
        {60 * LBX_SECOND, 30 * LBX_SECOND, 2},
        {60 * LBX_SECOND, 61 * LBX_SECOND, 4},
        {60 * LBX_SECOND, 1, 1},
        {0, 10 * LBX_SECOND, 0}, // off
    };
    LOOP(loop, beat_and_beat);

    loop->steps = 4;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        loop->options.extend_every_ns = rows[i].every_ns;
        loop->step_ns = rows[i].step_ns;
        loop_send(loop, NULL);
        CHECK_OK(loop_run(loop, 1));
        CHECK_INT(rows[i].extended, loop->stats.extended);
        CHECK_INT(1, loop->stats.acknowledged);
    }
}

/* Beats once, hangs until the lease is over, and another has the letter. */
static lbx_status
lose_the_lease(lbx_job *job, void *context)
{
    struct loop *loop = context;
    lbx_letter *again;

    if (loop->jobs++ > 0)
        return LBX_OK;
    CHECK_OK(lbx_job_heartbeat(job));
    mailbox_pass(&loop->requests, loop->step_ns - LBX_SECOND);
    CHECK_PTR(NULL, mailbox_receive(&loop->requests));
    mailbox_pass(&loop->requests, LBX_SECOND);
    again = mailbox_receive(&loop->requests);
    CHECK(again);
    CHECK_INT(2, lbx_letter_delivery_count(again));
    CHECK_OK(lbx_letter_acknowledge(again));
    loop_send(loop, NULL); // the next one
    return loop->status;
}

WINK_TEST_UNOPENED("W-16 W-17 W-25",
                   an_expired_handle_stops_neither_ack_nor_nack)
{
    static const struct {
        int64_t extend_to_ns;
        lbx_status status; // LBX_OK: an ack, else a nack
    } rows[] = {
        {300 * LBX_SECOND, LBX_OK},
        {300 * LBX_SECOND, LBX_REFUSED},
        {600 * LBX_SECOND, LBX_OK}, // an extension as long as it says
        {600 * LBX_SECOND, LBX_REFUSED},
    };
    LOOP(loop, lose_the_lease);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        loop->options.extend_to_ns = loop->step_ns = rows[i].extend_to_ns;
        loop->status = rows[i].status;
        loop->jobs = 0;
        loop_send(loop, NULL);
        CHECK_OK(loop_run(loop, 2));
        CHECK_INT(2, loop->jobs); // and works on
        CHECK_INT(1, loop->stats.lost_leases);
        CHECK_INT(0, loop->stats.returned);
        CHECK_INT(1, loop->stats.acknowledged);
        CHECK_INT(0, mailbox_count(&loop->requests));
    }
}

/* ---- Dead letters ---- */

static lbx_status
fail(lbx_job *job, void *context)
{
    (void)context;
    return lbx_job_fail(job, LBX_REFUSED, "shop.BadOrder", "no address");
}

/* WINK's own text of an error reply. */
static lbx_status
say_dead_lettered(lbx_job *job, const lbx_job_failure *failure, void *context)
{
    char text[80];
    lbx_draft draft;

    (void)context;
    CHECK_INT(LBX_VERDICT_DEAD_LETTER, failure->verdict);
    (void)snprintf(text, sizeof(text), "Dead-lettered after %u attempts: %s",
                   (unsigned)failure->delivery_count, failure->error_text);
    draft = lbx_draft_of_text(text);
    return lbx_letter_reply(lbx_job_letter(job), &draft, NULL, NULL);
}

static void
check_record(const lbx_draft *dead)
{
    const lbx_type *type = lbx_dead_letter_record_type();
    const lbx_dead_letter_record *record;
    void *message;

    CHECK_OK(lbx_type_decode(type, dead->body, dead->body_bytes, &message));
    record = message;
    CHECK_STR("do it", record->body);
    CHECK_INT(3, record->delivery_count);
    CHECK_STR("no address", record->last_error);
    CHECK_STR("shop.BadOrder", record->last_error_type);
    CHECK_STR("c:replies", record->reply_mailbox);
    CHECK_PTR(NULL, record->trace_id); // optional, and not there
    lbx_type_destroy_message(type, message);
}

WINK_TEST_UNOPENED("W-25 R-44", a_letter_is_dead_at_the_threshold_not_below)
{
    LOOP(loop, fail);

    loop->options.dead_letters.postbox = loop->dead;
    loop->options.dead_letters.deliveries = 3;
    loop->options.reply_error = say_dead_lettered;
    loop_send(loop, "c:replies");
    for (int i = 0; i < 2; i++) {
        CHECK_OK(loop_run(loop, 1));
        CHECK_INT(1, loop->stats.returned);
        CHECK_INT(0, lbx_collecting_postbox_count(loop->dead));
        CHECK_INT(0, lbx_collecting_postbox_count(loop->replies));
        CHECK_INT(1, mailbox_count(&loop->requests));
        mailbox_pass(&loop->requests, 900 * LBX_SECOND);
    }
    CHECK_OK(loop_run(loop, 1));
    CHECK_INT(1, loop->stats.dead_letters);
    CHECK_INT(0, mailbox_count(&loop->requests));
    CHECK_INT(1, lbx_collecting_postbox_count(loop->dead));
    check_record(lbx_collecting_postbox_at(loop->dead, 0));
    CHECK_INT(1, lbx_collecting_postbox_count(loop->replies));
    CHECK_STR("Dead-lettered after 3 attempts: no address",
              lbx_collecting_postbox_at(loop->replies, 0)->body);
}

WINK_TEST_UNOPENED("W-25 R-44", a_letter_is_dead_without_a_reply_too)
{
    // No reply mailbox, and one that cannot be found.
    static const char *const places[] = {NULL, "c:unknown"};
    LOOP(loop, fail);

    loop->options.dead_letters.postbox = loop->dead;
    loop->options.dead_letters.deliveries = 1;
    for (size_t i = 0; i < 2; i++) {
        loop_send(loop, places[i]);
        CHECK_OK(loop_run(loop, 1));
        CHECK_INT(i + 1, lbx_collecting_postbox_count(loop->dead));
        CHECK_INT(0, lbx_collecting_postbox_count(loop->replies));
        CHECK_INT(0, mailbox_count(&loop->requests));
    }
}

WINK_TEST_UNOPENED("W-25 R-44", without_dead_letters_the_error_is_the_reply)
{
    LOOP(loop, fail);

    loop->options.reply_on_failure = true;
    loop_send(loop, "c:replies");
    CHECK_OK(loop_run(loop, 1));
    CHECK_INT(0, mailbox_count(&loop->requests));
    CHECK_INT(1, lbx_collecting_postbox_count(loop->replies));
    CHECK(strstr(lbx_collecting_postbox_at(loop->replies, 0)->body,
                 "no address"));
}

/* ---- The consumer of dead letters ---- */

/* The second job fails; `steps`, if any, is the one that stops the loop. */
static lbx_status
inspect(lbx_job *job, void *context)
{
    struct loop *loop = context;

    CHECK(lbx_courier_is_running(loop->courier));
    CHECK_OK(lbx_job_heartbeat(job));
    if (++loop->jobs == loop->steps)
        CHECK_STATUS(LBX_PENDING, lbx_courier_stop(loop->courier, LBX_FOREVER));
    return loop->jobs == 2 ? LBX_REFUSED : LBX_OK;
}

/* Dead letters, and their consumer with its own rules. */
static void
open_consumer(struct loop *loop, int letters)
{
    const lbx_courier_options aside = lbx_courier_options_for_dead_letters();

    loop->options.retry_ns = aside.retry_ns;
    loop->options.max_retry_ns = aside.max_retry_ns;
    for (int i = 0; i < letters; i++)
        loop_send(loop, NULL);
}

WINK_TEST_UNOPENED("W-25 R-44", a_consumer_handles_all_and_retries_by_the_hour)
{
    LOOP(loop, inspect);

    open_consumer(loop, 3);
    CHECK_OK(loop_run(loop, 2)); // no more receives than that
    CHECK_INT(2, loop->jobs);
    CHECK_INT(1, loop->stats.returned);
    CHECK_OK(loop_run(loop, 2));
    CHECK_INT(3, loop->jobs);
    mailbox_pass(&loop->requests, 3600 * LBX_SECOND - 1);
    CHECK_OK(loop_run(loop, 1));
    CHECK_INT(3, loop->jobs);
    mailbox_pass(&loop->requests, 1);
    CHECK_OK(loop_run(loop, 1));
    CHECK_INT(4, loop->jobs);
    CHECK_INT(0, mailbox_count(&loop->requests));
}

WINK_TEST_UNOPENED("W-09 W-25", a_consumer_returns_the_rest_and_ends_if_closed)
{
    LOOP(loop, inspect);

    open_consumer(loop, 3);
    loop->options.max_letters = 3;
    loop->steps = 1;
    CHECK_OK(loop_run(loop, -1)); // until it is stopped
    CHECK_INT(1, loop->jobs);
    CHECK_INT(2, loop->stats.released_unstarted);
    CHECK(mailbox_receive(&loop->requests)); // at once
    CHECK_OK(lbx_courier_create(&loop->options, &loop->courier));
    lbx_postbox_close(loop->requests.postbox);
    CHECK_STATUS(LBX_CLOSED, lbx_courier_run(loop->courier, -1));
    lbx_courier_destroy(loop->courier);
}

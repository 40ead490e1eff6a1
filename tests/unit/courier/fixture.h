/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A courier on a fake store, with postboxes for requests, answers and dead
 * letters, and a clock that the test moves.
 *
 *     FIXTURE(fx);
 *
 *     fixture_open_with(&fx, work, NULL);
 *     fixture_deliver(&fx, "a book", 1);       // one receive
 *     CHECK_COUNTS(&fx, "requests", 0, 0, 0);
 */
#ifndef LBX_TEST_COURIER_FIXTURE_H
#define LBX_TEST_COURIER_FIXTURE_H

#include <letterbox/courier.h>

#include "fake_store.h"

struct fixture {
    struct test_clock time;
    lbx_clock clock;
    struct fake_store store;
    lbx_type_registry *types;
    lbx_postbox *requests;
    lbx_postbox *answers; /* the replies' default address */
    lbx_postbox *dead;
    lbx_routes *routes;
    lbx_courier_options options; /* on `requests`; to be changed */
    lbx_courier *courier;        /* made when first needed */
    lbx_courier_stats stats;     /* by fixture_stats() */
    pthread_mutex_t log_lock;
    char log[LOG_BYTES]; /* all lines */
};

/* A fixture that is closed at the end of its scope; it must be opened. */
#define FIXTURE(name)                                                          \
    __attribute__((cleanup(fixture_close))) struct fixture name

/* A test with a fixture, `fx`, that `open` opens:
 *
 *     COURIER_TEST("R-44", a_sentence_about_it, fixture_open(fx))
 */
#define COURIER_TEST(behaviours, name, open)                                   \
    static void name##_in(struct fixture *fx);                                 \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        FIXTURE(fixture);                                                      \
        struct fixture *fx = &fixture;                                         \
                                                                               \
        open;                                                                  \
        name##_in(fx);                                                         \
    }                                                                          \
    static void name##_in(struct fixture *fx)

void fixture_open(struct fixture *fx);

/* The same, with a handler and its context. */
void fixture_open_with(struct fixture *fx,
                       lbx_status (*handle)(lbx_job *, void *), void *context);
void fixture_close(struct fixture *fx);

/* Calls `before` ahead of each call of the store; see fake_store.h. */
void fixture_before(struct fixture *fx,
                    lbx_status (*before)(void *, lbx_call_kind, const void *),
                    void *context);

/* A text, or a draft, to `requests`; with routes to `answers`. */
void fixture_send(struct fixture *fx, const char *text);
void fixture_send_draft(struct fixture *fx, lbx_draft draft);

/* The same text several times. */
void fixture_send_many(struct fixture *fx, const char *text, int count);

lbx_courier *fixture_courier(struct fixture *fx);

/* That many receives in this thread. */
void fixture_run(struct fixture *fx, int64_t receives);

/* Moves the clock. */
void fixture_advance(struct fixture *fx, int64_t duration_ns);

/* Sends one text, then runs. */
void fixture_deliver(struct fixture *fx, const char *text, int64_t receives);

const lbx_courier_stats *fixture_stats(struct fixture *fx);
bool fixture_has_logged(struct fixture *fx, const char *text);

/* The next letter of a postbox, which is acknowledged; its body as a text. The
 * letter is the caller's. Fails when there is none. */
lbx_letter *fixture_take(lbx_postbox *postbox);

#define CHECK_COUNTS(fx, box, ready, leased, delayed)                          \
    fixture_check_counts(__FILE__, __LINE__, fx, box, ready, leased, delayed)

void fixture_check_counts(const char *file, int line, struct fixture *fx,
                          const char *box, size_t ready, size_t leased,
                          size_t delayed);

#endif

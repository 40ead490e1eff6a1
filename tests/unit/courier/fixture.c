/* SPDX-License-Identifier: Apache-2.0 */
/* A courier on a store; see store.h. */
#include "fixture.h"

#include <letterbox/compat/wink.h>

#include <stdio.h>
#include <string.h>

static void
write_log(void *context, const char *line)
{
    struct fixture *fx = context;
    size_t used;

    pthread_mutex_lock(&fx->log_lock);
    used = strlen(fx->log);
    snprintf(fx->log + used, sizeof(fx->log) - used, "%s\n", line);
    pthread_mutex_unlock(&fx->log_lock);
}

static lbx_status
work(lbx_job *job, void *context)
{
    (void)job;
    (void)context;
    return LBX_OK;
}

void
fixture_open(struct fixture *fx)
{
    const lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    lbx_postbox_options requests = LBX_POSTBOX_OPTIONS_INIT;

    *fx = (struct fixture){.time = TEST_CLOCK_INIT,
                           .log_lock = PTHREAD_MUTEX_INITIALIZER};
    fx->clock = test_clock_interface(&fx->time);
    fake_store_open(&fx->store, &fx->time);
    CHECK_OK(lbx_type_registry_create(NULL, &fx->types));
    CHECK_OK(lbx_type_registry_add(fx->types, lbx_wink_request_type()));
    CHECK_OK(lbx_type_registry_add(fx->types, lbx_wink_result_type()));
    CHECK_OK(lbx_type_registry_add(fx->types, lbx_dead_letter_record_type()));
    requests.types = fx->types;
    CHECK_OK(lbx_postbox_open_in(&fx->store.base, "requests", &requests,
                                 &fx->requests));
    CHECK_OK(lbx_postbox_open_in(&fx->store.base, "answers", &requests,
                                 &fx->answers));
    CHECK_OK(
        lbx_postbox_open_in(&fx->store.base, "dead", &requests, &fx->dead));
    CHECK_OK(lbx_routes_single("answers", NULL, &fx->routes));
    fx->options = options;
    fx->options.clock = &fx->clock;
    fx->options.postbox = fx->requests;
    fx->options.handle = work;
    fx->options.wait_ns = 0;
    fx->options.log = write_log;
    fx->options.log_context = fx;
}

void
fixture_open_with(struct fixture *fx, lbx_status (*handle)(lbx_job *, void *),
                  void *context)
{
    fixture_open(fx);
    fx->options.handle = handle;
    fx->options.context = context;
}

void
fixture_before(struct fixture *fx,
               lbx_status (*before)(void *, lbx_call_kind, const void *),
               void *context)
{
    fx->store.before = before;
    fx->store.context = context;
}

void
fixture_close(struct fixture *fx)
{
    lbx_courier_destroy(fx->courier);
    lbx_routes_unref(fx->routes);
    lbx_postbox_unref(fx->dead);
    lbx_postbox_unref(fx->answers);
    lbx_postbox_unref(fx->requests);
    lbx_type_registry_destroy(fx->types);
    lbx_store_unref(&fx->store.base);
}

void
fixture_send_draft(struct fixture *fx, lbx_draft draft)
{
    CHECK_OK(lbx_postbox_send_draft(fx->requests, &draft, NULL));
}

void
fixture_send(struct fixture *fx, const char *text)
{
    lbx_draft draft = lbx_draft_of_text(text);

    draft.routes = fx->routes;
    fixture_send_draft(fx, draft);
}

void
fixture_send_many(struct fixture *fx, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        fixture_send(fx, text);
}

lbx_courier *
fixture_courier(struct fixture *fx)
{
    if (!fx->courier)
        CHECK_OK(lbx_courier_create(&fx->options, &fx->courier));
    return fx->courier;
}

void
fixture_run(struct fixture *fx, int64_t receives)
{
    CHECK_OK(lbx_courier_run(fixture_courier(fx), receives));
}

void
fixture_advance(struct fixture *fx, int64_t duration_ns)
{
    fake_store_advance(&fx->store, duration_ns);
}

void
fixture_deliver(struct fixture *fx, const char *text, int64_t receives)
{
    fixture_send(fx, text);
    fixture_run(fx, receives);
}

const lbx_courier_stats *
fixture_stats(struct fixture *fx)
{
    fx->stats.size_bytes = sizeof(fx->stats);
    CHECK_OK(lbx_courier_stats_read(fixture_courier(fx), &fx->stats));
    return &fx->stats;
}

bool
fixture_has_logged(struct fixture *fx, const char *text)
{
    bool found;

    pthread_mutex_lock(&fx->log_lock);
    found = strstr(fx->log, text) != NULL;
    pthread_mutex_unlock(&fx->log_lock);
    return found;
}

lbx_letter *
fixture_take(lbx_postbox *postbox)
{
    lbx_letter *letter;

    CHECK_OK(lbx_postbox_receive(postbox, 0, &letter));
    CHECK_OK(lbx_letter_acknowledge(letter));
    return letter;
}

void
fixture_check_counts(const char *file, int line, struct fixture *fx,
                     const char *box, size_t ready, size_t leased,
                     size_t delayed)
{
    size_t is_ready, is_leased, is_delayed;

    fake_store_count(&fx->store, box, &is_ready, &is_leased, &is_delayed);
    if (is_ready != ready || is_leased != leased || is_delayed != delayed)
        test_fail(file, line,
                  "%s: %zu ready, %zu leased, %zu delayed; expected %zu, %zu, "
                  "%zu",
                  box, is_ready, is_leased, is_delayed, ready, leased, delayed);
}

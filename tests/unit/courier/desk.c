/* SPDX-License-Identifier: Apache-2.0 */
/* A courier on a shelf; see shelf.h. */
#include "shelf.h"

#include <letterbox/compat/wink.h>

#include <stdio.h>
#include <string.h>

static void
write_log(void *context, const char *line)
{
    struct desk *desk = context;
    size_t used;

    pthread_mutex_lock(&desk->log_lock);
    used = strlen(desk->log);
    snprintf(desk->log + used, sizeof(desk->log) - used, "%s\n", line);
    pthread_mutex_unlock(&desk->log_lock);
}

static lbx_status
work(lbx_job *job, void *context)
{
    (void)job;
    (void)context;
    return LBX_OK;
}

void
desk_open(struct desk *desk)
{
    const lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    lbx_postbox_options requests = LBX_POSTBOX_OPTIONS_INIT;

    *desk = (struct desk){.time = TEST_CLOCK_INIT,
                          .log_lock = PTHREAD_MUTEX_INITIALIZER};
    desk->clock = test_clock_interface(&desk->time);
    shelf_open(&desk->shelf, &desk->time);
    CHECK_OK(lbx_types_create(NULL, &desk->types));
    CHECK_OK(lbx_types_add(desk->types, lbx_wink_request_type()));
    CHECK_OK(lbx_types_add(desk->types, lbx_wink_result_type()));
    CHECK_OK(lbx_types_add(desk->types, lbx_dead_letter_type()));
    requests.types = desk->types;
    CHECK_OK(lbx_postbox_open_in(&desk->shelf.base, "requests", &requests,
                                 &desk->requests));
    CHECK_OK(lbx_postbox_open_in(&desk->shelf.base, "answers", &requests,
                                 &desk->answers));
    CHECK_OK(
        lbx_postbox_open_in(&desk->shelf.base, "dead", &requests, &desk->dead));
    CHECK_OK(lbx_routes_single("answers", NULL, &desk->routes));
    desk->options = options;
    desk->options.clock = &desk->clock;
    desk->options.postbox = desk->requests;
    desk->options.handle = work;
    desk->options.wait_ns = 0;
    desk->options.log = write_log;
    desk->options.log_context = desk;
}

void
desk_close(struct desk *desk)
{
    lbx_courier_destroy(desk->courier);
    lbx_routes_unref(desk->routes);
    lbx_postbox_unref(desk->dead);
    lbx_postbox_unref(desk->answers);
    lbx_postbox_unref(desk->requests);
    lbx_types_destroy(desk->types);
    lbx_store_unref(&desk->shelf.base);
}

void
desk_send_draft(struct desk *desk, lbx_draft draft)
{
    CHECK_OK(lbx_postbox_send_draft(desk->requests, &draft, NULL));
}

void
desk_send(struct desk *desk, const char *text)
{
    lbx_draft draft = lbx_draft_of_text(text);

    draft.routes = desk->routes;
    desk_send_draft(desk, draft);
}

lbx_courier *
desk_courier(struct desk *desk)
{
    if (!desk->courier)
        CHECK_OK(lbx_courier_create(&desk->options, &desk->courier));
    return desk->courier;
}

void
desk_run(struct desk *desk, int64_t receives)
{
    CHECK_OK(lbx_courier_run(desk_courier(desk), receives));
}

const lbx_courier_stats *
desk_stats(struct desk *desk)
{
    CHECK_OK(lbx_courier_stats_read(desk_courier(desk), &desk->stats));
    return &desk->stats;
}

bool
desk_has_logged(struct desk *desk, const char *text)
{
    bool found;

    pthread_mutex_lock(&desk->log_lock);
    found = strstr(desk->log, text) != NULL;
    pthread_mutex_unlock(&desk->log_lock);
    return found;
}

lbx_letter *
desk_take(lbx_postbox *postbox)
{
    lbx_letter *letter;

    CHECK_OK(lbx_postbox_receive(postbox, 0, &letter));
    CHECK_OK(lbx_letter_acknowledge(letter));
    return letter;
}

void
desk_check_counts(const char *file, int line, struct desk *desk,
                  const char *box, size_t ready, size_t leased, size_t delayed)
{
    size_t is_ready, is_leased, is_delayed;

    shelf_count(&desk->shelf, box, &is_ready, &is_leased, &is_delayed);
    if (is_ready != ready || is_leased != leased || is_delayed != delayed)
        test_fail(file, line,
                  "%s: %zu ready, %zu leased, %zu delayed; expected %zu, %zu, "
                  "%zu",
                  box, is_ready, is_leased, is_delayed, ready, leased, delayed);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker as users of WINK write it: requests in, progress and results out.
 *
 * Bodies are structs with a table of their members, and travel as JSON. The
 * worker runs until SIGTERM or SIGINT, and returns what it has not begun. A
 * request that cannot be done is put aside at once, and its sender gets an
 * error, in a type of this program. `wink_worker file:./spool` survives kills.
 */
#include <letterbox/letterbox.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MUST(call) ((call) == LBX_OK ? (void)0 : (puts(#call), exit(1)))

/* ---- What travels ---- */

struct request {
    const char *text;
    int32_t times;
};

struct progress {
    double share;
};

struct result {
    const char *output; /* NULL: see error */
    const char *error;
};

LBX_RECORD(request_record, struct request, "demo.Request",
           LBX_FIELD(struct request, text, TEXT),
           LBX_FIELD(struct request, times, INT32));
LBX_RECORD(progress_record, struct progress, "demo.Progress",
           LBX_FIELD(struct progress, share, DOUBLE));
LBX_RECORD(result_record, struct result, "demo.Result",
           LBX_OPTIONAL(struct result, output, TEXT),
           LBX_OPTIONAL(struct result, error, TEXT));

static lbx_type *request_type, *progress_type, *result_type;
static lbx_postbox *requests, *progress, *results, *dead;

/* ---- The worker ---- */

static lbx_status
work(lbx_job *job, void *context)
{
    struct progress half = {.share = 0.5};
    lbx_draft report = lbx_draft_of_message(progress_type, &half);
    struct result result = {NULL, NULL};
    lbx_draft answer = lbx_draft_of_message(result_type, &result);
    char output[256] = "";
    struct request *request;
    lbx_status status;

    (void)context;
    status = lbx_letter_message(lbx_job_letter(job), (void **)&request);
    if (status != LBX_OK)
        return status; // not JSON, or not a request: it is put aside at last
    if (request->times < 1 || request->times > 9)
        return lbx_job_fail(job, LBX_INVALID, "demo.BadRequest",
                            "times must be 1 to 9");
    for (int i = 0, used = 0; i < request->times; i++) {
        used += snprintf(output + used, sizeof(output) - (size_t)used, "%.20s",
                         request->text);
        status = lbx_job_heartbeat(job); // keeps the lease
        if (status == LBX_OK && i == request->times / 2)
            status = lbx_letter_reply(lbx_job_letter(job), &report, NULL, NULL);
        if (status != LBX_OK)
            return status;
    }
    result.output = output;
    return lbx_job_reply_and_acknowledge(job, &answer); // in one step
}

static lbx_status
reply_error(lbx_job *job, const lbx_job_failure *failure, void *context)
{
    struct result result = {.error = failure->error_text};
    lbx_draft answer = lbx_draft_of_message(result_type, &result);

    (void)context;
    return lbx_letter_reply(lbx_job_letter(job), &answer, NULL, NULL);
}

/* ---- The client ---- */

static void
ask(const lbx_routes *routes, const char *text, int times)
{
    struct request request = {text, times};
    lbx_draft draft = lbx_draft_of_message(request_type, &request);
    struct result *result;
    lbx_letter *letter;

    draft.routes = routes;
    MUST(lbx_postbox_send_draft(requests, &draft, NULL));
    MUST(lbx_postbox_receive(results, 20 * LBX_SECOND, &letter));
    MUST(lbx_letter_message(letter, (void **)&result));
    printf("%s\n", result->output ? result->output : result->error);
    MUST(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
}

static void *
run_client(void *unused)
{
    static const lbx_routes_entry table[] = {{"demo.Progress", "progress"},
                                             {"demo.Result", "results"}};
    lbx_routes *routes;

    MUST(lbx_routes_create(table, 2, NULL, NULL, &routes));
    ask(routes, "ha", 3);
    ask(routes, "ha", -1);
    lbx_routes_unref(routes);
    kill(getpid(), SIGTERM);
    return unused;
}

static size_t
count(lbx_postbox *postbox)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    MUST(lbx_postbox_count(postbox, &counts));
    lbx_postbox_unref(postbox);
    return (size_t)counts.ready;
}

int
main(int argc, char **argv)
{
    static const char *const hopeless[] = {"demo.BadRequest"};
    lbx_postbox_options boxes = LBX_POSTBOX_OPTIONS_INIT;
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    lbx_type_registry *types;
    lbx_courier *courier;
    lbx_store *store;
    pthread_t client;

    MUST(lbx_record_type_create(&request_record, NULL, &request_type, NULL));
    MUST(lbx_record_type_create(&progress_record, NULL, &progress_type, NULL));
    MUST(lbx_record_type_create(&result_record, NULL, &result_type, NULL));
    MUST(lbx_type_registry_create(NULL, &types));
    MUST(lbx_type_registry_add(types, request_type));
    MUST(lbx_type_registry_add(types, progress_type));
    MUST(lbx_type_registry_add(types, result_type));
    boxes.types = types;
    MUST(lbx_store_open(argc > 1 ? argv[1] : "memory:", NULL, &store));
    MUST(lbx_postbox_open_in(store, "requests", &boxes, &requests));
    MUST(lbx_postbox_open_in(store, "progress", &boxes, &progress));
    MUST(lbx_postbox_open_in(store, "results", &boxes, &results));
    MUST(lbx_postbox_open_in(store, "dead", &boxes, &dead));
    lbx_store_unref(store); // the postboxes keep it

    options.postbox = requests;
    options.handle = work;
    options.handlers = 4;
    options.dead_letters.postbox = dead;
    options.dead_letters.include = hopeless;
    options.dead_letters.include_count = 1;
    options.reply_error = reply_error;
    MUST(lbx_courier_create(&options, &courier));
    if (pthread_create(&client, NULL, run_client, NULL) != 0)
        return 1;
    MUST(lbx_courier_run_until_signal(courier, 30 * LBX_SECOND));
    pthread_join(client, NULL);
    lbx_courier_destroy(courier);
    printf("%zu report of progress, ", count(progress));
    printf("%zu dead letter, %zu result and ", count(dead), count(results));
    printf("%zu request left\n", count(requests));
    lbx_type_registry_destroy(types);
    lbx_type_destroy(request_type);
    lbx_type_destroy(progress_type);
    lbx_type_destroy(result_type);
    return 0;
}

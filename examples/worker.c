/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker with progress: requests, replies by type, results.
 *
 * A client sends a request with routes: progress goes to one postbox, what is a
 * result to another, everything else to a third. A courier on the requests
 * takes each to a handler, which replies on the way and answers at the end: the
 * answer and the acknowledgement are one step, so that no request is done
 * without its answer having been sent. `worker file:./spool` has it all survive
 * a power cut.
 */
#include <letterbox/compat/wink.h>
#include <letterbox/courier.h>
#include <letterbox/post.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
must(lbx_status status, const char *what)
{
    if (status == LBX_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, lbx_status_text(status));
    exit(1);
}

/* The worker. A request is {"count": N}; its result is the sum up to N. */
static lbx_status
work(lbx_job *job, void *context)
{
    lbx_letter *letter = lbx_job_letter(job);
    lbx_wink_request *request;
    lbx_wink_result result;
    lbx_draft answer, progress = lbx_draft_of_text("half of it is done");
    long count, sum = 0;
    char output[32];
    lbx_status status;

    (void)context;
    status = lbx_letter_message(letter, (void **)&request);
    if (status != LBX_OK)
        return status; // no request: it comes back, and is put aside at last
    result = lbx_wink_result_of(request);
    answer = lbx_draft_of_message(lbx_wink_result_type(), &result);
    if (sscanf(request->payload, "{\"count\":%ld}", &count) != 1) {
        result.error = "there is no count"; // an answer too
        return lbx_job_reply_and_acknowledge(job, &answer);
    }
    for (long i = 1; i <= count; i++) {
        sum += i;
        if (i == count / 2) {
            status = lbx_job_heartbeat(job); // still at it: keeps the lease
            if (status != LBX_OK)
                return status; // somebody else has it now
            progress.type_name = "example.Progress";
            status = lbx_letter_reply(letter, &progress, NULL, NULL);
            if (status != LBX_OK)
                return status;
        }
    }
    snprintf(output, sizeof(output), "%ld", sum);
    result.output = output;
    return lbx_job_reply_and_acknowledge(job, &answer);
}

/* Sends a request; its id is what the result will have. */
static lbx_id
ask(lbx_postbox *requests, const lbx_routes *routes, const char *payload)
{
    lbx_wink_request request = lbx_wink_request_of(payload);
    lbx_draft draft = lbx_draft_of_message(lbx_wink_request_type(), &request);

    draft.routes = routes;
    must(lbx_postbox_send_draft(requests, &draft, NULL), "sending");
    return request.request_id;
}

/* Waits for one result. */
static void
print_result(lbx_postbox *results, const lbx_id *expected)
{
    lbx_letter *letter;
    lbx_wink_result *result;

    must(lbx_postbox_receive(results, 20 * LBX_SECOND, &letter), "waiting");
    must(lbx_letter_message(letter, (void **)&result), "reading");
    printf("%s: %s\n",
           strcmp(result->request_id.text, expected->text) == 0
               ? "the result"
               : "another's result",
           result->error ? result->error : result->output);
    must(lbx_letter_acknowledge(letter), "acknowledging");
    lbx_letter_destroy(letter);
}

int
main(int argc, char **argv)
{
    lbx_store_options stores = LBX_STORE_OPTIONS_INIT;
    lbx_fault fault;
    static const lbx_routes_entry table[] = {
        {"letterbox.Result", "client-1-results"},
        {"example.Progress", "client-1-progress"},
    };
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_courier_options couriers = LBX_COURIER_OPTIONS_INIT;
    lbx_postbox *requests, *results, *progress;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_courier *courier;
    lbx_store *store;
    lbx_routes *routes;
    lbx_type_registry *types;
    lbx_id first, second;

    // What both sides know.
    must(lbx_type_registry_create(NULL, &types), "types");
    must(lbx_type_registry_add(types, lbx_wink_request_type()), "types");
    must(lbx_type_registry_add(types, lbx_wink_result_type()), "types");
    options.types = types;
    stores.fault = &fault;
    if (lbx_store_open(argc > 1 ? argv[1] : "memory:", &stores, &store) !=
        LBX_OK) {
        fprintf(stderr, "opening: %s\n", fault.text);
        return 1;
    }
    must(lbx_postbox_open_in(store, "requests", &options, &requests),
         "opening");
    must(lbx_postbox_open_in(store, "client-1-results", &options, &results),
         "opening");
    must(lbx_postbox_open_in(store, "client-1-progress", &options, &progress),
         "opening");
    lbx_store_unref(store); // the postboxes keep it

    // The worker: four requests at a time.
    couriers.postbox = requests;
    couriers.handle = work;
    couriers.handlers = 4;
    must(lbx_courier_create(&couriers, &courier), "courier");
    must(lbx_courier_start(courier), "starting");

    // The client.
    must(lbx_routes_create(table, 2, NULL, NULL, &routes), "routes");
    first = ask(requests, routes, "{\"count\":1000}");
    print_result(results, &first);
    second = ask(requests, routes, "{\"amount\":1000}");
    print_result(results, &second);
    must(lbx_postbox_count(progress, &counts), "counting");
    printf("%d progress report\n", (int)counts.ready);

    must(lbx_courier_stop(courier, LBX_FOREVER), "stopping");
    lbx_courier_destroy(courier);
    lbx_routes_unref(routes);
    lbx_postbox_unref(progress);
    lbx_postbox_unref(results);
    lbx_postbox_unref(requests);
    lbx_type_registry_destroy(types);
    return 0;
}

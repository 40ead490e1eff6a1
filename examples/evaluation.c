/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An evaluation run: samples in, verdicts out, a pass rate at the end.
 *
 * Each run has two places of its own, one for samples that passed and one for
 * those that did not. One letter is sent for each sample; the workers' replies
 * are routed by their type; then both places are drained and counted. Runs do
 * not disturb each other, and one that is interrupted can be counted later.
 */
#include <letterbox/courier.h>
#include <letterbox/post.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLES = 100
};

static void
must(lbx_status status, const char *what)
{
    if (status == LBX_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, lbx_status_text(status));
    exit(1);
}

/* The program under evaluation: is it right about divisibility by seven? */
static lbx_status
evaluate(lbx_job *job, void *context)
{
    const char *sample = lbx_letter_body(lbx_job_letter(job), NULL);
    const int number = atoi(sample);
    const int guess = number % 14 == 0; // a mistake
    lbx_draft verdict = lbx_draft_of_text(sample);

    (void)context;
    verdict.type_name =
        guess == (number % 7 == 0) ? "example.Passed" : "example.Failed";
    return lbx_job_reply_and_acknowledge(job, &verdict);
}

/* Takes everything out of a place; how many there were. */
static int
drain(lbx_postbox *postbox)
{
    lbx_letter *letter;
    int count = 0;

    while (lbx_postbox_receive(postbox, 0, &letter) == LBX_OK) {
        must(lbx_letter_acknowledge(letter), "acknowledging");
        lbx_letter_destroy(letter);
        count++;
    }
    return count;
}

/* On the store of a URL; memory if none is given. */
int
main(int argc, char **argv)
{
    lbx_store_options stores = LBX_STORE_OPTIONS_INIT;
    lbx_fault fault;
    static const lbx_routes_entry table[] = {
        {"example.Passed", "run-1-passed"},
        {"example.Failed", "run-1-failed"},
    };
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    lbx_postbox *samples, *passed, *failed;
    lbx_courier *courier;
    lbx_store *store;
    lbx_routes *routes;
    int good, bad;

    stores.fault = &fault;
    if (lbx_store_open(argc > 1 ? argv[1] : "memory:", &stores, &store) !=
        LBX_OK) {
        fprintf(stderr, "opening: %s\n", fault.text);
        return 1;
    }
    must(lbx_postbox_open_in(store, "samples", NULL, &samples), "opening");
    must(lbx_postbox_open_in(store, "run-1-passed", NULL, &passed), "opening");
    must(lbx_postbox_open_in(store, "run-1-failed", NULL, &failed), "opening");
    lbx_store_unref(store); // the postboxes keep it
    must(lbx_routes_create(table, 2, NULL, NULL, &routes), "routes");
    for (int i = 0; i < SAMPLES; i++) {
        char text[16];
        lbx_draft draft;

        snprintf(text, sizeof(text), "%d", i);
        draft = lbx_draft_of_text(text);
        draft.routes = routes;
        must(lbx_postbox_send_draft(samples, &draft, NULL), "sending");
    }

    // As many receives as it takes to find the postbox empty once.
    options.postbox = samples;
    options.handle = evaluate;
    options.max_letters = LBX_MAX_BATCH;
    options.wait_ns = 0;
    must(lbx_courier_create(&options, &courier), "courier");
    must(lbx_courier_run(courier, SAMPLES / LBX_MAX_BATCH + 1), "running");

    good = drain(passed);
    bad = drain(failed);
    printf("%d samples, %d passed: %.0f %%\n", good + bad, good,
           100.0 * good / (good + bad));

    lbx_courier_destroy(courier);
    lbx_routes_unref(routes);
    lbx_postbox_unref(failed);
    lbx_postbox_unref(passed);
    lbx_postbox_unref(samples);
    return 0;
}

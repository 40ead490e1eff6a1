/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes, one folder: a shop sends orders, a workshop makes them.
 *
 * Nobody tells the store how many processes there are. The workshop dies in the
 * middle of an order, and another takes its place: the order comes again when
 * its lease is over, and nothing is lost. The answer and the acknowledgement
 * are one step, so that nothing is made without the shop hearing of it.
 */
#include <letterbox/post.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
must(lbx_status status, const char *what)
{
    if (status == LBX_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, lbx_status_text(status));
    exit(1);
}

static lbx_postbox *
open_box(const char *folder, const char *name)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *postbox;
    lbx_fault fault;
    char url[200];

    options.fault = &fault;
    snprintf(url, sizeof(url), "file:%s/%s", folder, name);
    if (lbx_postbox_open(url, &options, &postbox) != LBX_OK) {
        fprintf(stderr, "%s\n", fault.text);
        exit(1);
    }
    return postbox;
}

/* Makes what is ordered. An order is ours for a second: then another may
 * try. */
static void
work(const char *folder)
{
    lbx_postbox *orders = open_box(folder, "orders");
    lbx_receive_options receive = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letter;
    size_t count;

    receive.wait_ns = 20 * LBX_SECOND;
    receive.lease_ns = LBX_SECOND;
    receive.max_letters = 1;
    while (lbx_postbox_receive_batch(orders, &receive, &letter, &count) ==
           LBX_OK) {
        const char *order = lbx_letter_body(letter, NULL);
        lbx_draft answer;
        char text[100];

        if (strcmp(order, "the end") == 0) {
            must(lbx_letter_acknowledge(letter), "acknowledging");
            lbx_letter_destroy(letter);
            break;
        }
        if (strcmp(order, "a fuse") == 0 &&
            lbx_letter_delivery_count(letter) == 1)
            raise(SIGKILL); // the lights go out
        snprintf(text, sizeof(text), "%s, at the %s try", order,
                 lbx_letter_delivery_count(letter) == 1 ? "first" : "second");
        answer = lbx_draft_of_text(text);
        must(lbx_letter_reply_and_acknowledge(letter, &answer, NULL, NULL),
             "answering");
        lbx_letter_destroy(letter);
    }
    lbx_postbox_unref(orders);
}

/* This program again, as a workshop. */
static pid_t
start_work(const char *folder)
{
    const pid_t child = fork();

    if (child == 0) {
        execl("/proc/self/exe", "two_processes", folder, (char *)NULL);
        _exit(1);
    }
    return child;
}

int
main(int argc, char **argv)
{
    static const char *const wanted[] = {"a lamp", "a fuse", "a plug"};
    char folder[] = "/tmp/two-processes-XXXXXX";
    lbx_postbox *orders, *made;
    lbx_routes *routes;
    lbx_letter *letter;
    pid_t child;
    int status;

    if (argc > 1) {
        work(argv[1]);
        return 0;
    }
    if (!mkdtemp(folder))
        return 1;
    child = start_work(folder);
    orders = open_box(folder, "orders");
    made = open_box(folder, "made");
    must(lbx_routes_create(NULL, 0, "made", NULL, &routes), "routes");
    for (int i = 0; i < 3; i++) {
        lbx_draft order = lbx_draft_of_text(wanted[i]);

        order.routes = routes;
        must(lbx_postbox_send_draft(orders, &order, NULL), "sending");
    }
    waitpid(child, &status, 0);
    printf("the workshop is gone: %s\n",
           WIFSIGNALED(status) ? "killed" : "it went home");
    child = start_work(folder);
    for (int i = 0; i < 3; i++) {
        must(lbx_postbox_receive(made, 20 * LBX_SECOND, &letter), "waiting");
        printf("%s\n", (const char *)lbx_letter_body(letter, NULL));
        must(lbx_letter_acknowledge(letter), "acknowledging");
        lbx_letter_destroy(letter);
    }
    must(lbx_postbox_send(orders, "the end", 7, NULL), "sending");
    waitpid(child, &status, 0);
    printf("the workshop is gone: %s\n",
           WIFSIGNALED(status) ? "killed" : "it went home");
    lbx_routes_unref(routes);
    lbx_postbox_unref(made);
    lbx_postbox_unref(orders);

    // Letters outlive programs; this folder need not.
    fflush(stdout);
    return execlp("rm", "rm", "-r", folder, (char *)NULL);
}

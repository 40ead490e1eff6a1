/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP stack of the server with nothing behind it: each request is answered
 * at once with 200 and no body. Prints where it listens, as the server does,
 * and ends with SIGTERM. What the server costs beyond this is its own.
 */
#include "http/http.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOOPS_MOST = 64
};

static void
answer_nothing(void *context, lbx__http_exchange *exchange)
{
    static const lbx__http_reply nothing = {.status = 200};

    (void)context;
    lbx__http_answer(exchange, &nothing);
}

static void
ignore_gone(void *context, lbx__http_exchange *exchange)
{
    (void)context;
    (void)exchange;
}

static void
ignore_written(void *context, void *exchange_context, lbx_status status)
{
    (void)context;
    (void)exchange_context;
    (void)status;
}

static void
end_with(const char *what, const lbx_fault *fault)
{
    fprintf(stderr, "%s: %s\n", what, fault->text);
    exit(1);
}

int
main(void)
{
    lbx__loop *loops[LOOPS_MOST];
    lbx_fault fault = {.text = ""};
    lbx__http *http;
    sigset_t ends;
    size_t i, count = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    int which;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    count = count > LOOPS_MOST ? LOOPS_MOST : count;
    for (i = 0; i < count; i++)
        if (lbx__loop_create(NULL, "empty", &loops[i], &fault) != LBX_OK)
            end_with("loop", &fault);
    if (lbx__http_create(
            &(lbx__http_options){
                .loops = loops,
                .loop_count = count,
                .address = "127.0.0.1:0",
                .limits = lbx__http_default_limits,
                .handler = {answer_nothing, ignore_gone, ignore_written, NULL},
            },
            &http, &fault) != LBX_OK)
        end_with("http", &fault);
    printf("empty answers at http://%s\n", lbx__http_address(http));
    fflush(stdout);
    sigwait(&ends, &which);
    lbx__http_stop(http);
    lbx__http_destroy(http, 0);
    for (i = 0; i < count; i++)
        lbx__loop_destroy(loops[i]);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors inside an existing event loop: a system without threads.
 *
 * The program's own poll() loop owns the processor. It watches standard input,
 * here a pipe that another thread writes to, tells the actors what comes in,
 * and lets them run.
 */
#include <letterbox/letterbox.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "actor_loop: %s\n", lbx_status_text(status));
        exit(1);
    }
}

struct words {
    int count;
};

static lbx_status
hear(lbx_context *context, void *state, void *message)
{
    struct words *words = state;

    (void)context;
    printf("word %d: %c\n", ++words->count, (char)(uintptr_t)message);
    return LBX_OK;
}

static const lbx_behaviour listener = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "listener",
    .state_bytes = sizeof(struct words),
    .receive = hear,
};

static void *
talk(void *argument)
{
    int fd = *(int *)argument;

    for (const char *c = "abc"; *c; c++)
        if (write(fd, c, 1) != 1)
            exit(1);
    close(fd);
    return NULL;
}

int
main(void)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_system *system;
    lbx_ref ref;
    pthread_t talker;
    int pipe_fds[2];
    char c;

    options.threads = 0;
    must(lbx_system_create(&options, &system));
    props.behaviour = &listener;
    must(lbx_system_spawn(system, &props, "listener", &ref));
    if (pipe(pipe_fds) != 0 ||
        pthread_create(&talker, NULL, talk, &pipe_fds[1]) != 0)
        return 1;
    for (;;) {
        struct pollfd in = {.fd = pipe_fds[0], .events = POLLIN};

        if (poll(&in, 1, -1) < 0 || read(pipe_fds[0], &c, 1) != 1)
            break;
        lbx_tell(ref, (void *)(uintptr_t)(unsigned char)c);
        must(lbx_system_run(system, UINT64_MAX, NULL));
    }
    (void)pthread_join(talker, NULL);
    close(pipe_fds[0]);
    lbx_system_destroy(system);
    return 0;
}

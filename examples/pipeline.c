/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline: main() reads lines, three threads parse them, one adds up.
 *
 * The mailboxes between them are bounded: a stage that is ahead waits. After
 * the last producer consumers get the rest, and then LBX_CLOSED.
 */
#include <letterbox/letterbox.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(holds) ((holds) ? (void)0 : (perror(#holds), exit(1)))

static lbx_consumer *lines_out, *numbers_out;

static void *
parse(void *numbers)
{
    void *line;

    while (lbx_consumer_receive(lines_out, &line) == LBX_OK) {
        MUST(!lbx_producer_send(numbers, (void *)atol(line)));
        free(line);
    }
    lbx_producer_unref(numbers);
    return NULL;
}

static void *
add_up(void *sum)
{
    void *number;

    while (lbx_consumer_receive(numbers_out, &number) == LBX_OK)
        *(long *)sum += (long)number;
    return NULL;
}

int
main(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_producer *lines, *numbers;
    pthread_t threads[4];
    long sum = 0;

    options.capacity_messages = 16;
    options.overflow = LBX_OVERFLOW_BLOCK; // a send to a full one waits
    MUST(!lbx_mailbox_create("bounded", &options, &lines, &lines_out) &&
         !lbx_mailbox_create("bounded", &options, &numbers, &numbers_out));
    MUST(!pthread_create(&threads[0], NULL, add_up, &sum));
    for (int i = 1; i < 4; i++)
        MUST(!pthread_create(&threads[i], NULL, parse,
                             lbx_producer_ref(numbers)));
    lbx_producer_unref(numbers);
    for (int i = 1; i <= 1000; i++) {
        char *line = malloc(16);

        MUST(line && snprintf(line, 16, "%d\n", i) > 0);
        MUST(!lbx_producer_send(lines, line));
    }
    lbx_producer_unref(lines);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("the sum of 1000 lines is %ld\n", sum);
    lbx_consumer_unref(lines_out);
    lbx_consumer_unref(numbers_out);
    return 0;
}

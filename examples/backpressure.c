/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Back-pressure: a producer that is faster than its consumer.
 *
 * A bounded mailbox never holds more than it was given room for. What happens
 * to the message that finds no room is the mailbox's overflow policy. This
 * program shows the two that lose nothing:
 *
 *   LBX_OVERFLOW_REJECT  the send answers LBX_FULL at once; the message is
 *                        still the sender's, who decides: try again later, or
 *                        do without.
 *   LBX_OVERFLOW_BLOCK   the send waits. The producer is slowed down to the
 *                        consumer's pace, without a line of code in either.
 */
#include <letterbox/letterbox.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    ROOM = 4,
    JOBS = 12
};

struct job {
    int number;
};

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "backpressure: %s\n", lbx_status_text(status));
        exit(1);
    }
}

static struct job *
new_job(int number)
{
    struct job *job = malloc(sizeof(*job));

    if (!job)
        must(LBX_NO_MEMORY);
    job->number = number;
    return job;
}

/* For jobs that are still inside when their mailbox ends. */
static void
end_job(void *message, void *context)
{
    (void)context;
    free(message);
}

static void
make_mailbox(lbx_overflow overflow, lbx_producer **ret_in,
             lbx_consumer **ret_out)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.capacity_messages = ROOM;
    options.overflow = overflow;
    options.destroy = end_job;
    must(lbx_mailbox_create(LBX_KIND_BOUNDED, &options, ret_in, ret_out));
}

static void
show_reject(void)
{
    lbx_producer *in;
    lbx_consumer *out;
    void *message;

    printf("REJECT, room for %d\n", ROOM);
    make_mailbox(LBX_OVERFLOW_REJECT, &in, &out);
    for (int number = 1; number <= 6; number++) {
        struct job *job = new_job(number);
        lbx_status status = lbx_producer_send(in, job);

        printf("  job %d: %s\n", number, lbx_status_text(status));
        if (status != LBX_OK)
            free(job); // refused: it is still ours
    }
    must(lbx_consumer_receive(out, &message));
    printf("  job %d is done\n", ((struct job *)message)->number);
    free(message);
    must(lbx_producer_send(in, new_job(7)));
    printf("  job 7: there is room again\n");
    lbx_producer_unref(in);
    lbx_consumer_unref(out); // ends the four that are left
}

/* The fast producer: a thread that sends all it has and goes. */
static void *
produce(void *context)
{
    lbx_producer *in = context;

    for (int number = 1; number <= JOBS; number++)
        must(lbx_producer_send(in, new_job(number)));
    lbx_producer_unref(in); // the last producer: this closes the mailbox
    return NULL;
}

static void
show_block(void)
{
    const struct timespec work = {.tv_nsec = 1000000};
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;
    lbx_producer *in;
    lbx_consumer *out;
    pthread_t thread;
    void *message;

    printf("BLOCK, room for %d\n", ROOM);
    make_mailbox(LBX_OVERFLOW_BLOCK, &in, &out);
    if (pthread_create(&thread, NULL, produce, in) != 0)
        exit(1);
    while (lbx_consumer_receive(out, &message) == LBX_OK) {
        nanosleep(&work, NULL); // the slow consumer
        printf("  job %d is done\n", ((struct job *)message)->number);
        free(message);
    }
    pthread_join(thread, NULL);
    must(lbx_mailbox_stats_read(lbx_consumer_mailbox(out), &stats));
    printf("  %d in, %d out, %s more than %d inside\n", (int)stats.accepted,
           (int)stats.taken, stats.high_water <= ROOM ? "never" : "once", ROOM);
    lbx_consumer_unref(out);
}

int
main(void)
{
    show_reject();
    show_block();
    return 0;
}

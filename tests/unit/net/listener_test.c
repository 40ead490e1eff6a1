/* SPDX-License-Identifier: Apache-2.0 */
/* A listener in a process that has no descriptors left. */
#include "net/listener.h"

#include "net/socket.h"
#include "support/loops.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct hall {
    lbx__listener listener;
    lbx__loop *loop;
    lbx__task start;
    lbx__task close;
    lbx__task measure;
    int64_t used_ns;
    atomic_int measured;
    atomic_int accepted;
    atomic_int turned_away;
    atomic_int closed;
};

static struct hall *
hall_of(lbx__listener *listener)
{
    return (struct hall *)(void *)listener;
}

static void
hall_accepted(lbx__listener *listener, int fd,
              const struct sockaddr_storage *peer, socklen_t length)
{
    struct hall *hall = hall_of(listener);

    (void)peer;
    (void)length;
    if (fd >= 0)
        CHECK(close(fd) == 0);
    atomic_fetch_add(fd >= 0 ? &hall->accepted : &hall->turned_away, 1);
}

static void
hall_closed(lbx__listener *listener)
{
    atomic_fetch_add(&hall_of(listener)->closed, 1);
}

static void
hall_start(lbx__task *task)
{
    struct hall *hall =
        (struct hall *)(void *)((char *)task - offsetof(struct hall, start));

    CHECK(lbx__listener_start(&hall->listener, hall->loop));
}

static void
hall_close(lbx__task *task)
{
    struct hall *hall =
        (struct hall *)(void *)((char *)task - offsetof(struct hall, close));

    lbx__listener_close(&hall->listener);
}

/* Takes every descriptor that is left; returns one of them. */
static int
take_descriptors(void)
{
    int last = -1, fd;

    while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        last = fd;
    CHECK(errno == EMFILE && last >= 0);
    return last;
}

static void
give_descriptors(int last, int first)
{
    for (; last > first; last--)
        (void)close(last);
}

static void
hall_measure(lbx__task *task)
{
    struct hall *hall =
        (struct hall *)(void *)((char *)task - offsetof(struct hall, measure));
    struct timespec used;

    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0);
    hall->used_ns = used.tv_sec * LBX_SECOND + used.tv_nsec;
    atomic_fetch_add(&hall->measured, 1);
}

/* What the thread of the loop has used of a processor. */
static int64_t
hall_used_ns(struct hall *hall)
{
    const int before = atomic_load(&hall->measured);

    hall->measure.run = hall_measure;
    lbx__loop_post(hall->loop, &hall->measure);
    EVENTUALLY(atomic_load(&hall->measured) > before);
    return hall->used_ns;
}

/* LSTN-1: without even a spare descriptor it pauses, does not use up a
 * processor, and goes on when there are some. */
TEST(listener_without_descriptors_goes_on_when_there_are_some)
{
    static const lbx__listener_events events = {.accepted = hall_accepted,
                                                .closed = hall_closed};
    const struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
    static struct hall hall;
    lbx__address address;
    lbx__socket_group group;
    int64_t began_ns, used_ns;
    int fds[1], client, last;

    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    CHECK_OK(lbx__loop_create(NULL, "test", &hall.loop, NULL));
    CHECK_OK(lbx__address_parse("127.0.0.1:0", &address, NULL));
    group = (lbx__socket_group){.fds = fds, .count = 1};
    CHECK_OK(lbx__socket_listen(&address, &group, NULL));
    CHECK_OK(lbx__address_parse(group.text, &address, NULL));
    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(client >= 0);
    last = take_descriptors();
    lbx__listener_init(&hall.listener, fds[0], &events);
    CHECK_INT(-1, hall.listener.spare);
    hall.start.run = hall_start;
    hall.close.run = hall_close;
    lbx__loop_post(hall.loop, &hall.start);
    CHECK(connect(client, (struct sockaddr *)&address.socket, address.size) ==
          0);
    began_ns = lbx_clock_now(NULL);
    used_ns = hall_used_ns(&hall);
    EVENTUALLY(lbx_clock_now(NULL) > began_ns + 300 * LBX_MS);
    CHECK(hall_used_ns(&hall) - used_ns <
          (lbx_clock_now(NULL) - began_ns) / 20);
    CHECK_INT(0, atomic_load(&hall.accepted));
    CHECK_INT(0, atomic_load(&hall.turned_away));
    give_descriptors(last, client);
    EVENTUALLY(atomic_load(&hall.accepted) == 1);
    CHECK(close(client) == 0);
    lbx__loop_post(hall.loop, &hall.close);
    lbx__loop_destroy(hall.loop);
    CHECK_INT(1, atomic_load(&hall.closed));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server on epoll, a queue of lines: "put TEXT" and "get", which waits for a
 * text. The queue is a mailbox; one event says when to poll receives again.
 */
#include <arpa/inet.h>
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MUST(holds) ((holds) ? (void)0 : (perror(#holds), exit(1)))

static const char script[] =
    "at=/dev/tcp/127.0.0.1/%d bash -c 'exec 3<>$at 4<>$at; echo get >&3\n"
    "echo put a book >&4; head -n1 <&4; head -n1 <&3' &";

static struct client {
    char line[256];
    size_t used;
    lbx_operation get;
    bool waiting;
    void *text;
} clients[64]; /* by their descriptors */

static lbx_producer *in;
static lbx_consumer *out;
static lbx_event event;
static int epoll;

static void
watch(int fd)
{
    struct epoll_event interest = {EPOLLIN, {.fd = fd}};

    MUST(fd < 64 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest) == 0);
}

static void
answer_get(int fd, struct client *client)
{
    if (!client->waiting || lbx_operation_poll(&client->get, &event.waker))
        return; // the event says when to poll again
    MUST(dprintf(fd, "%s\n", (char *)client->text) > 0);
    free(client->text);
    client->waiting = false;
}

static bool
serve(int fd, struct client *client)
{
    ssize_t got = read(fd, client->line + client->used,
                       sizeof(client->line) - client->used);

    if (got <= 0) {                       // or its line is too long
        lbx_operation_fini(&client->get); // a pending get takes nothing
        *client = (struct client){.used = 0};
        return close(fd) != 0; // false: it has left
    }
    client->used += (size_t)got;
    for (char *end; (end = memchr(client->line, '\n', client->used));) {
        *end++ = '\0';
        if (strncmp(client->line, "put ", 4) == 0) {
            MUST(lbx_producer_send(in, strdup(client->line + 4)) == LBX_OK);
            MUST(dprintf(fd, "ok\n") > 0);
        } else if (strcmp(client->line, "get") == 0 && !client->waiting) {
            MUST(!lbx_consumer_receive_init(&client->get, out, &client->text,
                                            LBX_FOREVER));
            client->waiting = true;
            answer_get(fd, client);
        }
        client->used -= (size_t)(end - client->line);
        memmove(client->line, end, client->used);
    }
    return true;
}

int
main(void)
{
    struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, ""};
    struct epoll_event ready;
    int listening = socket(AF_INET, SOCK_STREAM, 0), connected = 0;
    socklen_t size = sizeof(address);
    char command[512];

    epoll = epoll_create1(0);
    MUST(!bind(listening, (void *)&address, size) && !listen(listening, 8));
    MUST(getsockname(listening, (void *)&address, &size) == 0);
    MUST(!lbx_mailbox_create(NULL, NULL, &in, &out) && !lbx_event_open(&event));
    watch(listening);
    watch(event.fd);
    snprintf(command, sizeof(command), script, ntohs(address.sin_port));
    MUST(system(command) == 0);
    do {
        MUST(epoll_wait(epoll, &ready, 1, -1) == 1);
        if (ready.data.fd == listening) {
            watch(accept(listening, NULL, NULL));
            connected++;
        } else if (ready.data.fd != event.fd) {
            connected -= !serve(ready.data.fd, &clients[ready.data.fd]);
        } else {
            lbx_event_clear(&event);
            for (int fd = 0; fd < 64; fd++)
                answer_get(fd, &clients[fd]);
        }
    } while (connected > 0); // until the last client, the script, has left
    lbx_event_close(&event);
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
    return close(epoll) + close(listening);
}

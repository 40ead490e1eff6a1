/* SPDX-License-Identifier: Apache-2.0 */
#include "http/fixture.h"

#include "support/loops.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <pthread.h>

/* ---- The handler ---- */

static void
answer_text(lbx__http_exchange *exchange, const char *text, size_t size,
            bool closes)
{
    const struct rig *rig = exchange->context;
    lbx__http_reply reply = {
        .status = 200,
        .content_type = "text/plain",
        .body = {text, size},
        .close = closes,
        .needs_client = rig->needs_client,
    };

    lbx__http_answer(exchange, &reply);
}

static void
answer_echo(lbx__http_exchange *exchange, bool closes)
{
    const lbx__http_request *request = &exchange->request;
    size_t size = request->method_name.size + request->target.size +
                  request->body.size + 2;
    char *text = malloc(size + 1);

    CHECK(text != NULL);
    (void)snprintf(text, size + 1, "%.*s %.*s %.*s",
                   (int)request->method_name.size, request->method_name.bytes,
                   (int)request->target.size, request->target.bytes,
                   (int)request->body.size, request->body.bytes);
    answer_text(exchange, text, size, closes);
    free(text);
}

struct later {
    lbx__task task;
    lbx__http_exchange *exchange;
    pthread_t thread;
};

static void
later_answer(lbx__task *task)
{
    struct later *later = (struct later *)(void *)task;

    CHECK(pthread_join(later->thread, NULL) == 0);
    answer_echo(later->exchange, false);
    free(later);
}

static void *
later_main(void *argument)
{
    struct later *later = argument;

    lbx__loop_post(lbx__http_exchange_loop(later->exchange), &later->task);
    return NULL;
}

static void
handle_later(lbx__http_exchange *exchange)
{
    struct later *later = malloc(sizeof(*later));

    CHECK(later != NULL);
    later->task.run = later_answer;
    later->exchange = exchange;
    CHECK(pthread_create(&later->thread, NULL, later_main, later) == 0);
}

static void
handle_big(lbx__http_exchange *exchange)
{
    size_t size = (size_t)strtoul(exchange->request.query.bytes, NULL, 10);
    char *text = malloc(size);

    CHECK(text != NULL);
    memset(text, 'x', size);
    answer_text(exchange, text, size, false);
    free(text);
}

static void
handle(void *context, lbx__http_exchange *exchange)
{
    struct rig *rig = context;
    lbx__slice path = exchange->request.path;

    atomic_fetch_add(&rig->handled, 1);
    exchange->context = rig;
    if (lbx__slice_is(path, "/park")) {
        CHECK(rig->parked_count < RIG_PARKED);
        rig->parked[rig->parked_count++] = exchange;
        atomic_store(&rig->parked_now, (int)rig->parked_count);
    } else if (lbx__slice_is(path, "/later")) {
        handle_later(exchange);
    } else if (lbx__slice_is(path, "/big")) {
        handle_big(exchange);
    } else {
        answer_echo(exchange, lbx__slice_is(path, "/close"));
    }
}

static void
handle_gone(void *context, lbx__http_exchange *exchange)
{
    struct rig *rig = context;
    size_t i;

    if (rig->answers_gone) {
        for (i = 0; i < rig->parked_count && rig->parked[i] != exchange; i++)
            continue;
        CHECK(i < rig->parked_count);
        rig->parked[i] = rig->parked[--rig->parked_count];
        answer_text(exchange, "gone", 4, false);
    }
    atomic_fetch_add(&rig->gone, 1);
}

static void
handle_written(void *context, void *exchange_context, lbx_status status)
{
    struct rig *rig = context;

    CHECK_PTR(rig, exchange_context);
    if (status == LBX_OK)
        atomic_fetch_add(&rig->written, 1);
    else if (status == LBX_CLOSED)
        atomic_fetch_add(&rig->written_closed, 1);
    else if (status == LBX_UNKNOWN)
        atomic_fetch_add(&rig->written_unknown, 1);
    else
        FAIL("written with %s", lbx_status_name(status));
}

static void
count_line(void *context, const char *line)
{
    struct rig *rig = context;

    CHECK(line[0] != '\0');
    atomic_fetch_add(&rig->lines, 1);
}

/* ---- The rig ---- */

void
rig_init(struct rig *rig)
{
    memset(rig, 0, sizeof(*rig));
    rig->options = (lbx__http_options){
        .loop_count = 1,
        .address = "127.0.0.1:0",
        .limits = lbx__http_default_limits,
        .handler = {handle, handle_gone, handle_written, rig, NULL},
        .log = count_line,
        .log_context = rig,
    };
}

void
rig_open(struct rig *rig)
{
    lbx_fault fault = {.text = ""};
    lbx_status status;
    size_t i;

    rig->options.allocator = rig->allocator;
    for (i = 0; i < rig->options.loop_count; i++)
        CHECK_OK(
            lbx__loop_create(rig->allocator, "test", &rig->loops[i], &fault));
    rig->options.loops = rig->loops;
    status = lbx__http_create(&rig->options, &rig->http, &fault);
    if (status != LBX_OK)
        FAIL("%s: %s", lbx_status_name(status), fault.text);
}

void
rig_close(struct rig *rig)
{
    size_t i;

    lbx__http_stop(rig->http);
    lbx__http_destroy(rig->http, LBX_FOREVER);
    for (i = 0; i < rig->options.loop_count; i++)
        lbx__loop_destroy(rig->loops[i]);
}

static void
release_oldest(lbx__task *task)
{
    struct rig *rig =
        (struct rig *)(void *)((char *)task - offsetof(struct rig, task));
    size_t i;

    for (i = 0; i < rig->parked_count; i++)
        answer_echo(rig->parked[i], false);
    rig->parked_count = 0;
    atomic_store(&rig->parked_now, 0);
    atomic_fetch_add(&rig->tasks_done, 1);
}

static void
release_newest(lbx__task *task)
{
    struct rig *rig =
        (struct rig *)(void *)((char *)task - offsetof(struct rig, task));

    while (rig->parked_count > 0)
        answer_echo(rig->parked[--rig->parked_count], false);
    atomic_store(&rig->parked_now, 0);
    atomic_fetch_add(&rig->tasks_done, 1);
}

void
rig_release(struct rig *rig, bool reversed)
{
    int before = atomic_load(&rig->tasks_done);

    rig->task.run = reversed ? release_newest : release_oldest;
    lbx__loop_post(rig->loops[0], &rig->task);
    EVENTUALLY(atomic_load(&rig->tasks_done) > before);
}

static void
release_held(lbx__task *task)
{
    struct rig *rig =
        (struct rig *)(void *)((char *)task - offsetof(struct rig, task));

    atomic_store(&rig->held, 1);
    EVENTUALLY(atomic_load(&rig->held) == 2);
    release_oldest(task);
}

void
rig_release_after(struct rig *rig, void (*meanwhile)(struct client *),
                  struct client *client)
{
    int before = atomic_load(&rig->tasks_done);

    rig->task.run = release_held;
    lbx__loop_post(rig->loops[0], &rig->task);
    EVENTUALLY(atomic_load(&rig->held) == 1);
    meanwhile(client);
    atomic_store(&rig->held, 2);
    EVENTUALLY(atomic_load(&rig->tasks_done) > before);
}

void
rig_counts(struct rig *rig, lbx__http_counts *ret)
{
    lbx__http_count(rig->http, ret);
}

/* ---- The client ---- */

static void
client_connect_unix(struct client *client, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(client->fd >= 0);
    CHECK(connect(client->fd, (struct sockaddr *)&address, sizeof(address)) ==
          0);
}

void
client_open_socket(struct client *client)
{
    client->have = 0;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(client->fd >= 0);
}

void
client_connect(struct client *client, const struct rig *rig)
{
    const char *text = lbx__http_address(rig->http);
    struct sockaddr_in address = {.sin_family = AF_INET};

    address.sin_port =
        htons((uint16_t)strtoul(strrchr(text, ':') + 1, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(connect(client->fd, (struct sockaddr *)&address, sizeof(address)) ==
          0);
}

void
client_open(struct client *client, const struct rig *rig)
{
    const char *text = lbx__http_address(rig->http);

    client->have = 0;
    if (strncmp(text, "unix:", 5) == 0) {
        client_connect_unix(client, text + 5);
        return;
    }
    client_open_socket(client);
    client_connect(client, rig);
}

void
client_close(struct client *client)
{
    CHECK(close(client->fd) == 0);
}

void
client_reset(struct client *client)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};

    CHECK(setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &linger,
                     sizeof(linger)) == 0);
    client_close(client);
}

void
client_send_bytes(struct client *client, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(client->fd, bytes, size, MSG_NOSIGNAL);

        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
            return; // the server had enough
        CHECK(sent > 0);
        bytes += sent;
        size -= (size_t)sent;
    }
}

void
client_send(struct client *client, const char *text)
{
    client_send_bytes(client, text, strlen(text));
}

/* More bytes. False: the end. */
static bool
client_receive(struct client *client)
{
    ssize_t got;

    CHECK(client->have < sizeof(client->bytes) - 1);
    got = recv(client->fd, client->bytes + client->have,
               sizeof(client->bytes) - 1 - client->have, 0);
    if (got <= 0)
        return false;
    client->have += (size_t)got;
    client->bytes[client->have] = '\0';
    return true;
}

static size_t
content_length(const char *head)
{
    const char *field = strstr(head, "\r\nContent-Length: ");

    return field ? (size_t)strtoul(field + 18, NULL, 10) : 0;
}

static bool
client_read_as(struct client *client, struct client_answer *ret, bool has_body)
{
    static char body[CLIENT_BYTES];
    char *end;
    size_t head, size;

    client->bytes[client->have] = '\0';
    while (!(end = strstr(client->bytes, "\r\n\r\n"))) {
        if (!client_receive(client)) {
            CHECK_INT(0, client->have);
            return false;
        }
    }
    head = (size_t)(end - client->bytes) + 4;
    CHECK(head < sizeof(ret->head));
    memcpy(ret->head, client->bytes, head);
    ret->head[head] = '\0';
    CHECK(strncmp(ret->head, "HTTP/1.1 ", 9) == 0);
    ret->status = (int)strtol(ret->head + 9, NULL, 10);
    size = has_body ? content_length(ret->head) : 0;
    while (client->have < head + size)
        CHECK(client_receive(client));
    memcpy(body, client->bytes + head, size);
    body[size] = '\0';
    ret->body = body;
    ret->body_size = size;
    client->have -= head + size;
    memmove(client->bytes, client->bytes + head + size, client->have);
    return true;
}

bool
client_read(struct client *client, struct client_answer *ret)
{
    return client_read_as(client, ret, true);
}

bool
client_read_head(struct client *client, struct client_answer *ret)
{
    return client_read_as(client, ret, false);
}

void
client_expect(struct client *client, int status)
{
    struct client_answer answer;

    CHECK(client_read(client, &answer));
    CHECK_INT(status, answer.status);
}

void
client_expect_body(struct client *client, const char *body)
{
    struct client_answer answer;

    CHECK(client_read(client, &answer));
    CHECK_INT(200, answer.status);
    CHECK_STR(body, answer.body);
}

void
client_expect_close(struct client *client)
{
    CHECK_INT(0, client->have);
    CHECK(!client_receive(client));
}

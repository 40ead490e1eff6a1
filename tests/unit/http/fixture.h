/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server on 127.0.0.1 with a small handler, and clients with sockets.
 *
 * The handler looks at the path:
 *
 *   /echo   answers at once: "METHOD TARGET BODY"
 *   /park   answers when the test says so: rig_release()
 *   /later  answers from a task that another thread posts
 *   /big    answers with as many bytes as the query says
 *   /close  answers and closes
 */
#ifndef LBX_TEST_HTTP_FIXTURE_H
#define LBX_TEST_HTTP_FIXTURE_H

#include "http/http.h"
#include "support/test.h"
#include "support/torture.h"
#include <stdatomic.h>

enum {
    RIG_LOOPS = 4,
    RIG_PARKED = 64,
    CLIENT_BYTES = 64 * 1024
};

struct rig {
    lbx__http_options options; /* may be changed before rig_open() */
    lbx__loop *loops[RIG_LOOPS];
    lbx__http *http;
    const lbx_allocator *allocator;

    /* Of the first loop's thread. */
    lbx__http_exchange *parked[RIG_PARKED];
    size_t parked_count;
    bool answers_gone; /* `gone` answers from inside */
    bool needs_client; /* of answers */
    lbx__task task;

    atomic_int handled;
    atomic_int parked_now;
    atomic_int gone;
    atomic_int written;
    atomic_int written_closed;
    atomic_int written_unknown;
    atomic_int tasks_done;
    atomic_int lines; /* logged */
    atomic_int held;  /* 1: the loop stands still; 2: it may go on */
};

struct client;

/* Fills in the options: one loop, port 0, defaults. */
void rig_init(struct rig *rig);
void rig_open(struct rig *rig);

/* Stops and destroys, without a deadline. */
void rig_close(struct rig *rig);

/* Answers what is parked, newest first if `reversed`. */
void rig_release(struct rig *rig, bool reversed);

/* The same, in a loop that stands still while `meanwhile` is called: it notices
 * nothing of that before it answers. */
void rig_release_after(struct rig *rig, void (*meanwhile)(struct client *),
                       struct client *client);

void rig_counts(struct rig *rig, lbx__http_counts *ret);

struct client {
    int fd;
    size_t have;
    char bytes[CLIENT_BYTES];
};

/* An answer of at most CLIENT_BYTES; texts live until the next is read. */
struct client_answer {
    int status;
    char head[4096];
    const char *body;
    size_t body_size;
};

void client_open(struct client *client, const struct rig *rig);
/* The same in two steps, for TCP: what needs a descriptor, and the rest. */
void client_open_socket(struct client *client);
void client_connect(struct client *client, const struct rig *rig);
void client_close(struct client *client);
/* With a reset instead of an orderly end. */
void client_reset(struct client *client);
void client_send(struct client *client, const char *text);
void client_send_bytes(struct client *client, const char *bytes, size_t size);
/* False: the server has closed instead. */
bool client_read(struct client *client, struct client_answer *ret);
/* The same for the answer to HEAD. */
bool client_read_head(struct client *client, struct client_answer *ret);
/* Reads and checks the status. */
void client_expect(struct client *client, int status);
/* Reads and checks that it is 200 with this body. */
void client_expect_body(struct client *client, const char *body);
/* Waits until the server closes; nothing else may come. */
void client_expect_close(struct client *client);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "letters.h"

#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

const char *store_path;

const char *
url(const char *rest)
{
    static char text[600];

    (void)snprintf(text, sizeof(text), "file:%s%s", store_path, rest);
    return text;
}

void
new_store_path(void)
{
    store_path = test_path();
}

lbx_store *
open_store(void)
{
    const lbx_store_options options = fixture_options();
    lbx_store *store;

    CHECK_OK(lbx_store_open(url(""), &options, &store));
    return store;
}

lbx_postbox *
open_box(const char *name)
{
    const lbx_store_options store = fixture_options();
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *postbox;
    char rest[64];

    options.store = &store;
    (void)snprintf(rest, sizeof(rest), "/%s", name);
    CHECK_OK(lbx_postbox_open(url(rest), &options, &postbox));
    return postbox;
}

void
mail(lbx_postbox *postbox, const char *body)
{
    CHECK_OK(lbx_postbox_send(postbox, body, strlen(body), NULL));
}

lbx_letter *
expect(lbx_postbox *postbox, const char *body)
{
    lbx_letter *letter;
    size_t size;

    CHECK_OK(lbx_postbox_receive(postbox, 50 * LBX_SECOND, &letter));
    CHECK(lbx_letter_body(letter, &size) && size == strlen(body) &&
          memcmp(lbx_letter_body(letter, NULL), body, size) == 0);
    return letter;
}

void
take(lbx_postbox *postbox, const char *body)
{
    lbx_letter *letter = expect(postbox, body);

    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
}

struct child
spawn(void (*run)(int to))
{
    struct child child;
    int ends[2];

    CHECK(pipe(ends) == 0);
    child.pid = fork();
    CHECK(child.pid >= 0);
    if (child.pid == 0) {
        (void)close(ends[0]);
        run(ends[1]);
        _exit(0);
    }
    (void)close(ends[1]);
    child.from = ends[0];
    return child;
}

struct child
spawn_ready(void (*run)(int to))
{
    const struct child child = spawn(run);

    hear(child);
    return child;
}

void
say(int to)
{
    CHECK(write(to, "", 1) == 1);
}

void
stay_idle(int to)
{
    (void)open_store();
    say(to);
    for (;;)
        pause();
}

void
hear(struct child child)
{
    char byte;

    CHECK(read(child.from, &byte, 1) == 1);
}

void
await_end(struct child child)
{
    int status;

    CHECK(waitpid(child.pid, &status, 0) == child.pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)close(child.from);
}

void
kill_child(struct child child)
{
    CHECK(kill(child.pid, SIGKILL) == 0);
    CHECK(waitpid(child.pid, NULL, 0) == child.pid);
    (void)close(child.from);
}

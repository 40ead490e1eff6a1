/* SPDX-License-Identifier: Apache-2.0 */
#include "letters.h"

#include "fixture.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

char store_path[480];

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
    (void)snprintf(store_path, sizeof(store_path), "%s", test_path());
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

pid_t
spawn(void (*run)(int to), int *ret_from)
{
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        run(ends[1]);
        _exit(0);
    }
    (void)close(ends[1]);
    *ret_from = ends[0];
    return child;
}

void
say(int to)
{
    CHECK(write(to, "", 1) == 1);
}

void
hear(int from)
{
    char byte;

    CHECK(read(from, &byte, 1) == 1);
}

void
await_end(pid_t child, int from)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)close(from);
}

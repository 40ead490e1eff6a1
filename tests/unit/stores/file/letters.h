/* SPDX-License-Identifier: Apache-2.0 */
/* A store in files with small options, its boxes and letters; and child
 * processes that use it. */
#ifndef LBX_TEST_STORES_FILE_LETTERS_H
#define LBX_TEST_STORES_FILE_LETTERS_H

#include <letterbox/post.h>

#include <sys/types.h>

/* The folder of the store; new_store_path() chooses a fresh one. */
extern const char *store_path;
void new_store_path(void);

/* Its URL, with something behind it; good until the next call. */
const char *url(const char *rest);

lbx_store *open_store(void);
lbx_postbox *open_box(const char *name);

void mail(lbx_postbox *postbox, const char *body);

/* Waits for a letter, which must have this body; and acknowledges it. */
lbx_letter *expect(lbx_postbox *postbox, const char *body);
void take(lbx_postbox *postbox, const char *body);

/* A process that runs `run` and exits with 0 when that returns. say() and
 * hear() send and await one byte over a pipe. */
struct child {
    pid_t pid;
    int from; /* the end of the pipe that the parent reads */
};

/* The same, but not before the child has called say(). */
struct child spawn(void (*run)(int to));
struct child spawn_ready(void (*run)(int to));
void say(int to);
void hear(struct child child);

/* For a child: opens the store, says so, and does nothing until a kill. */
void stay_idle(int to);

/* Waits until the child has exited with 0; or kills it. */
void await_end(struct child child);
void kill_child(struct child child);

#endif

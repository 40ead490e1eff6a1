/* SPDX-License-Identifier: Apache-2.0 */
/* A store in files with small options, its boxes and letters; and processes that
 * use it too. */
#ifndef LBX_TEST_STORES_FILE_LETTERS_H
#define LBX_TEST_STORES_FILE_LETTERS_H

#include <letterbox/post.h>

#include <sys/types.h>

/* Where the store is; new_store_path() makes up another place. */
extern char store_path[480];
void new_store_path(void);

/* Its URL, with something behind it; good until the next call. */
const char *url(const char *rest);

lbx_store *open_store(void);
lbx_postbox *open_box(const char *name);

void mail(lbx_postbox *postbox, const char *body);

/* Waits for a letter, which must have this body; and acknowledges it. */
lbx_letter *expect(lbx_postbox *postbox, const char *body);
void take(lbx_postbox *postbox, const char *body);

/* Runs in a child, which ends when it returns: with 0. The two say and hear one
 * word, over a pipe. */
pid_t spawn(void (*run)(int to), int *ret_from);
void say(int to);
void hear(int from);
void await_end(pid_t child, int from);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What WINK's ported tests share: a mailbox as its tests see one.
 *
 * WINK's in-memory mailbox is stood in for by the fake, with WINK's rules and a
 * clock that the test moves; a redelivery after a time-out is a move of the clock,
 * which is also what its explicit reap is. tests/contract asks the same of every
 * real store.
 */
#ifndef LBX_TEST_WINK_H
#define LBX_TEST_WINK_H

#include <letterbox/post.h>
#include <letterbox/testing.h>

struct mailbox {
    lbx_test_clock time;
    lbx_clock clock;
    lbx_store_options store;
    lbx_box_options box;
    lbx_postbox_options options;
    lbx_postbox *postbox;
};

/* Options alone, to be changed; then mailbox_open(). */
void mailbox_init(struct mailbox *mailbox);
void mailbox_open(struct mailbox *mailbox);
void mailbox_close(struct mailbox *mailbox);

/* Time passes, and what is due is back. */
void mailbox_pass(struct mailbox *mailbox, int64_t duration_ns);

void mailbox_send(struct mailbox *mailbox, const char *text);

/* The next letter, with the default lease; NULL when there is none. */
lbx_letter *mailbox_receive(struct mailbox *mailbox);

/* pending and in flight: approximate_count(). */
uint64_t mailbox_count(struct mailbox *mailbox);

#endif

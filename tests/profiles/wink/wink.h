/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What WINK's ported tests share: a mailbox as its tests see one, with WINK's
 * rules, on a clock that the test moves; a redelivery after a time-out is a
 * move of the clock, which is also what its explicit reap is. Each test is run
 * on the fake and on every store that is built in.
 */
#ifndef LBX_TEST_WINK_H
#define LBX_TEST_WINK_H

#include <letterbox/post.h>
#include <letterbox/testing.h>

enum wink_store {
    WINK_FAKE,
    WINK_MEMORY,
    WINK_FILE
};

/* What mailbox_open() opens. */
extern enum wink_store wink_store;

#define WINK_ON(behaviour, name, store, suffix)                                \
    TEST_CITING(behaviour, name##_##suffix)                                    \
    {                                                                          \
        wink_store = store;                                                    \
        wink_##name();                                                         \
    }

#ifdef HAS_FILES
#define WINK_ON_FILE(behaviour, name)                                          \
    WINK_ON(behaviour, name, WINK_FILE, in_files)
#else
#define WINK_ON_FILE(behaviour, name)
#endif

struct mailbox {
    lbx_test_clock time;
    lbx_clock clock;
    lbx_store_options store;
    lbx_box_options box;
    lbx_postbox_options options;
    lbx_postbox *postbox;
    char url[512];
    lbx_letter *letters[16]; /* of mailbox_receive() */
    size_t letter_count;
};

/* Options alone, to be changed; then mailbox_open(). */
void mailbox_init(struct mailbox *mailbox);
void mailbox_open(struct mailbox *mailbox);  /* again: the same one */
void mailbox_close(struct mailbox *mailbox); /* destroys its letters too */

/* Moves time; what is due is back. */
void mailbox_pass(struct mailbox *mailbox, int64_t duration_ns);

void mailbox_send(struct mailbox *mailbox, const char *text);

/* The next letter, with the default lease; NULL when there is none. The caller
 * destroys what it takes, mailbox_close() what it receives; the latter is for
 * one thread only. */
lbx_letter *mailbox_take(struct mailbox *mailbox);
lbx_letter *mailbox_receive(struct mailbox *mailbox);

/* Sends it and receives it. */
lbx_letter *mailbox_deliver(struct mailbox *mailbox, const char *text);

/* Runs a test with a mailbox that is open. */
void mailbox_run(void (*test)(struct mailbox *mailbox));

/* pending and in flight: approximate_count(). */
uint64_t mailbox_count(struct mailbox *mailbox);

/* A test for each store, whose mailbox is open. */
#define WINK_TEST(behaviour, name)                                             \
    static void wink_##name##_opened(struct mailbox *mailbox);                 \
    WINK_TEST_UNOPENED(behaviour, name)                                        \
    {                                                                          \
        mailbox_run(wink_##name##_opened);                                     \
    }                                                                          \
    static void wink_##name##_opened(struct mailbox *mailbox)

/* A test for the fake alone, whose mailbox is open. */
#define WINK_FAKE_TEST(behaviour, name)                                        \
    static void wink_##name(struct mailbox *mailbox);                          \
    TEST_CITING(behaviour, name)                                               \
    {                                                                          \
        mailbox_run(wink_##name);                                              \
    }                                                                          \
    static void wink_##name(struct mailbox *mailbox)

/* A test for each store but the fake, which has no second box. */
#define WINK_BOXES_TEST(behaviour, name)                                       \
    static void wink_##name(void);                                             \
    static void wink_##name##_opened(struct mailbox *mailbox);                 \
    WINK_ON(behaviour, name, WINK_MEMORY, in_memory)                           \
    WINK_ON_FILE(behaviour, name)                                              \
    static void wink_##name(void)                                              \
    {                                                                          \
        mailbox_run(wink_##name##_opened);                                     \
    }                                                                          \
    static void wink_##name##_opened(struct mailbox *mailbox)

/* A test for each store, which opens its mailbox itself. */
#define WINK_TEST_UNOPENED(behaviour, name)                                    \
    static void wink_##name(void);                                             \
    WINK_ON(behaviour, name, WINK_FAKE, with_the_fake)                         \
    WINK_ON(behaviour, name, WINK_MEMORY, in_memory)                           \
    WINK_ON_FILE(behaviour, name)                                              \
    static void wink_##name(void)

#endif

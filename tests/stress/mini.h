/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mini mailbox: one mutex, an array, two lists of waiters; right, if slow.
 * It exists to be broken: each bug is one that real mailboxes have had, and
 * each storm must find it (a test that has never failed is not yet a test).
 * Without a bug it must pass the same storms, which shows that they find the
 * bug and not themselves.
 *
 * Wakers run under its mutex and must not call it: the one rule of the library
 * that it does not keep.
 */
#ifndef LBX_TEST_STRESS_MINI_H
#define LBX_TEST_STRESS_MINI_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <letterbox/mailbox.h>

enum mini_bug {
    MINI_SOUND = 0,
    MINI_LOST_WAKE,   // looks, then registers, without looking again
    MINI_DROP_GRANT,  // a granted receive that is cancelled wakes no other
    MINI_EAT_MESSAGE, // ... and takes the message with it
    MINI_SEND_BOTH,   // a send that got in can still be cancelled
    MINI_FORGET_WAIT, // a cancelled wait stays counted
    MINI_DUPLICATE,   // now and then a take leaves the message there
    MINI_LOSE,        // now and then a send forgets the message
    MINI_OVERTAKE,    // now and then the second comes before the first
    MINI_FALSE_EMPTY, // now and then EMPTY although there is a message
    MINI_FALSE_FULL,  // now and then FULL although there is room
    MINI_OVERFILL,    // one more than the capacity
};

struct mini;

struct mini_wait {
    struct mini *mini;
    bool sends;
    enum {
        MINI_NEW,
        MINI_WAITING,
        MINI_GRANTED,
        MINI_OVER,
    } state;
    lbx_status final;
    void *message;
    int64_t deadline_ns;
    lbx_waker waker;
    struct mini_wait *next;
};

struct mini {
    pthread_mutex_t lock;
    unsigned bug;
    uint64_t chance;
    size_t capacity; // 0: none
    void **messages; // a ring
    size_t room, first, length;
    size_t granted; // messages promised to receivers
    struct mini_wait *receivers, *senders;
    bool closed;
    lbx_mailbox_stats stats;
};

void mini_init(struct mini *mini, unsigned bug, size_t capacity);
void mini_fini(struct mini *mini);
lbx_status mini_try_send(struct mini *mini, void *message);
lbx_status mini_try_receive(struct mini *mini, void **ret);
void mini_send_start(struct mini *mini, struct mini_wait *wait, void *message,
                     int64_t deadline_ns);
void mini_receive_start(struct mini *mini, struct mini_wait *wait,
                        int64_t deadline_ns);
lbx_status mini_poll(struct mini_wait *wait, const lbx_waker *waker);
lbx_status mini_cancel(struct mini_wait *wait);
/* Polls to the end, sleeping in between. */
lbx_status mini_park(struct mini_wait *wait);
void mini_close(struct mini *mini);
void mini_numbers(struct mini *mini, lbx_mailbox_stats *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the mailbox tests have in common: a mailbox with both its handles,
 * numbers as messages, and witnesses for wake-ups, losses and metrics.
 *
 *     LOCAL_BOX(box) = box_make(LBX_KIND_BOUNDED, &options);
 *
 *     box_send(&box, 1);
 *     box_send(&box, 2);
 *     CHECK_RECEIVES(&box, 1, 2);
 *
 * Everything here fails the test when it does not go as its name says.
 */
#ifndef LBX_TEST_MAILBOX_FIXTURE_H
#define LBX_TEST_MAILBOX_FIXTURE_H

#include <stdatomic.h>

#include <letterbox/mailbox.h>
#include <letterbox/mailbox/messages.h>

#include "support/clock.h"
#include "support/local.h"
#include "support/test.h"
#include "support/threads.h"

/* ---- Kinds, and tests that are stamped for each ---- */

#define LIMITED_KINDS(XX, ...)                                                 \
    XX(bounded, LBX_KIND_BOUNDED, __VA_ARGS__)                                 \
    XX(bounded_priority, LBX_KIND_BOUNDED_PRIORITY, __VA_ARGS__)               \
    XX(bounded_control_aware, LBX_KIND_BOUNDED_CONTROL_AWARE, __VA_ARGS__)     \
    XX(bounded_deque, LBX_KIND_BOUNDED_DEQUE, __VA_ARGS__)

#define UNLIMITED_KINDS(XX, ...)                                               \
    XX(unbounded, LBX_KIND_UNBOUNDED, __VA_ARGS__)                             \
    XX(single_consumer, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, __VA_ARGS__)       \
    XX(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY, __VA_ARGS__)           \
    XX(unbounded_control_aware, LBX_KIND_UNBOUNDED_CONTROL_AWARE, __VA_ARGS__) \
    XX(unbounded_deque, LBX_KIND_UNBOUNDED_DEQUE, __VA_ARGS__)

#define EVERY_KIND(XX, ...)                                                    \
    UNLIMITED_KINDS(XX, __VA_ARGS__)                                           \
    LIMITED_KINDS(XX, __VA_ARGS__)

/* One test per kind: TEST(bounded_deque_keeps_its_word) and so on, each of
 * which calls keeps_its_word(kind):
 *
 *     EVERY_KIND(KIND_CITING, "R-12 MSG-5", keeps_its_word)
 */
#define KIND_TEST(word, kind, promise) KIND_CITING(word, kind, "", promise)

#define KIND_CITING(word, kind, behaviour, promise)                            \
    TEST_CITING(behaviour, word##_##promise)                                   \
    {                                                                          \
        promise(kind);                                                         \
    }

bool kind_is_limited(const char *kind);

/* ---- A mailbox and its two handles ---- */

struct box {
    lbx_producer *in;
    lbx_consumer *out;
    lbx_mailbox *mailbox;
};

/* Makes a mailbox; `options` may be NULL. */
struct box box_make(const char *kind, const lbx_mailbox_options *options);

/* Makes a mailbox from options that are changed in place:
 *
 *     struct box box = BOX(LBX_KIND_UNBOUNDED, plain_options(),
 *                          with.clock = &clock, with.name = "inbox");
 */
#define BOX(kind, ...) (with = __VA_ARGS__, box_make(kind, &with))

extern _Thread_local lbx_mailbox_options with;

/* A "bounded" mailbox of limited_options(). */
struct box box_limited(int64_t capacity, lbx_overflow overflow);

/* An "unbounded" mailbox without options. */
struct box box_unbounded(void);

/* Releases the handles that are still there. */
void box_end(struct box *box);

/* Declares a box that is ended with its block. */
#define LOCAL_BOX(name)                                                        \
    __attribute__((cleanup(box_end), unused)) struct box name

/* A test with a mailbox, `box`, which is ended after it:
 *
 *     BOX_TEST("R-12", empty_mailbox_has_nothing, box_unbounded())
 *     {
 *         CHECK_NOTHING(box);
 *     }
 */
#define BOX_TEST(behaviours, name, ...)                                        \
    static void name##_in(struct box *box);                                    \
                                                                               \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        LOCAL_BOX(box) = __VA_ARGS__;                                          \
                                                                               \
        name##_in(&box);                                                       \
    }                                                                          \
                                                                               \
    static void name##_in(struct box *box)

/* A message that says only its number; any, 0 (which is NULL) included. */
void *letter(int number);
int number_of(const void *message);

void box_send(const struct box *box, int number);
void box_send_numbers(const struct box *box, int first, int last);
void box_send_envelope(const struct box *box, lbx_envelope envelope);
void box_send_control(const struct box *box, int number);
void box_send_system(const struct box *box, int number);
lbx_status box_try_send_system(const struct box *box, int number);
lbx_mailbox_stats box_stats(const struct box *box);

/* Takes one message and tells its number. */
int box_next(const struct box *box);

/* These messages come out, in this order, and then nothing more. */
#define CHECK_RECEIVES(box, ...)                                               \
    box_check_receives(__FILE__, __LINE__, box, (const int[]){__VA_ARGS__},    \
                       sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/* Nothing can be taken now, and the mailbox is open. */
#define CHECK_NOTHING(box) CHECK_STATUS(LBX_EMPTY, box_look(box))

/* Nothing is left, and the mailbox is closed. */
#define CHECK_ENDED(box) CHECK_STATUS(LBX_CLOSED, box_look(box))

void box_check_receives(const char *file, int line, const struct box *box,
                        const int *numbers, size_t count);
lbx_status box_look(const struct box *box);

/* LBX_MAILBOX_OPTIONS_INIT with these changes. */
lbx_mailbox_options plain_options(void);
lbx_mailbox_options envelope_options(void);
lbx_mailbox_options limited_options(int64_t capacity, lbx_overflow overflow);

/* Options with envelopes, limited to `capacity` if the kind is a bounded one */
lbx_mailbox_options options_for(const char *kind, int64_t capacity);

/* ---- Witnesses ---- */

/* Counts wake-ups. */
struct bell {
    _Atomic int rings;
};

lbx_waker bell_waker(struct bell *bell);

/* Remembers loss events; owns (and forgets) the lost messages. */
enum {
    LOSSES_KEPT = 64
};

struct losses {
    _Atomic unsigned count;
    lbx_envelope envelopes[LOSSES_KEPT];
    uint64_t totals[LOSSES_KEPT];
    lbx_mailbox *mailboxes[LOSSES_KEPT];
    const char *name; /* of the first one's mailbox */
};

lbx_loss_sink losses_sink(struct losses *losses);

/* Loss number `index` was message `number`, for `reason`. */
void losses_check(const struct losses *losses, unsigned index, int number,
                  lbx_loss_reason reason);

/* Remembers metrics events. */
enum {
    EVENTS_KEPT = 128
};

struct events {
    _Atomic unsigned count;
    lbx_metric_event list[EVENTS_KEPT];
};

lbx_metrics_sink events_sink(struct events *events);
unsigned events_of(const struct events *events, lbx_metric metric);

/* The last event of that sort; fails when there is none. */
lbx_metric_event events_last(const struct events *events, lbx_metric metric);

/* Counts messages given to a mailbox's `destroy`. */
void destroy_counting(void *message, void *counter);

/* ---- Waiting, by hand ---- */

struct receiver {
    lbx_operation operation;
    void *message;
    struct bell bell;
};

/* Starts a receive for ever; it must have to wait. */
void receiver_wait(struct receiver *receiver, const struct box *box);
void receiver_wait_until(struct receiver *receiver, const struct box *box,
                         int64_t deadline_ns);
lbx_status receiver_poll(struct receiver *receiver);

/* Declares one that is ended with its block; behind its box. */
#define LOCAL_RECEIVER(name)                                                   \
    __attribute__((cleanup(receiver_end))) struct receiver name
void receiver_end(struct receiver *receiver);

/* The receive is done and got this message; ends it. */
void receiver_check(struct receiver *receiver, int number);

struct sender {
    lbx_operation operation;
    struct bell bell;
};

/* Declares one that is ended with its block; behind its box. */
#define LOCAL_SENDER(name)                                                     \
    __attribute__((cleanup(sender_end))) struct sender name
void sender_end(struct sender *sender);

/* Starts a send for ever; it must have to wait. */
void sender_wait(struct sender *sender, const struct box *box, int number);

/* A "bounded" mailbox for one, which has message 1: message 2 waits. */
struct box box_with_sender(struct sender *sender);

/* An "unbounded" mailbox whose receiver waited before message 1 was sent, and
 * has not polled since: the message is promised to it. */
struct box box_with_promise(struct receiver *receiver);

void sender_wait_until(struct sender *sender, const struct box *box, int number,
                       int64_t deadline_ns);
lbx_status sender_poll(struct sender *sender);

/* Polls with a bell. */
lbx_status bell_poll(lbx_operation *operation, struct bell *bell);

/* Starts a flush, or a stop, for ever; it must have to wait. The bell may be
 * NULL. */
void flush_wait(lbx_operation *flush, const struct box *box, struct bell *bell);
void stop_wait(lbx_operation *stop, const struct box *box, struct bell *bell);

/* ---- Waiting, in a thread ---- */

struct parked {
    struct thread thread;
    struct box box;
    int64_t deadline_ns;
    void *message;
    lbx_status status;
    _Atomic bool is_done;
};

/* Starts a thread that receives, or sends, and returns when it is waiting. */
void parked_receive(struct parked *parked, const struct box *box,
                    int64_t deadline_ns);
void parked_send(struct parked *parked, const struct box *box, int number,
                 int64_t deadline_ns);

/* Waits for the thread and tells how its call ended. */
lbx_status parked_end(struct parked *parked);

#endif

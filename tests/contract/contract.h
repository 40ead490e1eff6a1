/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every store promises, written once: DRIVER-1 to DRIVER-7 of
 * <letterbox/store_driver.h>, and behaviours W-05 to W-18, R-29 to R-31 of
 * docs/origins.md. Only that header is used, so that the author of a store can
 * run this: describe the store in a struct backend (backend.h) and stamp the
 * promises over it, as memory_test.c does.
 *
 * A promise is a function that gets an open store with one empty box, "orders",
 * that has the default options. It makes what other boxes it needs, and moves
 * time by the backend's `advance`.
 */
#ifndef LBX_TEST_CONTRACT_H
#define LBX_TEST_CONTRACT_H

#include <stdatomic.h>

#include <letterbox/store_driver.h>

#include "backend.h"
#include "support/test.h"
#include "support/threads.h"

/* One promise over one store. */
struct trial {
    const struct backend *backend;
    void *context;
    lbx_store *store;
};

/* One row per promise: its name, and the numbers it shows. */
#define CONTRACT(XX)                                                           \
    /* boxes.c */                                                              \
    XX(a_box_is_created_once, "W-05")                                          \
    XX(a_box_that_is_not_there_is_not_found, "W-14")                           \
    XX(a_box_can_be_configured, "W-05")                                        \
    XX(boxes_are_listed_in_order, "W-05")                                      \
    XX(spaces_do_not_see_each_other, "W-05")                                   \
    XX(spaces_are_listed_in_order, "W-05")                                     \
    XX(sends_get_ids_and_growing_sequences, "W-06 W-10")                       \
    XX(a_batch_is_sent_letter_by_letter, "W-06")                               \
    XX(a_letter_arrives_as_it_was_sent, "W-10")                                \
    XX(a_full_box_refuses, "W-06 W-14")                                        \
    XX(a_token_sends_once, "DRIVER-3")                                         \
    XX(peeking_leases_nothing, "DRIVER-1")                                     \
    XX(a_peek_ends_when_it_has_shown_enough_bytes, "DRIVER-1")                 \
    XX(a_purge_deletes_everything, "W-08")                                     \
    XX(a_deleted_box_is_closed, "DRIVER-6 W-09")                               \
    /* receipts.c */                                                           \
    XX(a_letter_is_in_one_state, "DRIVER-1 W-08 W-15")                         \
    XX(each_delivery_has_its_own_receipt, "DRIVER-2 W-17")                     \
    XX(an_old_receipt_changes_nothing, "DRIVER-2 W-17")                        \
    XX(a_deleted_letter_is_gone, "DRIVER-2 R-31")                              \
    XX(letters_are_gone_with_their_box, "DRIVER-2 R-31")                       \
    XX(receipts_of_other_boxes_are_invalid, "DRIVER-2")                        \
    XX(made_up_receipts_are_invalid, "DRIVER-2")                               \
    XX(a_receipt_can_be_text, "DRIVER-2 W-10")                                 \
    XX(strict_receipts_end_with_the_lease, "R-30")                             \
    XX(other_receipts_last_until_the_next, "R-30")                             \
    XX(a_batch_is_settled_letter_by_letter, "DRIVER-3 W-12")                   \
    XX(what_is_attached_is_sent_in_the_same_step, "DRIVER-3 W-13")             \
    XX(nothing_is_sent_with_an_old_receipt, "DRIVER-3 W-13")                   \
    XX(nothing_is_settled_unless_it_was_sent, "DRIVER-3")                      \
    XX(undo_takes_a_delivery_back, "DRIVER-5")                                 \
    XX(the_delivery_count_grows_by_one, "DRIVER-5 W-10 W-16")                  \
    /* times.c */                                                              \
    XX(nothing_is_received_from_an_empty_box, "W-07")                          \
    XX(a_delayed_letter_waits_until_it_is_due, "DRIVER-4")                     \
    XX(a_lease_ends_when_it_should, "DRIVER-4 W-07 W-15 W-16")                 \
    XX(a_nack_gives_back_at_once, "DRIVER-4 W-12")                             \
    XX(a_nack_can_wait, "DRIVER-4 W-12 W-15")                                  \
    XX(a_lease_can_be_extended, "W-12")                                        \
    XX(a_lease_can_be_cut_short, "W-12")                                       \
    XX(a_lease_of_nothing_is_over_at_once, "W-07")                             \
    XX(letters_come_in_the_order_sent, "DRIVER-7 W-18")                        \
    XX(what_comes_back_goes_to_the_end, "DRIVER-7")                            \
    XX(what_comes_back_can_keep_its_position, "DRIVER-7")                      \
    XX(letters_come_in_the_order_they_are_due, "DRIVER-7")                     \
    XX(only_so_many_are_leased, "DRIVER-1")                                    \
    /* waits.c */                                                              \
    XX(a_send_ends_a_wait, "DRIVER-4 W-07")                                    \
    XX(a_nack_ends_a_wait, "DRIVER-4")                                         \
    XX(an_undo_ends_a_wait, "DRIVER-4")                                        \
    XX(a_short_lease_ends_a_wait, "DRIVER-4")                                  \
    XX(the_end_of_a_delay_ends_a_wait, "DRIVER-4")                             \
    XX(the_end_of_a_lease_ends_a_wait, "DRIVER-4")                             \
    XX(what_is_attached_ends_a_wait, "DRIVER-4")                               \
    XX(a_wait_ends_with_the_first_letter, "R-29")                              \
    XX(a_wait_can_be_for_several, "R-29")                                      \
    XX(a_wait_that_is_over_keeps_what_came, "R-29")                            \
    XX(waiting_receives_are_served_in_order, "DRIVER-4")                       \
    XX(a_cancelled_wait_takes_nothing, "DRIVER-3")                             \
    XX(a_cancelled_wait_leaves_the_order, "DRIVER-4")                          \
    XX(boxes_do_not_wake_each_other, "DRIVER-4")                               \
    XX(a_deleted_box_ends_its_waits, "DRIVER-6")                               \
    XX(a_wait_survives_a_purge, "DRIVER-6")                                    \
    XX(an_end_may_call_the_store, "DRIVER-4")                                  \
    XX(an_end_may_cancel_the_next, "DRIVER-4")                                 \
    /* groups.c */                                                             \
    XX(a_group_comes_one_by_one, "DRIVER-7")                                   \
    XX(a_noisy_tenant_does_not_hold_up_a_quiet_one, "DRIVER-7")                \
    XX(groups_do_not_hold_each_other_up, "DRIVER-7")                           \
    XX(an_open_group_ends_a_wait, "DRIVER-4 DRIVER-7")                         \
    XX(a_settled_letter_lets_a_wait_have_the_next_lease, "DRIVER-4 DRIVER-7")  \
    XX(a_duplicate_is_not_there_twice, "DRIVER-7")                             \
    XX(a_letter_dies_of_too_many_deliveries, "DRIVER-3 W-18")                  \
    XX(a_dead_letter_ends_a_wait, "DRIVER-4 W-18")                             \
    XX(letters_can_be_moved, "DRIVER-3 DRIVER-4")                              \
    /* threads.c */                                                            \
    XX(no_letter_is_leased_twice, "DRIVER-3")                                  \
    XX(a_wait_is_cancelled_at_any_moment, "DRIVER-3")                          \
    XX(threads_wake_each_other, "DRIVER-4")                                    \
    XX(each_letter_is_settled_once, "DRIVER-3 W-16")

/* Defines the function of one promise; not every one uses `box`. */
#define PROMISE(name)                                                          \
    void promise_##name(struct trial *trial,                                   \
                        __attribute__((unused)) lbx_box box)

#define CONTRACT_DECLARE(name, numbers) PROMISE(name);
CONTRACT(CONTRACT_DECLARE)
#undef CONTRACT_DECLARE

/* Opens the store, makes the box, runs the promise, closes the store. */
void contract_run(const struct backend *backend,
                  void (*promise)(struct trial *trial, lbx_box box));

/* One test per promise; in the file of a backend. */
#define CONTRACT_TEST(prefix, name, numbers)                                   \
    TEST_CITING(numbers, prefix##_##name)                                      \
    {                                                                          \
        contract_run(&prefix##_backend, promise_##name);                       \
    }

/* How many promises and stores there were; printed by the last test. */
enum {
#define CONTRACT_COUNT(name, numbers) CONTRACT_IS_##name,
    CONTRACT(CONTRACT_COUNT)
#undef CONTRACT_COUNT
    CONTRACT_PROMISES
};

/* ---- Calls ---- */

struct taken {
    char body[64];
    char id[40];
    char group[16];
    char source[16]; /* a dead letter's first box */
    uint64_t sequence;
    uint32_t delivery_count;
    uint8_t receipt[LBX_MAX_RECEIPT_BYTES];
    size_t receipt_bytes;
};

/* A receive or a peek, and what it got. */
struct getting {
    lbx_call call; /* first */
    lbx_receive_request request;
    struct trial *trial;
    size_t count;
    struct taken letters[LBX_MAX_BATCH];
    void (*then)(struct getting *getting); /* called by its end */
    void *context;
    lbx_status status; /* when `over` */
    _Atomic int over;  /* how often it was finished */
};

/* A call that is started and waited for: its status. */
lbx_status run(struct trial *trial, lbx_call_kind kind, void *request);

lbx_box make_box(struct trial *trial, const char *name,
                 const lbx_box_options *options);
lbx_box_counts count(struct trial *trial, lbx_box box);
lbx_status delete_box(struct trial *trial, lbx_box box);
uint64_t purge(struct trial *trial, lbx_box box);
void advance(struct trial *trial, int64_t duration_ns);

/* Sends a text; each character as a text; with a delay; with its own parcel.
 * All must succeed. */
lbx_sent_letter mail(struct trial *trial, lbx_box box, const char *body);
void mail_each(struct trial *trial, lbx_box box, const char *bodies);
void send_later(struct trial *trial, lbx_box box, const char *body,
                int64_t delay_ns);
lbx_sent_letter send_parcel(struct trial *trial, lbx_box box,
                            const lbx_parcel *parcel);
lbx_status try_send(struct trial *trial, lbx_box box, const char *body);
lbx_parcel parcel_of(const char *body);

#define LEASE_NS (30 * LBX_SECOND) /* what receives here ask for */

/* Receives without waiting: one letter, which must be there and have this body;
 * one for each character; none; or up to `max`. */
struct taken receive(struct trial *trial, lbx_box box, const char *body);
void receive_each(struct trial *trial, lbx_box box, const char *bodies);
void receive_none(struct trial *trial, lbx_box box);
struct taken mail_and_receive(struct trial *trial, lbx_box box,
                              const char *body);

/* Receives one letter with this body and acknowledges it. */
void consume(struct trial *trial, lbx_box box, const char *body);

/* Receives when so much time has passed, and not a moment before. */
struct taken receive_after(struct trial *trial, lbx_box box,
                           int64_t duration_ns, const char *body);
lbx_status receive_some(struct trial *trial, lbx_box box, uint32_t max,
                        int64_t lease_ns, struct getting *ret);

/* Shows letters from a sequence on. */
lbx_status peek(struct trial *trial, lbx_box box, uint64_t from, uint32_t max,
                struct getting *ret);

/* Shows letters from the first on, until they have so many bytes. */
lbx_status peek_bytes(struct trial *trial, lbx_box box, uint32_t max_bytes,
                      struct getting *ret);

/* Starts a receive that waits; `getting` stays in place until it is over. */
void begin_wait(struct getting *getting, struct trial *trial, lbx_box box);
void begin_wait_for(struct getting *getting, struct trial *trial, lbx_box box,
                    uint32_t max, uint32_t min);

/* Whether it is over; waits until it is, and checks that it was finished once;
 * cancels it. The latter two return the status with which it was finished. */
bool is_over(struct getting *getting);
lbx_status end_wait(struct getting *getting);
lbx_status cancel_wait(struct getting *getting);

/* Over, with this letter; when so much time has passed, and not a moment
 * before. */
void got(struct getting *getting, const char *body);
void got_after(struct getting *getting, int64_t duration_ns, const char *body);

lbx_status nack(struct trial *trial, lbx_box box, const struct taken *letter,
                int64_t delay_ns);
lbx_status extend(struct trial *trial, lbx_box box, const struct taken *letter,
                  int64_t lease_ns);
lbx_status acknowledge(struct trial *trial, lbx_box box,
                       const struct taken *letter);
lbx_status undo(struct trial *trial, lbx_box box, const struct taken *letter);
lbx_status settle_and_send(struct trial *trial, lbx_box box,
                           const struct taken *letter, lbx_box to,
                           const char *body, lbx_sent_letter *ret);

#endif

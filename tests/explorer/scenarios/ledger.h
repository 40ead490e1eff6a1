/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: which thread sent and received what, and whether that is right.
 *
 * Each thread writes its own page only; ledger_check() compares them at the
 * end. A message is a small number that names its sender and its number in that
 * sender's order.
 */
#ifndef LBX_EXPLORER_LEDGER_H
#define LBX_EXPLORER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/* Forgets everything; in setup(). */
void ledger_reset(void);

/* The next message of the running thread: never 0. */
uint64_t ledger_message(void);

/* The running thread's send of `message` succeeded. */
void ledger_sent(uint64_t message);

/* The running thread received `message`; in finish(), a drain did. */
void ledger_received(uint64_t message);

/* `message` was lost, and reported as such, in the running thread. */
void ledger_lost(uint64_t message);

/* How many the running thread received so far; in finish(), the drain. */
unsigned ledger_count(void);

/* How many all threads sent, and received, together; in finish(). */
unsigned ledger_sent_total(void);
unsigned ledger_received_total(void);
unsigned ledger_lost_total(void);

/* Everything sent was received or lost, exactly once, and nothing else was;
 * with `in_order`, each receiver saw each sender's messages in order, and the
 * drain came last. */
void ledger_check(bool in_order);

#endif

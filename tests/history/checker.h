/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the history checker share: see history.c.
 */
#ifndef LBX_TEST_HISTORY_CHECKER_H
#define LBX_TEST_HISTORY_CHECKER_H

#include "history/history.h"

#define HISTORY_NEVER UINT64_MAX

struct history_item {
    uint64_t value;
    uint64_t in_start, in_end;
    uint64_t out_start, out_end; // HISTORY_NEVER: it stayed inside
    uint8_t rank;
    bool front;
    uint16_t log;
};

struct history_key {
    uint64_t key;
    size_t index;
};

struct history_checker {
    const struct history *history;
    const struct history_rules *rules;
    struct history_report report;
    struct history_item *items;
    size_t item_count;
    struct history_call *answers; // EMPTY and FULL
    size_t answer_count;
    struct history_key *scratch;
    struct history_key *by_in_start;
    struct history_key *by_in_end;
    struct history_key *by_out_start; // dequeued ones only
    struct history_key *by_out_end;   // the same
    size_t out_count;
};

/* Zeroed memory; fails the test when there is none. */
void *history_allocate(size_t count, size_t size);

/* Counts a violation and describes the first one. */
__attribute__((format(printf, 5, 6))) void
history_violation(struct history_checker *checker, enum history_aspect aspect,
                  uint64_t start, uint64_t end, const char *format, ...);

/* The aspects that are sweeps over time; `rank` is negative for all ranks. */
void history_check_empty(struct history_checker *checker, int rank);
void history_check_capacity(struct history_checker *checker);
void history_check_full(struct history_checker *checker);

#endif

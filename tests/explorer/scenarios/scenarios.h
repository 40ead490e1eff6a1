/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every scenario, one table per file, each ended by a row without a name.
 * How to write one is in explorer.h.
 */
#ifndef LBX_EXPLORER_SCENARIOS_H
#define LBX_EXPLORER_SCENARIOS_H

#include "explorer.h"

extern const struct scenario park_scenarios[];
extern const struct scenario lock_scenarios[];
extern const struct scenario segq_scenarios[];
extern const struct scenario ring_scenarios[];
extern const struct scenario mailbox_scenarios[];
extern const struct scenario waiting_scenarios[];
extern const struct scenario closing_scenarios[];
extern const struct scenario receive_order_scenarios[];
extern const struct scenario wakers_scenarios[];
extern const struct scenario evicting_scenarios[];
extern const struct scenario run_queue_scenarios[];
extern const struct scenario run_slot_scenarios[];
extern const struct scenario cells_scenarios[];
extern const struct scenario workers_scenarios[];
extern const struct scenario actor_box_scenarios[];
extern const struct scenario shared_box_scenarios[];
extern const struct scenario asks_scenarios[];
extern const struct scenario service_scenarios[];
extern const struct scenario calls_scenarios[];

extern const struct scenario *const all_scenarios[]; /* up to a NULL */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all scenarios, in the order in which they run. */
#include "explorer/scenarios/scenarios.h"

#include <stddef.h>

const struct scenario *const all_scenarios[] = {
    park_scenarios,
    lock_scenarios,
    segq_scenarios,
    ring_scenarios,
    mailbox_scenarios,
    waiting_scenarios,
    closing_scenarios,
    receive_order_scenarios,
    wakers_scenarios,
    evicting_scenarios,
    run_queue_scenarios,
    run_slot_scenarios,
    cells_scenarios,
    workers_scenarios,
    actor_box_scenarios,
    shared_box_scenarios,
    asks_scenarios,
#ifdef HAS_POST
    service_scenarios,
    calls_scenarios,
#endif
    NULL,
};

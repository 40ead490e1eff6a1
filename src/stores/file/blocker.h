/* SPDX-License-Identifier: Apache-2.0 */
/* The wait for another process, with a limit and a report (MEMB-6); which
 * process it is, is lbx__blocker_pid() in membership.h. */
#ifndef LBX_STORES_FILE_BLOCKER_H
#define LBX_STORES_FILE_BLOCKER_H

#include "stores/file/membership.h"

/* How long something has been waited for, and when that is over. */
typedef struct lbx__blocker_wait {
    int64_t start_ns;
    int64_t deadline_ns;
    bool reported;
} lbx__blocker_wait;

/* One that begins now and takes `wait_ns` of the membership. */
lbx__blocker_wait lbx__blocker_wait_start(const lbx__membership *membership);

/* How long to wait now, `most_ns` at the most; 0 or less: no longer. */
int64_t lbx__blocker_wait_left(const lbx__membership *membership,
                               lbx__blocker_wait *wait, int64_t most_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocker: the process that another one waits for. Which it is, how long it is
 * waited for, and after which time it is reported: the end of MEMB-6 in
 * membership.h, for the right to write and for the writer lock alike.
 */
#include "stores/file/blocker.h"

#include "stores/file/wake.h"

#define SLOW_NS LBX_SECOND

uint32_t
lbx__blocker_pid(const lbx__membership *membership)
{
    const struct lbx__wake *wake = membership->wake;
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = LBX__WAKE_WRITER,
                         .l_len = 1};
    uint32_t pid;

    if (membership->mode == LBX__MODE_NONE)
        return lbx__load(&wake->owner, seq_cst);
    // When no process writes, the next one is stopped before it does.
    if (fcntl(membership->fd, F_OFD_GETLK, &lock) == 0 &&
        lock.l_type == F_UNLCK)
        pid = lbx__load(&wake->locks[0].holder, seq_cst);
    else
        pid = lbx__load(&wake->locks[LBX__WAKE_WRITER - LBX__WAKE_NEXT].holder,
                        seq_cst);
    return pid == membership->pid ? 0 : pid; // it was released just now
}

lbx__blocker_wait
lbx__blocker_wait_start(const lbx__membership *membership)
{
    const int64_t now = lbx_clock_now(NULL);

    return (lbx__blocker_wait){
        .start_ns = now,
        .deadline_ns = membership->wait_ns < 0
                           ? LBX_FOREVER
                           : lbx_deadline_after(NULL, membership->wait_ns),
    };
}

int64_t
lbx__blocker_wait_left(const lbx__membership *membership,
                       lbx__blocker_wait *wait, int64_t most_ns)
{
    const int64_t now = lbx_clock_now(NULL);

    if (!wait->reported && now - wait->start_ns >= SLOW_NS) {
        wait->reported = true;
        if (membership->slow)
            membership->slow(membership->context, lbx__blocker_pid(membership));
    }
    return wait->deadline_ns - now < most_ns ? wait->deadline_ns - now
                                             : most_ns;
}

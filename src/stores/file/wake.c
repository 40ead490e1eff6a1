/* SPDX-License-Identifier: Apache-2.0 */
/* The file `wake`: making it, mapping it, a slot of it, locks of its bytes. The
 * kernel releases the locks of a process that was killed; membership.h. */
#include "stores/file/wake.h"

#include <errno.h>
#include <sys/mman.h>

static int
wake_fcntl(const lbx__membership *membership, int how, off_t byte, short kind)
{
    struct flock lock = {
        .l_type = kind,
        .l_whence = SEEK_SET,
        .l_start = byte,
        .l_len = 1,
    };

    return fcntl(membership->fd, how, &lock);
}

bool
lbx__wake_try_lock(const lbx__membership *membership, off_t byte, short kind)
{
    return wake_fcntl(membership, F_OFD_SETLK, byte, kind) == 0;
}

bool
lbx__wake_await_lock(const lbx__membership *membership, off_t byte)
{
    int result;

    do {
        result = wake_fcntl(membership, F_OFD_SETLKW, byte, F_WRLCK);
    } while (result < 0 && errno == EINTR);
    return result == 0;
}

static bool
wake_take_slot(lbx__membership *membership)
{
    for (uint32_t i = 0; i < LBX__WAKE_SLOTS; i++) {
        if (lbx__wake_try_lock(membership, LBX__WAKE_SLOT + (off_t)i,
                               F_WRLCK)) {
            membership->slot = i;
            return true;
        }
    }
    return false;
}

/* Allocates blocks for all of it. Where that means writing zeros, one process
 * at a time; otherwise without a lock, which a stopped process could hold. */
static lbx_status
wake_allocate(const lbx__membership *membership)
{
    const int result = membership->io->fallocate(membership->io, membership->fd,
                                                 LBX__WAKE_BYTES);
    lbx_status status;

    if (result != -EOPNOTSUPP)
        return lbx__io_status(result);
    if (!lbx__wake_await_lock(membership, LBX__WAKE_MAKER))
        return LBX_NO_MEMORY;
    status = lbx__io_allocate(membership->io, membership->fd, LBX__WAKE_BYTES);
    (void)lbx__wake_try_lock(membership, LBX__WAKE_MAKER, F_UNLCK);
    return status;
}

lbx_status
lbx__wake_map(lbx__membership *membership)
{
    const lbx_status status = wake_allocate(membership);
    void *memory;

    if (status != LBX_OK)
        return status;
    memory = mmap(NULL, LBX__WAKE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                  membership->fd, 0);
    if (memory == MAP_FAILED)
        return lbx__io_status(-errno);
    membership->wake = memory;
    return wake_take_slot(membership) ? LBX_OK : LBX_BUSY;
}

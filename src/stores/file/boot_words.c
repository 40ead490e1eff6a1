/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot words: what `wake` says about the store, for one boot of the machine:
 * poison, LMDB's last commit, the last record of a generation of the journal.
 * They keep MEMB-4 (membership.h). A process may be killed between any two of
 * its instructions: words that belong together are written in an order that
 * never claims more than is durable.
 */
#include "stores/file/wake.h"

#include "stores/file/folder.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Whether a copy of `wake`, or `wake` itself, was written in this boot. */
static bool
boot_words_are_current(const struct lbx__wake *wake, const uint8_t boot[16])
{
    return memcmp(wake->magic, "LBXWAKE1", 8) == 0 &&
           memcmp(wake->boot, boot, 16) == 0;
}

void
lbx__boot_words_begin(lbx__membership *membership)
{
    struct lbx__wake *wake = membership->wake;
    uint8_t boot[16];

    membership->io->boot_id(membership->io, boot);
    if (!boot_words_are_current(wake, boot)) {
        lbx__store(&wake->poison, 0u, seq_cst);
        lbx__store(&wake->record, 0u, seq_cst);
        lbx__store(&wake->generation, 0u, seq_cst);
        lbx__store(&wake->commit, 0u, seq_cst);
        memcpy(wake->magic, "LBXWAKE1", 8);
        memcpy(wake->boot, boot, 16);
    }
}

void
lbx__boot_words_poison(lbx__membership *membership)
{
    lbx__store(&membership->wake->poison, 1u, seq_cst);
    lbx__notification_raise_others(membership);
}

bool
lbx__boot_words_are_poisoned(const lbx__membership *membership)
{
    return lbx__load(&membership->wake->poison, seq_cst) != 0;
}

void
lbx__boot_words_clear_poison(lbx__membership *membership)
{
    assert(membership->mode == LBX__MODE_EXCLUSIVE);
    lbx__store(&membership->wake->poison, 0u, seq_cst);
}

void
lbx__boot_words_note_commit(lbx__membership *membership, uint64_t last)
{
    struct lbx__wake *wake = membership->wake;
    uint64_t seen = lbx__load(&wake->commit, seq_cst);

    while (seen < last && !lbx__cas(&wake->commit, &seen, last, seq_cst))
        ;
}

void
lbx__boot_words_note_record(lbx__membership *membership, uint64_t generation,
                            uint64_t number)
{
    struct lbx__wake *wake = membership->wake;

    // In this order: a kill between the two leaves too low a record.
    if (lbx__load(&wake->generation, seq_cst) != generation) {
        lbx__store(&wake->record, 0u, seq_cst);
        lbx__store(&wake->generation, generation, seq_cst);
    }
    lbx__store(&wake->record, number, seq_cst);
}

uint64_t
lbx__boot_words_last_commit(const lbx__membership *membership)
{
    return lbx__load(&membership->wake->commit, seq_cst);
}

uint64_t
lbx__boot_words_last_record(const lbx__membership *membership,
                            uint64_t generation)
{
    const struct lbx__wake *wake = membership->wake;

    if (lbx__load(&wake->generation, seq_cst) != generation)
        return 0;
    return lbx__load(&wake->record, seq_cst);
}

lbx_status
lbx__boot_words_inspect(const lbx__io *io, int folder,
                        lbx__membership_state *ret)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    struct lbx__wake wake;
    uint8_t boot[16];
    lbx_status status;
    const int fd = io->open(io, folder, LBX__WAKE, O_RDONLY);

    memset(ret, 0, sizeof(*ret));
    if (fd < 0)
        return fd == -ENOENT ? LBX_OK : lbx__io_status(fd);
    ret->in_use = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    status = lbx__io_read_all(io, fd, &wake, sizeof(wake), 0);
    (void)close(fd);
    io->boot_id(io, boot);
    if (status != LBX_OK || !boot_words_are_current(&wake, boot))
        return LBX_OK; // of another boot
    // Relaxed: a private copy.
    ret->last_commit = lbx__load(&wake.commit, relaxed);
    ret->generation = lbx__load(&wake.generation, relaxed);
    ret->last_record = lbx__load(&wake.record, relaxed);
    return LBX_OK;
}

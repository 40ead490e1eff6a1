/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store header: what a storage in files records about itself.
 *
 * One row of a table of its own in data.mdb, which the rules do not see. It
 * names the generation of the journal whose records count (JRNL-3), so that a
 * commit of LMDB's which writes the header also decides which records are
 * replayed.
 *
 * Packed, little-endian, 96 bytes:
 *
 *     crc u32  format u32  uid 16  generation u64  has_journal u8  idle u8
 *     level u8  0 u8  era u32  boot 16  offset i64  time i64  wall i64
 *     journal_bytes u64  zeros
 *
 * Threads    the storage's.
 */
#ifndef LBX_STORES_FILE_HEADER_H
#define LBX_STORES_FILE_HEADER_H

#include "stores/file/engine.h"

typedef struct lbx__header {
    uint8_t uid[16];
    uint64_t generation;    /* of the journal */
    bool has_journal;       /* it has been made */
    uint64_t journal_bytes; /* its size, unless idle; 0: not known */
    bool idle;              /* no record of this generation was ever written */
    lbx_durability level;   /* of the journal's owner, unless idle */
    uint32_t era;      /* grows when acknowledged changes may have been lost */
    uint8_t boot[16];  /* the boot that offset_ns is for */
    int64_t offset_ns; /* store time - time since boot */
    int64_t time_ns;   /* store time when this was written, */
    int64_t wall_ns;   /* and wall time */
} lbx__header;

/* Reads the header in the open transaction, or in a short one: OK; NOT_FOUND;
 * CORRUPT; NEWER. */
lbx_status lbx__header_read(lbx__engine *engine, lbx__header *ret);

/* Writes it in the open transaction. */
lbx_status lbx__header_write(lbx__engine *engine, const lbx__header *header);

/* Decodes its value: OK; CORRUPT; NEWER. */
lbx_status lbx__header_unpack(lbx__bytes value, lbx__header *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A known store: one with letters in all states, whose content is known.
 *
 * A letter is known by its box and its number; body, attributes, group and type
 * follow from these two. A letter that was never sent, or is not as it
 * was, is invented.
 *
 *   orders      plain: fresh, leased, returned and delayed letters, some of
 *               them larger than a page, some acknowledged; two tenants
 *   line.fifo   seven groups
 *   dead        where letters of `orders` died
 *   purged      purged once, and used again
 *   empty
 *
 * The last part of it is in the journal only, as a kill leaves it.
 */
#ifndef LBX_TEST_KEEP_KNOWN_STORE_H
#define LBX_TEST_KEEP_KNOWN_STORE_H

#include "post/rules/rules.h"
#include "support/test.h"

enum {
    KNOWN_BOXES = 5,
    KNOWN_LETTERS = 400 /* in a box, at most */
};

enum known_fate {
    KNOWN_NEVER = 0, /* was never sent */
    KNOWN_ALIVE,
    KNOWN_GONE, /* acknowledged or purged */
};

struct known_letter {
    enum known_fate fate;
    char id[40];
    uint64_t sequence;
    uint32_t deliveries; /* that the store knows of */
    int64_t sent_ms;
};

struct known {
    struct known_letter letters[KNOWN_BOXES][KNOWN_LETTERS];
    uint32_t alive;
};

extern const char *const known_boxes[KNOWN_BOXES];

/* Makes one in a new folder, `letters` of them about. `as_killed`: a copy of
 * its files as they were while it was open; otherwise it was closed. `earlier`,
 * which may be NULL, is where its files go as they were some time before. */
void known_make(struct known *known, const char *path, int letters,
                bool as_killed, const char *earlier);

/* What a look at a store found. */
struct known_found {
    uint8_t times[KNOWN_BOXES][KNOWN_LETTERS]; /* each letter was met */
    uint32_t alive;                            /* that live, once each */
    uint32_t risen;    /* that were acknowledged or purged */
    uint32_t invented; /* that were never sent, or are not as they were */
    uint32_t twice;
    uint32_t miscounted; /* other delivery counts than there were */
    lbx_status status;   /* the first failure, of open or of a receive */
};

/* Opens a store and receives all that is in it, leases being over. Without
 * CHECKs, for children; `salvaged`: looks into "salvaged-..." boxes too. */
void known_read(const struct known *known, const char *path, bool salvaged,
                struct known_found *ret);

/* The same in a process of its own: false when that was brought down. */
bool known_read_apart(const struct known *known, const char *path,
                      bool salvaged, struct known_found *ret);

/* Copies data.mdb and journal to a new folder. */
void known_copy(const char *from, const char *to);

/* Removes a folder of a store; nothing if there is none. */
void known_remove(const char *path);

#endif

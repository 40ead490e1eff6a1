/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: what was asked of a store and what it answered, and how much of
 * that it has kept.
 *
 * Every letter has a number, from which its body follows. What happens to it is
 * an event; events go to a ledger at once, or are kept and brought later (over
 * a console, up to a power cut). What begins is reported before the store is
 * asked, what has ended after it has answered: a process that dies in between
 * leaves an outcome that is unknown, never one that is wrong.
 *
 * The ledger is in shared memory, and all of it atomic: processes that write in
 * it are killed at any moment.
 *
 * LEDGER-1  Times that are compared are bounds: a letter is hidden from the
 *           moment the call began, and seen when the call has ended. So `early`
 *           is never noise.
 * LEDGER-2  A purge or deletion of a box is a clear. A letter whose send had
 *           been answered when a clear began that was answered with OK is gone
 *           for every receive that begins after that. One whose send began
 *           before a clear had ended, whatever that answered, may be gone. A
 *           clear of a process that was killed ended at its death.
 * LEDGER-3  A letter that is sent with the acknowledgement of another is there
 *           if and only if that other one is gone.
 *
 * Threads    any, of any process; ledger_judge() when no other process is
 *            there.
 */
#ifndef LBX_TEST_CRASH_LEDGER_H
#define LBX_TEST_CRASH_LEDGER_H

#include <letterbox/post.h>

#include <stdatomic.h>

enum {
    LEDGER_SMALL_MAX = 9000,
    LEDGER_LARGE_MIN = 1 << 16,
    LEDGER_LARGE_MAX = 1 << 20,
    LEDGER_SLOTS = 32, /* of senders and receivers, all processes together */
    LEDGER_BOXES = 8 + LEDGER_SLOTS,
    LEDGER_OPENS = 16384,
    LEDGER_RECEIPTS = 32
};

enum ledger_what {
    LEDGER_SEND = 1, /* begins; until_ns: delayed until then */
    LEDGER_SENT,     /* status */
    LEDGER_RECEIVED, /* delivery, id; until_ns: leased until then */
    LEDGER_HIDE,     /* this delivery is hidden until until_ns, not longer; with
                        LBX_OK: an operation that was answered */
    LEDGER_RETURN, /* the same, and its receipt is, or will be, worth nothing */
    LEDGER_DELETE, /* begins; delivery */
    LEDGER_DELETED, /* status; delivery */
    LEDGER_STALE,   /* a receipt that was not good any more: status */
    LEDGER_WRONG,   /* a body that is no letter's was received */
    LEDGER_CLEAR,   /* begins; box; delivery: the slot that clears it */
    LEDGER_CLEARED, /* status; box, slot */
    LEDGER_WHATS
};

struct ledger_event {
    enum ledger_what what;
    uint64_t number;
    uint64_t after; /* SEND: the letter before it in its group; 0: no group;
                       LEDGER_MOVES: no group, and not to be judged as late */
    uint32_t box;   /* SEND */
    uint32_t delivery;
    lbx_status status;
    int64_t begun_ns, ended_ns, until_ns;
    uint64_t id; /* RECEIVED: a hash of it; SEND: the letter with whose
                    acknowledgement it is sent, 0: none */
};

#define LEDGER_MOVES UINT64_MAX

/* What a worker is in the middle of. */
enum ledger_call {
    CALL_NONE,
    CALL_OPEN,
    CALL_CLOSE,
    CALL_SEND,
    CALL_RECEIVE,
    CALL_ACKNOWLEDGE,
    CALL_NACK,
    CALL_EXTEND,
    CALL_REPLY,   /* and acknowledge */
    CALL_FORWARD, /* send and acknowledge */
    CALL_PURGE,
    CALL_CREATE_BOX,
    CALL_DELETE_BOX,
    CALL_MOVE,
    CALL_COUNT,
    CALL_PEEK,
    CALL_SYNC,
    LEDGER_CALLS
};

/* What a run comes to. */
struct score {
    uint64_t attempts, acks, unknown, recovered;
    uint64_t operations; /* of all kinds, that were answered with LBX_OK */
    uint64_t received, deleted;
    uint64_t lost, phantom, duplicate, resurrected, early, late, stale_ok,
        reordered;
    uint64_t stale;    /* receipts that were tried though not good any more */
    uint64_t failures; /* answers that should not have been given */
    lbx_status failure;
};

struct ledger_letter {
    _Atomic(uint32_t) sends, sent, refused;
    _Atomic(uint32_t) received, drained;
    _Atomic(uint32_t) deletes,
        kept; /* begun; of these, surely without effect */
    _Atomic(uint32_t) deleted, returned; /* which delivery */
    _Atomic(uint64_t) hidden;   /* delivery, and until when; see ledger.c */
    _Atomic(uint32_t) spent_us; /* on the call that hid it: that much later */
    _Atomic(uint32_t) box;
    _Atomic(uint64_t) after;
    _Atomic(uint64_t) id;
    _Atomic(uint64_t) deliveries;        /* which there were, as bits */
    _Atomic(uint64_t) with;              /* LEDGER-3: that other one */
    _Atomic(int64_t) begun_ns, ended_ns; /* of its send */
};

/* What clears have made of a box (LEDGER-2). */
struct ledger_box {
    _Atomic(int64_t) gone_upto_ns; /* letters sent until then may be gone */
    _Atomic(uint32_t) version;     /* odd: being written, perhaps for ever */
    _Atomic(int64_t) begun_ns, ended_ns; /* of the last one that was OK */
};

/* Where a sender or receiver is at: outlives it. */
struct ledger_slot {
    _Atomic(uint64_t) pending[LBX_MAX_BATCH]; /* numbers being sent */
    _Atomic(uint64_t) last_of_group;
    _Atomic(int64_t) progress_ns; /* when it last got on; 0: it is not there */
    _Atomic(uint32_t) call;       /* an enum ledger_call */
    _Atomic(uint32_t) clearing;   /* a box and 1; 0: none */
};

/* A receipt that a worker had. Odd: being written, perhaps for ever. */
struct ledger_receipt {
    _Atomic(uint32_t) version;
    uint32_t delivery, box;
    uint64_t number;
    char text[LBX_RECEIPT_BYTES];
};

struct ledger {
    uint64_t letters_max;
    int64_t origin_ns;
    _Atomic(uint64_t) next; /* number */
    _Atomic(uint32_t) draining, stop;
    _Atomic(int64_t) slowest_ns; /* call that does not wait */
    _Atomic(int64_t) latest_ns;  /* time that was reported */
    _Atomic(uint64_t) operations, received, deleted, sent;
    _Atomic(int64_t) cleared; /* letters, by clears, about */
    _Atomic(uint64_t) calls[LEDGER_CALLS], large; /* that were OK */
    _Atomic(uint64_t) phantom, duplicate, resurrected, early, late, stale_ok,
        reordered, stale, failures;
    _Atomic(int) failure;
    struct ledger_slot places[LEDGER_SLOTS];
    struct ledger_box boxes[LEDGER_BOXES];
    struct ledger_receipt receipts[LEDGER_RECEIPTS];
    _Atomic(uint32_t) open_count, alone, together, changes;
    _Atomic(uint32_t) open_us[LEDGER_OPENS]; /* how long opening took */
    struct ledger_letter letters[];
};

/* A ledger in shared memory, with room for so many letters. `origin_ns` is
 * before every time that it will be reported. */
struct ledger *ledger_create(uint64_t letters_max, int64_t origin_ns);
void ledger_destroy(struct ledger *ledger);

/* For ledgers that are copied with memcpy. */
size_t ledger_bytes(const struct ledger *ledger);

/* The next number; 0 when there is no more room. */
uint64_t ledger_number(struct ledger *ledger);

/* The body of a letter, of which there is a small and a large one: its size.
 * And back: its number; 0 when it is of no letter. */
size_t ledger_body(uint64_t number, uint8_t body[LEDGER_SMALL_MAX]);
size_t ledger_large_body(uint64_t number, uint8_t body[LEDGER_LARGE_MAX]);
uint64_t ledger_number_of(const void *body, size_t size);

void ledger_note(struct ledger *ledger, const struct ledger_event *event);

/* Something was answered that should not have been. */
void ledger_fail(struct ledger *ledger, lbx_status status);

/* Whether a receipt of this delivery is surely not good any more. */
bool ledger_is_stale(struct ledger *ledger, uint64_t number, uint32_t delivery);

/* Whether a receipt of this delivery surely is good still, at this time. */
bool ledger_is_good(struct ledger *ledger, uint64_t number, uint32_t delivery,
                    int64_t now_ns);

/* Letters that were sent and not deleted; and corrects that number, of which
 * clears that were killed know nothing. */
uint64_t ledger_live(struct ledger *ledger);
void ledger_set_live(struct ledger *ledger, uint64_t live);

/* All processes are dead: their clears have ended (LEDGER-2). */
void ledger_end_clears(struct ledger *ledger);

/* Keeps a receipt for others to try; gives one back; and one that is stale. */
void ledger_keep_receipt(struct ledger *ledger, uint64_t draw,
                         const struct ledger_receipt *receipt);
bool ledger_receipt(struct ledger *ledger, uint64_t draw,
                    struct ledger_receipt *ret);
bool ledger_old_receipt(struct ledger *ledger, uint64_t draw,
                        struct ledger_receipt *ret);

/* After a full drain: what is lost, and all the counts. */
struct score ledger_judge(struct ledger *ledger);

/* One event as a line of text, and back. */
int ledger_print(const struct ledger_event *event, char *line, size_t size);
bool ledger_parse(const char *line, struct ledger_event *ret);

#endif

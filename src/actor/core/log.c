/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log of dead letters with a limited number of lines.
 *
 * DLOG-1  Under its lock a log decides whether a letter gets a line, and which;
 *         the line is printed without the lock. So lines of different threads
 *         may be printed in another order, and none is printed twice.
 */
#include "actor/core/system.h"

#include <letterbox/actor/dead_letters.h>
#include <stdio.h>
#include <string.h>

enum {
    LOG_PATH_BYTES = 128,
    LOG_REF_BYTES = LOG_PATH_BYTES + 32,
    LOG_LINE_BYTES = 768,
};

/* What the reserved fields hold. */
typedef struct state {
    lbx__lock lock;
    uint32_t unused;
    uint64_t printed;
    uint64_t skipped;
    int64_t paused_ns; /* since when; valid when printed == most */
} state;

/* Spare words of the public struct, for later versions of the library. */
_Static_assert(sizeof(state) + 4 * sizeof(uint64_t) <=
                   sizeof(((lbx_dead_letter_log *)0)->reserved),
               "an lbx_dead_letter_log has fewer than four spare words");

/* Whether to print, and how many were left out before. */
struct verdict {
    bool print;
    bool last;
    uint64_t skipped;
};

static struct verdict
log_decide(lbx_dead_letter_log *log)
{
    state *mine = (state *)(void *)log->reserved;
    struct verdict verdict = {.print = false};
    int64_t now = lbx_clock_now(log->clock);

    lbx__lock_take(&mine->lock);
    if (mine->printed >= log->max_lines && log->pause_ns >= 0 &&
        now - mine->paused_ns >= log->pause_ns) {
        verdict.skipped = mine->skipped;
        mine->skipped = 0;
        mine->printed = 0;
    }
    if (mine->printed < log->max_lines) {
        verdict.print = true;
        verdict.last = ++mine->printed == log->max_lines;
        mine->paused_ns = now;
    } else {
        mine->skipped++;
    }
    lbx__lock_give(&mine->lock);
    return verdict;
}

/* A ref as text: its path, or that it has ended. */
static void
log_describe_ref(lbx_ref ref, char *text, size_t size_bytes)
{
    char path[LOG_PATH_BYTES];

    if (!ref.word) {
        (void)snprintf(text, size_bytes, "nobody");
        return;
    }
    if (lbx_ref_path(ref, text, size_bytes) != LBX_NOT_FOUND)
        return;
    if (lbx__names_last_path(lbx__cell_of(ref.word)->system->names, ref.word,
                             path, sizeof(path)))
        (void)snprintf(text, size_bytes, "%s (ended)", path);
    else
        (void)snprintf(text, size_bytes, "an actor that has ended");
}

static void
log_heard(void *context, const lbx_dead_letter_event *letter)
{
    lbx_dead_letter_log *log = context;
    const lbx_type *type = letter->envelope->type;
    struct verdict verdict;
    char from[LOG_REF_BYTES];
    char to[LOG_REF_BYTES];
    char line[LOG_LINE_BYTES];

    if (letter->suppressed || !log->print ||
        (!log->during_stop && lbx__system_is_stopping(letter->system)))
        return;
    verdict = log_decide(log);
    if (verdict.skipped > 0) {
        (void)snprintf(line, sizeof(line), "%llu dead letters were not logged",
                       (unsigned long long)verdict.skipped);
        log->print(log->context, line);
    }
    if (!verdict.print)
        return;
    log_describe_ref(letter->sender, from, sizeof(from));
    log_describe_ref(letter->recipient, to, sizeof(to));
    (void)snprintf(
        line, sizeof(line), "dead letter: %s from %s to %s: %s%s",
        type ? lbx_type_name(type) : "a message", from, to,
        lbx_loss_reason_text((lbx_loss_reason)letter->envelope->lost),
        verdict.last ? "; no more will be logged for a while" : "");
    log->print(log->context, line);
}

lbx_dead_letter_listener
lbx_dead_letter_log_as_listener(lbx_dead_letter_log *log)
{
    lbx_dead_letter_listener listener = {log_heard, log};

    return listener;
}

const char *
lbx_loss_reason_text(lbx_loss_reason reason)
{
    switch (reason) {
    case LBX_LOSS_NONE:
        return "it was not lost";
    case LBX_LOSS_DROPPED_NEWEST:
        return "dropped: the mailbox was full";
    case LBX_LOSS_DROPPED_OLDEST:
        return "dropped: a newer one took its place";
    case LBX_LOSS_EXPIRED:
        return "its deadline had passed";
    case LBX_LOSS_CLOSED:
        return "its actor ended before it was handled";
    case LBX_LOSS_NO_ACTOR:
        return "its actor had ended";
    case LBX_LOSS_UNHANDLED:
        return "its actor has no handler for it";
    case LBX_LOSS_FAILED:
        return "its handler failed";
    case LBX_LOSS_NO_MEMORY:
        return "there was no memory";
    case LBX_LOSS_REFUSED:
        return "the mailbox refused it";
    }
    return "?";
}

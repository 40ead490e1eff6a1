/* SPDX-License-Identifier: Apache-2.0 */
/* Counting; ledger.h has the words. */
#include "ledger.h"

#include "codec/crc32c.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Until when a letter is hidden, and by which delivery, in one word so that a
 * kill cannot come between: 16 bits of delivery, 48 of microseconds. */
#define UNTIL_BITS 48
#define UNTIL_MOST ((UINT64_C(1) << UNTIL_BITS) - 1)

static uint64_t
hidden_of(const struct ledger *ledger, uint32_t delivery, int64_t until_ns)
{
    int64_t us = (until_ns - ledger->origin_ns) / LBX_US;

    us = us < 0 ? 0 : us > (int64_t)UNTIL_MOST ? (int64_t)UNTIL_MOST : us;
    return (uint64_t)delivery << UNTIL_BITS | (uint64_t)us;
}

static uint32_t
delivery_of(uint64_t hidden)
{
    return (uint32_t)(hidden >> UNTIL_BITS);
}

static int64_t
until_of(const struct ledger *ledger, uint64_t hidden)
{
    return ledger->origin_ns + (int64_t)(hidden & UNTIL_MOST) * LBX_US;
}

struct ledger *
ledger_create(uint64_t letters_max, int64_t origin_ns)
{
    const size_t size = sizeof(struct ledger) +
                        (letters_max + 1) * sizeof(struct ledger_letter);
    struct ledger *ledger = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (ledger == MAP_FAILED)
        abort();
    ledger->letters_max = letters_max;
    ledger->origin_ns = origin_ns;
    return ledger;
}

size_t
ledger_bytes(const struct ledger *ledger)
{
    return sizeof(*ledger) +
           (ledger->letters_max + 1) * sizeof(struct ledger_letter);
}

void
ledger_destroy(struct ledger *ledger)
{
    (void)munmap(ledger, ledger_bytes(ledger));
}

uint64_t
ledger_number(struct ledger *ledger)
{
    if (atomic_load(&ledger->next) >= ledger->letters_max)
        return 0;
    const uint64_t number = atomic_fetch_add(&ledger->next, 1) + 1;

    return number <= ledger->letters_max ? number : 0;
}

/* What a body is made of. */
struct body {
    char head[24];
    size_t head_size, size;
    uint64_t state;
};

static struct body
body_of(uint64_t number, bool large)
{
    struct body body = {.state = number * UINT64_C(0x9e3779b97f4a7c15) + 1};
    const uint64_t drawn = body.state >> 20;

    if (large) // one in four as large as can be
        body.size = body.state >> 62 == 0
                        ? LEDGER_LARGE_MAX
                        : LEDGER_LARGE_MIN +
                              drawn % (LEDGER_LARGE_MAX - LEDGER_LARGE_MIN);
    else // most are small; some need pages of their own
        body.size = body.state >> 58 == 0 ? 24 + drawn % (LEDGER_SMALL_MAX - 24)
                                          : 24 + drawn % 200;
    body.head_size =
        (size_t)snprintf(body.head, sizeof(body.head), "%c%020" PRIu64 ":",
                         large ? 'X' : 'L', number);
    return body;
}

static uint8_t
body_next(struct body *body)
{
    body->state = body->state * UINT64_C(6364136223846793005) + 1;
    return (uint8_t)('a' + (body->state >> 40) % 26);
}

static size_t
body_write(struct body body, uint8_t *to)
{
    memcpy(to, body.head, body.head_size);
    for (size_t i = body.head_size; i < body.size; i++)
        to[i] = body_next(&body);
    return body.size;
}

size_t
ledger_body(uint64_t number, uint8_t body[LEDGER_SMALL_MAX])
{
    return body_write(body_of(number, false), body);
}

size_t
ledger_large_body(uint64_t number, uint8_t body[LEDGER_LARGE_MAX])
{
    return body_write(body_of(number, true), body);
}

uint64_t
ledger_number_of(const void *body, size_t size)
{
    const uint8_t *bytes = body;
    char head[24];
    struct body right;
    uint64_t number;

    if (size < sizeof(head) || (bytes[0] != 'L' && bytes[0] != 'X'))
        return 0;
    memcpy(head, body, sizeof(head) - 1);
    head[sizeof(head) - 1] = '\0';
    number = strtoull(head + 1, NULL, 10);
    right = body_of(number, bytes[0] == 'X');
    if (number == 0 || size != right.size ||
        memcmp(bytes, right.head, right.head_size) != 0)
        return 0;
    for (size_t i = right.head_size; i < size; i++) {
        if (bytes[i] != body_next(&right))
            return 0;
    }
    return number;
}

/* ---- Clears: LEDGER-2 ---- */

static void
raise_to(_Atomic(int64_t) *highest, int64_t value)
{
    int64_t before = atomic_load(highest);

    while (value > before &&
           !atomic_compare_exchange_weak(highest, &before, value))
        ;
}

static bool
is_clearing(struct ledger *ledger, uint32_t box)
{
    for (size_t i = 0; i < LEDGER_SLOTS; i++) {
        if (atomic_load(&ledger->places[i].clearing) == box + 1)
            return true;
    }
    return false;
}

static bool
may_be_cleared(struct ledger *ledger, const struct ledger_letter *letter)
{
    const uint32_t box = atomic_load(&letter->box);
    const int64_t limit = atomic_load(&ledger->boxes[box].gone_upto_ns);

    return is_clearing(ledger, box) ||
           (limit > 0 && limit >= atomic_load(&letter->begun_ns));
}

/* Whether a receive that began then must not get it. */
static bool
is_cleared(struct ledger *ledger, const struct ledger_letter *letter,
           int64_t receive_ns)
{
    struct ledger_box *box = &ledger->boxes[atomic_load(&letter->box)];
    const uint32_t version = atomic_load(&box->version);
    const int64_t begun = atomic_load(&box->begun_ns);
    const int64_t ended = atomic_load(&box->ended_ns);

    return version != 0 && version % 2 == 0 &&
           atomic_load(&box->version) == version &&
           atomic_load(&letter->sent) &&
           atomic_load(&letter->ended_ns) < begun && receive_ns > ended;
}

static void
note_clear(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_slot *slot = &ledger->places[event->delivery];
    const uint32_t before = atomic_load(&slot->clearing);

    // Of one that was killed in this slot.
    if (before > 0)
        raise_to(&ledger->boxes[before - 1].gone_upto_ns, event->begun_ns);
    atomic_store(&slot->clearing, event->box + 1);
}

static void
note_cleared(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_box *box = &ledger->boxes[event->box];
    uint32_t version = atomic_load(&box->version);

    raise_to(&box->gone_upto_ns, event->ended_ns);
    atomic_store(&ledger->places[event->delivery].clearing, 0);
    if (event->status != LBX_OK)
        return;
    atomic_fetch_add(&ledger->operations, 1);
    if (version % 2 == 1 ||
        !atomic_compare_exchange_strong(&box->version, &version, version + 1))
        return;
    atomic_store(&box->begun_ns, event->begun_ns);
    atomic_store(&box->ended_ns, event->ended_ns);
    atomic_store(&box->version, version + 2);
}

void
ledger_end_clears(struct ledger *ledger)
{
    for (size_t i = 0; i < LEDGER_SLOTS; i++) {
        const uint32_t box = atomic_exchange(&ledger->places[i].clearing, 0);

        // What it may have cleared had begun to be sent by then.
        if (box > 0)
            raise_to(&ledger->boxes[box - 1].gone_upto_ns,
                     atomic_load(&ledger->latest_ns));
    }
}

/* ---- Letters ---- */

/* Whether it may have been deleted. */
static bool
may_be_deleted(struct ledger_letter *letter)
{
    return atomic_load(&letter->deletes) > atomic_load(&letter->kept);
}

/* Sent again, either time may be the one that counts. */
static void
note_send(const struct ledger *ledger, struct ledger_letter *letter,
          const struct ledger_event *event)
{
    const uint64_t after = hidden_of(ledger, 0, event->until_ns);
    uint64_t before = atomic_load(&letter->hidden);

    atomic_store(&letter->box, event->box);
    atomic_store(&letter->after, event->after);
    atomic_store(&letter->with, event->id);
    if (atomic_load(&letter->sends) == 0) {
        atomic_store(&letter->begun_ns, event->begun_ns);
        atomic_store(&letter->hidden, after);
    } else
        while (before > after && delivery_of(before) == 0 &&
               !atomic_compare_exchange_weak(&letter->hidden, &before, after))
            ;
    atomic_fetch_add(&letter->sends, 1);
}

static void
note_sent(struct ledger *ledger, struct ledger_letter *letter,
          const struct ledger_event *event)
{
    if (event->status == LBX_OK) {
        atomic_store(&letter->ended_ns, event->ended_ns);
        if (atomic_exchange(&letter->sent, 1) == 0)
            atomic_fetch_add(&ledger->sent, 1);
        atomic_fetch_add(&ledger->operations, 1);
    } else if (event->status != LBX_UNKNOWN) {
        atomic_fetch_add(&letter->refused, 1);
    }
}

/* A call that came back with a letter long after both had been there. */
static bool
is_late(struct ledger *ledger, const struct ledger_letter *letter,
        const struct ledger_event *event, uint64_t before)
{
    const int64_t due = until_of(ledger, before) +
                        (int64_t)atomic_load(&letter->spent_us) * LBX_US;
    const int64_t from = due > event->begun_ns ? due : event->begun_ns;

    // How slow the machine is at the moment is not the store's doing.
    return atomic_load(&letter->after) == 0 &&
           event->ended_ns - from >
               LBX_SECOND + 2 * atomic_load(&ledger->slowest_ns);
}

static void
check_order(struct ledger *ledger, const struct ledger_letter *letter)
{
    const uint64_t after = atomic_load(&letter->after);
    struct ledger_letter *earlier;

    if (after == 0 || after > ledger->letters_max)
        return;
    earlier = &ledger->letters[after];
    if (atomic_load(&earlier->sent) && !may_be_deleted(earlier))
        atomic_fetch_add(&ledger->reordered, 1);
}

static void
note_received(struct ledger *ledger, struct ledger_letter *letter,
              const struct ledger_event *event)
{
    uint64_t before = atomic_load(&letter->hidden), id = 0;
    const uint64_t after = hidden_of(ledger, event->delivery, event->until_ns);
    const uint64_t bit =
        event->delivery < 64 ? UINT64_C(1) << event->delivery : 0;

    atomic_fetch_add(&ledger->received, 1);
    atomic_fetch_add(&ledger->operations, 1);
    atomic_fetch_add(&letter->received, 1);
    if (atomic_load(&ledger->draining))
        atomic_store(&letter->drained, 1);
    if (atomic_load(&letter->sends) <= atomic_load(&letter->refused))
        atomic_fetch_add(&ledger->phantom, 1);
    // Two letters of one send, or one delivery to two.
    if ((!atomic_compare_exchange_strong(&letter->id, &id, event->id) &&
         id != event->id) ||
        (atomic_fetch_or(&letter->deliveries, bit) & bit))
        atomic_fetch_add(&ledger->duplicate, 1);
    check_order(ledger, letter);
    if (is_cleared(ledger, letter, event->begun_ns))
        atomic_fetch_add(&ledger->resurrected, 1);
    // Whoever is slow may tell of an earlier delivery after a later one.
    if (event->delivery <= delivery_of(before))
        return;
    if (atomic_load(&letter->deleted))
        atomic_fetch_add(&ledger->resurrected, 1);
    if (event->ended_ns < until_of(ledger, before))
        atomic_fetch_add(&ledger->early, 1);
    if (is_late(ledger, letter, event, before))
        atomic_fetch_add(&ledger->late, 1);
    atomic_store(&letter->spent_us,
                 (uint32_t)((event->ended_ns - event->begun_ns) / LBX_US));
    while (delivery_of(before) < event->delivery &&
           !atomic_compare_exchange_weak(&letter->hidden, &before, after))
        ;
}

static void
note_hidden(struct ledger *ledger, struct ledger_letter *letter,
            const struct ledger_event *event)
{
    uint64_t before = atomic_load(&letter->hidden);
    const uint64_t after = hidden_of(ledger, event->delivery, event->until_ns);

    if (event->status == LBX_OK) {
        atomic_fetch_add(&ledger->operations, 1);
        atomic_store(&letter->spent_us,
                     (uint32_t)((event->ended_ns - event->begun_ns) / LBX_US));
    }
    while (delivery_of(before) == event->delivery &&
           !atomic_compare_exchange_weak(&letter->hidden, &before, after))
        ;
}

static void
note_deleted(struct ledger *ledger, struct ledger_letter *letter,
             const struct ledger_event *event)
{
    const uint64_t hidden = atomic_load(&letter->hidden);

    switch (event->status) {
    case LBX_OK:
        if (delivery_of(hidden) > event->delivery)
            atomic_fetch_add(&ledger->stale_ok, 1);
        if (atomic_exchange(&letter->deleted, 1) == 0)
            atomic_fetch_add(&ledger->deleted, 1);
        atomic_fetch_add(&ledger->operations, 1);
        break;
    case LBX_EXPIRED:
    case LBX_GONE:
        atomic_fetch_add(&letter->kept, 1);
        // Taken away from who had it.
        if (delivery_of(hidden) == event->delivery &&
            event->ended_ns < until_of(ledger, hidden) &&
            !may_be_cleared(ledger, letter))
            atomic_fetch_add(&ledger->early, 1);
        break;
    case LBX_UNKNOWN:
        break;
    default:
        atomic_fetch_add(&letter->kept, 1);
    }
}

static void
note_stale(struct ledger *ledger, const struct ledger_event *event)
{
    atomic_fetch_add(&ledger->stale, 1);
    if (event->status == LBX_OK)
        atomic_fetch_add(&ledger->stale_ok, 1);
}

static void
note_duration(struct ledger *ledger, const struct ledger_event *event)
{
    raise_to(&ledger->slowest_ns, event->ended_ns - event->begun_ns);
}

/* An event of a box. */
static void
note_box(struct ledger *ledger, const struct ledger_event *event)
{
    if (event->box >= LEDGER_BOXES || event->delivery >= LEDGER_SLOTS)
        abort();
    if (event->what == LEDGER_CLEAR)
        note_clear(ledger, event);
    else
        note_cleared(ledger, event);
}

void
ledger_note(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_letter *letter = &ledger->letters[event->number];

    raise_to(&ledger->latest_ns, event->begun_ns);
    raise_to(&ledger->latest_ns, event->ended_ns);
    if (event->what == LEDGER_CLEAR || event->what == LEDGER_CLEARED) {
        note_box(ledger, event);
        return;
    }
    if (event->what == LEDGER_WRONG || event->box >= LEDGER_BOXES ||
        event->number == 0 || event->number > ledger->letters_max) {
        atomic_fetch_add(&ledger->phantom, 1);
        return;
    }
    switch (event->what) {
    case LEDGER_SEND:
        note_send(ledger, letter, event);
        break;
    case LEDGER_SENT:
        note_sent(ledger, letter, event);
        note_duration(ledger, event);
        break;
    case LEDGER_RECEIVED:
        note_received(ledger, letter, event);
        break;
    case LEDGER_RETURN:
        atomic_store(&letter->returned, event->delivery);
        note_hidden(ledger, letter, event);
        break;
    case LEDGER_HIDE:
        note_hidden(ledger, letter, event);
        break;
    case LEDGER_DELETE:
        atomic_fetch_add(&letter->deletes, 1);
        break;
    case LEDGER_DELETED:
        note_deleted(ledger, letter, event);
        note_duration(ledger, event);
        break;
    case LEDGER_STALE:
        note_stale(ledger, event);
        break;
    default:
        abort();
    }
}

void
ledger_fail(struct ledger *ledger, lbx_status status)
{
    int none = 0;

    (void)atomic_compare_exchange_strong(&ledger->failure, &none, (int)status);
    atomic_fetch_add(&ledger->failures, 1);
}

bool
ledger_is_stale(struct ledger *ledger, uint64_t number, uint32_t delivery)
{
    struct ledger_letter *letter = &ledger->letters[number];

    return atomic_load(&letter->deleted) ||
           delivery_of(atomic_load(&letter->hidden)) > delivery;
}

bool
ledger_is_good(struct ledger *ledger, uint64_t number, uint32_t delivery,
               int64_t now_ns)
{
    struct ledger_letter *letter = &ledger->letters[number];
    const uint64_t hidden = atomic_load(&letter->hidden);

    return delivery_of(hidden) == delivery &&
           until_of(ledger, hidden) > now_ns && !may_be_deleted(letter) &&
           atomic_load(&letter->returned) != delivery;
}

uint64_t
ledger_live(struct ledger *ledger)
{
    const int64_t deleted =
        (int64_t)atomic_load(&ledger->deleted) + atomic_load(&ledger->cleared);
    const int64_t sent = (int64_t)atomic_load(&ledger->sent);

    return sent > deleted ? (uint64_t)(sent - deleted) : 0;
}

void
ledger_set_live(struct ledger *ledger, uint64_t live)
{
    // Both ways, so that what others do meanwhile does not add up.
    atomic_fetch_add(&ledger->cleared,
                     (int64_t)ledger_live(ledger) - (int64_t)live);
}

void
ledger_keep_receipt(struct ledger *ledger, uint64_t draw,
                    const struct ledger_receipt *receipt)
{
    struct ledger_receipt *to = &ledger->receipts[draw % LEDGER_RECEIPTS];
    uint32_t version = atomic_load(&to->version);

    if (version % 2 == 1 ||
        !atomic_compare_exchange_strong(&to->version, &version, version + 1))
        return;
    to->delivery = receipt->delivery;
    to->box = receipt->box;
    to->number = receipt->number;
    memcpy(to->text, receipt->text, sizeof(to->text));
    atomic_store(&to->version, version + 2);
}

bool
ledger_receipt(struct ledger *ledger, uint64_t draw, struct ledger_receipt *ret)
{
    struct ledger_receipt *from = &ledger->receipts[draw % LEDGER_RECEIPTS];
    const uint32_t version = atomic_load(&from->version);

    if (version == 0 || version % 2 == 1)
        return false;
    memcpy(ret, from, sizeof(*ret));
    ret->text[sizeof(ret->text) - 1] = '\0';
    return atomic_load(&from->version) == version && ret->number > 0 &&
           ret->number <= ledger->letters_max;
}

bool
ledger_old_receipt(struct ledger *ledger, uint64_t draw,
                   struct ledger_receipt *ret)
{
    return ledger_receipt(ledger, draw, ret) &&
           ledger_is_stale(ledger, ret->number, ret->delivery);
}

/* LEDGER-3, of a letter whose outcome is not known. */
static void
judge_attached(struct ledger *ledger, struct ledger_letter *letter,
               struct score *score)
{
    const uint64_t with = atomic_load(&letter->with);
    struct ledger_letter *other = &ledger->letters[with];

    if (with == 0 || with > ledger->letters_max || atomic_load(&letter->sent) ||
        atomic_load(&letter->sends) <= atomic_load(&letter->refused))
        return;
    if (atomic_load(&letter->received) > 0) {
        score->resurrected += atomic_load(&other->drained) > 0;
        return;
    }
    // Its other deletes are known to have done nothing.
    score->lost +=
        atomic_load(&other->sent) && !atomic_load(&other->drained) &&
        atomic_load(&other->deletes) == atomic_load(&other->kept) + 1;
}

struct score
ledger_judge(struct ledger *ledger)
{
    struct score score = {
        .operations = atomic_load(&ledger->operations),
        .received = atomic_load(&ledger->received),
        .deleted = atomic_load(&ledger->deleted),
        .phantom = atomic_load(&ledger->phantom),
        .duplicate = atomic_load(&ledger->duplicate),
        .resurrected = atomic_load(&ledger->resurrected),
        .early = atomic_load(&ledger->early),
        .late = atomic_load(&ledger->late),
        .stale_ok = atomic_load(&ledger->stale_ok),
        .reordered = atomic_load(&ledger->reordered),
        .stale = atomic_load(&ledger->stale),
        .failures = atomic_load(&ledger->failures),
        .failure = (lbx_status)atomic_load(&ledger->failure),
    };

    for (uint64_t i = 1; i <= ledger->letters_max; i++) {
        struct ledger_letter *letter = &ledger->letters[i];
        const uint32_t sends = atomic_load(&letter->sends);
        const bool sent = atomic_load(&letter->sent);

        score.attempts += sends > 0;
        score.acks += sent;
        if (sent && !atomic_load(&letter->drained) && !may_be_deleted(letter) &&
            !may_be_cleared(ledger, letter))
            score.lost++;
        judge_attached(ledger, letter, &score);
        if (!sent && sends > atomic_load(&letter->refused)) {
            score.unknown++;
            score.recovered += atomic_load(&letter->received) > 0;
        }
    }
    return score;
}

/* ---- As text ---- */

int
ledger_print(const struct ledger_event *event, char *line, size_t size)
{
    const int length =
        snprintf(line, size,
                 "@%d %" PRIu64 " %" PRIu64 " %u %u %d %" PRId64 " %" PRId64
                 " %" PRId64 " %" PRIu64,
                 (int)event->what, event->number, event->after, event->box,
                 event->delivery, (int)event->status, event->begun_ns,
                 event->ended_ns, event->until_ns, event->id);

    return length + snprintf(line + length, size - (size_t)length, " %08x\n",
                             lbx__crc32c(0, line, (size_t)length));
}

bool
ledger_parse(const char *line, struct ledger_event *ret)
{
    const char *end = strrchr(line, ' ');
    int what, status;

    memset(ret, 0, sizeof(*ret));
    if (!end || sscanf(line,
                       "@%d %" SCNu64 " %" SCNu64 " %u %u %d %" SCNd64
                       " %" SCNd64 " %" SCNd64 " %" SCNu64,
                       &what, &ret->number, &ret->after, &ret->box,
                       &ret->delivery, &status, &ret->begun_ns, &ret->ended_ns,
                       &ret->until_ns, &ret->id) != 10)
        return false;
    ret->what = (enum ledger_what)what;
    ret->status = (lbx_status)status;
    // A line that a cut has torn, or that the kernel spoke into.
    return what > 0 && what < LEDGER_WHATS &&
           strtoul(end, NULL, 16) == lbx__crc32c(0, line, (size_t)(end - line));
}

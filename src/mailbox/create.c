/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The factory: checks options, fills in defaults, puts lanes together.
 *
 * Which queue a lane is made of:
 *
 *   FIFO, unlimited        segment queue
 *   FIFO, limited          ring; with GROW a segment queue and a budget
 *   control first          two segment queues; limited: with budgets
 *   by priority            sorter; limited: with a budget
 *   storage                shelf; limited: with a budget
 */
#include "mailbox/box.h"

#include "base/alloc.h"
#include "base/park.h"
#include "mailbox/kinds.h"
#include <stdarg.h>
#include <stdio.h>

/* Tickets and budgets keep four bits for flags. */
#define MOST_MESSAGES ((int64_t)1 << 56)

__attribute__((format(printf, 3, 4))) static lbx_status
fail(const lbx_mailbox_options *options, lbx_status status, const char *format,
     ...)
{
    va_list arguments;

    if (options && options->fault) {
        options->fault->status = status;
        va_start(arguments, format);
        (void)vsnprintf(options->fault->text, sizeof(options->fault->text),
                        format, arguments);
        va_end(arguments);
    }
    return status;
}

static bool
is_count(int64_t limit)
{
    return limit >= 1 && limit <= MOST_MESSAGES;
}

static lbx_status
settle_capacity(const lbx__kind *kind, lbx_mailbox_options *options)
{
    int64_t *capacity = &options->capacity_messages;

    if (*capacity == LBX_DEFAULT)
        *capacity = kind->limited ? LBX_DEFAULT_CAPACITY : LBX_UNLIMITED;
    if (*capacity != LBX_UNLIMITED && !is_count(*capacity))
        return fail(options, LBX_INVALID,
                    "capacity_messages is %lld: it must be positive, at most "
                    "%lld, or LBX_UNLIMITED",
                    (long long)*capacity, (long long)MOST_MESSAGES);
    if (kind->limited && *capacity == LBX_UNLIMITED)
        return fail(
            options, LBX_INVALID,
            "a mailbox of kind \"%s\" needs a finite capacity_messages; "
            "use an unbounded kind for LBX_UNLIMITED",
            kind->name);
    if (kind->unlimited && *capacity != LBX_UNLIMITED)
        return fail(options, LBX_INVALID,
                    "a mailbox of kind \"%s\" cannot be limited; use a bounded "
                    "kind for capacity_messages %lld",
                    kind->name, (long long)*capacity);
    return LBX_OK;
}

static lbx_status
settle_lanes(lbx_mailbox_options *options)
{
    int64_t *system = &options->system_reservation;
    int64_t *control = &options->control_capacity;

    if (*system == LBX_DEFAULT)
        *system = LBX_DEFAULT_SYSTEM_RESERVATION;
    if (*system != LBX_DISABLED && *system != LBX_UNLIMITED &&
        !is_count(*system))
        return fail(options, LBX_INVALID,
                    "system_reservation is %lld: it must be LBX_DISABLED, "
                    "positive, or LBX_UNLIMITED",
                    (long long)*system);
    if (*control == LBX_DEFAULT)
        *control = LBX_SHARED;
    if (*control != LBX_SHARED && *control != LBX_UNLIMITED &&
        !is_count(*control))
        return fail(options, LBX_INVALID,
                    "control_capacity is %lld: it must be LBX_SHARED, "
                    "positive, or LBX_UNLIMITED",
                    (long long)*control);
    return LBX_OK;
}

static lbx_status
settle_policy(const lbx__kind *kind, lbx_mailbox_options *options)
{
    if ((int)options->overflow < LBX_REJECT || options->overflow > LBX_BLOCK)
        return fail(options, LBX_INVALID,
                    "overflow is %d: it must be one of LBX_REJECT, "
                    "LBX_DROP_NEWEST, LBX_DROP_OLDEST, LBX_GROW, LBX_BLOCK",
                    (int)options->overflow);
    if (options->after_wait != LBX_REJECT &&
        options->after_wait != LBX_DROP_NEWEST)
        return fail(options, LBX_INVALID,
                    "after_wait is %d: it must be LBX_REJECT or "
                    "LBX_DROP_NEWEST",
                    (int)options->after_wait);
    if (options->overflow == LBX_DROP_OLDEST &&
        !(kind->capabilities & LBX_CAN_MULTI_CONSUME))
        return fail(options, LBX_INVALID,
                    "LBX_DROP_OLDEST lets senders take messages out, which a "
                    "mailbox of kind \"%s\" does not allow; use \"unbounded\" "
                    "or \"bounded\"",
                    kind->name);
    return LBX_OK;
}

static lbx_status
settle_rest(lbx_mailbox_options *options)
{
    int64_t *pressure = &options->pressure_messages;
    int64_t capacity = options->capacity_messages;
    lbx_producer *dead_letters = options->dead_letters;

    if (dead_letters && !lbx__box_of_producer(dead_letters)->keeps_envelopes)
        return fail(options, LBX_INVALID,
                    "the mailbox for dead_letters must keep envelopes: create "
                    "it with options.envelopes = true");
    if (*pressure == LBX_DEFAULT)
        *pressure = capacity == LBX_UNLIMITED ? 10000 : (capacity * 3 + 3) / 4;
    if (*pressure < 1)
        return fail(options, LBX_INVALID,
                    "pressure_messages is %lld: it must be positive",
                    (long long)*pressure);
    options->envelopes = options->envelopes || options->timestamps;
    return LBX_OK;
}

static lbx_status
check_callbacks(const lbx_mailbox_options *options)
{
    if (!lbx__allocator_usable(options->allocator))
        return fail(options, LBX_INVALID,
                    "the allocator needs both allocate and release");
    if (options->clock && !options->clock->now_ns)
        return fail(options, LBX_INVALID, "the clock needs now_ns");
    return LBX_OK;
}

static lbx_status
settle(const lbx__kind *kind, lbx_mailbox_options *options)
{
    lbx_status status = check_callbacks(options);

    if (status == LBX_OK)
        status = settle_capacity(kind, options);
    if (status == LBX_OK)
        status = settle_lanes(options);
    if (status == LBX_OK)
        status = settle_policy(kind, options);
    if (status == LBX_OK)
        status = settle_rest(options);
    return status;
}

/* How a message lies in the user's lane. */
static unsigned
words_for(const lbx__kind *kind, const lbx_mailbox_options *options)
{
    if (options->envelopes || kind->order == LBX__STORAGE)
        return LBX__ENVELOPE;
    return kind->order == LBX__BY_PRIORITY ? LBX__PAIR : LBX__WORD;
}

static lbx_status
make_segq(lbx_mailbox *box, lbx__lane *lane, unsigned words)
{
    lane->type = LBX__LANE_SEGQ;
    lane->words = words;
    return lbx__segq_init(&lane->q.segq, words, box->many,
                          box->options.allocator);
}

static lbx_status
make_fifo(lbx_mailbox *box, lbx__lane *lane, unsigned words)
{
    const lbx_mailbox_options *options = &box->options;

    if (options->capacity_messages == LBX_UNLIMITED || lane->budget)
        return make_segq(box, lane, words);
    lane->type = LBX__LANE_RING;
    lane->words = words;
    return lbx__ring_init(&lane->q.ring, (uint64_t)options->capacity_messages,
                          words, box->many, options->overflow == LBX_BLOCK,
                          options->allocator);
}

static lbx_status
make_sorter(lbx_mailbox *box, lbx__lane *lane, unsigned words)
{
    lbx__heap_order order = {
        .compare = box->options.compare,
        .context = box->options.compare_context,
        .higher_first = box->options.higher_first,
    };

    lane->type = LBX__LANE_SORTER;
    lane->words = words;
    return lbx__sorter_init(&lane->q.sorter, words, &order,
                            box->options.allocator);
}

static lbx_status
make_control(lbx_mailbox *box, unsigned words)
{
    if (!box->options.control_by_priority)
        return make_segq(box, &box->control_lane, words);
    return make_sorter(box, &box->control_lane,
                       words == LBX__ENVELOPE ? LBX__ENVELOPE : LBX__PAIR);
}

static lbx_status
make_shelf(lbx_mailbox *box, lbx__lane *lane, const lbx__kind *kind)
{
    void *storage;
    lbx_status status =
        kind->ops->create(kind->context, &box->options, &storage);

    if (status != LBX_OK)
        return status;
    lane->type = LBX__LANE_SHELF;
    lane->words = LBX__ENVELOPE;
    lbx__shelf_init(&lane->q.shelf, kind->ops, storage);
    return LBX_OK;
}

/* Decides where room is counted. */
static void
plan_budgets(lbx_mailbox *box, const lbx__kind *kind)
{
    const lbx_mailbox_options *options = &box->options;
    bool limited = options->capacity_messages != LBX_UNLIMITED;
    bool grows = options->overflow == LBX_GROW;
    bool in_ring = kind->order == LBX__FIFO && !grows;

    if (limited && !in_ring) {
        lbx__budget_init(&box->budget, (uint64_t)options->capacity_messages,
                         grows);
        box->user_lane.budget = &box->budget;
    }
    if (kind->order != LBX__CONTROL_FIRST)
        return;
    if (options->control_capacity == LBX_SHARED) {
        box->control_lane.budget = box->user_lane.budget;
    } else if (options->control_capacity != LBX_UNLIMITED) {
        lbx__budget_init(&box->control_budget,
                         (uint64_t)options->control_capacity, grows);
        box->control_lane.budget = &box->control_budget;
    }
}

static lbx_status
make_lanes(lbx_mailbox *box, const lbx__kind *kind)
{
    unsigned words = words_for(kind, &box->options);
    lbx_status status = LBX_INVALID;

    plan_budgets(box, kind);
    switch (kind->order) {
    case LBX__FIFO:
        return make_fifo(box, &box->user_lane, words);
    case LBX__BY_PRIORITY:
        return make_sorter(box, &box->user_lane, words);
    case LBX__STORAGE:
        return make_shelf(box, &box->user_lane, kind);
    case LBX__CONTROL_FIRST:
        box->lane[LBX__CONTROL_LANE] = &box->control_lane;
        status = make_control(box, words);
        if (status == LBX_OK)
            status = make_segq(box, &box->user_lane, words);
        break;
    }
    return status;
}

/* Plain messages whose room, if limited, the ring counts: no detours. */
/* Tells whether an ordinary envelope is pushed as it is: there is always room,
 * and nobody wants to see it before. */
static bool
goes_straight(const lbx_mailbox *box)
{
    const lbx_mailbox_options *options = &box->options;
    const lbx__lane *lane = &box->user_lane;

    return box->keeps_envelopes && !box->lane[LBX__CONTROL_LANE] &&
           !lane->budget &&
           (lane->type == LBX__LANE_SEGQ || lane->type == LBX__LANE_SORTER) &&
           !options->may_wait && !options->priority && !options->timestamps;
}

static lbx__fast
fast_path(const lbx_mailbox *box)
{
    const lbx__lane *user = &box->user_lane;

    if (box->options.may_wait || user->budget)
        return LBX__FAST_NONE;
    if (user->type == LBX__LANE_SORTER && user->words == LBX__PAIR)
        return LBX__FAST_SORTER;
    if (user->words != LBX__WORD)
        return LBX__FAST_NONE;
    if (box->lane[LBX__CONTROL_LANE])
        return box->control_lane.budget ||
                       box->control_lane.type != LBX__LANE_SEGQ
                   ? LBX__FAST_NONE
                   : LBX__FAST_CONTROL;
    if (user->type == LBX__LANE_RING)
        return LBX__FAST_RING;
    return box->many ? LBX__FAST_MANY : LBX__FAST_ONE;
}

static uint32_t
capabilities_of(const lbx_mailbox *box, const lbx__kind *kind)
{
    uint32_t capabilities = kind->capabilities;

    if (box->options.capacity_messages == LBX_UNLIMITED)
        return capabilities;
    capabilities |= LBX_CAN_BOUND;
    if (box->options.overflow == LBX_BLOCK)
        capabilities |= LBX_CAN_BLOCK;
    return capabilities;
}

static lbx_status
build(const lbx__kind *kind, const lbx_mailbox_options *options,
      lbx_mailbox **ret)
{
    const lbx_allocator *allocator = options->allocator;
    lbx_mailbox *box =
        lbx__alloc(allocator, sizeof(*box), alignof(lbx_mailbox));
    lbx_status status;

    if (!box)
        return LBX_NO_MEMORY;
    memset(box, 0, sizeof(*box));
    box->magic = LBX__BOX_MAGIC;
    box->options = *options;
    box->options.fault = NULL;
    box->many = (kind->capabilities & LBX_CAN_MULTI_CONSUME) != 0;
    box->lane[LBX__USER_LANE] = &box->user_lane;
    lbx__list_init(&box->receivers);
    lbx__list_init(&box->flushers);
    lbx__list_init(&box->user_lane.senders);
    lbx__list_init(&box->control_lane.senders);
    lbx__init(&box->producers, 1);
    lbx__init(&box->consumers, 1);
    lbx__init(&box->holds, 2);
    lbx__init(&box->dry, LBX__DRY_SPELL); // the first take is worth a look
    // The storage of a user's kind is made last: it alone can refuse.
    status = make_lanes(box, kind);
    if (status != LBX_OK) {
        if (box->lane[LBX__CONTROL_LANE])
            lbx__lane_fini(&box->control_lane);
        if (kind->order != LBX__STORAGE)
            lbx__lane_fini(&box->user_lane);
        lbx__free(allocator, box, sizeof(*box));
        return status;
    }
    box->keeps_envelopes = box->user_lane.words == LBX__ENVELOPE;
    box->capabilities = capabilities_of(box, kind);
    box->fast = fast_path(box);
    box->straight = goes_straight(box);
    // Without a barrier, B1 needs the lock for every take.
    if (options->may_wait || !lbx__barrier_ready())
        lbx__init(&box->gate, LBX__GATE_ALWAYS);
    (void)lbx_producer_ref(options->dead_letters);
    *ret = box;
    return LBX_OK;
}

lbx_status
lbx_mailbox_create(const char *kind, const lbx_mailbox_options *options,
                   lbx_producer **ret_producer, lbx_consumer **ret_consumer)
{
    lbx_mailbox_options settled = LBX_MAILBOX_OPTIONS_INIT;
    const lbx__kind *found;
    lbx_mailbox *box;
    lbx_status status;

    if (!ret_producer || !ret_consumer)
        return fail(options, LBX_INVALID,
                    "both handles are needed: ret_producer and ret_consumer "
                    "must not be NULL");
    if (options && options->version != LBX_MAILBOX_OPTIONS_VERSION)
        return LBX_INVALID; // not our struct: its fault is not to be trusted
    if (options)
        settled = *options;
    if (!kind && is_count(settled.capacity_messages))
        kind = LBX_KIND_BOUNDED;
    found = lbx__kinds_find(settled.kinds, kind);
    if (!found)
        return fail(options, LBX_NOT_FOUND,
                    "the mailbox kind \"%s\" is unknown; built-in kinds are "
                    "unbounded, unbounded-single-consumer, bounded, and "
                    "{unbounded,bounded}-{priority,control-aware,deque}",
                    kind);
    status = settle(found, &settled);
    if (status != LBX_OK)
        return status;
    status = build(found, &settled, &box);
    if (status != LBX_OK)
        return fail(options, status, "no mailbox of kind \"%s\": %s",
                    found->name, lbx_status_text(status));
    *ret_producer = (lbx_producer *)(void *)box;
    *ret_consumer = (lbx_consumer *)(void *)box;
    return LBX_OK;
}

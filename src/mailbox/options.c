/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a mailbox: checked and completed once, when it is created.
 *
 * LBX_DEFAULT is replaced by the value of the kind; everything behind this file
 * sees values only. A refused value is reported in the fault of the options,
 * with the name of the field, its value and what is allowed.
 *
 * Threads    any: everything here works on the caller's struct.
 */
#include "mailbox/mailbox.h"

#include "base/alloc.h"
#include "mailbox/kinds.h"
#include <stdarg.h>
#include <stdio.h>

/* Ticket and quota words keep four bits for flags. */
#define MAX_MESSAGES ((int64_t)1 << 56)

lbx_status
lbx__options_fail(const lbx_mailbox_options *options, lbx_status status,
                  const char *format, ...)
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

bool
lbx__options_is_count(int64_t limit)
{
    return limit >= 1 && limit <= MAX_MESSAGES;
}

static lbx_status
options_settle_capacity(const lbx__mailbox_kind *kind,
                        lbx_mailbox_options *options)
{
    int64_t *capacity = &options->capacity_messages;

    if (*capacity == LBX_DEFAULT)
        *capacity =
            kind->limited ? LBX_MAILBOX_DEFAULT_CAPACITY : LBX_UNLIMITED;
    if (*capacity != LBX_UNLIMITED && !lbx__options_is_count(*capacity))
        return lbx__options_fail(
            options, LBX_INVALID,
            "capacity_messages is %lld: it must be positive, at most "
            "%lld, or LBX_UNLIMITED",
            (long long)*capacity, (long long)MAX_MESSAGES);
    if (kind->limited && *capacity == LBX_UNLIMITED)
        return lbx__options_fail(
            options, LBX_INVALID,
            "a mailbox of kind \"%s\" needs a finite capacity_messages; "
            "use an unbounded kind for LBX_UNLIMITED",
            kind->name);
    if (kind->unlimited && *capacity != LBX_UNLIMITED)
        return lbx__options_fail(
            options, LBX_INVALID,
            "a mailbox of kind \"%s\" cannot be limited; use a bounded "
            "kind for capacity_messages %lld",
            kind->name, (long long)*capacity);
    return LBX_OK;
}

static lbx_status
options_settle_lanes(lbx_mailbox_options *options)
{
    int64_t *system = &options->system_reservation;
    int64_t *control = &options->control_capacity;

    if (*system == LBX_DEFAULT)
        *system = LBX_MAILBOX_DEFAULT_SYSTEM_RESERVATION;
    if (*system != LBX_LIMIT_DISABLED && *system != LBX_UNLIMITED &&
        !lbx__options_is_count(*system))
        return lbx__options_fail(
            options, LBX_INVALID,
            "system_reservation is %lld: it must be LBX_LIMIT_DISABLED, "
            "positive, or LBX_UNLIMITED",
            (long long)*system);
    if (*control == LBX_DEFAULT)
        *control = LBX_LIMIT_SHARED;
    if (*control != LBX_LIMIT_SHARED && *control != LBX_UNLIMITED &&
        !lbx__options_is_count(*control))
        return lbx__options_fail(
            options, LBX_INVALID,
            "control_capacity is %lld: it must be LBX_LIMIT_SHARED, "
            "positive, or LBX_UNLIMITED",
            (long long)*control);
    return LBX_OK;
}

static lbx_status
options_settle_policy(const lbx__mailbox_kind *kind,
                      lbx_mailbox_options *options)
{
    if ((int)options->overflow < LBX_OVERFLOW_REJECT ||
        options->overflow > LBX_OVERFLOW_BLOCK)
        return lbx__options_fail(
            options, LBX_INVALID,
            "overflow is %d: it must be one of LBX_OVERFLOW_REJECT, "
            "LBX_OVERFLOW_DROP_NEWEST, LBX_OVERFLOW_DROP_OLDEST, "
            "LBX_OVERFLOW_GROW, LBX_OVERFLOW_BLOCK",
            (int)options->overflow);
    if (options->after_wait != LBX_OVERFLOW_REJECT &&
        options->after_wait != LBX_OVERFLOW_DROP_NEWEST)
        return lbx__options_fail(
            options, LBX_INVALID,
            "after_wait is %d: it must be LBX_OVERFLOW_REJECT or "
            "LBX_OVERFLOW_DROP_NEWEST",
            (int)options->after_wait);
    if (options->overflow == LBX_OVERFLOW_DROP_OLDEST &&
        !(kind->capabilities & LBX_CAPABILITY_MULTI_CONSUME))
        return lbx__options_fail(
            options, LBX_INVALID,
            "LBX_OVERFLOW_DROP_OLDEST lets senders take messages out, which a "
            "mailbox of kind \"%s\" does not allow; use \"unbounded\" "
            "or \"bounded\"",
            kind->name);
    return LBX_OK;
}

static lbx_status
options_settle_rest(lbx_mailbox_options *options)
{
    int64_t *pressure = &options->pressure_messages;
    int64_t capacity = options->capacity_messages;
    lbx_producer *dead_letters = options->dead_letters;

    if (dead_letters &&
        !lbx__mailbox_of_producer(dead_letters)->keeps_envelopes)
        return lbx__options_fail(
            options, LBX_INVALID,
            "the mailbox for dead_letters must keep envelopes: create "
            "it with options.envelopes = true");
    if (*pressure == LBX_DEFAULT)
        *pressure = capacity == LBX_UNLIMITED ? 10000 : (capacity * 3 + 3) / 4;
    if (*pressure < 1)
        return lbx__options_fail(
            options, LBX_INVALID,
            "pressure_messages is %lld: it must be positive",
            (long long)*pressure);
    options->envelopes = options->envelopes || options->timestamps;
    return LBX_OK;
}

static lbx_status
options_check_callbacks(const lbx_mailbox_options *options)
{
    if (!lbx__allocator_usable(options->allocator))
        return lbx__options_fail(
            options, LBX_INVALID,
            "the allocator needs both allocate and release");
    if (options->clock && !options->clock->now_ns)
        return lbx__options_fail(options, LBX_INVALID,
                                 "the clock needs now_ns");
    return LBX_OK;
}

lbx_status
lbx__options_settle(const lbx__mailbox_kind *kind, lbx_mailbox_options *options)
{
    lbx_status status = options_check_callbacks(options);

    if (status == LBX_OK)
        status = options_settle_capacity(kind, options);
    if (status == LBX_OK)
        status = options_settle_lanes(options);
    if (status == LBX_OK)
        status = options_settle_policy(kind, options);
    if (status == LBX_OK)
        status = options_settle_rest(options);
    return status;
}

lbx_status
lbx_mailbox_options_read_production(lbx_mailbox_options *ret)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.capacity_messages = LBX_MAILBOX_DEFAULT_CAPACITY;
    return ret ? LBX__SIZED_WRITE(ret, &options, lbx_mailbox_options,
                                  pressure_messages)
               : LBX_INVALID;
}

int64_t
lbx_mailbox_options_limit(int64_t limit, int64_t if_default)
{
    if (limit == LBX_DEFAULT)
        limit = if_default;
    if (limit == LBX_LIMIT_DISABLED)
        return 0;
    return limit >= 1 && limit != LBX_UNLIMITED ? limit : -1;
}

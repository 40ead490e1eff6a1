/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of boxes: the presets, and the checks of names and options. BOX-1 and
 * BOX-2 are in box.h.
 */
#include "post/box.h"

#include "base/fault.h"
#include "base/sized.h"

#include <inttypes.h>
#include <string.h>

#define MINUTE (60 * LBX_SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

static const lbx_box_limits box_sqs_limits = {
    .max_lease_ns = 12 * HOUR,
    .max_wait_ns = 20 * LBX_SECOND,
    .max_delay_ns = 15 * MINUTE,
    .min_retention_ns = MINUTE,
    .max_retention_ns = 14 * DAY,
    .max_letter_bytes = 1 << 20,
    .max_batch_bytes = 1 << 20,
    .max_leased = 120000,
    .max_attributes = 10,
    .text_only = true,
};

enum {
    DELIVERIES_MOST = 1000,
    REDRIVE_BOXES_MOST = 10
};

lbx_status
lbx_box_options_read_preset(lbx_box_preset set, lbx_box_options *ret)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    switch (set) {
    case LBX_BOX_PRESET_SQS_FIFO:
    case LBX_BOX_PRESET_SQS:
        options.limits = box_sqs_limits;
        options.retention_ns = 4 * DAY;
        options.fifo = set == LBX_BOX_PRESET_SQS_FIFO;
        options.strict = options.fifo;
        break;
    case LBX_BOX_PRESET_DEFAULT:
        break;
    }
    return ret ? LBX__SIZED_WRITE(ret, &options, lbx_box_options,
                                  dead_letter_box_count)
               : LBX_INVALID;
}

bool
lbx__box_name_valid(const char *name)
{
    size_t size = 0;

    for (; name[size]; size++) {
        if (name[size] <= ' ' || name[size] > '~' || name[size] == '/' ||
            size == LBX_BOX_NAME_BYTES - 1)
            return false;
    }
    return size > 0;
}

lbx_status
lbx__box_name_check(const char *name, const char *what, lbx_fault *fault)
{
    const char *colon = what ? ": " : "";
    char shown[LBX__FAULT_QUOTED_BYTES];

    what = what ? what : "";
    if (!name)
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s%sthe name of a box is NULL", what, colon);
    if (strlen(name) >= LBX_BOX_NAME_BYTES)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "%s%sthe name of a box is too long: %zu characters, "
            "and at most %d are allowed: %s",
            what, colon, strlen(name), LBX_BOX_NAME_BYTES - 1,
            lbx__fault_quote(name, shown));
    if (!lbx__box_name_valid(name))
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s%s%s is no name of a box: allowed are 1 to %d "
                              "printable ASCII characters, no spaces, no '/'",
                              what, colon, lbx__fault_quote(name, shown),
                              LBX_BOX_NAME_BYTES - 1);
    return LBX_OK;
}

/* A field, and the values it may have. */
struct box_range {
    const char *name;
    int64_t value, least, most;
};

static lbx_status
box_check_ranges(const struct box_range *ranges, size_t count, lbx_fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        const struct box_range *range = &ranges[i];
        char value[LBX__FAULT_NUMBER_BYTES];

        if (range->value >= range->least && range->value <= range->most)
            continue;
        if (range->most == LBX_UNLIMITED)
            return lbx__fault_set(fault, LBX_INVALID,
                                  "%s is %" PRId64 "; allowed are %" PRId64
                                  " or more (LBX_UNLIMITED: no limit)",
                                  range->name, range->value, range->least);
        return lbx__fault_set(
            fault, LBX_INVALID, "%s is %s; allowed are %" PRId64 " to %" PRId64,
            range->name, lbx__fault_number(range->value, value), range->least,
            range->most);
    }
    return LBX_OK;
}

static lbx_status
box_check_numbers(const lbx_box_options *options, lbx_fault *fault)
{
    const lbx_box_limits *limits = &options->limits;
    const struct box_range ranges[] = {
        {"limits.max_lease_ns", limits->max_lease_ns, 0, LBX_UNLIMITED},
        {"limits.max_wait_ns", limits->max_wait_ns, 0, LBX_UNLIMITED},
        {"limits.max_delay_ns", limits->max_delay_ns, 0, LBX_UNLIMITED},
        {"limits.min_retention_ns", limits->min_retention_ns, 0,
         limits->max_retention_ns},
        {"limits.max_letter_bytes", limits->max_letter_bytes, 1, LBX_UNLIMITED},
        {"limits.max_batch_bytes", limits->max_batch_bytes, 1, LBX_UNLIMITED},
        {"limits.max_leased", limits->max_leased, 1, LBX_UNLIMITED},
        {"lease_ns", options->lease_ns, 0, limits->max_lease_ns},
        {"delay_ns", options->delay_ns, 0, limits->max_delay_ns},
        {"wait_ns", options->wait_ns, 0, limits->max_wait_ns},
        {"retention_ns", options->retention_ns, limits->min_retention_ns,
         limits->max_retention_ns},
        {"capacity_letters", options->capacity_letters, 1, LBX_UNLIMITED},
    };

    return box_check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), fault);
}

static lbx_status
box_check_dead_letters(const lbx_box_options *options, lbx_fault *fault)
{
    const uint32_t most = options->max_deliveries;

    if (!options->dead_letters && most > 0)
        return lbx__fault_set(fault, LBX_INVALID,
                              "max_deliveries is %" PRIu32
                              ", and dead_letters is missing: NULL",
                              most);
    if (!options->dead_letters)
        return LBX_OK;
    if (most < 1 || most > DELIVERIES_MOST)
        return lbx__fault_set(fault, LBX_INVALID,
                              "max_deliveries is %" PRIu32
                              "; with dead_letters, allowed are 1 to %d",
                              most, DELIVERIES_MOST);
    return lbx__box_name_check(options->dead_letters, "dead_letters", fault);
}

static lbx_status
box_check_redrive(const lbx_box_options *options, lbx_fault *fault)
{
    const bool by_box =
        options->dead_letter_allow == LBX_DEAD_LETTER_ALLOW_LISTED;

    if (options->dead_letter_allow < LBX_DEAD_LETTER_ALLOW_ALL ||
        options->dead_letter_allow > LBX_DEAD_LETTER_ALLOW_LISTED)
        return lbx__fault_set(fault, LBX_INVALID,
                              "dead_letter_allow is no lbx_dead_letter_allow");
    if (options->dead_letter_box_count > (by_box ? REDRIVE_BOXES_MOST : 0))
        return lbx__fault_set(fault, LBX_INVALID,
                              "dead_letter_boxes: at most 10, and only with "
                              "LBX_DEAD_LETTER_ALLOW_LISTED");
    if (options->dead_letter_box_count > 0 && !options->dead_letter_boxes)
        return lbx__fault_set(fault, LBX_INVALID, "dead_letter_boxes is NULL");
    for (size_t i = 0; i < options->dead_letter_box_count; i++) {
        const lbx_status status = lbx__box_name_check(
            options->dead_letter_boxes[i], "dead_letter_boxes", fault);

        if (status != LBX_OK)
            return status;
    }
    return LBX_OK;
}

LBX__SIZED(box_options_sized, lbx_box_options, dead_letter_box_count,
           LBX_BOX_OPTIONS_INIT);

const lbx_box_options *
lbx__box_view_options(const lbx_box_options *options, lbx_box_options *own,
                      lbx_fault *fault)
{
    return lbx__sized_view(options, own, &box_options_sized, fault);
}

lbx_status
lbx_box_options_check(const lbx_box_options *given, lbx_fault *fault)
{
    const lbx_box_options *options;
    lbx_box_options own;
    lbx_status status;

    if (!given)
        return lbx__fault_set(fault, LBX_INVALID, "the options are NULL");
    options = lbx__box_view_options(given, &own, fault);
    if (!options)
        return LBX_INVALID;
    status = box_check_numbers(options, fault);
    if (status != LBX_OK)
        return status;
    if (options->deduplication != LBX_DEDUPLICATION_BOX &&
        options->deduplication != LBX_DEDUPLICATION_GROUP)
        return lbx__fault_set(fault, LBX_INVALID,
                              "deduplication is no lbx_deduplication");
    if (!options->fifo && (options->deduplicate_by_content ||
                           options->deduplication != LBX_DEDUPLICATION_BOX))
        return lbx__fault_set(fault, LBX_INVALID, "deduplication needs fifo");
    if (options->fifo && !options->strict)
        return lbx__fault_set(fault, LBX_INVALID, "fifo needs strict");
    status = box_check_dead_letters(options, fault);
    return status == LBX_OK ? box_check_redrive(options, fault) : status;
}

lbx_status
lbx__box_check(const char *name, const lbx_box_options *options,
               lbx_fault *fault)
{
    char shown[LBX__FAULT_QUOTED_BYTES];
    lbx_status status = lbx__box_name_check(name, NULL, fault);

    if (status == LBX_OK)
        status = lbx_box_options_check(options, fault);
    if (status == LBX_OK && options->dead_letters &&
        strcmp(options->dead_letters, name) == 0)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "box %s: dead_letters is the box itself: its dead "
            "letters would come back for ever",
            lbx__fault_quote(name, shown));
    return status;
}

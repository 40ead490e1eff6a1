/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a courier: which are accepted, and why others are not.
 *
 * A courier is not created when it could not work: when its postbox only sends
 * or is closed, when a receive would be refused by the rules of the box, or
 * when dead letters would come back to the courier itself.
 */
#include "courier/courier_options.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"

enum {
    MAX_HANDLERS = 1024
};

#define MIN_LEASE_NS LBX_MS

static const char *
courier_options_policy_fault(const lbx_dead_letter_policy *policy)
{
    if (!policy->postbox)
        return NULL;
    if (policy->deliveries == 0)
        return "dead_letters.deliveries must be at least 1";
    if ((policy->include_count > 0 && !policy->include) ||
        (policy->exclude_count > 0 && !policy->exclude))
        return "dead_letters: a count of names without names";
    for (size_t i = 0; i < policy->include_count; i++)
        if (!policy->include[i])
            return "dead_letters.include: a name is NULL";
    for (size_t i = 0; i < policy->exclude_count; i++)
        if (!policy->exclude[i])
            return "dead_letters.exclude: a name is NULL";
    return NULL;
}

const char *
lbx__courier_options_fault(const lbx_courier_options *options)
{
    if (!lbx__allocator_usable(options->allocator))
        return "the allocator lacks a function";
    if (!options->postbox || !options->handle)
        return "a postbox and a handler are required";
    if (options->handlers < 1 || options->handlers > MAX_HANDLERS)
        return "handlers must be 1 to 1024";
    if (options->max_letters < 1 || options->max_letters > LBX_MAX_BATCH)
        return "max_letters must be 1 to 10";
    if (options->lease_ns < MIN_LEASE_NS && options->lease_ns != LBX_DEFAULT)
        return "lease_ns must be 1 ms at least, or letters are delivered again "
               "before they are handled";
    if (options->extend_every_ns < 0 || options->extend_to_ns < 0 ||
        options->retry_ns < 0 || options->max_retry_ns < 0)
        return "extend_every_ns, extend_to_ns, retry_ns and max_retry_ns must "
               "not be negative";
    if (options->extend_every_ns > 0 &&
        options->extend_to_ns <= options->extend_every_ns)
        return "extend_to_ns must be more than extend_every_ns, or the lease "
               "ends before it is extended again";
    if (options->stuck &&
        (options->watchdog_ns <= 0 || options->watchdog_ns <= options->wait_ns))
        return "watchdog_ns must be more than wait_ns, or idle handlers would "
               "be taken for stuck ones";
    if (options->stuck && options->wait_ns < 0 &&
        options->wait_ns != LBX_DEFAULT)
        return "a watchdog needs a wait_ns that ends";
    return courier_options_policy_fault(&options->dead_letters);
}

/* Checks the times of a receive against the rules of the box. */
static lbx_status
courier_options_check_receive(const lbx_courier_options *options,
                              lbx_fault *fault)
{
    const lbx_postbox *postbox = options->postbox;
    const lbx_box_options *box = lbx_postbox_box_options(postbox);
    const lbx_box_limits *limits = &box->limits;

    if (options->lease_ns == LBX_DEFAULT && box->lease_ns < MIN_LEASE_NS)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "lease_ns is LBX_DEFAULT, and that of box %s less "
            "than 1 ms: letters are delivered again before they "
            "are handled",
            lbx_postbox_name(postbox));
    if (options->lease_ns > limits->max_lease_ns)
        return lbx__fault_set(
            fault, LBX_INVALID,
            "lease_ns is more than limits.max_lease_ns of box "
            "%s",
            lbx_postbox_name(postbox));
    if (options->stuck && options->wait_ns == LBX_DEFAULT &&
        (box->wait_ns < 0 || options->watchdog_ns <= box->wait_ns))
        return lbx__fault_set(
            fault, LBX_INVALID,
            "wait_ns is LBX_DEFAULT, and watchdog_ns not more than the wait_ns "
            "of box %s: idle handlers would be taken for stuck ones",
            lbx_postbox_name(postbox));
    if (options->wait_ns > limits->max_wait_ns ||
        (options->wait_ns < 0 && options->wait_ns != LBX_DEFAULT &&
         limits->max_wait_ns != LBX_UNLIMITED))
        return lbx__fault_set(
            fault, LBX_INVALID,
            "wait_ns is more than limits.max_wait_ns of box %s",
            lbx_postbox_name(postbox));
    return LBX_OK;
}

lbx_status
lbx__courier_options_check_postbox(const lbx_courier_options *options,
                                   lbx_fault *fault)
{
    const lbx_postbox *postbox = options->postbox;
    const lbx_postbox *dead = options->dead_letters.postbox;

    if (lbx_postbox_is_send_only(postbox))
        return lbx__fault_set(fault, LBX_UNSUPPORTED,
                              "postbox %s was opened as send_only: a courier "
                              "receives",
                              lbx_postbox_name(postbox));
    if (lbx_postbox_is_closed(postbox))
        return lbx__fault_set(fault, LBX_CLOSED,
                              "postbox %s is closed, or its box was deleted",
                              lbx_postbox_name(postbox));
    if (dead && lbx_postbox_is_same_box(postbox, dead))
        return lbx__fault_set(
            fault, LBX_INVALID,
            "dead_letters.postbox is box %s itself: what is put "
            "aside would come back to the courier",
            lbx_postbox_name(postbox));
    if (dead && lbx_postbox_is_closed(dead))
        return lbx__fault_set(
            fault, LBX_CLOSED,
            "dead_letters.postbox %s is closed, or its box was "
            "deleted",
            lbx_postbox_name(dead));
    return courier_options_check_receive(options, fault);
}

lbx_status
lbx_courier_options_read_for_dead_letters(lbx_courier_options *ret)
{
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;

    options.retry_ns = 3600 * LBX_SECOND;
    options.max_retry_ns = 3600 * LBX_SECOND;
    return ret ? LBX__SIZED_WRITE(ret, &options, lbx_courier_options,
                                  watchdog_ns)
               : LBX_INVALID;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a box could not be made or changed. A store answers a status; what it means
 * follows from what was asked, and from the box as it is.
 */
#include "post/box_fault.h"

#include "base/fault.h"
#include "post/box.h"
#include "post/call.h"

#include <stddef.h>
#include <string.h>

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

/* ---- What differs ---- */

/* The numbers of a box, by the name of the field. */
static const struct number {
    const char *name;
    size_t offset;
} numbers[] = {
#define NUMBER(field)                                                          \
    {                                                                          \
#field, offsetof(lbx_box_options, field)                               \
    }
    NUMBER(limits.lease_most_ns),
    NUMBER(limits.wait_most_ns),
    NUMBER(limits.delay_most_ns),
    NUMBER(limits.retention_least_ns),
    NUMBER(limits.retention_most_ns),
    NUMBER(limits.letter_most_bytes),
    NUMBER(limits.batch_most_bytes),
    NUMBER(limits.leased_most),
    NUMBER(lease_ns),
    NUMBER(delay_ns),
    NUMBER(wait_ns),
    NUMBER(retention_ns),
    NUMBER(capacity_letters),
#undef NUMBER
};

static int64_t
number_of(const lbx_box_options *options, const struct number *number)
{
    int64_t value;

    memcpy(&value, (const char *)options + number->offset, sizeof(value));
    return value;
}

static bool
same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : !one && !other;
}

static bool
same_redrive(const lbx_box_options *one, const lbx_box_options *other)
{
    if (one->redrive_allow != other->redrive_allow ||
        one->redrive_box_count != other->redrive_box_count)
        return false;
    for (size_t i = 0; i < one->redrive_box_count; i++) {
        if (!same_text(one->redrive_boxes[i], other->redrive_boxes[i]))
            return false;
    }
    return true;
}

/* The first option that is not a number and is not the same; NULL. */
static const char *
find_other(const lbx_box_options *has, const lbx_box_options *asked)
{
    const struct {
        const char *name;
        bool same;
    } others[] = {
        {"fifo", has->fifo == asked->fifo},
        {"strict", has->strict == asked->strict},
        {"keep_place", has->keep_place == asked->keep_place},
        {"deduplicate_by_content",
         has->deduplicate_by_content == asked->deduplicate_by_content},
        {"deduplication", has->deduplication == asked->deduplication},
        {"dead_letters", same_text(has->dead_letters, asked->dead_letters)},
        {"deliveries_most", has->deliveries_most == asked->deliveries_most},
        {"redrive_allow or redrive_boxes", same_redrive(has, asked)},
        {"limits.attributes_most",
         has->limits.attributes_most == asked->limits.attributes_most},
        {"limits.text_only", has->limits.text_only == asked->limits.text_only},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (!others[i].same)
            return others[i].name;
    }
    return NULL;
}

static lbx_status
say_what_differs(const char *box, const lbx_box_options *has,
                 const lbx_box_options *asked, lbx_fault *fault)
{
    static const char hint[] = "; lbx_store_change_box() changes it";
    const char *name = find_other(has, asked);
    char theirs[LBX__FAULT_NUMBER_BYTES], ours[LBX__FAULT_NUMBER_BYTES];

    for (size_t i = 0; !name && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const int64_t one = number_of(has, &numbers[i]);
        const int64_t other = number_of(asked, &numbers[i]);

        if (one != other)
            return lbx__fault_set(
                fault, LBX_EXISTS,
                "box %s exists with other options: %s is %s, not "
                "%s%s",
                box, numbers[i].name, lbx__fault_number(one, theirs),
                lbx__fault_number(other, ours), hint);
    }
    return lbx__fault_set(
        fault, LBX_EXISTS, "box %s exists with other options: %s differs%s",
        box, name ? name : "something",
        has->fifo != asked->fifo ? ", which cannot be changed" : hint);
}

/* ---- Explaining ---- */

/* Of the box that should take the dead letters. */
static lbx_status
say_of_dead_letters(const char *box, const lbx_box_options *asked,
                    lbx_status status, lbx_fault *fault)
{
    char dead[LBX__FAULT_QUOTED_BYTES];

    lbx__fault_quote(asked->dead_letters, dead);
    switch (status) {
    case LBX_NOT_FOUND:
        return lbx__fault_set(
            fault, status,
            "box %s: its dead_letters box %s does not exist, and "
            "must be created first",
            box, dead);
    case LBX_DENIED:
        return lbx__fault_set(
            fault, status,
            "box %s: its dead_letters box %s does not allow it, "
            "by redrive_allow",
            box, dead);
    case LBX_INVALID:
        return lbx__fault_set(
            fault, status,
            "box %s: its dead_letters box %s must%s be fifo, as "
            "the box is%s",
            box, dead, asked->fifo ? "" : " not", asked->fifo ? "" : " not");
    default:
        return status;
    }
}

lbx_status
lbx__box_explain(lbx_store *store, lbx_verb verb,
                 const lbx_box_request *request, lbx_status status,
                 lbx_fault *fault)
{
    char texts[LBX_BOX_TEXT_BYTES], box[LBX__FAULT_QUOTED_BYTES];
    lbx_box_options has = LBX_BOX_OPTIONS_INIT;
    lbx_box_request look = {
        .space = request->space,
        .name = request->name,
        .buffer = texts,
        .ret_options = &has,
    };
    bool there;

    if (status == LBX_OK || !fault)
        return status;
    lbx__fault_clear(fault);
    lbx__fault_quote(request->name, box);
    there = lbx__call_now(store, LBX_VERB_DESCRIBE, &look) == LBX_OK;
    if (status == LBX_EXISTS && there)
        return say_what_differs(box, &has, request->options, fault);
    if (status == LBX_INVALID && verb == LBX_VERB_CONFIGURE && there &&
        has.fifo != request->options->fifo)
        return lbx__fault_set(
            fault, status, "box %s: fifo cannot be changed; create another box",
            box);
    if (request->options->dead_letters && (there || verb == LBX_VERB_CREATE))
        (void)say_of_dead_letters(box, request->options, status, fault);
    return lbx__fault_complete(fault, status, "box", request->name);
}

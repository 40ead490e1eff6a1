/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a box could not be created or changed.
 *
 * A store returns a status and no text. The reason is found by comparing the
 * request with the box as the store describes it.
 */
#include "post/box.h"

#include "base/fault.h"
#include "post/call.h"

#include <stddef.h>
#include <string.h>

/* ---- What differs ---- */

/* The options that are numbers, with the names of their fields. */
static const struct box_number {
    const char *name;
    size_t offset;
} box_numbers[] = {
#define NUMBER(field)                                                          \
    {                                                                          \
#field, offsetof(lbx_box_options, field)                               \
    }
    NUMBER(limits.max_lease_ns),
    NUMBER(limits.max_wait_ns),
    NUMBER(limits.max_delay_ns),
    NUMBER(limits.min_retention_ns),
    NUMBER(limits.max_retention_ns),
    NUMBER(limits.max_letter_bytes),
    NUMBER(limits.max_batch_bytes),
    NUMBER(limits.max_leased),
    NUMBER(lease_ns),
    NUMBER(delay_ns),
    NUMBER(wait_ns),
    NUMBER(retention_ns),
    NUMBER(capacity_letters),
#undef NUMBER
};

static int64_t
box_number_of(const lbx_box_options *options, const struct box_number *number)
{
    int64_t value;

    memcpy(&value, (const char *)options + number->offset, sizeof(value));
    return value;
}

static bool
box_same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : !one && !other;
}

static bool
box_same_redrive(const lbx_box_options *one, const lbx_box_options *other)
{
    if (one->dead_letter_allow != other->dead_letter_allow ||
        one->dead_letter_box_count != other->dead_letter_box_count)
        return false;
    for (size_t i = 0; i < one->dead_letter_box_count; i++) {
        if (!box_same_text(one->dead_letter_boxes[i],
                           other->dead_letter_boxes[i]))
            return false;
    }
    return true;
}

/* The name of the first option, other than numbers, that differs; NULL. */
static const char *
box_find_difference(const lbx_box_options *has, const lbx_box_options *asked)
{
    const struct {
        const char *name;
        bool same;
    } others[] = {
        {"fifo", has->fifo == asked->fifo},
        {"strict", has->strict == asked->strict},
        {"keep_position", has->keep_position == asked->keep_position},
        {"deduplicate_by_content",
         has->deduplicate_by_content == asked->deduplicate_by_content},
        {"deduplication", has->deduplication == asked->deduplication},
        {"dead_letters", box_same_text(has->dead_letters, asked->dead_letters)},
        {"max_deliveries", has->max_deliveries == asked->max_deliveries},
        {"dead_letter_allow or dead_letter_boxes",
         box_same_redrive(has, asked)},
        {"limits.max_attributes",
         has->limits.max_attributes == asked->limits.max_attributes},
        {"limits.text_only", has->limits.text_only == asked->limits.text_only},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (!others[i].same)
            return others[i].name;
    }
    return NULL;
}

static lbx_status
box_fault_differs(const char *box, const lbx_box_options *has,
                  const lbx_box_options *asked, lbx_fault *fault)
{
    static const char hint[] = "; lbx_store_configure_box() changes it";
    const char *name = box_find_difference(has, asked);
    char theirs[LBX__FAULT_NUMBER_BYTES], ours[LBX__FAULT_NUMBER_BYTES];

    for (size_t i = 0;
         !name && i < sizeof(box_numbers) / sizeof(box_numbers[0]); i++) {
        const int64_t one = box_number_of(has, &box_numbers[i]);
        const int64_t other = box_number_of(asked, &box_numbers[i]);

        if (one != other)
            return lbx__fault_set(
                fault, LBX_EXISTS,
                "box %s exists with other options: %s is %s, not "
                "%s%s",
                box, box_numbers[i].name, lbx__fault_number(one, theirs),
                lbx__fault_number(other, ours), hint);
    }
    return lbx__fault_set(
        fault, LBX_EXISTS, "box %s exists with other options: %s differs%s",
        box, name ? name : "something",
        has->fifo != asked->fifo ? ", which cannot be changed" : hint);
}

/* ---- Explaining ---- */

/* Failures that concern the dead-letter box. */
static lbx_status
box_fault_dead_letters(const char *box, const lbx_box_options *asked,
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
            "by dead_letter_allow",
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
lbx__box_fault_explain(lbx_store *store, lbx_call_kind verb,
                       const lbx_box_request *request, lbx_status status,
                       lbx_fault *fault)
{
    char texts[LBX_BOX_OPTIONS_BUFFER_BYTES], box[LBX__FAULT_QUOTED_BYTES];
    lbx_box_options has = LBX_BOX_OPTIONS_INIT;
    lbx_box_request described = {
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
    there = lbx__call_run(store, LBX_CALL_DESCRIBE, &described) == LBX_OK;
    if (status == LBX_EXISTS && there)
        return box_fault_differs(box, &has, request->options, fault);
    if (status == LBX_INVALID && verb == LBX_CALL_CONFIGURE && there &&
        has.fifo != request->options->fifo)
        return lbx__fault_set(
            fault, status, "box %s: fifo cannot be changed; create another box",
            box);
    if (request->options->dead_letters && (there || verb == LBX_CALL_CREATE))
        (void)box_fault_dead_letters(box, request->options, status, fault);
    return lbx__fault_complete(fault, status, "box", request->name);
}

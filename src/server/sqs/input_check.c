/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the names in an input; see input_table.h. */
#include "server/sqs/input_table.h"

#include "server/sqs/fault_text.h"

static bool
check_fail_missing(lbx__sqs_fault *fault, const char *what, const char *part)
{
    return lbx__fault_text_set(
        fault, LBX__SQS_MissingRequiredParameterException,
        "The request must contain the parameter %s.%s.", what, part);
}

static bool
check_fail_twice(lbx__sqs_fault *fault, const char *what, lbx__slice name)
{
    return lbx__fault_text_set(
        fault, LBX__SQS_InvalidParameterValueException,
        "Value %.200s for parameter %s is invalid. Reason: "
        "It is given twice.",
        name.bytes, what);
}

static bool
check_pairs(const lbx__sqs_pairs *pairs, const char *what, const char *key,
            lbx__sqs_fault *fault)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const lbx__sqs_pair *pair = &pairs->items[i];

        if (!pair->name.bytes)
            return check_fail_missing(fault, what, key);
        if (!pair->value.bytes)
            return check_fail_missing(fault, what, "Value");
        for (size_t k = 0; k < i; k++) {
            if (lbx__slice_equal(pairs->items[k].name, pair->name))
                return check_fail_twice(fault, what, pair->name);
        }
    }
    return true;
}

static bool
check_attributes(const lbx__sqs_attributes *attributes, const char *what,
                 lbx__sqs_fault *fault)
{
    for (size_t i = 0; i < attributes->count; i++) {
        const lbx__slice name = attributes->items[i].name;

        if (!name.bytes)
            return check_fail_missing(fault, what, "Name");
        for (size_t k = 0; k < i; k++) {
            if (lbx__slice_equal(attributes->items[k].name, name))
                return check_fail_twice(fault, what, name);
        }
    }
    return true;
}

static bool
check_entry(const lbx__sqs_entry *entry, lbx__sqs_fault *fault)
{
    return check_attributes(&entry->attributes, "MessageAttribute", fault) &&
           check_attributes(&entry->system_attributes, "MessageSystemAttribute",
                            fault);
}

bool
lbx__input_check(const lbx__sqs_input *input, lbx__sqs_fault *fault)
{
    if (!check_pairs(&input->attributes, "Attribute", "Name", fault) ||
        !check_pairs(&input->tags, "Tag", "Key", fault) ||
        !check_entry(&input->entry, fault))
        return false;
    for (size_t i = 0; i < input->entry_count; i++) {
        if (!check_entry(&input->entries[i], fault))
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of attributes, in the words of AWS; see attribute_check.h. */
#include "server/sqs/attribute_check.h"

#include "base/utf8.h"
#include "codec/xml.h"
#include "server/sqs/fault_text.h"
#include "server/sqs/message_check.h"
#include "server/sqs/message_md5.h"

#include <strings.h>

enum {
    MAX_NAME_BYTES = 256,
    MAX_TYPE_BYTES = 256,
    MAX_TRACE_BYTES = 4096, /* as letters of programs */
    MAX_DIGITS = 38,        /* of a number */
    MAX_EXPONENT = 126,
    MIN_EXPONENT = -128
};

#define ATTRIBUTE_INVALID LBX__SQS_InvalidParameterValueException

/* ---- Names ---- */

static bool
attribute_begins(lbx__slice name, const char *with)
{
    return name.size >= strlen(with) &&
           strncasecmp(name.bytes, with, strlen(with)) == 0;
}

/* Letters, digits, _ - and dots; AWS lets letters of Latin-1 and of Latin
 * Extended-A pass. */
static bool
attribute_name_is_legal(lbx__slice name)
{
    uint32_t code;

    for (size_t at = 0; at < name.size;) {
        const size_t length =
            lbx__utf8_decode(name.bytes + at, name.size - at, &code);

        if (length == 0 ||
            !((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
              (code >= '0' && code <= '9') || code == '_' || code == '-' ||
              code == '.' || (code >= 0xc0 && code <= 0x17f)))
            return false;
        at += length;
    }
    return true;
}

static bool
attribute_check_dots(lbx__slice name, lbx__sqs_fault *fault)
{
    if (name.bytes[0] == '.')
        return lbx__fault_text_set(fault, ATTRIBUTE_INVALID,
                                   "Message (user) attribute name must not "
                                   "begin with character '.'.");
    if (name.bytes[name.size - 1] == '.')
        return lbx__fault_text_set(fault, ATTRIBUTE_INVALID,
                                   "Message (user) attribute name must not "
                                   "end with character '.'.");
    for (size_t i = 1; i < name.size; i++) {
        if (name.bytes[i] == '.' && name.bytes[i - 1] == '.')
            return lbx__fault_text_set(
                fault, ATTRIBUTE_INVALID,
                "Message (user) attribute name must not have successive '.' "
                "characters.");
    }
    return true;
}

static bool
attribute_check_name(lbx__slice name, lbx__sqs_fault *fault)
{
    if (name.size == 0)
        return lbx__fault_text_set(fault, ATTRIBUTE_INVALID,
                                   "The request must contain non-empty "
                                   "message (user) attribute names.");
    if (name.size > MAX_NAME_BYTES)
        return lbx__fault_text_set(fault, ATTRIBUTE_INVALID,
                                   "Message (user) attribute name must be "
                                   "shorter than 256 bytes.");
    if (!attribute_name_is_legal(name))
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "Message (user) attribute name can only contain upper and lower "
            "case letters, digits, periods, hyphens and underscores.");
    if (attribute_begins(name, "AWS.") || attribute_begins(name, "Amazon."))
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "You can't use message attribute names beginning with 'AWS.' or "
            "'Amazon'. These strings are reserved for internal use.");
    return attribute_check_dots(name, fault);
}

/* ---- Types ---- */

bool
lbx__attribute_check_type(lbx__slice data_type, lbx_attribute_kind *kind,
                          lbx__slice *label)
{
    static const char *const names[] = {
        [LBX_ATTRIBUTE_STRING] = "String",
        [LBX_ATTRIBUTE_NUMBER] = "Number",
        [LBX_ATTRIBUTE_BINARY] = "Binary",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t size = strlen(names[i]);

        if (data_type.size < size ||
            memcmp(data_type.bytes, names[i], size) != 0)
            continue;
        *kind = (lbx_attribute_kind)i;
        *label = (lbx__slice){NULL, 0};
        if (data_type.size == size)
            return true;
        *label =
            (lbx__slice){data_type.bytes + size + 1, data_type.size - size - 1};
        return data_type.bytes[size] == '.' && label->size > 0;
    }
    return false;
}

static bool
attribute_check_data_type(const lbx__sqs_attribute *attribute,
                          const char *whose, lbx_attribute_kind *kind,
                          lbx__sqs_fault *fault)
{
    const bool has_value =
        attribute->string_value.bytes || attribute->binary_value.bytes;
    lbx__slice label;

    if (attribute->has_list_values)
        return lbx__fault_text_set(
            fault, LBX__SQS_UnsupportedOperation,
            "Message attribute list values in SendMessage operation are not "
            "supported.");
    if (attribute->data_type.size == 0)
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "The message %s attribute '%.*s' must contain a non-empty message "
            "attribute %s.",
            whose, LBX__QUOTED(attribute->name), has_value ? "type" : "value");
    if (attribute->data_type.size > MAX_TYPE_BYTES)
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "Message %s attribute type must be shorter than 256 bytes.", whose);
    if (!lbx__attribute_check_type(attribute->data_type, kind, &label) ||
        !lbx__xml_is_text(label))
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "The type of message %s attribute '%.*s' is invalid. You must use "
            "only the following supported type prefixes: Binary, Number, "
            "String.",
            whose, LBX__QUOTED(attribute->name));
    return true;
}

/* ---- Numbers ---- */

struct decimal {
    int64_t digits;   /* from the first that is not 0 to the last */
    int64_t exponent; /* of the first digit that is not 0 */
    bool is_zero;
};

/* Digits, with a point somewhere; how many characters that took, 0: there is
 * no digit. Zeros at the end count as digits only if others follow. */
static size_t
attribute_read_digits(lbx__slice text, struct decimal *ret)
{
    int64_t integers = 0, zeros = 0, first = 0, all = 0;
    bool has_point = false;
    size_t at = 0;

    *ret = (struct decimal){.is_zero = true};
    for (; at < text.size; at++) {
        const char digit = text.bytes[at];

        if (digit == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (digit < '0' || digit > '9')
            break;
        integers += !has_point;
        all++;
        if (digit == '0') {
            zeros += !ret->is_zero;
            continue;
        }
        if (ret->is_zero)
            first = all;
        ret->is_zero = false;
        ret->digits += zeros + 1;
        zeros = 0;
    }
    ret->exponent = integers - first;
    return all > 0 ? at : 0;
}

/* An exponent as "e-7"; false: there is something else. */
static bool
attribute_read_exponent(lbx__slice text, int64_t *ret)
{
    bool is_negative = false;
    size_t at = 1;

    *ret = 0;
    if (text.size == 0)
        return true;
    if (text.bytes[0] != 'e' && text.bytes[0] != 'E')
        return false;
    if (at < text.size && (text.bytes[at] == '-' || text.bytes[at] == '+'))
        is_negative = text.bytes[at++] == '-';
    if (at == text.size || text.size - at > 6)
        return false;
    for (; at < text.size; at++) {
        if (text.bytes[at] < '0' || text.bytes[at] > '9')
            return false;
        *ret = *ret * 10 + (text.bytes[at] - '0');
    }
    if (is_negative)
        *ret = -*ret;
    return true;
}

static bool
attribute_is_number(lbx__slice text)
{
    struct decimal decimal;
    int64_t exponent;
    size_t size;

    if (text.size > 0 && (text.bytes[0] == '-' || text.bytes[0] == '+'))
        text = (lbx__slice){text.bytes + 1, text.size - 1};
    size = attribute_read_digits(text, &decimal);
    if (size == 0 ||
        !attribute_read_exponent(
            (lbx__slice){text.bytes + size, text.size - size}, &exponent))
        return false;
    exponent += decimal.exponent;
    return decimal.is_zero ||
           (decimal.digits <= MAX_DIGITS && exponent >= MIN_EXPONENT &&
            exponent <= MAX_EXPONENT);
}

/* ---- Values ---- */

static bool
attribute_check_string(const lbx__sqs_attribute *attribute,
                       lbx_attribute_kind kind, lbx__sqs_fault *fault)
{
    if (!lbx__xml_is_text(attribute->string_value))
        return lbx__fault_text_set(fault, ATTRIBUTE_INVALID,
                                   LBX__INVALID_CHARACTERS);
    if (kind == LBX_ATTRIBUTE_NUMBER &&
        !attribute_is_number(attribute->string_value))
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "Can't cast the value of message (user) attribute '%.*s' to a "
            "number.",
            LBX__QUOTED(attribute->name));
    return true;
}

/* One value, not empty, in the field that its type wants. */
static bool
attribute_check_value(const lbx__sqs_attribute *attribute, const char *whose,
                      lbx_attribute_kind kind, lbx__sqs_fault *fault)
{
    const bool is_binary = kind == LBX_ATTRIBUTE_BINARY;
    const lbx__slice value =
        is_binary ? attribute->binary_value : attribute->string_value;
    const lbx__slice other =
        is_binary ? attribute->string_value : attribute->binary_value;

    if (value.size > 0 && other.size > 0)
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "Message %s attribute '%.*s' must have a single value.", whose,
            LBX__QUOTED(attribute->name));
    if (value.size == 0 && other.size > 0)
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "Message %s attribute '%.*s' with type '%.*s' must use field "
            "'%s'.",
            whose, LBX__QUOTED(attribute->name),
            LBX__QUOTED(attribute->data_type), is_binary ? "Binary" : "String");
    if (value.size == 0)
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "Message %s attribute '%.*s' must contain a non-empty value of "
            "type '%.*s'.",
            whose, LBX__QUOTED(attribute->name),
            LBX__QUOTED(attribute->data_type));
    return is_binary || attribute_check_string(attribute, kind, fault);
}

/* ---- All of them ---- */

bool
lbx__attribute_check_message(lbx__sqs_attributes *attributes, size_t max,
                             lbx__sqs_fault *fault)
{
    if (attributes->count > max)
        return lbx__fault_text_set(
            fault, ATTRIBUTE_INVALID,
            "Number of message attributes [%zu] exceeds the allowed maximum "
            "[%zu].",
            attributes->count, max);
    lbx__message_md5_sort(attributes->items, attributes->count);
    for (size_t i = 0; i < attributes->count; i++) {
        lbx__sqs_attribute *attribute = &attributes->items[i];
        lbx_attribute_kind kind = LBX_ATTRIBUTE_STRING;

        if (!attribute_check_name(attribute->name, fault) ||
            !attribute_check_data_type(attribute, "(user)", &kind, fault) ||
            !attribute_check_value(attribute, "(user)", kind, fault))
            return false;
        // Empty and not sent are the same from here on: the MD5 looks at
        // which of the two there is.
        if (kind != LBX_ATTRIBUTE_BINARY)
            attribute->binary_value = (lbx__slice){NULL, 0};
    }
    return true;
}

bool
lbx__attribute_check_system(const lbx__sqs_attributes *attributes,
                            lbx__sqs_fault *fault)
{
    for (size_t i = 0; i < attributes->count; i++) {
        const lbx__sqs_attribute *attribute = &attributes->items[i];
        lbx_attribute_kind kind = LBX_ATTRIBUTE_STRING;

        if (i > 0 || !lbx__slice_is(attribute->name, "AWSTraceHeader"))
            return lbx__fault_text_set(
                fault, ATTRIBUTE_INVALID,
                "Message system attribute name '%.*s' is invalid.",
                LBX__QUOTED(attribute->name));
        if (!attribute_check_data_type(attribute, "system", &kind, fault) ||
            !attribute_check_value(attribute, "system", kind, fault))
            return false;
        if (kind != LBX_ATTRIBUTE_STRING ||
            attribute->string_value.size > MAX_TRACE_BYTES)
            return lbx__fault_text_set(
                fault, ATTRIBUTE_INVALID,
                "Message system attribute 'AWSTraceHeader' must be a String of "
                "at most 4096 bytes.");
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* RedrivePolicy and RedriveAllowPolicy; see redrive.h. */
#include "server/sqs/redrive.h"

#include "base/buffer.h"
#include "codec/json_writer.h"
#include "server/sqs/fault_text.h"

#include <stdio.h>

enum {
    COUNT_MAX = 1000,
    SOURCES_MAX = 10,
    VALUE_MAX = 4096 /* of a member of a policy */
};

#define POLICY_FAULT "Value %.*s for parameter %s is invalid. Reason: %s"

static bool
redrive_refuse(const lbx__redrive_reader *reader, const char *parameter,
               lbx__slice text, const char *reason)
{
    return lbx__fault_text_set(
        reader->fault, LBX__SQS_InvalidParameterValueException, POLICY_FAULT,
        LBX__QUOTED(text), parameter, reason);
}

/* The token, a string or a number, as text in the arena; NULL: it is neither,
 * too long, or there is no memory. */
static const char *
redrive_keep_token(const lbx__redrive_reader *reader, const lbx__json *json)
{
    lbx_buffer buffer;
    char *copy = NULL;

    if (json->kind == LBX__JSON_NUMBER)
        return lbx__arena_copy(reader->arena, json->token, json->size);
    if (json->kind != LBX__JSON_STRING)
        return NULL;
    lbx__buffer_init(&buffer, reader->allocator, VALUE_MAX);
    lbx__json_text(json, &buffer);
    if (buffer.status == LBX_OK)
        copy = lbx__arena_copy(reader->arena, lbx__buffer_text(&buffer),
                               buffer.size);
    lbx__buffer_fini(&buffer);
    return copy;
}

/* Digits only, without a sign; 0: not 1 to COUNT_MAX. */
static uint32_t
redrive_count(const char *text)
{
    uint32_t count = 0;

    for (; *text; text++) {
        if (*text < '0' || *text > '9' || count > COUNT_MAX)
            return 0;
        count = count * 10 + (uint32_t)(*text - '0');
    }
    return count <= COUNT_MAX ? count : 0;
}

/* ---- RedrivePolicy ---- */

struct redrive_policy {
    const char *target;
    const char *count;
    bool count_is_string;
};

/* False: not a JSON object, or one with values of other kinds. */
static bool
redrive_parse(const lbx__redrive_reader *reader, lbx__slice text,
              struct redrive_policy *ret)
{
    lbx__json json;
    bool good;

    lbx__json_init(&json, text.bytes, text.size, reader->allocator);
    good = lbx__json_next(&json) == LBX__JSON_OBJECT;
    while (good && lbx__json_next(&json) == LBX__JSON_NAME) {
        const char **member = NULL;

        if (lbx__json_is(&json, "deadLetterTargetArn"))
            member = &ret->target;
        else if (lbx__json_is(&json, "maxReceiveCount"))
            member = &ret->count;
        if (member) {
            (void)lbx__json_next(&json);
            *member = redrive_keep_token(reader, &json);
            good = *member != NULL;
            if (member == &ret->count)
                ret->count_is_string = json.kind == LBX__JSON_STRING;
        } else
            good = lbx__json_skip(&json);
    }
    good = good && json.kind == LBX__JSON_OBJECT_END &&
           lbx__json_next(&json) == LBX__JSON_END;
    lbx__json_fini(&json);
    return good;
}

/* Why there can be no queue with this ARN in the world; NULL: there can. */
static const char *
redrive_refuse_target(const lbx__world *world, const char *arn)
{
    const char *service = NULL;

    if (strncmp(arn, "arn:", 4) != 0)
        return "Invalid value for deadLetterTargetArn.";
    service = strchr(arn + 4, ':'); // after the partition
    if (!service || strncmp(service, ":sqs:", 5) != 0)
        return "Only SQS queues are valid resources for deadLetterTargetArn.";
    if (!lbx__queue_name_of_arn(world, lbx__slice_of(arn)).bytes)
        return "Dead letter target does not exist.";
    return NULL;
}

static bool
redrive_set(const lbx__redrive_reader *reader, lbx__slice text,
            const struct redrive_policy *policy, lbx_box_options *options)
{
    static const char parameter[] = "RedrivePolicy";
    const lbx__slice name =
        lbx__queue_name_of_arn(reader->world, lbx__slice_of(policy->target));
    const uint32_t count = redrive_count(policy->count);
    const char *why = redrive_refuse_target(reader->world, policy->target);
    char reason[256];

    if (count == 0) {
        (void)snprintf(reason, sizeof(reason),
                       "Invalid value for maxReceiveCount: %.*s, valid values "
                       "are from 1 to 1000 both inclusive.",
                       64, policy->count);
        return redrive_refuse(reader, parameter, text, reason);
    }
    if (why)
        return redrive_refuse(reader, parameter, text, why);
    options->dead_letters =
        lbx__arena_copy(reader->arena, name.bytes, name.size);
    options->max_deliveries = count;
    if (!options->dead_letters)
        return redrive_refuse(reader, parameter, text, "Out of memory.");
    return true;
}

bool
lbx__redrive_read(const lbx__redrive_reader *reader, lbx__slice text,
                  lbx_box_options *options, bool *as_given)
{
    static const char parameter[] = "RedrivePolicy";
    struct redrive_policy policy = {NULL, NULL, false};

    *as_given = true;
    if (text.size == 0) {
        options->dead_letters = NULL;
        options->max_deliveries = 0;
        return true;
    }
    if (!redrive_parse(reader, text, &policy))
        return redrive_refuse(reader, parameter, text,
                              "Redrive policy is not a valid JSON map.");
    if (!policy.count)
        return redrive_refuse(reader, parameter, text,
                              "Redrive policy does not contain mandatory "
                              "attribute: maxReceiveCount.");
    if (!policy.target)
        return redrive_refuse(reader, parameter, text,
                              "Redrive policy does not contain mandatory "
                              "attribute: deadLetterTargetArn.");
    *as_given = !policy.count_is_string;
    return redrive_set(reader, text, &policy, options);
}

void
lbx__redrive_write(const lbx__world *world, const lbx_box_options *options,
                   char buffer[LBX__REDRIVE_BYTES])
{
    char arn[LBX__ARN_BYTES];

    buffer[0] = '\0';
    if (!options->dead_letters)
        return;
    // Names of boxes made by programs may have a quote or a backslash; those
    // are not escaped here, as no ARN of SQS has them.
    (void)snprintf(buffer, LBX__REDRIVE_BYTES,
                   "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":%u}",
                   lbx__queue_arn(world, options->dead_letters, arn),
                   (unsigned)options->max_deliveries);
}

bool
lbx__redrive_equal(const lbx_box_options *a, const lbx_box_options *b)
{
    if (!a->dead_letters || !b->dead_letters)
        return a->dead_letters == b->dead_letters;
    return a->max_deliveries == b->max_deliveries &&
           strcmp(a->dead_letters, b->dead_letters) == 0;
}

/* ---- RedriveAllowPolicy ---- */

struct allow_policy {
    const char *permission;
    const char *sources[SOURCES_MAX];
    size_t count;
    bool has_sources;
};

/* Reads the array of sources, whose name was read. */
static bool
redrive_parse_sources(const lbx__redrive_reader *reader, lbx__json *json,
                      struct allow_policy *ret)
{
    ret->has_sources = true;
    if (lbx__json_next(json) != LBX__JSON_ARRAY)
        return false;
    while (lbx__json_next(json) == LBX__JSON_STRING) {
        const char *arn = redrive_keep_token(reader, json);

        if (!arn || ret->count == SOURCES_MAX)
            return false;
        ret->sources[ret->count++] = arn;
    }
    return json->kind == LBX__JSON_ARRAY_END;
}

static bool
redrive_parse_allow(const lbx__redrive_reader *reader, lbx__slice text,
                    struct allow_policy *ret)
{
    lbx__json json;
    bool good;

    lbx__json_init(&json, text.bytes, text.size, reader->allocator);
    good = lbx__json_next(&json) == LBX__JSON_OBJECT;
    while (good && lbx__json_next(&json) == LBX__JSON_NAME) {
        if (lbx__json_is(&json, "redrivePermission")) {
            (void)lbx__json_next(&json);
            ret->permission = redrive_keep_token(reader, &json);
            good = ret->permission != NULL;
        } else if (lbx__json_is(&json, "sourceQueueArns"))
            good = redrive_parse_sources(reader, &json, ret);
        else
            good = lbx__json_skip(&json);
    }
    good = good && json.kind == LBX__JSON_OBJECT_END &&
           lbx__json_next(&json) == LBX__JSON_END;
    lbx__json_fini(&json);
    return good;
}

/* The names of the sources that are in this account and region; others cannot
 * use the queue anyway. False: no memory, or a text that is no ARN. */
static bool
redrive_keep_sources(const lbx__redrive_reader *reader,
                     const struct allow_policy *policy,
                     lbx_box_options *options)
{
    const char **names =
        lbx__arena_take(reader->arena, SOURCES_MAX * sizeof(*names));
    size_t count = 0;

    if (!names)
        return false;
    for (size_t i = 0; i < policy->count; i++) {
        const lbx__slice name = lbx__queue_name_of_arn(
            reader->world, lbx__slice_of(policy->sources[i]));

        if (strncmp(policy->sources[i], "arn:", 4) != 0)
            return false;
        if (!name.bytes)
            continue;
        names[count] = lbx__arena_copy(reader->arena, name.bytes, name.size);
        if (!names[count])
            return false;
        count++;
    }
    options->dead_letter_boxes = count > 0 ? names : NULL;
    options->dead_letter_box_count = count;
    return true;
}

/* NULL, or what is wrong with the policy. */
static const char *
redrive_set_allow(const lbx__redrive_reader *reader,
                  const struct allow_policy *policy, lbx_box_options *options)
{
    const lbx__slice permission = lbx__slice_of(policy->permission);

    options->dead_letter_boxes = NULL;
    options->dead_letter_box_count = 0;
    if (!permission.bytes)
        return "Redrive allow policy does not contain mandatory attribute: "
               "redrivePermission.";
    if (lbx__slice_is(permission, "byQueue")) {
        options->dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED;
        if (policy->count == 0)
            return "sourceQueueArns is mandatory when redrivePermission is "
                   "byQueue.";
        return redrive_keep_sources(reader, policy, options)
                   ? NULL
                   : "sourceQueueArns has an ARN that is not valid.";
    }
    if (policy->has_sources)
        return "sourceQueueArns is allowed only when redrivePermission is "
               "byQueue.";
    if (lbx__slice_is(permission, "denyAll"))
        options->dead_letter_allow = LBX_DEAD_LETTER_ALLOW_NONE;
    else if (lbx__slice_is(permission, "allowAll"))
        options->dead_letter_allow = LBX_DEAD_LETTER_ALLOW_ALL;
    else
        return "redrivePermission must be allowAll, denyAll or byQueue.";
    return NULL;
}

bool
lbx__redrive_read_allow(const lbx__redrive_reader *reader, lbx__slice text,
                        lbx_box_options *options)
{
    static const char parameter[] = "RedriveAllowPolicy";
    struct allow_policy policy = {.count = 0};
    const char *why;

    if (text.size == 0) {
        options->dead_letter_allow = LBX_DEAD_LETTER_ALLOW_ALL;
        options->dead_letter_boxes = NULL;
        options->dead_letter_box_count = 0;
        return true;
    }
    if (!redrive_parse_allow(reader, text, &policy))
        return redrive_refuse(reader, parameter, text,
                              "Redrive allow policy is not a valid JSON map, "
                              "or has more than 10 sourceQueueArns.");
    why = redrive_set_allow(reader, &policy, options);
    return why ? redrive_refuse(reader, parameter, text, why) : true;
}

void
lbx__redrive_write_allow(const lbx__world *world,
                         const lbx_box_options *options,
                         char buffer[LBX__REDRIVE_BYTES])
{
    static const char *const words[] = {"allowAll", "denyAll", "byQueue"};
    const bool listed =
        options->dead_letter_allow == LBX_DEAD_LETTER_ALLOW_LISTED;
    char arn[LBX__ARN_BYTES];
    int size;

    buffer[0] = '\0';
    if (options->dead_letter_allow == LBX_DEAD_LETTER_ALLOW_ALL)
        return;
    size = snprintf(buffer, LBX__REDRIVE_BYTES, "{\"redrivePermission\":\"%s\"",
                    words[options->dead_letter_allow]);
    for (size_t i = 0; listed && i < options->dead_letter_box_count; i++)
        size +=
            snprintf(buffer + size, LBX__REDRIVE_BYTES - (size_t)size,
                     "%s\"%s\"", i == 0 ? ",\"sourceQueueArns\":[" : ",",
                     lbx__queue_arn(world, options->dead_letter_boxes[i], arn));
    (void)snprintf(buffer + size, LBX__REDRIVE_BYTES - (size_t)size, "%s}",
                   listed && options->dead_letter_box_count > 0 ? "]" : "");
}

bool
lbx__redrive_equal_allow(const lbx_box_options *a, const lbx_box_options *b)
{
    if (a->dead_letter_allow != b->dead_letter_allow ||
        a->dead_letter_box_count != b->dead_letter_box_count)
        return false;
    for (size_t i = 0; i < a->dead_letter_box_count; i++) {
        if (strcmp(a->dead_letter_boxes[i], b->dead_letter_boxes[i]) != 0)
            return false;
    }
    return true;
}

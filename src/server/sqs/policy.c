/* SPDX-License-Identifier: Apache-2.0 */
/* The Policy of a queue; see policy.h. */
#include "server/sqs/policy.h"

#include "base/buffer.h"
#include "codec/json_writer.h"

enum {
    MEMBER_NAME_MAX = 256
};

/* A read under way. */
struct policy_reader {
    lbx__policy *policy;
    lbx__arena *arena;
    const lbx_allocator *allocator;
    const char *label;
    lbx__json json;
    lbx__policy_part **last_member, **last_statement;
};

/* Reads an object that was opened; NULL: a fault, or no memory. */
static lbx__policy_part *
policy_read_statement(struct policy_reader *reader)
{
    lbx__json *json = &reader->json;
    lbx__policy_part *part = lbx__arena_take(reader->arena, sizeof(*part));
    const char *start = json->token;

    if (!part || json->kind != LBX__JSON_OBJECT)
        return NULL;
    while (lbx__json_next(json) == LBX__JSON_NAME) {
        const bool is_id = lbx__json_is(json, "Sid");

        (void)lbx__json_next(json);
        if (is_id && json->kind == LBX__JSON_STRING)
            part->has_label = lbx__json_is(json, reader->label);
        if (!lbx__json_skip(json))
            return NULL;
    }
    if (json->kind != LBX__JSON_OBJECT_END)
        return NULL;
    part->json = (lbx__slice){start, (size_t)(json->at - start)};
    return part;
}

static bool
policy_add_statement(struct policy_reader *reader)
{
    lbx__policy *policy = reader->policy;
    lbx__policy_part *part = policy_read_statement(reader);

    if (!part)
        return false;
    *reader->last_statement = part;
    reader->last_statement = &part->next;
    policy->count++;
    policy->has_label = policy->has_label || part->has_label;
    return true;
}

/* One statement, or an array of them; the name was read. */
static bool
policy_read_statements(struct policy_reader *reader)
{
    lbx__json *json = &reader->json;

    if (lbx__json_next(json) != LBX__JSON_ARRAY)
        return policy_add_statement(reader);
    while (lbx__json_next(json) == LBX__JSON_OBJECT) {
        if (!policy_add_statement(reader))
            return false;
    }
    return json->kind == LBX__JSON_ARRAY_END;
}

/* Any other member, whose name was read. */
static bool
policy_read_member(struct policy_reader *reader)
{
    lbx__json *json = &reader->json;
    lbx__policy_part *part = lbx__arena_take(reader->arena, sizeof(*part));
    const char *start;
    lbx_buffer name;

    if (!part)
        return false;
    lbx__buffer_init(&name, reader->allocator, MEMBER_NAME_MAX);
    lbx__json_text(json, &name);
    part->name =
        name.status == LBX_OK
            ? lbx__arena_copy(reader->arena, lbx__buffer_text(&name), name.size)
            : NULL;
    lbx__buffer_fini(&name);
    start = json->at; // behind the colon: white space is kept
    if (!part->name || !lbx__json_skip(json))
        return false;
    part->json = (lbx__slice){start, (size_t)(json->at - start)};
    *reader->last_member = part;
    reader->last_member = &part->next;
    return true;
}

bool
lbx__policy_read(lbx__policy *policy, lbx__arena *arena,
                 const lbx_allocator *allocator, lbx__slice text,
                 const char *label)
{
    struct policy_reader reader = {
        .policy = policy,
        .arena = arena,
        .allocator = allocator,
        .label = label,
        .last_member = &policy->members,
        .last_statement = &policy->statements,
    };
    bool good;

    *policy = (lbx__policy){.members = NULL};
    lbx__json_init(&reader.json, text.bytes, text.size, allocator);
    good = lbx__json_next(&reader.json) == LBX__JSON_OBJECT;
    while (good && lbx__json_next(&reader.json) == LBX__JSON_NAME)
        good = lbx__json_is(&reader.json, "Statement")
                   ? policy_read_statements(&reader)
                   : policy_read_member(&reader);
    good = good && reader.json.kind == LBX__JSON_OBJECT_END &&
           lbx__json_next(&reader.json) == LBX__JSON_END;
    lbx__json_fini(&reader.json);
    return good;
}

void
lbx__policy_write(const lbx__policy *policy, lbx__slice more, lbx_buffer *out)
{
    lbx__json_writer json;

    lbx__json_writer_init(&json, out);
    lbx__json_writer_object(&json);
    for (const lbx__policy_part *part = policy->members; part;
         part = part->next) {
        lbx__json_writer_name(&json, part->name);
        lbx__json_writer_raw(&json, part->json.bytes, part->json.size);
    }
    lbx__json_writer_name(&json, "Statement");
    lbx__json_writer_array(&json);
    for (const lbx__policy_part *part = policy->statements; part;
         part = part->next) {
        if (!part->has_label)
            lbx__json_writer_raw(&json, part->json.bytes, part->json.size);
    }
    if (more.bytes)
        lbx__json_writer_raw(&json, more.bytes, more.size);
    lbx__json_writer_array_end(&json);
    lbx__json_writer_object_end(&json);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON in attributes of queues: each input is read as a RedrivePolicy, a
 * RedriveAllowPolicy and a Policy. What is refused has a reason; what is
 * accepted keeps to the limits of a box's options, and the policy that the
 * server writes for it is read back as the same.
 */
#include "base/buffer.h"
#include "server/sqs/policy.h"
#include "server/sqs/redrive.h"
#include "target.h"

static const lbx__world home = {"000000000000", "us-east-1"};

/* What the server writes itself has no escapes; see redrive.c. */
static bool
is_plain(const char *name)
{
    return !strpbrk(name, "\"\\");
}

static void
check_redrive(const lbx__redrive_reader *reader, lbx__slice text)
{
    lbx_box_options once = LBX_BOX_OPTIONS_INIT, twice = LBX_BOX_OPTIONS_INIT;
    char again[LBX__REDRIVE_BYTES];
    bool as_given;

    *reader->fault = (lbx__sqs_fault){.error = LBX__SQS_OK};
    if (!lbx__redrive_read(reader, text, &once, &as_given)) {
        must_be(reader->fault->error != LBX__SQS_OK && reader->fault->text[0]);
        return;
    }
    must_be(once.max_deliveries <= 1000 &&
            (once.max_deliveries == 0) == (once.dead_letters == NULL));
    if (once.dead_letters && !is_plain(once.dead_letters))
        return;
    lbx__redrive_write(&home, &once, again);
    must_be(
        lbx__redrive_read(reader, lbx__slice_of(again), &twice, &as_given) &&
        as_given && lbx__redrive_equal(&once, &twice));
}

static void
check_allow(const lbx__redrive_reader *reader, lbx__slice text)
{
    lbx_box_options once = LBX_BOX_OPTIONS_INIT, twice = LBX_BOX_OPTIONS_INIT;
    char again[LBX__REDRIVE_BYTES];

    *reader->fault = (lbx__sqs_fault){.error = LBX__SQS_OK};
    if (!lbx__redrive_read_allow(reader, text, &once)) {
        must_be(reader->fault->error != LBX__SQS_OK && reader->fault->text[0]);
        return;
    }
    must_be(once.dead_letter_allow <= LBX_DEAD_LETTER_ALLOW_LISTED &&
            once.dead_letter_box_count <= 10);
    // A list may be empty only if all its queues were of others.
    if (once.dead_letter_allow == LBX_DEAD_LETTER_ALLOW_LISTED &&
        once.dead_letter_box_count == 0)
        return;
    for (size_t i = 0; i < once.dead_letter_box_count; i++)
        if (!is_plain(once.dead_letter_boxes[i]))
            return;
    lbx__redrive_write_allow(&home, &once, again);
    must_be(lbx__redrive_read_allow(reader, lbx__slice_of(again), &twice) &&
            lbx__redrive_equal_allow(&once, &twice));
}

/* Reads a policy and writes it without its statement "a". */
static bool
write_again(lbx__arena *arena, lbx__slice text, lbx_buffer *out)
{
    lbx__policy policy;
    size_t count = 0;

    if (!lbx__policy_read(&policy, arena, NULL, text, "a"))
        return false;
    for (const lbx__policy_part *part = policy.statements; part;
         part = part->next)
        count++;
    must_be(count == policy.count);
    lbx__policy_write(&policy, (lbx__slice){NULL, 0}, out);
    return out->status == LBX_OK;
}

static void
check_policy(lbx__arena *arena, lbx__slice text)
{
    lbx_buffer once, twice;

    lbx__buffer_init(&once, NULL, 1 << 20);
    lbx__buffer_init(&twice, NULL, 1 << 20);
    if (write_again(arena, text, &once)) {
        must_be(
            write_again(arena, (lbx__slice){once.bytes, once.size}, &twice));
        must_be(once.size == twice.size &&
                memcmp(once.bytes, twice.bytes, once.size) == 0);
    }
    lbx__buffer_fini(&once);
    lbx__buffer_fini(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = copy_exactly(data, size);
    const lbx__slice text = {exact, size};
    lbx__sqs_fault fault;
    lbx__arena arena;
    const lbx__redrive_reader reader = {&arena, NULL, &home, &fault};

    lbx__arena_init(&arena, NULL, 16 << 20);
    check_redrive(&reader, text);
    check_allow(&reader, text);
    check_policy(&arena, text);
    lbx__arena_fini(&arena);
    free(exact);
    return 0;
}

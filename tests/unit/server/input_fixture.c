/* SPDX-License-Identifier: Apache-2.0 */
/* Reading inputs; see input_fixture.h. */
#include "server/input_fixture.h"

#include "support/test.h"

enum {
    MAX_BYTES = 8 << 20
};

static void
input_prepare(struct input_read *read)
{
    *read = (struct input_read){.fits = false};
    // What is not read must not be there by chance.
    memset(&read->input, 0x5a, sizeof(read->input));
    lbx__arena_init(&read->arena, NULL, MAX_BYTES);
}

void
input_json(struct input_read *read, const char *text)
{
    input_prepare(read);
    read->fits = lbx__sqs_input_read_json(&read->input, &read->arena,
                                          lbx__slice_of(text), &read->fault);
}

void
input_query(struct input_read *read, const char *form, const char *query)
{
    input_prepare(read);
    read->fits = lbx__sqs_input_read_query(
        &read->input, &read->arena, lbx__slice_of(form), lbx__slice_of(query),
        &read->action, &read->fault);
}

void
input_done(struct input_read *read)
{
    lbx__arena_fini(&read->arena);
}

static void
check_fault(const struct input_read *read, const char *text,
            lbx__sqs_error error, const char *part)
{
    if (read->fits)
        FAIL("accepted: %.200s", text);
    if (read->fault.error != error)
        FAIL("%.200s: error %d (%s), not %d", text, (int)read->fault.error,
             read->fault.text, (int)error);
    if (!strstr(read->fault.text, part))
        FAIL("%.200s: %s", text, read->fault.text);
}

void
check_json_fault(const char *text, lbx__sqs_error error, const char *part)
{
    struct input_read read;

    input_json(&read, text);
    check_fault(&read, text, error, part);
    input_done(&read);
}

void
check_query_fault(const char *form, lbx__sqs_error error, const char *part)
{
    struct input_read read;

    input_query(&read, form, NULL);
    check_fault(&read, form, error, part);
    input_done(&read);
}

void
check_text(const char *expected, lbx__slice text)
{
    CHECK(text.bytes);
    CHECK_INT(strlen(expected), text.size);
    CHECK_STR(expected, text.bytes); // INPUT-1
}

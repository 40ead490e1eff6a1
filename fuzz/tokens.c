/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NextTokens. Each input is read as a token of both kinds, and is the name that
 * a token is written for. The corpus has some that are good for this list; what
 * is accepted is what the server would have written, to the letter, and belongs
 * to this list only.
 */
#include "server/sqs/next_token.h"
#include "target.h"

#include <inttypes.h>
#include <stdio.h>

static const lbx__world home = {"000000000000", "us-east-1"};
static const lbx__world away = {"000000000000", "eu-west-1"};
static const lbx__next_token_list list = {"ListQueues", &home};

static void
check_token(lbx__slice text)
{
    char name[LBX_BOX_NAME_BYTES], again[LBX__NEXT_TOKEN_TEXT];

    if (!lbx__next_token_read(&list, text, name))
        return;
    // A forged one may have a NUL, which ends its name.
    lbx__next_token_write(&list, name, again);
    must_be(strlen(again) < text.size ||
            lbx__slice_equal(lbx__slice_of(again), text));
}

/* What is written is read back, and nowhere else. */
static void
check_name(const uint8_t *data, size_t size)
{
    const lbx__next_token_list others[] = {
        {"ListDeadLetterSourceQueues", &home},
        {"ListQueues", &away},
    };
    char name[LBX_BOX_NAME_BYTES], again[LBX_BOX_NAME_BYTES];
    char text[LBX__NEXT_TOKEN_TEXT];

    if (size == 0 || size >= sizeof(name) || memchr(data, 0, size))
        return;
    memcpy(name, data, size);
    name[size] = '\0';
    lbx__next_token_write(&list, name, text);
    must_be(strlen(text) < sizeof(text));
    must_be(lbx__next_token_read(&list, lbx__slice_of(text), again) &&
            strcmp(name, again) == 0);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        must_be(!lbx__next_token_read(&others[i], lbx__slice_of(text), again));
}

static void
check_sequence(lbx__slice text)
{
    uint64_t once, twice;
    char again[24];

    if (!lbx__next_token_read_sequence(text, &once))
        return;
    (void)snprintf(again, sizeof(again), "%" PRIu64, once);
    must_be(lbx__next_token_read_sequence(lbx__slice_of(again), &twice) &&
            once == twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = copy_exactly(data, size);
    const lbx__slice text = {copy, size};

    check_token(text);
    check_sequence(text);
    check_name(data, size);
    free(copy);
    return 0;
}

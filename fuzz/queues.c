/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts with which clients name a queue: each input is read as its URL, a host,
 * its ARN, and the handle of a move task. What is accepted fits its buffers; as
 * the URL, the ARN and the handle that the server writes, it is read back as
 * the same.
 */
#include "base/arena.h"
#include "server/sqs/move_handle.h"
#include "server/sqs/queue.h"
#include "target.h"

#include <stdio.h>

static const lbx__world home = {"000000000000", "us-east-1"};

/* Handles are written for ARNs, which fit and need no escapes. */
static bool
is_written(const char *arn)
{
    for (const char *at = arn; *at; at++) {
        if (*at < ' ' || *at == '"' || *at == '\\')
            return false;
    }
    return strlen(arn) < LBX__ARN_BYTES;
}

static void
check_handle(lbx__slice text)
{
    char again[LBX__MOVE_HANDLE_BYTES];
    lbx__move_handle once, twice;
    lbx__arena arena;

    lbx__arena_init(&arena, NULL, 1 << 16);
    if (lbx__move_handle_read(&arena, NULL, text, &once) &&
        is_written(once.source)) {
        lbx__move_handle_write(once.task, once.source, again);
        must_be(
            lbx__move_handle_read(&arena, NULL, lbx__slice_of(again), &twice) &&
            once.task == twice.task && strcmp(once.source, twice.source) == 0);
    }
    lbx__arena_fini(&arena);
}

static void
check_arn(const lbx__world *world, lbx__slice name)
{
    char text[LBX_BOX_NAME_BYTES], arn[LBX__ARN_BYTES];
    char handle[LBX__MOVE_HANDLE_BYTES];

    must_be(name.size < sizeof(text));
    memcpy(text, name.bytes, name.size);
    text[name.size] = '\0';
    must_be(lbx__slice_equal(
        lbx__queue_name_of_arn(world,
                               lbx__slice_of(lbx__queue_arn(world, text, arn))),
        name));
    lbx__move_handle_write(name.size, arn, handle);
    check_handle(lbx__slice_of(handle));
}

static void
check_queue_url(lbx__slice url)
{
    char again[256];
    lbx__world once = home, twice = home;
    lbx__slice name, name_again;

    if (!lbx__queue_parse_url(url, &once, &name))
        return;
    must_be(strnlen(once.account, sizeof(once.account)) == 12);
    must_be(strnlen(once.region, sizeof(once.region)) < sizeof(once.region));
    (void)snprintf(again, sizeof(again), "queue/%s/%s/%.*s", once.region,
                   once.account, (int)name.size, name.bytes);
    must_be(lbx__queue_parse_url(lbx__slice_of(again), &twice, &name_again) &&
            lbx__slice_equal(name, name_again) &&
            strcmp(once.account, twice.account) == 0 &&
            strcmp(once.region, twice.region) == 0);
    check_arn(&once, name);
}

static void
check_host(lbx__slice host)
{
    lbx__world world = home;

    if (lbx__queue_region_of_host(host, &world))
        must_be(strnlen(world.region, sizeof(world.region)) <
                sizeof(world.region));
    (void)lbx__queue_region_of_url(host, &world);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = copy_exactly(data, size);
    const lbx__slice slice = {exact, size};

    check_queue_url(slice);
    check_host(slice);
    check_handle(slice);
    (void)lbx__queue_name_of_arn(&home, slice);
    free(exact);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a client is told when the store refuses or fails, and what a request
 * keeps of its letters. */
#include "server/sqs/request.h"

#include "support/test.h"
#include "support/torture.h"
#include <string.h>

/* What a client may repeat is not called a failure, and what cannot succeed is
 * not called temporary. */
TEST(each_status_of_the_store_has_an_error)
{
    static const struct {
        lbx_status status;
        lbx__sqs_error error;
    } rows[] = {
        {LBX_NOT_FOUND, LBX__SQS_QueueDoesNotExist},
        {LBX_CLOSED, LBX__SQS_QueueDoesNotExist},
        {LBX_FULL, LBX__SQS_OverLimit},
        {LBX_NO_SPACE, LBX__SQS_OverLimit},
        {LBX_TOO_LARGE, LBX__SQS_InvalidParameterValueException},
        {LBX_UNSUPPORTED, LBX__SQS_UnsupportedOperation},
        {LBX_BUSY, LBX__SQS_ServiceUnavailable},
        {LBX_UNREACHABLE, LBX__SQS_ServiceUnavailable},
        {LBX_NO_MEMORY, LBX__SQS_ServiceUnavailable},
        {LBX_IO, LBX__SQS_InternalFailure},
        {LBX_UNKNOWN, LBX__SQS_InternalFailure},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = NULL;

        CHECK_INT(rows[i].error, lbx__request_error_of(rows[i].status, &text));
        CHECK(text && text[0]);
    }
}

/* A client that does not read its answer holds that, not the letters too. */
TEST(receipts_are_kept_without_their_letters)
{
    TORTURE(memory, allocator);
    static char body[50000];
    const char receipts[] = "abc";
    lbx__received *first = NULL, **end = &first, *last;
    int i = 0;

    for (i = 0; i < 3; i++) {
        const lbx_delivery delivery = {
            .receipt = receipts + i,
            .receipt_bytes = 1,
            .parcel = {.body = body, .body_bytes = i == 1 ? 1 : sizeof(body)},
        };

        *end = lbx__received_copy(&allocator, &delivery);
        CHECK(*end);
        end = &(*end)->next;
    }
    CHECK(memory.live_bytes > 100000);
    last = lbx__received_keep_receipts(&allocator, &first);
    CHECK(memory.live_bytes < 4096);
    i = 0;
    for (const lbx__received *one = first; one; one = one->next, i++) {
        CHECK_INT(1, one->delivery.receipt_bytes);
        CHECK(memcmp(one->delivery.receipt, receipts + i, 1) == 0);
        CHECK(one->next || one == last);
    }
    CHECK_INT(3, i);
    lbx__received_destroy_all(&allocator, first);
    CHECK_INT(0, memory.live_bytes);
    first = NULL;
    CHECK(!lbx__received_keep_receipts(&allocator, &first));
}

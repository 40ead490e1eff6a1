/* SPDX-License-Identifier: Apache-2.0 */
/* Growing bytes, and the types that write to them. */
#include "base/buffer.h"
#include "support/test.h"
#include "support/torture.h"

#include <string.h>

TEST(buffer_keeps_a_nul_behind_its_bytes)
{
    lbx_buffer buffer;

    lbx__buffer_init(&buffer, NULL, 1000);
    CHECK_STR("", lbx__buffer_text(&buffer));
    CHECK_OK(lbx_buffer_append(&buffer, NULL, 0));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(lbx_buffer_append_text(&buffer, "abc"));
        CHECK_INT((i + 1) * 3, strlen(lbx__buffer_text(&buffer)));
    }
    lbx__buffer_reset(&buffer);
    CHECK_STR("", lbx__buffer_text(&buffer));
    lbx__buffer_add_byte(&buffer, 'x');
    CHECK_STR("x", lbx__buffer_text(&buffer));
    lbx__buffer_fini(&buffer);
}

/* The limit is exact, and after it even what would fit is refused: a document
 * with a hole would be worse than none. */
TEST(buffer_fails_at_its_limit_and_stays_failed)
{
    lbx_buffer buffer;

    lbx__buffer_init(&buffer, NULL, 200);
    for (int i = 0; i < 200; i++)
        lbx__buffer_add_byte(&buffer, 'a');
    CHECK_STATUS(LBX_OK, buffer.status);
    CHECK_STATUS(LBX_TOO_LARGE, lbx_buffer_append(&buffer, "a", 1));
    CHECK_STATUS(LBX_TOO_LARGE, lbx_buffer_append(&buffer, "", 0));
    CHECK_INT(200, buffer.size);
    lbx__buffer_reset(&buffer);
    CHECK_OK(lbx_buffer_append_text(&buffer, "again"));
    CHECK_STATUS(LBX_INVALID, lbx_buffer_append(&buffer, NULL, 1));
    CHECK_STATUS(LBX_INVALID, lbx_buffer_append(NULL, "a", 1));
    CHECK_STATUS(LBX_INVALID, lbx_buffer_append_text(&buffer, NULL));
    CHECK_STR("again", lbx__buffer_text(&buffer));
    lbx__buffer_fini(&buffer);
}

static void
fill(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_buffer buffer;

    (void)context;
    lbx__buffer_init(&buffer, &allocator, 10000);
    for (int i = 0; i < 1000; i++)
        lbx__buffer_add(&buffer, "123", 3);
    if (buffer.status == LBX_OK)
        CHECK_INT(3000, buffer.size);
    else
        CHECK_STATUS(LBX_NO_MEMORY, buffer.status);
    lbx__buffer_fini(&buffer);
}

TEST(buffer_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(fill, NULL) > 1);
}

static lbx_status
encode_number(const void *message, lbx_buffer *out, void *context)
{
    const int *number = message;

    if (*number < 0)
        return LBX_REFUSED;
    for (int i = 0; i < *number; i++)
        (void)lbx_buffer_append_text(out, context);
    return LBX_OK;
}

static lbx_status
decode_number(const void *bytes, size_t size_bytes, void **ret, void *context)
{
    static int number;

    (void)context;
    *ret = &number;
    if (memchr(bytes, '?', size_bytes))
        return LBX_NOT_FOUND;
    if (memchr(bytes, '!', size_bytes))
        return LBX_NO_MEMORY;
    number = (int)size_bytes;
    return LBX_OK;
}

/* Whatever a type's own code says no with, the caller sees one status; and an
 * encoder that does not look at what append answers cannot hide a failure. */
TEST(type_encodes_and_decodes_its_messages)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *counted, *plain;
    lbx_buffer buffer;
    int three = 3, minus = -1, many = 100;
    void *message = NULL;

    options.name = "test.Plain";
    CHECK_OK(lbx_type_create(&options, &plain));
    options.name = "test.Counted";
    options.context = "ab";
    options.encode = encode_number;
    options.decode = decode_number;
    CHECK_OK(lbx_type_create(&options, &counted));

    lbx__buffer_init(&buffer, NULL, 50);
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_type_encode(plain, &three, &buffer));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_type_decode(plain, "", 0, &message));
    CHECK_OK(lbx_type_encode(counted, &three, &buffer));
    CHECK_STR("ababab", lbx__buffer_text(&buffer));
    CHECK_STATUS(LBX_ENCODING, lbx_type_encode(counted, &minus, &buffer));
    CHECK_STATUS(LBX_TOO_LARGE, lbx_type_encode(counted, &many, &buffer));
    CHECK_STATUS(LBX_ENCODING, lbx_type_decode(counted, "?", 1, &message));
    CHECK_STATUS(LBX_NO_MEMORY, lbx_type_decode(counted, "!", 1, &message));
    CHECK(!message);
    CHECK_OK(lbx_type_decode(counted, "12345", 5, &message));
    CHECK_INT(5, *(int *)message);
    CHECK_STATUS(LBX_INVALID, lbx_type_encode(NULL, &three, &buffer));
    CHECK_STATUS(LBX_INVALID, lbx_type_decode(counted, NULL, 0, &message));
    lbx__buffer_fini(&buffer);
    lbx_type_destroy(counted);
    lbx_type_destroy(plain);
}

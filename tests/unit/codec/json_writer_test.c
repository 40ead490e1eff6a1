/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer. */
#include "base/buffer.h"
#include "codec/json_writer.h"
#include "support/test.h"

TEST(json_is_written_with_its_commas)
{
    lbx_buffer buffer;
    lbx__json_writer out;

    lbx__buffer_init(&buffer, NULL, 1000);
    lbx__json_writer_init(&out, &buffer);
    lbx__json_writer_object(&out);
    lbx__json_writer_name(&out, "a");
    lbx__json_writer_integer(&out, INT64_MIN);
    lbx__json_writer_name(&out, "b");
    lbx__json_writer_array(&out);
    lbx__json_writer_boolean(&out, true);
    lbx__json_writer_boolean(&out, false);
    lbx__json_writer_text(&out, NULL);
    lbx__json_writer_object(&out);
    lbx__json_writer_object_end(&out);
    lbx__json_writer_array(&out);
    lbx__json_writer_array_end(&out);
    lbx__json_writer_raw(&out, "1.50", 4);
    lbx__json_writer_array_end(&out);
    lbx__json_writer_name_bytes(&out, "cde", 1);
    lbx__json_writer_text(&out, "");
    lbx__json_writer_object_end(&out);
    CHECK_STATUS(LBX_OK, buffer.status);
    CHECK_STR("{\"a\":-9223372036854775808,"
              "\"b\":[true,false,null,{},[],1.50],\"c\":\"\"}",
              lbx__buffer_text(&buffer));
    lbx__buffer_fini(&buffer);
}

TEST(json_strings_are_escaped_where_they_must)
{
    lbx_buffer buffer;
    lbx__json_writer out;

    lbx__buffer_init(&buffer, NULL, 1000);
    lbx__json_writer_init(&out, &buffer);
    lbx__json_writer_bytes(&out, "a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\0\xc3\xa9",
                           17);
    CHECK_STR(
        "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000\xc3\xa9\"",
        lbx__buffer_text(&buffer));
    lbx__buffer_fini(&buffer);
}

/* A text that is not UTF-8 would make a document that no reader accepts. */
TEST(json_refuses_bytes_that_are_not_utf8)
{
    static const char *const texts[] = {"\xff", "\xc0\x80", "\xed\xa0\x80",
                                        "ab\xe2\x82"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        lbx_buffer buffer;
        lbx__json_writer out;

        lbx__buffer_init(&buffer, NULL, 1000);
        lbx__json_writer_init(&out, &buffer);
        lbx__json_writer_array(&out);
        lbx__json_writer_text(&out, texts[i]);
        lbx__json_writer_array_end(&out);
        CHECK_STATUS(LBX_ENCODING, buffer.status);
        lbx__buffer_fini(&buffer);
    }
}

TEST(json_that_does_not_fit_is_too_large)
{
    lbx_buffer buffer;
    lbx__json_writer out;

    lbx__buffer_init(&buffer, NULL, 5);
    lbx__json_writer_init(&out, &buffer);
    lbx__json_writer_text(&out, "four");
    CHECK_STATUS(LBX_TOO_LARGE, buffer.status);
    lbx__buffer_fini(&buffer);
}

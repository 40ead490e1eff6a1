/* SPDX-License-Identifier: Apache-2.0 */
/* The strict JSON reader. fuzz/json.c compares it with another one. */
#include "base/buffer.h"
#include "codec/json.h"
#include "support/test.h"
#include "support/torture.h"

#include <stdio.h>
#include <string.h>

/* The status of a whole text. */
static lbx_status
verdict_of(const char *text, size_t size, const lbx_allocator *allocator)
{
    lbx__json json;
    lbx__json_kind kind;
    lbx_status status;

    lbx__json_init(&json, text, size, allocator);
    do {
        kind = lbx__json_next(&json);
    } while (kind != LBX__JSON_END && kind != LBX__JSON_FAULT);
    status = kind == LBX__JSON_END ? LBX_OK : json.status;
    lbx__json_fini(&json);
    return status;
}

static lbx_status
verdict(const char *text)
{
    return verdict_of(text, strlen(text), NULL);
}

static void
check_verdicts(lbx_status expected, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (verdict(texts[i]) != expected)
            FAIL("%s: %s", texts[i], lbx_status_name(verdict(texts[i])));
}

TEST(json_reads_what_rfc_8259_allows)
{
    static const char *const texts[] = {
        "null",
        " true\t",
        "\r\nfalse\n",
        "0",
        "-0",
        "-1.5e+10",
        "1E400",
        "0.000",
        "123456789012345678901234567890",
        "\"\"",
        "\"\\u00e9\xc3\xa9\"",
        "\"\\ud83d\\ude00\"",
        "\"\x7f\"",
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1,[2,[3]],{}]",
        "{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":2}]}",
        "{\"\":1}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\xf4\x8f\xbf\xbf\"",
    };

    check_verdicts(LBX_OK, texts, sizeof(texts) / sizeof(texts[0]));
}

/* Each is accepted by some reader that is in use (dependencies, section 3). */
TEST(json_refuses_what_is_nearly_json)
{
    static const char *const texts[] = {
        "",
        " ",
        "nul",
        "nullx",
        "NaN",
        "Infinity",
        "-",
        "+1",
        "01",
        "-01",
        ".5",
        "1.",
        "1e",
        "1e+",
        "0x10",
        "1 2",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "]",
        "[}",
        "{]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "'a'",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\u0000\"",
        "\"\n\"",
        "\"\t\"",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\xef\xbb\xbfnull",
        "null,",
        "// comment\nnull",
        "/**/null",
        "\f1",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"\":1,\"\":2}",
    };

    check_verdicts(LBX_ENCODING, texts, sizeof(texts) / sizeof(texts[0]));
    CHECK_STATUS(LBX_ENCODING, verdict_of("1\0", 2, NULL));
    CHECK_STATUS(LBX_ENCODING, verdict_of("\"\0\"", 3, NULL));
}

/* Every beginning of a document is refused, and nothing behind it is read: the
 * copy is exactly as long as it says, which ASan watches. */
TEST(json_refuses_every_text_that_was_cut)
{
    static const char whole[] =
        "{\"a\\u00e9\":[1.5e3,true,null,\"\xf0\x9f\x98\x80\\ud83d\\ude00\"]}";

    for (size_t size = 0; size < sizeof(whole) - 1; size++) {
        struct torture memory = TORTURE_INIT;
        lbx_allocator allocator = torture_allocator(&memory);
        char *text = allocator.allocate(allocator.context, size + 1, 1);

        memcpy(text, whole, size);
        CHECK_STATUS(LBX_ENCODING, verdict_of(text, size, NULL));
        allocator.release(allocator.context, text, size + 1);
    }
    CHECK_STATUS(LBX_OK, verdict(whole));
}

TEST(json_goes_32_levels_deep)
{
    char text[2 * 40 + 1];

    for (int depth = 31; depth <= 34; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        CHECK_STATUS(depth <= 32 ? LBX_OK : LBX_TOO_LARGE,
                     verdict_of(text, 2 * (size_t)depth, NULL));
    }
}

/* `count` members, named by their number; one more of the name `again`. */
static lbx_status
many_names(int count, int again, const lbx_allocator *allocator)
{
    lbx_buffer buffer;
    lbx_status status;
    char name[40];

    lbx__buffer_init(&buffer, NULL, 4 << 20);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%c\"n%d\":%d", i ? ',' : '{', i, i);
        lbx__buffer_add(&buffer, name, strlen(name));
    }
    snprintf(name, sizeof(name), ",\"\\u006e%d\":0}", again);
    lbx__buffer_add(&buffer, name, strlen(name));
    status = verdict_of(buffer.bytes, buffer.size, allocator);
    lbx__buffer_fini(&buffer);
    return status;
}

/* However many, and however the second is spelled. */
TEST(json_finds_a_name_that_is_twice_among_many)
{
    for (int count = 1; count < 5000; count = count * 2 + 1) {
        CHECK_STATUS(LBX_OK, many_names(count, count, NULL));
        CHECK_STATUS(LBX_ENCODING, many_names(count, 0, NULL));
        CHECK_STATUS(LBX_ENCODING, many_names(count, count / 2, NULL));
        CHECK_STATUS(LBX_ENCODING, many_names(count, count - 1, NULL));
    }
    CHECK_STATUS(LBX_OK, many_names(LBX__JSON_NAMES - 1, -1, NULL));
    CHECK_STATUS(LBX_TOO_LARGE, many_names(LBX__JSON_NAMES, -1, NULL));
}

static void
read_names(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    const lbx_status status = many_names(600, -1, &allocator);

    (void)context;
    CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
    CHECK((status == LBX_NO_MEMORY) == (memory->failures > 0));
}

TEST(json_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(read_names, NULL) > 1);
}

TEST(json_tokens_are_what_was_written)
{
    static const char text[] = "{\"na\\u006de\": \"a\\n\\u00e9\", \"skip\": "
                               "{\"x\": [1, {}]}, \"n\": -12}";
    lbx_buffer buffer;
    lbx__json json;
    int64_t number = 0;

    lbx__buffer_init(&buffer, NULL, 100);
    lbx__json_init(&json, text, sizeof(text) - 1, NULL);
    CHECK_INT(LBX__JSON_OBJECT, lbx__json_next(&json));
    CHECK_INT(LBX__JSON_NAME, lbx__json_next(&json));
    CHECK(lbx__json_is(&json, "name"));
    CHECK(!lbx__json_is(&json, "na"));
    CHECK(!lbx__json_is(&json, "names"));
    CHECK_INT(LBX__JSON_STRING, lbx__json_next(&json));
    lbx__json_text(&json, &buffer);
    CHECK_STR("a\n\xc3\xa9", lbx__buffer_text(&buffer));
    CHECK(!lbx__json_integer(&json, &number));
    CHECK_INT(LBX__JSON_NAME, lbx__json_next(&json));
    CHECK(lbx__json_is(&json, "skip"));
    CHECK(lbx__json_skip(&json));
    CHECK_INT(LBX__JSON_NAME, lbx__json_next(&json));
    CHECK_INT(LBX__JSON_NUMBER, lbx__json_next(&json));
    CHECK(lbx__json_skip(&json)); // a value without an inside
    CHECK(lbx__json_integer(&json, &number));
    CHECK_INT(-12, number);
    CHECK_INT(LBX__JSON_OBJECT_END, lbx__json_next(&json));
    CHECK_INT(LBX__JSON_END, lbx__json_next(&json));
    CHECK_INT(LBX__JSON_END, lbx__json_next(&json));
    lbx__json_fini(&json);
    lbx__buffer_fini(&buffer);
}

static bool
integer(const char *text, int64_t *ret)
{
    lbx__json json;

    lbx__json_init(&json, text, strlen(text), NULL);
    CHECK_INT(LBX__JSON_NUMBER, lbx__json_next(&json));
    return lbx__json_integer(&json, ret);
}

TEST(json_integers_are_exact_or_none)
{
    int64_t number = 5;

    CHECK(integer("9223372036854775807", &number) && number == INT64_MAX);
    CHECK(integer("-9223372036854775808", &number) && number == INT64_MIN);
    CHECK(integer("-0", &number) && number == 0);
    CHECK(!integer("9223372036854775808", &number));
    CHECK(!integer("-9223372036854775809", &number));
    CHECK(!integer("99999999999999999999", &number));
    CHECK(!integer("1.0", &number));
    CHECK(!integer("1e3", &number));
    CHECK_INT(0, number);
}

/* The fault has the offset and the reason; after it there is only the fault. */
TEST(json_faults_say_where_and_why)
{
    static const char text[] = "[1, 2,, 3]";
    lbx_fault fault = {LBX_OK, ""};
    lbx__json json;

    lbx__json_init(&json, text, sizeof(text) - 1, NULL);
    CHECK_INT(LBX__JSON_ARRAY, lbx__json_next(&json));
    CHECK_STATUS(LBX_ENCODING,
                 lbx__json_fault(&json, "an object is needed", &fault));
    CHECK_STR("JSON, byte 0: an object is needed", fault.text);
    CHECK_INT(LBX__JSON_NUMBER, lbx__json_next(&json));
    CHECK_INT(LBX__JSON_NUMBER, lbx__json_next(&json));
    for (int i = 0; i < 3; i++)
        CHECK_INT(LBX__JSON_FAULT, lbx__json_next(&json));
    CHECK(!lbx__json_skip(&json));
    CHECK_STATUS(LBX_ENCODING, lbx__json_fault(&json, "else", &fault));
    CHECK_STR("JSON, byte 6: not a value", fault.text);
    CHECK_STATUS(LBX_ENCODING, fault.status);
    lbx__json_fini(&json);
}

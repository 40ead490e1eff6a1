/* SPDX-License-Identifier: Apache-2.0 */
/* The public reader and writer of JSON. */
#include <letterbox/json.h>

#include "support/test.h"
#include "support/torture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static lbx_json *
read_text(const char *text)
{
    lbx_json *json;

    CHECK_OK(lbx_json_read(text, strlen(text), NULL, &json, NULL));
    return json;
}

/* Writes a value again, by the public writer. */
static void
copy_value(lbx_json_writer *out, lbx_json_value value)
{
    const char *name = lbx_json_name(value);
    const lbx_json_kind kind = lbx_json_kind_of(value);
    int64_t number;
    double real;
    bool truth;

    if (kind == LBX_JSON_OBJECT || kind == LBX_JSON_ARRAY) {
        if (kind == LBX_JSON_OBJECT)
            lbx_json_writer_object(out, name);
        else
            lbx_json_writer_array(out, name);
        for (lbx_json_value at = lbx_json_first(value); lbx_json_kind_of(at);
             at = lbx_json_next(at))
            copy_value(out, at);
        lbx_json_writer_end(out);
    } else if (lbx_json_int64(value, &number)) {
        lbx_json_writer_int64(out, name, number);
    } else if (lbx_json_double(value, &real)) {
        lbx_json_writer_double(out, name, real);
    } else if (lbx_json_bool(value, &truth)) {
        lbx_json_writer_bool(out, name, truth);
    } else {
        lbx_json_writer_text(out, name, lbx_json_text(value, NULL));
    }
}

TEST(what_was_read_is_written_as_the_same_text)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "null",
        "true",
        "-7",
        "0.1",
        "\"a\\n\xc3\xa4\"",
        "[1,[],[2,[3]],{},4]",
        "{\"a\":{\"b\":[{\"c\":null},false]},\"d\":\"\",\"e\":[[],5]}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        lbx_json *json = read_text(texts[i]);
        lbx_json_writer out;
        lbx_buffer *buffer;

        CHECK_OK(lbx_buffer_create(1000, NULL, &buffer));
        lbx_json_writer_init(&out, buffer);
        copy_value(&out, lbx_json_root(json));
        CHECK_OK(lbx_json_writer_finish(&out));
        CHECK_STR(texts[i], lbx_buffer_bytes(buffer, NULL));
        lbx_buffer_destroy(buffer);
        lbx_json_destroy(json);
    }
}

TEST(values_are_found_by_their_names_and_read_by_their_kinds)
{
    static const char text[] =
        "{\"item\":\"a \\u00e4\",\"n\":9223372036854775807,\"big\":1e3,"
        "\"huge\":1e999,\"yes\":true,\"no\":false,\"nil\":null,"
        "\"in\":{\"item\":1},\"a\\nb\":2}";
    lbx_json *json = read_text(text);
    const lbx_json_value root = lbx_json_root(json);
    size_t size = 0;
    int64_t number = 0;
    double real = 0;
    bool truth = false;

    CHECK_INT(LBX_JSON_OBJECT, lbx_json_kind_of(root));
    CHECK_STR("a \xc3\xa4", lbx_json_text(lbx_json_get(root, "item"), &size));
    CHECK_INT(4, size);
    CHECK(lbx_json_int64(lbx_json_get(root, "n"), &number));
    CHECK_INT(INT64_MAX, number);
    CHECK(!lbx_json_int64(lbx_json_get(root, "big"), &number));
    CHECK(lbx_json_double(lbx_json_get(root, "big"), &real) && real == 1000);
    CHECK(!lbx_json_double(lbx_json_get(root, "huge"), &real));
    CHECK_STR("1e999", lbx_json_text(lbx_json_get(root, "huge"), NULL));
    CHECK(lbx_json_bool(lbx_json_get(root, "yes"), &truth) && truth);
    CHECK(lbx_json_bool(lbx_json_get(root, "no"), &truth) && !truth);
    CHECK(!lbx_json_bool(lbx_json_get(root, "n"), &truth));
    CHECK_INT(LBX_JSON_NULL, lbx_json_kind_of(lbx_json_get(root, "nil")));
    CHECK(lbx_json_int64(lbx_json_get(lbx_json_get(root, "in"), "item"),
                         &number));
    CHECK_INT(1, number);
    CHECK(lbx_json_int64(lbx_json_get(root, "a\nb"), &number));
    CHECK_INT(2, number);
    lbx_json_destroy(json);
}

/* JTREE-2: one check at the end of a chain is enough. */
TEST(what_is_not_there_is_absent_through_any_chain_of_calls)
{
    lbx_json *json = read_text("{\"list\":[1]}");
    const lbx_json_value root = lbx_json_root(json);
    const lbx_json_value list = lbx_json_get(root, "list");
    const lbx_json_value absent[] = {
        lbx_json_get(root, "x"),
        lbx_json_get(list, "list"),
        lbx_json_get(lbx_json_get(root, "x"), "y"),
        lbx_json_get(root, NULL),
        lbx_json_next(list),
        lbx_json_next(root),
        lbx_json_next(lbx_json_first(list)),
        lbx_json_first(lbx_json_first(list)),
        lbx_json_root(NULL),
        {json, 99},
    };
    size_t size = 7;
    int64_t number;
    double real;
    bool truth;

    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        CHECK_INT(LBX_JSON_ABSENT, lbx_json_kind_of(absent[i]));
        CHECK_PTR(NULL, lbx_json_text(absent[i], NULL));
        CHECK_PTR(NULL, lbx_json_name(absent[i]));
        CHECK(!lbx_json_int64(absent[i], &number));
        CHECK(!lbx_json_double(absent[i], &real));
        CHECK(!lbx_json_bool(absent[i], &truth));
    }
    CHECK_PTR(NULL, lbx_json_text(list, &size));
    CHECK_INT(7, size); // written for texts only
    CHECK_PTR(NULL, lbx_json_name(lbx_json_first(list)));
    lbx_json_destroy(json);
    lbx_json_destroy(NULL);
}

/* Longer ones would not fit the space that a double is read from. */
TEST(numbers_of_a_thousand_digits_are_doubles)
{
    char text[1100] = "0.";

    memset(text + 2, '1', sizeof(text) - 3);
    for (size_t size = 1022; size <= 1026; size++) {
        lbx_json *json;
        double real = 0;

        CHECK_OK(lbx_json_read(text, size, NULL, &json, NULL));
        CHECK(lbx_json_double(lbx_json_root(json), &real) == (size < 1024));
        CHECK(size >= 1024 || (real > 0.111 && real < 0.112));
        lbx_json_destroy(json);
    }
}

TEST(texts_that_are_not_json_are_refused_with_a_reason)
{
    static const char *const bad[] = {
        "",     "{",        "{\"a\":1,\"a\":2}", "[1,]",  "01",
        "[1]x", "\"\xff\"", "\"\\u0000\"",       "nullx", "{\"a\"}",
    };
    lbx_fault fault;
    lbx_json *json;
    char deep[80] = "";

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fault.text[0] = '\0';
        if (lbx_json_read(bad[i], strlen(bad[i]), NULL, &json, &fault) !=
                LBX_ENCODING ||
            !strstr(fault.text, "JSON, byte"))
            FAIL("%s: %s", bad[i], fault.text);
    }
    memset(deep, '[', 33);
    CHECK_STATUS(LBX_TOO_LARGE, lbx_json_read(deep, 33, NULL, &json, &fault));
    CHECK_STATUS(LBX_INVALID, lbx_json_read(NULL, 0, NULL, &json, &fault));
    CHECK_STATUS(LBX_INVALID, lbx_json_read("1", 1, NULL, NULL, &fault));
}

/* Calls in a wrong order are an error of the result, never a crash. */
TEST(calls_of_the_writer_in_a_wrong_order_are_refused)
{
    // o object, a array, e end, t text; capitals: with a name
    static const char *const bad[] = {
        "",     "o",   "e",   "oe.",  "tt",  "otte", "aT", "T",  "O",
        "oTTe", "aee", "tae", "oAOe", "aOe", "oaee", "n",  "oNe"};
    char deep[64] = "";

    for (size_t i = 0; i <= sizeof(bad) / sizeof(bad[0]); i++) {
        const char *calls = i < sizeof(bad) / sizeof(bad[0]) ? bad[i] : deep;
        lbx_json_writer out;
        lbx_buffer *buffer;
        lbx_status status;

        memset(deep, 'a', 33);
        memset(deep + 33, 'e', 30);
        CHECK_OK(lbx_buffer_create(1000, NULL, &buffer));
        lbx_json_writer_init(&out, buffer);
        for (const char *call = calls; *call; call++) {
            const char *name = *call < 'a' ? "name" : NULL;

            switch (*call | 0x20) {
            case 'o':
                lbx_json_writer_object(&out, name);
                break;
            case 'a':
                lbx_json_writer_array(&out, name);
                break;
            case 'e':
                lbx_json_writer_end(&out);
                break;
            case 'n':
                lbx_json_writer_double(&out, name, NAN);
                break;
            default:
                lbx_json_writer_text(&out, name, *call == '.' ? "\xff" : "");
            }
        }
        status = lbx_json_writer_finish(&out);
        lbx_buffer_destroy(buffer);
        // A name that is twice in an object is the caller's: "oTTe".
        if (status != (strcmp(calls, "oTTe") == 0 ? LBX_OK : LBX_ENCODING))
            FAIL("%s: %s", calls, lbx_status_name(status));
    }
    CHECK_STATUS(LBX_INVALID, lbx_json_writer_finish(NULL));
}

TEST(a_buffer_that_is_full_ends_the_writing)
{
    lbx_json_writer out;
    lbx_buffer *buffer;
    size_t size;

    CHECK_OK(lbx_buffer_create(8, NULL, &buffer));
    lbx_json_writer_init(&out, buffer);
    lbx_json_writer_array(&out, NULL);
    lbx_json_writer_text(&out, NULL, "123456789");
    lbx_json_writer_end(&out);
    CHECK_STATUS(LBX_TOO_LARGE, lbx_json_writer_finish(&out));
    (void)lbx_buffer_bytes(buffer, &size);
    CHECK(size <= 8);
    lbx_buffer_destroy(buffer);
    lbx_buffer_destroy(NULL);
    CHECK_STATUS(LBX_INVALID, lbx_buffer_create(8, NULL, NULL));
}

static void
read_and_write(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx_buffer *buffer = NULL;
    lbx_json *json = NULL;
    lbx_json_writer out;
    lbx_status status;

    status = lbx_json_read(context, strlen(context), &allocator, &json, NULL);
    if (status == LBX_OK)
        status = lbx_buffer_create(4000, &allocator, &buffer);
    if (status == LBX_OK) {
        lbx_json_writer_init(&out, buffer);
        copy_value(&out, lbx_json_root(json));
        status = lbx_json_writer_finish(&out);
    }
    CHECK_STATUS(memory->failures > 0 ? LBX_NO_MEMORY : LBX_OK, status);
    lbx_buffer_destroy(buffer);
    lbx_json_destroy(json);
}

/* With more names than the reader has space for without memory. */
TEST(reading_and_writing_survive_every_failing_allocation)
{
    char text[2000] = "{\"n\":0";
    size_t used = strlen(text);

    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 ",\"n%d\":[%d]", i, i);
    snprintf(text + used, sizeof(text) - used, "}");
    CHECK(torture_every_allocation(read_and_write, text) >= 5);
}

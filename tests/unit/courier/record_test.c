/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop's records, as JSON. */
#include "courier/dead_letter.h"

#include "base/buffer.h"
#include "base/clock.h"
#include <letterbox/compat/wink.h>
#include <letterbox/courier.h>

#include "support/test.h"
#include "support/torture.h"

#include <stdio.h>
#include <string.h>

enum {
    JSON_MOST = 1 << 20
};

/* Encodes with a type, checks the JSON, decodes it again. */
static void *
there_and_back(const lbx_type *type, const void *record, const char *expected)
{
    lbx_buffer json;
    void *back;

    lbx__buffer_init(&json, NULL, JSON_MOST);
    CHECK_OK(lbx_type_encode(type, record, &json));
    if (expected)
        CHECK_STR(expected, lbx__buffer_text(&json));
    CHECK_OK(lbx_type_decode(type, lbx__buffer_text(&json), json.size, &back));
    lbx__buffer_fini(&json);
    return back;
}

static lbx_status
encode(const lbx_type *type, const void *record)
{
    lbx_buffer json;
    lbx_status status;

    lbx__buffer_init(&json, NULL, JSON_MOST);
    status = lbx_type_encode(type, record, &json);
    lbx__buffer_fini(&json);
    return status;
}

static lbx_status
decode(const lbx_type *type, const char *json)
{
    void *record;
    lbx_status status = lbx_type_decode(type, json, strlen(json), &record);

    if (status == LBX_OK)
        lbx_type_destroy_message(type, record);
    return status;
}

static lbx_id
id_of(const char *text)
{
    lbx_id id = {""};

    snprintf(id.text, sizeof(id.text), "%s", text);
    return id;
}

TEST_CITING("W-24", requests_travel_as_json)
{
    lbx_wink_request request = {
        .payload = "{\"question\": [1, 2.50, \"\xc3\xa4\"]}",
        .budget = "{\"tokens\":100}",
        .deadline_ms = 1794826296000,
        .request_id = id_of("r-1"),
        .created_ms = 1794826295123,
    };
    lbx_wink_request *back =
        there_and_back(lbx_wink_request_type(), &request,
                       "{\"request_id\":\"r-1\","
                       "\"payload\":{\"question\": [1, 2.50, \"\xc3\xa4\"]},"
                       "\"budget\":{\"tokens\":100},"
                       "\"deadline\":\"2026-11-16T10:51:36.000Z\","
                       "\"created_at\":\"2026-11-16T10:51:35.123Z\"}");

    CHECK_STR(request.payload, back->payload);
    CHECK_STR(request.budget, back->budget);
    CHECK_INT(request.deadline_ms, back->deadline_ms);
    CHECK_INT(request.created_ms, back->created_ms);
    CHECK_STR("r-1", back->request_id.text);
    lbx_type_destroy_message(lbx_wink_request_type(), back);
}

TEST_CITING("W-24", new_requests_have_a_random_id_and_the_time)
{
    lbx_wink_request a = lbx_wink_request_of("1"), b = lbx_wink_request_of("1");
    lbx_wink_request *back = there_and_back(lbx_wink_request_type(), &a, NULL);

    CHECK_INT(36, strlen(a.request_id.text));
    CHECK_INT('4', a.request_id.text[14]); // of version 4
    CHECK(strcmp(a.request_id.text, b.request_id.text) != 0);
    CHECK(a.created_ms > 1700000000000 && a.created_ms <= lbx__clock_wall_ms());
    CHECK_STR(a.request_id.text, back->request_id.text);
    CHECK_STR("1", back->payload);
    CHECK_PTR(NULL, back->budget);
    CHECK_INT(0, back->deadline_ms);
    lbx_type_destroy_message(lbx_wink_request_type(), back);
}

TEST_CITING("W-24", results_travel_as_json)
{
    lbx_wink_request request = {.request_id = id_of("r-1")};
    lbx_wink_result result = lbx_wink_result_of(&request), *back;

    CHECK_STR("r-1", result.request_id.text);
    CHECK(result.completed_ms > 1700000000000);
    result.error = "no \"address\"\n";
    result.session_id = id_of("s-1");
    result.completed_ms = 1;
    back = there_and_back(lbx_wink_result_type(), &result,
                          "{\"request_id\":\"r-1\","
                          "\"error\":\"no \\\"address\\\"\\n\","
                          "\"session_id\":\"s-1\","
                          "\"completed_at\":\"1970-01-01T00:00:00.001Z\"}");
    CHECK_PTR(NULL, back->output);
    CHECK_STR(result.error, back->error);
    CHECK_STR("s-1", back->session_id.text);
    CHECK_INT(1, back->completed_ms);
    lbx_type_destroy_message(lbx_wink_result_type(), back);
}

static lbx_dead_letter_record
dead_letter(const void *body, size_t body_bytes)
{
    return (lbx_dead_letter_record){
        .size_bytes = sizeof(lbx_dead_letter_record),
        .message_id = id_of("m-1"),
        .body = body,
        .body_bytes = body_bytes,
        .body_type = "shop.Order",
        .source_mailbox = "orders",
        .delivery_count = 5,
        .last_error = "no address",
        .last_error_type = "shop.BadOrder",
        .dead_lettered_ms = 2000,
        .first_received_ms = 1000,
        .request_id = id_of("r-1"),
        .reply_mailbox = "answers",
        .trace_id = "t-1",
    };
}

TEST_CITING("W-25 R-44", dead_letters_carry_all_that_is_known)
{
    lbx_dead_letter_record record = dead_letter("a book", 6);
    lbx_dead_letter_record *back =
        there_and_back(lbx_dead_letter_record_type(), &record,
                       "{\"message_id\":\"m-1\",\"body\":\"a book\","
                       "\"body_type\":\"shop.Order\","
                       "\"source_mailbox\":\"orders\",\"delivery_count\":5,"
                       "\"last_error\":\"no address\","
                       "\"last_error_type\":\"shop.BadOrder\","
                       "\"dead_lettered_at\":\"1970-01-01T00:00:02.000Z\","
                       "\"first_received_at\":\"1970-01-01T00:00:01.000Z\","
                       "\"request_id\":\"r-1\",\"reply_mailbox\":\"answers\","
                       "\"trace_id\":\"t-1\"}");

    CHECK_STR("m-1", back->message_id.text);
    CHECK_INT(6, back->body_bytes);
    CHECK_STR("a book", back->body);
    CHECK_STR("shop.Order", back->body_type);
    CHECK_STR("orders", back->source_mailbox);
    CHECK_INT(5, back->delivery_count);
    CHECK_STR("no address", back->last_error);
    CHECK_STR("shop.BadOrder", back->last_error_type);
    CHECK_INT(2000, back->dead_lettered_ms);
    CHECK_INT(1000, back->first_received_ms);
    CHECK_STR("r-1", back->request_id.text);
    CHECK_STR("answers", back->reply_mailbox);
    CHECK_STR("t-1", back->trace_id);
    lbx_type_destroy_message(lbx_dead_letter_record_type(), back);
}

/* Whatever bytes a letter had come out of its dead letter again. */
TEST_CITING("W-25", bodies_that_are_no_text_travel_in_base64)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *name;
    } bodies[] = {
        {"", 0, "\"body\":\"\""},
        {"\0", 1, "\"body_base64\":\"AA==\""},
        {"a\0b", 3, "\"body_base64\":\"YQBi\""},
        {"\xff\xfe", 2, "\"body_base64\":\"//4=\""},
        {"\xc3\xa4", 2, "\"body\":\"\xc3\xa4\""},
        {"\xed\xa0\x80", 3, "\"body_base64\":"}, // half a pair
    };

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        lbx_dead_letter_record record =
            dead_letter(bodies[i].bytes, bodies[i].size);
        lbx_dead_letter_record *back;
        lbx_buffer json;

        lbx__buffer_init(&json, NULL, JSON_MOST);
        CHECK_OK(
            lbx_type_encode(lbx_dead_letter_record_type(), &record, &json));
        CHECK(strstr(lbx__buffer_text(&json), bodies[i].name) != NULL);
        CHECK_OK(lbx_type_decode(lbx_dead_letter_record_type(),
                                 lbx__buffer_text(&json), json.size,
                                 (void **)&back));
        CHECK_INT(bodies[i].size, back->body_bytes);
        CHECK(memcmp(bodies[i].bytes, back->body, bodies[i].size + 1) == 0);
        lbx_type_destroy_message(lbx_dead_letter_record_type(), back);
        lbx__buffer_fini(&json);
    }
}

TEST_CITING("W-24", records_without_what_is_required_are_not_encoded)
{
    lbx_wink_request request = {.payload = "1", .request_id = id_of("r")};
    lbx_wink_result result = {.output = "1", .request_id = id_of("r")};
    lbx_dead_letter_record dead = dead_letter("", 0);

    CHECK_OK(encode(lbx_wink_request_type(), &request));
    request.payload = NULL;
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_request_type(), &request));
    request.payload = "{\"a\":1,\"a\":2}"; // no JSON that we would read
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_request_type(), &request));
    request.payload = "1 2";
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_request_type(), &request));
    request.payload = "";
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_request_type(), &request));
    request.payload = "1";
    request.request_id.text[0] = '\0';
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_request_type(), &request));
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_request_type(), NULL));

    CHECK_OK(encode(lbx_wink_result_type(), &result));
    result.error = "\xff";
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_result_type(), &result));
    result.error = NULL;
    result.completed_ms = INT64_MAX;
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_result_type(), &result));
    result.completed_ms = 0;
    memset(result.request_id.text, 'x', sizeof(result.request_id.text));
    CHECK_STATUS(LBX_ENCODING, encode(lbx_wink_result_type(), &result));

    CHECK_OK(encode(lbx_dead_letter_record_type(), &dead));
    dead.body = NULL;
    CHECK_STATUS(LBX_ENCODING, encode(lbx_dead_letter_record_type(), &dead));
}

/* A payload may be as deep as the reader allows, less the record around it. */
TEST(payloads_that_could_not_be_read_again_are_not_encoded)
{
    char deep[128] = "";
    lbx_wink_request request = lbx_wink_request_of(deep);

    for (int depth = 1; depth <= 33; depth++) {
        memset(deep, '[', (size_t)depth);
        memset(deep + depth, ']', (size_t)depth);
        deep[2 * depth] = '\0';
        if (depth < 32) {
            lbx_wink_request *back =
                there_and_back(lbx_wink_request_type(), &request, NULL);

            CHECK_STR(deep, back->payload);
            lbx_type_destroy_message(lbx_wink_request_type(), back);
        } else {
            CHECK_STATUS(LBX_ENCODING,
                         encode(lbx_wink_request_type(), &request));
        }
    }
}

TEST_CITING("W-24", foreign_records_are_read_with_nulls_and_strangers)
{
    const lbx_type *type = lbx_wink_request_type();
    static const char json[] =
        " {\"experiment\": {\"payload\": 3}, \"payload\": \"a\\u00e4\" , "
        "\"request_id\": \"r\\u002d1\", \"budget\": null, "
        "\"created_at\": \"2026-11-16T11:51:35.123456+01:00\"} ";
    lbx_wink_request *request;

    CHECK_OK(lbx_type_decode(type, json, strlen(json), (void **)&request));
    CHECK_STR("\"a\\u00e4\"", request->payload); // unchanged
    CHECK_STR("r-1", request->request_id.text);
    CHECK_PTR(NULL, request->budget);
    CHECK_INT(1794826295123, request->created_ms);
    lbx_type_destroy_message(type, request);
}

TEST(texts_that_are_no_records_are_refused)
{
    static const char *const bad[] = {
        "",
        "1",
        "[]",
        "{}",
        "{\"request_id\":\"r\"}",
        "{\"payload\":1}",
        "{\"request_id\":\"r\",\"payload\":null}",
        "{\"request_id\":null,\"payload\":1}",
        "{\"request_id\":\"\",\"payload\":1}",
        "{\"request_id\":1,\"payload\":1}",
        "{\"request_id\":\"r\",\"payload\":1",
        "{\"request_id\":\"r\",\"payload\":1}x",
        "{\"request_id\":\"r\",\"payload\":1,\"payload\":1}",
        "{\"request_id\":\"r\",\"payload\":1,\"deadline\":5}",
        "{\"request_id\":\"r\",\"payload\":1,\"deadline\":\"tomorrow\"}",
        "{\"request_id\":\"r\",\"payload\":{\"x\":}}",
        ("{\"payload\":1,"
         "\"request_id\":\"0123456789012345678901234567890123456789\"}"),
    };
    static const char *const bad_dead[] = {
        "{\"message_id\":\"m\"}",
        "{\"message_id\":\"m\",\"body\":1}",
        "{\"message_id\":\"m\",\"body\":\"\",\"body_base64\":\"\"}",
        "{\"message_id\":\"m\",\"body_base64\":\"A\"}",
        "{\"message_id\":\"m\",\"body_base64\":\"AA\\u003d=\"}",
        "{\"message_id\":\"m\",\"body\":\"\",\"delivery_count\":-1}",
        "{\"message_id\":\"m\",\"body\":\"\",\"delivery_count\":1.5}",
        "{\"message_id\":\"m\",\"body\":\"\",\"delivery_count\":4294967296}",
    };

    CHECK_OK(decode(lbx_wink_request_type(),
                    "{\"request_id\":\"r\",\"payload\":1}"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (decode(lbx_wink_request_type(), bad[i]) != LBX_ENCODING)
            FAIL("%s", bad[i]);
    CHECK_OK(decode(lbx_dead_letter_record_type(),
                    "{\"message_id\":\"m\",\"body_base64\":\"\","
                    "\"delivery_count\":4294967295}"));
    for (size_t i = 0; i < sizeof(bad_dead) / sizeof(bad_dead[0]); i++)
        if (decode(lbx_dead_letter_record_type(), bad_dead[i]) != LBX_ENCODING)
            FAIL("%s", bad_dead[i]);
}

static void
encode_and_decode(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_dead_letter_record record = dead_letter("\xff\xff\xff", 3);
    lbx_buffer json;
    lbx_status status;
    void *back;

    (void)context;
    lbx__buffer_init(&json, &allocator, JSON_MOST);
    status = lbx_record_encode(&lbx__dead_letter_table, &record, &json, NULL);
    if (status == LBX_OK) {
        status =
            lbx_record_decode(&lbx__dead_letter_table, lbx__buffer_text(&json),
                              json.size, &allocator, &back, NULL);
        if (status == LBX_OK) {
            CHECK_INT(3, ((lbx_dead_letter_record *)back)->body_bytes);
            lbx_record_destroy(back);
        }
    }
    if (memory->failures > 0)
        CHECK_STATUS(LBX_NO_MEMORY, status);
    else
        CHECK_OK(status);
    lbx__buffer_fini(&json);
}

TEST(records_survive_every_failing_allocation)
{
    CHECK(torture_every_allocation(encode_and_decode, NULL) >= 3);
}

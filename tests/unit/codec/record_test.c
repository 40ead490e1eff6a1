/* SPDX-License-Identifier: Apache-2.0 */
/* Structs as JSON, by a table of their members. */
#include <letterbox/record.h>

#include "base/buffer.h"

#include "support/test.h"
#include "support/torture.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    JSON_MAX = 1 << 20
};

struct address {
    const char *street;
    double height;
};

struct order {
    char id[8];
    const char *item;
    int64_t cents;
    int32_t change;
    uint32_t count;
    bool gift;
    int64_t due_ms;
    const char *extra; /* JSON */
    void *picture;
    size_t picture_bytes;
    struct address from;
    struct address *to;
    int untold; /* no field */
    char code[4];
};

LBX_RECORD(address_record, struct address, "shop.Address",
           LBX_FIELD(struct address, street, TEXT),
           LBX_OPTIONAL(struct address, height, DOUBLE));

LBX_RECORD(order_record, struct order, "shop.Order",
           LBX_FIELD(struct order, id, CHARS),
           LBX_OPTIONAL(struct order, item, TEXT),
           LBX_OPTIONAL(struct order, cents, INT64),
           LBX_OPTIONAL(struct order, change, INT32),
           LBX_OPTIONAL(struct order, count, UINT32),
           LBX_OPTIONAL(struct order, gift, BOOL),
           LBX_OPTIONAL_NAMED("due", struct order, due_ms, TIME),
           LBX_OPTIONAL(struct order, extra, JSON),
           LBX_OPTIONAL_BYTES(struct order, picture, picture_bytes),
           LBX_FIELD_RECORD(struct order, from, address_record),
           LBX_OPTIONAL_RECORD(struct order, to, address_record),
           LBX_OPTIONAL(struct order, code, CHARS));

static const char order_json[] =
    "{\"id\":\"o-1\",\"item\":\"a \\\"book\\\"\",\"cents\":-1200,"
    "\"change\":-2147483648,\"count\":4294967295,\"gift\":true,"
    "\"due\":\"1970-01-01T00:00:01.000Z\",\"extra\":{\"a\":[1, 2]},"
    "\"picture\":\"AP8=\",\"from\":{\"street\":\"Main\",\"height\":0.1},"
    "\"to\":{\"street\":\"Side\",\"height\":-1e+300}}";

static struct address side = {"Side", -1e300};

static struct order
an_order(void)
{
    return (struct order){
        .id = "o-1",
        .item = "a \"book\"",
        .cents = -1200,
        .change = INT32_MIN,
        .count = UINT32_MAX,
        .gift = true,
        .due_ms = 1000,
        .extra = "{\"a\":[1, 2]}",
        .picture = "\0\xff",
        .picture_bytes = 2,
        .from = {"Main", 0.1},
        .to = &side,
    };
}

static void
check_order(const struct order *order)
{
    CHECK_STR("o-1", order->id);
    CHECK_STR("a \"book\"", order->item);
    CHECK_INT(-1200, order->cents);
    CHECK_INT(INT32_MIN, order->change);
    CHECK_INT(UINT32_MAX, order->count);
    CHECK(order->gift);
    CHECK_INT(1000, order->due_ms);
    CHECK_STR("{\"a\":[1, 2]}", order->extra);
    CHECK_INT(2, order->picture_bytes);
    CHECK(memcmp(order->picture, "\0\xff", 3) == 0);
    CHECK_STR("Main", order->from.street);
    CHECK(order->from.height == 0.1);
    CHECK_STR("Side", order->to->street);
    CHECK(order->to->height == -1e300);
}

static lbx_status
encode(const lbx_record *record, const void *message, const char *expected,
       lbx_fault *fault)
{
    lbx_buffer json;
    lbx_status status;

    lbx__buffer_init(&json, NULL, JSON_MAX);
    status = lbx_record_encode(record, message, &json, fault);
    if (status == LBX_OK && expected)
        CHECK_STR(expected, lbx__buffer_text(&json));
    lbx__buffer_fini(&json);
    return status;
}

TEST(records_of_every_kind_of_field_travel_as_json)
{
    const struct order order = an_order();
    struct order *back;

    CHECK_OK(encode(&order_record, &order, order_json, NULL));
    CHECK_OK(lbx_record_decode(&order_record, order_json, strlen(order_json),
                               NULL, (void **)&back, NULL));
    check_order(back);
    CHECK_OK(encode(&order_record, back, order_json, NULL));
    lbx_record_destroy(back);
}

/* What is absent is left out, and read as NULL, 0 and false; unknown names are
 * of another version. */
TEST(absent_fields_are_left_out_and_unknown_ones_ignored)
{
    static const char json[] =
        " {\"new\":{\"id\":[\"x\"]}, \"item\":null, \"from\":{\"street\":\"\"},"
        "\"code\":\"\","
        "\"id\":\"\\u0041\"} ";
    struct order *back;

    CHECK_OK(lbx_record_decode(&order_record, json, strlen(json), NULL,
                               (void **)&back, NULL));
    CHECK_STR("A", back->id);
    CHECK_PTR(NULL, back->item);
    CHECK_PTR(NULL, back->to);
    CHECK_PTR(NULL, back->picture);
    CHECK_INT(0, back->cents);
    CHECK_OK(encode(&order_record, back,
                    "{\"id\":\"A\",\"cents\":0,\"change\":0,\"count\":0,"
                    "\"gift\":false,\"from\":{\"street\":\"\",\"height\":0}}",
                    NULL));
    lbx_record_destroy(back);
}

/* Every refusal names the field, or the byte where the JSON ends. */
TEST(texts_that_are_no_such_record_are_refused_by_the_name_of_the_field)
{
    static const struct {
        const char *member; /* in {"id":"1","from":{"street":"x"},...} */
        const char *text;   /* in the fault */
    } rows[] = {
        {"\"item\":1", "shop.Order: field 'item': a string"},
        {"\"item\":\"\\u0000\"", "byte"},
        {"\"item\":\"\xff\"", "byte"},
        {"\"cents\":1.5", "'cents': a whole number"},
        {"\"cents\":1e3", "'cents': a whole number"},
        {"\"cents\":9223372036854775808", "'cents': a whole number"},
        {"\"cents\":\"1\"", "'cents': a whole number"},
        {"\"change\":2147483648", "'change': it has more than 32 bits"},
        {"\"change\":-2147483649", "'change'"},
        {"\"count\":-1", "'count': it is not 0 to 4294967295"},
        {"\"count\":4294967296", "'count'"},
        {"\"gift\":1", "'gift': true or false"},
        {"\"gift\":\"true\"", "'gift'"},
        {"\"due\":5", "'due': a time"},
        {"\"due\":\"tomorrow\"", "'due'"},
        {"\"picture\":\"A\"", "'picture': it is not base64"},
        {"\"picture\":\"AA\\u003d=\"", "'picture'"},
        {"\"picture\":[]", "'picture': a string"},
        {"\"to\":[]", "'to': an object"},
        {"\"to\":{}", "'to.street': it is missing"},
        {"\"to\":{\"street\":null}", "'to.street': it is missing"},
        {"\"to\":{\"street\":\"\",\"height\":\"1\"}", "'to.height': a number"},
        {"\"to\":{\"street\":\"\",\"height\":1e999}", "'to.height'"},
        {"\"id\":\"2\"", "byte"}, // twice
        {"\"extra\":{\"x\":}", "byte"},
        {"\"extra\":1}x", "byte"},
    };
    lbx_fault fault;
    void *record;
    char json[256];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(json, sizeof(json),
                 "{\"id\":\"1\",\"from\":{\"street\":\"x\"},%s}",
                 rows[i].member);
        fault = (lbx_fault){.text = ""};
        if (lbx_record_decode(&order_record, json, strlen(json), NULL, &record,
                              &fault) != LBX_ENCODING ||
            fault.status != LBX_ENCODING || !strstr(fault.text, rows[i].text))
            FAIL("%s: %s", json, fault.text);
    }
}

TEST(records_without_what_is_required_are_refused_by_the_name_of_the_field)
{
    static const struct {
        const char *json;
        const char *text;
    } rows[] = {
        {"", "JSON, byte 0"},
        {"[]", "an object is expected"},
        {"{}", "'id': it is missing"},
        {"{\"id\":\"\",\"from\":{\"street\":\"\"}}", "'id': it is empty"},
        {"{\"id\":\"12345678\",\"from\":{\"street\":\"\"}}",
         "'id': it is too long"},
        {"{\"id\":\"1\"}", "'from': it is missing"},
        {"{\"id\":\"1\",\"from\":null}", "'from': it is missing"},
        {"{\"id\":\"1\",\"from\":{\"street\":\"\"}", "JSON, byte"},
    };
    lbx_fault fault;
    void *record;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fault = (lbx_fault){.text = ""};
        CHECK_STATUS(LBX_ENCODING,
                     lbx_record_decode(&order_record, rows[i].json,
                                       strlen(rows[i].json), NULL, &record,
                                       &fault));
        if (!strstr(fault.text, rows[i].text))
            FAIL("%s: %s", rows[i].json, fault.text);
    }
}

/* What could not be read again is not written. */
TEST(structs_that_cannot_be_written_are_refused_by_the_name_of_the_field)
{
    char deep[80] = "";
    struct address bad = {"\xff", 0};
    struct order rows[9];
    static const char *const texts[9] = {
        "'id': it is absent", "'id': it has no NUL",  "'item': it is not UTF-8",
        "'due': it is not",   "'extra': it is not J", "'extra': it has too",
        "'from.street': it",  "'from.height': it is", "'to.street': it is not"};
    lbx_fault fault;

    memset(deep, '[', 32);
    memset(deep + 32, ']', 32);
    for (size_t i = 0; i < 9; i++)
        rows[i] = an_order();
    rows[0].id[0] = '\0';
    memset(rows[1].id, 'x', sizeof(rows[1].id));
    rows[2].item = "\xc3";
    rows[3].due_ms = INT64_MAX;
    rows[4].extra = "{\"a\":1,\"a\":2}";
    rows[5].extra = deep;
    rows[6].from.street = NULL;
    rows[7].from.height = INFINITY;
    rows[8].to = &bad;
    for (size_t i = 0; i < 9; i++) {
        fault = (lbx_fault){.text = ""};
        CHECK_STATUS(LBX_ENCODING,
                     encode(&order_record, &rows[i], NULL, &fault));
        if (!strstr(fault.text, texts[i]))
            FAIL("row %zu: %s", i, fault.text);
    }
    deep[31] = deep[32] = ' '; // one level less
    CHECK_OK(encode(&order_record, &rows[5], NULL, NULL));
}

/* Doubles come back bit by bit, whatever the program's locale. */
TEST(doubles_are_written_so_that_they_are_read_the_same)
{
    static const double numbers[] = {
        0.0,  -0.0,    0.1,    1.0 / 3,
        1e22, 5e-324,  1e-300, 1.7976931348623157e308,
        -2.5, 123456.0};
    struct address *back, address = {"", 0};
    lbx_buffer json;

    (void)setlocale(LC_ALL, "de_DE.UTF-8"); // where it is installed
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        address.height = numbers[i];
        lbx__buffer_init(&json, NULL, JSON_MAX);
        CHECK_OK(lbx_record_encode(&address_record, &address, &json, NULL));
        CHECK(!strchr(strstr(lbx__buffer_text(&json), "height"), ','));
        CHECK_OK(lbx_record_decode(&address_record, json.bytes, json.size, NULL,
                                   (void **)&back, NULL));
        CHECK(memcmp(&numbers[i], &back->height, sizeof(double)) == 0);
        lbx_record_destroy(back);
        lbx__buffer_fini(&json);
    }
}

/* A clone shares nothing with the struct it was made of. */
TEST(clones_are_independent_of_what_they_were_made_of)
{
    char item[] = "a \"book\"";
    struct order order = an_order(), *clone;

    order.item = item;
    order.untold = 7;
    CHECK_OK(lbx_record_clone(&order_record, &order, NULL, (void **)&clone));
    memset(item, 'x', sizeof(item) - 1);
    memset(&order, 0x55, sizeof(order));
    check_order(clone);
    CHECK_INT(7, clone->untold);
    lbx_record_destroy(clone);

    order = (struct order){.id = "1"};
    CHECK_OK(lbx_record_clone(&order_record, &order, NULL, (void **)&clone));
    CHECK_PTR(NULL, clone->item);
    CHECK_PTR(NULL, clone->to);
    lbx_record_destroy(clone);
}

TEST(types_of_records_encode_decode_clone_and_destroy)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    struct order order = an_order();
    struct order *back, *copy;
    lbx_type *type, *derived;
    lbx_buffer json;

    CHECK_OK(lbx_record_type_create(&order_record, NULL, &type, NULL));
    CHECK_STR("shop.Order", lbx_type_name(type));
    lbx__buffer_init(&json, NULL, JSON_MAX);
    CHECK_OK(lbx_type_encode(type, &order, &json));
    CHECK_STR(order_json, lbx__buffer_text(&json));
    CHECK_OK(lbx_type_decode(type, json.bytes, json.size, (void **)&back));
    CHECK_OK(lbx_type_clone(type, back, (void **)&copy));
    lbx_type_destroy_message(type, back);
    check_order(copy);
    lbx_type_destroy_message(type, copy);
    lbx__buffer_reset(&json);
    CHECK_STATUS(LBX_ENCODING, lbx_type_encode(type, NULL, &json));
    CHECK_STATUS(LBX_ENCODING, lbx_type_decode(type, "{}", 2, (void **)&back));
    lbx__buffer_fini(&json);

    options.name = "shop.Gift";
    options.default_priority = 3;
    options.bases = (const lbx_type *const[]){type};
    options.base_count = 1;
    CHECK_OK(lbx_record_type_create(&order_record, &options, &derived, NULL));
    CHECK(lbx_type_is_a(derived, type));
    CHECK_INT(3, lbx_type_default_priority(derived));
    CHECK_STR("shop.Gift", lbx_type_name(derived));
    lbx_type_destroy(derived);
    lbx_type_destroy(type);
}

/* Tables that contradict themselves or their structs, each with a reason. */
TEST(tables_that_contradict_themselves_are_refused)
{
    static const lbx_field good = LBX_FIELD(struct address, street, TEXT);
    static lbx_record round;
    static const lbx_field round_field[] = {{.name = "r",
                                             .kind = LBX_FIELD_KIND_RECORD,
                                             .extra = sizeof(struct address),
                                             .record = &round}};
    lbx_field fields[2] = {good, good};
    lbx_record record = {sizeof(record), "x", sizeof(struct address),
                         fields,         1,   sizeof(lbx_field)};
    const lbx_record table = record;
    struct order order = an_order();
    char name[58] = ""; // with "_base64" one too many
    lbx_fault fault;
    lbx_type *type;
    void *copy;

    CHECK_OK(lbx_record_type_create(&record, NULL, &type, NULL));
    lbx_type_destroy(type);
#define REFUSED(reason, change)                                                \
    do {                                                                       \
        record = table;                                                        \
        fields[0] = fields[1] = good;                                          \
        fault = (lbx_fault){.text = ""};                                       \
        change;                                                                \
        CHECK_STATUS(LBX_INVALID,                                              \
                     lbx_record_type_create(&record, NULL, &type, &fault));    \
        CHECK_STATUS(LBX_INVALID,                                              \
                     lbx_record_clone(&record, &order, NULL, &copy));          \
        if (fault.status != LBX_INVALID || !strstr(fault.text, reason))        \
            FAIL("%s", fault.text);                                            \
    } while (0)
    REFUSED("LBX_RECORD()", record.size_bytes = 8);
    REFUSED("1 to 64 fields", record.field_count = 0);
    REFUSED("1 to 64 fields", record.field_count = 65);
    REFUSED("1 to 64 fields", record.fields = NULL);
    REFUSED("1 to 64 fields", record.field_bytes = 8);
    REFUSED("1 to 64 fields", record.name = NULL);
    REFUSED("another field has its name", record.field_count = 2);
    REFUSED("not empty", fields[0].name = "");
    REFUSED("not empty", fields[0].name = NULL);
    REFUSED("too long",
            (memset(name, 'n', sizeof(name) - 1), fields[0].name = name));
    REFUSED("outside the struct", fields[0].kind = (lbx_field_kind)99);
    REFUSED("outside the struct",
            fields[0].offset_bytes = sizeof(struct address) - 7);
    REFUSED("outside the struct", fields[0].offset_bytes = SIZE_MAX);
    REFUSED("its size is outside", (fields[0].kind = LBX_FIELD_KIND_BYTES,
                                    fields[0].extra = 16 * sizeof(order)));
    REFUSED("the record is NULL", fields[0].kind = LBX_FIELD_KIND_POINTER);
    REFUSED("not the one of its record",
            (fields[0].kind = LBX_FIELD_KIND_POINTER, fields[0].extra = 1,
             fields[0].record = &address_record));
    round = (lbx_record){sizeof(round), "r", sizeof(struct address),
                         round_field,   1,   sizeof(lbx_field)};
    REFUSED("records inside one another", record = round);
#undef REFUSED
    CHECK_STATUS(LBX_INVALID,
                 lbx_record_type_create(NULL, NULL, &type, &fault));
    CHECK_STATUS(LBX_INVALID,
                 lbx_record_type_create(&order_record, NULL, NULL, &fault));
    CHECK_STATUS(LBX_INVALID, lbx_record_decode(&order_record, NULL, 0, NULL,
                                                &copy, &fault));
    CHECK_STATUS(LBX_INVALID,
                 lbx_record_encode(&order_record, NULL, NULL, &fault));
    CHECK_STATUS(LBX_INVALID,
                 lbx_record_clone(&order_record, NULL, NULL, &copy));
    lbx_record_destroy(NULL);
}

/* Structs one inside the other, each by a table of its own. */
struct link {
    struct link *next;
    int64_t number;
    char padding[8]; /* so that two do not follow each other aligned */
};

TEST(records_are_inside_records_up_to_eight_levels)
{
    static lbx_field fields[9][2];
    static lbx_record chain[9];
    char json[400] = "";
    struct link *first;

    for (size_t i = 0; i < 9; i++) {
        fields[i][0] = (lbx_field)LBX_OPTIONAL(struct link, number, INT64);
        fields[i][1] =
            (lbx_field)LBX_OPTIONAL_RECORD(struct link, next, chain[0]);
        fields[i][1].record = i < 8 ? &chain[i + 1] : NULL;
        chain[i] =
            (lbx_record){sizeof(lbx_record), "link",        sizeof(struct link),
                         fields[i],          i < 8 ? 2 : 1, sizeof(lbx_field)};
    }
    CHECK_STATUS(LBX_INVALID, lbx_record_decode(&chain[0], "{}", 2, NULL,
                                                (void **)&first, NULL));
    for (int i = 0; i < 8; i++)
        strcat(json, i < 7 ? "{\"number\":1,\"next\":" : "{\"number\":1}");
    strcat(json, "}}}}}}}");
    CHECK_OK(lbx_record_decode(&chain[1], json, strlen(json), NULL,
                               (void **)&first, NULL));
    for (const struct link *at = first; at; at = at->next) {
        CHECK_INT(1, at->number);
        CHECK_INT(0, (uintptr_t)at % _Alignof(max_align_t));
    }
    lbx_record_destroy(first);
}

/* Rows of a newer program are longer: what is 0 there asks for nothing. */
TEST(rows_that_are_longer_are_read_by_their_size)
{
    struct {
        lbx_field field;
        size_t newer;
    } rows[2] = {{LBX_FIELD(struct address, street, TEXT), 0},
                 {LBX_OPTIONAL(struct address, height, DOUBLE), 0}};
    const lbx_record record = {sizeof(record), "x", sizeof(struct address),
                               &rows[0].field, 2,   sizeof(rows[0])};
    const struct address address = {"Main", 2};
    lbx_fault fault;

    CHECK_OK(
        encode(&record, &address, "{\"street\":\"Main\",\"height\":2}", NULL));
    rows[1].newer = 1;
    CHECK_STATUS(LBX_INVALID, encode(&record, &address, NULL, &fault));
    CHECK(strstr(fault.text, "does not have"));
}

static void
there_and_back(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    const struct order order = an_order();
    void *back = NULL, *clone = NULL;
    lbx_fault fault;
    lbx_buffer json;
    lbx_status status;

    (void)context;
    lbx__buffer_init(&json, &allocator, JSON_MAX);
    status = lbx_record_encode(&order_record, &order, &json, &fault);
    if (status == LBX_OK)
        status = lbx_record_decode(&order_record, json.bytes, json.size,
                                   &allocator, &back, &fault);
    if (status == LBX_OK)
        status = lbx_record_clone(&order_record, back, &allocator, &clone);
    if (memory->failures > 0) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
    } else {
        CHECK_OK(status);
        check_order(clone);
    }
    lbx_record_destroy(clone);
    lbx_record_destroy(back);
    lbx__buffer_fini(&json);
}

TEST(records_survive_every_failing_allocation_there_and_back)
{
    CHECK(torture_every_allocation(there_and_back, NULL) >= 4);
}

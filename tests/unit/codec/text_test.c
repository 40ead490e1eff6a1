/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as text: the published pairs, and that nothing else is accepted. */
#include "codec/base64.h"
#include "codec/hex.h"
#include "codec/random.h"
#include "codec/uuid.h"
#include "support/test.h"

#include <string.h>

/* RFC 4648, section 10. */
static const char *const pairs[][3] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xff\xbf", "+/+/", "-_-_"},
};

TEST(base64_writes_and_reads_the_published_pairs)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const size_t size = strlen(pairs[i][0]);

        for (int kind = LBX__BASE64; kind <= LBX__BASE64_URL; kind++) {
            const char *wanted = pairs[i][1 + kind];
            char text[16], bytes[16];
            size_t decoded = 99;

            lbx__base64_encode((lbx__base64)kind, pairs[i][0], size, text);
            CHECK_STR(wanted, text);
            CHECK_INT(strlen(wanted),
                      lbx__base64_text_size((lbx__base64)kind, size));
            CHECK(size <= lbx__base64_max_bytes(strlen(wanted)));
            CHECK(lbx__base64_decode((lbx__base64)kind, text, strlen(text),
                                     bytes, &decoded));
            CHECK_INT(size, decoded);
            CHECK(memcmp(bytes, pairs[i][0], size) == 0);
        }
    }
}

/* Two texts for one value would be two receipts for one delivery. */
TEST(base64_refuses_every_other_text)
{
    static const char *const padded[] = {
        "Zg",       "Zg=",  "Zg===",    "Zh==",  "Zm9=",
        "Z===",     "====", "=",        "Zm9v ", "Zm\n8=",
        "Zm8=Zm8=", "-_-_", "Zg==Zg==", "Z",     "\xff\xff\xff\xff",
    };
    static const char *const plain[] = {"Zg==", "Z", "Zh", "Zm9vY", "+/+/"};
    char bytes[32];
    size_t size;

    for (size_t i = 0; i < sizeof(padded) / sizeof(padded[0]); i++)
        CHECK(!lbx__base64_decode(LBX__BASE64, padded[i], strlen(padded[i]),
                                  bytes, &size));
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        CHECK(!lbx__base64_decode(LBX__BASE64_URL, plain[i], strlen(plain[i]),
                                  bytes, &size));
}

TEST(base64_brings_every_size_back)
{
    uint8_t bytes[100], back[101];
    char text[140];
    size_t size;

    CHECK(lbx__random(bytes, sizeof(bytes)));
    for (size_t i = 0; i <= sizeof(bytes); i++) {
        for (int kind = LBX__BASE64; kind <= LBX__BASE64_URL; kind++) {
            lbx__base64_encode((lbx__base64)kind, bytes, i, text);
            CHECK(lbx__base64_decode((lbx__base64)kind, text, strlen(text),
                                     back, &size));
            CHECK_INT(i, size);
            CHECK(memcmp(bytes, back, i) == 0);
        }
    }
}

TEST(hex_is_lower_case_and_nothing_else)
{
    uint8_t bytes[2] = {0x0a, 0xf9};
    char text[5];

    lbx__hex_encode(bytes, 2, text);
    CHECK_STR("0af9", text);
    memset(bytes, 0, sizeof(bytes));
    CHECK(lbx__hex_decode(text, 4, bytes));
    CHECK_INT(0x0a, bytes[0]);
    CHECK_INT(0xf9, bytes[1]);
    CHECK(!lbx__hex_decode("0AF9", 4, bytes));
    CHECK(!lbx__hex_decode("0af9", 3, bytes));
    CHECK(!lbx__hex_decode("0g", 2, bytes));
    CHECK(!lbx__hex_decode(" 1", 2, bytes));
}

TEST(uuid_has_one_text)
{
    static const char text[] = "00112233-4455-6677-8899-aabbccddeeff";
    static const char *const others[] = {
        "00112233-4455-6677-8899-aabbccddeef",
        "00112233-4455-6677-8899-aabbccddeeff0",
        "001122334455-6677-8899-aabbccddeeff-",
        "00112233-4455-6677-8899-AABBCCDDEEFF",
        "",
        "-",
    };
    uint8_t bytes[LBX__UUID_BYTES];
    char back[LBX__UUID_TEXT_BYTES];

    CHECK(lbx__uuid_parse(text, bytes));
    CHECK_INT(0xff, bytes[15]);
    lbx__uuid_format(bytes, back);
    CHECK_STR(text, back);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(!lbx__uuid_parse(others[i], bytes));
    lbx__uuid_mark_random(bytes);
    lbx__uuid_format(bytes, back);
    CHECK_STR("00112233-4455-4677-8899-aabbccddeeff", back);
}

TEST(random_bytes_differ)
{
    uint8_t one[600], two[600];

    memset(one, 0, sizeof(one));
    CHECK(lbx__random(one, sizeof(one)));
    CHECK(lbx__random(two, sizeof(two)));
    CHECK(memcmp(one, two, sizeof(one)) != 0);
    // The last part is filled too: 88 bytes are not all 0 by chance.
    CHECK(one[512] || memcmp(one + 512, one + 513, 87) != 0);
}

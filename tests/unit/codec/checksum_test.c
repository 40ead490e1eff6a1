/* SPDX-License-Identifier: Apache-2.0 */
/* Sums: the published values, and that both ways agree. */
#include "codec/crc32c.h"
#include "codec/endian.h"
#include "codec/hash64.h"
#include "support/test.h"

#include <string.h>

/* RFC 3720, B.4. They are on disk for ever. */
TEST(crc32c_gives_the_published_sums)
{
    uint8_t bytes[32];

    CHECK_INT(0xe3069283, lbx__crc32c(0, "123456789", 9));
    CHECK_INT(0, lbx__crc32c(0, "", 0));
    memset(bytes, 0, sizeof(bytes));
    CHECK_INT(0x8a9136aa, lbx__crc32c(0, bytes, sizeof(bytes)));
    memset(bytes, 0xff, sizeof(bytes));
    CHECK_INT(0x62a8ab43, lbx__crc32c(0, bytes, sizeof(bytes)));
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    CHECK_INT(0x46dd794e, lbx__crc32c(0, bytes, sizeof(bytes)));
}

/* A store written on one machine is read on another. */
TEST(crc32c_of_a_byte_is_that_of_one_byte)
{
    for (int i = 0; i < 256; i++) {
        const uint8_t byte = (uint8_t)i;

        CHECK_INT(lbx__crc32c(0, &byte, 1), lbx__crc32c_byte(byte));
    }
}

TEST(crc32c_is_the_same_with_and_without_the_processors_help)
{
    uint8_t bytes[200];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t from = 0; from < 9; from++) {
        for (size_t size = 0; size + from <= sizeof(bytes); size++) {
            const uint32_t whole = lbx__crc32c(7, bytes + from, size);
            const uint32_t half = lbx__crc32c(7, bytes + from, size / 2);

            CHECK_INT(whole, lbx__crc32c_plain(7, bytes + from, size));
            CHECK_INT(whole, lbx__crc32c(half, bytes + from + size / 2,
                                         size - size / 2));
        }
    }
}

/* XXH64's own values for short texts and, through its lanes, longer ones. */
TEST(hash64_gives_the_published_sums)
{
    CHECK(lbx__hash64(0, "", 0) == 0xef46db3751d8e999);
    CHECK(lbx__hash64(0, "a", 1) == 0xd24ec4f1a98c6e5b);
    CHECK(lbx__hash64(0, "abc", 3) == 0x44bc2cf5ad770999);
    CHECK(lbx__hash64(0, "Nobody inspects the spammish repetition", 39) ==
          0xfbcea83c8a378bf1);
    CHECK(lbx__hash64(20141025, "xxhash", 6) == 0xb559b98d844e0635);
}

/* Keys are compared as bytes: their order must be that of the numbers. */
TEST(packed_numbers_are_in_order_and_come_back)
{
    static const uint64_t numbers[] = {
        0, 1, 255, 256, 65535, 65536, 1u << 31, (uint64_t)1 << 40, UINT64_MAX,
    };
    uint8_t before[9], now[9];

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        CHECK_PTR(now + 9, lbx__put_be64(now + 1, numbers[i]));
        CHECK(lbx__get_be64(now + 1) == numbers[i]);
        if (i > 0)
            CHECK(memcmp(before + 1, now + 1, 8) < 0);
        memcpy(before, now, sizeof(before));
        lbx__put_le64(now + 1, numbers[i]);
        CHECK(lbx__get_le64(now + 1) == numbers[i]);
        CHECK_INT((uint8_t)numbers[i], now[1]);
        lbx__put_be32(now + 1, (uint32_t)numbers[i]);
        CHECK(lbx__get_be32(now + 1) == (uint32_t)numbers[i]);
        CHECK_INT((uint8_t)numbers[i], now[4]);
        lbx__put_le16(now + 1, (uint16_t)numbers[i]);
        CHECK(lbx__get_le16(now + 1) == (uint16_t)numbers[i]);
    }
}

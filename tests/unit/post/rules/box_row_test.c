/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a box: rows of older versions are read, those of newer ones are
 * refused. */
#include "post/rules/box_row.h"

#include "codec/endian.h"
#include "support/test.h"

#include <string.h>

enum {
    NUMBERS = 18 /* of this version */
};

static size_t
encode(const lbx_box_options *options, uint8_t *bytes, size_t size)
{
    lbx_buffer out;
    size_t used;

    lbx__buffer_init(&out, NULL, 4096);
    lbx__box_row_encode_options(options, &out);
    CHECK_OK(out.status);
    CHECK(out.size <= size);
    used = out.size;
    memcpy(bytes, out.bytes, used);
    lbx__buffer_fini(&out);
    return used;
}

/* Options that are not the default up to `wait_ns`, which is number 12. */
static lbx_box_options
unusual(void)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    options.limits.max_leased = 7;
    options.lease_ns = 11;
    options.wait_ns = 13;
    return options;
}

/* What a store has from its first version: the numbers are where they were. */
TEST(a_row_of_the_first_version_is_read)
{
    static const uint8_t flags = 1 | 2; // strict, keep_position
    uint8_t row[NUMBERS * 8 + 4] = {1}; // format 1, no count, no text
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    uint8_t written[512];
    lbx_box_options read;

    lbx__put_le64(row + 8, 70);      // max_lease_ns
    lbx__put_le64(row + 8 * 10, 71); // lease_ns
    lbx__put_le64(row + 8 * 14, 72); // capacity_letters
    row[8 * 15] = flags;
    CHECK_OK(lbx__box_row_decode_options((lbx__bytes){row, sizeof(row)}, buffer,
                                         &read));
    CHECK_INT(70, read.limits.max_lease_ns);
    CHECK_INT(71, read.lease_ns);
    CHECK_INT(72, read.capacity_letters);
    CHECK(read.strict && read.keep_position && !read.fifo);
    CHECK(!read.dead_letters && read.dead_letter_box_count == 0);
    CHECK_INT(sizeof(row), encode(&read, written, sizeof(written)));
    CHECK(memcmp(row, written, sizeof(row)) == 0); // BOXROW-1
}

/* BOXROW-2: as this version reads rows from before its last numbers, so will a
 * later one read those of today. */
TEST(a_row_without_the_last_numbers_has_their_defaults)
{
    const lbx_box_options options = unusual();
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    uint8_t row[512], written[512];
    lbx_box_options read;
    const size_t size = encode(&options, row, sizeof(row));

    for (size_t count = 13; count < NUMBERS; count++) {
        uint8_t older[512];

        memcpy(older, row, 8 * count);
        memcpy(older + 8 * count, row + 8 * NUMBERS, size - 8 * NUMBERS);
        lbx__put_le32(older + 4, (uint32_t)count);
        CHECK_OK(lbx__box_row_decode_options(
            (lbx__bytes){older, size - 8 * (NUMBERS - count)}, buffer, &read));
        CHECK_INT(size, encode(&read, written, sizeof(written)));
        CHECK(memcmp(row, written, size) == 0);
    }
}

TEST(a_row_of_a_newer_version_is_refused_as_newer)
{
    const lbx_box_options options = unusual();
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    uint8_t row[512] = {0};
    lbx_box_options read;
    const size_t size = encode(&options, row, sizeof(row));
    const lbx__bytes bytes = {row, size + 8};

    lbx__put_le32(row + 4, NUMBERS + 1); // a number that is not known here
    CHECK_STATUS(LBX_NEWER, lbx__box_row_decode_options(bytes, buffer, &read));
    lbx__put_le32(row + 4, 10000); // more than there are
    CHECK_STATUS(LBX_CORRUPT,
                 lbx__box_row_decode_options(bytes, buffer, &read));
    lbx__put_le32(row + 4, 0);
    lbx__put_le32(row, 2);
    CHECK_STATUS(LBX_NEWER, lbx__box_row_decode_options(bytes, buffer, &read));
    lbx__put_le32(row, 0);
    CHECK_STATUS(LBX_CORRUPT,
                 lbx__box_row_decode_options(bytes, buffer, &read));
    CHECK_INT(size, encode(&options, row, sizeof(row)));
    row[8 * 15] |= 0x20; // a flag that is not known here
    CHECK_STATUS(LBX_NEWER, lbx__box_row_decode_options((lbx__bytes){row, size},
                                                        buffer, &read));
    CHECK_INT(size, encode(&options, row, sizeof(row)));
    row[8 * 15 + 1] = LBX_DEDUPLICATION_GROUP + 1; // nor words
    CHECK_STATUS(LBX_NEWER, lbx__box_row_decode_options((lbx__bytes){row, size},
                                                        buffer, &read));
    CHECK_INT(size, encode(&options, row, sizeof(row)));
    row[8 * 15 + 2] = LBX_DEAD_LETTER_ALLOW_LISTED + 1;
    CHECK_STATUS(LBX_NEWER, lbx__box_row_decode_options((lbx__bytes){row, size},
                                                        buffer, &read));
}

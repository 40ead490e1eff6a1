/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of letters, as a damaged or foreign file may have them. The first
 * byte of an input is even for a body and odd for a state; the rest is the
 * value without its sum, which is computed here, so that the decoders behind it
 * are reached.
 *
 * A value with a bit flipped is refused (ROW-1). What a decoder accepts is
 * encoded again, and those bytes decode and encode to the same; memory for it
 * is bounded by its size (BODY-1).
 */
#include "codec/crc32c.h"
#include "post/rules/body.h"
#include "post/rules/row.h"
#include "target.h"

static bool
encode_body_again(lbx__bytes value, lbx_buffer *out)
{
    lbx__attributes attributes = {.allocator = NULL};
    uint8_t fixed[LBX__BODY_FIXED];
    lbx__body body;
    const bool good = lbx__body_decode(value, &attributes, &body) == LBX_OK;

    must_be(attributes.capacity <= value.size / 16);
    if (good) {
        const size_t source = body.source ? strlen(body.source) + 1 : 0;

        lbx__body_fixed(&body, fixed);
        lbx__buffer_add(out, fixed, sizeof(fixed));
        lbx__body_encode(&body.parcel, body.source, out);
        lbx__buffer_add(out, body.parcel.body, body.parcel.body_bytes);
        must_be(lbx__body_row_bytes(&body.parcel) + source == out->size);
        must_be(lbx__body_parcel_bytes(&body.parcel) <= (int64_t)value.size);
    }
    lbx__body_attributes_fini(&attributes);
    return good;
}

static bool
encode_state_again(lbx__bytes value, lbx_buffer *out)
{
    uint8_t bytes[LBX__STATE_BYTES];
    lbx__state state;

    if (lbx__body_decode_state(value, &state) != LBX_OK)
        return false;
    lbx__body_encode_state(&state, bytes);
    lbx__buffer_add(out, bytes, sizeof(bytes));
    must_be(memcmp(bytes, value.data, sizeof(bytes)) == 0);
    return true;
}

/* The value with its sum is read; with a bit flipped it is not. */
static void
check_sum(lbx__table table, const uint8_t *data, size_t size)
{
    const lbx__key key = lbx__key_2(7, 11);
    const lbx__bytes row_key = lbx__key_bytes(&key);
    uint8_t *row = malloc(LBX__SUM_BYTES + size);
    const lbx__bytes value = {row, LBX__SUM_BYTES + size};
    uint32_t sum =
        lbx__crc32c(lbx__crc32c_byte((uint8_t)table), key.bytes, key.size);
    lbx__bytes rest;

    must_be(row != NULL);
    if (size > 0)
        memcpy(row + LBX__SUM_BYTES, data, size);
    sum = lbx__crc32c(sum, data, size);
    lbx__put_le32(row, sum);
    must_be(lbx__row_check(table, row_key, value, &rest) == LBX_OK &&
            rest.size == size);
    row[sum % value.size] ^= (uint8_t)(1 << sum % 8);
    must_be(lbx__row_check(table, row_key, value, &rest) == LBX_CORRUPT);
    free(row);
}

/* What was accepted, encoded: true when `out` has it. */
static bool
encode_again(lbx__table table, lbx__bytes value, lbx_buffer *out)
{
    return table == LBX__BODIES ? encode_body_again(value, out)
                                : encode_state_again(value, out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const lbx__table table =
        size > 0 && data[0] % 2 ? LBX__STATES : LBX__BODIES;
    const size_t value_size = size > 0 ? size - 1 : 0;
    uint8_t *exact = copy_exactly(data + (size > 0), value_size);
    lbx_buffer once, twice;

    lbx__buffer_init(&once, NULL, 1 << 20);
    lbx__buffer_init(&twice, NULL, 1 << 20);
    check_sum(table, exact, value_size);
    if (encode_again(table, (lbx__bytes){exact, value_size}, &once)) {
        const lbx__bytes again = {once.bytes, once.size};

        must_be(encode_again(table, again, &twice) && once.size == twice.size &&
                memcmp(once.bytes, twice.bytes, once.size) == 0);
    }
    lbx__buffer_fini(&once);
    lbx__buffer_fini(&twice);
    free(exact);
    return 0;
}

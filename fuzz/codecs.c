/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small texts: each input is read as a timestamp, base64 of both kinds,
 * hexadecimal digits and a UUID; and each is written as base64 and digits.
 *
 * Bytes come back from their texts as they were. A text that is accepted is the
 * only one of its bytes (BASE64-1); a timestamp that is accepted can be
 * written, and is read back as the same instant.
 */
#include "codec/base64.h"
#include "codec/hex.h"
#include "codec/timestamp.h"
#include "codec/uuid.h"
#include "target.h"

static void
check_timestamp(const char *text, size_t size)
{
    char again[LBX__TIMESTAMP_BYTES];
    int64_t once, twice;

    if (!lbx__timestamp_parse(text, size, &once))
        return;
    must_be(lbx__timestamp_format(once, again));
    must_be(lbx__timestamp_parse(again, strlen(again), &twice) &&
            once == twice);
}

/* Any eight bytes are a number of milliseconds. */
static void
check_instant(const uint8_t *data, size_t size)
{
    char text[LBX__TIMESTAMP_BYTES];
    int64_t once, twice;

    if (size < sizeof(once))
        return;
    memcpy(&once, data, sizeof(once));
    if (lbx__timestamp_format(once, text))
        must_be(lbx__timestamp_parse(text, strlen(text), &twice) &&
                once == twice);
}

static void
check_base64(lbx__base64 kind, const char *text, size_t size)
{
    const size_t limit = lbx__base64_max_bytes(size);
    char *bytes = malloc(limit ? limit : 1);
    char *again;
    size_t found;

    must_be(bytes != NULL);
    if (lbx__base64_decode(kind, text, size, bytes, &found)) {
        must_be(found <= limit && lbx__base64_text_size(kind, found) == size);
        again = malloc(size + 1);
        must_be(again != NULL);
        lbx__base64_encode(kind, bytes, found, again);
        must_be(again[size] == '\0' && memcmp(again, text, size) == 0);
        free(again);
    }
    free(bytes);
}

static void
check_base64_of(lbx__base64 kind, const uint8_t *data, size_t size)
{
    const size_t length = lbx__base64_text_size(kind, size);
    char *text = malloc(length + 1), *bytes = malloc(size + 3);
    size_t found;

    must_be(text && bytes);
    lbx__base64_encode(kind, data, size, text);
    must_be(strlen(text) == length);
    must_be(lbx__base64_decode(kind, text, length, bytes, &found) &&
            found == size && memcmp(bytes, data, size) == 0);
    free(text);
    free(bytes);
}

static void
check_hex(const uint8_t *data, size_t size)
{
    char *text = malloc(2 * size + 1);
    uint8_t *bytes = malloc(size ? size : 1);

    must_be(text && bytes);
    lbx__hex_encode(data, size, text);
    must_be(strlen(text) == 2 * size &&
            lbx__hex_decode(text, 2 * size, bytes) &&
            memcmp(bytes, data, size) == 0);
    if (size % 2 == 0 && lbx__hex_decode((const char *)data, size, bytes)) {
        lbx__hex_encode(bytes, size / 2, text);
        must_be(memcmp(text, data, size) == 0);
    }
    free(text);
    free(bytes);
}

static void
check_uuid(const char *text)
{
    uint8_t bytes[LBX__UUID_BYTES];
    char again[LBX__UUID_TEXT_BYTES];

    if (!lbx__uuid_parse(text, bytes))
        return;
    lbx__uuid_format(bytes, again);
    must_be(strcmp(text, again) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = copy_text(data, size), *exact = copy_exactly(data, size);

    check_timestamp(exact, size);
    check_instant(data, size);
    check_base64(LBX__BASE64, exact, size);
    check_base64(LBX__BASE64_URL, exact, size);
    check_base64_of(LBX__BASE64, (const uint8_t *)exact, size);
    check_base64_of(LBX__BASE64_URL, (const uint8_t *)exact, size);
    check_hex((const uint8_t *)exact, size);
    check_uuid(text);
    free(text);
    free(exact);
    return 0;
}

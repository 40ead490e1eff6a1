/* SPDX-License-Identifier: Apache-2.0 */
/* Receipts as text; see receipt.h. */
#include "post/rules/receipt.h"

#include "codec/base64.h"

#include <string.h>

enum {
    RECEIPT_VERSION = 1,
    RECEIPT_NUMBERS =
        1 + LBX__RECEIPT_PACKED, /* with the version: what the MAC covers */
    RECEIPT_WHOLE = RECEIPT_NUMBERS + LBX__RECEIPT_MAC
};

_Static_assert((RECEIPT_WHOLE * 4 + 2) / 3 + 1 == LBX__RECEIPT_TEXT,
               "a receipt's text is as long as it says");

/* The MAC of version and numbers, apart from all else the key is used for. */
static lbx_status
receipt_mac(lbx__mac *mac, const uint8_t *numbers,
            uint8_t hash[LBX__SHA256_BYTES])
{
    static const char purpose[] = "letterbox receipt";
    uint8_t input[sizeof(purpose) + RECEIPT_NUMBERS];

    memcpy(input, purpose, sizeof(purpose));
    memcpy(input + sizeof(purpose), numbers, RECEIPT_NUMBERS);
    return lbx__mac_all(mac, input, sizeof(input), hash);
}

lbx_status
lbx__receipt_text(lbx__mac *mac, const lbx__receipt *receipt,
                  char text[LBX__RECEIPT_TEXT])
{
    uint8_t whole[RECEIPT_WHOLE], hash[LBX__SHA256_BYTES];
    lbx_status status;

    whole[0] = RECEIPT_VERSION;
    lbx__receipt_pack(receipt, whole + 1);
    status = receipt_mac(mac, whole, hash);
    if (status != LBX_OK)
        return status;
    memcpy(whole + RECEIPT_NUMBERS, hash, LBX__RECEIPT_MAC);
    lbx__base64_encode(LBX__BASE64_URL, whole, RECEIPT_WHOLE, text);
    return LBX_OK;
}

lbx_status
lbx__receipt_parse(lbx__mac *mac, const char *text, lbx__receipt *ret)
{
    uint8_t whole[RECEIPT_WHOLE + 3], hash[LBX__SHA256_BYTES];
    size_t size;
    lbx_status status;

    if (strnlen(text, LBX__RECEIPT_TEXT) != LBX__RECEIPT_TEXT - 1 ||
        !lbx__base64_decode(LBX__BASE64_URL, text, LBX__RECEIPT_TEXT - 1, whole,
                            &size) ||
        size != RECEIPT_WHOLE || whole[0] != RECEIPT_VERSION)
        return LBX_INVALID;
    status = receipt_mac(mac, whole, hash);
    if (status != LBX_OK)
        return status;
    if (!lbx__mac_equal(hash, whole + RECEIPT_NUMBERS, LBX__RECEIPT_MAC))
        return LBX_INVALID;
    *ret = lbx__receipt_unpack(whole + 1);
    return LBX_OK;
}

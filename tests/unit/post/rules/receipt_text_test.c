/* SPDX-License-Identifier: Apache-2.0 */
/* Receipts as text: what this store made, and nothing else. */
#include "codec/base64.h"
#include "codec/random.h"
#include "post/rules/receipt.h"
#include "support/test.h"

#include <string.h>

static const lbx__receipt sample = {
    .box = 0x0102030405060708,
    .sequence = 0xfffefdfcfbfaf9f8,
    .epoch = 7,
    .era = 0x80000001,
};

static lbx__mac *
make_key(const char *key)
{
    lbx__mac *mac;

    CHECK_OK(lbx__mac_create(NULL, key, strlen(key), &mac));
    return mac;
}

static bool
same(const lbx__receipt *a, const lbx__receipt *b)
{
    return a->box == b->box && a->sequence == b->sequence &&
           a->epoch == b->epoch && a->era == b->era;
}

TEST(receipts_come_back_from_bytes_and_text)
{
    lbx__mac *mac = make_key("a store's key");
    uint8_t bytes[LBX__RECEIPT_PACKED];
    char text[LBX__RECEIPT_TEXT], again[LBX__RECEIPT_TEXT];
    lbx__receipt back;

    lbx__receipt_pack(&sample, bytes);
    CHECK_INT(1, bytes[0]);
    CHECK_INT(1, bytes[23]);
    back = lbx__receipt_unpack(bytes);
    CHECK(same(&sample, &back));
    memset(&back, 0, sizeof(back));
    CHECK_OK(lbx__receipt_text(mac, &sample, text));
    CHECK_INT(LBX__RECEIPT_TEXT - 1, strlen(text));
    CHECK_OK(lbx__receipt_parse(mac, text, &back));
    CHECK(same(&sample, &back));
    CHECK_OK(lbx__receipt_text(mac, &back, again));
    CHECK_STR(text, again);
    lbx__mac_destroy(mac);
}

/* Receipts outlive a process, and a library's version: the form is fixed. */
TEST(receipts_of_version_1_stay_readable)
{
    lbx__mac *mac = make_key("a store's key");
    lbx__receipt back;
    char text[LBX__RECEIPT_TEXT];

    CHECK_OK(lbx__receipt_text(mac, &sample, text));
    CHECK_STR("AQECAwQFBgcI__79_Pv6-fgAAAAHgAAAAWjD8T-ihB6y03RwSgg3UFw", text);
    CHECK_OK(lbx__receipt_parse(
        mac, "AQECAwQFBgcI__79_Pv6-fgAAAAHgAAAAWjD8T-ihB6y03RwSgg3UFw", &back));
    CHECK(same(&sample, &back));
    lbx__mac_destroy(mac);
}

/* Every character, every other character of the alphabet in its place. */
TEST(receipts_that_were_changed_are_refused)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm"
                                   "nopqrstuvwxyz0123456789-_+/= \n";
    lbx__mac *mac = make_key("a store's key");
    char text[LBX__RECEIPT_TEXT], changed[LBX__RECEIPT_TEXT];
    lbx__receipt back = sample;

    CHECK_OK(lbx__receipt_text(mac, &sample, text));
    for (size_t at = 0; at < sizeof(text) - 1; at++) {
        for (size_t i = 0; i < sizeof(alphabet) - 1; i++) {
            memcpy(changed, text, sizeof(text));
            changed[at] = alphabet[i];
            CHECK_STATUS(changed[at] == text[at] ? LBX_OK : LBX_INVALID,
                         lbx__receipt_parse(mac, changed, &back));
            CHECK(same(&sample, &back));
        }
        memcpy(changed, text, sizeof(text));
        changed[at] = '\0';
        CHECK_STATUS(LBX_INVALID, lbx__receipt_parse(mac, changed, &back));
    }
    lbx__mac_destroy(mac);
}

TEST(receipts_of_other_stores_and_forged_ones_are_refused)
{
    lbx__mac *mac = make_key("a store's key"), *other = make_key("another's");
    char text[LBX__RECEIPT_TEXT + 1];
    uint8_t bytes[41];
    lbx__receipt back;

    CHECK_OK(lbx__receipt_text(other, &sample, text));
    CHECK_STATUS(LBX_INVALID, lbx__receipt_parse(mac, text, &back));
    CHECK_OK(lbx__receipt_text(mac, &sample, text));
    memcpy(text + LBX__RECEIPT_TEXT - 1, "A", 2);
    CHECK_STATUS(LBX_INVALID, lbx__receipt_parse(mac, text, &back));
    CHECK_STATUS(LBX_INVALID, lbx__receipt_parse(mac, "", &back));
    for (long i = test_rounds(2000, 100000); i > 0; i--) {
        CHECK(lbx__random(bytes, sizeof(bytes)));
        bytes[0] = 1;
        lbx__base64_encode(LBX__BASE64_URL, bytes, sizeof(bytes), text);
        CHECK_STATUS(LBX_INVALID, lbx__receipt_parse(mac, text, &back));
    }
    lbx__mac_destroy(mac);
    lbx__mac_destroy(other);
}

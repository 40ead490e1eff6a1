/* SPDX-License-Identifier: Apache-2.0 */
/* Digests: the published values; contexts that are used again. */
#include "codec/digest.h"
#include "codec/hex.h"
#include "codec/mac.h"
#include "support/test.h"
#include "support/torture.h"

#include <string.h>

static void
check_hash(const char *wanted, const uint8_t hash[LBX__SHA256_BYTES])
{
    char text[2 * LBX__SHA256_BYTES + 1];

    lbx__hex_encode(hash, LBX__SHA256_BYTES, text);
    CHECK_STR(wanted, text);
}

/* FIPS 180-2. */
TEST(sha256_gives_the_published_hashes_again_and_again)
{
    uint8_t hash[LBX__SHA256_BYTES];
    lbx__digest *digest;

    CHECK_OK(lbx__digest_create(NULL, &digest));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(lbx__digest_all(digest, "abc", 3, hash));
        check_hash("ba7816bf8f01cfea414140de5dae2223"
                   "b00361a396177a9cb410ff61f20015ad",
                   hash);
        CHECK_OK(lbx__digest_all(digest, "", 0, hash));
        check_hash("e3b0c44298fc1c149afbf4c8996fb924"
                   "27ae41e4649b934ca495991b7852b855",
                   hash);
        lbx__digest_start(digest);
        lbx__digest_add(digest, "a", 1);
        lbx__digest_add(digest, "bc", 2);
        CHECK_OK(lbx__digest_finish(digest, hash));
        check_hash("ba7816bf8f01cfea414140de5dae2223"
                   "b00361a396177a9cb410ff61f20015ad",
                   hash);
    }
    // Finished is finished: there is nothing to hash.
    CHECK_STATUS(LBX_NO_MEMORY, lbx__digest_finish(digest, hash));
    lbx__digest_destroy(digest);
    lbx__digest_destroy(NULL);
}

/* RFC 4231, cases 1, 2 and 6. */
TEST(hmac_gives_the_published_codes_again_and_again)
{
    uint8_t key[131], hash[LBX__SHA256_BYTES];
    lbx__mac *mac, *second;

    memset(key, 0x0b, 20);
    CHECK_OK(lbx__mac_create(NULL, key, 20, &mac));
    CHECK_OK(lbx__mac_create(NULL, "Jefe", 4, &second));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(lbx__mac_all(mac, "Hi There", 8, hash));
        check_hash("b0344c61d8db38535ca8afceaf0bf12b"
                   "881dc200c9833da726e9376c2e32cff7",
                   hash);
        CHECK_OK(
            lbx__mac_all(second, "what do ya want for nothing?", 28, hash));
        check_hash("5bdcc146bf60754e6a042426089575c7"
                   "5a003f089d2739839dec58b964ec3843",
                   hash);
    }
    lbx__mac_destroy(mac);
    lbx__mac_destroy(second);
    memset(key, 0xaa, sizeof(key));
    CHECK_OK(lbx__mac_create(NULL, key, sizeof(key), &mac));
    CHECK_OK(lbx__mac_all(
        mac, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
        hash));
    check_hash("60e431591ee0b67f0d8a26aacbf5b77f"
               "8e0bc6213728c5140546040f0ee37f54",
               hash);
    lbx__mac_destroy(mac);
    lbx__mac_destroy(NULL);
}

/* Two ways to the same code, for keys around the size of a block. */
TEST(hmac_with_a_key_that_is_used_once_is_the_same)
{
    uint8_t key[131], once[LBX__SHA256_BYTES], hash[LBX__SHA256_BYTES];
    lbx__digest *digest;
    lbx__mac *mac;

    for (size_t i = 0; i < sizeof(key); i++)
        key[i] = (uint8_t)(i * 7);
    CHECK_OK(lbx__digest_create(NULL, &digest));
    for (size_t size = 0; size <= sizeof(key); size++) {
        CHECK_OK(lbx__mac_create(NULL, key, size, &mac));
        CHECK_OK(lbx__mac_all(mac, "Hi There", 8, hash));
        CHECK_OK(lbx__mac_once(digest, key, size, "Hi There", 8, once));
        CHECK(memcmp(hash, once, sizeof(hash)) == 0);
        lbx__mac_destroy(mac);
    }
    lbx__digest_destroy(digest);
}

TEST(secrets_are_compared_whole)
{
    uint8_t a[16] = {0}, b[16] = {0};

    CHECK(lbx__mac_equal(a, b, sizeof(a)));
    for (size_t i = 0; i < sizeof(a); i++) {
        b[i] = 1;
        CHECK(!lbx__mac_equal(a, b, sizeof(a)));
        b[i] = 0;
    }
}

static void
make_both(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx__digest *digest = NULL;
    lbx__mac *mac = NULL;
    lbx_status status = lbx__digest_create(&allocator, &digest);

    (void)context;
    CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
    status = lbx__mac_create(&allocator, "key", 3, &mac);
    CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
    lbx__digest_destroy(digest);
    lbx__mac_destroy(mac);
}

TEST(digests_survive_every_failing_allocation)
{
    CHECK(torture_every_allocation(make_both, NULL) > 0);
}

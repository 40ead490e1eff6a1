/* SPDX-License-Identifier: Apache-2.0 */
/* MD5: the published hashes, and one object for each thread. */
#include "codec/md5.h"
#include "support/test.h"

#include <pthread.h>
#include <string.h>

/* RFC 1321, A.5. */
static const char *const pairs[][2] = {
    {"", "d41d8cd98f00b204e9800998ecf8427e"},
    {"a", "0cc175b9c0f1b6a831c399e269772661"},
    {"abc", "900150983cd24fb0d6963f7d28e17f72"},
    {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
    {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
    {"1234567890123456789012345678901234567890123456789012345678901234567890123"
     "4567890",
     "57edf4a22be3c955ac49da2e2107b67a"},
};

TEST(md5_has_the_published_hashes)
{
    char text[LBX__MD5_TEXT_BYTES];
    lbx__md5 *md5;

    CHECK_OK(lbx__md5_create(NULL, &md5));
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const char *message = pairs[i][0];
        const size_t size = strlen(message), half = size / 2;

        lbx__md5_start(md5);
        lbx__md5_add(md5, message, half);
        lbx__md5_add(md5, message + half, size - half);
        CHECK_OK(lbx__md5_finish(md5, text));
        CHECK_STR(pairs[i][1], text);
    }
    lbx__md5_destroy(md5);
    lbx__md5_destroy(NULL);
}

TEST(md5_needs_a_start)
{
    char text[LBX__MD5_TEXT_BYTES] = "before";
    lbx__md5 *md5;

    CHECK_OK(lbx__md5_create(NULL, &md5));
    lbx__md5_add(md5, "a", 1);
    CHECK_STATUS(LBX_NO_MEMORY, lbx__md5_finish(md5, text));
    CHECK_STR("before", text);
    lbx__md5_start(md5);
    CHECK_OK(lbx__md5_finish(md5, text));
    CHECK_STATUS(LBX_NO_MEMORY, lbx__md5_finish(md5, text));
    lbx__md5_destroy(md5);
}

static void *
take_md5(void *other)
{
    lbx__md5 *md5 = lbx__md5_of_thread();
    char text[LBX__MD5_TEXT_BYTES];

    CHECK(md5);
    CHECK(md5 != other);
    CHECK_PTR(md5, lbx__md5_of_thread());
    lbx__md5_start(md5);
    lbx__md5_add(md5, "abc", 3);
    CHECK_OK(lbx__md5_finish(md5, text));
    CHECK_STR(pairs[2][1], text);
    return NULL;
}

/* It is freed when the thread ends: the leak sanitizer sees to that. */
TEST(each_thread_has_an_md5_of_its_own)
{
    lbx__md5 *mine = lbx__md5_of_thread();

    for (int i = 0; i < 3; i++) {
        pthread_t thread;

        CHECK_INT(0, pthread_create(&thread, NULL, take_md5, mine));
        CHECK_INT(0, pthread_join(thread, NULL));
    }
    CHECK_PTR(mine, lbx__md5_of_thread());
}

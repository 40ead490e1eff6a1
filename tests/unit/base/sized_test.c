/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of programs and libraries of different versions. */
#include "base/sized.h"
#include "support/test.h"

#include <string.h>

/* A struct in three versions. */
struct first {
    size_t size_bytes;
    int32_t a;
    int32_t b;
};
struct second {
    size_t size_bytes;
    int32_t a;
    int32_t b;
    int64_t c;
};
struct third {
    size_t size_bytes;
    int32_t a;
    int32_t b;
    int64_t c;
    void *d;
};

enum {
    MIN_BYTES = LBX__SIZED_MIN(struct first, b)
};

#define X_INIT                                                                 \
    {                                                                          \
        .size_bytes = sizeof(struct second), .a = -1, .b = -2, .c = -3         \
    }

LBX__SIZED(second_sized, struct second, b, X_INIT);

static lbx_status
read_second(const void *from, struct second *ret, lbx_fault *fault)
{
    ret->a = 99;
    return lbx__sized_read(ret, from, &second_sized, fault);
}

/* A library that knows the second version reads all three. */
TEST(sized_older_and_newer_structs_are_read)
{
    const struct first older = {sizeof(older), 1, 2};
    const struct second same = {sizeof(same), 1, 2, 3};
    const struct third newer = {sizeof(newer), 1, 2, 3, NULL};
    struct second read;

    CHECK_OK(read_second(&older, &read, NULL));
    CHECK_INT(1, read.a);
    CHECK_INT(2, read.b);
    CHECK_INT(-3, read.c); // its default
    CHECK_INT(sizeof(read), read.size_bytes);
    CHECK_OK(read_second(&same, &read, NULL));
    CHECK_INT(3, read.c);
    CHECK_OK(read_second(&newer, &read, NULL));
    CHECK_INT(3, read.c);
    CHECK_OK(read_second(NULL, &read, NULL));
    CHECK_INT(-1, read.a); // the defaults
}

/* A struct of today's size is not copied. */
TEST(sized_structs_of_todays_size_are_used_where_they_are)
{
    const struct first older = {sizeof(older), 1, 2};
    const struct second same = {sizeof(same), 1, 2, 3};
    const struct second zeroed = {0};
    const struct second *defaults;
    struct second own;
    lbx_fault fault;

    CHECK_PTR(&same, lbx__sized_view(&same, &own, &second_sized, NULL));
    CHECK_PTR(&own, lbx__sized_view(&older, &own, &second_sized, NULL));
    CHECK_INT(-3, own.c);
    defaults = lbx__sized_view(NULL, &own, &second_sized, NULL);
    CHECK_INT(-2, defaults->b);
    CHECK_PTR(NULL, lbx__sized_view(&zeroed, &own, &second_sized, &fault));
    CHECK(strstr(fault.text, "X_INIT"));
}

/* An array of an older program has its elements closer together. */
TEST(sized_arrays_have_the_stride_of_their_first)
{
    const struct first older[] = {{sizeof(older[0]), 1, 2},
                                  {sizeof(older[0]), 3, 4}};

    CHECK_PTR(&older[0], lbx__sized_at(older, 0));
    CHECK_PTR(&older[1], lbx__sized_at(older, 1));
    CHECK(LBX__SIZED_HAS(&older[0], struct second, b));
    CHECK(!LBX__SIZED_HAS(&older[0], struct second, c));
}

TEST(sized_unknown_members_are_refused)
{
    // One bit, in the first byte.
    const struct third newer = {sizeof(newer), 1, 2, 3, (void *)(uintptr_t)1};
    struct second read;
    lbx_fault fault;

    CHECK_STATUS(LBX_INVALID, read_second(&newer, &read, &fault));
    CHECK(strstr(fault.text, "X_INIT"));
    CHECK(strstr(fault.text, "does not know"));
}

TEST(sized_struct_without_its_init_is_refused)
{
    struct second zeroed, junk, read;
    lbx_fault fault;

    memset(&zeroed, 0, sizeof(zeroed));
    CHECK_STATUS(LBX_INVALID, read_second(&zeroed, &read, &fault));
    CHECK(strstr(fault.text, "start it with X_INIT"));
    memset(&junk, 0xff, sizeof(junk));
    CHECK_STATUS(LBX_INVALID, read_second(&junk, &read, &fault));
    CHECK_INT(99, read.a); // untouched
}

/* What the library writes fits the program's struct, whichever is longer. */
TEST(sized_results_fit_the_callers_struct)
{
    const struct second from = {sizeof(from), 1, 2, 3};
    struct {
        struct first older;
        int64_t behind;
    } guarded = {{sizeof(struct first), 0, 0}, 77};
    int junk;
    struct third newer = {sizeof(newer), 0, 0, 0, &junk};

    CHECK_OK(lbx__sized_write(&guarded.older, &from, sizeof(from), MIN_BYTES));
    CHECK_INT(2, guarded.older.b);
    CHECK_INT(sizeof(struct first), guarded.older.size_bytes);
    CHECK_INT(77, guarded.behind);
    CHECK_OK(lbx__sized_write(&newer, &from, sizeof(from), MIN_BYTES));
    CHECK_INT(3, newer.c);
    CHECK(!newer.d);
    CHECK_INT(sizeof(newer), newer.size_bytes);
    newer.size_bytes = 3;
    CHECK_STATUS(LBX_INVALID,
                 lbx__sized_write(&newer, &from, sizeof(from), MIN_BYTES));
}

/* A size that no version will have comes from memory that was not started: the
 * library neither reads nor clears what is behind it. */
TEST(sized_struct_of_a_size_beyond_reason_is_refused)
{
    const struct second from = {sizeof(from), 1, 2, 3};
    struct {
        struct second result;
        int64_t behind[16];
    } guarded = {{.size_bytes = LBX__SIZED_GROWTH * sizeof(from) + 1}, {77}};
    struct second read;

    CHECK(!LBX__SIZED_IS_WRITABLE(&guarded.result, struct second, b));
    CHECK_STATUS(LBX_INVALID, lbx__sized_write(&guarded.result, &from,
                                               sizeof(from), MIN_BYTES));
    CHECK_INT(77, guarded.behind[0]);
    CHECK_INT(0, guarded.result.a);
    CHECK_STATUS(LBX_INVALID, read_second(&guarded.result, &read, NULL));
}

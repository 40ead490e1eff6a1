/* SPDX-License-Identifier: Apache-2.0 */
/* Times that do not overflow. */
#include "base/time.h"
#include "support/test.h"

TEST(time_sums_stay_in_range)
{
    CHECK_INT(5, lbx__time_add(2, 3));
    CHECK_INT(-1, lbx__time_add(2, -3));
    CHECK_INT(LBX_FOREVER, lbx__time_add(LBX_FOREVER, -3));
    CHECK_INT(LBX_FOREVER, lbx__time_add(LBX_FOREVER - 1, 2));
    CHECK_INT(INT64_MIN, lbx__time_add(INT64_MIN + 1, -2));
}

TEST(time_products_stay_in_range)
{
    CHECK_INT(LBX_SECOND, lbx__time_scale(1000, LBX_MS));
    CHECK_INT(LBX_FOREVER, lbx__time_scale(INT64_MAX / 2, 3));
}

TEST(time_left_is_what_a_futex_takes)
{
    CHECK_INT(-1, lbx__time_left(LBX_FOREVER, 7));
    CHECK_INT(0, lbx__time_left(7, 7));
    CHECK_INT(0, lbx__time_left(6, 7));
    CHECK_INT(3, lbx__time_left(10, 7));
    CHECK_INT(-1, lbx__time_left(LBX_FOREVER - 1, -5));
}

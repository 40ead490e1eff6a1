/* SPDX-License-Identifier: Apache-2.0 */
/* Store time and the era, over kills, boots and clocks that are set. */
#include "fixture.h"
#include "support/clock.h"

/* Store time never goes back: through kills and boots; setting the wall clock
 * does not move it. */
TEST(time_goes_on_through_boots_and_never_back)
{
    struct faulty_io faulty;
    const char *path = test_path();
    lbx__storage *storage;
    int64_t before, after;

    faulty_init(&faulty);
    faulty.boot_ns = 500 * LBX_SECOND;
    faulty.wall_ns = 1700000000 * LBX_SECOND;
    storage = fixture_open(path, NULL, &faulty.io);
    before = lbx__storage_now(storage);
    faulty.boot_ns += 10 * LBX_SECOND;
    faulty.wall_ns += 5000 * LBX_SECOND; // set by hand
    CHECK_INT(before + 10 * LBX_SECOND, lbx__storage_now(storage));
    faulty.wall_ns -= 4990 * LBX_SECOND;
    lbx__storage_close(storage);
    before = before + 10 * LBX_SECOND;

    // The same boot, later.
    faulty.boot_ns += LBX_SECOND;
    faulty.wall_ns += LBX_SECOND;
    storage = fixture_open(path, NULL, &faulty.io);
    CHECK_INT(before + LBX_SECOND, lbx__storage_now(storage));
    lbx__storage_close(storage);
    before += LBX_SECOND;

    // Another boot, an hour later by the wall.
    faulty.boot[0] = 1;
    faulty.boot_ns = 3 * LBX_SECOND;
    faulty.wall_ns += 3600 * LBX_SECOND;
    storage = fixture_open(path, NULL, &faulty.io);
    after = lbx__storage_now(storage);
    CHECK_INT(before + 3600 * LBX_SECOND, after);
    lbx__storage_close(storage);

    // Another, and the wall clock has been set back a year.
    faulty.boot[0] = 2;
    faulty.boot_ns = LBX_SECOND;
    faulty.wall_ns -= 365 * 86400 * LBX_SECOND;
    storage = fixture_open(path, NULL, &faulty.io);
    CHECK(lbx__storage_now(storage) >= after);
    CHECK(lbx__storage_now(storage) < after + LBX_SECOND);
    lbx__storage_close(storage);
}

/* Below level sync a reboot may have lost answers; receipts must show. */
TEST(the_era_grows_after_a_reboot_below_level_sync)
{
    static const struct {
        lbx_durability level;
        bool boots;
        uint32_t era;
    } cases[] = {
        {LBX_DURABILITY_POWER_CUT, true, 0},
        {LBX_DURABILITY_PROCESS, false, 0},
        {LBX_DURABILITY_PROCESS, true, 1},
        {LBX_DURABILITY_INTERVAL, true, 1},
    };

    for (size_t i = 0; i < 4; i++) {
        lbx_store_options options = fixture_options();
        struct faulty_io faulty;
        const char *copy = test_path();
        const char *path = test_path();
        lbx__storage *storage;

        faulty_init(&faulty);
        faulty.boot_ns = faulty.wall_ns = LBX_SECOND;
        options.durability = cases[i].level;
        storage = fixture_open(path, &options, &faulty.io);
        CHECK_INT(0, lbx__file_era(storage));
        CHECK_OK(store_text(storage, "a", "1"));
        fixture_copy_store(path, copy);
        lbx__storage_close(storage);
        faulty.boot[0] = cases[i].boots;
        storage = fixture_open(copy, &options, &faulty.io);
        CHECK_INT(cases[i].era, lbx__file_era(storage));
        lbx__storage_close(storage);
        // And not again when it was closed well.
        faulty.boot[0] = 7;
        storage = fixture_open(copy, &options, &faulty.io);
        CHECK_INT(cases[i].era, lbx__file_era(storage));
        lbx__storage_close(storage);
    }
}

TEST(an_injected_clock_is_the_time_but_does_not_go_back)
{
    lbx_store_options options = fixture_options();
    struct test_clock time = TEST_CLOCK_INIT;
    const lbx_clock clock = test_clock_interface(&time);
    const char *path = test_path();
    lbx__storage *storage;

    test_clock_set(&time, INT64_C(2000000000) * LBX_SECOND);
    options.clock = &clock;
    storage = fixture_open(path, &options, NULL);
    CHECK_INT(test_clock_now(&time), lbx__storage_now(storage));
    test_clock_advance(&time, LBX_SECOND);
    CHECK_INT(test_clock_now(&time), lbx__storage_now(storage));
    lbx__storage_close(storage);
    test_clock_advance(&time, -LBX_SECOND);
    storage = fixture_open(path, &options, NULL);
    CHECK_INT(test_clock_now(&time) + LBX_SECOND, lbx__storage_now(storage));
    lbx__storage_close(storage);
}

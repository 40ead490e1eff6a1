/* SPDX-License-Identifier: Apache-2.0 */
/* Putting a letter aside, step by step: in which order the stores are written,
 * and that a letter is not lost when a step fails. */
#include "failing.h"

static void
put_aside(struct fixture *fx, struct diary *diary)
{
    open_with_policy(fx, 1);
    fixture_send(fx, "a book");
    fx->store.before = write_down;
    fx->store.context = diary;
    fixture_run(fx, 1);
    fx->store.before = NULL;
}

TEST_CITING("R-44", first_the_reply_then_the_dead_letter_with_the_end)
{
    struct diary diary = {.fail_at = 0};
    FIXTURE(fx);

    put_aside(&fx, &diary);
    CHECK_STR("RB", diary.text);
}

TEST_CITING("R-44", an_error_reply_may_fail)
{
    struct diary diary = {.fail_at = 1, .status = LBX_UNREACHABLE};
    FIXTURE(fx);

    put_aside(&fx, &diary);
    CHECK_STR("RB", diary.text);
    CHECK_COUNTS(&fx, "answers", 0, 0, 0);
    CHECK_COUNTS(&fx, "dead", 1, 0, 0);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
}

TEST_CITING("R-44", what_cannot_be_put_aside_is_not_lost)
{
    static const lbx_status failures[] = {LBX_FULL, LBX_UNREACHABLE,
                                          LBX_NO_SPACE, LBX_UNKNOWN};

    for (size_t i = 0; i < 4; i++) {
        struct diary diary = {.fail_at = 2, .status = failures[i]};
        FIXTURE(fx);

        put_aside(&fx, &diary);
        CHECK_STR("RBN", diary.text);
        CHECK_COUNTS(&fx, "dead", 0, 0, 0);
        CHECK_COUNTS(&fx, "requests", 0, 0, 1);
        CHECK_INT(0, fixture_stats(&fx)->dead_letters);
        CHECK_INT(1, fixture_stats(&fx)->returned);
        CHECK(fixture_has_logged(&fx, "not put aside"));
    }
}

static lbx_status
fail_too_late(lbx_job *job, void *context)
{
    struct fixture *fx = context;

    fixture_advance(fx, 301 * LBX_SECOND);
    return lbx_job_fail(job, LBX_REFUSED, "slow", "too slow");
}

/* Another consumer has it meanwhile: it is never in both boxes. */
COURIER_TEST("R-44", a_letter_that_is_not_ours_any_more_is_not_put_aside,
             open_with_policy(fx, 1))
{
    fx->options.handle = fail_too_late;
    fx->options.context = fx;
    fixture_deliver(fx, "a book", 1);
    CHECK_COUNTS(fx, "dead", 0, 0, 0);
    CHECK_COUNTS(fx, "requests", 1, 0, 0);
    CHECK_INT(1, fixture_stats(fx)->lost_leases);
    CHECK_INT(0, fixture_stats(fx)->dead_letters);
    CHECK(!fixture_has_logged(fx, "it is tried again")); // by another
}

/* ---- Dead letters in another store ---- */

struct apart {
    struct fixture fx;
    struct fake_store other;
    lbx_postbox *dead;
};

static void
open_apart(struct apart *apart, struct diary *diary)
{
    open_with_policy(&apart->fx, 1);
    fake_store_open(&apart->other, &apart->fx.time);
    CHECK_OK(
        lbx_postbox_open_in(&apart->other.base, "dead", NULL, &apart->dead));
    apart->fx.options.dead_letters.postbox = apart->dead;
    fixture_send(&apart->fx, "a book");
    apart->fx.store.before = apart->other.before = write_down;
    apart->fx.store.context = apart->other.context = diary;
}

static void
check_dead_apart(struct apart *apart, size_t count)
{
    size_t ready, leased, delayed;

    fake_store_count(&apart->other, "dead", &ready, &leased, &delayed);
    CHECK_INT(count, ready);
    CHECK_INT(0, leased + delayed);
}

static void
close_apart(struct apart *apart)
{
    lbx_postbox_unref(apart->dead);
    fixture_close(&apart->fx);
    lbx_store_unref(&apart->other.base);
}

/* Runs with a store that fails at one step: the steps that were made, the dead
 * letters, and the requests that are leased and delayed then. */
static void
run_apart(struct apart *apart, struct diary *diary, const char *steps,
          size_t dead, size_t leased, size_t delayed)
{
    open_apart(apart, diary);
    fixture_run(&apart->fx, 1);
    CHECK_STR(steps, diary->text);
    check_dead_apart(apart, dead);
    CHECK_COUNTS(&apart->fx, "requests", 0, leased, delayed);
}

TEST_CITING("R-44", in_another_store_the_dead_letter_comes_before_the_end)
{
    struct diary diary = {.fail_at = 0};
    struct apart apart;

    run_apart(&apart, &diary, "RDA", 1, 0, 0);
    CHECK_INT(1, fixture_stats(&apart.fx)->dead_letters);
    CHECK_INT(1, fixture_stats(&apart.fx)->acknowledged);
    close_apart(&apart);
}

TEST_CITING("R-44", what_another_store_does_not_take_is_not_lost)
{
    struct diary diary = {.fail_at = 2, .status = LBX_UNREACHABLE};
    struct apart apart;

    run_apart(&apart, &diary, "RDN", 0, 0, 1);
    CHECK_INT(0, fixture_stats(&apart.fx)->dead_letters);
    close_apart(&apart);
}

/* A crash between the dead letter and the acknowledgement: it is put aside
 * again, and is there once. */
TEST_CITING("R-44", a_letter_that_dies_twice_is_aside_once)
{
    struct diary diary = {.fail_at = 3, .status = LBX_UNREACHABLE};
    struct apart apart;

    run_apart(&apart, &diary, "RDA", 1, 1, 0); // still leased
    CHECK_INT(1, fixture_stats(&apart.fx)->unsettled);
    fixture_advance(&apart.fx, 300 * LBX_SECOND);
    fixture_run(&apart.fx, 1);
    CHECK_COUNTS(&apart.fx, "requests", 0, 0, 0);
    check_dead_apart(&apart, 1);
    close_apart(&apart);
}

/* Another consumer has it meanwhile: the acknowledgement is too late, and
 * harmless. */
TEST_CITING("R-44",
            in_another_store_an_expired_lease_does_not_stop_a_dead_letter)
{
    struct diary diary = {.fail_at = 0};
    struct apart apart;

    open_apart(&apart, &diary);
    apart.fx.options.handle = fail_too_late;
    apart.fx.options.context = &apart.fx;
    fixture_run(&apart.fx, 1);
    check_dead_apart(&apart, 1);
    CHECK_COUNTS(&apart.fx, "requests", 1, 0, 0);
    CHECK_INT(1, fixture_stats(&apart.fx)->lost_leases);
    close_apart(&apart);
}

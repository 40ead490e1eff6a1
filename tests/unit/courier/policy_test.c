/* SPDX-License-Identifier: Apache-2.0 */
/* When a failed letter comes back, and when it does not. */
#include "courier/policy.h"

#include "courier/courier_options.h"

#include "support/test.h"

TEST_CITING("W-20 W-25", delays_grow_by_a_minute_up_to_fifteen)
{
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;

    CHECK_INT(60 * LBX_SECOND, lbx__policy_retry_delay(&options, 1));
    CHECK_INT(120 * LBX_SECOND, lbx__policy_retry_delay(&options, 2));
    CHECK_INT(840 * LBX_SECOND, lbx__policy_retry_delay(&options, 14));
    CHECK_INT(900 * LBX_SECOND, lbx__policy_retry_delay(&options, 15));
    CHECK_INT(900 * LBX_SECOND, lbx__policy_retry_delay(&options, 16));
    CHECK_INT(900 * LBX_SECOND, lbx__policy_retry_delay(&options, UINT32_MAX));
}

TEST(pauses_double_from_ten_milliseconds_to_ten_seconds)
{
    static const int64_t pauses_ms[] = {10,  20,   40,   80,   160,   320,
                                        640, 1280, 2560, 5120, 10000, 10000};
    int64_t pause_ns = 0;

    for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(pauses_ms[0]); i++) {
        pause_ns = lbx__policy_pause(pause_ns);
        CHECK_INT(pauses_ms[i] * LBX_MS, pause_ns);
    }
}

TEST(delays_keep_their_limits_whatever_these_are)
{
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;

    options.retry_ns = 0;
    CHECK_INT(0, lbx__policy_retry_delay(&options, 3));
    options.retry_ns = INT64_MAX;
    CHECK_INT(900 * LBX_SECOND, lbx__policy_retry_delay(&options, 1));
    options.max_retry_ns = INT64_MAX;
    CHECK_INT(INT64_MAX, lbx__policy_retry_delay(&options, 1));
    CHECK_INT(INT64_MAX, lbx__policy_retry_delay(&options, 2)); // would not fit
    options.retry_ns = 60 * LBX_SECOND;
    options.max_retry_ns = 0;
    CHECK_INT(0, lbx__policy_retry_delay(&options, 1));
    options = lbx_courier_options_for_dead_letters();
    CHECK_INT(3600 * LBX_SECOND, lbx__policy_retry_delay(&options, 1));
    CHECK_INT(3600 * LBX_SECOND, lbx__policy_retry_delay(&options, 99));
    CHECK_INT(300 * LBX_SECOND, options.lease_ns);
    CHECK_INT(20 * LBX_SECOND, options.wait_ns);
    CHECK_PTR(NULL, options.dead_letters.postbox);
}

/* Rules never look into a postbox. */
static lbx_postbox *
some_postbox(void)
{
    static char there;

    return (lbx_postbox *)(void *)&there;
}

static lbx_dead_letter_policy
policy(void)
{
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;

    options.dead_letters.postbox = some_postbox();
    return options.dead_letters;
}

static lbx_verdict
judge(const lbx_dead_letter_policy *rules, const char *type, uint32_t count)
{
    lbx_job_failure failure = {
        .status = LBX_REFUSED, .error_type = type, .delivery_count = count};

    return lbx__policy_verdict(rules, &failure);
}

TEST_CITING("R-44", the_fifth_delivery_is_the_last)
{
    lbx_dead_letter_policy rules = policy();

    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "x", 1));
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "x", 4));
    CHECK_INT(LBX_VERDICT_DEAD_LETTER, judge(&rules, "x", 5));
    CHECK_INT(LBX_VERDICT_DEAD_LETTER, judge(&rules, "x", 6));
    rules.deliveries = 6; // WINK's "more than five"
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "x", 5));
    CHECK_INT(LBX_VERDICT_DEAD_LETTER, judge(&rules, "x", 6));
    rules.postbox = NULL; // no policy
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "x", 1000));
}

TEST_CITING("R-44", errors_can_be_included_and_excluded_by_whole_names)
{
    static const char *const include[] = {"shop.Bad", "shop.Both"};
    static const char *const exclude[] = {"shop.Busy", "shop.Both"};
    lbx_dead_letter_policy rules = policy();

    rules.include = include;
    rules.include_count = 2;
    rules.exclude = exclude;
    rules.exclude_count = 2;
    CHECK_INT(LBX_VERDICT_DEAD_LETTER, judge(&rules, "shop.Bad", 1)); // at once
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "shop.Busy", 99));     // never
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "shop.Both", 99));     // it wins
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "shop.BadOrder", 1));
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "shop.Ba", 1));
    CHECK_INT(LBX_VERDICT_DEAD_LETTER, judge(&rules, "shop.BusyToo", 5));
}

static lbx_verdict
turn_round(void *context, const lbx_job_failure *failure)
{
    int *asked = context;

    ++*asked;
    return failure->verdict == LBX_VERDICT_DEAD_LETTER
               ? LBX_VERDICT_RETRY
               : LBX_VERDICT_DEAD_LETTER;
}

TEST_CITING("R-44", a_program_can_decide_knowing_the_rules)
{
    lbx_dead_letter_policy rules = policy();
    int asked = 0;

    rules.decide = turn_round;
    rules.context = &asked;
    CHECK_INT(LBX_VERDICT_DEAD_LETTER, judge(&rules, "x", 1));
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "x", 5));
    CHECK_INT(2, asked);
    rules.postbox = NULL;
    CHECK_INT(LBX_VERDICT_RETRY, judge(&rules, "x", 1));
    CHECK_INT(2, asked); // there is nothing to decide
}

static lbx_status
work(lbx_job *job, void *context)
{
    (void)job;
    (void)context;
    return LBX_OK;
}

static void
stuck(void *context, int64_t silent_ns)
{
    (void)context;
    (void)silent_ns;
}

static lbx_courier_options
sound(void)
{
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;

    options.postbox = some_postbox();
    options.handle = work;
    return options;
}

TEST(options_that_cannot_be_kept_are_named)
{
    const char *nothing[] = {NULL};
    lbx_courier_options options = sound();

#define REFUSED(change)                                                        \
    do {                                                                       \
        options = sound();                                                     \
        change;                                                                \
        CHECK(lbx__courier_options_fault(&options) != NULL);                   \
    } while (0)

    CHECK_PTR(NULL, lbx__courier_options_fault(&options));
    REFUSED(options.postbox = NULL);
    REFUSED(options.handle = NULL);
    REFUSED(options.handlers = 0);
    REFUSED(options.handlers = 1025);
    REFUSED(options.max_letters = 0);
    REFUSED(options.max_letters = 11);
    REFUSED(options.lease_ns = -1);
    REFUSED(options.lease_ns = 0);
    REFUSED(options.lease_ns = LBX_MS - 1);
    REFUSED(options.extend_every_ns = -1);
    REFUSED(options.extend_to_ns = options.extend_every_ns);
    REFUSED(options.retry_ns = -1);
    REFUSED(options.max_retry_ns = -1);
    REFUSED(options.stuck = stuck; options.watchdog_ns = 20 * LBX_SECOND);
    REFUSED(options.stuck = stuck; options.watchdog_ns = 0;
            options.wait_ns = LBX_DEFAULT);
    REFUSED(options.stuck = stuck; options.wait_ns = -1);
    REFUSED(options.dead_letters = policy();
            options.dead_letters.deliveries = 0);
    REFUSED(options.dead_letters = policy();
            options.dead_letters.include_count = 1);
    REFUSED(options.dead_letters = policy();
            options.dead_letters.exclude_count = 1);
    REFUSED(options.dead_letters = policy();
            options.dead_letters.include = nothing;
            options.dead_letters.include_count = 1);
    REFUSED(options.dead_letters = policy();
            options.dead_letters.exclude = nothing;
            options.dead_letters.exclude_count = 1);
#undef REFUSED

    options = sound();
    options.lease_ns = LBX_DEFAULT;
    options.wait_ns = -1; // for ever, without a watchdog
    options.extend_every_ns = 0;
    options.extend_to_ns = 0;
    CHECK_PTR(NULL, lbx__courier_options_fault(&options));
}

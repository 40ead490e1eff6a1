/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and what creation says about bad ones: LBX_INVALID, a sentence that
 * names the setting, and nothing left behind (R-09, reliability 86 and 87).
 */
#include <stdlib.h>
#include <string.h>

#include "mailbox/fixture.h"
#include <letterbox/compat/akka.h>
#include <letterbox/compat/cellex.h>
#include <letterbox/compat/vela.h>

// Creation is refused, and the sentence speaks of `word`.
static void
check_refused(const char *kind, lbx_mailbox_options options, const char *word)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx_producer *in = letter(1);
    lbx_consumer *out = letter(2);

    options.fault = &fault;
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_create(kind, &options, &in, &out));
    CHECK_STATUS(LBX_INVALID, fault.status);
    if (!strstr(fault.text, word))
        FAIL("\"%s\" does not speak of %s", fault.text, word);
    CHECK_PTR(letter(1), in); // outputs are written on success only
    CHECK_PTR(letter(2), out);
}

static void
check_capacity_refused(int64_t capacity)
{
    lbx_mailbox_options options =
        limited_options(capacity, LBX_OVERFLOW_REJECT);

    check_refused(LBX_KIND_BOUNDED, options, "capacity");
}

TEST_CITING("R-09", capacity_of_zero_is_refused)
{
    check_capacity_refused(0);
}

TEST_CITING("R-09", negative_capacity_is_refused)
{
    check_capacity_refused(-1);
    check_capacity_refused(-10);
}

// 87: a number that no machine can keep is bad input, not a failed malloc
// after an overflow in size arithmetic.
TEST_CITING("R-09", capacity_beyond_all_memory_is_refused)
{
    check_capacity_refused(INT64_MAX - 1);
}

// Memory as far as a gigabyte goes; sanitizers stop at a malloc of more.
static void *
allocate_modestly(void *context, size_t size_bytes, size_t align_bytes)
{
    void *block = NULL;

    (void)context;
    if (size_bytes > (size_t)1 << 30)
        return NULL;
    if (align_bytes < sizeof(void *))
        align_bytes = sizeof(void *);
    return posix_memalign(&block, align_bytes, size_bytes) == 0 ? block : NULL;
}

static void
release_plainly(void *context, void *block, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    free(block);
}

// 87: and one that fits a number but no memory is told so; the size in bytes
// must not have gone round on its way there.
TEST_CITING("R-09", capacity_beyond_this_machines_memory_is_no_memory)
{
    lbx_allocator allocator = {allocate_modestly, release_plainly, NULL};
    lbx_producer *in;
    lbx_consumer *out;

    for (int bits = 40; bits <= 56; bits++) {
        lbx_mailbox_options options =
            limited_options((int64_t)1 << bits, LBX_OVERFLOW_REJECT);

        options.allocator = &allocator;
        options.envelopes = bits % 2 == 0;
        CHECK_STATUS(LBX_NO_MEMORY,
                     lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out));
    }
}

// The words of other limits mean nothing as a capacity.
TEST(words_of_other_limits_are_no_capacity)
{
    check_capacity_refused(LBX_LIMIT_DISABLED);
    check_capacity_refused(LBX_LIMIT_SHARED);
}

TEST_CITING("R-08", system_reservation_of_zero_or_less_is_refused)
{
    lbx_mailbox_options options = plain_options();

    options.system_reservation = 0;
    check_refused(LBX_KIND_UNBOUNDED, options, "reservation");
    options.system_reservation = -4;
    check_refused(LBX_KIND_UNBOUNDED, options, "reservation");
    options.system_reservation = LBX_LIMIT_SHARED;
    check_refused(LBX_KIND_UNBOUNDED, options, "reservation");
}

TEST_CITING("R-07", control_capacity_of_zero_or_less_is_refused)
{
    lbx_mailbox_options options = plain_options();

    options.control_capacity = 0;
    check_refused(LBX_KIND_UNBOUNDED_CONTROL_AWARE, options, "control");
    options.control_capacity = -1;
    check_refused(LBX_KIND_UNBOUNDED_CONTROL_AWARE, options, "control");
    options.control_capacity = LBX_LIMIT_DISABLED;
    check_refused(LBX_KIND_UNBOUNDED_CONTROL_AWARE, options, "control");
}

// An options struct that was zeroed, or that sets a member which only a newer
// version of the header has.
TEST(another_version_of_the_options_is_refused)
{
    struct {
        lbx_mailbox_options options;
        uint64_t newer_member;
    } longer = {plain_options(), 1};
    lbx_mailbox_options zeroed;
    lbx_producer *in;
    lbx_consumer *out;

    longer.options.size_bytes = sizeof(longer);
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_create(LBX_KIND_BOUNDED,
                                                 &longer.options, &in, &out));
    memset(&zeroed, 0, sizeof(zeroed));
    CHECK_STATUS(LBX_INVALID,
                 lbx_mailbox_create(LBX_KIND_BOUNDED, &zeroed, &in, &out));
}

// DROP_OLDEST makes producers take messages out, which a queue with one
// consumer cannot allow.
TEST(drop_oldest_needs_a_kind_with_several_consumers)
{
    lbx_mailbox_options options = plain_options();

    options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    check_refused(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, options, "DROP_OLDEST");
}

static void
refuses_a_limit(const char *kind)
{
    check_refused(kind, limited_options(10, LBX_OVERFLOW_REJECT), "capacity");
}

UNLIMITED_KINDS(KIND_CITING, "R-09", refuses_a_limit)

static void
refuses_to_be_unlimited(const char *kind)
{
    check_refused(kind, limited_options(LBX_UNLIMITED, LBX_OVERFLOW_REJECT),
                  "capacity");
}

LIMITED_KINDS(KIND_CITING, "R-09", refuses_to_be_unlimited)

static int
compare_nothing(const lbx_envelope *a, const lbx_envelope *b, void *context)
{
    (void)a;
    (void)b;
    (void)context;
    return 0;
}

static bool
same_priority(const void *message, void *context, int32_t *ret)
{
    (void)message;
    (void)context;
    *ret = 0;
    return true;
}

/* Options that mean nothing to a kind are ignored, so that one set of options
 * serves several kinds. */
BOX_TEST("V-18", orders_are_ignored_by_kinds_without_priority,
         BOX(LBX_KIND_UNBOUNDED, plain_options(),
             with.compare = compare_nothing, with.priority = same_priority))
{
    box_send_numbers(box, 1, 2);
    CHECK_RECEIVES(box, 1, 2);
}

TEST(unknown_overflow_policy_is_refused)
{
    check_refused(LBX_KIND_BOUNDED, limited_options(10, (lbx_overflow)5),
                  "overflow");
    check_refused(LBX_KIND_BOUNDED, limited_options(10, (lbx_overflow)99),
                  "overflow");
}

// After its wait a message is given back or lost; it cannot wait again.
TEST(after_wait_is_reject_or_drop_newest)
{
    lbx_mailbox_options options = limited_options(10, LBX_OVERFLOW_BLOCK);

    options.after_wait = LBX_OVERFLOW_BLOCK;
    check_refused(LBX_KIND_BOUNDED, options, "after_wait");
    options.after_wait = LBX_OVERFLOW_GROW;
    check_refused(LBX_KIND_BOUNDED, options, "after_wait");
    options.after_wait = LBX_OVERFLOW_DROP_OLDEST;
    check_refused(LBX_KIND_BOUNDED, options, "after_wait");
}

TEST(pressure_of_zero_or_less_is_refused)
{
    lbx_mailbox_options options = plain_options();

    options.pressure_messages = 0;
    check_refused(LBX_KIND_UNBOUNDED, options, "pressure");
    options.pressure_messages = -3;
    check_refused(LBX_KIND_UNBOUNDED, options, "pressure");
}

// A half-filled table would be a jump to NULL at the first message.
TEST(allocator_or_clock_without_functions_is_refused)
{
    lbx_allocator no_memory = {NULL, NULL, NULL};
    lbx_clock no_time = {NULL, NULL};
    lbx_mailbox_options options = plain_options();

    options.allocator = &no_memory;
    check_refused(LBX_KIND_UNBOUNDED, options, "allocator");
    options = plain_options();
    options.clock = &no_time;
    check_refused(LBX_KIND_UNBOUNDED, options, "clock");
}

// Dead letters carry their reason in the envelope: a mailbox that keeps only
// messages would lose it.
TEST(dead_letters_must_keep_envelopes)
{
    LOCAL_BOX(dead) = box_unbounded();
    lbx_mailbox_options options = plain_options();

    options.dead_letters = dead.in;
    check_refused(LBX_KIND_UNBOUNDED, options, "dead");
}

TEST(unknown_kind_is_not_found_and_named)
{
    lbx_mailbox_options options = plain_options();
    lbx_fault fault = {LBX_OK, ""};
    lbx_producer *in;
    lbx_consumer *out;

    options.fault = &fault;
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_mailbox_create("bottomless", &options, &in, &out));
    CHECK_STATUS(LBX_NOT_FOUND, fault.status);
    CHECK(strstr(fault.text, "bottomless") != NULL);
}

// A name may be as long as its writer likes; the sentence is cut, and ends.
TEST(fault_about_a_very_long_name_is_cut_to_fit)
{
    lbx_mailbox_options options = plain_options();
    lbx_fault fault;
    char kind[2000];
    lbx_producer *in;
    lbx_consumer *out;

    memset(&fault, 'x', sizeof(fault));
    memset(kind, 'k', sizeof(kind));
    kind[sizeof(kind) - 1] = '\0';
    options.fault = &fault;
    CHECK_STATUS(LBX_NOT_FOUND, lbx_mailbox_create(kind, &options, &in, &out));
    CHECK(memchr(fault.text, '\0', sizeof(fault.text)) != NULL);
}

// A fault of an earlier try must not be mistaken for this one's.
TEST(successful_creation_leaves_the_fault_alone)
{
    lbx_fault fault = {LBX_OK, "untouched"};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.fault = &fault);

    CHECK_STATUS(LBX_OK, fault.status);
    CHECK_STR("untouched", fault.text);
}

// The options are the caller's: a constant struct may be used many times.
TEST(options_may_be_reused_and_forgotten)
{
    lbx_mailbox_options options = limited_options(2, LBX_OVERFLOW_REJECT);
    LOCAL_BOX(one) = box_make(LBX_KIND_BOUNDED, &options);
    LOCAL_BOX(two) = box_make(LBX_KIND_BOUNDED, &options);

    memset(&options, 0xee, sizeof(options));
    box_send_numbers(&one, 1, 2);
    box_send(&two, 3);
    CHECK_RECEIVES(&one, 1, 2);
    CHECK_RECEIVES(&two, 3);
}

// 1000, the documented default.
static void
holds_a_thousand_by_default(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);

    CHECK_INT(LBX_MAILBOX_DEFAULT_CAPACITY, lbx_mailbox_capacity(box.mailbox));
    box_send_numbers(&box, 1, 1000);
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(1001)));
    CHECK(lbx_mailbox_is_full(box.mailbox));
}

LIMITED_KINDS(KIND_CITING, "A-12", holds_a_thousand_by_default)

// any n from 1 up is exact, never rounded to a power of two.
static void
keeps_every_capacity_exactly(const char *kind)
{
    const int capacities[] = {1, 2, 3, 5, 7, 10, 63, 64, 65, 1023};

    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        struct box box =
            BOX(kind, limited_options(capacities[i], LBX_OVERFLOW_REJECT));

        box_send_numbers(&box, 1, capacities[i]);
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(0)));
        CHECK_INT(capacities[i], lbx_mailbox_depth(box.mailbox));
        CHECK_INT(1, box_next(&box));
        box_send(&box, capacities[i] + 1);
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(0)));
        box_end(&box);
    }
}

LIMITED_KINDS(KIND_CITING, "R-09 MSG-5", keeps_every_capacity_exactly)

// what a kind can do is told beforehand and of the mailbox itself.
TEST_CITING("R-25", capabilities_of_each_kind)
{
    static const struct {
        const char *kind;
        unsigned capabilities;
    } rows[] = {
        {"unbounded", LBX_CAPABILITY_MULTI_CONSUME},
        {"unbounded-single-consumer", 0},
        {"bounded", LBX_CAPABILITY_MULTI_CONSUME | LBX_CAPABILITY_BOUND},
        {"unbounded-priority",
         LBX_CAPABILITY_MULTI_CONSUME | LBX_CAPABILITY_PRIORITIZE},
        {"bounded-priority", LBX_CAPABILITY_MULTI_CONSUME |
                                 LBX_CAPABILITY_PRIORITIZE |
                                 LBX_CAPABILITY_BOUND},
        {"unbounded-control-aware",
         LBX_CAPABILITY_MULTI_CONSUME | LBX_CAPABILITY_CONTROL},
        {"bounded-control-aware", LBX_CAPABILITY_MULTI_CONSUME |
                                      LBX_CAPABILITY_CONTROL |
                                      LBX_CAPABILITY_BOUND},
        {"unbounded-deque",
         LBX_CAPABILITY_MULTI_CONSUME | LBX_CAPABILITY_SEND_FRONT},
        {"bounded-deque", LBX_CAPABILITY_MULTI_CONSUME |
                              LBX_CAPABILITY_SEND_FRONT | LBX_CAPABILITY_BOUND},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned expected = rows[i].capabilities | LBX_CAPABILITY_MULTI_PRODUCE;
        struct box box = box_make(rows[i].kind, NULL);

        CHECK_INT(expected, lbx_kind_registry_capabilities(NULL, rows[i].kind) &
                                ~(unsigned)LBX_CAPABILITY_BLOCK);
        CHECK_INT(expected, lbx_mailbox_capabilities(box.mailbox) &
                                ~(unsigned)LBX_CAPABILITY_BLOCK);
        box_end(&box);
    }
    CHECK_INT(0, lbx_kind_registry_capabilities(NULL, "bottomless"));
}

// Whether sends may wait is a matter of the policy.
TEST_CITING("R-25", only_block_makes_a_mailbox_that_can_block)
{
    LOCAL_BOX(waits) = box_limited(1, LBX_OVERFLOW_BLOCK);
    LOCAL_BOX(refuses) = box_make(LBX_KIND_BOUNDED, NULL);

    CHECK(lbx_kind_registry_capabilities(NULL, LBX_KIND_BOUNDED) &
          LBX_CAPABILITY_BLOCK);
    CHECK(!(lbx_kind_registry_capabilities(NULL, LBX_KIND_UNBOUNDED) &
            LBX_CAPABILITY_BLOCK));
    CHECK(lbx_mailbox_capabilities(waits.mailbox) & LBX_CAPABILITY_BLOCK);
    CHECK(!(lbx_mailbox_capabilities(refuses.mailbox) & LBX_CAPABILITY_BLOCK));
}

// always stable, so that the unstable kind's names are aliases.
TEST_CITING("R-04", stable_priority_names_are_the_same_kinds)
{
    const char *names[] = {"priority", "unbounded-stable-priority",
                           "bounded-stable-priority"};
    struct box control = box_make("control-aware", NULL); // short names
    struct box deque = box_make("deque", NULL);

    CHECK(lbx_mailbox_capabilities(control.mailbox) & LBX_CAPABILITY_CONTROL);
    CHECK(lbx_mailbox_capabilities(deque.mailbox) & LBX_CAPABILITY_SEND_FRONT);
    box_end(&control);
    box_end(&deque);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct box box = box_make(names[i], NULL);

        CHECK(lbx_mailbox_capabilities(box.mailbox) &
              LBX_CAPABILITY_PRIORITIZE);
        box_end(&box);
    }
}

// NULL is "unbounded", the compatible default.
BOX_TEST("R-28", the_default_kind_is_unbounded, box_make(NULL, NULL))
{
    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(box->mailbox));
    CHECK(!lbx_mailbox_is_full(box->mailbox));
    box_send_numbers(box, 1, 3);
    CHECK_RECEIVES(box, 1, 2, 3);
}

TEST(creation_needs_somewhere_to_put_both_handles)
{
    lbx_producer *in;
    lbx_consumer *out;

    CHECK_STATUS(LBX_INVALID, lbx_mailbox_create(NULL, NULL, NULL, &out));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_create(NULL, NULL, &in, NULL));
}

TEST(limits_are_read_as_numbers_or_minus_one)
{
    CHECK_INT(7, lbx_mailbox_options_limit(7, 4));
    CHECK_INT(4, lbx_mailbox_options_limit(LBX_DEFAULT, 4));
    CHECK_INT(0, lbx_mailbox_options_limit(LBX_LIMIT_DISABLED, 4));
    CHECK_INT(-1, lbx_mailbox_options_limit(LBX_LIMIT_SHARED, 4));
    CHECK_INT(-1, lbx_mailbox_options_limit(LBX_UNLIMITED, 4));
    CHECK_INT(-1, lbx_mailbox_options_limit(LBX_DEFAULT, LBX_UNLIMITED));
}

TEST(vela_preset)
{
    lbx_mailbox_options options = lbx_vela_mailbox_options();
    LOCAL_BOX(box) = box_make(LBX_KIND_UNBOUNDED, &options);

    CHECK_INT(LBX_OVERFLOW_REJECT, options.overflow);
    CHECK_INT(LBX_LIMIT_DISABLED, options.system_reservation);
    CHECK(!options.higher_first);
    CHECK_STATUS(LBX_UNSUPPORTED, box_try_send_system(&box, 1));
}

TEST(cellex_preset)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();
    LOCAL_BOX(box) = box_make(LBX_KIND_UNBOUNDED_PRIORITY, &options);

    CHECK(options.envelopes && options.higher_first);
    CHECK_INT(4, lbx_mailbox_options_limit(options.system_reservation, 4));
    CHECK_INT(LBX_OVERFLOW_DROP_OLDEST, options.overflow);
    box_send_envelope(&box, lbx_envelope_of(letter(1), 1));
    box_send_envelope(&box, lbx_envelope_of(letter(7), 7));
    CHECK_RECEIVES(&box, 7, 1);
}

TEST(akka_preset)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    CHECK(options.envelopes && !options.higher_first);
    CHECK_INT(LBX_UNLIMITED, options.system_reservation);
    CHECK_INT(LBX_OVERFLOW_BLOCK, options.overflow);
    CHECK_INT(10 * LBX_SECOND, options.wait_ns);
    CHECK_INT(LBX_OVERFLOW_DROP_NEWEST, options.after_wait);
}

TEST_CITING("R-28", production_preset)
{
    lbx_mailbox_options options = lbx_mailbox_options_production();
    LOCAL_BOX(box) = box_make(LBX_KIND_BOUNDED, &options);

    CHECK_INT(1000, lbx_mailbox_capacity(box.mailbox));
    CHECK_INT(LBX_OVERFLOW_REJECT, options.overflow);
}

// A preset is a value of the same options, and every one makes mailboxes.
TEST(every_preset_makes_every_kind_it_can_limit)
{
    static lbx_mailbox_options (*const presets[])(void) = {
        lbx_akka_mailbox_options, lbx_cellex_mailbox_options,
        lbx_vela_mailbox_options, lbx_mailbox_options_production};

    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        struct box box = BOX(LBX_KIND_BOUNDED_PRIORITY, presets[i]());

        CHECK_INT(1000, lbx_mailbox_capacity(box.mailbox));
        box_end(&box);
    }
}

/* the production preset needs no kind's name to be bounded. */
BOX_TEST("R-28", capacity_without_a_kind_makes_it_bounded,
         BOX(NULL, lbx_mailbox_options_production()))
{
    CHECK_INT(1000, lbx_mailbox_capacity(box->mailbox));
    CHECK(lbx_mailbox_capabilities(box->mailbox) & LBX_CAPABILITY_BOUND);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which attributes a receive shows: the cases that AWS was asked. */
#include "server/sqs/attribute_filter.h"
#include "support/test.h"

static bool
matches(const char *wanted, const char *name)
{
    lbx__slice item = lbx__slice_of(wanted);
    const lbx__sqs_texts names = {&item, 1};

    return lbx__attribute_filter_matches(&names, lbx__slice_of(name));
}

TEST(filter_without_names_shows_nothing)
{
    const lbx__sqs_texts none = {NULL, 0};

    CHECK(!lbx__attribute_filter_matches(&none, lbx__slice_of("Hello")));
}

TEST(filter_shows_everything_for_three_names)
{
    CHECK(matches("All", "Hello"));
    CHECK(matches(".*", "Hello"));
    CHECK(matches("*", "Hello"));
    CHECK(!matches("all", "Hello"));
    CHECK(!matches("**", "Hello"));
}

TEST(filter_shows_an_attribute_by_its_whole_name)
{
    CHECK(matches("Hello", "Hello"));
    CHECK(!matches("Hello", "Hello2"));
    CHECK(!matches("Hello2", "Hello"));
    CHECK(!matches("Hello!", "Hello"));
    CHECK(!matches("", "Hello"));
}

/* AWS does not want a dot behind the beginning. */
TEST(filter_shows_all_names_with_a_beginning)
{
    CHECK(matches("Hel.*", "Hello"));
    CHECK(matches("Hel.*", "Help.Me"));
    CHECK(matches("Help.*", "Help.Me"));
    CHECK(matches("Hello.*", "Hello"));
    CHECK(!matches("Hel.*", "General"));
    CHECK(!matches("Hel.*", "He"));
    CHECK(!matches("Hel*", "Hello"));
}

TEST(filter_takes_any_name_of_the_list)
{
    lbx__slice items[] = {lbx__slice_of("No!"), lbx__slice_of("Other"),
                          lbx__slice_of("Hello")};
    const lbx__sqs_texts names = {items, 3};

    CHECK(lbx__attribute_filter_matches(&names, lbx__slice_of("Hello")));
    CHECK(!lbx__attribute_filter_matches(&names, lbx__slice_of("No")));
}

TEST(filter_of_system_attributes_is_the_union_of_both_lists)
{
    lbx__slice old = lbx__slice_of("SenderId"),
               recent = lbx__slice_of("SentTimestamp");
    const lbx__sqs_texts a = {&old, 1}, b = {&recent, 1}, none = {NULL, 0};

    CHECK_INT(1 << LBX__SYSTEM_SenderId | 1 << LBX__SYSTEM_SentTimestamp,
              lbx__attribute_filter_system(&a, &b));
    CHECK_INT(1 << LBX__SYSTEM_SentTimestamp,
              lbx__attribute_filter_system(&none, &b));
    CHECK_INT(0, lbx__attribute_filter_system(&none, &none));
}

TEST(filter_of_system_attributes_ignores_unknown_names)
{
    lbx__slice items[] = {lbx__slice_of("Nonsense"),
                          lbx__slice_of("ApproximateReceiveCount")};
    const lbx__sqs_texts names = {items, 2}, none = {NULL, 0};

    CHECK_INT(1 << LBX__SYSTEM_ApproximateReceiveCount,
              lbx__attribute_filter_system(&names, &none));
}

TEST(filter_of_system_attributes_has_all_of_them_for_all)
{
    lbx__slice item = lbx__slice_of("All");
    const lbx__sqs_texts names = {&item, 1}, none = {NULL, 0};

    CHECK_INT((1 << LBX__SYSTEM_ATTRIBUTE_COUNT) - 1,
              lbx__attribute_filter_system(&none, &names));
}

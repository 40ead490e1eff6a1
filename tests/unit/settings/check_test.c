/* SPDX-License-Identifier: Apache-2.0 */
/* Sections against the rules of their users. */
#include "settings/fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const policies[] = {"reject", "block", NULL};

static const lbx_settings_rule rules[] = {
    {.key = "type", .type = LBX_SETTINGS_TYPE_STRING, .required = true},
    {.key = "capacity",
     .type = LBX_SETTINGS_TYPE_INTEGER,
     .min = 1,
     .max = INT64_MAX},
    {.key = "wait",
     .type = LBX_SETTINGS_TYPE_DURATION,
     .min = LBX_MS,
     .max = LBX_FOREVER},
    {.key = "tick",
     .type = LBX_SETTINGS_TYPE_DURATION,
     .min = LBX_MS,
     .max = 10 * LBX_SECOND},
    {.key = "room",
     .type = LBX_SETTINGS_TYPE_SIZE,
     .min = 1024,
     .max = 1 << 20},
    {.key = "policy", .type = LBX_SETTINGS_TYPE_STRING, .words = policies},
    {.key = "factor", .type = LBX_SETTINGS_TYPE_NUMBER},
    {.key = "quiet", .type = LBX_SETTINGS_TYPE_BOOLEAN},
    {.key = "names", .type = LBX_SETTINGS_TYPE_STRINGS},
    {.key = "inner", .type = LBX_SETTINGS_TYPE_SECTION},
    {.key = "extra"},
};

/* The fault of a section under the rules; "" when it has none. */
static const char *
fault_of(const char *fields)
{
    static lbx_fault fault;
    lbx_settings *settings = load_text(fields);

    fault = (lbx_fault){LBX_OK, ""};
    if (lbx_settings_check(settings, rules, COUNT(rules), &fault) == LBX_OK)
        CHECK_INT(LBX_OK, fault.status);
    lbx_settings_unref(settings);
    return fault.text;
}

TEST(a_section_that_keeps_to_its_rules_passes)
{
    CHECK_STR("", fault_of("type = x"));
    CHECK_STR("", fault_of("type = x, capacity = 5, wait = infinite, tick = 1s,"
                           "room = 64KiB, policy = block, factor = 0.5,"
                           "quiet = off, names = [a], inner { what = 1 },"
                           "extra = [{}]"));
    CHECK_STR("", fault_of("type = x, capacity = null"));
    CHECK_STR("", fault_of("type = x, tick = 1ms, capacity = 1"));
    CHECK_STR("", fault_of("type = x, tick = 10s, room = 1MiB"));
}

TEST(an_unknown_key_is_refused_with_the_nearest_and_what_is_allowed)
{
    CHECK_STR("text:2: capasity: unknown key; did you mean capacity? allowed: "
              "type, capacity, wait, tick, room, policy, factor, quiet, names, "
              "inner, extra",
              fault_of("type = x\ncapasity = 5"));
    CHECK_STR("text:1: zzz: unknown key; allowed: type, capacity, wait, tick, "
              "room, policy, factor, quiet, names, inner, extra",
              fault_of("zzz = 1"));
}

TEST(each_type_is_checked)
{
    CHECK_STR("text:1: capacity: 'x' is no whole number",
              fault_of("type = x, capacity = x"));
    CHECK_STR("text:1: type: is a section, but a string is needed",
              fault_of("type {}"));
    CHECK_STR("text:1: factor: 'x' is no number",
              fault_of("type = x, factor = x"));
    CHECK_STR("text:1: inner: is a number, but a section is needed",
              fault_of("type = x, inner = 1"));
    CHECK_STR("text:1: names: is a string, but a list of strings is needed",
              fault_of("type = x, names = a"));
    CHECK(fault_of("type = x, quiet = 1")[0]);
    CHECK(fault_of("type = x, room = x")[0]);
    CHECK(fault_of("type = x, wait = x")[0]);
}

TEST(limits_are_named)
{
    CHECK_STR("text:1: capacity: 0 is too small; at least 1 is allowed",
              fault_of("type = x, capacity = 0"));
    CHECK_STR("text:1: tick: 11s is too large; 1ms to 10s is allowed",
              fault_of("type = x, tick = 11s"));
    CHECK_STR("text:1: tick: infinite is too large; 1ms to 10s is allowed",
              fault_of("type = x, tick = infinite"));
    CHECK_STR("text:1: tick: 10us is too small; 1ms to 10s is allowed",
              fault_of("type = x, tick = 10us"));
    CHECK_STR("text:1: room: 1 is too small; 1024 bytes to 1048576 bytes is "
              "allowed",
              fault_of("type = x, room = 1"));
    CHECK_STR("text:1: policy: 'drop' is none of the words allowed: reject, "
              "block",
              fault_of("type = x, policy = drop"));
}

TEST(a_required_key_must_be_there)
{
    lbx_settings *settings = load_text("box { capacity = 1 }");
    lbx_fault fault;

    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_settings_check(lbx_settings_at(settings, "box"), rules,
                                    COUNT(rules), &fault));
    CHECK_STR("text:1: box: type is missing", fault.text);
    lbx_settings_unref(settings);
    CHECK_STR("the settings: type is missing", fault_of("type = null"));
}

/* Deployment sections have keys that no rule can list. */
TEST(a_star_stands_for_all_other_keys)
{
    static const lbx_settings_rule any[] = {
        {.key = "*", .type = LBX_SETTINGS_TYPE_SECTION},
        {.key = "version", .type = LBX_SETTINGS_TYPE_INTEGER},
    };
    lbx_settings *settings = load_text("/a {}, \"/b/*\" {}, version = 1");
    lbx_fault fault;

    CHECK_OK(lbx_settings_check(settings, any, COUNT(any), &fault));
    lbx_settings_unref(settings);
    settings = load_text("/a {}, /b = 1");
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_check(settings, any, COUNT(any), &fault));
    CHECK_STR("text:1: /b: is a number, but a section is needed", fault.text);
    lbx_settings_unref(settings);
}

TEST(a_check_needs_a_section_and_rules)
{
    SETTINGS(settings) = load_text("a = 1");
    const lbx_settings_rule nameless = {.type = LBX_SETTINGS_TYPE_ANY};
    lbx_fault fault;

    CHECK_STATUS(LBX_INVALID, lbx_settings_check(NULL, rules, 1, &fault));
    CHECK_STATUS(LBX_INVALID, lbx_settings_check(settings, NULL, 1, &fault));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_check(settings, &nameless, 1, &fault));
    CHECK_STATUS(LBX_INVALID, lbx_settings_check(lbx_settings_at(settings, "a"),
                                                 rules, 1, &fault));
    CHECK_STR("text:1: a: is a number, but a section is needed", fault.text);
    CHECK_STATUS(LBX_INVALID, lbx_settings_check(settings, NULL, 0, &fault));
    CHECK_STR("text:1: a: unknown key; allowed: none", fault.text);
}

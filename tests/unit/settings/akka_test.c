/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every configuration example of Akka's manual, byte for byte as it is printed
 * there, U+FFFC included: it loads, and the keys that
 * the actor room reads are found.
 */
#include "settings/fixture.h"

/* The keys of a mailbox section, A-11, with the limits of A-28. */
static const lbx_settings_rule mailbox_rules[] = {
    {.key = "mailbox-type", .type = LBX_SETTINGS_TYPE_STRING},
    {.key = "mailbox-capacity",
     .type = LBX_SETTINGS_TYPE_INTEGER,
     .min = 0,
     .max = INT64_MAX},
    {.key = "mailbox-push-timeout-time", .type = LBX_SETTINGS_TYPE_DURATION},
    {.key = "stash-capacity", .type = LBX_SETTINGS_TYPE_INTEGER},
    {.key = "id", .type = LBX_SETTINGS_TYPE_STRING},
};

static lbx_status
check_mailbox(const lbx_settings *section, lbx_fault *fault)
{
    return lbx_settings_check(section, mailbox_rules,
                              sizeof(mailbox_rules) / sizeof(mailbox_rules[0]),
                              fault);
}

static const char *
string_at(const lbx_settings *settings, const char *path)
{
    const char *text = NULL;

    CHECK_OK(lbx_settings_read_string(settings, path, &text, NULL));
    return text;
}

TEST_CITING("A-02 A-11", bounded_requirement_example_loads_as_printed)
{
    SETTINGS(settings) = load_fixture("akka/01-bounded-requirement.conf");
    const lbx_settings *section;
    int64_t capacity, timeout;

    CHECK_OK(
        lbx_settings_read_section(settings, "bounded-mailbox", &section, NULL));
    CHECK_OK(check_mailbox(section, NULL));
    CHECK_STR("akka.dispatch.BoundedMailbox",
              string_at(section, "mailbox-type"));
    CHECK_OK(lbx_settings_read_integer(section, "mailbox-capacity", &capacity,
                                       NULL));
    CHECK_INT(1000, capacity);
    CHECK_OK(lbx_settings_read_duration(section, "mailbox-push-timeout-time",
                                        &timeout, NULL));
    CHECK_INT(10 * LBX_SECOND, timeout);
    CHECK_STR("bounded-mailbox",
              string_at(settings,
                        "letterbox.actor.mailbox.requirements."
                        "\"akka.dispatch.BoundedMessageQueueSemantics\""));
}

TEST_CITING("A-05", dispatcher_requirement_example_loads_as_printed)
{
    SETTINGS(settings) = load_fixture("akka/02-dispatcher-requirement.conf");

    CHECK_STR("org.example.MyInterface",
              string_at(settings, "my-dispatcher.mailbox-requirement"));
    CHECK_STR("my-dispatcher",
              lbx_settings_key(lbx_settings_child(settings, 0)));
}

TEST_CITING("A-08", default_mailbox_example_loads_as_printed)
{
    SETTINGS(settings) = load_fixture("akka/03-default-mailbox.conf");
    const char *type = "akka.dispatch.SingleConsumerOnlyUnboundedMailbox";

    CHECK_STR(type,
              string_at(settings, "akka.actor.default-mailbox.mailbox-type"));
    CHECK_STR(type, string_at(settings,
                              "letterbox.actor.default-mailbox.mailbox-type"));
    CHECK_OK(check_mailbox(
        lbx_settings_at(settings, "pekko.actor.default-mailbox"), NULL));
}

TEST_CITING("A-14", priority_dispatcher_example_loads_as_printed)
{
    SETTINGS(settings) = load_fixture("akka/04-prio-dispatcher.conf");

    CHECK_STR("docs.dispatcher.DispatcherDocSpec$MyPrioMailbox",
              string_at(settings, "prio-dispatcher.mailbox-type"));
    CHECK_INT(1,
              lbx_settings_count(lbx_settings_at(settings, "prio-dispatcher")));
}

TEST_CITING("A-06 A-14", deployment_example_loads_as_printed)
{
    SETTINGS(settings) = load_fixture("akka/05-prio-mailbox-deployment.conf");

    CHECK_STR("docs.dispatcher.DispatcherDocSpec$MyPrioMailbox",
              string_at(settings, "prio-mailbox.mailbox-type"));
    CHECK_STR(
        "prio-mailbox",
        string_at(settings, "akka.actor.deployment./priomailboxactor.mailbox"));
}

TEST_CITING("A-05 A-16", custom_dispatcher_example_loads_as_printed)
{
    SETTINGS(settings) = load_fixture("akka/06-custom-dispatcher.conf");
    const char *semantics = "docs.dispatcher.MyUnboundedJMessageQueueSemantics";
    const lbx_settings *requirements =
        lbx_settings_at(settings, "letterbox.actor.mailbox.requirements");

    CHECK_STR(semantics,
              string_at(settings, "custom-dispatcher.mailbox-requirement"));
    CHECK_INT(1, lbx_settings_count(requirements));
    CHECK_STR(semantics, lbx_settings_key(lbx_settings_child(requirements, 0)));
    CHECK_STR("custom-dispatcher-mailbox",
              lbx_settings_text(lbx_settings_child(requirements, 0)));
    CHECK_STR("docs.dispatcher.MyUnboundedJMailbox",
              string_at(settings, "custom-dispatcher-mailbox.mailbox-type"));
}

/* the section that a mailbox type is given is the named one, its id
 * overridden by its path, and the default section behind it. */
TEST_CITING("A-09", mailbox_section_falls_back_to_the_default_section)
{
    lbx_settings *settings =
        load_text("akka.actor.default-mailbox {\n"
                  "  mailbox-type = unbounded, mailbox-capacity = 1000\n"
                  "  mailbox-push-timeout-time = 10s, stash-capacity = -1\n"
                  "}\n"
                  "my.boxes.small { id = x, mailbox-capacity = 5 }\n");
    const lbx_settings *named = lbx_settings_at(settings, "my.boxes.small");
    lbx_settings *with_id, *section;
    char path[100];

    CHECK_INT(14, lbx_settings_path(named, path, sizeof(path)));
    CHECK_OK(lbx_settings_with_string(named, "id", path, &with_id));
    CHECK_OK(lbx_settings_with_fallback(
        with_id, lbx_settings_at(settings, "letterbox.actor.default-mailbox"),
        &section));
    lbx_settings_unref(with_id);
    lbx_settings_unref(settings);
    CHECK_OK(check_mailbox(section, NULL));
    CHECK_STR("{\"mailbox-type\":\"unbounded\",\"mailbox-capacity\":5,"
              "\"mailbox-push-timeout-time\":\"10s\",\"stash-capacity\":-1,"
              "\"id\":\"my.boxes.small\"}",
              json_of(section));
    lbx_settings_unref(section);
}

/* a negative capacity is an error; the fault has file and line. */
TEST_CITING("A-28", negative_capacity_is_refused_with_its_line)
{
    SETTINGS(settings) = load_text("\n\nbox { mailbox-capacity = -1 }");
    lbx_fault fault;

    CHECK_STATUS(LBX_INVALID,
                 check_mailbox(lbx_settings_at(settings, "box"), &fault));
    CHECK_STR("text:3: box.mailbox-capacity: -1 is too small; at least 0 is "
              "allowed",
              fault.text);
}

/* a negative push timeout waits for ever, 0 not at all. */
TEST_CITING("A-12", negative_and_infinite_timeouts_are_for_ever)
{
    SETTINGS(settings) =
        load_text("a = -1s, b = infinite, c = 0, d = \"-5 ms\"");
    int64_t wait;

    CHECK_OK(lbx_settings_read_duration(settings, "a", &wait, NULL));
    CHECK_INT(-1, wait);
    CHECK_OK(lbx_settings_read_duration(settings, "b", &wait, NULL));
    CHECK_INT(-1, wait);
    CHECK_OK(lbx_settings_read_duration(settings, "c", &wait, NULL));
    CHECK_INT(0, wait);
    CHECK_OK(lbx_settings_read_duration(settings, "d", &wait, NULL));
    CHECK_INT(-1, wait);
}

/* an id with a colon is a value only in quotes; the fault explains it. */
TEST_CITING("A-27", bounded_capacity_id_is_written_in_quotes)
{
    CHECK_JSON("mailbox = \"bounded-capacity:5\"",
               "{\"mailbox\":\"bounded-capacity:5\"}");
    CHECK_REFUSED("mailbox = bounded-capacity:5", "quote a text that has ':'");
}

/* a name that is not found can be reported with its file and line. */
TEST_CITING("A-30", a_user_can_report_a_fault_of_a_value)
{
    SETTINGS(settings) =
        load_text("akka.actor.deployment {\n /a { mailbox = nowhere }\n}");
    lbx_fault fault;

    CHECK_STATUS(
        LBX_INVALID,
        lbx_settings_write_fault(
            lbx_settings_at(settings, "akka.actor.deployment./a.mailbox"),
            "there is no mailbox of that id", &fault));
    CHECK_STR("text:2: letterbox.actor.deployment./a.mailbox: there is no "
              "mailbox of that id",
              fault.text);
}

/* A misprint in Akka's manual is not an alias. */
TEST(kka_is_not_a_name_of_the_root)
{
    SETTINGS(settings) =
        load_text("kka.dispatch = 1, akka.a = 1, pekko.b = 2, letterbox.c = 3");

    CHECK_STR("{\"kka\":{\"dispatch\":1},\"letterbox\":{\"a\":1,\"b\":2,\"c\":"
              "3}}",
              json_of(settings));
}

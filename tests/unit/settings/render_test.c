/* SPDX-License-Identifier: Apache-2.0 */
/* Printing, and reading back what was printed. */
#include "settings/fixture.h"

static const char sample[] =
    "a { b = 1, \"c.d\" = [x, \"1\", {y = null}], e {} }\n"
    "akka.actor.timeout = 10s\n"
    "\"q\\\"\\n\" = \"\\u0001\\t\", include_ = true, \"include\" = -1.50\n";

TEST(json_is_one_line)
{
    SETTINGS(settings) = load_text(sample);

    CHECK_STR("{\"a\":{\"b\":1,\"c.d\":[\"x\",\"1\",{\"y\":null}],\"e\":{}},"
              "\"letterbox\":{\"actor\":{\"timeout\":\"10s\"}},"
              "\"q\\\"\\n\":\"\\u0001\\t\",\"include_\":true,"
              "\"include\":-1.50}",
              json_of(settings));
}

TEST(lines_have_a_path_and_a_value_each)
{
    SETTINGS(settings) = load_text(sample);

    CHECK_STR("a.b = 1\n"
              "a.\"c.d\" = [\"x\",\"1\",{\"y\":null}]\n"
              "a.e = {}\n"
              "letterbox.actor.timeout = \"10s\"\n"
              "\"q\\\"\\n\" = \"\\u0001\\t\"\n"
              "include_ = true\n"
              "\"include\" = -1.50\n",
              rendered(settings, LBX_SETTINGS_FORMAT_LINES));
    CHECK_STR("actor.timeout = \"10s\" # text:2\n",
              rendered(lbx_settings_at(settings, "akka"),
                       LBX_SETTINGS_FORMAT_EXPLAIN));
    CHECK_STR("1\n", rendered(lbx_settings_at(settings, "a.b"),
                              LBX_SETTINGS_FORMAT_LINES));
}

TEST(what_is_printed_can_be_loaded_again)
{
    static const lbx_settings_format formats[] = {LBX_SETTINGS_FORMAT_JSON,
                                                  LBX_SETTINGS_FORMAT_LINES,
                                                  LBX_SETTINGS_FORMAT_EXPLAIN};
    SETTINGS(settings) = load_text(sample);
    char json[400];

    CHECK(lbx_settings_render(settings, LBX_SETTINGS_FORMAT_JSON, json,
                              sizeof(json)) < sizeof(json));
    for (int i = 0; i < 3; i++) {
        lbx_settings *again = load_text(rendered(settings, formats[i]));

        CHECK_STR(json, json_of(again));
        lbx_settings_unref(again);
    }
}

TEST(a_short_buffer_is_filled_and_the_length_is_still_returned)
{
    SETTINGS(settings) = load_text("a = 1");
    char text[4] = "zzz";

    CHECK_INT(7, lbx_settings_render(settings, LBX_SETTINGS_FORMAT_JSON, text,
                                     sizeof(text)));
    CHECK_STR("{\"a", text);
    CHECK_INT(7,
              lbx_settings_render(settings, LBX_SETTINGS_FORMAT_JSON, text, 0));
    CHECK_STR("{\"a", text);
    CHECK_INT(0, lbx_settings_render(NULL, LBX_SETTINGS_FORMAT_JSON, text, 4));
    CHECK_STR("", text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The status table: names, texts, and the page of docs made from it. */
#include "support/test.h"

#include <letterbox/version.h>
#include <stdio.h>
#include <string.h>

struct row {
    lbx_status status;
    int value;
    const char *name;
    const char *text;
};

static const struct row rows[] = {
#define ROW(name, value, text) {LBX_##name, value, "LBX_" #name, text},
    LBX_STATUS_MAP(ROW)
#undef ROW
};

enum {
    ROWS = sizeof(rows) / sizeof(rows[0])
};

TEST(status_names_are_the_constants)
{
    for (int i = 0; i < ROWS; i++)
        CHECK_STR(rows[i].name, lbx_status_name(rows[i].status));
    CHECK_STR("LBX_OK", lbx_status_name(LBX_OK));
    CHECK_STR("LBX_FULL", lbx_status_name(LBX_FULL));
}

/* Texts follow a program's name and a colon: small letters, no full stop. */
TEST(status_texts_are_for_people)
{
    for (int i = 0; i < ROWS; i++) {
        const char *text = lbx_status_text(rows[i].status);

        CHECK_STR(rows[i].text, text);
        CHECK(text[0] >= 'a' && text[0] <= 'z');
        CHECK(text[strlen(text) - 1] != '.');
    }
}

/* The numbers are part of the ABI: 0, then -1 downwards, none used twice. */
TEST(status_numbers_are_dense)
{
    for (int i = 0; i < ROWS; i++) {
        CHECK_INT(-i, rows[i].value);
        CHECK_INT(-i, rows[i].status);
    }
}

TEST(status_that_is_none_has_a_name_too)
{
    CHECK_STR("LBX_?", lbx_status_name((lbx_status)-1000));
    CHECK_STR("LBX_?", lbx_status_name((lbx_status)1));
    CHECK(strlen(lbx_status_text((lbx_status)-1000)) > 0);
}

/* docs/errors.md has one table row per status, in order, and no other. */
TEST(status_table_is_in_the_docs)
{
    FILE *page = fopen(ERRORS_PAGE, "r");
    char line[1024], expected[256];
    int found = 0;

    CHECK(page);
    while (fgets(line, sizeof(line), page)) {
        if (strncmp(line, "| `LBX_", 7) != 0)
            continue;
        CHECK(found < ROWS);
        snprintf(expected, sizeof(expected), "| `%s` | %d | %s |",
                 rows[found].name, rows[found].value, rows[found].text);
        line[strlen(expected)] = '\0';
        CHECK_STR(expected, line);
        found++;
    }
    fclose(page);
    CHECK_INT(ROWS, found);
}

TEST(version_of_the_library_is_the_headers)
{
    char expected[64];

    CHECK_STR(LBX_VERSION, lbx_version());
    snprintf(expected, sizeof(expected), "%d.%d.%d", LBX_VERSION_MAJOR,
             LBX_VERSION_MINOR, LBX_VERSION_PATCH);
    CHECK_STR(expected, lbx_version());
}

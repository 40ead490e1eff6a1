/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about failures. */
#include "base/fault.h"
#include "support/test.h"

#include <string.h>

TEST(fault_has_status_and_text)
{
    lbx_fault fault;

    CHECK_STATUS(LBX_FULL, lbx__fault_set(&fault, LBX_FULL, "%d of %d", 3, 3));
    CHECK_STATUS(LBX_FULL, fault.status);
    CHECK_STR("3 of 3", fault.text);
    CHECK_STATUS(LBX_IO, lbx__fault_set(NULL, LBX_IO, "not wanted"));
}

TEST(fault_may_quote_its_own_text)
{
    lbx_fault fault;

    (void)lbx__fault_set(&fault, LBX_IO, "inner");
    (void)lbx__fault_set(&fault, LBX_IO, "outer: %s", fault.text);
    CHECK_STR("outer: inner", fault.text);
}

TEST(fault_names_file_and_line)
{
    lbx_fault fault;
    char name[300];

    (void)lbx__fault_set_at(&fault, LBX_INVALID, (lbx__fault_line){"a.conf", 7},
                            "bad %s", "unit");
    CHECK_STR("a.conf:7: bad unit", fault.text);
    (void)lbx__fault_set_at(&fault, LBX_INVALID, (lbx__fault_line){"a.conf", 0},
                            "empty");
    CHECK_STR("a.conf: empty", fault.text);
    memset(name, 'x', sizeof(name));
    memcpy(name + sizeof(name) - 7, "/z.txt", 7);
    (void)lbx__fault_set_at(&fault, LBX_INVALID, (lbx__fault_line){name, 1},
                            "long");
    CHECK(strncmp(fault.text, "...x", 4) == 0);
    CHECK(strstr(fault.text, "/z.txt:1: long"));
}

/* The end of a long path begins with a whole character. */
TEST(fault_cuts_no_character_of_a_path)
{
    char path[96], shown[LBX__FAULT_PATH_BYTES];
    char wanted[96] = "...";

    memset(path, 'x', sizeof(path));
    memcpy(path, "\xe2\x82\xac", 3); // a euro sign; 80 bytes are shown
    path[81] = '\0';
    memcpy(wanted + 3, path + 3, 79);
    CHECK_STR(wanted, lbx__fault_path(path, shown));
    path[82] = '\0';
    path[81] = 'x';
    wanted[81] = 'x';
    CHECK_STR(wanted, lbx__fault_path(path, shown));
}

TEST(fault_is_completed_only_when_nothing_was_written)
{
    lbx_fault fault;

    lbx__fault_clear(&fault);
    CHECK_STATUS(LBX_OK, lbx__fault_complete(&fault, LBX_OK, "box", "b"));
    CHECK_STR("", fault.text);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx__fault_complete(&fault, LBX_NOT_FOUND, "box", "b"));
    CHECK_STR("box 'b': no such name", fault.text);
    CHECK_STATUS(LBX_IO, lbx__fault_complete(&fault, LBX_IO, "box", NULL));
    CHECK_STR("box 'b': no such name", fault.text);
}

TEST(fault_quotes_only_printable_bytes)
{
    char quoted[LBX__FAULT_QUOTED_BYTES];
    char number[LBX__FAULT_NUMBER_BYTES];
    char many[500];

    CHECK_STR("'a\\x0ab'", lbx__fault_quote("a\nb", quoted));
    CHECK_STR("NULL", lbx__fault_quote(NULL, quoted));
    memset(many, '\1', sizeof(many) - 1);
    many[sizeof(many) - 1] = '\0';
    CHECK(strlen(lbx__fault_quote(many, quoted)) < sizeof(quoted));
    CHECK_STR("...'", quoted + strlen(quoted) - 4);
    memset(many, 'a', sizeof(many) - 1); // as much as leaves space for \xNN
    CHECK_INT(sizeof(quoted) - 5, strlen(lbx__fault_quote(many, quoted)));
    CHECK_STR("LBX_UNLIMITED", lbx__fault_number(LBX_UNLIMITED, number));
    CHECK_STR("-5", lbx__fault_number(-5, number));
}

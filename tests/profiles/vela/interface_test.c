/* SPDX-License-Identifier: Apache-2.0 */
/* Vela: TestMailboxInterface. */
#include "profiles/vela/vela.h"

/* Vela's base class cannot be built. Here a kind that lacks one of the
 * required entries cannot be registered, so that no mailbox can have it. */
TEST_CITING("V-02", mailbox_is_abstract)
{
    lbx_kind_ops hollow = {.size_bytes = sizeof(lbx_kind_ops)};
    lbx_kind_registry *kinds;

    CHECK_OK(lbx_kind_registry_create(NULL, &kinds));
    CHECK_STATUS(LBX_INVALID,
                 lbx_kind_registry_add(kinds, "hollow", &hollow, NULL));
    CHECK_INT(0, lbx_kind_registry_capabilities(kinds, "hollow"));
    lbx_kind_registry_destroy(kinds);
}

/* The four operations are the same calls for every kind. */
TEST_CITING("V-01 V-02", mailbox_has_required_methods)
{
    static const char *const kinds[] = {"unbounded", "bounded", "priority"};

    for (size_t i = 0; i < 3; i++) {
        struct box box = vela_create(kinds[i], LBX_DEFAULT);

        CHECK(lbx_mailbox_is_empty(box.mailbox));
        CHECK_OK(box_send(&box, 7));
        CHECK_INT(1, box_depth(&box));
        CHECK_TAKES(&box, 7);
        CHECK(lbx_mailbox_is_empty(box.mailbox));
        box_destroy(&box);
    }
}

/* Vela has no system messages, and its mailboxes keep no place for them. */
BOX_TEST("V-02 R-08", profile_has_no_system_lane, vela_unbounded())
{
    lbx_envelope stop = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_STOP), message_of(1));

    CHECK_STATUS(LBX_UNSUPPORTED, box_post(box, stop, NULL));
    CHECK_INT(0, box_depth(box));
}

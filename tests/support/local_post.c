/* SPDX-License-Identifier: Apache-2.0 */
/* Things of the post that are released at the end of their block. */
#include "support/local_post.h"

void
test_postbox_release(lbx_postbox **postbox)
{
    lbx_postbox_unref(*postbox);
}

void
test_letter_release(lbx_letter **letter)
{
    lbx_letter_destroy(*letter);
}

void
test_routes_release(lbx_routes **routes)
{
    lbx_routes_unref(*routes);
}

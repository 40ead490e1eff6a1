/* SPDX-License-Identifier: Apache-2.0 */
/* What local.h has for types and operations, for things of the post. */
#ifndef LBX_TEST_SUPPORT_LOCAL_POST_H
#define LBX_TEST_SUPPORT_LOCAL_POST_H

#include <letterbox/post.h>

#define LOCAL_POSTBOX(name)                                                    \
    __attribute__((cleanup(test_postbox_release))) lbx_postbox *name

#define LOCAL_LETTER(name)                                                     \
    __attribute__((cleanup(test_letter_release))) lbx_letter *name

#define LOCAL_ROUTES(name)                                                     \
    __attribute__((cleanup(test_routes_release))) lbx_routes *name

void test_postbox_release(lbx_postbox **postbox);
void test_letter_release(lbx_letter **letter);
void test_routes_release(lbx_routes **routes);

#endif

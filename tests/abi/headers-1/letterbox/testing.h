/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_TESTING_H
#define LETTERBOX_TESTING_H
#include <letterbox/base.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/postbox.h>
LBX_BEGIN
LBX_API LBX_MUST_USE lbx_status
lbx_null_postbox_create(const lbx_postbox_options *options, lbx_postbox **ret);
LBX_API LBX_MUST_USE lbx_status lbx_collecting_postbox_create(
    const lbx_postbox_options *options, lbx_postbox **ret);
LBX_API size_t lbx_collecting_postbox_count(lbx_postbox *postbox);
LBX_API const lbx_draft *lbx_collecting_postbox_at(lbx_postbox *postbox,
                                                   size_t index);
LBX_API LBX_MUST_USE lbx_status
lbx_fake_postbox_create(const lbx_postbox_options *options, lbx_postbox **ret);
LBX_API LBX_MUST_USE lbx_status
lbx_fake_postbox_expire(lbx_postbox *postbox, const lbx_letter *letter);
LBX_API LBX_MUST_USE lbx_status lbx_fake_postbox_set_error(lbx_postbox *postbox,
                                                           lbx_status error);
LBX_API LBX_MUST_USE lbx_status
lbx_fake_postbox_inject(lbx_postbox *postbox, const lbx_draft *draft,
                        const char *id, uint32_t delivery_count);
typedef struct lbx_test_clock {
    int64_t now_ns;
} lbx_test_clock;
#define LBX_TEST_CLOCK_INIT                                                    \
    {                                                                          \
        1000 * LBX_SECOND                                                      \
    }
LBX_API lbx_clock lbx_test_clock_as_clock(lbx_test_clock *time);
LBX_API void lbx_test_clock_advance(lbx_test_clock *time, int64_t duration_ns,
                                    lbx_store *store);
LBX_END
#endif

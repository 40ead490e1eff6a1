/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_COMPAT_WINK_H
#define LETTERBOX_COMPAT_WINK_H
#include <letterbox/base.h>
#include <letterbox/post/box.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/postbox.h>
#include <letterbox/type.h>
LBX_BEGIN
LBX_API lbx_status lbx_wink_box_options_read(lbx_box_options *ret);
LBX_INLINE lbx_box_options
lbx_wink_box_options(void)
{
    lbx_box_options options;
    options.size_bytes = sizeof(options);
    (void)lbx_wink_box_options_read(&options);
    return options;
}
LBX_API lbx_status lbx_wink_postbox_options_read(lbx_postbox_options *ret);
LBX_INLINE lbx_postbox_options
lbx_wink_postbox_options(void)
{
    lbx_postbox_options options;
    options.size_bytes = sizeof(options);
    (void)lbx_wink_postbox_options_read(&options);
    return options;
}
typedef struct lbx_wink_request {
    const char *payload;
    const char *budget;
    int64_t deadline_ms;
    lbx_id request_id;
    int64_t created_ms;
} lbx_wink_request;
typedef struct lbx_wink_result {
    lbx_id request_id;
    const char *output;
    const char *error;
    lbx_id session_id;
    int64_t completed_ms;
} lbx_wink_result;
LBX_API lbx_wink_request lbx_wink_request_of(const char *payload);
LBX_API lbx_wink_result lbx_wink_result_of(const lbx_wink_request *request);
LBX_API const lbx_type *lbx_wink_request_type(void);
LBX_API const lbx_type *lbx_wink_result_type(void);
LBX_END
#endif

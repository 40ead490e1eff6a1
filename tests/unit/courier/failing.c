/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that fail, and the diary of the stores; failing.h. */
#include "failing.h"

#include <string.h>

lbx_status
fail_badly(lbx_job *job, void *context)
{
    (void)context;
    return lbx_job_fail(job, LBX_INVALID, "shop.BadOrder", "no address");
}

void
open_with_policy(struct fixture *fx, uint32_t deliveries)
{
    fixture_open(fx);
    fx->options.handle = fail_badly;
    fx->options.dead_letters.postbox = fx->dead;
    fx->options.dead_letters.deliveries = deliveries;
}

lbx_dead_letter_record *
record_in(lbx_letter *letter)
{
    void *record;

    CHECK_STR("letterbox.DeadLetter", lbx_letter_type_name(letter));
    CHECK_OK(lbx_letter_message(letter, &record));
    return record;
}

lbx_status
write_down(void *context, lbx_call_kind verb, const void *request)
{
    struct diary *diary = context;
    const lbx_send_request *send = request;
    const lbx_settle_request *settle = request;
    const size_t used = strlen(diary->text);

    if (verb == LBX_CALL_SEND)
        diary->text[used] =
            strcmp(send->parcels[0].type_name, "letterbox.DeadLetter") == 0
                ? 'D'
                : 'R';
    else if (verb == LBX_CALL_SETTLE)
        diary->text[used] = settle->entries[0].action != LBX_SETTLE_ACKNOWLEDGE
                                ? 'N'
                            : settle->entries[0].attachment_count > 0 ? 'B'
                                                                      : 'A';
    else
        return LBX_OK;
    return diary->fail_at == (int)used + 1 ? diary->status : LBX_OK;
}
